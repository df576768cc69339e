package shown

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/reports"
)

// A plan is a report as it is to be stored: the wanted datasets, and zeros.
type plan struct {
	id     string
	header reports.Header
	stored bool
	packed bool // the stored one is compressed, as Submit sends reports

	wanted  *os.File                  // its datasets as lines of JSON; nil for zeros only
	lines   int                       // of the file
	targets map[string]*target        // by DOI
	content map[[sha256.Size]byte]int // of the stored datasets, as JSON: how often

	// Of the dataset that datasets yielded last.
	name string
	adds int // the first of its instances that is a zero of the repair
}

// A target is what a report has, and what it is to have, for a DOI.
type target struct {
	about  []byte // the dataset, as JSON without counts; nil if a wanted one has the DOI
	counts [len(metrics)]count
}

// A count is that of a metric.
type count struct {
	has     bool // the report is to have one
	now     int64
	zero    bool // which no wanted dataset has
	certain bool // the record will show it

	was   int64 // in the stored report, and what the record shows beyond all reports
	had   bool  // the stored report has it
	cause Cause // of what the record shows beyond them
}

func newPlan(h reports.Header) *plan {
	return &plan{id: reports.DeriveID(h), header: h, targets: map[string]*target{}, content: map[[sha256.Size]byte]int{}}
}

// is says which report is stored.
func (p *plan) is(s *reports.Summary) {
	p.id, p.stored = s.ID, true
	p.packed = slices.ContainsFunc(s.Header.Exceptions, func(e reports.Exception) bool { return e.Code == reports.CodeCompressed })
}

// of returns the value of a key, which it adds if it is missing.
func of[V any](all map[string]*V, key string) *V {
	if all[key] == nil {
		all[key] = new(V)
	}
	return all[key]
}

// keep reads the wanted datasets into the file.
func (p *plan) keep(wanted iter.Seq2[reports.Dataset, error]) error {
	w := bufio.NewWriterSize(p.wanted, 64<<10)
	lines := json.NewEncoder(w)
	for d, err := range wanted {
		if err != nil {
			return err
		}
		d.DatasetID, _ = display.Readable(d.DatasetID, func(id *reports.TypedValue) (kind, value *string) { return &id.Type, &id.Value })
		p.wants(&d)
		p.lines++
		if err := lines.Encode(&d); err != nil {
			return fmt.Errorf("shown.Repair: a temporary file: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("shown.Repair: a temporary file: %w", err)
	}
	return nil
}

// numbers calls f for each number of a dataset, under the name that the service reads.
func (p *plan) numbers(d *reports.Dataset, f func(name string, metric int, n *display.Number)) {
	one := read(&p.header, d)
	for i := range one.Numbers {
		if n := &one.Numbers[i]; one.DOI != "" && (len(n.Values) > 0 || n.Reported != 0) {
			f(one.Name, i, n)
		}
	}
}

func (p *plan) wants(d *reports.Dataset) {
	p.numbers(d, func(name string, metric int, n *display.Number) {
		c := &of(p.targets, name).counts[metric]
		c.certain = !c.has && slices.Equal(n.Values, []int64{n.Reported})
		c.has, c.now = true, c.now+n.Reported
	})
}

// forget forgets what an attempt to read the stored report has found.
func (p *plan) forget() {
	clear(p.content)
	for _, t := range p.targets {
		for i := range t.counts {
			t.counts[i].was, t.counts[i].had = 0, false
		}
	}
}

// had adds a stored dataset.
func (p *plan) had(d *reports.Dataset) error {
	text, err := json.Marshal(d)
	if err == nil && p.packed { // else it differs from all that can be sent
		p.content[sha256.Sum256(text)]++
	}
	p.numbers(d, func(name string, metric int, n *display.Number) {
		if p.targets[name] == nil {
			about := *d
			about.DatasetID, about.Performance = d.DatasetID[:1], nil
			text, _ := json.Marshal(&about) // what was read from JSON can be written
			p.targets[name] = &target{about: text}
		}
		c := &p.targets[name].counts[metric]
		c.had, c.was = true, c.was+n.Reported
		c.plan()
	})
	return nil
}

// counts reports whether the stored report has numbers other than 0.
func (p *plan) counts() bool {
	for _, t := range p.targets {
		for _, c := range t.counts {
			if c.had && c.was != 0 {
				return true
			}
		}
	}
	return false
}

// plan plans a 0, unless there is a number.
func (c *count) plan() {
	if !c.has {
		c.has, c.zero, c.certain = true, true, true
	}
}

// lost reports whether a number that no report has may be of an earlier version of this one.
// Before a report is stored, it may be that of a deleted one with the same id.
func (p *plan) lost(d *Difference) bool {
	return d.Cause == Left && slices.Contains(d.Reports, p.id) || !p.stored && (d.Cause == Left || d.Cause == Unreported)
}

// surplus plans a number for one that no report has.
func (p *plan) surplus(d *Difference) {
	c := &p.targets[d.DOI].counts[slices.Index(metrics[:], d.Metric)]
	c.plan()
	c.was, c.cause = c.was+max(0, d.Shown-d.Expected[len(d.Expected)-1]), d.Cause
}

// changes are the numbers that are not as they were.
func (p *plan) changes() (all []Change) {
	for _, name := range slices.Sorted(maps.Keys(p.targets)) {
		for i, metric := range metrics {
			if c := p.targets[name].counts[i]; c.has && c.was != c.now {
				all = append(all, Change{DOI: name, Metric: metric, Was: c.was, Now: c.now, Cause: c.cause})
			}
		}
	}
	return all
}

// datasets yields the datasets to be stored: the wanted ones, each number that they lack as a 0
// in the first of its DOI, and then datasets of zeros.
func (p *plan) datasets() iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		given := map[string]bool{}
		for d, err := range p.read() {
			if err != nil {
				yield(d, err)
				return
			}
			var zeros []reports.Instance
			if name := read(&p.header, &d).Name; !given[name] && len(d.Performance) > 0 {
				given[name], zeros = true, p.zeros(name)
			}
			if !p.give(d, zeros, yield) {
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.targets)) {
			t := p.targets[name]
			if t.about == nil {
				continue
			}
			var d reports.Dataset
			if err := d.UnmarshalJSON(t.about); err != nil {
				yield(d, fmt.Errorf("shown.Repair: %s: %w", name, err))
				return
			}
			d.Performance = []reports.Performance{{Period: p.header.ReportingPeriod}}
			if !p.give(d, p.zeros(name), yield) {
				return
			}
		}
	}
}

// give yields a dataset with zeros.
func (p *plan) give(d reports.Dataset, zeros []reports.Instance, yield func(reports.Dataset, error) bool) bool {
	p.name, p.adds = "", 0
	if len(d.DatasetID) > 0 {
		p.name = d.DatasetID[0].Value
	}
	if len(d.Performance) > 0 {
		first := &d.Performance[0]
		p.adds = len(first.Instance)
		first.Instance = append(first.Instance, zeros...)
	}
	return yield(d, nil)
}

// about is the dataset that a finding is about, "" for the report, and whether it is about a
// zero of the repair. Submit finds something of a dataset while it reads it.
func (p *plan) about(path string) (name string, ours bool) {
	rest, found := strings.CutPrefix(path, "report-datasets[")
	if !found {
		return "", false
	}
	var dataset, at int
	n, _ := fmt.Sscanf(rest, "%d].performance[0].instance[%d]", &dataset, &at)
	return p.name, n == 2 && at >= p.adds
}

// read reads the wanted datasets back.
func (p *plan) read() iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		if p.wanted == nil {
			return
		}
		lines := json.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(p.wanted, 0, 1<<62), 64<<10))
		for {
			var d reports.Dataset
			err := lines.Decode(&d)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = fmt.Errorf("shown.Repair: a temporary file: %w", err)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// zeros are the counts of a DOI that no wanted dataset has.
func (p *plan) zeros(name string) (all []reports.Instance) {
	t := p.targets[name]
	for i, metric := range [...]reports.MetricType{display.Views: reports.UniqueDatasetInvestigations, display.Downloads: reports.UniqueDatasetRequests} {
		if t != nil && t.counts[i].zero {
			all = append(all, reports.Instance{MetricType: metric, AccessMethod: reports.Regular})
		}
	}
	return all
}

// counted yields the datasets, and counts those that are not stored as they should be, also
// those that are stored and should not be.
func (p *plan) counted(differ *int) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		new := 0
		for d, err := range p.datasets() {
			if err == nil {
				var text []byte
				text, err = json.Marshal(&d)
				key := sha256.Sum256(text)
				if p.content[key]--; p.content[key] < 0 {
					new++
				}
			}
			if !yield(d, err) {
				return
			}
		}
		gone := 0
		for _, n := range p.content { // stored, and not planned
			gone += max(n, 0)
		}
		*differ, p.content = max(new, gone), nil
	}
}
