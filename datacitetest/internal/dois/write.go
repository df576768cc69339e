package dois

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// One DOI in the deployed service: lupo app/controllers/datacite_dois_controller.rb.

// serveOne serves a request about a DOI, in a format.
func (s *Service) serveOne(q *wire.Request, name, f string) (wire.Reply, error) {
	switch q.Verb {
	case http.MethodGet:
		return s.showDOI(q, name, f)
	case http.MethodPut, http.MethodPatch:
		return s.writeDOI(q, name)
	case http.MethodDelete:
		return s.deleteDOI(q, name)
	}
	return wire.Reply{}, store.ErrNoRecord
}

func (s *Service) deleteDOI(q *wire.Request, name string) (wire.Reply, error) {
	account, err := s.caller(q)
	if err != nil {
		return wire.Reply{}, err
	}
	rec := s.Find(name)
	if rec == nil {
		return wire.Reply{}, store.ErrNoRecord
	}
	if err := authorize(account, rec.Owner(account)); err != nil {
		return wire.Reply{}, err
	}
	return wire.Reply{Status: http.StatusNoContent}, s.RemoveDraft(account, name, store.ErrNoRecord, errForbidden)
}

// authorize is the error if an account may not write; an anonymous caller is 401.
func authorize(account *record.Account, right bool) error {
	switch {
	case account == nil:
		return errBadCredentials
	case !right, !account.MayWrite():
		return errForbidden
	}
	return nil
}

// writeDOI creates or updates a record: POST, without a name, and PUT and PATCH, with one.
func (s *Service) writeDOI(q *wire.Request, path string) (wire.Reply, error) {
	account, data, err := s.callerAndData(q)
	if err != nil {
		return wire.Reply{}, err
	}
	old := s.Find(path)
	if path == "" && len(strings.Fields(q.Header.Get("Authorization"))) < 2 {
		return wire.Reply{}, errBadCredentials
	}
	if old != nil {
		if attributes, _ := data["attributes"].(object); attributes["mode"] == "transfer" {
			return s.transfer(q, account, old, data)
		}
		if err := authorize(account, old.Owner(account)); err != nil {
			return wire.Reply{}, err
		}
	}
	name, ok := names.Validate(path)
	if path != "" && old == nil && !ok {
		return wire.Reply{}, store.ErrNoRecord
	}
	sent, err := take(data)
	if err != nil {
		return wire.Reply{}, err
	}
	p, err := wire.URLParams(q.URL.RawQuery)
	if err != nil {
		return wire.Reply{}, err
	}
	if old != nil {
		return s.save(q, p, account, s.Client(old.Client), old.DOI, sent, path)
	}
	asked, client, err := s.toMake(data, sent, account)
	if err != nil {
		return wire.Reply{}, err
	}
	if path == "" {
		name = asked
	}
	// An account that may write may also write for others under their prefixes.
	prefix, _ := names.Split(name)
	if err := authorize(account, client.Holds(prefix)); err != nil {
		return wire.Reply{}, err
	}
	return s.save(q, p, account, client, name, sent, path)
}

// transfer moves a DOI to another repository, any that there is, and changes nothing else.
func (s *Service) transfer(q *wire.Request, account *record.Account, old *record.Record,
	data object) (wire.Reply, error) {
	switch {
	case account == nil:
		return wire.Reply{}, errBadCredentials
	case !old.Below(account):
		return wire.Reply{}, errForbidden
	}
	p, err := wire.URLParams(q.URL.RawQuery)
	if err == nil {
		_, err = take(data)
	}
	if err != nil {
		return wire.Reply{}, err
	}
	to, err := s.clientOf(data, account)
	if err != nil {
		return wire.Reply{}, err
	}
	var moved record.Record
	err = s.Change(old.DOI, func(rec *record.Record) (*record.Record, error) {
		if rec == nil {
			return nil, store.ErrNoRecord
		}
		rec.Client, rec.Provider, rec.Consortium = to.ClientID, to.ProviderID, to.ConsortiumID
		rec.Repository, rec.Member = nil, nil
		rec.Settle(s.Now(), s.ResolveDelay)
		moved = *rec
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.JSON(http.StatusOK, object{"data": s.resource(&moved, singleView(p), p, account)}), nil
}

// callerAndData are the account of a request, and the member data of its body in JSON.
func (s *Service) callerAndData(q *wire.Request) (account *record.Account, data object, err error) {
	if account, err = s.caller(q); err == nil {
		data, err = readData(q)
	}
	return account, data, err
}

func readData(q *wire.Request) (object, error) {
	if coding := q.Header.Get("Content-Encoding"); coding != "" {
		return readCoded(q, coding)
	}
	kind, _, _ := strings.Cut(q.Header.Get("Content-Type"), ";")
	body, err := wire.ReadBody(q)
	if err != nil || !wire.JSONTypes[strings.TrimSpace(kind)] {
		return nil, err
	}
	var o struct{ Data object }
	if len(body) > 0 && wire.Decode(body, &o) != nil {
		return nil, wire.ErrParams
	}
	return wire.Compacted(o.Data).(object), nil
}

// readCoded reads a compressed body, which is JSON whatever its type.
func readCoded(q *wire.Request, coding string) (object, error) {
	if q.Verb == http.MethodPatch || coding != "gzip" && coding != "deflate" {
		return nil, wire.CodedBody.Refusal(coding)
	}
	body, err := wire.ReadCoded(q, coding)
	if err != nil {
		return nil, err
	}
	var o struct{ Data object }
	if wire.Decode(body, &o) != nil {
		return nil, wire.ErrUnpacking
	}
	return wire.Compacted(o.Data).(object), nil
}

func take(data object) (record.Sent, error) {
	if len(data) == 0 {
		return record.Sent{}, errNoPayload
	}
	attributes, ok := data["attributes"].(object)
	if !ok {
		return record.Sent{}, record.ErrNoMembers
	}
	return record.Take(attributes)
}

// toMake is the name requested for a new record, empty if none, and its repository.
func (s *Service) toMake(data object, sent record.Sent, account *record.Account) (string, *record.Account, error) {
	name, err := s.nameSent(sent)
	if err != nil {
		return "", nil, err
	}
	client, err := s.clientOf(data, account)
	return name, client, err
}

// nameSent is the DOI requested for a new record, not normalized, or a new one under the
// requested prefix.
func (s *Service) nameSent(sent record.Sent) (string, error) {
	given, prefix := sent.Wants("doi"), sent.Wants("prefix")
	if !wire.IsBlank(given) || wire.IsBlank(prefix) {
		return names.Lower(given), nil
	}
	name, ok := s.FreeName(prefix)
	if !ok {
		return "", wire.Crashed("No valid prefix found")
	}
	return name, nil
}

// clientOf is the repository of a new record: the one that it names, or the account's.
func (s *Service) clientOf(data object, account *record.Account) (*record.Account, error) {
	id := wire.String(record.Member(data, "relationships", "client", "data", "id"))
	if id == "" && account != nil {
		id = account.ClientID
	}
	if client := s.Client(id); client != nil && !client.IsMember() {
		return client, nil
	}
	return nil, store.ErrNoRecord
}

func (s *Service) save(q *wire.Request, p wire.Params, account, client *record.Account, name string, sent record.Sent,
	path string) (wire.Reply, error) {
	var stored record.Record
	existed := path != "" && s.Find(path) != nil
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		taken := rec != nil && !existed
		if rec == nil || taken {
			rec = s.NewRecord(name, client, "api")
		}
		before := rec.XML
		rec.Assign(sent, existed)
		if all := rec.Faults(sent, existed, taken, client); len(all) > 0 {
			return nil, record.Invalid(name, all...)
		}
		if err := rec.TooLong(); err != nil {
			return nil, err
		}
		if err := rec.Kept(before, s.Now(), s.ResolveDelay); err != nil {
			return nil, err
		}
		stored = *rec
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	res := wire.JSON(http.StatusOK, object{"data": s.resource(&stored, singleView(p), p, account)})
	if !existed {
		res.Status = http.StatusCreated
	}
	if path == "" { // the service's internal number of the record
		res.Header = map[string]string{"Location": fmt.Sprintf("%s/dois/%d", wire.Address(q), s.created.Add(1))}
	}
	return res, nil
}
