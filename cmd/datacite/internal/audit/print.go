package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// A row is one thing that differs.
type row struct {
	Kind   dois.DifferenceKind `json:"kind"`
	DOI    string              `json:"doi"`
	Path   string              `json:"path,omitempty"`
	Wanted string              `json:"wanted,omitempty"`
	Found  string              `json:"found,omitempty"`
	Reason string              `json:"reason,omitempty"`

	// Of the DOI, as it is at the service, or as it should be if it is missing.
	Title string     `json:"title,omitempty"`
	URL   string     `json:"url,omitempty"`
	State dois.State `json:"state,omitempty"`

	Service string `json:"service"` // its host
	Result  string `json:"result,omitempty"`
	Error   string `json:"error,omitempty"`
}

// rows are the parts of a difference, or the one of a DOI as a whole.
func (c *command) rows(d *dois.Difference, o outcome) (all []row) {
	whole := row{Kind: d.Kind, DOI: d.DOI, Service: c.service.Host, Result: o.Result, Error: o.Error}
	switch {
	case d.Found != nil:
		whole.URL, whole.State, whole.Title = d.Found.URL, d.Found.State, d.Found.Title()
	case d.Wanted != nil:
		whole.URL, whole.State, whole.Title = d.Wanted.URL, d.Wanted.State, d.Wanted.Metadata.Title()
	}
	if d.Kind == dois.Missing && o.Result == repaired && whole.State == "" {
		whole.State = dois.StateDraft
	}
	for _, change := range d.Changes {
		r := whole
		r.Path, r.Wanted, r.Found = change.Path, change.Wanted, change.Found
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

// A printer writes differences in one format.
type printer interface {
	print(rows []row) error
	end() error // after the last one
}

// formats make printers, with or without results.
var formats = map[string]func(c *command, out io.Writer, results bool) printer{
	shell.FormatTable: func(c *command, out io.Writer, results bool) printer { return newScreen(c, out, results) },
	shell.FormatCSV:   func(c *command, out io.Writer, results bool) printer { return newSheet(c, out, results, false) },
	shell.FormatXLSX:  func(c *command, out io.Writer, results bool) printer { return newSheet(c, out, results, true) },
	shell.FormatJSON:  func(_ *command, out io.Writer, _ bool) printer { return lines{shell.Tamed(out)} },
}

// A screen is for people. Results are printed at once, since they report a write.
type screen struct {
	table   *shell.Table
	results bool
	rows    *int
}

func newScreen(c *command, out io.Writer, results bool) printer {
	names := []string{"KIND", "DOI", "DIFFERENCE"}
	if results {
		names = slices.Insert(names, 2, "RESULT")
	}
	t := c.Table(out, names...)
	t.Whole = true
	if results { // they are printed one by one
		t.Widen(len(dois.OldSchema), 0, len(asWanted))
	}
	return screen{t, results, new(int)}
}

func (s screen) print(rows []row) error {
	for _, r := range rows {
		*s.rows++
		what := r.Reason
		switch {
		case what != "":
			what = r.Path + ": " + what
		case r.Path != "":
			what = fmt.Sprintf("%s: %s, should be %s", r.Path, quoted(r.Found), quoted(r.Wanted))
		default:
			what = fmt.Sprintf("%s %s %s", cmp.Or(r.State, "-"), cmp.Or(r.URL, "-"), quoted(r.Title))
		}
		if r.Error != "" {
			what += ": " + r.Error
		}
		cells := []string{string(r.Kind), r.DOI, what}
		if s.results {
			cells = slices.Insert(cells, 2, r.Result)
		}
		if err := s.table.Row(cells...); err != nil {
			return err
		}
	}
	if s.results {
		return s.table.Flush()
	}
	return nil
}

// end prints no head without rows.
func (s screen) end() error {
	if *s.rows == 0 {
		return nil
	}
	return s.table.Flush()
}

// quoted is a text, cut.
func quoted(text string) string {
	if text == "" {
		return "nothing"
	}
	return fmt.Sprintf("%.60q", text)
}

// A sheet is CSV or .xlsx with a head. Results are written at once, since they report a write.
type sheet struct {
	shell   *shell.Shell
	w       *table.Writer
	results bool
	atOnce  bool
}

func newSheet(c *command, out io.Writer, results, spreadsheet bool) printer {
	others := []string{"kind", "path", "wanted", "found", "reason", "service"}
	if results {
		others = append(others, "result", "error")
	}
	w := table.NewWriter(shell.Tamed(out), &table.WriterOptions{Columns: []string{"doi", "url", "state", "title"}, Others: others, Spreadsheet: spreadsheet})
	return sheet{c.Shell, w, results, results && !spreadsheet}
}

func (s sheet) print(rows []row) error {
	for _, r := range rows {
		cells := []string{string(r.Kind), r.Path, r.Wanted, r.Found, r.Reason, r.Service}
		if s.results {
			cells = append(cells, r.Result, r.Error)
		}
		record := &metadata.Record{Titles: metadata.List[metadata.Title]{{Title: r.Title}}}
		if _, err := s.w.Write(&table.Row{DOI: r.DOI, URL: r.URL, State: string(r.State), Record: record, Others: cells}); err != nil {
			return err
		}
	}
	if s.atOnce {
		return s.w.Flush()
	}
	return nil
}

func (s sheet) end() error { return table.End(s.shell, s.w) }

// lines are JSON objects, one a line.
type lines struct{ out io.Writer }

func (l lines) print(rows []row) error {
	to := json.NewEncoder(l.out)
	to.SetEscapeHTML(false)
	for _, r := range rows {
		if err := to.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func (lines) end() error { return nil }
