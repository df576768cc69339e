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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

var packing = packSettings{MaxDatasets: 1000, MaxBytes: 100_000, Workers: 2, Level: 6}

func numbered(n int) []Dataset {
	list := make([]Dataset, n)
	for i := range list {
		list[i] = *full(fmt.Sprintf("dataset %d \"é\"", i))
	}
	return list
}

func packAll(t *testing.T, s packSettings, datasets []Dataset, check func(int, *Dataset) error) (all []packed, err error) {
	t.Helper()
	err = pack(t.Context(), []byte(`{"created-by":"Example"}`), Each(datasets), check, s, func(p packed) error {
		p.Body = bytes.Clone(p.Body)
		all = append(all, p)
		return nil
	})
	return all, err
}

func allOfThem(int, *Dataset) error { return nil }

// unpack reads a subset with the standard library alone.
func unpack(t *testing.T, p packed) []Dataset {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(p.Body))
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	var report struct {
		Header   map[string]string `json:"report-header"`
		Datasets []Dataset         `json:"report-datasets"`
	}
	require.NoError(t, json.Unmarshal(data, &report))
	assert.Equal(t, map[string]string{"created-by": "Example"}, report.Header)

	assert.Equal(t, gzipbody.Checksum(p.Body), p.Checksum)
	assert.EqualValues(t, len(p.Body), p.Bytes)
	assert.Len(t, report.Datasets, p.Datasets)
	var entries []byte
	for i := range report.Datasets {
		if i > 0 {
			entries = append(entries, ',')
		}
		entries, err = appendDataset(entries, &report.Datasets[i])
		require.NoError(t, err)
	}
	assert.Equal(t, sha256.Sum256(entries), p.Content, "a reader can work it out")
	return report.Datasets
}

func TestPackedSubsetsHoldTheSource(t *testing.T) {
	datasets := numbered(2500)
	var want []packed
	for _, workers := range []int{1, 2, 8} {
		s := packing
		s.Workers = workers
		all, err := packAll(t, s, datasets, allOfThem)
		require.NoError(t, err)
		if want == nil {
			want = all
		}
		require.Equal(t, want, all, "%d workers", workers)
	}
	next := 0
	for _, p := range want {
		assert.LessOrEqual(t, p.Datasets, packing.MaxDatasets)
		assert.LessOrEqual(t, p.Bytes, packing.MaxBytes)
		for _, d := range unpack(t, p) {
			require.Equal(t, datasets[next].Title, d.Title)
			require.Equal(t, datasets[next].Performance[0].Instance[0].CountryCounts, d.Performance[0].Instance[0].CountryCounts)
			next++
		}
	}
	assert.Equal(t, len(datasets), next)
}

func TestPackWithoutContent(t *testing.T) {
	s := packing
	all, err := packAll(t, s, numbered(50), allOfThem)
	require.NoError(t, err)
	s.SkipContent = true
	same, err := packAll(t, s, numbered(50), allOfThem)
	require.NoError(t, err)
	require.Len(t, same, 1)
	assert.Equal(t, all[0].Body, same[0].Body)
	assert.NotZero(t, all[0].Content)
	assert.Zero(t, same[0].Content)
}

func TestPackLeavesOutAndStops(t *testing.T) {
	all, err := packAll(t, packing, numbered(10), func(i int, d *Dataset) error {
		assert.Equal(t, fmt.Sprintf("dataset %d \"é\"", i), d.Title)
		if i%5 != 0 {
			return errSkip
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, all, 1)
	kept := unpack(t, all[0])
	require.Len(t, kept, 2)
	assert.Equal(t, "dataset 5 \"é\"", kept[1].Title)

	bad := errors.New("bad row")
	_, err = packAll(t, packing, numbered(10), func(i int, _ *Dataset) error {
		if i == 3 {
			return bad
		}
		return nil
	})
	require.ErrorIs(t, err, bad)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = pack(ctx, []byte(`{}`), Each(numbered(10)), allOfThem, packing, func(packed) error { return nil })
	require.ErrorIs(t, err, context.Canceled)

	_, err = packAll(t, packing, []Dataset{{Title: "\xff"}}, allOfThem)
	require.ErrorIs(t, err, errNotUTF8)
}

func TestPackNamesADatasetThatIsTooLarge(t *testing.T) {
	datasets := numbered(3)
	var title strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&title, "%x", i*i*i)
	}
	datasets[1].Title = title.String()
	_, err := packAll(t, packing, datasets, allOfThem)
	e, ok := errors.AsType[*FieldError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "report-datasets[1]", e.Path)
	assert.Contains(t, e.Reason, "the most is 100000")
	require.ErrorIs(t, err, ErrInvalid)
}
