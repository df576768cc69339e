package reports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/subset"
)

// A count that a corrected report no longer has keeps its old number, because the
// service's workers replace only numbers in the new report; a count of 0 is the only
// remedy (rule 6 of datacitetest/deployed-usage.md).

// Which version has a number, in a comparison of versions.
const (
	inPlan int = iota
	inStored
	inEarlier // one that is no longer stored
)

// correct compares the plan with all that is known of earlier versions, before the first
// request and before a run ends that has nothing to send: with the stored one, and with
// those that a request has replaced since a run completed (see [past]). It counts the
// numbers that would stay. With SubmitOptions.ZeroDropped, and for zeros that are stored,
// it adds datasets with the count 0 to the plan and returns true.
func (s *submission) correct(ctx context.Context, d delivery) (replanned bool, err error) {
	foreign := d.seen.foreign
	switch {
	case !s.past.recalled:
		if err := s.recall(d); err != nil {
			return false, err
		}
	case s.past.compared || !foreign:
		return false, nil
	}
	s.past.compared = foreign
	if !foreign && !s.past.noted { // what is stored is part of the plan
		return false, s.past.tell(s.lock)
	}
	c := s.newComparison()
	defer c.sorter.Close()
	if err := s.compare(ctx, c); err != nil {
		return false, err
	}
	if s.options.RefuseLower && s.past.compared {
		if err := c.lower(); err != nil {
			return false, err
		}
	}
	zeros, err := s.takeNotes(c)
	switch {
	case err != nil:
		return false, fmt.Errorf("noting the numbers of earlier versions (SubmitOptions.LockDir): %w", err)
	case zeros == 0:
		return false, nil
	}
	return true, s.addZeros(ctx, c, d.seen.first > 0)
}

// compare adds the numbers of all versions to c.
func (s *submission) compare(ctx context.Context, c *comparison) error {
	if err := s.eachPlanned(func(d *Dataset) error { return c.add(inPlan, d, false) }); err != nil {
		return err
	}
	if s.past.compared {
		err := s.client.eachStored(ctx, s.id, func(d *Dataset) error { return c.add(inStored, d, true) })
		switch {
		case errors.Is(err, errDamaged) && !s.options.ZeroDropped:
			s.past.unknown = true
			s.warn(datacite.Finding{Path: "report-datasets", Reason: "replace a stored report that is damaged; records may continue to show numbers that only the damaged report has", Code: display.Left, Warning: true})
		case errors.Is(err, errDamaged):
			return fmt.Errorf("the stored report cannot be read completely, so SubmitOptions.ZeroDropped cannot be met: %w", err)
		case err != nil:
			return fmt.Errorf("comparing with the stored report: %w", err)
		}
	}
	if !s.past.noted {
		return nil
	}
	return s.readNotes(c.put)
}

// lower is an error if the plan has less than the stored report.
func (c *comparison) lower() error {
	e := &LowerError{}
	for n, err := range c.numbers() {
		switch {
		case err != nil:
			return err
		case !slices.Contains(n.In, inStored):
			continue
		}
		e.Stored++
		if n.planned >= n.Count {
			continue
		}
		const most = 10
		if e.Lower++; len(e.First) < most {
			e.First = append(e.First, LowerNumber{DOI: n.Name, Metric: n.Metric, Stored: n.Count, Now: n.planned})
		}
	}
	if e.Lower == 0 {
		return nil
	}
	return e
}

// addZeros adds the zeros to the plan: before the data if a PUT replaces the stored report,
// so that they are in the first subset of all; after them if the run goes on after data that
// are stored.
func (s *submission) addZeros(ctx context.Context, c *comparison, after bool) error {
	var zeros []Subset
	var starts []int64
	err := pack(ctx, s.header, s.dropped(c), s.options.packing(), s.bodies, func(p Subset) error {
		zeros, starts = append(zeros, p), append(starts, s.filled)
		s.filled += p.Bytes
		return nil
	})
	switch {
	case err != nil:
		return err
	case after:
		s.plan, s.starts = slices.Concat(s.plan, zeros), slices.Concat(s.starts, starts)
	default:
		s.plan, s.starts = slices.Concat(zeros, s.plan), slices.Concat(starts, s.starts)
		s.sums, s.accepted, s.covered, s.listed = nil, nil, 0, nil
	}
	return nil
}

// getsZero reports whether the plan gets a zero for a number that it lacks. A zero that was
// stored stays: the service may not have read it yet.
func (s *submission) getsZero(n *number) bool { return s.options.ZeroDropped || n.Count == 0 }

// dropped yields datasets with the count 0 for numbers that the plan lacks.
func (s *submission) dropped(c *comparison) iter.Seq2[subset.Item, error] {
	return func(yield func(subset.Item, error) bool) {
		var zero *Dataset
		item := subset.Item{Number: -1}
		flush := func() bool {
			if zero == nil {
				return true
			}
			text, err := appendDataset(nil, zero)
			item.Number, item.Text, zero = item.Number+1, text, nil
			return yield(item, err)
		}
		last := ""
		for n, err := range c.numbers() {
			switch {
			case err != nil:
				yield(item, err)
				return
			case slices.Contains(n.In, inPlan) || !s.getsZero(n):
				continue
			}
			if n.Name != last && !flush() {
				return
			}
			if zero == nil {
				zero = new(Dataset)
				if err := zero.UnmarshalJSON(n.About); err != nil {
					yield(item, err)
					return
				}
				zero.Performance = []Performance{{Period: s.header.ReportingPeriod}}
				s.zeroed++
			}
			last = n.Name
			month := &zero.Performance[0]
			month.Instance = append(month.Instance, Instance{MetricType: n.Metric, AccessMethod: Regular})
		}
		flush()
	}
}

// keeps counts a number that stays, and warns of it.
func (s *submission) keeps(n *number) {
	s.staying++
	version := "an earlier version"
	if slices.Contains(n.In, inStored) {
		version = "the stored report"
	}
	s.warn(datacite.Finding{
		Path:   "report-datasets",
		Reason: fmt.Sprintf("lack the %s of %s that %s has; its record continues to show %d for %s unless a report has the count 0", n.Metric, n.Name, version, n.Count, s.header.shownMonth()),
		Code:   display.Left, Warning: true,
	})
}

func (s *submission) warn(f datacite.Finding) {
	if s.options.Warn != nil {
		s.options.Warn(f)
	}
}

// A comparison sorts the numbers that versions of a report, or several reports, give to DOI
// records. It sorts outside memory.
type comparison struct {
	sorter   extsort.Sorter
	key      []byte
	outlined display.Dataset
	used     bool // leaves out counts of 0
}

const comparisonMemory = 16 << 20 // bytes

func (s *submission) newComparison() *comparison {
	return &comparison{sorter: extsort.Sorter{Memory: comparisonMemory, Dir: s.options.TempDir}}
}

// add adds the numbers that the service would store for a dataset of a report. If needed
// later, the dataset is added, too, without its counts.
func (c *comparison) add(report int, d *Dataset, whole bool) error {
	d.outline(&c.outlined)
	read := c.outlined.Read("")
	for metric, n := range read.Numbers {
		if read.DOI == "" || len(n.Values) == 0 || c.used && n.Values[len(n.Values)-1] == 0 {
			continue
		}
		one := number{Name: read.Name, Metric: metrics[metric], Count: n.Values[len(n.Values)-1], In: []int{report}}
		if whole {
			about := *d
			about.DatasetID, about.Performance = d.DatasetID[:1], nil
			var err error
			if one.About, err = appendDataset(nil, &about); err != nil {
				return err
			}
		}
		if err := c.put(&one); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) put(n *number) error {
	value, err := json.Marshal(n)
	if err != nil {
		return err
	}
	c.key = append(append(append(c.key[:0], n.Name...), 0), n.Metric...)
	return c.sorter.Add(c.key, value)
}

// metrics are the types of what records show.
var metrics = [...]MetricType{display.Views: UniqueDatasetInvestigations, display.Downloads: UniqueDatasetRequests}

// A number is a count of a DOI, and the reports that have it.
type number struct {
	Name     string          `json:"name"`
	Metric   MetricType      `json:"metric"`
	In       []int           `json:"in"`                 // the reports, in ascending order, each once
	Count    int64           `json:"count"`              // of the first one but the plan; of several in that report, the greatest
	About    json.RawMessage `json:"about,omitempty"`    // the dataset without its counts, where needed
	Replaced bool            `json:"replaced,omitempty"` // in notes: by the plan

	planned int64 // the count of the plan
}

// also adds the same number of another report, or a further one of the same.
func (n *number) also(m *number) {
	report := m.In[0]
	if len(n.About) == 0 || report != inEarlier && m.Count > n.Count {
		n.Count, n.About = m.Count, m.About
	}
	if n.In[len(n.In)-1] != report {
		n.In = append(n.In, report)
	}
}

// numbers yields the numbers of all reports, sorted by DOI and metric. They were added
// in the order of the reports.
func (c *comparison) numbers() iter.Seq2[*number, error] {
	return func(yield func(*number, error) bool) {
		var current *number
		for value, err := range c.sorter.Values() {
			n := new(number)
			if err == nil {
				err = json.Unmarshal(value, n)
			}
			switch {
			case err != nil:
				yield(nil, err)
				return
			case current != nil && n.Name == current.Name && n.Metric == current.Metric:
				current.also(n)
				continue
			case current != nil && !yield(current, nil):
				return
			}
			if current = n; n.In[0] == inPlan {
				n.planned = n.Count
			}
		}
		if current != nil {
			yield(current, nil)
		}
	}
}

// eachPlanned calls f for each dataset of the plan.
func (s *submission) eachPlanned(f func(*Dataset) error) error {
	for i := range s.plan {
		r, err := NewReader(s.body(i))
		if err != nil {
			return err
		}
		if err := each(r, f); err != nil {
			return err
		}
	}
	return nil
}

// eachStored calls f for each dataset of a stored report; again from the first one if the
// response breaks off. If the report is damaged, those before the damage have been read.
func (c *Client) eachStored(ctx context.Context, id string, f func(*Dataset) error) error {
	return c.readStored(ctx, id, func(r *Reader) error { return each(r, f) })
}

func each(r *Reader, f func(*Dataset) error) error {
	for d, err := range r.Scan() {
		if err != nil {
			return err
		}
		if err := f(d); err != nil {
			return err
		}
	}
	return nil
}
