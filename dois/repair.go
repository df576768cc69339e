package dois

import (
	"bytes"
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
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
)

// ErrNoRepair: [Client.Repair] cannot repair a DOI: the DOI is extra, its stored values are
// already the wanted ones, or the service does not allow the change, such as from findable to
// draft.
var ErrNoRepair = transport.NewSign("dois: no repair")

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

	Warnings []datacite.Finding // about the wanted metadata; see Record.Warnings
}

// Repair repairs the differences that an audit found, and returns the outcome of each as soon
// as it is known. It repairs every difference in diffs, so select them first. Differences of
// one DOI should follow each other, as they do in an audit; one write then repairs them all.
//
//   - Missing: the DOI is created, in the wanted state or as a draft.
//   - Changed: only the differing properties and the state are written, in one request, and the
//     texts that the service would otherwise store escaped (see [metadata.Unescape]).
//   - OldSchema: the record is rewritten in the current schema. Wanted.Metadata must have the
//     properties that this schema requires and the record lacks.
//   - Invalid: the record is repaired if the wanted metadata are valid. Otherwise, and if the
//     DOI is not wanted, the error matches [ErrNoRepair].
//   - Extra: the DOI is never changed or deleted ([ErrNoRepair]).
//
// Each DOI is read before it is written. If it already has the wanted values, nothing is
// written. If it has neither the wanted values nor those of the audit, someone else has
// changed it: it is left unchanged, and the error matches [datacite.ErrConflict]. Other
// errors are those of [Client.Create] and [Client.Update]; if the service accepted the change
// and the DOI still differs, the error matches ErrNoRepair.
//
// To stop, leave the loop; to continue, run Repair again, best after a new audit.
// Config.Limiter limits the rate of the requests.
//
// An error ends the sequence and comes with a nil Repaired: an error of diffs or of the
// context, or a login that is not accepted (401). diffs is called in another goroutine.
func (c *Client) Repair(ctx context.Context, diffs iter.Seq2[*Difference, error], opts *RepairOptions) iter.Seq2[*Repaired, error] {
	if opts == nil {
		opts = &RepairOptions{}
	}
	const workers = 4
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
		do := func(ctx context.Context, diffs []*Difference) []*Repaired {
			return c.repairAll(ctx, diffs, opts.DryRun)
		}
		err = bulk.Run(ctx, ofOneDOI(diffs), cmp.Or(opts.Workers, workers), do, func(_ context.Context, all []*Repaired) error {
			var end error
			for _, r := range all {
				if !yield(r, nil) {
					return bulk.ErrLeft
				}
				if errors.Is(r.Err, datacite.ErrUnauthorized) && !errors.Is(r.Err, datacite.ErrNotFound) { // a 404 may concern this DOI alone
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

// ofOneDOI groups consecutive differences of one DOI.
func ofOneDOI(diffs iter.Seq2[*Difference, error]) iter.Seq2[[]*Difference, error] {
	return func(yield func([]*Difference, error) bool) {
		var group []*Difference
		n := 0
		for d, err := range diffs {
			if d == nil && err == nil {
				err = datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("diffs[%d]", n), Code: "missing", Reason: "is nil"})
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

// repairAll repairs all differences of one DOI.
func (c *Client) repairAll(ctx context.Context, diffs []*Difference, dry bool) []*Repaired {
	var done Repaired
	if diffs[0].Kind != Extra || len(diffs) > 1 {
		done.Draft, done.Changed, done.Err = c.repair(ctx, diffs, dry)
		done.Err = c.core.Shown(done.Err)
		if w := diffs[0].Wanted; done.Draft != nil && w != nil && w.Metadata != nil {
			done.Warnings = (&Draft{Record: *w.Metadata}).warnings()
		}
	}
	all := make([]*Repaired, 0, len(diffs))
	for _, d := range diffs {
		r := done
		if d.Kind == Extra {
			r = Repaired{Err: c.core.Shown(fmt.Errorf("%w: %s is not wanted; hide or delete it yourself, or add it to what is wanted", ErrNoRepair, d.DOI))}
		}
		r.DOI, r.Difference = d.DOI, d
		all = append(all, &r)
	}
	return all
}

func (c *Client) repair(ctx context.Context, diffs []*Difference, dry bool) (draft *Draft, changed bool, err error) {
	name, found := diffs[0].DOI, diffs[0].Found
	wanted := cmp.Or(diffs[0].Wanted, &Wanted{DOI: name})
	isOld := slices.ContainsFunc(diffs, func(d *Difference) bool { return d.Kind == OldSchema })
	if diffs[0].Wanted == nil && !isOld {
		return nil, false, fmt.Errorf("%w: %s is not wanted, so it is not known what its metadata should be", ErrNoRepair, name)
	}
	current, err := c.look(ctx, name)
	if err != nil {
		return nil, false, err
	}
	left := func(now *Record) []*Difference { // what is still to be repaired
		return differences(name, wanted, now, func(k DifferenceKind) bool {
			return k == Missing || k == Changed || slices.ContainsFunc(diffs, func(d *Difference) bool { return d.Kind == k })
		})
	}
	switch {
	case len(left(current)) == 0:
		return nil, false, nil
	case found != nil && current == nil, diffs[0].Wanted != nil && !sameRecord(found, current):
		return nil, false, fmt.Errorf("%w: %s has changed since the audit and is still not as wanted", datacite.ErrConflict, name)
	}
	if draft, err = wanted.draft(current); err != nil || dry {
		return draft, false, err
	}
	var after *Record
	if current == nil {
		after, err = c.Create(ctx, draft)
	} else {
		after, err = c.Update(ctx, name, draft)
	}
	if err != nil {
		return draft, false, err
	}
	if rest := left(after); len(rest) > 0 {
		return draft, true, fmt.Errorf("%w: the service accepted the change, but a difference remains: %s", ErrNoRepair, rest[0])
	}
	return draft, true, nil
}

// sameRecord reports whether two records have the same content; each may be nil.
func sameRecord(a, b *Record) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.URL == b.URL && a.State == b.State && len(metadata.Diff(&a.Record, &b.Record)) == 0 && len(metadata.Diff(&b.Record, &a.Record)) == 0
}

// draft is what has to be written so that the DOI becomes as wanted; found is nil if the
// DOI is unknown.
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
			return nil, fmt.Errorf("%w: %s is %.100s and cannot become %s", ErrNoRepair, w.DOI, was, state)
		}
	}
	if w.URL != found.URL {
		draft.URL = w.URL
	}
	if found.oldSchema() {
		draft.SchemaVersion = metadata.Namespace // the service writes new XML from the whole record
	}
	if err := draft.properties(w.changes(found), w.Metadata); err != nil {
		return nil, err
	}
	if draft.writesMetadata() {
		if err := draft.keepTexts(found); err != nil {
			return nil, err
		}
	}
	if draft.DOI == "" && draft.URL == "" && draft.Event == "" && draft.SchemaVersion == "" && len(draft.Clear) == 0 {
		if attributes, err := members(draft.Record); err != nil || len(attributes) == 0 {
			return nil, cmp.Or(err, fmt.Errorf("%w: %s: nothing that is wanted differs from what is stored", ErrNoRepair, w.DOI))
		}
	}
	return draft, nil
}

// keepTexts adds the properties that the service may show otherwise than it stores them. It
// writes the XML from what it shows, which would change them.
func (d *Draft) keepTexts(found *Record) error {
	if len(found.Raw) == 0 {
		return nil // a new DOI
	}
	if err := found.ambiguous(); err != nil {
		return err
	}
	stored, err := members(found.Record)
	if err != nil {
		return err
	}
	sent, err := members(d.Record)
	if err != nil {
		return err
	}
	var kept []metadata.Change
	for _, name := range unescapedProperties {
		if !taken(sent, name) && !slices.Contains(d.Clear, name) && hasMarkup(stored[name]) {
			kept = append(kept, metadata.Change{Path: name})
		}
	}
	return d.properties(kept, &found.Record)
}

// hasMarkup finds the characters of markup in JSON, as [json.Marshal] writes them.
func hasMarkup(value any) bool {
	data, _ := value.(json.RawMessage)
	return bytes.Contains(data, []byte(`\u0026`)) || bytes.Contains(data, []byte(`\u003c`)) || bytes.Contains(data, []byte(`\u003e`))
}

// unescapedProperties are those that metadata.Unescape changes.
var unescapedProperties = strings.Fields("titles subjects descriptions sizes formats relatedItems creators contributors geoLocations fundingReferences")

// properties copies the properties that changed from the wanted record.
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
		name := property(c.Path)
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
