package sandbox

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// payload is what a request to write a DOI asks for.
type payload struct {
	attributes object
	client     string // from relationships; empty if not given
}

// writeDOI creates or updates a record: POST, without a name, and PUT and
// PATCH, with one. The specification does not show these operations; they are
// those of the deployed service.
func (s *doiRoom) writeDOI(q *request, name string) (reply, error) {
	account, err := s.writer(q)
	if err != nil {
		return reply{}, err
	}
	p, err := readPayload(q)
	if err != nil {
		return reply{}, err
	}
	if p.client != "" && !strings.EqualFold(p.client, account.ClientID) {
		return reply{}, errForbidden
	}
	create := name == ""
	if create {
		if name, err = s.nameToCreate(p.attributes); err != nil {
			return reply{}, err
		}
	}
	inURL, err := urlParams(q.URL.RawQuery)
	if err != nil {
		return reply{}, err
	}
	return s.storeDOI(q, account, name, create, p.attributes, singleView(inURL))
}

func readPayload(q *request) (payload, error) {
	body, err := readCoded(q)
	if err != nil {
		return payload{}, err
	}
	var o struct {
		Data *struct {
			Attributes    object `json:"attributes"`
			Relationships struct {
				Client struct {
					Data struct {
						ID string `json:"id"`
					} `json:"data"`
				} `json:"client"`
			} `json:"relationships"`
		} `json:"data"`
	}
	if decodeJSON(body, &o) != nil {
		return payload{}, errParams
	}
	if o.Data == nil {
		return payload{}, fail(http.StatusBadRequest, "You need to provide a payload following the JSONAPI spec")
	}
	return payload{o.Data.Attributes, o.Data.Relationships.Client.Data.ID}, nil
}

// readCoded reads a body that may be compressed.
func readCoded(q *request) ([]byte, error) {
	if q.Header.Get("Content-Encoding") != "gzip" {
		return readBody(q)
	}
	r, err := gzip.NewReader(io.LimitReader(q.Body, maxOtherBody))
	if err != nil {
		return nil, errParams
	}
	body, err := readSome(r)
	if err != nil && asFault(err).status != http.StatusRequestEntityTooLarge {
		return nil, errParams
	}
	return body, err
}

// nameToCreate is the name that a new record asks for, or a new one under the
// prefix that it asks for.
func (s *doiRoom) nameToCreate(o object) (string, error) {
	given, prefix := text(o["doi"]), text(o["prefix"])
	if given == "" && prefixForm.MatchString(prefix) {
		return s.freeName(prefix), nil
	}
	name, ok := doiName(given)
	if !ok {
		return "", invalid("", wrong{"doi", "Is invalid"})
	}
	return name, nil
}

// wrong is one thing wrong with a record.
type wrong struct{ source, title string }

// invalid is 422 with one entry for each thing wrong.
func invalid(name string, all ...wrong) *fault {
	f := fail(http.StatusUnprocessableEntity, "%s: %s", all[0].source, all[0].title)
	var entries []any
	for _, w := range all {
		entries = append(entries, object{"source": w.source, "uid": name, "title": w.title})
	}
	f.body = object{"errors": entries}
	return f
}

func (s *doiRoom) storeDOI(q *request, account *Account, name string, create bool, o object, v view) (reply, error) {
	var stored record
	var existed bool
	err := s.change(name, func(rec *record) (*record, error) {
		existed = rec != nil
		rec, err := s.toWrite(rec, account, name, create)
		if err != nil {
			return nil, err
		}
		if s.WholeAlternates {
			if err := checkAlternates(o); err != nil {
				return nil, err
			}
		}
		if err := rec.write(o); err != nil {
			return nil, err
		}
		rec.state = afterEvent(rec.state, text(o["event"]))
		if all := rec.wrongs(account); len(all) > 0 {
			return nil, invalid(name, all...)
		}
		rec.settle(s.Now(), s.ResolveDelay)
		stored = *rec
		return rec, nil
	})
	if err != nil {
		return reply{}, err
	}
	res := jsonReply(http.StatusOK, object{"data": stored.resource(v)})
	if !existed {
		res.status = http.StatusCreated
		// The deployed service names its own number for the record here.
		res.header = map[string]string{"Location": fmt.Sprintf("%s/dois/%d", address(q), s.created.Add(1))}
	}
	return res, nil
}

// checkAlternates refuses alternate identifiers with a member missing. They are
// looked at only where they stand for identifiers (datacite_dois_controller.rb:853-873;
// the status of ParameterMissing is in application_controller.rb:119-121).
func checkAlternates(o object) error {
	if _, both := o["identifiers"]; both {
		return nil
	}
	list, _ := o["alternateIdentifiers"].([]any)
	for _, item := range list {
		id, ok := item.(object)
		for _, name := range []string{"alternateIdentifier", "alternateIdentifierType"} {
			if _, there := id[name]; ok && !there {
				return fail(http.StatusUnprocessableEntity, "param is missing or the value is empty: %s", name)
			}
		}
	}
	return nil
}

// toWrite is the record to write to: the one there is, or a new one.
func (s *doiRoom) toWrite(rec *record, account *Account, name string, create bool) (*record, error) {
	switch {
	case rec != nil && create:
		return nil, invalid(name, wrong{"doi", "This DOI has already been taken"})
	case rec != nil && !rec.owner(account):
		return nil, errForbidden
	case rec != nil:
		return rec, nil
	}
	if prefix, _ := splitName(name); !account.holds(prefix) {
		return nil, errForbidden
	}
	if !s.NewName.MatchString(name) {
		return nil, invalid(name, wrong{"doi", "Is invalid"})
	}
	return s.newRecord(name, account, "api"), nil
}

// settle finishes a change: times, and the entry in the handle system.
func (rec *record) settle(now time.Time, delay time.Duration) {
	rec.updated = now
	rec.version = max(rec.version, 0)
	if rec.state != draft {
		rec.register(now, delay)
	}
}

// afterEvent is the state an event leads to. An event that a state does not
// know changes nothing.
func afterEvent(state, event string) string {
	switch {
	case event == "publish", event == "show" && state == registered:
		return findable
	case event == "register" && state == draft, event == "hide" && state == findable:
		return registered
	}
	return state
}

// metadataMembers are the attributes that may be written. Each that is sent is
// replaced whole; others are left out without a word.
var metadataMembers = []string{
	"creators", "contributors", "titles", "publisher", "publicationYear", "subjects", "dates", "language", "identifiers",
	"alternateIdentifiers", "types", "relatedIdentifiers", "relatedItems", "sizes", "formats", "version", "rightsList",
	"descriptions", "geoLocations", "fundingReferences", "container", "contentUrl", "schemaVersion",
}

// write takes over what is sent. Attributes win over XML sent with them.
func (rec *record) write(o object) error {
	encoded := text(o["xml"])
	if encoded != "" {
		if err := rec.writeXML(encoded); err != nil {
			return err
		}
	}
	changed := maps.Clone(o)
	maps.DeleteFunc(changed, func(name string, _ any) bool { return !slices.Contains(metadataMembers, name) })
	if len(changed) > 0 {
		if err := rec.writeMembers(changed); err != nil {
			return err
		}
		if encoded == "" {
			rec.xml = nil // it no longer says what the record says
		}
	}
	if encoded != "" || len(changed) > 0 {
		rec.version++
	}
	if v, sent := o["url"]; sent {
		rec.url = text(v)
	}
	if reason, sent := o["reason"]; sent {
		rec.attributes = maps.Clone(rec.attributes)
		rec.attributes["reason"] = reason
	}
	return nil
}

func (rec *record) writeMembers(changed object) error {
	for name, v := range changed {
		v, err := memberValue(name, v)
		if err != nil {
			return invalid(rec.doi, wrong{name, err.Error()})
		}
		changed[name] = v
	}
	// The one is an alias of the other, also when it is null (datacite_dois_controller.rb:853-873).
	others, sent := changed["alternateIdentifiers"]
	delete(changed, "alternateIdentifiers")
	if _, both := changed["identifiers"]; sent && !both {
		changed["identifiers"] = nil
		if list, ok := others.([]any); ok {
			changed["identifiers"] = renamed(list, "alternateIdentifier", "identifier")
		}
	}
	attributes := maps.Clone(rec.attributes)
	maps.Copy(attributes, changed)
	maps.DeleteFunc(attributes, func(_ string, v any) bool { return v == nil })
	rec.attributes = attributes
	return nil
}

func (rec *record) writeXML(encoded string) error {
	source, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return invalid(rec.doi, wrong{"xml", "is not base64"})
	}
	if pieces(source) > maxPieces {
		return errTooMuch
	}
	f, err := recognise(source)
	if err == nil {
		err = rec.setMetadata(f, source)
	}
	if err != nil {
		return invalid(rec.doi, wrong{"xml", err.Error()})
	}
	return nil
}
