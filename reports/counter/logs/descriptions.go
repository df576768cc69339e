package logs

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/reports"
)

// Descriptions are the titles, publishers and so on of the datasets in the log of Dataverse
// or Dryad. For each dataset, the description of its latest event is used, in any order of
// lines and files. They are held in memory or in a temporary file. The zero value is ready
// for use, by any number of [Read]s at a time.
type Descriptions struct {
	Memory  int    // bytes held in memory; more go to a temporary file; 0 means 16 MiB
	TempDir string // folder for the temporary file; "" means the system's

	shards [16]shard
	mu     sync.Mutex      // of the sorter
	sorter *extsort.Sorter // nil until something is in it
}

// A shard has some datasets, so that several goroutines can add descriptions.
type shard struct {
	mu     sync.Mutex
	latest map[string]*description // by DOI in lower case
	size   int                     // of latest
}

var shardSeed = maphash.MakeSeed()

// Describe fills in missing values of the datasets: title, publisher and its id, names of
// contributors, date and year of publication, and URL. DOIs are written as in the log. The
// datasets must come in the order of their DOIs, and only after the log has been read, as
// [reports.Group] yields them. The result can be ranged over once.
func (d *Descriptions) Describe(datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		next, stop := iter.Pull2(d.sorted()) // not before the first dataset, when the log has been read
		defer stop()
		var about description
		var err error
		more := true
		last := ""
		for dataset, failed := range datasets {
			if failed != nil {
				yield(dataset, failed)
				return
			}
			key := string(jsonlex.AppendLower(nil, nameOf(&dataset)))
			if key < last {
				yield(reports.Dataset{}, datacite.Invalidf("datasets", datacite.CodeOrder,
					"have %s after %s; sort them by DOI", key, last))
				return
			}
			last = key
			for more && err == nil && string(jsonlex.AppendLower(nil, about.doi)) < key {
				about, err, more = next()
			}
			if err != nil {
				yield(reports.Dataset{}, err)
				return
			}
			if more && strings.EqualFold(about.doi, key) {
				about.describe(&dataset)
			}
			if !yield(dataset, nil) {
				return
			}
		}
	}
}

// A Description has the data about a dataset, beside its events, that are in the log. It
// can be sent to another machine, or kept for a later run, as JSON.
type Description struct {
	DOI    string    // as it is written in the log
	Time   time.Time // of the event
	Fields string    // from the title on, as they stand in the line
}

// All yields the descriptions, sorted by DOI, after the log has been read.
// [Descriptions.Describe] may be called later.
func (d *Descriptions) All() iter.Seq2[Description, error] {
	return func(yield func(Description, error) bool) {
		for about, err := range d.sorted() {
			if !yield(Description{about.doi, about.time, about.fields}, err) || err != nil {
				return
			}
		}
	}
}

// Add adds a description.
func (d *Descriptions) Add(about Description) error {
	const tabs = len(fieldNames) - titleField - 1
	if n := strings.Count(about.Fields, "\t"); n != tabs {
		return datacite.Invalidf("Fields", datacite.CodeSyntax, "has %d tabs, want %d", n, tabs)
	}
	return d.add(about.DOI, about.Time, about.Fields)
}

func nameOf(d *reports.Dataset) string {
	for _, id := range d.DatasetID {
		if id.Type == reports.TypeDOI {
			return id.Value
		}
	}
	return ""
}

// A publisherID has a scheme that reports know, which a GRID id contains.
var publisherID = lazy.Regexp(`(?i)^(grid|isni|orcid|urn|client-id)[:.=](.+)$`)

func (a description) describe(d *reports.Dataset) {
	var f [len(fieldNames) - titleField]string
	for i, text := range strings.Split(a.fields, "\t") {
		f[i] = present(text)
	}
	for i := range d.DatasetID {
		if strings.EqualFold(d.DatasetID[i].Value, a.doi) {
			d.DatasetID[i].Value = a.doi
		}
	}
	title, publisher, publisherCode, authors, date, url, year := f[0], f[1], f[2], f[3], f[4], f[7], f[8]
	if publisher == "grid" && publisherCode == "tbd" { // Dataverse writes these for every dataset
		publisher = ""
	}
	d.Title, d.Publisher = cmp.Or(d.Title, title), cmp.Or(d.Publisher, publisher)
	d.URI, d.YOP = cmp.Or(d.URI, url), cmp.Or(d.YOP, year)
	if id := publisherID().FindStringSubmatch(publisherCode); id != nil && d.PublisherID == nil {
		scheme, value := strings.ToLower(id[1]), id[2]
		if scheme == "grid" && !strings.HasPrefix(value, "grid.") {
			value = "grid." + value
		}
		d.PublisherID = []reports.TypedValue{{Type: scheme, Value: value}}
	}
	if d.Contributors == nil {
		for name := range strings.SplitSeq(authors, "|") {
			if name = strings.TrimSpace(name); name != "" {
				d.Contributors = append(d.Contributors, reports.TypedValue{Type: reports.TypeName, Value: name})
			}
		}
	}
	if day, _, _ := strings.Cut(date, "T"); d.Dates == nil && len(day) == len(time.DateOnly) {
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			d.Dates = []reports.TypedValue{{Type: reports.TypePubDate, Value: day}}
		}
	}
}

// A description is fields of a line.
type description struct {
	time   time.Time
	doi    string     // as it is written
	fields string     // from the title on, with tabs
	hash   access.Key // of doi and fields, which most lines of a dataset repeat
}

// add takes a description. Its texts are parts of a line.
func (d *Descriptions) add(name string, at time.Time, fields string) error {
	var space [128]byte
	key := jsonlex.AppendLower(space[:0], name)
	s := &d.shards[maphash.Bytes(shardSeed, key)%uint64(len(d.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	about, ok := s.latest[string(key)]
	if !ok {
		const overhead = 150 // of an entry
		if s.latest == nil {
			s.latest = map[string]*description{}
		}
		about = &description{}
		s.latest[string(key)] = about
		s.size += len(key) + len(name) + overhead
	} else if compareDescriptions(&description{time: at, doi: name, fields: fields}, about) <= 0 {
		return nil
	}
	about.time = at
	if hash := access.KeyOf(name) ^ access.KeyOf(fields); hash != about.hash {
		s.size += len(fields) - len(about.fields)
		about.doi, about.fields, about.hash = strings.Clone(name), strings.Clone(fields), hash
	}
	if s.size > d.memory()/len(d.shards) {
		return d.spill(s)
	}
	return nil
}

func (d *Descriptions) memory() int { return cmp.Or(d.Memory, 16<<20) }

// compareDescriptions says which is the later one. Of two at the same time any will
// do, if it is always the same.
func compareDescriptions(a, b *description) int {
	if c := a.time.Compare(b.time); c != 0 {
		return c // without a look at long texts
	}
	return cmp.Or(strings.Compare(a.fields, b.fields), strings.Compare(a.doi, b.doi))
}

// spill moves what a shard holds to the sorter.
func (d *Descriptions) spill(s *shard) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sorter == nil {
		d.sorter = &extsort.Sorter{Memory: d.memory() / 4, Dir: cmp.Or(d.TempDir, os.TempDir())}
	}
	var value []byte
	for key, about := range s.latest {
		value = about.append(value[:0])
		if err := d.sorter.Add([]byte(key), value); err != nil {
			return fmt.Errorf("logs: sorting descriptions: %w", err)
		}
	}
	clear(s.latest)
	s.size = 0
	return nil
}

func (a description) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(a.time.Unix()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(a.time.Nanosecond()))
	return append(append(append(dst, a.doi...), 0), a.fields...)
}

func readDescription(data []byte) description {
	name, fields, _ := strings.Cut(string(data[12:]), "\x00")
	at := time.Unix(int64(binary.BigEndian.Uint64(data)), int64(binary.BigEndian.Uint32(data[8:])))
	return description{time: at, doi: name, fields: fields}
}

// Close removes the temporary file.
func (d *Descriptions) Close() error {
	if d.sorter == nil {
		return nil
	}
	return d.sorter.Close()
}

// sorted yields one description for each dataset, in the order of DOIs.
func (d *Descriptions) sorted() iter.Seq2[description, error] {
	return func(yield func(description, error) bool) {
		if d.sorter == nil {
			latest := map[string]*description{}
			for i := range d.shards {
				maps.Copy(latest, d.shards[i].latest)
			}
			for _, key := range slices.Sorted(maps.Keys(latest)) {
				if !yield(*latest[key], nil) {
					return
				}
			}
			return
		}
		for i := range d.shards {
			if err := d.spill(&d.shards[i]); err != nil {
				yield(description{}, err)
				return
			}
			d.shards[i].latest = nil
		}
		var last description
		for value, err := range d.sorter.Values() {
			if err != nil {
				yield(last, fmt.Errorf("logs: sorting descriptions: %w", err))
				return
			}
			next := readDescription(value)
			if last.doi == "" || strings.EqualFold(last.doi, next.doi) {
				if last.doi == "" || compareDescriptions(&last, &next) < 0 {
					last = next
				}
				continue
			}
			if !yield(last, nil) {
				return
			}
			last = next
		}
		if last.doi != "" {
			yield(last, nil)
		}
	}
}
