package dois

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// A Wanted is a DOI as it should be. Empty fields are not compared.
type Wanted struct {
	DOI      string // in any spelling
	URL      string
	State    State
	Metadata *metadata.Record // its DOI must be the same or empty

	// MetadataXML are the same metadata as XML, for Ensure and Repair, which then write the XML
	// as it is and compare with the stored XML: nothing is lost that the service's JSON lacks.
	// If Metadata is nil, it is read from the XML.
	MetadataXML []byte

	ContentURL []string   // where the content itself is
	Container  *Container // leave it nil where the service derives it from series information or related items

	// New: the name was made now, and surely nobody has it, so Ensure does not look for it
	// before it creates the DOI. Only Ensure and EnsureAll use it.
	New bool

	Place string // place in the source for messages, such as "line 3"; "" means its number
}

// A DifferenceKind is a kind of difference between a DOI and its wanted values.
type DifferenceKind string

// The kinds of differences.
const (
	Missing   DifferenceKind = "missing"    // wanted, and not found or not visible to the account
	Extra     DifferenceKind = "extra"      // found, and not wanted
	Changed   DifferenceKind = "changed"    // another URL, state or metadata than wanted: Difference.Changes
	Invalid   DifferenceKind = "invalid"    // registered or findable, with metadata that the service would refuse today: Difference.Findings
	OldSchema DifferenceKind = "old-schema" // with metadata of a schema version before 4, which the service no longer accepts
)

// A Difference is a difference between a DOI and its wanted values. A DOI may have several,
// of different kinds.
type Difference struct {
	DOI      string // in lower case
	Kind     DifferenceKind
	Changes  []metadata.Change  // of Changed: paths in the metadata, "url" and "state"
	Findings []datacite.Finding // of Invalid: the errors
	Wanted   *Wanted            // nil if it is not wanted
	Found    *Record            // as Get returned it, with all identifiers; for Extra, as listed unless ReadExtra is set; nil for Missing
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

// ErrNothingListed: the service lists no DOI of the account or the prefix of an audit; its
// name may be wrong. Without a login, only findable DOIs are listed.
var ErrNothingListed = transport.NewSign("dois: nothing to compare with")

// AuditOptions select the DOIs and the kinds of differences. ClientID, Prefix or both are
// required.
type AuditOptions struct {
	ClientID string           // DOIs of this repository account
	Prefix   []string         // DOIs with one of these prefixes
	Kinds    []DifferenceKind // which differences to look for; nil means all
	TempDir  string           // for temporary files; "" means that of the system

	// ReadExtra reads each unwanted DOI with Get, too, in one request each. Without it,
	// unwanted DOIs are reported as listed, with title, URL and state.
	ReadExtra bool

	// AllowEmpty continues the audit if the service lists no DOI at all. Without it, the
	// audit then ends with ErrNothingListed, before it sends a request for each wanted DOI.
	AllowEmpty bool

	// Complete may add properties that the source does not contain, such as contributors
	// from a table without a column for them. The changed Wanted is compared with the record, and is the Difference.Wanted;
	// Complete must not change the record. It is called once or twice for each DOI that was
	// found, each time with the Wanted of the source.
	Complete func(*Wanted, *Record)

	// Listed is called for each record that the service lists, with all attributes, in the
	// order of the list and before the first difference. The records must not be changed.
	Listed func(*Record)

	Progress func(AuditProgress) // called after each thousandth entry and each difference, one call at a time
}

// AuditProgress is the progress of an audit. It first reads all wanted DOIs, then those of
// the service, and then compares both.
type AuditProgress struct {
	Wanted      int // read from the source
	Found       int // read from the service
	Total       int // by the service's count; -1 before its first response
	Compared    int // DOIs, wanted or found
	Differences int
}

// Audit compares the DOIs of an account or a prefix with the wanted ones, and returns the differences in the
// order of the DOIs. It writes nothing to the service.
//
// Audit reads wanted to its end and lists the service once: DOIs in all states with a
// login, only findable ones without. Both may have any order and length; a few MiB are
// held in memory, the rest in a temporary file that is removed at the end.
//
// Lists lag behind writes, so each wanted DOI that seems to differ is read with [Client.Get], also if it is
// outside the account, the prefix or the list. Unwanted ones may just have been deleted, and those of the last
// minutes may be missing. Changes that the service itself makes to metadata are not differences; see
// [metadata.Diff].
//
// An error ends the sequence and comes with a nil Difference: an error of wanted, of the
// service or of the context, [ErrNothingListed], or a [*datacite.ValidationError] for bad options, an invalid DOI, an
// unknown state, or a DOI that is wanted twice. It names [Wanted].Place, or the number in
// wanted, from 0.
func (c *Client) Audit(ctx context.Context, wanted iter.Seq2[Wanted, error], opts *AuditOptions) iter.Seq2[*Difference, error] {
	return func(yield func(*Difference, error) bool) {
		err := cmp.Or(c.core.Ready(ctx), opts.check())
		if wanted == nil {
			err = datacite.Invalid(datacite.Finding{Path: "wanted", Code: "missing", Reason: "is nil; give an empty sequence to have every DOI as Extra"})
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
		err = a.run(ctx, wanted)
		if err = errors.Join(err, a.entries.Close()); err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(nil, err)
		}
	}
}

func (o *AuditOptions) check() error {
	if o == nil || o.ClientID == "" && len(o.Prefix) == 0 {
		return datacite.Invalid(datacite.Finding{Path: "AuditOptions", Code: "missing", Reason: "has neither ClientID nor Prefix; give the account or prefix to audit"})
	}
	if o.Kinds != nil && len(o.Kinds) == 0 {
		return datacite.Invalid(datacite.Finding{Path: "AuditOptions.Kinds", Code: "value", Reason: "is empty, so nothing would be reported; leave it nil to look for all"})
	}
	for _, k := range o.Kinds {
		if !slices.Contains([]DifferenceKind{Missing, Extra, Changed, Invalid, OldSchema}, k) {
			return datacite.Invalid(datacite.Finding{Path: "AuditOptions.Kinds", Code: "vocabulary", Reason: fmt.Sprintf("has %q, which is not a kind of difference", string(k))})
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
	metadata bool           // some wanted DOIs have metadata
	progress AuditProgress
}

func (a *audit) run(ctx context.Context, wanted iter.Seq2[Wanted, error]) error {
	if err := a.take(ctx, wanted); err != nil {
		return err
	}
	// That a DOI is wanted twice is known before a difference is, so that a repair does not begin.
	if err := a.each(func(string, []byte, []byte) error { return nil }); err != nil {
		return err
	}
	if err := a.list(ctx); err != nil {
		return err
	}
	if a.progress.Found == 0 && !a.opts.AllowEmpty {
		return fmt.Errorf("dois.Audit: %w: the service lists no DOI of %s; is the name right?", ErrNothingListed, a.opts.scope())
	}
	err := a.each(func(name string, wanted, found []byte) error {
		w, bad := decoded[Wanted](wanted)
		f, err := decoded[Record](found)
		if err = cmp.Or(bad, err, call.Ended(ctx)); err != nil {
			return err
		}
		return a.judge(ctx, name, w, f)
	})
	a.report(0)
	return err
}

// scope is which DOIs are compared.
func (o *AuditOptions) scope() string {
	return strings.Trim(o.ClientID+", "+strings.Join(o.Prefix, ", "), ", ")
}

// An entry is a Wanted and its number.
type entry struct {
	Wanted
	Number int // in the source
}

func (e *entry) place() string { return cmp.Or(e.Place, fmt.Sprintf("wanted[%d]", e.Number)) }

// path names a field of the entry.
func (e *entry) path(field string) string {
	if e.Place == "" {
		return e.place() + "." + field
	}
	return e.Place + ", " + field
}

// check returns the DOI, and an error if the entry contradicts itself.
func (e *entry) check() (name string, err error) {
	if name, err = parseName(e.path("DOI"), e.DOI); err != nil {
		return "", err
	}
	if err := e.parse(e.path("MetadataXML")); err != nil {
		return "", err
	}
	if e.Metadata != nil && e.Metadata.DOI != "" {
		if other, err := parseName(e.path("DOI"), e.Metadata.DOI); err != nil || !doi.Equal(other, name) {
			return "", datacite.Invalid(datacite.Finding{Path: e.path("DOI"), Code: "conflict", Reason: fmt.Sprintf("is %q, but its metadata have %q", name, e.Metadata.DOI)})
		}
	}
	switch e.State {
	case "", StateDraft, StateRegistered, StateFindable:
		return doi.Normal(name), nil
	}
	return "", datacite.Invalid(datacite.Finding{Path: e.path("State"), Code: "vocabulary", Reason: fmt.Sprintf("is %q; the states are draft, registered and findable", string(e.State))})
}

// take reads what is wanted.
func (a *audit) take(ctx context.Context, wanted iter.Seq2[Wanted, error]) error {
	for w, err := range wanted {
		if err != nil {
			return err
		}
		if err := call.Ended(ctx); err != nil {
			return err
		}
		e := entry{w, a.progress.Wanted}
		var err error
		if e.DOI, err = e.check(); err != nil {
			return err
		}
		a.metadata = a.metadata || w.Metadata != nil
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if err := a.keep(e.DOI, isWanted, data); err != nil {
			return err
		}
		a.progress.Wanted++
		a.report(a.progress.Wanted)
	}
	return nil
}

const isWanted, isFound = "w", "f"

// keep adds an entry of a DOI, with the DOI and its side before it.
func (a *audit) keep(name, side string, data []byte) error {
	return a.entries.Add([]byte(name), slices.Concat([]byte(name+"\x00"+side), data))
}

// each calls do for each DOI, in their order, with the JSON of what is wanted and of what was found. A
// DOI that is wanted twice is an error.
func (a *audit) each(do func(name string, wanted, found []byte) error) error {
	var name string
	var wanted, found []byte
	for data, err := range a.entries.Values() {
		if err != nil {
			return err
		}
		key, data, _ := bytes.Cut(data, []byte{0})
		if string(key) != name {
			if name != "" {
				if err := do(name, wanted, found); err != nil {
					return err
				}
			}
			name, wanted, found = string(key), wanted[:0], found[:0]
		}
		switch side, data := string(data[:1]), data[1:]; {
		case side == isFound: // twice, if the record moved between the pages of the list
			found = append(found[:0], data...)
		case len(wanted) > 0:
			return repeated(name, wanted, data)
		default:
			wanted = append(wanted, data...)
		}
	}
	if name == "" {
		return nil
	}
	return do(name, wanted, found)
}

func decoded[T any](data []byte) (*T, error) {
	if len(data) == 0 {
		return nil, nil
	}
	v := new(T)
	return v, json.Unmarshal(data, v)
}

func repeated(name string, earlier, later []byte) error {
	e, bad := decoded[entry](earlier)
	again, err := decoded[entry](later)
	if err = cmp.Or(bad, err); err != nil {
		return err
	}
	return datacite.Invalid(datacite.Finding{Path: again.path("DOI"), Code: "repeated", Reason: fmt.Sprintf("%q is wanted twice, also by %s", name, e.place())})
}

// list reads what the service has.
func (a *audit) list(ctx context.Context) error {
	const maxSize = 1000
	opts := &ListOptions{Prefix: a.opts.Prefix, Page: query.Page{Size: maxSize}, Affiliation: true, Publisher: true, Detail: a.metadata} // texts are compared with the XML
	if a.opts.ClientID != "" {
		opts.ClientID = []string{a.opts.ClientID}
	}
	if !a.metadata && !a.looksFor(Invalid) && a.opts.Listed == nil {
		opts.Fields = []string{"doi", "url", "state", "schemaVersion", "titles"}
	}
	walk := a.client.walk("dois.Audit", opts)
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

// judge reads a wanted DOI that seems to differ, and yields the differences.
func (a *audit) judge(ctx context.Context, name string, wanted *Wanted, found *Record) error {
	a.progress.Compared++
	a.report(a.progress.Compared)
	all := a.differences(name, wanted, found)
	if len(all) > 0 && (wanted != nil || a.opts.ReadExtra) {
		var err error
		if found, err = a.client.look(ctx, name); err != nil {
			return err
		}
		all = a.differences(name, wanted, found)
	}
	for _, d := range all {
		a.progress.Differences++
		a.report(0)
		if !a.yield(d, nil) {
			return bulk.ErrLeft
		}
	}
	return nil
}

// differences are those that the options look for, with what is wanted completed.
func (a *audit) differences(name string, wanted *Wanted, found *Record) []*Difference {
	if wanted != nil && found != nil && a.opts.Complete != nil {
		whole := *wanted
		a.opts.Complete(&whole, found)
		wanted = &whole
	}
	return differences(name, wanted, found, a.looksFor)
}

// look reads a record as it is now, nil for an unknown DOI.
func (c *Client) look(ctx context.Context, name string) (*Record, error) {
	found, err := c.get(ctx, name, &GetOptions{Detail: true}, http.StatusNotFound)
	if transport.NotFound(err) {
		return nil, nil
	}
	return found, err
}

// differences compares a DOI that is wanted with one that was found; one of them may be
// nil.
func differences(name string, w *Wanted, f *Record, looksFor func(DifferenceKind) bool) (all []*Difference) {
	add := func(d Difference) {
		if d.DOI, d.Wanted, d.Found = name, w, f; looksFor(d.Kind) {
			all = append(all, &d)
		}
	}
	switch {
	case f == nil && w != nil:
		add(Difference{Kind: Missing})
	case w == nil && f != nil:
		add(Difference{Kind: Extra})
	case w != nil:
		if changes := w.changes(f); len(changes) > 0 {
			add(Difference{Kind: Changed, Changes: changes})
		}
	}
	if f == nil {
		return all
	}
	if f.oldSchema() {
		add(Difference{Kind: OldSchema})
	}
	if f.State != StateDraft && looksFor(Invalid) {
		if invalid, ok := errors.AsType[*datacite.ValidationError](f.Validate()); ok {
			add(Difference{Kind: Invalid, Findings: invalid.Findings})
		}
	}
	return all
}

// parse reads Metadata from MetadataXML if that is all there is.
func (w *Wanted) parse(path string) (err error) {
	if w.Metadata != nil || len(w.MetadataXML) == 0 {
		return nil
	}
	if w.Metadata, err = metadata.ParseXML(bytes.NewReader(w.MetadataXML)); err != nil {
		return datacite.Invalid(datacite.Finding{Path: path, Code: "syntax", Reason: "is not a DataCite record: " + err.Error(), Err: err})
	}
	return nil
}

// changes are where a record differs from what is wanted.
func (w *Wanted) changes(f *Record) (changes []metadata.Change) {
	if w.URL != "" && w.URL != f.URL {
		changes = append(changes, metadata.Change{Path: "url", Wanted: w.URL, Found: f.URL})
	}
	if w.State != "" && w.State != f.State {
		changes = append(changes, metadata.Change{Path: "state", Wanted: string(w.State), Found: string(f.State)})
	}
	if w.ContentURL != nil && !slices.Equal(w.ContentURL, f.ContentURL) {
		changes = append(changes, metadata.Change{Path: "contentUrl", Wanted: strings.Join(w.ContentURL, " "), Found: strings.Join(f.ContentURL, " ")})
	}
	if w.Container != nil && !reflect.DeepEqual(*w.Container, f.Container) {
		changes = append(changes, metadata.Change{Path: "container", Wanted: w.Container.Title, Found: f.Container.Title})
	}
	if w.Metadata == nil {
		return changes
	}
	stored := f.Record
	if len(w.MetadataXML) > 0 {
		if inXML, err := metadata.ParseXML(bytes.NewReader(f.MetadataXML)); err == nil {
			stored = *inXML
		}
	}
	without := func(r metadata.Record) *metadata.Record { // the service does not show the URL among the names
		r.AlternateIdentifiers, r.Identifiers = slices.DeleteFunc(slices.Clone(r.Alternates()), func(id metadata.AlternateIdentifier) bool {
			return id.AlternateIdentifier == f.URL
		}), nil
		return &r
	}
	wanted := without(*w.Metadata)
	wanted.DOI = ""
	return append(changes, metadata.Diff(wanted, without(stored))...)
}

// oldSchema reports whether a record names a schema version before 4. A record that was
// written as JSON may name none.
func (r *Record) oldSchema() bool {
	version := string(r.SchemaVersion)
	version = version[strings.LastIndexByte(version, '-')+1:]
	return strings.HasPrefix(version, "2") || strings.HasPrefix(version, "3")
}
