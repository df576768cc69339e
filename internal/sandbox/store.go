package sandbox

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The states of specification §3.1.
const (
	draft      = "draft"
	registered = "registered"
	findable   = "findable"
)

// record is one DOI, for interfaces B and C alike. A stored record is never
// changed: who changes it stores a copy, so readers need no lock.
type record struct {
	doi        string         // lower case
	attributes map[string]any // the metadata, as the JSON record has them
	xml        []byte         // the metadata as XML, if given so
	state      string
	url        string
	client     string
	provider   string
	consortium string
	source     string
	version    int // of the metadata, from 0
	created    time.Time
	updated    time.Time
	registered time.Time // zero for drafts
	handles    []handle  // what the global resolver knows, oldest first
	media      []medium
	search     func() map[string]any // what queries see; made when the first one looks

	// Of a Deployed service whose search index lags behind.
	shows  time.Time // when the index has this record
	before *record   // what it has until then
	gone   bool      // the record was removed
}

// handle is a URL in the global handle system, from a moment on.
type handle struct {
	url  string
	from time.Time
}

func (rec *record) owner(a *Account) bool {
	return a != nil && strings.EqualFold(rec.client, a.ClientID)
}

// hasMetadata tells a DOI with metadata from a bare name.
func (rec *record) hasMetadata() bool {
	return rec != nil && (rec.xml != nil || rec.attributes["titles"] != nil)
}

// register enters the URL in the handle system, where it shows after a while.
func (rec *record) register(now time.Time, delay time.Duration) {
	if rec.registered.IsZero() {
		rec.registered = now
	}
	known := slices.Clone(rec.handles)
	if len(known) > 0 && known[len(known)-1].url == rec.url {
		return
	}
	rec.handles = append(known, handle{rec.url, now.Add(delay)})
}

// Settings are what a store is made of.
type Settings struct {
	*Rules
	Clock        func() time.Time
	ResolveDelay time.Duration // how long after its registration a DOI starts to resolve
	IndexLag     time.Duration // how long the search index takes
	Accounts     []Account
}

// Store is the state that the interfaces share: the DOIs, the accounts and the
// clock.
type Store struct {
	Settings
	moved atomic.Int64 // nanoseconds added by Advance
	keys  sync.Map     // the *Account of each API key

	mu      sync.RWMutex
	records map[string]*record // by key; a stored record never changes, it is replaced
	removed map[string]*record // signs of removed ones, while the index lags
	ordered []*record          // all of them by creation; nil after a change
}

func newStore(settings Settings) *Store {
	if !settings.Lags {
		settings.IndexLag = 0
	}
	return &Store{Settings: settings, records: map[string]*record{}, removed: map[string]*record{}}
}

// Now is the time by the service's clock.
func (s *Store) Now() time.Time { return s.Clock().Add(time.Duration(s.moved.Load())).UTC() }

// Advance moves the service's clock forward by d.
func (s *Store) Advance(d time.Duration) { s.moved.Add(int64(d)) }

func (s *Store) newRecord(doi string, a *Account, source string) *record {
	now := s.Now()
	return &record{
		doi: doi, state: draft, attributes: map[string]any{}, source: source, version: -1,
		client: a.ClientID, provider: a.ProviderID, consortium: a.ConsortiumID, created: now, updated: now,
	}
}

func (s *Store) find(doi string) *record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.records[s.key(doi)]
}

// key is what a record is found by: the name in lower case, and in a Deployed
// service what the collation of its database makes of it.
func (s *Store) key(doi string) string {
	if s.Collated {
		return collate(doi)
	}
	return doi
}

// Names are the DOIs of all records, sorted, in lower case.
func (s *Store) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := make([]string, 0, len(s.records))
	for _, rec := range s.records {
		names = append(names, rec.doi)
	}
	slices.Sort(names)
	return names
}

// change replaces the record of a DOI in one step. edit gets a copy of the
// record, nil if there is none, and returns what to store; nil removes it.
func (s *Store) change(doi string, edit func(rec *record) (*record, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rec *record
	key := s.key(doi)
	old := s.records[key]
	if old != nil {
		c := *old
		rec = &c
	} else {
		old = s.removed[key]
	}
	rec, err := edit(rec)
	if err != nil {
		return err
	}
	if rec == nil {
		delete(s.records, key)
		s.ordered = nil
		if s.IndexLag > 0 {
			s.removed[key] = (&record{doi: old.doi, created: old.created, gone: true}).lagging(old, s.Now(), s.IndexLag)
		}
		return nil
	}
	s.keep(rec.lagging(old, s.Now(), s.IndexLag))
	return nil
}

// keep stores a record. The caller has the lock.
func (s *Store) keep(rec *record) {
	rec.search = sync.OnceValue(func() map[string]any {
		if s.IndexNames {
			return indexed(rec.searchable())
		}
		return rec.searchable()
	})
	key := s.key(rec.doi)
	s.records[key] = rec
	delete(s.removed, key)
	s.ordered = nil
}

// all returns every record by creation, then by name, and signs of those that
// the index may still have. The slice is shared: callers must not change it.
func (s *Store) all() []*record {
	s.mu.RLock()
	ordered := s.ordered
	s.mu.RUnlock()
	if ordered != nil {
		return ordered
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ordered = slices.AppendSeq(make([]*record, 0, len(s.records)), maps.Values(s.records))
	s.ordered = slices.AppendSeq(s.ordered, maps.Values(s.removed))
	slices.SortFunc(s.ordered, func(a, b *record) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.doi, b.doi))
	})
	return s.ordered
}

// State is the state of a DOI: draft, registered or findable; "" when the
// service does not know the DOI.
func (s *Store) State(doi string) string {
	name, _ := doiName(doi)
	if rec := s.find(name); rec != nil {
		return rec.state
	}
	return ""
}

// Resolve is what the global DOI resolver would answer now: the URL of the
// DOI, once the delay after its registration is over.
func (s *Store) Resolve(doi string) (url string, ok bool) {
	name, _ := doiName(doi)
	rec := s.find(name)
	if rec == nil {
		return "", false
	}
	now := s.Now()
	for _, h := range slices.Backward(rec.handles) {
		if !h.from.After(now) {
			return h.url, true
		}
	}
	return "", false
}
