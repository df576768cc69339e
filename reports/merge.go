package reports

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// repeated returns the fault of an entry that has the DOI of an earlier one.
func repeated(first, again int) datacite.Finding {
	return datacite.Finding{Path: fmt.Sprintf("report-datasets[%d].dataset-id", again), Code: "repeated", Reason: fmt.Sprintf("is that of report-datasets[%d]; the service would keep one of them", first), Err: ErrRepeated}
}

// repeatedIn finds repeated DOIs in a report that is held in memory.
func repeatedIn(datasets []Dataset) []datacite.Finding {
	first := map[string]int{}
	var findings []datacite.Finding
	var name []byte
	for i := range datasets {
		name = appendDOI(name[:0], &datasets[i])
		if at, ok := first[string(name)]; ok && len(name) > 0 {
			f := repeated(at, i)
			f.Warning = true
			findings = append(findings, f)
		} else {
			first[string(name)] = i
		}
	}
	return findings
}

// appendDOI appends the dataset's DOI, if it has one, in a form that all spellings share:
// without address or scheme, its ASCII letters in lower case.
func appendDOI(dst []byte, d *Dataset) []byte {
	for i := range d.DatasetID {
		if id := &d.DatasetID[i]; strings.EqualFold(id.Type, TypeDOI) {
			name := strings.TrimSpace(id.Value)
			for _, before := range [...]string{"", "https://doi.org/", "doi:"} { // for speed: Parse knows them too
				if rest, ok := strings.CutPrefix(name, before); ok && strings.HasPrefix(rest, "10.") &&
					strings.IndexByte(rest, '%') < 0 && strings.IndexByte(rest, '?') < 0 && strings.IndexByte(rest, '#') < 0 {
					return jsonlex.AppendLower(dst, rest)
				}
			}
			if parsed, err := doi.Parse(name); err == nil {
				name = parsed
			}
			return jsonlex.AppendLower(dst, name)
		}
	}
	return dst
}

// merged adds up consecutive entries of one DOI. The sum has the number of the first.
func (c *checker) merged(entries iter.Seq2[entry, error]) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		var name, next []byte // DOIs of sum and of the entry that follows
		var total Dataset
		sum := entry{number: -1, dataset: &total}
		flush := func() bool {
			before := len(c.faults)
			if sum.number < 0 {
				return true
			}
			sum.json = c.encode(sum.json[:0], sum.number, &total)
			return !c.passes(before, &total) || yield(sum, nil)
		}
		for e, err := range entries {
			if err != nil {
				yield(entry{}, err)
				return
			}
			next = appendDOI(next[:0], e.dataset)
			if sum.number >= 0 && len(next) > 0 && bytes.Equal(next, name) {
				if err := total.add(e.dataset, sum.number, e.number); err != nil {
					yield(entry{}, err)
					return
				}
				continue
			}
			if !flush() {
				return
			}
			total, sum.number = e.dataset.clone(), e.number
			name, next = next, name
		}
		flush()
	}
}

// add adds the counts of d, which is row i, to those of sum, which begins with row
// first.
func (sum *Dataset) add(d *Dataset, first, i int) error {
	fault := func(field, reason string) error {
		return datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("report-datasets[%d].performance%s", i, field), Code: "conflict", Reason: fmt.Sprintf("cannot be added to that of report-datasets[%d], which has the same DOI: %s", first, reason)})
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
		at := slices.IndexFunc(to.Instance, func(m Instance) bool { return m.MetricType == n.MetricType && m.AccessMethod == n.AccessMethod })
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
