package search

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
)

// A page is what a search found, for people: how many records by year, type and licence, and the first of them.
type page struct {
	What, Service, Resolver string
	At                      time.Time
	Found, Counted          int
	Tallies                 []*tally
	Items                   []item
}

// An item is a record in the list.
type item struct{ DOI, Link, Title, Creators, Year, Type string }

// A tally counts records by one property.
type tally struct {
	Name   string
	of     func(*dois.Record) string
	counts map[string]int
}

// A share is how many records have a value.
type share struct {
	Value string
	Count int
}

const (
	mostItems  = 500
	mostShares = 20
	mostValues = 10_000 // that are told apart
	unsaid     = "(none)"
	others     = "(others)"
)

func newPage(cmd *cobra.Command, words []string, s *account.Service) *page {
	what := slices.Clone(words)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"client", "provider", "prefix", "type", "created", "published", "query", "state"},
			f.Name) {
			what = append(what, f.Name+" "+strings.Trim(f.Value.String(), "[]"))
		}
	})
	return &page{
		What: cmp.Or(strings.Join(what, ", "), "all records"), Service: s.String(), Resolver: s.Resolver(), At: time.Now(),
		Tallies: []*tally{
			{"Year", func(r *dois.Record) string { return string(r.PublicationYear) }, map[string]int{}},
			{"Type", func(r *dois.Record) string { return string(r.Types.ResourceTypeGeneral) }, map[string]int{}},
			{"Licence", licence, map[string]int{}},
		},
	}
}

// licence is the first that says which it is.
func licence(r *dois.Record) string {
	for _, x := range r.RightsList {
		if name := cmp.Or(x.RightsIdentifier, x.Rights, x.RightsURI); name != "" {
			return name
		}
	}
	return ""
}

func (p *page) add(r *dois.Record) {
	p.Counted++
	for _, t := range p.Tallies {
		value := cmp.Or(t.of(r), unsaid)
		if t.counts[value] == 0 && len(t.counts) >= mostValues {
			value = others
		}
		t.counts[value]++
	}
	if len(p.Items) == mostItems {
		return
	}
	var creators []string
	for _, c := range r.Creators[:min(len(r.Creators), 3)] {
		creators = append(creators, c.Name)
	}
	if len(r.Creators) > len(creators) {
		creators = append(creators, "and others")
	}
	link := ""
	if p.Resolver != "" {
		link = p.Resolver + strings.TrimPrefix(doi.URL(r.DOI), "https://doi.org")
	}
	p.Items = append(p.Items, item{r.DOI, link, r.Title(), strings.Join(creators, "; "), string(r.PublicationYear),
		string(r.Types.ResourceTypeGeneral)})
}

// Shares are the most frequent values, or the latest years, and the others together.
func (t *tally) Shares() (all []share) {
	rest := t.counts[others]
	for value, n := range t.counts {
		if value != others {
			all = append(all, share{value, n})
		}
	}
	slices.SortFunc(all, func(a, b share) int {
		if t.Name == "Year" {
			return strings.Compare(b.Value, a.Value)
		}
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Value, b.Value))
	})
	for _, s := range all[min(len(all), mostShares):] {
		rest += s.Count
	}
	if all = all[:min(len(all), mostShares)]; rest > 0 {
		all = append(all, share{others, rest})
	}
	return all
}

//go:embed page.html
var pageText string

var pageTemplate = shell.PageTemplate("search", pageText, nil)
