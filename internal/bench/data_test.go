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
	names := c.source.Names()
	c.names = make([]name, n)
	for i := range c.names {
		c.names[i].uri, c.names[i].doi = names.Of(i)
	}
}

// namer names entries by their number.
func (c *corpus) namer() func(i int) (uri, doi string) {
	names := c.source.Names()
	return func(i int) (uri, doi string) {
		if i < len(c.names) {
			return c.names[i].uri, c.names[i].doi
		}
		return names.Of(i)
	}
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
	named := c.namer()
	list := make([]bench.Entry, to-from)
	ids := make([]bench.TypedValue, len(list))
	for i := range list {
		list[i] = c.plain[(from+i)%len(c.plain)]
		ids[i].Type = "doi"
		list[i].URI, ids[i].Value = named(from + i)
		list[i].DatasetID = ids[i : i+1]
	}
	return list
}

// datasets yields the first n entries. It uses the identifiers' slice again: a
// source for Submit may do that.
func (c *corpus) datasets(n int) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		named := c.namer()
		id := []reports.TypedValue{{Type: reports.TypeDOI}}
		for i := range n {
			d := c.ours[i%len(c.ours)]
			d.URI, id[0].Value = named(i)
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
		out := reports.Performance{Period: reports.Period{BeginDate: reports.Date(p.Period.BeginDate), EndDate: reports.Date(p.Period.EndDate)}}
		for _, n := range p.Instance {
			var counts reports.CountryCounts
			for _, country := range slices.Sorted(maps.Keys(n.CountryCounts)) {
				counts = append(counts, reports.CountryCount{Country: country, Count: int64(n.CountryCounts[country])})
			}
			out.Instance = append(out.Instance, reports.Instance{
				Count: int64(n.Count), MetricType: reports.MetricType(n.MetricType), AccessMethod: reports.AccessMethod(n.AccessMethod),
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
