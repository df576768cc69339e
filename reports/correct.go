package reports

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/subset"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A count that a corrected report no longer has keeps its old number, because the
// service's workers replace only numbers in the new report; a count of 0 is the only
// remedy (rule 6 of datacitetest/deployed-usage.md).

// correct compares the plan with the report that it replaces, and counts the numbers that
// would stay. With SubmitOptions.ZeroDropped it puts datasets with the count 0 for them
// before the plan, and returns true: before, so that they are stored with the
// first subset and a later run finds them, even if this one ends early.
func (s *submission) correct(ctx context.Context) (replanned bool, err error) {
	s.corrected = true
	c := s.newComparison()
	defer c.sorter.Close()
	if err := s.eachPlanned(func(d *Dataset) error { return c.add(0, d, false) }); err != nil {
		return false, err
	}
	err = s.client.eachStored(ctx, s.id, func(d *Dataset) error { return c.add(1, d, true) })
	switch {
	case errors.Is(err, errDamaged) && !s.options.ZeroDropped:
		s.warn(Finding{Path: "report-datasets", Reason: "replace a stored report that is damaged; records may continue to show numbers that only the damaged report has", Rule: 6, Warning: true})
	case errors.Is(err, errDamaged):
		return false, fmt.Errorf("the stored report cannot be read completely, so SubmitOptions.ZeroDropped cannot be met: %w", err)
	case err != nil:
		return false, fmt.Errorf("comparing with the stored report: %w", err)
	}
	var zeros []Subset
	err = pack(ctx, s.header, s.dropped(c), s.options, s.bodies, func(p Subset) error {
		zeros = append(zeros, p)
		return nil
	})
	if err != nil || len(zeros) == 0 {
		return false, err
	}
	s.plan, s.zeros = slices.Concat(zeros, s.plan), len(zeros)
	s.sums, s.accepted, s.covered, s.listed = nil, nil, 0, nil
	return true, nil
}

// dropped yields datasets with the count 0 for the numbers of the stored report that the
// plan lacks, if that is wanted. Otherwise it warns of them.
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
			case slices.Contains(n.reports, 0):
				continue
			case !s.options.ZeroDropped:
				s.keeps(n)
				continue
			}
			if n.name != last && !flush() {
				return
			}
			if zero == nil {
				zero = n.dataset
				zero.Performance = []Performance{{Period: s.header.ReportingPeriod}}
				s.zeroed++
			}
			last = n.name
			month := &zero.Performance[0]
			month.Instance = append(month.Instance, Instance{MetricType: n.metric(), AccessMethod: Regular})
		}
		flush()
	}
}

// keeps counts a number that stays, and warns of it.
func (s *submission) keeps(n number) {
	if n.count == 0 {
		return
	}
	s.staying++
	s.warn(Finding{
		Path:   "report-datasets",
		Reason: fmt.Sprintf("lack the %s of %s that the stored report has; its record continues to show %d for %s unless a report has the count 0", n.metric(), n.name, n.count, shownMonth(s.header)),
		Rule:   6, Warning: true,
	})
}

func (s *submission) warn(f Finding) {
	if s.options.Warn != nil {
		s.options.Warn(f)
	}
}

// compareOthers warns of other reports of the account that count datasets of the plan in
// the same month: records add up the counts of all reports (rule 7). It is advice, so what
// cannot be compared is a warning, too.
func (s *submission) compareOthers(ctx context.Context) error {
	if s.account == "" { // the list would be that of everybody's reports
		return &datacite.FieldError{Path: "SubmitOptions.CompareOthers", Reason: "needs a token that names its account"}
	}
	err := s.warnOfOthers(ctx)
	if err != nil && ctx.Err() == nil {
		s.warn(Finding{Path: "report-datasets", Reason: fmt.Sprintf("cannot be compared with the other reports of the account: %v", transport.Within("reports.Submit", err)), Rule: 7, Warning: true})
		return nil
	}
	return err
}

func (s *submission) warnOfOthers(ctx context.Context) error {
	var others []*Summary
	for r, err := range s.client.All(ctx, &ListOptions{ClientID: s.account}) {
		if err != nil {
			return err
		}
		if !strings.EqualFold(r.ID, s.id) && shownMonth(r.Header) == shownMonth(s.header) {
			others = append(others, r)
		}
	}
	if len(others) == 0 {
		return nil
	}
	c := s.newComparison()
	defer c.sorter.Close()
	if err := s.eachPlanned(func(d *Dataset) error { return c.add(0, d, false) }); err != nil {
		return err
	}
	for i, r := range others {
		err := s.client.eachStored(ctx, r.ID, func(d *Dataset) error { return c.add(i+1, d, false) })
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			s.warn(Finding{Path: "report-datasets", Reason: fmt.Sprintf("cannot be compared completely with report %s of the same month: %v", r.ID, err), Rule: 7, Warning: true})
		}
	}
	counts, example := make([]int, len(others)), make([]string, len(others))
	for n, err := range c.numbers() {
		if err != nil {
			return err
		}
		if n.reports[0] != 0 {
			continue
		}
		for _, i := range n.reports[1:] {
			counts[i-1]++
			example[i-1] = n.name
		}
	}
	for i, r := range others {
		if counts[i] > 0 {
			s.warn(Finding{
				Path:   "report-datasets",
				Reason: fmt.Sprintf("have %d numbers, such as one of %s, that report %s of %.100q has for the same month; records show the sum", counts[i], example[i], r.ID, r.Header.CreatedBy),
				Rule:   7, Warning: true,
			})
		}
	}
	return nil
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

// A comparison sorts the numbers that reports give to DOI records, outside memory.
type comparison struct {
	sorter     extsort.Sorter
	key, value []byte
}

const comparisonMemory = 16 << 20 // bytes

func (s *submission) newComparison() *comparison {
	return &comparison{sorter: extsort.Sorter{Memory: comparisonMemory, Dir: s.options.TempDir}}
}

// add adds the numbers that the service would store for a dataset of a report. If needed
// later, the dataset is added, too, without its counts.
func (c *comparison) add(report int, d *Dataset, whole bool) error {
	shown := shownOf(0, d, "")
	for metric, n := range [...]Number{shown.Downloads, shown.Views} {
		if shown.DOI == "" || len(n.Values) == 0 {
			continue
		}
		c.key = append(append(c.key[:0], shown.Name...), 0, byte(metric))
		c.value = binary.AppendUvarint(c.value[:0], uint64(len(shown.Name)))
		c.value = append(append(c.value, shown.Name...), byte(metric))
		c.value = binary.AppendUvarint(c.value, uint64(report))
		c.value = binary.AppendVarint(c.value, n.Values[len(n.Values)-1])
		if whole {
			about := *d
			about.DatasetID, about.Performance = d.DatasetID[:1], nil
			var err error
			if c.value, err = appendDataset(c.value, &about); err != nil {
				return err
			}
		}
		if err := c.sorter.Add(c.key, c.value); err != nil {
			return err
		}
	}
	return nil
}

// A number is a count of a DOI, and the reports that have it.
type number struct {
	name    string
	views   bool
	reports []int // in ascending order, each once
	count   int64 // of the last one
	dataset *Dataset
}

func (n *number) metric() MetricType {
	if n.views {
		return UniqueDatasetInvestigations
	}
	return UniqueDatasetRequests
}

// numbers yields the numbers of all reports, sorted by DOI and metric. They were added
// in the order of the reports.
func (c *comparison) numbers() iter.Seq2[number, error] {
	return func(yield func(number, error) bool) {
		var current number
		for value, err := range c.sorter.Values() {
			if err != nil {
				yield(number{}, err)
				return
			}
			n, err := readNumber(value)
			switch {
			case err != nil:
				yield(number{}, err)
				return
			case n.name == current.name && n.views == current.views:
				if last := current.reports[len(current.reports)-1]; last != n.reports[0] {
					current.reports = append(current.reports, n.reports[0])
				}
				continue
			}
			if current.name != "" && !yield(current, nil) {
				return
			}
			current = n
		}
		if current.name != "" {
			yield(current, nil)
		}
	}
}

func readNumber(value []byte) (number, error) {
	length, size := binary.Uvarint(value)
	value = value[size:]
	n := number{name: string(value[:length]), views: value[length] == 1}
	value = value[length+1:]
	report, size := binary.Uvarint(value)
	value = value[size:]
	n.reports = []int{int(report)}
	n.count, size = binary.Varint(value)
	if value = value[size:]; len(value) > 0 {
		n.dataset = new(Dataset)
		return n, n.dataset.UnmarshalJSON(value)
	}
	return n, nil
}
