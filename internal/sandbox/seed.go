package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// PutRecord stores a DOI record as it is, in the shape of the JSON record's
// attributes. A record of the same DOI is replaced.
//
// Needed is doi alone. The service understands state (findable if not given),
// url, client, provider and consortium (ids; the first account's if not
// given), created, updated and registered (RFC 3339, date or year; now if not
// given), source, metadataVersion and xml (base64). All other members, known
// or not and of any type, are shown as they are; if there are none besides
// xml, they are read from it.
func (s *Store) PutRecord(attributes json.RawMessage) error {
	var o object
	if err := json.Unmarshal(attributes, &o); err != nil {
		return fmt.Errorf("sandbox.PutRecord: %w", err)
	}
	name, ok := doiName(text(o["doi"]))
	if !ok {
		return fmt.Errorf("sandbox.PutRecord: doi %q is not a DOI", o["doi"])
	}
	rec, err := s.seeded(name, o)
	if err != nil {
		return fmt.Errorf("sandbox.PutRecord: %s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(rec)
	return nil
}

// seedMembers are the members of a seed that the record keeps elsewhere than
// among its attributes.
var seedMembers = []string{
	"doi", "state", "url", "client", "provider", "consortium", "created", "updated", "registered", "source",
	"metadataVersion", "xml",
}

func (s *Store) seeded(name string, o object) (*record, error) {
	rec := s.newRecord(name, &s.Accounts[0], "api")
	rec.version = 0
	rec.state = findable
	for member, target := range map[string]*string{
		"state": &rec.state, "url": &rec.url, "client": &rec.client, "provider": &rec.provider,
		"consortium": &rec.consortium, "source": &rec.source,
	} {
		if v, given := o[member]; given {
			*target = text(v)
		}
	}
	if !slices.Contains([]string{draft, registered, findable}, rec.state) {
		return nil, fmt.Errorf("state %q is none of draft, registered and findable", rec.state)
	}
	if version, ok := o["metadataVersion"].(float64); ok {
		rec.version = int(version)
	}
	if err := rec.seedTimes(o); err != nil {
		return nil, err
	}
	rec.attributes = maps.Clone(o)
	maps.DeleteFunc(rec.attributes, func(member string, _ any) bool { return slices.Contains(seedMembers, member) })
	return rec, rec.seedXML(text(o["xml"]))
}

func (rec *record) seedTimes(o object) error {
	for _, t := range []struct {
		member string
		target *time.Time
	}{{"created", &rec.created}, {"updated", &rec.updated}, {"registered", &rec.registered}} {
		value := text(o[t.member])
		if value == "" {
			continue
		}
		at, err := parseTime(value)
		if err != nil {
			return fmt.Errorf("%s: %w", t.member, err)
		}
		*t.target = at
	}
	if text(o["updated"]) == "" && text(o["created"]) != "" {
		rec.updated = rec.created
	}
	if rec.state == draft {
		return nil
	}
	if rec.registered.IsZero() {
		rec.registered = rec.created
	}
	if rec.url != "" {
		rec.handles = []handle{{rec.url, rec.registered}}
	}
	return nil
}

// parseTime reads a moment, a day, a month or a year.
func parseTime(value string) (at time.Time, err error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, "2006-01", "2006"} {
		if at, err = time.Parse(layout, value); err == nil {
			return at.UTC(), nil
		}
	}
	return at, err
}

func (rec *record) seedXML(encoded string) error {
	if encoded == "" {
		return nil
	}
	source, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return fmt.Errorf("xml: %w", err)
	}
	rec.xml = source
	if doc, err := readXML(source); err == nil && len(rec.attributes) == 0 {
		rec.attributes = attributesOf(doc.root)
	}
	return nil
}
