package mds

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Requests of the store to the DOI service behind it. With Documented the two are one.

// patience is the store's timeout for the service behind it.
const patience = time.Minute

// ask sends a request to the service behind the store, and translates its errors into the
// store's texts.
func (s *Service) ask(c *call, unknown *wire.Failure, work func() (wire.Reply, error)) (wire.Reply, error) {
	res, err := between(c.Fault, work)
	if err == nil {
		res.Body = s.handedOn(res.Body)
		return res, nil
	}
	if said, ok := errors.AsType[*worded](err); ok {
		return wire.Reply{}, said
	}
	f := wire.AsFailure(err)
	switch f.Status {
	case http.StatusUnauthorized:
		f = errBadLogin
	case http.StatusForbidden:
		f = errDenied
	case http.StatusNotFound:
		f = unknown
	default:
		title := s.handedOn([]byte(f.Title))
		if f.Whole != nil { // a body without a list of errors, as Ruby prints it
			title = fmt.Appendf(nil, `{"status"=>400, "title"=>%q}`, title)
		}
		f = wire.Fail(f.Status, "%s", title)
	}
	return wire.Reply{}, &worded{f}
}

// handedOn is a text of the service behind as the store forwards it, with "?" for each
// byte that is not ASCII: the response is compressed, so that its encoding is lost.
func (s *Service) handedOn(text []byte) []byte {
	if !s.Deployed || names.IsASCII(string(text)) {
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

// between is the response if a fault happens between the store and the service behind
// it. A missing response is 408 after the store's timeout, else 403. An HTML page keeps
// its status; the text is the page as Ruby prints a list.
func between(f *faults.Fault, work func() (res wire.Reply, err error)) (res wire.Reply, err error) {
	if f == nil || !f.Behind {
		return work()
	}
	if !slices.Contains([]faults.FaultKind{faults.DropBefore, faults.DropDuring, faults.Status}, f.Kind) {
		res, err = work()
	}
	time.Sleep(min(f.Delay, patience))
	page := f.Kind == faults.Status || f.Kind == faults.StatusAfter
	switch {
	case f.Delay >= patience, page && f.Code() == http.StatusRequestTimeout:
		return wire.Reply{}, wire.Fail(http.StatusRequestTimeout, "Request timeout")
	case page:
		title := fmt.Sprintf("%d %s", f.Code(), http.StatusText(f.Code()))
		return wire.Reply{}, wire.Fail(f.Code(), `["html", {"head"=>{"title"=>%q}, "body"=>{"center"=>{"h1"=>%q}}}]`, title,
			title)
	case slices.Contains([]faults.FaultKind{faults.DropBefore, faults.DropDuring, faults.DropAfter, faults.CutResponse},
		f.Kind):
		return wire.Reply{}, errDenied
	}
	return res, err
}

// mayChange is the error if an account may not change a record: 403, or 401 without a login.
func mayChange(account *record.Account, allowed bool) error {
	switch {
	case account == nil:
		return errBadLogin
	case !allowed:
		return errDenied
	}
	return nil
}

// mayRead is the error if an account may not read a record. By the specification only the
// owner may.
func (s *Service) mayRead(account *record.Account, rec *record.Record) error {
	switch {
	case rec == nil, s.Deployed && !rec.Visible(account):
		return store.ErrNoRecord
	case !s.Deployed && !rec.Owner(account):
		return errDenied
	}
	return nil
}

// changes are what a request changes of a DOI.
type changes struct {
	event    string
	url      string
	metadata []byte
	format   record.Format
	target   string // the DOI, which replaces the identifier in the metadata
}

// changed is a DOI after a change, and its earlier state, if any.
type changed struct{ doi, before string }

// change changes or creates a DOI. Either all changes are made, or none.
func (s *Service) change(c *call, name string) (done changed, err error) {
	known := s.Find(name) != nil
	if !known {
		var ok bool
		if name, ok = s.readName(name); !ok || !s.Deployed && c.event == "hide" {
			return done, store.ErrNoRecord
		}
	}
	err = s.Change(name, func(rec *record.Record) (*record.Record, error) {
		if rec != nil {
			done.before = rec.State
		}
		next, err := s.toChange(c, name, rec, known)
		if err != nil {
			return nil, err
		}
		apply := s.applyDeployed
		if !s.Deployed {
			apply = s.applyDocumented
		}
		if err := apply(c.changes, next, rec != nil); err != nil {
			return nil, err
		}
		done.doi = next.DOI
		return next, nil
	})
	return done, err
}

// toChange is the record to change: the existing one, or a new one.
func (s *Service) toChange(c *call, name string, rec *record.Record, known bool) (*record.Record, error) {
	if rec != nil && known {
		return rec, mayChange(c.account, rec.Owner(c.account))
	}
	if !slices.ContainsFunc(s.Accounts, func(a record.Account) bool { return strings.EqualFold(a.Username, c.username) }) {
		return nil, store.ErrNoRecord // the repository is looked up by the user name
	}
	prefix, _ := names.Split(name)
	if err := mayChange(c.account, c.account != nil && c.account.Holds(prefix)); err != nil {
		return nil, err
	}
	switch {
	case rec != nil:
		return nil, wire.Fail(http.StatusUnprocessableEntity, "This DOI has already been taken")
	case !s.Deployed && !names.IsNew(name):
		return nil, record.ErrInvalid
	}
	return s.NewRecord(name, c.account, "mds"), nil
}

// schemaForm are the schemas that the DOI service has files of.
var schemaForm = lazy.Regexp(`\Ahttp://datacite\.org/schema/kernel-(2\.[12]|3(\.[01])?|4(\.[0-7])?)\z`)

// applyDeployed requests the changes from the DOI service, as its client would. The first
// fault found is the error.
func (s *Service) applyDeployed(ch changes, rec *record.Record, existed bool) error {
	asked := object{"event": ch.event, "should_validate": ch.event != "hide"}
	if ch.metadata != nil {
		asked["xml"], asked["doi"] = base64.StdEncoding.EncodeToString(ch.metadata), ch.target
	}
	if ch.url != "" {
		asked["url"] = ch.url
	}
	if ch.event != "hide" {
		asked["source"] = "mds"
	}
	sent, err := record.Take(asked)
	if err != nil {
		return err
	}
	before := rec.XML
	rec.Assign(sent, existed)
	for _, w := range rec.Faults(sent, existed, false, s.Client(rec.Client)) {
		return wire.Fail(http.StatusUnprocessableEntity, "%s", w[1])
	}
	version := wire.String(rec.Attributes["schemaVersion"])
	if rec.State != record.Draft && ch.format == record.Kernel && string(rec.XML) != string(before) &&
		!schemaForm().MatchString(version) {
		return wire.Crashed("No such file or directory @ rb_sysopen - " + version)
	}
	if err := rec.TooLong(); err != nil {
		return err
	}
	if rec.Kept(before, s.Now(), s.ResolveDelay) != nil {
		return record.ErrInvalid
	}
	return nil
}
