package reports

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/datacite-go/datacite-go/internal/repeat"
)

// mostFaults bounds the list of faults of a source of any length.
const mostFaults = 100

// A build turns a source into subsets: it checks each dataset, applies the
// policies of the options, and hands the rest to pack.
type build struct {
	options SubmitOptions
	head    []byte
	src     iter.Seq2[Dataset, error]
	check   validator
	repeats *repeat.Finder // nil if repeats are not looked for
	name    []byte         // DOI of the row
	leftOut []*FieldError
	skipped int64
	bad     bool // a fault was found and nothing will be sent
	merges  bool // src is merged, which checks the rows
	pass    bool // the row that comes now is in the one before, or left out
}

func newBuild(s *submission, src iter.Seq2[Dataset, error]) (*build, error) {
	b := &build{options: s.options, src: src, check: validator{most: mostFaults, warn: s.options.Warn}}
	b.check.header(&s.header)
	if err := b.check.err(); err != nil {
		return nil, err
	}
	header, err := json.Marshal(s.header)
	if err != nil {
		return nil, err
	}
	b.head = header
	if s.options.Repeats == MergeRepeats {
		b.src, b.merges = b.merged(src), true
	}
	if s.options.Repeats != SendRepeats {
		b.repeats = repeat.NewFinder(s.options.TempDir)
	}
	return b, nil
}

func (b *build) close() {
	if b.repeats != nil {
		_ = b.repeats.Close() // a temporary file that nobody needs any more
	}
}

// run builds all subsets, writes them to w and hands them to emit in order.
func (b *build) run(ctx context.Context, w io.Writer, emit func(Subset) error) error {
	n := 0
	err := pack(ctx, b.head, b.src, b.row, b.options, w, func(s Subset) error {
		n++
		return emit(s)
	})
	switch {
	case b.bad:
		return b.check.err()
	case err != nil:
		return fmt.Errorf("reports.Submit: %w", err)
	case n == 0 && b.skipped > 0:
		nothing := &FieldError{"report-datasets", fmt.Sprintf("has nothing left to send: all %d entries break a rule", b.skipped)}
		return &ValidationError{append([]*FieldError{nothing}, b.leftOut...)}
	case n == 0:
		return &FieldError{"report-datasets", "is empty; the service takes no report without datasets"}
	}
	return b.noRepeats()
}

// row checks one dataset of the source and appends its entry. After a fault that
// stops the submission it reads on, to name further ones, and appends nothing.
func (b *build) row(dst []byte, i int, d *Dataset) ([]byte, error) {
	if b.pass {
		return dst, nil
	}
	before := len(b.check.faults)
	if !b.merges {
		b.check.dataset(i, d)
	}
	entry := b.check.entry(dst, i, d)
	if ok, err := b.passed(before); !ok {
		return dst, err
	}
	if b.repeats == nil {
		return entry, nil
	}
	if b.name = appendDOI(b.name[:0], d); len(b.name) == 0 {
		return entry, nil
	}
	return entry, b.repeats.See(i, b.name)
}

// passed tells whether a row is to be sent, given the number of faults before it.
func (b *build) passed(before int) (bool, error) {
	faults := b.check.faults[before:]
	switch {
	case len(faults) == 0:
		return !b.bad, nil
	case b.options.BadRows == LeaveOutBadRows:
		b.leaveOut(faults)
		b.check.faults = b.check.faults[:before]
		return false, nil
	}
	b.bad = true
	if len(b.check.faults) >= mostFaults {
		return false, b.check.err()
	}
	return false, nil
}

func (b *build) leaveOut(faults []*FieldError) {
	b.skipped++
	room := mostFaults - len(b.leftOut)
	b.leftOut = append(b.leftOut, faults[:min(len(faults), max(room, 0))]...)
}

// noRepeats fails if a DOI occurred twice.
func (b *build) noRepeats() error {
	if b.repeats == nil {
		return nil
	}
	found, count, err := b.repeats.Repeats(mostFaults)
	if err != nil {
		return fmt.Errorf("reports.Submit: looking for repeated DOIs: %w", err)
	}
	if count == 0 {
		return nil
	}
	v := &ValidationError{}
	for _, r := range found {
		v.Faults = append(v.Faults, repeated(r))
	}
	return v
}

// merged adds up datasets of one DOI that follow each other. It yields something
// for every row of src, so that rows keep their numbers: the sum for the first one
// of each DOI, and what row passes over for the others and for bad ones.
func (b *build) merged(src iter.Seq2[Dataset, error]) iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		var sum Dataset
		var name, next []byte
		i, rows := 0, 0 // rows: those before i that have not been yielded
		summing := false
		flush := func() bool {
			for b.pass = !summing; rows > 0; rows-- {
				if !yield(sum, nil) {
					return false
				}
				b.pass = true
			}
			b.pass = false
			return true
		}
		for d, err := range src {
			var ok bool
			if err == nil {
				ok, err = b.checked(i, &d)
			}
			next = appendDOI(next[:0], &d)
			switch {
			case err != nil:
			case !ok:
			case summing && len(next) > 0 && bytes.Equal(next, name):
				err = sum.add(&d, i-rows, i)
			case !flush():
				return
			default:
				sum, summing = d.clone(), true
				name, next = next, name
			}
			if err != nil {
				yield(Dataset{}, err)
				return
			}
			i++
			rows++
		}
		flush()
	}
}

// checked tells whether row i of the source may be merged.
func (b *build) checked(i int, d *Dataset) (bool, error) {
	before := len(b.check.faults)
	b.check.dataset(i, d)
	b.check.encoding(i, d)
	return b.passed(before)
}

// add adds the counts of d, which is row i, to those of sum, which begins with row
// first.
func (sum *Dataset) add(d *Dataset, first, i int) error {
	fault := func(field, reason string) error {
		return &FieldError{fmt.Sprintf("report-datasets[%d].performance%s", i, field), fmt.Sprintf("cannot be added to that of report-datasets[%d], which has the same DOI: %s", first, reason)}
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

// add tells whether the sums of counts, which are not negative, are right.
func (n *Instance) add(m *Instance) bool {
	sums := make(map[string]int64, len(n.CountryCounts)+len(m.CountryCounts))
	for _, c := range slices.Concat(n.CountryCounts, m.CountryCounts) {
		if sums[c.Country] += c.Count; sums[c.Country] < 0 {
			return false
		}
	}
	n.Count += m.Count
	n.CountryCounts = NewCountryCounts(sums)
	return n.Count >= 0
}

// clone copies all that the source may use again.
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
