package audit

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A row is one thing that differs.
type row struct {
	Kind    reconcile.DifferenceKind `json:"kind"`
	DOI     string                   `json:"doi"`
	Path    string                   `json:"path,omitempty"`
	Desired string                   `json:"desired,omitempty"`
	Found   string                   `json:"found,omitempty"`
	Reason  string                   `json:"reason,omitempty"`

	// Of the DOI, as it is at the service, or as it should be if it is missing.
	Title string         `json:"title,omitempty"`
	URL   string         `json:"url,omitempty"`
	State datacite.State `json:"state,omitempty"`

	Service string `json:"service"` // its host
	Result  string `json:"result,omitempty"`
	Error   string `json:"error,omitempty"`

	page bool // of a landing page
}

// rows are the parts of a difference, or the one of a DOI as a whole.
func (c *command) rows(d *reconcile.Difference, o outcome) (all []row) {
	whole := row{Kind: d.Kind, DOI: d.DOI, Service: c.service.Host, Result: o.Result, Error: o.Error}
	switch {
	case d.Found != nil:
		whole.URL, whole.State, whole.Title = d.Found.URL, d.Found.State, d.Found.Title()
	case d.Desired != nil:
		whole.URL, whole.State, whole.Title = d.Desired.URL, d.Desired.State, titleOf(d.Desired)
	}
	if d.Kind == reconcile.KindMissing && o.Result == repaired && whole.State == "" {
		whole.State = datacite.StateDraft
	}
	for _, change := range d.Changes {
		r := whole
		r.Path, r.Desired, r.Found = change.Path, change.Desired, change.Found
		all = append(all, r)
	}
	for _, f := range d.Findings {
		r := whole
		r.Path, r.Found, r.Reason = f.Path, f.Value, f.Reason
		all = append(all, r)
	}
	if all == nil {
		all = []row{whole}
	}
	return all
}

// titleOf is the title that a DOI should have.
func titleOf(d *reconcile.Desired) string {
	r := d.Metadata
	if len(d.XML) > 0 {
		r, _ = metadata.ParseXML(bytes.NewReader(d.XML)) // it was read before
	}
	return r.Title()
}

// cells are what people see.
func (r row) cells() []string {
	what := r.Reason
	switch {
	case r.page:
		what = strings.TrimSuffix(cmp.Or(r.URL, "-")+" → "+r.Found, " → ") + ": " + what
	case what != "":
		what = r.Path + ": " + what
	case r.Path != "":
		what = fmt.Sprintf("%s: %s, should be %s", r.Path, shell.Quoted(r.Found), shell.Quoted(r.Desired))
	default:
		what = fmt.Sprintf("%s %s %s", cmp.Or(r.State, "-"), cmp.Or(r.URL, "-"), shell.Quoted(r.Title))
	}
	if r.Error != "" {
		what += ": " + r.Error
	}
	return []string{string(r.Kind), r.DOI, what}
}

// table is the row of a table that other commands read.
func (r row) table() *table.Row {
	return &table.Row{
		DOI: r.DOI, URL: r.URL, State: string(r.State),
		Record: &metadata.Record{Titles: metadata.List[metadata.Title]{{Title: r.Title}}},
		Others: []string{string(r.Kind), r.Path, r.Desired, r.Found, r.Reason, r.Service, r.Result, r.Error},
	}
}

type printer = *table.Printer[row]

// printer writes differences in a format, with or without results, which are printed at once.
func (c *command) printer(format string, out io.Writer, results bool) printer {
	l := &table.Layout[row]{
		Heads: []string{"KIND", "DOI", "DIFFERENCE"}, Cells: row.cells, Whole: true,
		Columns: []string{"doi", "url", "state", "title"}, Row: row.table,
		Others: []string{"kind", "path", "desired", "found", "reason", "service"},
		Object: func(r row) any { return r },
	}
	if results {
		l.Heads, l.Widths = slices.Insert(l.Heads, 2, "RESULT"), []int{len(reconcile.KindOldSchema), 0, len(asDesired)}
		l.Cells = func(r row) []string { return slices.Insert(r.cells(), 2, r.Result) }
		l.Others = append(l.Others, "result", "error")
	}
	return l.Printer(c.Shell, format, out)
}

// print prints the rows of a difference.
func (c *command) print(out printer, d *reconcile.Difference, o outcome) error {
	for _, r := range c.rows(d, o) {
		if err := out.Print(r); err != nil {
			return err
		}
	}
	return nil
}
