package reports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
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
	repeats *repeatFinder // nil if repeats are not looked for
	leftOut []*FieldError
	skipped int64
	bad     bool // a fault was found and nothing will be sent
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
		b.src = mergeRepeats(src)
	}
	if s.options.Repeats != SendRepeats {
		b.repeats = newRepeatFinder(s.options.TempDir)
	}
	return b, nil
}

func (b *build) close() {
	if b.repeats != nil {
		_ = b.repeats.close() // a temporary file that nobody needs any more
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
	case n == 0:
		return &FieldError{"report-datasets", "is empty; the service takes no report without datasets"}
	}
	return b.noRepeats()
}

// row checks one dataset of the source and appends its entry. After a fault that
// stops the submission it reads on, to name further ones, and appends nothing.
func (b *build) row(dst []byte, i int, d *Dataset) ([]byte, error) {
	before := len(b.check.faults)
	b.check.dataset(i, d)
	entry, err := appendDataset(dst, d)
	if err != nil {
		b.check.encoding(d)
	}
	if faults := b.check.faults[before:]; len(faults) > 0 {
		if b.options.BadRows == LeaveOutBadRows {
			b.leaveOut(faults)
			b.check.faults = b.check.faults[:before]
			return dst, nil
		}
		b.bad = true
		if len(b.check.faults) >= mostFaults {
			return dst, b.check.err()
		}
	}
	switch {
	case b.bad:
		return dst, nil
	case err == nil && b.repeats != nil:
		err = b.repeats.see(i, d)
	}
	return entry, err
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
	found, count, err := b.repeats.repeats(mostFaults)
	if err != nil {
		return fmt.Errorf("reports.Submit: looking for repeated DOIs: %w", err)
	}
	if count == 0 {
		return nil
	}
	v := &ValidationError{}
	for _, r := range found {
		v.Faults = append(v.Faults, r.fault())
	}
	return v
}

// mergeRepeats adds up datasets of one DOI that follow each other.
func mergeRepeats(src iter.Seq2[Dataset, error]) iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		var held Dataset
		var name string
		holding := false
		for d, err := range src {
			if err != nil {
				yield(d, err)
				return
			}
			next := strings.ToLower(plainDOI(&d))
			if holding && next != "" && next == name {
				if err := merge2(&held, &d); err != nil {
					yield(Dataset{}, err)
					return
				}
				continue
			}
			if holding && !yield(held, nil) {
				return
			}
			held, name, holding = d, next, true
			held.Performance = slices.Clone(d.Performance)
		}
		if holding {
			yield(held, nil)
		}
	}
}

// errManyPeriods: there is no one count for two periods.
var errManyPeriods = errors.New("entries to be merged have more than one performance, or different periods")

// merge2 adds the counts of b to those of a.
func merge2(a, b *Dataset) error {
	switch {
	case len(b.Performance) == 0:
		return nil
	case len(a.Performance) == 0:
		a.Performance = slices.Clone(b.Performance)
		return nil
	case len(a.Performance) != 1 || len(b.Performance) != 1 || a.Performance[0].Period != b.Performance[0].Period:
		return fmt.Errorf("%w: %s", errManyPeriods, plainDOI(a))
	}
	sum := slices.Clone(a.Performance[0].Instance)
	for _, n := range b.Performance[0].Instance {
		i := slices.IndexFunc(sum, func(m Instance) bool { return m.MetricType == n.MetricType && m.AccessMethod == n.AccessMethod })
		if i < 0 {
			sum = append(sum, n)
			continue
		}
		sum[i].Count += n.Count
		sum[i].CountryCounts = addCounts(sum[i].CountryCounts, n.CountryCounts)
	}
	a.Performance[0].Instance = sum
	return nil
}

func addCounts(a, b CountryCounts) CountryCounts {
	sums := make(map[string]int64, len(a)+len(b))
	for _, c := range slices.Concat(a, b) {
		sums[c.Country] += c.Count
	}
	return NewCountryCounts(sums)
}
