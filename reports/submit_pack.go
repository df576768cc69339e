package reports

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/subset"
)

// maxSubsetBytes is the most compressed bytes that the deployed service stores
// of one subset.
const maxSubsetBytes = 16_777_215

// build reads src to its end and packs what may be sent into the temporary file.
func (s *submission) build(ctx context.Context, src iter.Seq2[Dataset, error]) error {
	c := &checker{validator: validator{most: maxFaults, warn: s.options.Warn, strict: !s.options.AllowInconsistent}, leaveOut: s.options.LeaveOut}
	c.header(&s.header)
	if err := c.err(); err != nil {
		return err
	}
	entries := c.entries(src)
	if s.options.MergeRepeats {
		entries = c.merged(entries)
	}
	repeats := subset.NewRepeatFinder(s.options.TempDir)
	defer repeats.Close()
	err := pack(ctx, s.header, items(entries, repeats), s.options.packing(), s.bodies, func(p Subset) error {
		s.plan, s.starts = append(s.plan, p), append(s.starts, s.filled)
		s.filled += p.Bytes
		s.progress(Progress{Stage: Building}, len(s.plan))
		return nil
	})
	switch {
	case c.stopped:
		return c.err()
	case err != nil:
		return fmt.Errorf("reports.Submit: %w", err)
	case len(s.plan) == 0 && c.leftOut > 0:
		return datacite.Invalid(datacite.Finding{Path: "report-datasets", Code: "missing", Reason: fmt.Sprintf("has nothing left to send: all %d datasets have faults", c.leftOut)})
	case len(s.plan) == 0:
		return datacite.Invalid(datacite.Finding{Path: "report-datasets", Code: "missing", Reason: "is empty; the service accepts no report without datasets"})
	}
	s.whole = true
	return noRepeats(repeats)
}

// packing are the settings of subsets.
func (o *SubmitOptions) packing() subset.Settings {
	return subset.Settings{MaxItems: o.MaxDatasets, MaxBytes: maxSubsetBytes, Workers: min(2, runtime.GOMAXPROCS(0)), Level: o.Level}
}

// items converts entries for packing, and adds their DOIs to repeats.
func items(entries iter.Seq2[entry, error], repeats *subset.RepeatFinder) iter.Seq2[subset.Item, error] {
	return func(yield func(subset.Item, error) bool) {
		var name []byte
		for e, err := range entries {
			if err != nil {
				yield(subset.Item{}, err)
				return
			}
			if name = appendDOI(name[:0], e.dataset); len(name) > 0 {
				err = repeats.Add(e.number, name)
			}
			if !yield(subset.Item{Number: e.number, Text: e.json}, err) {
				return
			}
		}
	}
}

// pack reads src to its end, writes all subsets to w, one after the other, and calls emit
// with each. Src and emit run on the caller's goroutine, w on another one. After an error
// of src it emits the subsets that were full by then; it stops at once at an error of w or
// emit or the end of ctx. An item that is too large for a subset is a
// [*datacite.ValidationError].
//
// Where subsets end and what bytes they are depends only on the data, MaxItems, MaxBytes
// and Level.
func pack(ctx context.Context, h Header, src iter.Seq2[subset.Item, error], settings subset.Settings, w io.Writer, emit func(Subset) error) error {
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	settings.Head = slices.Concat([]byte(`{"report-header":`), head, []byte(`,"report-datasets":[`))
	settings.Separator, settings.Tail = []byte(`,`), []byte(`]}`)
	err = subset.Pack(ctx, settings, src, w, func(p subset.Part) error {
		return emit(Subset{hex.EncodeToString(p.Checksum[:]), p.Items, p.Bytes})
	})
	if e, ok := errors.AsType[*subset.TooLargeError](err); ok {
		return datacite.Invalid(datacite.Finding{
			Path:   fmt.Sprintf("report-datasets[%d]", e.Number),
			Code:   "limit",
			Reason: fmt.Sprintf("makes a subset of %d bytes, alone and compressed; the most is %d", e.Bytes, e.Max),
		})
	}
	return err
}

// noRepeats fails if a DOI occurred twice.
func noRepeats(repeats *subset.RepeatFinder) error {
	found, count, err := repeats.Repeats(maxFaults)
	if err != nil {
		return fmt.Errorf("reports.Submit: looking for repeated DOIs: %w", err)
	}
	if count == 0 {
		return nil
	}
	var faults []datacite.Finding
	for _, r := range found {
		faults = append(faults, repeated(r))
	}
	return datacite.Invalid(faults...)
}
