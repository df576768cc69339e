package pages

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// shownWaiting is how many datasets of the outbox a page shows.
const shownWaiting = 100

// status shows an administrator what waits to be registered and why, what was reported and
// what the service shows of it, and what the machine has left.
func (p *Pages) status(w http.ResponseWriter, r *http.Request) error {
	waiting, err1 := p.Store.Waiting(r.Context(), shownWaiting)
	sent, err2 := p.Store.Reports(r.Context())
	checked, findings, err3 := p.Store.Findings(r.Context())
	totals, err4 := p.Store.Totals(r.Context())
	free, size, err5 := p.Store.Disk()
	notices, err6 := p.Counter.Notices(r.Context(), time.Now())
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "status", "Administration", map[string]any{
		"Waiting": waiting, "Reports": sent, "Checked": checked, "Findings": findings, "Asked": r.FormValue("asked") != "",
		"Notices": notices, "Totals": totals, "Free": free, "Disk": size, "Versions": p.Versions, "Service": p.Service,
	})
}

// soon starts a job in the background, since it may take minutes.
func soon(job func(*http.Request)) handler {
	return administered(func(w http.ResponseWriter, r *http.Request) error {
		job(r)
		return lead(w, r, "/status?asked=1", nil)
	})
}

// again makes a dataset in the outbox due.
func (p *Pages) again(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(r.PostFormValue("dataset"), 10, 64)
	if err != nil {
		return errNotFound
	}
	return p.changed(w, r, "/status?asked=1", p.Store.TryNow(r.Context(), id))
}

// health tells a supervisor whether the repository can work, and nobody more than that.
func (p *Pages) health(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, "ok"
	if err := p.Store.Healthy(r.Context()); err != nil {
		p.Log.Error("health", "error", err)
		status, text = http.StatusServiceUnavailable, "failing"
		if errors.Is(err, store.ErrFull) {
			text += ": " + store.ErrFull.Error()
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // its reader may be gone
}
