package dois

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/metadata"
)

// RepairOptions are the optional settings of a repair.
type RepairOptions struct {
	DryRun  bool // read and compare, but write nothing
	Workers int  // DOIs repaired at the same time; 0 means 4
}

// A Repaired is the outcome of one [Difference].
type Repaired struct {
	DOI        string
	Difference *Difference
	Draft      *Draft // the draft that was sent or, with DryRun, would be sent; nil if there is none
	Changed    bool   // the service accepted it; never with DryRun
	Err        error

	Warnings []datacite.Finding // about the wanted metadata, and what the service made of the write; see Record.Warnings
}

// Repair repairs the differences that an audit found, and returns the outcome of each as soon
// as it is known. It repairs every difference in diffs, so select them first. Those of
// one DOI should follow each other, as they do in an audit; one write then repairs them all.
//
//   - Missing: the DOI is created, in the wanted state or as a draft.
//   - Changed: what differs is written, and the texts that the service would otherwise store
//     escaped (see [metadata.Unescape]).
//   - OldSchema: the record is rewritten in the current schema, with what it lacks from Wanted.Metadata.
//   - Invalid: the record is repaired if it is wanted, with valid metadata.
//   - Extra, and what cannot be repaired, is left as it is: [ErrNotAsWanted].
//
// Each DOI is read before it is written. If it has neither the wanted values nor those of the
// audit, someone else has changed it, and it is left unchanged: [datacite.ErrConflict]. Other
// errors are those of [Client.Ensure].
//
// To stop, leave the loop; to continue, run Repair again, best after a new audit. An error ends
// the sequence and comes with a nil Repaired: an error of diffs or of the context, or a login that
// is not accepted (401). diffs is called in another goroutine.
func (c *Client) Repair(ctx context.Context, diffs iter.Seq2[*Difference, error], opts *RepairOptions) iter.Seq2[*Repaired, error] {
	if opts == nil {
		opts = &RepairOptions{}
	}
	return func(yield func(*Repaired, error) bool) {
		err := c.core.Ready(ctx)
		if err == nil && diffs == nil {
			err = datacite.Invalid(datacite.Finding{Path: "diffs", Code: "missing", Reason: "is nil"})
		} else if err == nil && opts.Workers < 0 {
			err = datacite.Invalid(datacite.Finding{Path: "RepairOptions.Workers", Code: "limit", Reason: "is negative"})
		}
		if err != nil {
			yield(nil, err)
			return
		}
		run := newEnsuring(c, &EnsureOptions{DryRun: opts.DryRun, Workers: opts.Workers, Rounds: 1})
		run.give = func(t *task) bool {
			for _, d := range t.diffs {
				r := t.repaired(d)
				r.Err = c.core.Shown(r.Err) // it names the DOI of a list
				if !yield(r, nil) {
					return false
				}
			}
			return true
		}
		if err := run.rounds(ctx, repairs(diffs)); err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(nil, err)
		}
	}
}

// repairs are tasks for consecutive differences of one DOI.
func repairs(diffs iter.Seq2[*Difference, error]) iter.Seq2[*task, error] {
	return func(yield func(*task, error) bool) {
		var t *task
		n := 0
		for d, err := range diffs {
			if d == nil && err == nil {
				err = datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("diffs[%d]", n), Code: "missing", Reason: "is nil"})
			}
			if n++; err != nil {
				_ = (t == nil || yield(t.prepared(), nil)) && yield(nil, err)
				return
			}
			if t != nil && t.name != d.DOI {
				if !yield(t.prepared(), nil) {
					return
				}
				t = nil
			}
			if t == nil {
				t = &task{name: d.DOI}
			}
			t.diffs = append(t.diffs, d)
		}
		if t != nil {
			yield(t.prepared(), nil)
		}
	}
}

// prepared sets what is wanted, or the reason why that is not known.
func (t *task) prepared() *task {
	first := t.diffs[0]
	t.Wanted = *cmp.Or(first.Wanted, &Wanted{DOI: t.name})
	isOld := slices.ContainsFunc(t.diffs, func(d *Difference) bool { return d.Kind == OldSchema })
	switch {
	case len(t.diffs) == 1 && first.Kind == Extra:
		t.Err = errExtra(first)
	case first.Wanted == nil && !isOld:
		t.Err = fmt.Errorf("%w: %s is not wanted, so it is not known what its metadata should be", ErrNotAsWanted, t.name)
	default:
		t.Err = t.Wanted.parse("Difference.Wanted.MetadataXML")
	}
	return t
}

func errExtra(d *Difference) error {
	return fmt.Errorf("%w: %s is not wanted; hide or delete it yourself, or add it to what is wanted", ErrNotAsWanted, d.DOI)
}

// repaired is the outcome for one of the differences.
func (t *task) repaired(d *Difference) *Repaired {
	r := &Repaired{DOI: d.DOI, Difference: d}
	if d.Kind == Extra {
		r.Err = errExtra(d)
		return r
	}
	r.Draft, r.Changed, r.Err = t.Draft, t.Draft != nil && t.Record != nil, t.Err
	if w := d.Wanted; r.Draft != nil && w != nil && w.Metadata != nil {
		r.Warnings = first((&Draft{Record: *w.Metadata}).findings())
	}
	if r.Changed {
		for _, f := range t.Record.Warnings { // also about what was not sent, and the service wrote anew
			if !slices.ContainsFunc(r.Warnings, func(known datacite.Finding) bool { return known.Path == f.Path && known.Code == f.Code }) {
				r.Warnings = append(r.Warnings, f)
			}
		}
	}
	return r
}

// sameAsAudited is an error if somebody else has changed the DOI since the audit.
func (t *task) sameAsAudited(now *Record) error {
	first := t.diffs[0]
	if first.Found != nil && now == nil || first.Wanted != nil && !sameRecord(first.Found, now) {
		return fmt.Errorf("%w: %s has changed since the audit and is still not as wanted", datacite.ErrConflict, t.name)
	}
	return nil
}

// sameRecord reports whether two records have the same content; each may be nil.
func sameRecord(a, b *Record) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.URL == b.URL && a.State == b.State && len(metadata.Diff(&a.Record, &b.Record)) == 0 && len(metadata.Diff(&b.Record, &a.Record)) == 0
}
