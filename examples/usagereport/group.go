package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/reports"
)

// A group is the rows of one DOI, which make one dataset.
type group struct {
	key  string // the DOI in lower case
	line int    // of the first row
	bad  bool

	doi, title, year, uri, publisher, platform string

	counts []count
}

// A count is what one row counts.
type count struct {
	line    int
	metric  reports.MetricType
	access  reports.AccessMethod
	country string
	n       int64
}

func newGroup(r row) *group {
	// A row's texts are parts of one string; the copies let go of the rest of it.
	return &group{key: strings.Clone(r.key()), line: r.line, doi: strings.Clone(r.doi)}
}

func (g *group) add(t *table, r row) {
	g.bad = g.bad || r.bad
	for _, text := range []struct {
		column column
		kept   *string
		value  string
	}{
		{columnTitle, &g.title, r.title}, {columnYear, &g.year, r.year}, {columnURI, &g.uri, r.uri},
		{columnPublisher, &g.publisher, r.publisher}, {columnPlatform, &g.platform, r.platform},
	} {
		switch {
		case text.value == "" || text.value == *text.kept:
		case *text.kept == "":
			*text.kept = strings.Clone(text.value)
		default:
			t.warn(fault{r.line, text.column, "differs from an earlier row of " + g.doi + ", whose text is taken"}.String())
		}
	}
	if !r.bad {
		g.counts = append(g.counts, count{r.line, r.metric, r.access, r.country, r.count})
	}
}

// dataset makes the dataset of the group. It depends on what the rows say, not on
// the order of their counts. It is not ok if a row of the group is bad.
func (g *group) dataset(t *table) (d reports.Dataset, ok bool) {
	slices.SortStableFunc(g.counts, func(a, b count) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.access, b.access), cmp.Compare(a.country, b.country))
	})
	var instances []reports.Instance
	for i, c := range g.counts {
		if i > 0 && c.same(g.counts[i-1]) && !t.merge {
			t.fault(c.line, "", "counts what line %d of %s counts already; -repeats merge adds such rows up", g.counts[i-1].line, g.doi)
			g.bad = true
			continue
		}
		if last := len(instances) - 1; last < 0 || instances[last].MetricType != c.metric || instances[last].AccessMethod != c.access {
			instances = append(instances, reports.Instance{MetricType: c.metric, AccessMethod: c.access})
		}
		c.addTo(&instances[len(instances)-1])
	}
	if g.bad {
		return d, false
	}
	return reports.Dataset{
		Title: g.title, YOP: g.year, URI: g.uri, Platform: g.platform, Publisher: g.publisher,
		DataType:    reports.DataTypeDataset,
		DatasetID:   []reports.TypedValue{{Type: reports.TypeDOI, Value: g.doi}},
		Performance: []reports.Performance{{Period: t.period, Instance: instances}},
	}, true
}

// same tells whether two counts are of the same.
func (c count) same(d count) bool {
	return c.metric == d.metric && c.access == d.access && c.country == d.country
}

// addTo adds a count to an instance whose countries come in order.
func (c count) addTo(n *reports.Instance) {
	n.Count += c.n
	if c.country == "" {
		return
	}
	if last := len(n.CountryCounts) - 1; last >= 0 && n.CountryCounts[last].Country == c.country {
		n.CountryCounts[last].Count += c.n
		return
	}
	n.CountryCounts = append(n.CountryCounts, reports.CountryCount{Country: c.country, Count: c.n})
}
