package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// A DifferenceKind is a kind of difference between a DOI and its wanted values.
type DifferenceKind string

// The kinds of differences.
const (
	KindMissing DifferenceKind = "missing" // desired, and not found or not visible to the account
	KindExtra   DifferenceKind = "extra"   // found, and not desired
	KindChanged DifferenceKind = "changed" // another URL, state or metadata than desired: Difference.Changes
	// KindInvalid: registered or findable, with metadata that the service would refuse today:
	// Difference.Findings
	KindInvalid DifferenceKind = "invalid"
	// KindOldSchema: with metadata of a schema version before 4, which the service no longer accepts
	KindOldSchema DifferenceKind = "old-schema"
)

// A Difference is a difference between a DOI and what is desired. A DOI may have several,
// of different kinds.
type Difference struct {
	DOI      string // in lower case
	Kind     DifferenceKind
	Changes  []metadata.Change  // of KindChanged: paths in the metadata, "url", "state", "contentUrl" and "container"
	Findings []datacite.Finding // of KindInvalid: the errors
	// Desired: as given; nil if the DOI is not desired. With Audited, EnsureAll writes what the audit
	// found
	Desired *Desired
	// Found: as [dois.Client.Get] returned it; for KindExtra, as listed unless ReadExtra is set; nil
	// for KindMissing
	Found *dois.Record
}

// String has a line for the DOI and one for each change or finding.
func (d *Difference) String() string {
	lines := []string{fmt.Sprintf("%s: %s", d.DOI, d.Kind)}
	for _, c := range d.Changes {
		lines = append(lines, "\t"+c.String())
	}
	for _, f := range d.Findings {
		lines = append(lines, "\t"+f.String())
	}
	return strings.Join(lines, "\n")
}

// Corrections returns what EnsureAll should write so that the differences of an audit are gone: each
// DOI once, without those of which nothing is desired. To write only some of them, select them first.
func Corrections(diffs iter.Seq2[*Difference, error]) iter.Seq2[Desired, error] {
	return func(yield func(Desired, error) bool) {
		if diffs == nil {
			yield(Desired{}, datacite.Invalidf("diffs", datacite.CodeMissing, "is nil"))
			return
		}
		last := ""
		for d, err := range diffs {
			switch {
			case err != nil:
				yield(Desired{}, err)
				return
			case d.Desired == nil || d.DOI == last: // the differences of a DOI follow each other
				continue
			}
			if last = d.DOI; !yield(*d.Desired, nil) {
				return
			}
		}
	}
}

// ErrNothingListed: the service lists no DOI of the account or the prefix of an audit; its
// name may be wrong. Without a login, only findable DOIs are listed.
var ErrNothingListed = transport.NewError("reconcile: nothing to compare with")

// AuditOptions select the DOIs and the kinds of differences. ClientID, Prefix or both are
// required.
type AuditOptions struct {
	ClientID []string         // DOIs of one of these repository accounts
	Prefix   []string         // DOIs with one of these prefixes
	Kinds    []DifferenceKind // which differences to look for; nil means all
	TempDir  string           // for temporary files; "" means that of the system

	// ReadExtra reads each DOI that is not desired with Get, too, in one request each. Without it,
	// these are reported as listed, with title, URL and state.
	ReadExtra bool

	// AllowEmpty continues the audit if the service lists no DOI at all. Without it, the
	// audit then ends with ErrNothingListed, before it sends a request for each desired DOI.
	AllowEmpty bool

	// Adapt changes what is desired by what was found, such as by adding contributors, for which a table has no
	// column. It is called for DOIs that were found, for several at once.
	Adapt Adapter

	// Listed is called for each record that the service lists, with all attributes, in the
	// order of the list and before the first difference. The records must not be changed.
	Listed func(*dois.Record)

	Progress func(AuditProgress) // called after each thousandth entry and each difference, one call at a time
}

// AuditProgress is the progress of an audit. It first reads all wanted DOIs, then those of
// the service, and then compares both.
type AuditProgress struct {
	Desired     int // read from the source
	Found       int // read from the service
	Total       int // by the service's count; -1 before its first response
	Compared    int // DOIs, wanted or found
	Differences int
}

// Audit compares the DOIs of an account or a prefix with the desired ones, and returns the differences in the
// order of the DOIs. It writes nothing to the service.
//
// Audit reads desired to its end and lists the service once: DOIs in all states with a
// login, only findable ones without. Both may have any order and length; a few MiB are
// held in memory, the rest in a temporary file that is removed at the end.
//
// Lists lag behind writes, so each DOI that seems to differ is read with [dois.Client.Get], also if it is
// outside the account, the prefix or the list. Others may just have been deleted, and those of the last
// minutes may be missing. Changes that the service itself makes to metadata are not differences; see
// [metadata.Diff].
//
// An error ends the sequence and comes with a nil Difference: an error of desired, of the
// service or of the context, [ErrNothingListed], or a [*datacite.ValidationError] for bad options, an invalid DOI, an
// unknown state, or a DOI that is desired twice. It names [Desired].Place, or the number in
// desired, from 0.
func (c *Client) Audit(ctx context.Context, desired iter.Seq2[Desired, error],
	opts *AuditOptions) iter.Seq2[*Difference, error] {
	return func(yield func(*Difference, error) bool) {
		err := cmp.Or(c.core.Ready(ctx), opts.check())
		if desired == nil {
			err = datacite.Invalidf("desired", datacite.CodeMissing,
				"is nil; give an empty sequence to have every DOI as KindExtra")
		}
		if err != nil {
			yield(nil, err)
			return
		}
		a := &audit{
			client: c, opts: *opts, yield: yield,
			entries: extsort.Sorter{Memory: auditMemory, Dir: opts.TempDir},
		}
		a.progress.Total = -1
		err = a.run(ctx, desired)
		if err = errors.Join(err, a.entries.Close()); err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(nil, c.core.Shown(err)) // it may quote a record of the service
		}
	}
}

func (o *AuditOptions) check() error {
	if o == nil || len(o.ClientID) == 0 && len(o.Prefix) == 0 {
		return datacite.Invalidf("AuditOptions", datacite.CodeMissing,
			"has neither ClientID nor Prefix; give the account or prefix to audit")
	}
	if o.Kinds != nil && len(o.Kinds) == 0 {
		return datacite.Invalidf("AuditOptions.Kinds", datacite.CodeValue,
			"is empty, so nothing would be reported; leave it nil to look for all")
	}
	for _, k := range o.Kinds {
		if !slices.Contains([]DifferenceKind{KindMissing, KindExtra, KindChanged, KindInvalid, KindOldSchema}, k) {
			return datacite.Invalidf("AuditOptions.Kinds", datacite.CodeVocabulary,
				"has %q, which is not a kind of difference", string(k))
		}
	}
	return nil
}

// auditMemory is the number of bytes of entries that are held in memory.
const auditMemory = 2 << 20

type audit struct {
	client   *Client
	opts     AuditOptions
	yield    func(*Difference, error) bool
	entries  extsort.Sorter // by DOI: what is wanted, then what was found
	metadata bool           // some desired DOIs have metadata
	progress AuditProgress
}

func (a *audit) run(ctx context.Context, desired iter.Seq2[Desired, error]) error {
	if err := a.take(ctx, desired); err != nil {
		return err
	}
	// A DOI that is desired twice is known before the first difference, so that nothing is written.
	if err := a.noRepeats(); err != nil {
		return err
	}
	if err := a.list(ctx); err != nil {
		return err
	}
	if a.progress.Found == 0 && !a.opts.AllowEmpty {
		return fmt.Errorf("reconcile.Audit: %w: the service lists no DOI of %s; is the name right?", ErrNothingListed,
			a.opts.scope())
	}
	err := bulk.Map(ctx, a.batches(), runtime.GOMAXPROCS(0), a.judge, func(judged []judgement) error {
		for i := range judged {
			if err := cmp.Or(judged[i].err, call.Ended(ctx)); err != nil {
				return err
			}
			if err := a.pass(ctx, &judged[i]); err != nil {
				return err
			}
		}
		return nil
	})
	a.report(0)
	return err
}

// scope is which DOIs are compared.
func (o *AuditOptions) scope() string {
	return strings.Join(slices.Concat(o.ClientID, o.Prefix), ", ")
}

// An entry is what is kept of a Desired: of XML, not the record that was read from it. Metadata follow
// it, after a zero: they are read by their own decoder.
type entry struct {
	Desired
	Number int // in the source
}

// take reads what is desired.
func (a *audit) take(ctx context.Context, desired iter.Seq2[Desired, error]) error {
	for d, err := range desired {
		if err != nil {
			return err
		}
		if err := call.Ended(ctx); err != nil {
			return err
		}
		r, err := newRequest(d, a.progress.Desired)
		if err != nil {
			return err
		}
		a.metadata = a.metadata || r.Metadata != nil || d.Clear != nil
		data, err := entryOf(d, r.number)
		if err != nil {
			return err
		}
		if err := a.keep(r.name, isDesired, data); err != nil {
			return err
		}
		a.progress.Desired++
		a.report(a.progress.Desired)
	}
	return nil
}

func entryOf(d Desired, number int) ([]byte, error) {
	record := d.Metadata
	d.Metadata = nil
	data, err := json.Marshal(entry{d, number})
	if err != nil || record == nil {
		return data, err
	}
	text, err := json.Marshal(record)
	return slices.Concat(data, []byte{0}, text), err
}

var metadataJSON = sync.OnceValue(func() *jsonlex.Object[metadata.Record] {
	return jsonlex.NewObject(jsonlex.Members[metadata.Record]()...)
})

// requestOf reads an entry back.
func requestOf(data []byte) (*request, error) {
	var e entry
	data, text, hasMetadata := bytes.Cut(data, []byte{0})
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	if hasMetadata {
		e.Metadata = new(metadata.Record)
		if err := input.JSON(text, e.Metadata, metadataJSON().Read); err != nil {
			return nil, err
		}
	}
	return newRequest(e.Desired, e.Number)
}

const isDesired, isFound = "d", "f"

// keep adds an entry of a DOI, with the DOI and its side before it.
func (a *audit) keep(name, side string, data []byte) error {
	return a.entries.Add([]byte(name), []byte(name+"\x00"+side), data)
}

// A pair is a DOI with what is desired and what was found, as they are kept; one of them may be empty.
type pair struct {
	name           string
	desired, found []byte
}

// noRepeats returns an error if a DOI is desired twice.
func (a *audit) noRepeats() error {
	var last []byte
	for data, err := range a.entries.Values() {
		if err != nil {
			return err
		}
		name, entry, _ := bytes.Cut(data, []byte{0})
		if before, earlier, _ := bytes.Cut(last, []byte{0}); last != nil && bytes.Equal(name, before) {
			return repeated(string(name), earlier[1:], entry[1:])
		}
		last = append(last[:0], data...)
	}
	return nil
}

// pairs are the DOIs in their order.
func (a *audit) pairs() iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		var p pair
		for data, err := range a.entries.Values() {
			if err != nil {
				yield(p, err)
				return
			}
			key, data, _ := bytes.Cut(data, []byte{0})
			if string(key) != p.name {
				if p.name != "" && !yield(p, nil) {
					return
				}
				p = pair{name: string(key)}
			}
			if side, data := string(data[:1]), bytes.Clone(data[1:]); side == isDesired {
				p.desired = data
			} else { // twice, if the record moved between the pages of the list
				p.found = data
			}
		}
		if p.name != "" {
			yield(p, nil)
		}
	}
}

// Bounds of a batch, of which several are in memory: so many DOIs, and bytes after which it ends.
const batchSize, batchBytes = 16, 32 << 10

// batches are the pairs, some at a time.
func (a *audit) batches() iter.Seq2[[]pair, error] {
	return func(yield func([]pair, error) bool) {
		var batch []pair
		size := 0
		for p, err := range a.pairs() {
			if err != nil {
				yield(nil, err)
				return
			}
			batch, size = append(batch, p), size+len(p.desired)+len(p.found)
			if len(batch) == batchSize || size >= batchBytes {
				if !yield(batch, nil) {
					return
				}
				batch, size = nil, 0
			}
		}
		if batch != nil {
			yield(batch, nil)
		}
	}
}

func repeated(name string, earlier, later []byte) error {
	e, bad := requestOf(earlier)
	again, err := requestOf(later)
	if err = cmp.Or(bad, err); err != nil {
		return err
	}
	return datacite.Invalidf(again.path("DOI"), datacite.CodeRepeated,
		"%q is desired twice, also by %s", name, e.place())
}

// list reads what the service has.
func (a *audit) list(ctx context.Context) error {
	const maxSize = 1000
	// texts are compared with the XML
	opts := &dois.ListOptions{ClientID: a.opts.ClientID, Prefix: a.opts.Prefix, Page: query.Page{Size: maxSize},
		Affiliation: true, Publisher: true, Detail: a.metadata}
	if !a.metadata && !a.looksFor(KindInvalid) && a.opts.Listed == nil {
		opts.Fields = []string{"doi", "url", "state", "schemaVersion", "titles"}
	}
	if a.opts.Listed == nil {
		ctx = call.WithUnread(ctx) // they are read when they are compared, by all processors
	}
	walk := a.client.dois.Walk(opts)
	for r, err := range walk.All(ctx) {
		if err != nil {
			return err
		}
		if err := a.keep(doi.Normal(r.DOI), isFound, r.Raw); err != nil {
			return err
		}
		if a.opts.Listed != nil {
			a.opts.Listed(r)
		}
		a.progress.Found++
		a.progress.Total = max(a.progress.Total, walk.Total())
		a.report(a.progress.Found)
	}
	return nil
}

func (a *audit) looksFor(k DifferenceKind) bool {
	return a.opts.Kinds == nil || slices.Contains(a.opts.Kinds, k)
}

// report reports the progress after each thousandth entry, and if n is 0.
func (a *audit) report(n int) {
	if n%1000 == 0 && a.opts.Progress != nil {
		a.opts.Progress(a.progress)
	}
}

// A judgement is how a DOI seems to differ, by the list.
type judgement struct {
	name    string
	request *request // nil if it is not desired, or does not differ
	all     []*Difference
	err     error
}

// judge compares the DOIs of a batch. Several batches are judged at once.
func (a *audit) judge(batch []pair) []judgement {
	judged := make([]judgement, len(batch))
	for i, p := range batch {
		j := &judged[i]
		if j.name = p.name; p.desired != nil {
			j.request, j.err = requestOf(p.desired)
		}
		var found *dois.Record
		if j.err == nil && p.found != nil {
			if found = new(dois.Record); !utf8.Valid(p.found) { // which the service does not care about
				p.found = bytes.ToValidUTF8(p.found, []byte("\ufffd"))
			}
			j.err = found.UnmarshalJSON(p.found)
		}
		if j.err == nil {
			j.all, j.err = a.differences(p.name, j.request, found, !a.metadata)
		}
		if len(j.all) == 0 {
			j.request = nil // it is not needed any more
		}
		if j.err != nil {
			return judged[:i+1]
		}
	}
	return judged
}

// pass reads a DOI that seems to differ, and yields the differences.
func (a *audit) pass(ctx context.Context, j *judgement) error {
	a.progress.Compared++
	a.report(a.progress.Compared)
	if len(j.all) > 0 && (j.request != nil || a.opts.ReadExtra) {
		found, err := a.client.look(ctx, j.name)
		if err == nil {
			j.all, err = a.differences(j.name, j.request, found, false)
		}
		if err != nil {
			return err
		}
	}
	for _, d := range j.all {
		a.progress.Differences++
		a.report(0)
		if !a.yield(d, nil) {
			return bulk.ErrLeft
		}
	}
	return nil
}

// differences compares a DOI that is desired with one that was found; one of them may be nil. It returns those
// that the options look for. A record in brief has not all metadata: if Adapt desires some, it seems to differ.
func (a *audit) differences(name string, r *request, found *dois.Record, brief bool) (all []*Difference, err error) {
	var desired *Desired
	if r != nil {
		given := r.Desired
		if given.Audited = found; len(given.XML) > 0 { // of which they were read
			given.Metadata, given.Whole = nil, false
		}
		desired = &given
	}
	add := func(d Difference) {
		if d.DOI, d.Desired, d.Found = name, desired, found; a.looksFor(d.Kind) {
			all = append(all, &d)
		}
	}
	switch {
	case found == nil && r != nil:
		desired.New = true // a DOI that somebody else makes meanwhile is not changed
		add(Difference{Kind: KindMissing})
	case r == nil && found != nil:
		add(Difference{Kind: KindExtra})
	case r != nil:
		c, err := r.compare(found, a.opts.Adapt)
		if err != nil {
			return nil, err
		}
		if len(c.changes) > 0 || brief && (c.Metadata != nil || c.Clear != nil) {
			add(Difference{Kind: KindChanged, Changes: c.changes})
		}
	}
	if found == nil {
		return all, nil
	}
	if oldSchema(found) {
		add(Difference{Kind: KindOldSchema})
	}
	if found.State != datacite.StateDraft && a.looksFor(KindInvalid) {
		if invalid, ok := errors.AsType[*datacite.ValidationError](found.Validate()); ok {
			add(Difference{Kind: KindInvalid, Findings: invalid.Findings})
		}
	}
	return all, nil
}

// look reads a record as it is now, nil for an unknown DOI.
func (c *Client) look(ctx context.Context, name string) (*dois.Record, error) {
	found, err := c.dois.Get(call.WithExpected(ctx, http.StatusNotFound), name, &dois.GetOptions{Detail: true})
	if transport.NotFound(err) {
		return nil, nil
	}
	return found, err
}
