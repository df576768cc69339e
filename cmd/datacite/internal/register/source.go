package register

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A source is what the command line names: a table, or files with records. It is read several
// times, row by row.
type source interface {
	name() string
	// rows are all of them, with additional findings about what a registration needs. With say,
	// notes about the whole are printed. An error ends them.
	rows(say bool) iter.Seq2[*row, error]
	// results are the columns of the table of results: those of package table, nil for all, and
	// further ones, with table.ResultColumns among them.
	results() (columns, others []string)
	layout() sheet.Layout
	mode() fs.FileMode // of the table of results
}

// A row is what is known of one DOI.
type row struct {
	*table.Row
	document  mds.Document      // metadata XML, or metadata that only the metadata store takes
	isRow     bool              // of a table, whose columns do not say everything
	isJSON    bool              // of the DOI query
	desired   reconcile.Desired // what a record of JSON says
	prefix    string            // that the record wants a name below
	sharesURL bool              // with another row, which is the one that the URL finds
}

func (r *row) fault(path, reason string) {
	r.Findings = append(r.Findings, datacite.Finding{File: r.File, Line: r.Line, Path: path, Code: datacite.CodeConflict,
		Reason: reason})
}

func (r *row) place() string { return table.Place(r.Row) }

// isForeign reports whether the metadata are in a format that only the metadata store takes.
func (r *row) isForeign() bool {
	return r.document.Data != nil && r.document.ContentType != mds.XMLType
}

// content is what the digest of a row is made of.
func (r *row) content() string {
	if r.document.Data != nil {
		return string(r.document.Data)
	}
	record := *r.Record
	record.DOI = "" // it may be made now
	data, err := json.Marshal([]any{record, r.desired.Clear, r.desired.ContentURL, r.desired.Container})
	if err != nil {
		return err.Error() // a record is always JSON
	}
	return string(data)
}

// metadata returns the metadata to show them.
func (r *row) metadata() ([]byte, error) {
	if r.document.Data != nil {
		return r.document.Data, nil
	}
	record := *r.Record
	record.DOI = "" // the request names it
	return record.XML()
}

// rows are those of a table on disk.
type rows struct {
	*command
	file string
	csv  sheet.Layout

	// named are the rows with a DOI, and searched the columns of search; both are known after prepare.
	named    map[string]string // places, by URL
	searched []string
	columns  []string // of the results
	look     table.Look
}

func (s *rows) name() string         { return s.file }
func (s *rows) layout() sheet.Layout { return s.csv }

// mode is that of the table: who may read it may read what became of it.
func (s *rows) mode() fs.FileMode {
	info, err := os.Stat(s.file)
	if err != nil {
		return private
	}
	return info.Mode().Perm()
}

const private = 0o600

// prepare reads what must be known of the whole table before its first row is judged.
func (s *rows) prepare(ctx context.Context) error {
	s.named = map[string]string{}
	others := slices.Concat(s.passOver, table.ResultColumns)
	for _, name := range table.SearchColumns {
		if !slices.ContainsFunc(s.passOver, func(own string) bool { return strings.EqualFold(own, name) }) {
			s.searched = append(s.searched, name)
		}
	}
	r, file, err := table.Open(s.file, &table.Options{Others: slices.Concat(others, s.searched)})
	if err != nil {
		return err
	}
	defer file.Close()
	s.columns, s.passOver = r.Columns(), append(s.passOver, r.Own()...)
	table.SayOwn(s.Shell, s.file, r)
	s.searched = slices.DeleteFunc(s.searched, func(name string) bool { return !r.Has(name) })
	for row, err := range r.All() {
		if err != nil {
			return nil // rows tells it with the faults before it
		}
		s.look.At(ctx, row)
		if row.DOI != "" && row.URL != "" {
			s.named[strings.Clone(row.URL)] = table.Place(row)
		}
	}
	return nil
}

func (s *rows) results() (columns, others []string) {
	return s.columns, slices.Concat(s.searched, table.ResultColumns, s.passOver)
}

func (s *rows) rows(say bool) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		_, others := s.results()
		r, file, err := table.Open(s.file, &table.Options{Others: others})
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		s.csv = r.Layout()
		if say {
			table.SaySheets(s.Shell, s.file, r)
		}
		if !r.HasRecords() || !r.Has("url") {
			hint := ""
			if r.Has("doi") {
				hint = ". To change the URLs or states of DOIs that exist, use datacite audit --only url,state --fix"
			}
			yield(nil, fmt.Errorf("%s: the columns url, title, creators, publisher, year and type are required; datacite help "+
				"tables describes them%s", filepath.Base(s.file), hint))
			return
		}
		c := checks{dois: map[string]string{}, urls: map[string]string{}, named: s.named}
		for one, err := range r.All() {
			r := &row{Row: one, isRow: true}
			if err == nil {
				s.look.Again(one)
				c.row(r)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// checks are about all rows. They keep the place of each name and of each address.
type checks struct {
	dois  map[string]string
	urls  map[string]string // of rows without a DOI
	named map[string]string // URLs of rows with a DOI
}

func (c *checks) row(r *row) {
	unread := slices.ContainsFunc(r.Findings, func(f datacite.Finding) bool { return f.Path == "url" || f.Path == "doi" })
	switch {
	case r.URL != "" || unread:
	case r.State != string(datacite.StateDraft):
		reason := "is missing; it is where the DOI leads to"
		if !r.isRow {
			reason += ": give --url"
		}
		r.fault("url", reason)
	case r.DOI == "":
		r.fault("doi", "is missing; a draft without a URL needs its DOI")
	}
	if u, err := url.Parse(r.URL); r.URL != "" && (err != nil || u.Host == "" ||
		u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp") {
		r.fault("url", fmt.Sprintf("%q does not begin with http://, https:// or ftp://", r.URL))
	}
	if r.DOI != "" {
		if err := doi.CheckNew(r.DOI); err != nil {
			r.fault("doi", shell.Message(err))
		}
		key := strings.Clone(doi.Key(r.DOI)) // a cell would hold its whole row
		if place, ok := c.dois[key]; ok {
			r.fault("doi", r.DOI+" is the DOI of "+place+", too")
		}
		c.dois[key] = r.place()
	}
	// The address tells which row a name was made for.
	switch {
	case r.URL == "":
		return
	case r.DOI != "":
		if place, shared := c.urls[r.URL]; shared {
			r.fault("url", "is that of "+place+", too; rows with the same URL need a DOI each")
		}
		c.named[strings.Clone(r.URL)] = r.place()
		return
	}
	place, shared := c.named[r.URL]
	if !shared {
		place, shared = c.urls[r.URL]
	}
	if shared {
		r.sharesURL = true
		r.fault("url", "is that of "+place+", too; rows with the same URL need a DOI each")
		return
	}
	c.urls[strings.Clone(r.URL)] = r.place()
}
