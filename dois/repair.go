package dois

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/metadata"
)

// ErrNoRepair: nothing that [Client.Repair] may write would make a DOI as it is
// wanted: it is extra, there is nothing to write, or the service does not do it,
// such as making a draft of a findable DOI.
var ErrNoRepair = errors.New("dois: no repair")

// RepairOptions are the optional settings of a repair.
type RepairOptions struct {
	DryRun  bool // look, and write nothing
	Workers int  // DOIs at work at the same time; 0 means 4
}

// A Repaired is what was done about a [Difference].
type Repaired struct {
	DOI        string
	Difference *Difference
	Draft      *Draft // what was sent, or with DryRun would be; nil if nothing was to do
	Changed    bool   // the service took it; never with DryRun
	Err        error
}

// Repair makes DOIs as they are wanted, where an audit found that they are not, and
// returns what it did about each difference as soon as it is known. Choose among the
// differences before you hand them over. Differences of one DOI should follow each
// other, as they do in an audit; they are repaired with one request.
//
//   - A Missing DOI is made, in the wanted state, or as a draft.
//   - Of a Changed one those properties are written that differ, and the others stay.
//     The state changes with the same request.
//   - One of an OldSchema is written in the present one. What the present one does
//     not allow has to be in Wanted.Metadata.
//   - An Invalid one is repaired if that is by what is wanted; if not, the error
//     matches [ErrNoRepair], and so it is with an Extra one, which is never deleted.
//
// Each DOI is looked at before it is written. If it is as it is wanted by now,
// nothing is done. If it is neither so nor as the audit found it, somebody has
// changed it, and it is left alone: the error matches [datacite.ErrConflict]. Else the error
// is that of [Client.Create] or [Client.Update], or, if the service took the change
// and it still is not as it is wanted, matches ErrNoRepair. Nothing is tried a second
// time but the requests that the client sends again itself; see [Temporary].
//
// To stop, leave the loop; to continue, run it again, best with a new audit. What is
// right already is only read. Config.Limiter keeps the requests below a rate.
//
// An error ends the sequence and comes with a nil Repaired: one that diffs brings,
// the context's, or a login that is not accepted (401), which all others would meet, too. Differences
// are taken from another goroutine.
func (c *Client) Repair(ctx context.Context, diffs iter.Seq2[*Difference, error], opts *RepairOptions) iter.Seq2[*Repaired, error] {
	if opts == nil {
		opts = &RepairOptions{}
	}
	const workers = 4
	return func(yield func(*Repaired, error) bool) {
		if diffs == nil {
			yield(nil, &datacite.FieldError{Path: "diffs", Reason: "is nil"})
			return
		}
		do := func(ctx context.Context, diffs []*Difference) []*Repaired {
			return c.repairAll(ctx, diffs, opts.DryRun)
		}
		err := bulk.Run(ctx, ofOneDOI(diffs), max(cmp.Or(opts.Workers, workers), 1), do, func(_ context.Context, all []*Repaired) error {
			var end error
			for _, r := range all {
				if !yield(r, nil) {
					return bulk.ErrLeft
				}
				if errors.Is(r.Err, datacite.ErrUnauthorized) && !errors.Is(r.Err, datacite.ErrNotFound) { // a 404 may be of this DOI alone
					end = r.Err
				}
			}
			return end
		})
		if err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(nil, err)
		}
	}
}

// ofOneDOI puts differences together that follow each other and are of one DOI.
func ofOneDOI(diffs iter.Seq2[*Difference, error]) iter.Seq2[[]*Difference, error] {
	return func(yield func([]*Difference, error) bool) {
		var group []*Difference
		n := 0
		for d, err := range diffs {
			if d == nil && err == nil {
				err = &datacite.FieldError{Path: fmt.Sprintf("diffs[%d]", n), Reason: "is nil"}
			}
			if n++; err != nil {
				_ = (group == nil || yield(group, nil)) && yield(nil, err)
				return
			}
			if group != nil && group[0].DOI != d.DOI {
				if !yield(group, nil) {
					return
				}
				group = nil
			}
			group = append(group, d)
		}
		if group != nil {
			yield(group, nil)
		}
	}
}

// repairAll repairs a DOI that has some differences.
func (c *Client) repairAll(ctx context.Context, diffs []*Difference, dry bool) []*Repaired {
	var done Repaired
	if diffs[0].Kind != Extra || len(diffs) > 1 {
		done.Draft, done.Changed, done.Err = c.repair(ctx, diffs, dry)
	}
	all := make([]*Repaired, 0, len(diffs))
	for _, d := range diffs {
		r := done
		if d.Kind == Extra {
			r = Repaired{Err: fmt.Errorf("%w: %s is not wanted; decide what becomes of it", ErrNoRepair, d.DOI)}
		}
		r.DOI, r.Difference = d.DOI, d
		all = append(all, &r)
	}
	return all
}

func (c *Client) repair(ctx context.Context, diffs []*Difference, dry bool) (draft *Draft, changed bool, err error) {
	name, seen := diffs[0].DOI, diffs[0].Found
	wanted := cmp.Or(diffs[0].Wanted, &Wanted{DOI: name})
	present, err := c.look(ctx, name)
	if err != nil {
		return nil, false, err
	}
	left := func(now *Record) []*Difference { // what is still to be repaired
		return differences(name, wanted, now, func(k DifferenceKind) bool {
			return k == Missing || k == Changed || slices.ContainsFunc(diffs, func(d *Difference) bool { return d.Kind == k })
		})
	}
	switch {
	case len(left(present)) == 0:
		return nil, false, nil
	case !sameRecord(seen, present):
		return nil, false, fmt.Errorf("%w: %s is neither as the audit found it nor as it is wanted", datacite.ErrConflict, name)
	}
	if draft, err = wanted.draft(present); err != nil || dry {
		return draft, false, err
	}
	var after *Record
	if present == nil {
		after, err = c.Create(ctx, draft)
	} else {
		after, err = c.Update(ctx, name, draft)
	}
	if err != nil {
		return draft, false, err
	}
	if rest := left(after); len(rest) > 0 {
		return draft, true, fmt.Errorf("%w: the service took the change, and yet %s", ErrNoRepair, rest[0])
	}
	return draft, true, nil
}

// sameRecord tells whether two records say the same; each may be nil.
func sameRecord(a, b *Record) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.URL == b.URL && a.State == b.State && len(metadata.Diff(&a.Record, &b.Record)) == 0 && len(metadata.Diff(&b.Record, &a.Record)) == 0
}

// draft is what has to be written so that a DOI is as it is wanted: found, or nil if
// the DOI is unknown.
func (w *Wanted) draft(found *Record) (*Draft, error) {
	draft := &Draft{}
	state, was := w.State, StateDraft
	if found == nil {
		found, draft.DOI = &Record{}, w.DOI
	} else {
		was = found.State
	}
	if state != "" && state != was {
		if draft.Event = eventTo(was, state); draft.Event == "" {
			return nil, fmt.Errorf("%w: %s is %s and cannot become %s", ErrNoRepair, w.DOI, was, state)
		}
	}
	if w.URL != found.URL {
		draft.URL = w.URL
	}
	if found.oldSchema() {
		draft.SchemaVersion = metadata.Namespace // the service makes the XML anew, from all it has
	}
	if err := draft.properties(w.changes(found), w.Metadata); err != nil {
		return nil, err
	}
	if draft.DOI == "" && draft.URL == "" && draft.Event == "" && draft.SchemaVersion == "" && len(draft.Clear) == 0 {
		if attributes, err := members(draft.Record); err != nil || len(attributes) == 0 {
			return nil, cmp.Or(err, fmt.Errorf("%w: %s: nothing that is wanted differs from what is stored", ErrNoRepair, w.DOI))
		}
	}
	return draft, nil
}

// properties takes those of a record over that changed.
func (d *Draft) properties(changes []metadata.Change, wanted *metadata.Record) error {
	if wanted == nil {
		return nil
	}
	whole := *wanted
	whole.AlternateIdentifiers, whole.Identifiers = wanted.Alternates(), nil
	whole.Types = metadata.Types{ResourceTypeGeneral: wanted.Types.ResourceTypeGeneral, ResourceType: wanted.Types.ResourceType}
	all, err := members(whole)
	if err != nil {
		return err
	}
	chosen := map[string]any{}
	for _, c := range changes {
		name, _, _ := strings.Cut(c.Path, "[")
		name, _, _ = strings.Cut(name, ".")
		switch value, there := all[name]; {
		case there && string(value.(json.RawMessage)) != "[]":
			chosen[name] = value
		case name != "url" && name != "state" && !slices.Contains(d.Clear, name):
			d.Clear = append(d.Clear, name)
		}
	}
	data, err := json.Marshal(chosen)
	if err != nil {
		return err
	}
	version := d.SchemaVersion
	err = json.Unmarshal(data, &d.Record)
	d.SchemaVersion = version
	return err
}
