package reports

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/subset"
)

var packing = subset.Settings{MaxItems: 1000, MaxBytes: 100_000, Workers: 2, Level: 6}

func numbered(n int) []Dataset {
	list := make([]Dataset, n)
	for i := range list {
		list[i] = *full(fmt.Sprintf("dataset %d \"é\"", i))
	}
	return list
}

// encoded are the datasets as they are packed.
func encoded(datasets []Dataset) iter.Seq2[subset.Item, error] {
	return func(yield func(subset.Item, error) bool) {
		var text []byte
		for i := range datasets {
			var err error
			text, err = appendDataset(text[:0], &datasets[i])
			if !yield(subset.Item{Number: i, Text: text}, err) {
				return
			}
		}
	}
}

// A packed is a subset with its body.
type packed struct {
	Subset
	body []byte
}

func packAll(t *testing.T, s subset.Settings, src iter.Seq2[subset.Item, error]) (all []packed, err error) {
	t.Helper()
	var bodies bytes.Buffer
	err = pack(t.Context(), Header{CreatedBy: "Example"}, src, s, &bodies, func(s Subset) error {
		all = append(all, packed{Subset: s})
		return nil
	})
	for i := range all {
		all[i].body = bodies.Next(int(all[i].Bytes))
	}
	return all, err
}

// unpack reads a subset with the standard library alone.
func unpack(t *testing.T, p packed) []Dataset {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(p.body))
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	var report struct {
		Header   Header    `json:"report-header"`
		Datasets []Dataset `json:"report-datasets"`
	}
	require.NoError(t, json.Unmarshal(data, &report))
	assert.Equal(t, "Example", report.Header.CreatedBy)

	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(p.body)), p.Checksum)
	assert.Len(t, report.Datasets, p.Datasets)
	return report.Datasets
}

func TestPackedSubsetsHoldTheSource(t *testing.T) {
	datasets := numbered(2500)
	var want []packed
	for _, workers := range []int{1, 2, 8} {
		s := packing
		s.Workers = workers
		all, err := packAll(t, s, encoded(datasets))
		require.NoError(t, err)
		if want == nil {
			want = all
		}
		require.Equal(t, want, all, "%d workers", workers)
	}
	next := 0
	for _, p := range want {
		assert.LessOrEqual(t, p.Datasets, packing.MaxItems)
		assert.LessOrEqual(t, p.Bytes, packing.MaxBytes)
		for _, d := range unpack(t, p) {
			require.Equal(t, datasets[next].Title, d.Title)
			require.Equal(t, datasets[next].Performance[0].Instance[0].CountryCounts, d.Performance[0].Instance[0].CountryCounts)
			next++
		}
	}
	assert.Equal(t, len(datasets), next)
}

func TestPackStops(t *testing.T) {
	bad := errors.New("bad row")
	_, err := packAll(t, packing, func(yield func(subset.Item, error) bool) {
		for item := range encoded(numbered(3)) {
			yield(item, nil)
		}
		yield(subset.Item{}, bad)
	})
	require.ErrorIs(t, err, bad)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = pack(ctx, Header{}, encoded(numbered(10)), packing, io.Discard, func(Subset) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
}

func TestPackNamesADatasetThatIsTooLarge(t *testing.T) {
	datasets := numbered(3)
	var title strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&title, "%x", i*i*i)
	}
	datasets[1].Title = title.String()
	_, err := packAll(t, packing, encoded(datasets))
	e, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "report-datasets[1]", e.Findings[0].Path)
	assert.Contains(t, e.Findings[0].Reason, "the most is 100000")
	require.ErrorIs(t, err, datacite.ErrInvalid)
}
