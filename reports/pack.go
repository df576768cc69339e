package reports

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/subset"
)

// packSettings are what decides, beside the data, how a report is cut and what
// bytes it becomes; all but Workers, which changes nothing but the time.
type packSettings struct {
	MaxDatasets int
	MaxBytes    int64
	Workers     int
	Level       int // from 1, fast, to 9, small

	// SkipContent is for an emit that is quick and keeps the bodies: it saves the
	// tenth of the time that packed.Content costs, and the memory of a second
	// subset, which is otherwise prepared while emit works on one.
	SkipContent bool
}

// A packed is one finished subset.
type packed struct {
	Subset
	Body []byte // the gzip body; valid until emit returns

	// Content is the SHA-256 of the entries, before compression: what
	// appendDataset makes of each, with commas between. A reader can work it out
	// from a stored subset, whatever compressed it. Zero with SkipContent.
	Content [sha256.Size]byte
}

// errSkip is what the check of pack returns for a dataset to leave out.
var errSkip = errors.New("reports: leave this dataset out")

// pack reads src to its end and calls emit with each finished subset, in order.
// Head is the JSON of the header; check is called for each dataset before it is
// encoded, with its number in src. Check and src run on the caller's goroutine;
// emit runs on another one. An error of src or check ends it after the subsets
// that were full by then have been emitted; an error of emit, or the end of ctx,
// ends it at once. A dataset that is too large for a subset is a [*FieldError].
//
// The data and the settings alone decide where subsets end and what bytes they
// are.
func pack(ctx context.Context, head []byte, src iter.Seq2[Dataset, error], check func(i int, d *Dataset) error, s packSettings, emit func(packed) error) error {
	add := func(dst []byte, i int, d *Dataset) ([]byte, error) {
		switch err := check(i, d); {
		case err == errSkip:
			return dst, nil
		case err != nil:
			return dst, err
		}
		return appendDataset(dst, d)
	}
	err := subset.Pack(ctx, subset.Settings{
		MaxItems: s.MaxDatasets, MaxBytes: s.MaxBytes, Workers: s.Workers, Level: s.Level, Ahead: !s.SkipContent, Content: !s.SkipContent,
		Head:      slices.Concat([]byte(`{"report-header":`), head, []byte(`,"report-datasets":[`)),
		Separator: []byte(`,`),
		Tail:      []byte(`]}`),
	}, src, add, func(p subset.Part) error {
		return emit(packed{Subset{gzipbody.Checksum(p.Body), p.Items, int64(len(p.Body))}, p.Body, p.Content})
	})
	if e, ok := errors.AsType[*subset.TooLargeError](err); ok {
		return &FieldError{
			fmt.Sprintf("report-datasets[%d]", e.Index),
			fmt.Sprintf("makes a subset of %d bytes, alone and compressed; the most is %d", e.Bytes, e.Max),
		}
	}
	return err
}

// contentOf works out what pack would have given as Content, from a body that
// pack made.
func contentOf(body []byte) (sum [sha256.Size]byte, err error) {
	const before, after = `,"report-datasets":[`, `]}`
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return sum, err
	}
	head, entries := bufio.NewReader(r), sha256.New()
	for seen := []byte(nil); !bytes.HasSuffix(seen, []byte(before)); {
		part, err := head.ReadSlice('[')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return sum, err
		}
		seen = append(seen, part...)
	}
	tail := &withoutTail{w: entries, keep: len(after)}
	if _, err := io.Copy(tail, head); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(entries.Sum(nil)), nil
}

// withoutTail passes on all but the last keep bytes.
type withoutTail struct {
	w    io.Writer
	keep int
	held []byte
}

func (t *withoutTail) Write(p []byte) (int, error) {
	t.held = append(t.held, p...)
	if n := len(t.held) - t.keep; n > 0 {
		if _, err := t.w.Write(t.held[:n]); err != nil {
			return 0, err
		}
		t.held = append(t.held[:0], t.held[n:]...)
	}
	return len(p), nil
}
