package register

import (
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/tables"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata/table"
)

// A source is what the command line names: a table, or files with records. It is read several
// times, row by row.
type source interface {
	name() string
	// rows are all of them, with additional findings about what a registration needs. With say,
	// notes about the whole are printed. An error ends them.
	rows(say bool) iter.Seq2[*row, error]
	// results are the columns of the table of results: those of package table, nil for all, and
	// further ones, of which the last are tables.ResultColumns.
	results() (columns, others []string)
	separator() rune
}

// A row is what is known of one DOI.
type row struct {
	*table.Row
	document   mds.Document // the metadata as they are sent; those of a table are made when they are needed
	isRow      bool         // of a table, whose columns do not say everything
	isJSON     bool         // of the DOI query
	contentURL []string
	container  *dois.Container
}

func (r *row) fault(path, reason string) {
	r.Findings = append(r.Findings, datacite.Finding{File: r.File, Line: r.Line, Path: path, Code: "conflict", Reason: reason})
}

func (r *row) place() string { return tables.Place(r.Row) }

// metadata returns the metadata as they are sent. The row has no faults.
func (r *row) metadata() mds.Document {
	if r.document.Data == nil {
		record := *r.Record
		record.DOI = "" // the request names it
		r.document, _ = mds.NewDocument(&record)
	}
	return r.document
}

// rows are those of a table on disk.
type rows struct {
	*command
	file  string
	comma rune
}

func (s *rows) name() string    { return s.file }
func (s *rows) separator() rune { return s.comma }

func (s *rows) results() (columns, others []string) {
	return nil, slices.Concat(s.passOver, tables.ResultColumns)
}

func (s *rows) rows(say bool) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		_, others := s.results()
		r, file, err := tables.Open(s.file, &table.Options{Others: others})
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		s.comma = r.Separator()
		if say {
			tables.SaySheets(s.Shell, s.file, r)
		}
		if !r.HasRecords() || !r.Has("url") {
			yield(nil, fmt.Errorf("%s: the columns url, title, creators, publisher, year and type are required; datacite help tables describes them", filepath.Base(s.file)))
			return
		}
		c := checks{dois: map[string]string{}, urls: map[string]owner{}}
		for one, err := range r.All() {
			r := &row{Row: one, isRow: true}
			if err == nil {
				c.row(r)
			}
			if !yield(r, err) || err != nil {
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

func (c *checks) row(r *row) {
	unread := slices.ContainsFunc(r.Findings, func(f datacite.Finding) bool { return f.Path == "url" || f.Path == "doi" })
	switch {
	case r.URL != "" || unread:
	case r.State != string(dois.StateDraft):
		reason := "is missing; it is where the DOI leads to"
		if !r.isRow {
			reason += ": give --url"
		}
		r.fault("url", reason)
	case r.DOI == "":
		r.fault("doi", "is missing; a draft without a URL needs its DOI")
	}
	if u, err := url.Parse(r.URL); r.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp") {
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
	if other, ok := c.urls[r.URL]; ok && r.URL != "" && !(other.named && r.DOI != "") {
		r.fault("url", "is that of "+other.place+", too; rows with the same URL need a DOI each")
	}
	c.urls[strings.Clone(r.URL)] = owner{r.place(), r.DOI != ""}
}
