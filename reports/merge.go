package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/datacite-go/datacite-go"
)

// add adds the counts of d, which is row i, to those of sum, which begins with row
// first.
func (sum *Dataset) add(d *Dataset, first, i int) error {
	fault := func(field, reason string) error {
		return datacite.Invalidf(fmt.Sprintf("report-datasets[%d].performance%s", i, field), datacite.CodeConflict,
			"cannot be added to that of report-datasets[%d], which has the same DOI: %s", first, reason)
	}
	if len(d.Performance) == 0 {
		return nil
	}
	more := d.clone().Performance
	switch {
	case len(sum.Performance) == 0:
		sum.Performance = more
		return nil
	case len(sum.Performance) != 1 || len(more) != 1:
		return fault("", "there are several in an entry")
	case sum.Performance[0].Period != more[0].Period:
		return fault("[0].period", "the periods differ")
	}
	to := &sum.Performance[0]
	for j, n := range more[0].Instance {
		at := slices.IndexFunc(to.Instance, func(m Instance) bool {
			return m.MetricType == n.MetricType && m.AccessMethod == n.AccessMethod
		})
		if at < 0 {
			to.Instance = append(to.Instance, n)
		} else if !to.Instance[at].add(&n) {
			return fault(fmt.Sprintf("[0].instance[%d]", j), fmt.Sprintf("a sum would be more than %d", int64(math.MaxInt64)))
		}
	}
	return nil
}

// add adds counts, which are not negative. It returns false if a sum overflows.
func (n *Instance) add(m *Instance) bool {
	sums := make(map[string]int64, len(n.CountryCounts)+len(m.CountryCounts))
	for _, c := range slices.Concat(n.CountryCounts, m.CountryCounts) {
		if sums[c.Country] += c.Count; sums[c.Country] < 0 {
			return false
		}
	}
	n.Count += m.Count
	n.CountryCounts = newCountryCounts(sums)
	return n.Count >= 0
}

// clone copies everything that the source may reuse.
func (d *Dataset) clone() Dataset {
	c := *d
	for _, list := range []*[]TypedValue{&c.PublisherID, &c.DatasetID, &c.Dates, &c.Contributors, &c.Attributes} {
		*list = slices.Clone(*list)
	}
	c.Performance = slices.Clone(c.Performance)
	for i := range c.Performance {
		p := &c.Performance[i]
		p.Instance = slices.Clone(p.Instance)
		for j := range p.Instance {
			p.Instance[j].CountryCounts = slices.Clone(p.Instance[j].CountryCounts)
		}
	}
	return c
}
