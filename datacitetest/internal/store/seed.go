package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// PutRecordOf stores a DOI record unchanged, in the form of the JSON record's attributes, for
// the account with that client id unless it names its client. A record of the same DOI is
// replaced. datacitetest.PutRecordJSON says which members are understood; client and provider
// may also be objects with id, name and other members of a repository or a member.
func (s *Store) PutRecordOf(clientID string, attributes json.RawMessage) error {
	var o object
	if err := json.Unmarshal(attributes, &o); err != nil {
		return err
	}
	name, ok := names.Read(wire.String(o["doi"]))
	if !ok {
		return fmt.Errorf("doi %q is not a DOI", o["doi"])
	}
	rec, err := s.seeded(name, s.Client(clientID), o)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(rec)
	s.announce(rec)
	return nil
}

// seedMembers are the members of a seed that are not attributes of the record.
var seedMembers = []string{
	"doi", "state", "url", "client", "provider", "consortium", "created", "updated", "registered", "source",
	"metadataVersion", "xml",
}

func (s *Store) seeded(name string, account *record.Account, o object) (*record.Record, error) {
	if named := s.Client(wire.String(o["client"])); named != nil {
		account = named
	}
	rec := s.NewRecord(name, account, "api")
	rec.Version = 0
	rec.State = record.Findable
	for member, target := range map[string]*string{
		"state": &rec.State, "url": &rec.URL, "client": &rec.Client, "provider": &rec.Provider,
		"consortium": &rec.Consortium, "source": &rec.Source,
	} {
		if v, given := o[member]; given {
			*target = wire.String(v)
		}
	}
	if about, ok := o["client"].(object); ok {
		rec.Client, rec.Repository = wire.String(about["id"]), about
	}
	if about, ok := o["provider"].(object); ok {
		rec.Provider, rec.Member = wire.String(about["id"]), about
	}
	if !slices.Contains([]string{record.Draft, record.Registered, record.Findable}, rec.State) {
		return nil, fmt.Errorf("state %q is not draft, registered or findable", rec.State)
	}
	if version, ok := o["metadataVersion"].(float64); ok {
		rec.Version = int(version)
	}
	if err := seedTimes(rec, o); err != nil {
		return nil, err
	}
	rec.Attributes = maps.Clone(o)
	maps.DeleteFunc(rec.Attributes, func(member string, _ any) bool { return slices.Contains(seedMembers, member) })
	return rec, seedXML(rec, wire.String(o["xml"]))
}

func seedTimes(rec *record.Record, o object) error {
	for _, t := range []struct {
		member string
		target *time.Time
	}{{"created", &rec.Created}, {"updated", &rec.Updated}, {"registered", &rec.Registered}} {
		value := wire.String(o[t.member])
		if value == "" {
			continue
		}
		at, err := parseTime(value)
		if err != nil {
			return fmt.Errorf("%s: %w", t.member, err)
		}
		*t.target = at
	}
	if wire.String(o["updated"]) == "" && wire.String(o["created"]) != "" {
		rec.Updated = rec.Created
	}
	if rec.State == record.Draft {
		return nil
	}
	if rec.Registered.IsZero() {
		rec.Registered = rec.Created
	}
	if rec.URL != "" {
		rec.Handles = []record.Handle{{URL: rec.URL, From: rec.Registered}}
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

func seedXML(rec *record.Record, encoded string) error {
	if encoded == "" {
		return nil
	}
	source, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return fmt.Errorf("xml: %w", err)
	}
	rec.XML = source
	if doc, err := record.ReadXML(source); err == nil && len(rec.Attributes) == 0 {
		rec.Attributes = record.AttributesOf(doc.Root)
	}
	return nil
}
