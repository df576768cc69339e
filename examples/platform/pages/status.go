package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
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
	return p.render(w, r, http.StatusOK, "status", "How the repository works", map[string]any{
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

// hide hides a DOI that the last look at the records found without a dataset.
func (p *Pages) hide(w http.ResponseWriter, r *http.Request) error {
	return p.soon(w, r, func() { p.HideNow(r.PostFormValue("doi")) })
}

// soon asks for a job in the background, since it may take minutes.
func (p *Pages) soon(w http.ResponseWriter, r *http.Request, job func()) error {
	if err := administers(r); err != nil {
		return err
	}
	job()
	http.Redirect(w, r, "/status?asked=1", http.StatusSeeOther)
	return nil
}

// again has a dataset registered now that would wait for its next try, or all that wait.
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

// health tells a supervisor whether the repository can work. Whoever asks learns no more
// than that, and nobody makes it look more often than once a second.
func (p *Pages) health(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, "ok"
	if err := p.looked.healthy(r.Context(), p.Store.Healthy); err != nil {
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

// A look at the health of the store, which is valid for a second.
type look struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

func (l *look) healthy(ctx context.Context, look func(context.Context) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) > time.Second {
		l.err = look(context.WithoutCancel(ctx)) // for those who wait, too
		l.at = time.Now()
	}
	return l.err
}
