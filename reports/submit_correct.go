package reports

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/display"
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
