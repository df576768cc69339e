package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

type curatorKey struct{}

// recognise adds the curator of the session to the context of a request.
func (p *Pages) recognise(r *http.Request) (*http.Request, error) {
	cookie, err := r.Cookie(p.cookie())
	if err != nil {
		return r, nil
	}
	c, err := p.Accounts.Curator(r.Context(), cookie.Value)
	return r.WithContext(context.WithValue(r.Context(), curatorKey{}, c)), err
}

// curator returns who is logged in, "" if nobody is.
func curator(r *http.Request) string {
	c, _ := r.Context().Value(curatorKey{}).(accounts.Curator)
	return c.Name
}

// administrator reports whether an administrator is logged in.
func administrator(r *http.Request) bool {
	c, _ := r.Context().Value(curatorKey{}).(accounts.Curator)
	return c.Administrator
}

// cookie is the name of the session's cookie. Browsers take one named __Host- only from
// this very host, by https.
func (p *Pages) cookie() string {
	if p.secure {
		return "__Host-session"
	}
	return "session"
}

// known is the name of the cookie of a browser in which somebody has logged in.
func (p *Pages) known() string { return strings.Replace(p.cookie(), "session", "known", 1) }

// setCookie gives the browser a cookie, until it ends if the time is 0; "" takes it away.
func (p *Pages) setCookie(w http.ResponseWriter, name, token string, lasts time.Duration) {
	c := &http.Cookie{Name: name, Value: token, Path: "/", Secure: p.secure, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(lasts.Seconds())}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// from is who tries a password.
func (p *Pages) from(r *http.Request) accounts.From {
	from := accounts.From{Address: p.Counter.Network(r, 32).String()}
	if cookie, err := r.Cookie(p.known()); err == nil {
		from.Browser = cookie.Value
	}
	return from
}

func (p *Pages) loginForm(w http.ResponseWriter, r *http.Request) error {
	return p.renderLogin(w, r, http.StatusOK, "", "")
}

func (p *Pages) renderLogin(w http.ResponseWriter, r *http.Request, status int, name, fault string) error {
	fields := []Field{
		{ID: "name", Label: "Name", Value: name, Required: true, Complete: "username", Fault: fault},
		{ID: "password", Label: "Password", Type: "password", Required: true, Complete: "current-password"},
	}
	return p.render(w, r, status, "login", "Log in", map[string]any{"Fields": fields, "Next": next(r)})
}

// next is the page to go to after logging in, one of ours.
func next(r *http.Request) string {
	u, err := url.Parse(r.FormValue("next")) // an error for control characters, which browsers leave out
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") ||
		strings.Contains(u.Path, `\`) || strings.Contains(u.Path, "//") {
		return "/mine"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

func (p *Pages) login(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimSpace(r.PostFormValue("name"))
	session, browser, err := p.Accounts.Login(r.Context(), name, r.PostFormValue("password"), p.from(r))
	if err != nil {
		tried := "" // some people type their password in the place of the name
		if p.Accounts.Exists(r.Context(), name) == nil {
			tried = name
		}
		p.Log.Warn("login refused", "curator", tried, "network", p.Counter.Network(r, 24), "error", err)
	}
	switch {
	case errors.Is(err, accounts.ErrWrong):
		return p.renderLogin(w, r, http.StatusUnauthorized, name, dataset.Sentence(err.Error()))
	case errors.Is(err, accounts.ErrTooMany):
		return p.renderLogin(w, r, http.StatusTooManyRequests, name, dataset.Sentence(err.Error()))
	case errors.Is(err, accounts.ErrBusy):
		return p.renderLogin(w, r, http.StatusServiceUnavailable, name, dataset.Sentence(err.Error()))
	case err != nil:
		return err
	}
	if err := p.endSession(r); err != nil { // of whoever was logged in before
		return err
	}
	p.setCookie(w, p.cookie(), session, 0)
	p.setCookie(w, p.known(), browser, accounts.Remembered)
	return lead(w, r, next(r), nil)
}

func (p *Pages) logout(w http.ResponseWriter, r *http.Request) error {
	p.setCookie(w, p.cookie(), "", 0)
	return lead(w, r, "/", p.endSession(r))
}

func (p *Pages) endSession(r *http.Request) error {
	cookie, err := r.Cookie(p.cookie())
	if err != nil {
		return nil
	}
	return p.Accounts.Logout(r.Context(), cookie.Value)
}

func (p *Pages) passwordForm(w http.ResponseWriter, r *http.Request) error {
	return p.renderPassword(w, r, http.StatusOK, "", "")
}

func (p *Pages) renderPassword(w http.ResponseWriter, r *http.Request, status int, oldFault, newFault string) error {
	fields := []Field{
		{ID: "old", Label: "Current password", Type: "password", Required: true, Complete: "current-password",
			Fault: oldFault},
		{ID: "new", Label: "New password", Type: "password", Required: true, Complete: "new-password", Fault: newFault,
			Hint: dataset.Sentence(accounts.ErrPassword.Error())},
	}
	return p.render(w, r, status, "password", "Change your password", map[string]any{"Fields": fields})
}

func (p *Pages) password(w http.ResponseWriter, r *http.Request) error {
	err := p.Accounts.Change(r.Context(), curator(r), r.PostFormValue("old"), r.PostFormValue("new"), p.from(r))
	switch {
	case errors.Is(err, accounts.ErrPassword):
		return p.renderPassword(w, r, http.StatusUnprocessableEntity, "", dataset.Sentence(err.Error()))
	case errors.Is(err, accounts.ErrWrong), errors.Is(err, accounts.ErrTooMany), errors.Is(err, accounts.ErrBusy):
		return p.renderPassword(w, r, http.StatusUnprocessableEntity, dataset.Sentence(err.Error()), "")
	case err != nil:
		return err
	}
	p.setCookie(w, p.cookie(), "", 0) // all sessions have ended
	return lead(w, r, "/login", nil)
}
