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
	if err := administers(r); err != nil {
		return err
	}
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

// administers returns an error unless an administrator is logged in.
func administers(r *http.Request) error {
	switch {
	case curator(r) == "":
		return errLogin
	case !administrator(r):
		return errAdministrator
	}
	return nil
}

func (p *Pages) checkNow(w http.ResponseWriter, r *http.Request) error {
	return p.soon(w, r, p.CheckNow)
}

func (p *Pages) reportNow(w http.ResponseWriter, r *http.Request) error {
	return p.soon(w, r, p.ReportNow)
}

// hide hides a DOI that the last comparison found without a dataset.
func (p *Pages) hide(w http.ResponseWriter, r *http.Request) error {
	return p.soon(w, r, func() { p.HideNow(r.PostFormValue("doi")) })
}

// soon starts a job in the background, since it may take minutes.
func (p *Pages) soon(w http.ResponseWriter, r *http.Request, job func()) error {
	if err := administers(r); err != nil {
		return err
	}
	job()
	return lead(w, r, "/status?asked=1")
}

// again makes a dataset in the outbox due.
func (p *Pages) again(w http.ResponseWriter, r *http.Request) error {
	if err := administers(r); err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PostFormValue("dataset"), 10, 64)
	if err != nil {
		return store.ErrNotFound
	}
	if err := p.Store.TryNow(r.Context(), id); err != nil {
		return err
	}
	return p.changed(w, r, "/status?asked=1")
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
