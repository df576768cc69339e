package store

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// RemoveDraft removes a draft for good. unknown is the error for an unknown DOI, denied
// that for a DOI of another account.
func (s *Store) RemoveDraft(account *record.Account, name string, unknown, denied *wire.Failure) error {
	return s.Change(name, func(rec *record.Record) (*record.Record, error) {
		switch {
		case rec == nil:
			return nil, unknown
		case !rec.Owner(account):
			return nil, denied
		case rec.State != record.Draft:
			f := wire.Fail(http.StatusMethodNotAllowed, "Method not allowed")
			f.Header = map[string]string{"Allow": "HEAD, GET, POST, PATCH, PUT, OPTIONS"}
			return nil, f
		}
		return nil, nil
	})
}

var ErrNoRecord = wire.Fail(http.StatusNotFound, wire.NotFound)

// FreeName is a new name that no record has, under the prefix at the start of a text.
func (s *Store) FreeName(text string) (name string, ok bool) {
	for {
		if name, ok = names.MintUnder(text); !ok || !s.Known(name) {
			return names.Lower(name), ok
		}
	}
}

// Settings are the options of a store.
type Settings struct {
	Deployed     bool // behave like the public servers, not by the specification
	Clock        func() time.Time
	ResolveDelay time.Duration // how long after its registration a DOI starts to resolve
	IndexLag     time.Duration // how long the search index takes
	Accounts     []record.Account

	MaxReport, MaxBody int64 // bytes of the body of a report, and of any other
	MaxDatasets        int   // of the body of a report
}

// Store is the state that the interfaces share: the DOIs, the accounts and the
// clock.
type Store struct {
	Settings
	// Announce is called for a record with related identifiers that was written, with Deployed; it must not use the
	// store
	Announce func(doi string)
	moved    atomic.Int64 // nanoseconds added by Advance
	keys     sync.Map     // the *Account of each API key

	mu      sync.RWMutex
	records map[string]*record.Record // packed, by key; a stored record never changes, it is replaced
	removed map[string]*record.Record // markers of removed ones, while the index lags
	usage   usage.Events

	index  *Index          // made when it is first needed
	shared bool            // other stores have this index, too
	behind map[string]bool // keys of records that the index may not have as they are
}

// New makes an empty store.
func New(settings Settings) *Store {
	if !settings.Deployed {
		settings.IndexLag = 0
	}
	return &Store{
		Settings: settings, records: map[string]*record.Record{}, removed: map[string]*record.Record{},
		behind: map[string]bool{},
	}
}

// Now is the time by the service's clock.
func (s *Store) Now() time.Time { return s.Clock().Add(time.Duration(s.moved.Load())).UTC() }

// Advance moves the service's clock forward by d.
func (s *Store) Advance(d time.Duration) { s.moved.Add(int64(d)) }

// NewRecord is a new draft, not yet stored.
func (s *Store) NewRecord(doi string, a *record.Account, source string) *record.Record {
	now := s.Now()
	return &record.Record{
		DOI: doi, State: record.Draft, Attributes: map[string]any{}, Source: source, Version: -1,
		Client: a.ClientID, Provider: a.ProviderID, Consortium: a.ConsortiumID, Created: now, Updated: now,
	}
}

// Find is the record of a DOI, nil if there is none.
func (s *Store) Find(doi string) *record.Record {
	if rec := s.stored(doi); rec != nil {
		return rec.Unpacked()
	}
	return nil
}

// Known says whether there is a record of a DOI.
func (s *Store) Known(doi string) bool { return s.stored(doi) != nil }

// stored is the record of a DOI without its metadata, nil if there is none.
func (s *Store) stored(doi string) *record.Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.records[s.key(doi)]
}

// key is the key of a record: the name in lower case, with Deployed by the collation
// of the database.
func (s *Store) key(doi string) string {
	if s.Deployed {
		return names.Collate(doi)
	}
	return doi
}

// Names are the DOIs of all records, sorted, in lower case.
func (s *Store) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := make([]string, 0, len(s.records))
	for _, rec := range s.records {
		names = append(names, rec.DOI)
	}
	slices.Sort(names)
	return names
}

// Change replaces the record of a DOI in one step. edit gets a copy of the
// record, nil if there is none, and returns what to store; nil removes it.
func (s *Store) Change(doi string, edit func(rec *record.Record) (*record.Record, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rec *record.Record
	key := s.key(doi)
	old := s.records[key]
	if old != nil {
		c := *old.Unpacked()
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
		for _, other := range s.usage.Remove(old.DOI) {
			s.renew(other, s.Now())
		}
		s.removed[key] = (&record.Record{DOI: old.DOI, Created: old.Created, Gone: true}).Lagging(old, s.Now(), s.IndexLag)
		s.behind[key] = true
		return nil
	}
	s.keep(rec.Lagging(old, s.Now(), s.IndexLag))
	s.announce(rec)
	return nil
}

// keep stores a record. The caller has the lock.
func (s *Store) keep(rec *record.Record) {
	rec.Usage = s.usage.Of(rec.DOI)
	if s.Deployed {
		rec.Relationships, rec.CitationsOverTime = s.usage.Relationships(rec.DOI), s.usage.CitationsOverTime(rec.DOI)
	}
	key, stored := s.key(rec.DOI), rec.Packed()
	s.records[key] = stored
	delete(s.removed, key)
	const few = 64            // many a test writes a few records, and never searches
	isPacked := stored == rec // its metadata would be read for each event
	if s.IndexLag > 0 || isPacked || len(s.behind) < few {
		s.behind[key] = true
	} else {
		s.enter(key, stored, rec)
	}
}

// RegisteredNames are the registered DOIs under the first prefix of an account, in upper case
// and sorted.
func (s *Store) RegisteredNames(account *record.Account) (dois []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, rec := range s.records {
		prefix, _ := names.Split(rec.DOI)
		if rec.State != record.Draft && slices.Index(account.Prefixes, prefix) == 0 && (s.Deployed || rec.Owner(account)) {
			dois = append(dois, s.Upper(rec.DOI))
		}
	}
	slices.Sort(dois)
	return dois
}

// Upper is a name in the spelling of the metadata store.
func (s *Store) Upper(name string) string {
	if s.Deployed {
		return strings.ToUpper(name)
	}
	return names.Upper(name)
}

// State is the state of a DOI: draft, registered or findable; "" when the
// service does not know the DOI.
func (s *Store) State(doi string) string {
	name, _ := names.Read(doi)
	if rec := s.stored(name); rec != nil {
		return rec.State
	}
	return ""
}

// Resolve is the URL to which the global DOI resolver would redirect now: that of the
// DOI, once the delay after its registration is over.
func (s *Store) Resolve(doi string) (url string, ok bool) {
	name, _ := names.Read(doi)
	rec := s.stored(name)
	if rec == nil {
		return "", false
	}
	now := s.Now()
	for _, h := range slices.Backward(rec.Handles) {
		if !h.From.After(now) {
			return h.URL, true
		}
	}
	return "", false
}
