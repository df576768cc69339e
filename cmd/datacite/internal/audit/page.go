package main

import (
	_ "embed"
	"html/template"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/program"
)

// A page is what an audit found, for people. It holds the first differences of each kind.
type page struct {
	Scope    string
	Source   string
	At       time.Time
	Complete bool // everything was looked for
	Fixed    bool // repairs were made
	Broken   bool // and did not come to their end
	Progress dois.AuditProgress

	Repaired, Failed, Left int // DOIs

	sections map[dois.DifferenceKind]*section
	last     string // DOI and result that were counted last
}

// A section is one kind of difference.
type section struct {
	Kind  dois.DifferenceKind
	Count int
	Items []item
}

// An item is a DOI with a difference.
type item struct {
	Rows []row // one at least
}

// Last is the number of the last row.
func (i item) Last() int { return len(i.Rows) - 1 }

// mostItems is how many of each kind a page shows.
const mostItems = 500

func newPage(s *settings, at time.Time) *page {
	scope := strings.Join(strings.FieldsFunc(s.audit.ClientID+" "+strings.Join(s.audit.Prefix, " "), func(r rune) bool { return r == ' ' }), ", ")
	return &page{Scope: scope, Source: filepath.Base(s.source), At: at, Complete: len(s.only) == len(choices), sections: map[dois.DifferenceKind]*section{}}
}

func (p *page) add(d *dois.Difference, o outcome) {
	s := p.sections[d.Kind]
	if s == nil {
		s = &section{Kind: d.Kind}
		p.sections[d.Kind] = s
	}
	if s.Count++; s.Count <= mostItems {
		s.Items = append(s.Items, item{readable(rows(d, o))})
	}
	if now := d.DOI + " " + o.Result; now != p.last {
		p.last = now
		switch o.Result {
		case repaired:
			p.Repaired++
		case failed:
			p.Failed++
		case left:
			p.Left++
		}
	}
}

// Done reports whether a repair has a result.
func (p *page) Done() bool { return p.Repaired+p.Failed+p.Left > 0 }

// rest is what was not repaired, in words.
func (p *page) rest() string {
	return program.Number(p.Failed) + " failed, " + program.Number(p.Left) + " left"
}

// Sections are those there are, with what is to be done first.
func (p *page) Sections() (all []*section) {
	for _, kind := range []dois.DifferenceKind{dois.Missing, dois.Changed, dois.Invalid, dois.OldSchema, dois.Extra} {
		if s := p.sections[kind]; s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Count is how many differences there are.
func (p *page) Count() (n int) {
	for _, s := range p.sections {
		n += s.Count
	}
	return n
}

// Since is from when on changes may be missing.
func (p *page) Since() time.Time { return p.At.Add(-lag) }

// headings are for people: of the section, on a card, and what it has.
var headings = map[dois.DifferenceKind][3]string{
	dois.Missing:   {"Missing", "missing", "in the source, and not at the service"},
	dois.Changed:   {"Different", "different", "at the service with other content than in the source"},
	dois.Invalid:   {"Invalid", "invalid", "with metadata that the service would refuse today"},
	dois.OldSchema: {"Old schema", "of an old schema", "with metadata of a version before 4, which the service no longer accepts"},
	dois.Extra:     {"Extra", "extra", "at the service, and not in the source. Add them to the source, or hide or delete them yourself"},
}

// Heading, Short and Explanation are the words for its kind.
func (s *section) Heading() string     { return headings[s.Kind][0] }
func (s *section) Short() string       { return headings[s.Kind][1] }
func (s *section) Explanation() string { return headings[s.Kind][2] }

// Sides reports whether rows have what should be and what is.
func (s *section) Sides() bool { return s.Kind == dois.Changed }

// Faults reports whether rows have reasons.
func (s *section) Faults() bool { return s.Kind == dois.Invalid }

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":   program.Style,
	"count":   program.Number[int],
	"address": doi.Address,
	"part":    part,
	"most":    func() int { return mostItems },
}).Parse(pageText))

// parts are the names that people have for properties.
var parts = map[string]string{
	"url": "URL", "titles": "title", "creators": "creator", "contributors": "contributor", "subjects": "subject", "dates": "date",
	"descriptions": "description", "publicationYear": "year", "types": "type", "rightsList": "rights",
	"relatedIdentifiers": "related identifier", "alternateIdentifiers": "alternate identifier", "fundingReferences": "funding",
	"geoLocations": "place", "sizes": "size", "formats": "format",
}

// part is a path in words: creators[1].name is the name of creator 2.
func part(path string) string {
	head, rest, _ := strings.Cut(path, ".")
	name, index, isItem := strings.Cut(head, "[")
	words := name
	if known := parts[name]; known != "" {
		words = known
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); isItem && err == nil && (n > 0 || name == "creators" || name == "contributors") {
		words += " " + strconv.Itoa(n+1)
	}
	switch rest {
	case "", "title", "description", "subject", "rights", "resourceTypeGeneral", "relatedIdentifier", "date", "name":
		return words
	}
	return words + ", " + rest
}
