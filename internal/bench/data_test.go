package bench_test

import (
	"iter"
	"maps"
	"slices"

	"github.com/datacite-go/datacite-go/internal/bench"
	"github.com/datacite-go/datacite-go/reports"
)

// poolSize is how many different entries a report is made of.
const poolSize = 2000

// A corpus is a report of any number of entries, made of a pool of them, in the
// shapes of both sides.
type corpus struct {
	source bench.Source
	plain  []bench.Entry
	ours   []reports.Dataset
	names  []name // of the first entries, if they were made before
}

type name struct{ uri, doi string }

// prepare makes the names of n entries, so that their making is not timed.
func (c *corpus) prepare(n int) {
	names := make([]name, n)
	for i := range names {
		names[i] = c.name(i)
	}
	c.names = names
}

func (c *corpus) name(i int) name {
	if i < len(c.names) {
		return c.names[i]
	}
	uri, doi := c.source.Name(i)
	return name{uri, doi}
}

func newCorpus(profile bench.Profile) *corpus { return newCorpusOf(poolSize, profile) }

func newCorpusOf(pool int, profile bench.Profile) *corpus {
	c := &corpus{source: bench.Source{Seed: 1, Profile: profile}}
	c.plain = c.source.Pool(pool)
	for i := range c.plain {
		c.ours = append(c.ours, dataset(&c.plain[i]))
	}
	return c
}

// entries yields entries from to below to as a program would declare them that
// uses encoding/json.
func (c *corpus) entries(from, to int) []bench.Entry {
	list := make([]bench.Entry, to-from)
	ids := make([]bench.TypedValue, len(list))
	for i := range list {
		list[i] = c.plain[(from+i)%len(c.plain)]
		ids[i].Type = "doi"
		named := c.name(from + i)
		list[i].URI, ids[i].Value = named.uri, named.doi
		list[i].DatasetID = ids[i : i+1]
	}
	return list
}

// datasets yields the first n entries. It uses the identifiers' slice again: a
// source for Submit may do that.
func (c *corpus) datasets(n int) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		id := []reports.TypedValue{{Type: reports.TypeDOI}}
		for i := range n {
			d := c.ours[i%len(c.ours)]
			named := c.name(i)
			d.URI, id[0].Value = named.uri, named.doi
			d.DatasetID = id
			if !yield(d, nil) {
				return
			}
		}
	}
}

// dataset is an entry in our types.
func dataset(e *bench.Entry) reports.Dataset {
	d := reports.Dataset{
		Title: e.Title, YOP: e.YOP, URI: e.URI, Platform: e.Platform, DataType: e.DataType, Publisher: e.Publisher,
		PublisherID: typed(e.PublisherID), DatasetID: typed(e.DatasetID), Dates: typed(e.DatasetDates), Contributors: typed(e.Contributors),
	}
	for _, p := range e.Performance {
		out := reports.Performance{Period: reports.Period{BeginDate: reports.Date(p.Period.BeginDate),
			EndDate: reports.Date(p.Period.EndDate)}}
		for _, n := range p.Instance {
			var counts reports.CountryCounts
			for _, country := range slices.Sorted(maps.Keys(n.CountryCounts)) {
				counts = append(counts, reports.CountryCount{Country: country, Count: int64(n.CountryCounts[country])})
			}
			out.Instance = append(out.Instance, reports.Instance{
				Count: int64(n.Count), MetricType: reports.MetricType(n.MetricType),
				AccessMethod:  reports.AccessMethod(n.AccessMethod),
				CountryCounts: counts,
			})
		}
		d.Performance = append(d.Performance, out)
	}
	return d
}

func typed(values []bench.TypedValue) []reports.TypedValue {
	return slices.Collect(func(yield func(reports.TypedValue) bool) {
		for _, v := range values {
			if !yield(reports.TypedValue(v)) {
				return
			}
		}
	})
}
