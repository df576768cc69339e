package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/internal/sheet"
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

	Result string `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// rows are the parts of a difference, or the one of a DOI as a whole.
func rows(d *dois.Difference, o outcome) (all []row) {
	whole := row{Kind: d.Kind, DOI: d.DOI, Result: o.Result, Error: o.Error}
	switch {
	case d.Found != nil:
		whole.URL, whole.State, whole.Title = d.Found.URL, d.Found.State, d.Found.Title()
	case d.Wanted != nil:
		whole.URL, whole.State, whole.Title = d.Wanted.URL, d.Wanted.State, d.Wanted.Metadata.Title()
	}
	if d.Kind == dois.Missing && o.Result == repaired && whole.State == "" {
		whole.State = dois.StateDraft
	}
	for _, c := range d.Changes {
		r := whole
		r.Path, r.Wanted, r.Found = c.Path, c.Wanted, c.Found
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

// unescape undoes what the service does to &, < and > in the metadata that it sends.
var unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace

// readable are rows with their texts as people write them. Texts that differ stay
// different.
func readable(rows []row) []row {
	rows = slices.Clone(rows)
	for i := range rows {
		r := &rows[i]
		r.Title = unescape(r.Title)
		wanted, found := unescape(r.Wanted), unescape(r.Found)
		if r.Path != "url" && wanted != found {
			r.Wanted, r.Found = wanted, found
		}
	}
	return rows
}

// A printer writes differences in one format.
type printer interface {
	print(rows []row) error
	end() error // after the last one
}

// formats make printers, with or without results.
var formats = map[string]func(out io.Writer, results bool) printer{
	"table": func(out io.Writer, _ bool) printer { return list{out} },
	"csv":   newCSV,
	"jsonl": func(out io.Writer, _ bool) printer { return lines{json.NewEncoder(out)} },
}

// A list is for people.
type list struct{ out io.Writer }

func (l list) print(rows []row) error {
	for _, r := range readable(rows) {
		what := r.Reason
		switch {
		case what != "":
			what = r.Path + ": " + what
		case r.Path != "":
			what = fmt.Sprintf("%s: %s, should be %s", r.Path, quoted(r.Found), quoted(r.Wanted))
		default:
			what = fmt.Sprintf("%-10s %s  %s", cmp.Or(r.State, "-"), cmp.Or(r.URL, "-"), quoted(r.Title))
		}
		if r.Result != "" {
			what = fmt.Sprintf("%-9s  %s", r.Result, what)
		}
		if r.Error != "" {
			what += ": " + r.Error
		}
		if _, err := fmt.Fprintf(l.out, "%-10s %-32s %s\n", r.Kind, program.Clean(r.DOI), program.Clean(what)); err != nil {
			return err
		}
	}
	return nil
}

// quoted is a text, cut.
func quoted(text string) string {
	if text == "" {
		return "nothing"
	}
	return fmt.Sprintf("%.60q", text)
}

func (list) end() error { return nil }

// A csvTable is CSV with a head. Each difference is written at once, since it may tell of a
// write.
type csvTable struct {
	w       *sheet.CSVWriter
	results bool
}

func newCSV(out io.Writer, results bool) printer {
	s := csvTable{sheet.NewCSVWriter(out), results}
	names := []string{"kind", "doi", "path", "wanted", "found", "reason", "title", "url", "state"}
	if results {
		names = append(names, "result", "error")
	}
	_ = s.w.Write(names) // end tells
	return s
}

func (s csvTable) print(rows []row) error {
	for _, r := range rows {
		cells := []string{string(r.Kind), r.DOI, r.Path, r.Wanted, r.Found, r.Reason, r.Title, r.URL, string(r.State)}
		if s.results {
			cells = append(cells, r.Result, r.Error)
		}
		if err := s.w.Write(cells); err != nil {
			return err
		}
	}
	return s.end()
}

func (s csvTable) end() error {
	s.w.Flush()
	return s.w.Error()
}

func (s csvTable) Defused() int { return s.w.Defused }

// lines are JSON objects, one a line.
type lines struct{ to *json.Encoder }

func (l lines) print(rows []row) error {
	for _, r := range rows {
		if err := l.to.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func (l lines) end() error { return nil }
