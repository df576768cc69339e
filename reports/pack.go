package reports

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/datacite-go/datacite-go/internal/subset"
)

// pack reads src to its end, writes all subsets to w, one after the other, and
// calls emit with each, in order. Head is the JSON of the header; add appends the
// entry of a dataset, which has the number i in src, or nothing to leave it out.
// Src, add and emit run on the caller's goroutine, w on another one. An error of
// src or add ends it after the subsets that were full by then have been emitted;
// one of w or emit, or the end of ctx, ends it at once. A dataset that is too large
// for a subset is a [*FieldError].
//
// The data, and the options MaxDatasets, MaxBytes and Level, alone decide where
// subsets end and what bytes they are.
func pack(ctx context.Context, head []byte, src iter.Seq2[Dataset, error], add subset.Appender[Dataset], o SubmitOptions, w io.Writer, emit func(Subset) error) error {
	err := subset.Pack(ctx, subset.Settings{
		MaxItems: o.MaxDatasets, MaxBytes: o.MaxBytes, Workers: o.Workers, Level: o.Level,
		Head:      slices.Concat([]byte(`{"report-header":`), head, []byte(`,"report-datasets":[`)),
		Separator: []byte(`,`),
		Tail:      []byte(`]}`),
	}, src, add, w, func(p subset.Part) error {
		return emit(Subset{hex.EncodeToString(p.Checksum[:]), p.Items, p.Bytes})
	})
	if e, ok := errors.AsType[*subset.TooLargeError](err); ok {
		return &FieldError{
			fmt.Sprintf("report-datasets[%d]", e.Index),
			fmt.Sprintf("makes a subset of %d bytes, alone and compressed; the most is %d", e.Bytes, e.Max),
		}
	}
	return err
}
