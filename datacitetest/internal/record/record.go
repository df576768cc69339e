package record

import (
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// The states of specification §3.1.
const (
	Draft      = "draft"
	Registered = "registered"
	Findable   = "findable"
)

// Record is one DOI, for interfaces B and C. A stored record never changes: a
// change stores a copy, so readers need no lock.
type Record struct {
	DOI        string         // lower case
	Attributes map[string]any // the metadata, as the JSON record has them
	XML        []byte         // the metadata as XML, if given so
	State      string
	URL        string
	Client     string
	Provider   string
	Consortium string
	Repository map[string]any // other known members of the client, as JSON
	Member     map[string]any // and of the provider
	Source     string
	Version    int // of the metadata, from 0
	Created    time.Time
	Updated    time.Time
	Registered time.Time      // zero for drafts
	Handles    []Handle       // what the global resolver knows, oldest first
	Usage      map[string]any `json:"-"` // views and downloads by usage reports, in place of those among the attributes

	// With Deployed, by events; otherwise nil, and those of the record's own metadata are shown.
	Relationships     map[string][]string `json:"-"` // DOIs by relationship
	CitationsOverTime []any               `json:"-"`

	Columns map[string]any // the stored values that the attributes are made of; nil for a seeded record
	packed  []byte         // Attributes, Columns, Repository, Member and XML of a stored record, see Packed

	// With Deployed, where the search index lags behind.
	shows  time.Time // when the index has this record
	before *Record   // the index has this one until then
	Gone   bool      // the record was removed
}

// Handle is a URL in the global handle system, valid from a moment on.
type Handle struct {
	URL  string
	From time.Time
}

// IsForeign says whether the DOI is of another registration agency.
func (rec *Record) IsForeign() bool {
	return slices.Contains(ForeignAgencies, wire.String(rec.Attributes["agency"]))
}

// ForeignAgencies are the other registration agencies.
var ForeignAgencies = []string{"crossref", "kisti", "medra", "jalc", "istic", "airiti", "cnki", "op"}

// HasMetadata says whether the DOI has metadata.
func (rec *Record) HasMetadata() bool {
	return rec != nil && (rec.XML != nil || rec.Attributes["titles"] != nil)
}

// Register enters the URL in the handle system, where it resolves after a delay.
func (rec *Record) Register(now time.Time, delay time.Duration) {
	if rec.Registered.IsZero() {
		rec.Registered = now
	}
	known := slices.Clone(rec.Handles)
	if len(known) > 0 && known[len(known)-1].URL == rec.URL {
		return
	}
	rec.Handles = append(known, Handle{rec.URL, now.Add(delay)})
}
