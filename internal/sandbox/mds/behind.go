// Package mds is interface C, the metadata store.
package mds

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/sandbox/faults"
	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// object is an object in JSON.
type object = map[string]any

var (
	deployedURLForm  = regexp.MustCompile(`\A(ftp|http|https)://\S+\z`)
	deployedFileForm = regexp.MustCompile(`\A(ftp|http|https|gs|s3|dos)://\S+\z`)
)

const (
	// notFoundBehind is the store's text where it has none of its own for 404.
	notFoundBehind = "Not found"

	// patience is how long the store waits for the service behind it.
	patience = time.Minute
)

// ask puts a question to the service behind the store, and its refusals into
// the store's words.
func (s *Room) ask(c *storeCall, unknown string, work func() (wire.Reply, error)) (wire.Reply, error) {
	res, err := between(c.Fault, work)
	if err == nil {
		res.Body = unread(res.Body)
		return res, nil
	}
	if said, ok := errors.AsType[*answered](err); ok {
		return wire.Reply{}, said
	}
	f := wire.AsFailure(err)
	switch f.Status {
	case http.StatusUnauthorized:
		return wire.Reply{}, answer(f.Status, errBadLogin.Title)
	case http.StatusForbidden:
		return wire.Reply{}, answer(f.Status, errDenied.Title)
	case http.StatusNotFound:
		return wire.Reply{}, answer(f.Status, unknown)
	}
	return wire.Reply{}, answer(f.Status, string(unread([]byte(f.Title))))
}

// unread is a text from behind as the store hands it on. The answer comes
// compressed, the store no longer knows its encoding then, and puts "?" for each
// byte that is not ASCII.
func unread(text []byte) []byte {
	if names.IsASCII(string(text)) {
		return text
	}
	out := slices.Clone(text)
	for i, b := range out {
		if b >= utf8.RuneSelf {
			out[i] = '?'
		}
	}
	return out
}

// between is what comes of the work when something happens between the store
// and the service behind it.
func between(f *faults.Fault, work func() (wire.Reply, error)) (wire.Reply, error) {
	if f == nil || !f.Behind {
		return work()
	}
	switch f.Kind {
	case faults.DropBefore, faults.DropDuring:
		time.Sleep(min(f.Delay, patience))
		return wire.Reply{}, lost(f)
	case faults.Status:
		time.Sleep(min(f.Delay, patience))
		return wire.Reply{}, faultPage(f)
	}
	res, err := work()
	time.Sleep(min(f.Delay, patience))
	switch f.Kind {
	case faults.StatusAfter:
		return wire.Reply{}, faultPage(f)
	case faults.DropAfter, faults.CutAnswer:
		return wire.Reply{}, lost(f)
	}
	if f.Delay >= patience {
		return wire.Reply{}, lost(f)
	}
	return res, err
}

// lost is what the store makes of an answer that does not come: 408 if it has
// waited long enough, else 403.
func lost(f *faults.Fault) error {
	if f.Delay >= patience {
		return wire.Fail(http.StatusRequestTimeout, "Request timeout")
	}
	return errDenied
}

// faultPage is what the store makes of a page of HTML: the status, and for a text
// the page as its language writes a list.
func faultPage(f *faults.Fault) error {
	if f.Delay >= patience || f.Code() == http.StatusRequestTimeout {
		return wire.Fail(http.StatusRequestTimeout, "Request timeout")
	}
	title := fmt.Sprintf("%d %s", f.Code(), http.StatusText(f.Code()))
	return wire.Fail(f.Code(), `["html", {"head"=>{"title"=>%q}, "body"=>{"center"=>{"h1"=>%q}}}]`, title, title)
}

// mayChange says why an account may not change a record: somebody is refused, nobody
// has no right to ask.
func mayChange(account *record.Account, allowed bool) error {
	switch {
	case account == nil:
		return errBadLogin
	case !allowed:
		return errDenied
	}
	return nil
}

func mayEdit(account *record.Account, rec *record.Record) error {
	if rec == nil {
		return store.ErrNoRecord
	}
	return mayChange(account, rec.Owner(account))
}

// behindXML is the XML of a DOI, or of whatever else the name led to.
func (s *Room) behindXML(account *record.Account, w names.Way) (wire.Reply, error) {
	rec := s.Find(w.Doi)
	switch {
	case rec == nil:
		return wire.Reply{}, store.ErrNoRecord
	case w.Part == "get-url":
		res, err := s.behindURL(account, w)
		if len(res.Body) > 0 {
			res.Body = wire.Encode(object{"url": string(res.Body)})
		}
		return res, err
	case w.Id != "":
		return wire.Reply{}, store.ErrNoRecord
	case w.Part != "":
		return wire.Reply{Status: http.StatusOK, Body: wire.Encode(object{"data": []any{}}), Plain: true}, nil
	case !rec.Visible(account):
		return wire.Reply{}, store.ErrNoRecord
	}
	return wire.Reply{Status: http.StatusOK, Body: rec.XML, Plain: true}, nil
}

// behindURL is the URL of a DOI. Nobody may read them all, somebody those of
// the account. What is no URL, as the name led elsewhere, is no text.
func (s *Room) behindURL(account *record.Account, w names.Way) (wire.Reply, error) {
	rec := s.Find(w.Doi)
	switch {
	case rec == nil, w.Part != "get-url" && !rec.Visible(account):
		return wire.Reply{}, store.ErrNoRecord
	case w.Part != "get-url":
		return wire.Text(http.StatusOK, ""), nil
	case account != nil && !rec.Owner(account):
		return wire.Reply{}, errDenied
	case rec.URL == "":
		return noContent, nil
	}
	return wire.Text(http.StatusOK, rec.URL), nil
}

// behindNames are the registered names under the account's first prefix.
func (s *Room) behindNames(account *record.Account) (wire.Reply, error) {
	if err := mayChange(account, account != nil && !account.ByKey); err != nil {
		return wire.Reply{}, err
	}
	return s.listNames(account, strings.ToUpper, func(*record.Record) bool { return true }), nil
}

// changes are what the store asks for a DOI.
type changes struct {
	event    string
	url      string
	metadata []byte
	name     string // what the metadata shall call themselves
	validate bool   // a draft too
}

// changed is a DOI after a change.
type changed struct {
	doi     string
	existed bool
}

// behindChange changes a DOI, or makes one. The changes count together or not
// at all.
func (s *Room) behindChange(c *storeCall, w names.Way, ch changes) (*changed, error) {
	if w.Part != "" {
		return nil, store.ErrNoRecord
	}
	name, known := w.Doi, s.Find(w.Doi) != nil
	if !known {
		var ok bool
		if name, ok = names.Validate(w.Doi); !ok {
			return nil, store.ErrNoRecord
		}
	}
	var done changed
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		next, err := s.toChange(c, name, rec, known)
		if err != nil {
			return nil, err
		}
		if err := ch.apply(next, rec != nil, c.account); err != nil {
			return nil, err
		}
		next.Updated = s.Now()
		if next.State != record.Draft {
			next.Register(s.Now(), s.ResolveDelay)
		}
		done = changed{next.DOI, rec != nil}
		return next, nil
	})
	return &done, err
}

// toChange is the record to change: the one that is known, or a new one.
func (s *Room) toChange(c *storeCall, name string, rec *record.Record, known bool) (*record.Record, error) {
	if rec != nil && known {
		return rec, mayChange(c.account, rec.Owner(c.account))
	}
	if !s.hasUser(c.username) {
		return nil, store.ErrNoRecord // it looks for the repository of that name
	}
	prefix, _ := names.Split(name)
	if err := mayChange(c.account, c.account != nil && c.account.Holds(prefix)); err != nil {
		return nil, err
	}
	switch {
	case rec != nil:
		return nil, wire.Fail(http.StatusUnprocessableEntity, "This DOI has already been taken")
	case !s.NewName.MatchString(name):
		return nil, record.ErrInvalid
	}
	return s.NewRecord(name, c.account, "mds"), nil
}

func (s *Room) hasUser(username string) bool {
	return slices.ContainsFunc(s.Accounts, func(a record.Account) bool { return strings.EqualFold(a.Username, username) })
}

// apply makes the changes to a record, and checks what comes of them, in the
// order of the service.
func (ch changes) apply(rec *record.Record, existed bool, account *record.Account) error {
	before := string(rec.XML)
	if ch.metadata != nil {
		if err := rec.SetDeployed(ch.metadata, ch.name, existed); err != nil {
			return err
		}
		rec.Version++
	}
	if ch.url != "" {
		rec.URL = ch.url
	}
	rec.State = record.AfterEvent(rec.State, ch.event)
	validate := ch.validate || rec.State != record.Draft
	switch {
	case rec.URL != "" && !deployedURLForm.MatchString(rec.URL):
		return wire.Fail(http.StatusUnprocessableEntity, "URL is not valid")
	case validate && !rec.HasMetadata():
		return record.ErrBlank
	}
	if validate {
		if err := rec.CheckDeployed(existed); err != nil {
			return err
		}
	}
	if rec.State != record.Draft && ch.url != "" && account.Refusal(ch.url) == record.NoDomain {
		return wire.Fail(http.StatusUnprocessableEntity, "%s", record.NoDomain)
	}
	if string(rec.XML) != before {
		return rec.CheckKept()
	}
	return nil
}

// behindDelete removes a draft.
func (s *Room) behindDelete(account *record.Account, w names.Way) error {
	if w.Part != "" {
		return store.ErrNoRecord
	}
	return s.Change(w.Doi, func(rec *record.Record) (*record.Record, error) {
		if err := mayEdit(account, rec); err != nil {
			return nil, err
		}
		if rec.State != record.Draft {
			return nil, wire.Fail(http.StatusMethodNotAllowed, "Method not allowed")
		}
		return nil, nil
	})
}

// behindMedia are the files of a DOI for whoever asks, the newest first, 25 at
// most. If the name led to the DOI itself, its URL passes for a file.
func (s *Room) behindMedia(w names.Way) ([]string, error) {
	rec := s.Find(w.Doi)
	if rec == nil || w.Id != "" {
		return nil, store.ErrNoRecord
	}
	if w.Part != "media" {
		return []string{"=" + rec.URL}, nil
	}
	var lines []string
	for _, m := range slices.Backward(rec.Media) {
		if len(lines) < 25 {
			lines = append(lines, m.Kind+"="+m.URL)
		}
	}
	return lines, nil
}

func (s *Room) behindAddMedium(account *record.Account, w names.Way, m record.Medium) error {
	if w.Part != "media" || w.Id != "" {
		return store.ErrNoRecord
	}
	return s.Change(w.Doi, func(rec *record.Record) (*record.Record, error) {
		if err := mayEdit(account, rec); err != nil {
			return nil, err
		}
		if wire.IsBlank(m.Kind) {
			m.Kind = "text/plain"
		}
		switch {
		case wire.IsBlank(m.URL):
			return nil, record.ErrBlank
		case !deployedFileForm.MatchString(m.URL):
			return nil, record.ErrInvalid
		}
		rec.Media = append(slices.Clone(rec.Media), m)
		return rec, nil
	})
}
