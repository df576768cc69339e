package reports

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
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
		s.recall(d)
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
			s.warn(datacite.Finding{Path: "report-datasets", Code: "left", Reason: "replace a stored report that is damaged; records may continue to show numbers that only the damaged report has", Warning: true})
		case errors.Is(err, errDamaged):
			return fmt.Errorf("the stored report cannot be read completely, so SubmitOptions.ZeroDropped cannot be met: %w", err)
		case err != nil:
			return fmt.Errorf("comparing with the stored report: %w", err)
		}
	}
	if !s.past.noted {
		return nil
	}
	return s.readNotes(func(n *number, _ bool) error { return c.put(n) })
}

// lower is an error if the plan has less than the stored report.
func (c *comparison) lower() error {
	e := &LowerError{}
	for n, err := range c.numbers() {
		switch {
		case err != nil:
			return err
		case !slices.Contains(n.reports, inStored):
			continue
		}
		e.Stored++
		if n.planned >= n.count {
			continue
		}
		const most = 10
		if e.Lower++; len(e.First) < most {
			e.First = append(e.First, LowerNumber{DOI: n.name, Metric: n.metric(), Stored: n.count, Now: n.planned})
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
	err := pack(ctx, s.header, s.dropped(c), s.options, s.bodies, func(p Subset) error {
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
func (s *submission) getsZero(n *number) bool { return s.options.ZeroDropped || n.count == 0 }

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
			case slices.Contains(n.reports, inPlan) || !s.getsZero(&n):
				continue
			}
			if n.name != last && !flush() {
				return
			}
			if zero == nil {
				zero = new(Dataset)
				if err := zero.UnmarshalJSON(n.about); err != nil {
					yield(item, err)
					return
				}
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
	s.staying++
	version := "an earlier version"
	if slices.Contains(n.reports, inStored) {
		version = "the stored report"
	}
	s.warn(datacite.Finding{
		Path:    "report-datasets",
		Code:    "left",
		Reason:  fmt.Sprintf("lack the %s of %s that %s has; its record continues to show %d for %s unless a report has the count 0", n.metric(), n.name, version, n.count, shownMonth(s.header)),
		Warning: true,
	})
}

func (s *submission) warn(f datacite.Finding) {
	if s.options.Warn != nil {
		s.options.Warn(f)
	}
}

// compareOthers warns of other reports of the account that count datasets of the plan in
// the same month: records add up the counts of all reports (rule 7). It is advice, so what
// cannot be compared is a warning, too.
func (s *submission) compareOthers(ctx context.Context) error {
	if s.account == "" { // the list would be that of everybody's reports
		return datacite.Invalid(datacite.Finding{Path: "SubmitOptions.CompareOthers", Code: "missing", Reason: "needs a token that names its account"})
	}
	err := s.warnOfOthers(ctx)
	if err != nil && ctx.Err() == nil {
		s.warn(datacite.Finding{Path: "report-datasets", Code: "reported-twice", Reason: fmt.Sprintf("cannot be compared with the other reports of the account: %v", transport.Within("reports.Submit", err)), Warning: true})
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
			s.warn(datacite.Finding{Path: "report-datasets", Code: "reported-twice", Reason: fmt.Sprintf("cannot be compared completely with report %s of the same month: %v", r.ID, err), Warning: true})
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
			s.warn(datacite.Finding{
				Path:    "report-datasets",
				Code:    "reported-twice",
				Reason:  fmt.Sprintf("have %d numbers, such as one of %s, that report %s of %.100q has for the same month; records show the sum", counts[i], example[i], r.ID, r.Header.CreatedBy),
				Warning: true,
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
	sorter            extsort.Sorter
	key, value, about []byte
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
		c.about = c.about[:0]
		if whole {
			about := *d
			about.DatasetID, about.Performance = d.DatasetID[:1], nil
			var err error
			if c.about, err = appendDataset(c.about, &about); err != nil {
				return err
			}
		}
		if err := c.put(&number{name: shown.Name, views: metric == 1, reports: []int{report}, count: n.Values[len(n.Values)-1], about: c.about}); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) put(n *number) error {
	c.value = n.append(c.value[:0])
	c.key = append(append(c.key[:0], n.name...), 0, n.metricByte())
	return c.sorter.Add(c.key, c.value)
}

// A number is a count of a DOI, and the reports that have it.
type number struct {
	name    string
	views   bool
	reports []int  // in ascending order, each once
	count   int64  // of the first one but the plan; of several in that report, the greatest
	planned int64  // the count of the plan
	about   []byte // the JSON of the dataset without its counts, where needed
}

func (n *number) metric() MetricType {
	if n.views {
		return UniqueDatasetInvestigations
	}
	return UniqueDatasetRequests
}

func (n *number) metricByte() byte {
	if n.views {
		return 1
	}
	return 0
}

// append appends a number of one report as bytes, which parseNumber reads.
func (n *number) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(n.name)))
	b = append(append(b, n.name...), n.metricByte())
	b = binary.AppendUvarint(b, uint64(n.reports[0]))
	b = binary.AppendVarint(b, n.count)
	return append(b, n.about...)
}

// errNumber: bytes are not those of a number.
var errNumber = errors.New("reports: not a number of a report")

// parseNumber reads a number, whose about is part of b.
func parseNumber(b []byte) (number, error) {
	length, size := binary.Uvarint(b)
	if size <= 0 || length == 0 || length >= uint64(len(b)-size) {
		return number{}, errNumber
	}
	b = b[size:]
	n := number{name: string(b[:length]), views: b[length] == 1}
	report, size := binary.Uvarint(b[length+1:])
	if size <= 0 || report > math.MaxInt32 {
		return number{}, errNumber
	}
	b = b[int(length)+1+size:]
	n.reports = []int{int(report)}
	if n.count, size = binary.Varint(b); size <= 0 {
		return number{}, errNumber
	}
	n.about = b[size:]
	return n, nil
}

// also adds the same number of another report, or a further one of the same.
func (n *number) also(m *number) {
	report := m.reports[0]
	if len(n.about) == 0 || report != inEarlier && m.count > n.count {
		n.count, n.about = m.count, m.about
	}
	if n.reports[len(n.reports)-1] != report {
		n.reports = append(n.reports, report)
	}
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
			n, err := parseNumber(value)
			n.about = bytes.Clone(n.about) // value is valid until the next one
			switch {
			case err != nil:
				yield(number{}, err)
				return
			case n.name == current.name && n.views == current.views:
				current.also(&n)
				continue
			}
			if current.name != "" && !yield(current, nil) {
				return
			}
			if current = n; n.reports[0] == inPlan {
				current.planned = n.count
			}
		}
		if current.name != "" {
			yield(current, nil)
		}
	}
}
