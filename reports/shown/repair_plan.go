package shown

import (
	"bufio"
	"bytes"
	"cmp"
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

	"github.com/datacite-go/datacite-go"
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
	repeats bool                      // of DOIs in the file, which Submit refuses or merges
	targets map[string]*target        // by DOI
	hidden  map[string]bool           // DOIs of wanted datasets in which the service does not find them
	content map[[sha256.Size]byte]int // of the stored datasets, as JSON: how often
	apart   map[string]*zeros         // of DOIs that have another dataset

	// Of the dataset that datasets yielded last.
	name string
	adds int // the first of its instances that is a zero of the repair
}

// A target is what a report has, and what it is to have, for a DOI.
type target struct {
	about  []byte // the dataset, as JSON without counts; nil if a wanted one has the DOI
	line   int    // of the wanted dataset that gets zeros: the first one, since Submit refuses or merges further ones
	room   int    // for instances, of the dataset that gets zeros
	counts [len(metrics)]count
}

// Zeros are stored datasets of a DOI that have nothing but zeros, such as Submit adds to the data.
type zeros struct {
	content [][sha256.Size]byte
	of      [len(metrics)]bool
}

// A count is that of a metric.
type count struct {
	has     bool // the report is to have one
	now     int64
	zero    bool // which no wanted dataset has
	apart   bool // a zero that Submit adds
	certain bool // the record will show it
	total   bool // a wanted dataset has only a total

	was   int64         // in the stored report, and what the record shows beyond all reports
	had   bool          // the stored report has it
	cause datacite.Code // of what the record shows beyond them
}

func newPlan(h reports.Header) *plan {
	return &plan{id: reports.DeriveID(h), header: h, targets: map[string]*target{}, hidden: map[string]bool{},
		apart: map[string]*zeros{}, content: map[[sha256.Size]byte]int{}}
}

// is says which report is stored.
func (p *plan) is(s *reports.Summary) {
	p.id, p.stored = s.ID, true
	p.packed = slices.ContainsFunc(s.Header.Exceptions, func(e reports.Exception) bool {
		return e.Code == reports.ExceptionCompressed
	})
}

// keep reads the wanted datasets into the file.
func (p *plan) keep(wanted iter.Seq2[reports.Dataset, error]) error {
	w := bufio.NewWriterSize(p.wanted, 64<<10)
	lines := json.NewEncoder(w)
	for d, err := range wanted {
		if err != nil {
			return err
		}
		d.DatasetID, _ = display.Readable(d.DatasetID, func(id *reports.TypedValue) (kind, value *string) {
			return &id.Type, &id.Value
		})
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

// wants adds a wanted dataset.
func (p *plan) wants(d *reports.Dataset) {
	one := read(&p.header, d)
	if one.DOI == "" {
		name := meant(d, &one)
		p.repeats = p.repeats || p.hidden[name]
		p.hidden[name] = true
		return
	}
	t := p.targets[one.Name]
	p.repeats = p.repeats || t != nil
	if t == nil {
		t = &target{line: p.lines, room: mostInstances}
		if len(d.Performance) > 0 {
			t.room -= len(d.Performance[0].Instance)
		}
		p.targets[one.Name] = t
	}
	for i := range one.Numbers {
		n, c := &one.Numbers[i], &t.counts[i]
		c.total = c.total || n.Total != 0
		if counts(n) {
			c.certain = !c.has && one.Name == one.DOI && slices.Equal(n.Values, []int64{n.Reported})
			c.has, c.now = true, c.now+n.Reported
		}
	}
}

// mostInstances is how many instances the service reads of a dataset.
const mostInstances = 8

// counts reports whether a dataset has a number for what records show.
func counts(n *display.Number) bool { return len(n.Values) > 0 || n.Reported != 0 }

// forget forgets what an attempt to read the stored report has found.
func (p *plan) forget() {
	clear(p.content)
	clear(p.apart)
	for _, t := range p.targets {
		for i := range t.counts {
			t.counts[i].was, t.counts[i].had = 0, false
		}
	}
}

// had adds a stored dataset.
func (p *plan) had(d *reports.Dataset) error {
	text, err := json.Marshal(d)
	key := sha256.Sum256(text)
	if err == nil && p.packed { // else it differs from all that can be sent
		p.content[key]++
	}
	one := read(&p.header, d)
	if p.targets[one.Name] != nil && onlyZeros(d) {
		apart := of(p.apart, one.Name)
		apart.content = append(apart.content, key)
		for i := range one.Numbers {
			apart.of[i] = apart.of[i] || len(one.Numbers[i].Values) > 0
		}
	}
	for i := range one.Numbers {
		n := &one.Numbers[i]
		if one.DOI == "" || !counts(n) {
			continue
		}
		about := *d
		about.DatasetID, about.Performance = d.DatasetID[:1], nil
		c := &p.describe(one.Name, &about).counts[i]
		c.had, c.was = true, c.was+n.Reported
		c.plan()
	}
	return nil
}

// onlyZeros reports whether a dataset has nothing but zeros of what records show.
func onlyZeros(d *reports.Dataset) bool {
	return len(d.Performance) == 1 && !slices.ContainsFunc(d.Performance[0].Instance, func(n reports.Instance) bool {
		return n.Count != 0 || n.NoCount || n.AccessMethod != reports.AccessRegular
	})
}

// settle leaves zeros where an earlier run of Submit has stored them, beside a dataset of the same
// DOI that is stored as it is planned: Submit adds them again.
func (p *plan) settle() error {
	if len(p.apart) == 0 {
		return nil
	}
	for name, apart := range p.apart {
		t := p.targets[name]
		for i := range metrics {
			if apart.of[i] && !t.counts[i].zero {
				delete(p.apart, name)
			}
		}
		if p.apart[name] != nil {
			apart.leave(t, true)
		}
	}
	settled := map[string]bool{}
	for d, err := range p.datasets() {
		if err != nil {
			return err
		}
		name := read(&p.header, &d).Name
		if p.apart[name] == nil {
			continue
		}
		text, err := json.Marshal(&d)
		if err != nil {
			return err
		}
		settled[name] = settled[name] || p.content[sha256.Sum256(text)] > 0
	}
	for name, apart := range p.apart {
		if !settled[name] {
			apart.leave(p.targets[name], false)
			continue
		}
		for _, key := range apart.content {
			p.content[key]--
		}
	}
	return nil
}

// leave leaves these zeros to Submit, or plans them.
func (z *zeros) leave(t *target, apart bool) {
	for i := range metrics {
		if z.of[i] {
			t.counts[i].zero, t.counts[i].apart = !apart, apart
		}
	}
}

// describe returns the target of a DOI, which it adds if it is missing. Of several descriptions it takes the first in
// alphabetical order: the service shows subsets in any order.
func (p *plan) describe(name string, about *reports.Dataset) *target {
	t := p.targets[name]
	if t != nil && t.about == nil {
		return t // a wanted dataset describes it
	}
	text, _ := json.Marshal(about) // what was read from JSON can be written
	if t == nil {
		t = &target{about: text, room: mostInstances}
		p.targets[name] = t
	} else if bytes.Compare(text, t.about) < 0 {
		t.about = text
	}
	return t
}

// shared is how many numbers another report has of what this one is to have, and the DOI of one.
func (p *plan) shared(other *plan) (n int, example string) {
	for _, name := range slices.Sorted(maps.Keys(p.targets)) {
		t := other.targets[name]
		for i, c := range p.targets[name].counts {
			if t != nil && c.now != 0 && t.counts[i].was != 0 {
				n, example = n+1, cmp.Or(example, name)
			}
		}
	}
	return n, example
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

// owns reports whether an earlier version of this report may have made entries of the record.
// Before it is stored, a deleted one with the same id may have.
func (p *plan) owns(d *Difference) bool {
	return !p.stored || slices.Contains(d.owners, p.id)
}

// replace plans a number in place of such an entry.
func (p *plan) replace(d *Difference) {
	c := &p.targets[d.DOI].counts[slices.Index(metrics[:], d.Metric)]
	c.plan()
	if d.surplus[0] > 0 { // the record shows this, and nothing of the stored report
		c.was, c.cause = d.surplus[0], d.Cause
	}
}

// full is an error if a wanted dataset needs a zero and has as many instances as the service
// reads: with one more it would read none of them.
func (p *plan) full() error {
	var faults []datacite.Finding
	for _, name := range slices.Sorted(maps.Keys(p.targets)) {
		if t, zeros := p.targets[name], len(p.zeros(name)); zeros > max(0, t.room) {
			faults = append(faults, datacite.Finding{
				Path: fmt.Sprintf("report-datasets[%d].performance[0].instance", t.line), Code: datacite.CodeTooManyInstances,
				Reason: fmt.Sprintf("needs a 0 for a number of %s that its record shows, and there is no room for it: the "+
					"service reads no more than %d", name, mostInstances),
			})
		}
	}
	return datacite.Invalid(faults...)
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
		line := 0
		for d, err := range p.read() {
			if err != nil {
				yield(d, err)
				return
			}
			var zeros []reports.Instance
			name := read(&p.header, &d).Name
			if t := p.targets[name]; t != nil && t.line == line {
				zeros = p.zeros(name)
			}
			line++
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
	if len(zeros) > 0 && len(d.Performance) == 0 {
		d.Performance = []reports.Performance{{Period: p.header.ReportingPeriod}}
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
	for i, metric := range [...]reports.MetricType{display.Views: reports.MetricUniqueDatasetInvestigations,
		display.Downloads: reports.MetricUniqueDatasetRequests} {
		if t != nil && t.counts[i].zero {
			all = append(all, reports.Instance{MetricType: metric, AccessMethod: reports.AccessRegular})
		}
	}
	return all
}

// empty reports whether there is nothing to store. The service accepts no report without datasets.
func (p *plan) empty() bool { return len(p.targets)+p.lines == 0 }

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
		if *differ, p.content = max(new, gone), nil; p.empty() {
			*differ = 0
		}
	}
}
