package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// The commands.
var commandWays = []way{
	{"register TABLE", "register", inTable,
		func(t *testing.T, c *oneChange, _ forms) string { return c.run(t, "register", c.table(t)) }},
	{"register JSON, a part", "register", nil,
		func(t *testing.T, c *oneChange, f forms) string { return c.run(t, "register", c.line(t, f, false)) }},
	{"register JSON, all of it", "register", nil,
		func(t *testing.T, c *oneChange, f forms) string { return c.run(t, "register", c.line(t, f, true)) }},
	{"register XML", "register", inXML, func(t *testing.T, c *oneChange, f forms) string {
		return c.run(t, "register", c.xmlFile(t, f), "--url", "https://example.org/1")
	}},
	{"audit --fix TABLE", "audit", inTable,
		func(t *testing.T, c *oneChange, _ forms) string { return c.run(t, "audit", c.table(t), fix...) }},
	{"audit --fix lines, parts", "audit", nil, func(t *testing.T, c *oneChange, f forms) string {
		return c.run(t, "audit", c.line(t, f, false), fix...)
	}},
	{"audit --fix lines", "audit", nil,
		func(t *testing.T, c *oneChange, f forms) string { return c.run(t, "audit", c.line(t, f, true), fix...) }},
	{"audit --fix FOLDER", "audit", inXML, func(t *testing.T, c *oneChange, f forms) string {
		return c.run(t, "audit", filepath.Dir(c.xmlFile(t, f)), fix...)
	}},
}

// The functions of the library.
var goWays = []way{
	{"Get, Draft, Update", "dois.Update", nil, func(t *testing.T, c *oneChange, f forms) string {
		return c.update(t, f)
	}},
	{"Ensure of a part", "reconcile.Ensure", nil,
		func(t *testing.T, c *oneChange, f forms) string { return ensure(t, c, c.part(t, f), nil) }},
	{"Ensure of all", "reconcile.Ensure", nil,
		func(t *testing.T, c *oneChange, f forms) string { return ensure(t, c, c.whole(t, f), nil) }},
	{"Ensure of XML", "reconcile.Ensure", inXML, func(t *testing.T, c *oneChange, f forms) string {
		return ensure(t, c, reconcile.Desired{DOI: c.doi, XML: []byte(c.p.replaced(t, f.xml, c.saidInXML(t, f.xml)))}, nil)
	}},
	{"Ensure with Adapt", "reconcile.Ensure", nil, func(t *testing.T, c *oneChange, f forms) string {
		d, adapt := c.adapting(t, f)
		return ensure(t, c, d, &reconcile.Options{Adapt: adapt})
	}},
	{"Audit and EnsureAll", "reconcile.EnsureAll", nil,
		func(t *testing.T, c *oneChange, f forms) string { return c.audit(t, c.part(t, f), nil) }},
	{"Audit and EnsureAll with Adapt", "reconcile.EnsureAll", nil, func(t *testing.T, c *oneChange, f forms) string {
		d, adapt := c.adapting(t, f)
		return c.audit(t, d, adapt)
	}},
}

// update writes the record as it was read, with the changed property.
func (c *oneChange) update(t *testing.T, stored forms) string {
	t.Helper()
	r, err := c.DOIs().Get(t.Context(), c.doi, &dois.GetOptions{Detail: true})
	require.NoError(t, err)
	draft, err := r.Draft()
	if err != nil {
		return refused(err)
	}
	d := c.part(t, stored)
	switch {
	case d.Metadata != nil:
		member, _, _ := strings.Cut(inWords(map[string]any{c.p.member: c.saidInJSON(t, stored.attributes)}), "\n")
		require.NoError(t, json.Unmarshal([]byte(member), &draft.Record))
	case d.Clear != nil:
		c.p.empty(t, &draft.Record)
		draft.Clear = d.Clear
	case d.URL != "":
		draft.URL = d.URL
	case d.Container != nil && d.Container.Title != "":
		draft.Container = d.Container
	case d.Container != nil:
		draft.Container, draft.Clear = nil, []string{"container"}
	default:
		draft.ContentURL = d.ContentURL
	}
	_, err = c.DOIs().Update(t.Context(), c.doi, draft)
	return refused(err)
}

// empty leaves nothing of the property in a record.
func (p property) empty(t *testing.T, r *metadata.Record) {
	t.Helper()
	nothing := map[bool]string{true: `""`, false: "null"}[p.single]
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{%q:%s}`, p.member, nothing), r))
}

// inXML: a document of a record of JSON is refused where it would lose something.
func inXML(c *oneChange) bool { return c.p.element != "" }

// inTable says whether a table has a column for the property; an empty cell says nothing. What it
// has of a list is the whole list, and not all that is stored is accepted in a cell.
func inTable(c *oneChange) bool {
	isText := slices.Contains([]string{"title", "description"}, c.p.column)
	return c.p.column != "" && c.kind != removed && !(isText && c.kind == grown)
}

// run runs a command, and returns what it said if it failed.
func (c *oneChange) run(t *testing.T, command, source string, flags ...string) string {
	t.Helper()
	wrote := shelltest.Writes(c.Server)
	code, out, notes := plainly(c.Server).Do(t, maker(command), append([]string{command, source}, flags...)...)
	if code == 0 {
		return ""
	}
	if shelltest.Writes(c.Server) > wrote {
		return "although it wrote: " + out + notes
	}
	return out + notes
}

func (c *oneChange) file(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(c.folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// table is that of search, with another cell.
func (c *oneChange) table(t *testing.T) string {
	t.Helper()
	file := filepath.Join(c.folder, "items.csv")
	code, _, notes := plainly(c.Server).Do(t, maker("search"), "search", "--prefix", "10.5072", "--output", file)
	require.Zero(t, code, notes)
	rows := readCSV(t, file)
	i := slices.Index(rows[0], c.p.column)
	require.GreaterOrEqual(t, i, 0, c.p.column)
	if rows[1][i] != "" && c.kind == grown {
		rows[1][i] += "; " + c.p.cell
	} else {
		rows[1][i] = c.p.cell
	}
	writeCSV(t, file, rows)
	return file
}

// line is a file with the record as the service shows it, or with the changed member alone.
func (c *oneChange) line(t *testing.T, stored forms, whole bool) string {
	t.Helper()
	said := map[string]any{}
	if whole {
		maps.Copy(said, stored.attributes)
		delete(said, "xml")
		delete(said, "identifiers")
	}
	said["doi"], said[c.p.member] = c.doi, c.saidInJSON(t, stored.attributes)
	line, err := json.Marshal(said)
	require.NoError(t, err)
	return c.file(t, "records.jsonl", string(line)+"\n")
}

func (c *oneChange) xmlFile(t *testing.T, stored forms) string {
	t.Helper()
	return c.file(t, "xml/one.xml", c.p.replaced(t, stored.xml, c.saidInXML(t, stored.xml)))
}

// part is the changed property as what is desired.
func (c *oneChange) part(t *testing.T, stored forms) reconcile.Desired {
	t.Helper()
	d := reconcile.Desired{DOI: c.doi}
	said := c.saidInJSON(t, stored.attributes)
	into := map[string]any{"contentUrl": &d.ContentURL, "container": &d.Container, "url": &d.URL}[c.p.member]
	switch {
	case c.p.member == "container" && said == nil:
		d.Container = &dois.Container{}
	case into == nil && said == nil:
		d.Clear = []string{c.p.member}
	case into == nil:
		d.Metadata, into = &metadata.Record{}, &d.Metadata
		said = map[string]any{c.p.member: said}
		fallthrough
	default:
		require.NoError(t, json.Unmarshal([]byte(inWords(said)), into))
	}
	return d
}

// one is a sequence of one.
func one(d reconcile.Desired) iter.Seq2[reconcile.Desired, error] {
	return func(yield func(reconcile.Desired, error) bool) { yield(d, nil) }
}

func refused(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func ensure(t *testing.T, c *oneChange, d reconcile.Desired, opts *reconcile.Options) string {
	t.Helper()
	_, err := c.Reconcile().Ensure(t.Context(), d, opts)
	return refused(err)
}

// adapting says by a callback what is to be changed.
func (c *oneChange) adapting(t *testing.T, stored forms) (reconcile.Desired, reconcile.Adapter) {
	part := c.part(t, stored)
	return reconcile.Desired{DOI: c.doi}, func(d *reconcile.Desired, _ *dois.Record) error {
		d.URL, d.Metadata, d.Clear, d.ContentURL, d.Container = part.URL, part.Metadata, part.Clear, part.ContentURL, part.Container
		return nil
	}
}

func (c *oneChange) audit(t *testing.T, d reconcile.Desired, adapt reconcile.Adapter) string {
	t.Helper()
	found := reconcile.Corrections(c.Reconcile().Audit(t.Context(), one(d),
		&reconcile.AuditOptions{Prefix: []string{"10.5072"}, Adapt: adapt}))
	for done, err := range c.Reconcile().EnsureAll(t.Context(), found, &reconcile.Options{Rounds: 1, Adapt: adapt}) {
		require.NoError(t, err)
		return refused(done.Err)
	}
	return "nothing was found"
}

// whole is the record as it was read, with the changed property.
func (c *oneChange) whole(t *testing.T, stored forms) reconcile.Desired {
	t.Helper()
	r, err := c.DOIs().Get(t.Context(), c.doi, &dois.GetOptions{Detail: true})
	require.NoError(t, err)
	d := c.part(t, stored)
	if d.Metadata != nil {
		member, _, _ := strings.Cut(inWords(map[string]any{c.p.member: c.saidInJSON(t, stored.attributes)}), "\n")
		require.NoError(t, json.Unmarshal([]byte(member), &r.Record))
	}
	if d.Clear != nil {
		c.p.empty(t, &r.Record)
	}
	d.Metadata, d.Whole = &r.Record, true
	return d
}

// noWay are functions and commands that are no way to change a property: mds.Register sends what it is
// given, on one road.
var noWay = strings.Fields(`dois.All dois.Citation dois.Create dois.Delete dois.ChangeState dois.Do dois.Exists dois.Get dois.List dois.Open dois.Pages dois.Transfer dois.Walk
	mds.CheckAccess mds.DeleteDraft mds.Do mds.Hide mds.Metadata mds.Mint mds.PutMetadata mds.PutURL mds.Register mds.Show mds.State mds.URL
	reconcile.Audit get search harvest transfer upgrade hide show delete count send check repair sandbox login config version`)

// A new function of the clients, or a new command, has a row among the ways, or is none.
func TestEachWayHasItsRow(t *testing.T) {
	var covered []string
	for _, w := range slices.Concat(waysOfChange, commandWays, goWays) {
		covered = append(covered, w.of)
	}
	for name, client := range map[string]reflect.Type{"dois": reflect.TypeFor[*dois.Client](),
		"mds": reflect.TypeFor[*mds.Client](), "reconcile": reflect.TypeFor[*reconcile.Client]()} {
		for method := range client.Methods() {
			of := name + "." + method.Name
			assert.True(t, slices.Contains(covered, of) != slices.Contains(noWay, of),
				"%s needs a row in waysOfChange, or stands in noWay", of)
		}
	}
	for _, cmd := range leaves() {
		assert.True(t, slices.Contains(covered, cmd.Name()) != slices.Contains(noWay, cmd.Name()),
			"%s needs a row in waysOfChange, or stands in noWay", cmd.Name())
	}
}
