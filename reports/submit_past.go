package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/delivery"
	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/internal/subset"
	"github.com/datacite-go/datacite-go/internal/versions"
)

// DOI records show the numbers of earlier versions of a report until something replaces them.
// The service shows only the present version, and after the first PUT of a run that is a part
// of one. So the numbers are in the folder of the lock, with the record of the last request:
//
//	What the folder has                       What is stored           Then
//	nothing                                   no report                the account knows all: there is nothing
//	nothing, or a record without Past         a report                 unknown
//	a record with Past Known                  what the record says     the account knows all: the stored version
//	a record with Past Noted, and notes       what the record says     the account knows all: that, and the notes
//	a record with Past Noted, no sound notes  anything                 unknown
//	any                                       not what the record says unknown: another program wrote; notes hold
//
// "What the record says" is what a run of this account left or may have left: see
// [submission.left]. If the past is unknown, what is known is used all the same, and the
// receipt and a warning say that there may be more.
//
// Before the first request, the notes are all numbers of the stored version and of the notes
// before. When the plan is stored, those remain that neither the data nor zeros replaced. A
// run that is killed in between leaves more than is needed, never less: the next one finds
// what its own data have.
//
// Notes are read by the account that wrote them. Those of others may be forged, and would
// bring foreign datasets into the report.

// A count that a corrected report no longer has keeps its old number, because the
// service's workers replace only numbers in the new report; a count of 0 is the only
// remedy (rule 6 of datacitetest/evidence/deployed-usage.md).

// correct compares the plan with all that is known of earlier versions, before the first
// request and before a run ends that has nothing to send: with the stored one, and with
// those that a request has replaced since a run completed (see [past]). It counts the
// numbers that would stay. With SubmitOptions.ZeroDropped, and for zeros that are stored,
// it adds datasets with the count 0 to the plan and returns true.
func (s *submission) correct(ctx context.Context, d delivery.Run) (replanned bool, err error) {
	foreign := d.Seen.Foreign
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
	c := versions.New(s.options.TempDir)
	defer c.Close()
	if err := s.compare(ctx, c); err != nil {
		return false, err
	}
	if s.options.RefuseLower {
		if err := lower(c); err != nil {
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
	return true, s.addZeros(ctx, c, d.Seen.First > 0)
}

// compare adds the numbers of all versions to c.
func (s *submission) compare(ctx context.Context, c *versions.Comparison) error {
	if err := s.eachPlanned(func(d *Dataset) error { return s.addNumbers(c, versions.Plan, d, false) }); err != nil {
		return err
	}
	if s.past.compared {
		err := s.client.eachStored(ctx, s.id, func(d *Dataset) error { return s.addNumbers(c, versions.Stored, d, true) })
		switch {
		case errors.Is(err, errDamaged) && !s.options.ZeroDropped:
			s.past.unknown = true
			s.warn(datacite.Finding{Path: "report-datasets",
				Reason: "replace a stored report that is damaged; records may continue to show numbers that only the damaged " +
					"report has", Code: datacite.CodeLeft, Warning: true})
		case errors.Is(err, errDamaged):
			return fmt.Errorf("the stored report cannot be read completely, so SubmitOptions.ZeroDropped cannot be met: %w", err)
		case err != nil:
			return fmt.Errorf("comparing with the stored report: %w", err)
		}
	}
	if !s.past.noted {
		return nil
	}
	return s.readNotes(c.Add)
}

// lower is an error if the plan has less than the stored report.
func lower(c *versions.Comparison) error {
	e := &LowerError{}
	for n, err := range c.Numbers() {
		switch {
		case err != nil:
			return err
		case !slices.Contains(n.In, versions.Stored):
			continue
		}
		e.Stored++
		if n.Planned >= n.Count {
			continue
		}
		const most = 10
		if e.Lower++; len(e.First) < most {
			e.First = append(e.First, LowerNumber{DOI: n.Name, Metric: MetricType(n.Metric), Stored: n.Count, Now: n.Planned})
		}
	}
	if e.Lower == 0 {
		return nil
	}
	return e
}

// recall finds out what is known of earlier versions, given what is stored now.
func (s *submission) recall(d delivery.Run) error {
	p := &s.past
	p.recalled = true
	err := s.readNotes(func(n *versions.Number) error { return new(Dataset).UnmarshalJSON(n.About) })
	if versions.Unread(err) {
		return fmt.Errorf("the notes of earlier versions (SubmitOptions.LockDir): %w", err)
	}
	p.noted = err == nil
	absent := d.Seen.First == 0 && !d.Seen.Foreign && d.Seen.Hash == 0
	switch {
	case absent && d.Left.At.IsZero() && errors.Is(err, fs.ErrNotExist):
	case d.Left.Past == runlock.Unknown,
		d.Left.Past == runlock.Noted && err != nil,
		!absent && !s.left(d):
		p.unknown = true
		s.warn(datacite.Finding{
			Path: "report-datasets",
			Reason: "earlier versions are not in SubmitOptions.LockDir; records may continue to show numbers that only those " +
				"had",
			Code: datacite.CodeLeft, Warning: true,
		})
	}
	return nil
}

// left reports whether a run of this account left what is stored, or may have. Some services
// list subsets in the response to a write and show datasets later; then only their number
// is compared.
func (s *submission) left(d delivery.Run) bool {
	shown := storedReport{Shown: int(d.Left.Size)}
	return !d.Left.At.IsZero() && (d.Left.State == 0 || d.Left.State == d.Seen.Hash || d.Seen.Hash == shown.state())
}

// tell tells later runs what this one knows.
func (p *past) tell(lock *runlock.Lock) error {
	switch {
	case p.unknown:
		return lock.SetPast(runlock.Unknown)
	case p.noted:
		return lock.SetPast(runlock.Noted)
	}
	return lock.SetPast(runlock.Known)
}

// takeNotes notes all numbers of earlier versions, and which of them the plan is going to
// replace. It warns of those that stay, and returns how many need a zero.
func (s *submission) takeNotes(c *versions.Comparison) (zeros int, err error) {
	s.past.noted, s.staying = true, 0
	err = s.writeNotes(func(note func(*versions.Number) error) error {
		for n, err := range c.Numbers() {
			if err != nil {
				return err
			}
			n.Replaced = slices.Contains(n.In, versions.Plan)
			switch {
			case n.Replaced && len(n.In) == 1:
				continue
			case n.Replaced:
			case s.getsZero(n):
				n.Replaced = true
				zeros++
			default:
				s.keeps(n)
			}
			n.In = []int{versions.Earlier}
			if err := note(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.past.tell(s.lock)
	}
	return zeros, err
}

// completed removes from the notes what the stored plan has replaced. If that fails, they
// hold more than is needed: the next run finds those numbers in the stored report.
func (s *submission) completed() {
	if !s.past.noted {
		return
	}
	if s.staying == 0 {
		s.past.noted = false
		if s.past.tell(s.lock) == nil { // before: without the notes it must not say that there are some
			_ = s.lock.SetNotes(nil)
		}
		return
	}
	_ = s.writeNotes(func(note func(*versions.Number) error) error {
		return s.readNotes(func(n *versions.Number) error {
			if n.Replaced {
				return nil
			}
			return note(n)
		})
	})
}

// writeNotes replaces the notes by the numbers with which each calls its parameter.
func (s *submission) writeNotes(each func(note func(n *versions.Number) error) error) error {
	return s.lock.SetNotes(func(w io.Writer) error { return versions.WriteNotes(w, s.id, each) })
}

// readNotes calls f for each number of the notes. The error matches fs.ErrNotExist if there are
// no notes.
func (s *submission) readNotes(f func(n *versions.Number) error) error {
	file, err := s.lock.Notes()
	if err != nil {
		return err
	}
	defer file.Close()
	return versions.ReadNotes(file, s.id, f)
}

// addZeros adds the zeros to the plan: before the data if a PUT replaces the stored report,
// so that they are in the first subset of all; after them if the run goes on after data that
// are stored.
func (s *submission) addZeros(ctx context.Context, c *versions.Comparison, after bool) error {
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
func (s *submission) getsZero(n *versions.Number) bool { return s.options.ZeroDropped || n.Count == 0 }

// dropped yields datasets with the count 0 for numbers that the plan lacks.
func (s *submission) dropped(c *versions.Comparison) iter.Seq2[subset.Item, error] {
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
		for n, err := range c.Numbers() {
			switch {
			case err != nil:
				yield(item, err)
				return
			case slices.Contains(n.In, versions.Plan) || !s.getsZero(n):
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
			month.Instance = append(month.Instance, Instance{MetricType: MetricType(n.Metric), AccessMethod: AccessRegular})
		}
		flush()
	}
}

// keeps counts a number that stays, and warns of it.
func (s *submission) keeps(n *versions.Number) {
	s.staying++
	version := "an earlier version"
	if slices.Contains(n.In, versions.Stored) {
		version = "the stored report"
	}
	s.warn(datacite.Finding{
		Path: "report-datasets",
		Reason: fmt.Sprintf("lack the %s of %s that %s has; its record continues to show %d for %s unless a report has the "+
			"count 0", n.Metric, n.Name, version, n.Count, s.header.shownMonth()),
		Code: datacite.CodeLeft, Warning: true,
	})
}
