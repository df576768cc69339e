package audit

import (
	_ "embed"
	"html/template"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/landing"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A page is what an audit found, for people. It holds the first differences of each kind.
type page struct {
	Scope    string
	Source   string
	Service  string
	Resolver string // base URL, "" if it is not known
	At       time.Time
	Complete bool // everything was looked for
	Fixed    bool // repairs were made
	Broken   bool // and did not come to their end

	Anonymous bool // without a login

	Progress reconcile.AuditProgress
	Coverage *coverage
	Pages    *pages // nil if they were not asked

	Repaired, Failed, Left int // DOIs
	Absent                 int // DOIs that do not exist, where missing ones are left out

	wrong    int // DOIs of the source that differ, or that a repair has left so
	sections map[reconcile.DifferenceKind]*section
	last     map[bool]string // DOI and result that were counted last, of those that can be repaired and of the others
	rows     func(*reconcile.Difference, outcome) []row
}

// A section is one kind of difference.
type section struct {
	Kind  reconcile.DifferenceKind
	Count int
	Items []item
}

// An item is a DOI with a difference.
type item struct {
	Rows []row // one at least
}

// mostItems is how many of each kind a page shows.
const mostItems = 500

func (c *command) newPage() *page {
	scope := strings.Join(slices.Concat(c.opts.ClientID, c.opts.Prefix), ", ")
	return &page{
		Scope: scope, Source: filepath.Base(c.source), Service: c.service.String(), Resolver: c.service.Resolver(),
		At:        c.began,
		Anonymous: c.service.Config.Password == "", Complete: len(c.only) == len(choices), sections: map[reconcile.DifferenceKind]*section{}, last: map[bool]string{}, rows: c.rows,
	}
}

func (p *page) add(d *reconcile.Difference, o outcome) {
	s := p.sections[d.Kind]
	if s == nil {
		s = &section{Kind: d.Kind}
		p.sections[d.Kind] = s
	}
	if s.Count++; s.Count <= mostItems {
		s.Items = append(s.Items, item{p.rows(d, o)})
	}
	if now := d.DOI + " " + o.Result; now != p.last[repairable(d)] {
		p.last[repairable(d)] = now
		switch o.Result {
		case repaired:
			p.Repaired++
		case failed:
			p.Failed++
		case left:
			p.Left++
		}
		if repairable(d) && o.Result != repaired && o.Result != asDesired {
			p.wrong++
		}
	}
}

// Unseen reports whether DOIs may be missing only because a login is.
func (p *page) Unseen() bool { return p.Anonymous && p.sections[reconcile.KindMissing] != nil }

// Right is how many DOIs of the source are as they should be, as far as was looked for.
func (p *page) Right() int { return p.Progress.Desired - p.wrong - p.Absent }

// Done reports whether a repair has a result.
func (p *page) Done() bool { return p.Repaired+p.Failed+p.Left > 0 }

// rest is what was not repaired, in words.
func (p *page) rest() string {
	return shell.Number(p.Failed) + " failed, " + shell.Number(p.Left) + " left"
}

// Sections are those there are, with what is to be done first.
func (p *page) Sections() (all []*section) {
	for _, kind := range []reconcile.DifferenceKind{reconcile.KindMissing, reconcile.KindChanged, reconcile.KindInvalid,
		reconcile.KindOldSchema, reconcile.KindExtra} {
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
var headings = map[reconcile.DifferenceKind][3]string{
	reconcile.KindMissing: {"Missing", "missing", "in the source, and not at the service"},
	reconcile.KindChanged: {"Changed", "changed", "at the service with other content than in the source"},
	reconcile.KindInvalid: {"Invalid", "invalid", "with metadata that the service would refuse today"},
	reconcile.KindOldSchema: {"Old schema", "of an old schema",
		"with metadata of a version before 4, which the service no longer accepts"},
	reconcile.KindExtra: {"Extra", "extra",
		"at the service, and not in the source. Add them to the source, or hide or delete them yourself"},

	kindOf(landing.Status): {"Pages with an error", "pages with an error",
		"whose landing page has another status than 200"},
	kindOf(landing.NotHTML): {"Pages that are not HTML", "pages not HTML",
		"that lead to a file, and not to a landing page"},
	kindOf(landing.NoDOI): {"Pages without the DOI", "pages without the DOI",
		"whose landing page does not have the DOI in its HTML"},
	kindOf(landing.Redirects): {"Redirects to nowhere", "redirects to nowhere",
		"whose URL redirects in a loop, too often, or to what is no page"},
	kindOf(landing.Unreachable): {"Pages that do not answer", "pages without an answer",
		"whose landing page did not answer, or whose server was busy"},
	kindOf(landing.NotAsked): {"Pages that were not asked", "pages not asked",
		"whose landing page was not asked, for the reason beside it"},
	kindOf(landing.Redirected): {"Redirected pages", "redirected",
		"whose landing page is right, at another address. Where the redirect is permanent, correct the URL"},
}

func kindOf(k landing.Kind) reconcile.DifferenceKind { return reconcile.DifferenceKind(k) }

// Heading, Short and Explanation are the words for its kind.
func (s *section) Heading() string     { return headings[s.Kind][0] }
func (s *section) Short() string       { return headings[s.Kind][1] }
func (s *section) Explanation() string { return headings[s.Kind][2] }

// Sides reports whether rows have what should be and what is.
func (s *section) Sides() bool { return s.Kind == reconcile.KindChanged }

// Faults reports whether rows have reasons.
func (s *section) Faults() bool { return s.Kind == reconcile.KindInvalid }

//go:embed page.html
var pageText string

var pageTemplate = shell.PageTemplate("audit", pageText, template.FuncMap{
	"part": part,
	"most": func() int { return mostItems },
})

// Link is where a DOI leads, "" if the resolver of the service is not known.
func (p *page) Link(name string) string {
	if p.Resolver == "" {
		return ""
	}
	return p.Resolver + strings.TrimPrefix(doi.URL(name), "https://doi.org")
}

// parts are the names that people have for properties.
var parts = map[string]string{
	"url": "URL", "titles": "title", "creators": "creator", "contributors": "contributor", "subjects": "subject",
	"dates":        "date",
	"descriptions": "description", "publicationYear": "year", "types": "type", "rightsList": "rights",
	"relatedIdentifiers": "related identifier", "alternateIdentifiers": "alternate identifier", "fundingReferences": "funding",
	"geoLocations": "place", "sizes": "size", "formats": "format",
}

// part is a path in words: creators[1].name is the name of creator 2.
func part(path string) string {
	head, rest, _ := strings.Cut(path, ".")
	name, index, _ := strings.Cut(head, "[")
	words := name
	if known := parts[name]; known != "" {
		words = known
	}
	n, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
	if err == nil && (n > 0 || name == "creators" || name == "contributors") {
		words += " " + strconv.Itoa(n+1)
	}
	switch rest {
	case "", "title", "description", "subject", "rights", "resourceTypeGeneral", "relatedIdentifier", "date", "name":
		return words
	}
	return words + ", " + rest
}
