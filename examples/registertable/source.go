package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	names "github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/metadata/table"
)

// resultColumns are the columns of a result table in addition to those of package table.
var resultColumns = []string{"result", "error", "registered"}

// Places in Row.Others.
const (
	columnResult = iota
	columnError
	columnRegistered
)

// A source is a table of items on disk. It is read several times, row by row.
type source struct {
	file      string
	separator rune
	note      func(text string) // about the table as a whole
}

// open returns a reader of the table, and its file.
func (s *source) open() (*table.Reader, io.Closer, error) {
	file, err := os.Open(s.file)
	if err != nil {
		return nil, nil, err
	}
	r, err := table.NewReader(filepath.Base(s.file), file, &table.Options{Others: resultColumns})
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return r, file, nil
}

// rows returns the rows, with additional findings about what a registration needs. An error
// ends them.
func (s *source) rows() iter.Seq2[*table.Row, error] {
	return func(yield func(*table.Row, error) bool) {
		r, file, err := s.open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		s.separator = r.Separator()
		if sheets := r.Sheets(); len(sheets) > 1 && s.note != nil {
			s.note(fmt.Sprintf("%s: only the sheet %q is read; %s ignored", filepath.Base(s.file), sheets[0], program.Count(len(sheets)-1, "other")))
		}
		if !r.HasRecords() || !r.Has("url") {
			yield(nil, fmt.Errorf("%s: the columns url, title, creators, publisher, year and type are required; -columns describes them", filepath.Base(s.file)))
			return
		}
		c := checks{dois: map[string]string{}, urls: map[string]owner{}}
		for row, err := range r.All() {
			if err == nil {
				c.row(row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// checks are about all rows. They keep the name and the address of each.
type checks struct {
	dois map[string]string // places
	urls map[string]owner
}

type owner struct {
	place string
	named bool // the row has a DOI
}

func (c *checks) row(row *table.Row) {
	fault := func(column, reason string) {
		row.Findings = append(row.Findings, datacite.Finding{File: row.File, Line: row.Line, Path: column, Code: "conflict", Reason: reason})
	}
	if row.URL == "" {
		fault("url", "the address that the DOI leads to is missing")
	}
	if row.State != "" && row.State != "findable" {
		fault("state", "it is "+row.State+", and only findable or an empty cell registers the row; audit -fix makes drafts and registered DOIs")
	}
	if row.DOI != "" {
		if err := errors.Join(names.CheckNew(row.DOI), names.Store.CheckWritable(row.DOI)); err != nil {
			fault("doi", oneLine(err))
		}
		if place, ok := c.dois[doi.Key(row.DOI)]; ok {
			fault("doi", row.DOI+" is that of "+place+", too")
		}
		c.dois[doi.Key(row.DOI)] = place(row)
	}
	// The address tells which row a name was made for.
	if other, ok := c.urls[row.URL]; ok && row.URL != "" && !(other.named && row.DOI != "") {
		fault("url", "it is that of "+other.place+", too; rows with the same address need a DOI each")
	}
	c.urls[row.URL] = owner{place(row), row.DOI != ""}
}

func place(row *table.Row) string { return fmt.Sprintf("%s, line %d", row.File, row.Line) }
