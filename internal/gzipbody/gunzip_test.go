package gzipbody_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

// sample is data that compress a little, and their gzip members one by one.
func sample(t *testing.T, sizes ...int) (plain []byte, members [][]byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range sizes {
		data := make([]byte, size)
		for i := 0; i < size; i += 8 {
			copy(data[i:], fmt.Sprintf("%08x", random.Uint32()))
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		plain, members = append(plain, data...), append(members, b.Bytes())
	}
	return plain, members
}

func TestReadsAhead(t *testing.T) {
	for _, size := range []int{0, 1, 1000, 64 << 10, 64<<10 + 1, 1 << 20} {
		plain, members := sample(t, size)
		r, err := gzipbody.NewReader(bytes.NewReader(members[0]), false)
		require.NoError(t, err)
		for range 3 {
			r.Start()
			got, err := io.ReadAll(r)
			r.Stop()
			require.NoError(t, err)
			require.True(t, bytes.Equal(plain, got), "%d bytes", size)
			_, err = r.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF, "and again")
			require.NoError(t, r.Reset(iotest.HalfReader(bytes.NewReader(members[0]))))
		}
	}
}

func TestStartsInTheMiddle(t *testing.T) {
	plain, members := sample(t, 300_000)
	r, err := gzipbody.NewReader(bytes.NewReader(members[0]), true)
	require.NoError(t, err)
	head := make([]byte, 1234)
	_, err = io.ReadFull(r, head)
	require.NoError(t, err)
	r.Start()
	defer r.Stop()
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(plain, append(head, rest...)))
}

func TestMembers(t *testing.T) {
	plain, members := sample(t, 1000, 2000)
	for all, want := range map[bool]int{true: 3000, false: 1000} {
		r, err := gzipbody.NewReader(bytes.NewReader(bytes.Join(members, nil)), all)
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(plain[:want], got))
	}
}

// The end of a stream that is damaged must never look like its end.
func TestADamagedStreamNeverLooksComplete(t *testing.T) {
	_, members := sample(t, 200_000)
	data := members[0]
	for end := 20; end < len(data); end += len(data) / 50 {
		r, err := gzipbody.NewReader(bytes.NewReader(data[:end]), false)
		require.NoError(t, err)
		r.Start()
		_, err = io.ReadAll(r)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut off at %d", end)
		r.Stop()
	}
	wrong := bytes.Clone(data)
	wrong[len(wrong)-5] ^= 1 // of the CRC
	r, err := gzipbody.NewReader(bytes.NewReader(wrong), false)
	require.NoError(t, err)
	r.Start()
	defer r.Stop()
	_, err = io.ReadAll(r)
	require.Error(t, err)

	lost := errors.New("line is dead")
	r, err = gzipbody.NewReader(io.MultiReader(bytes.NewReader(data[:1000]), iotest.ErrReader(lost)), false)
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, lost)
	_, err = gzipbody.NewReader(bytes.NewReader([]byte("no gzip at all")), false)
	require.Error(t, err)
	require.Error(t, r.Reset(bytes.NewReader(nil)))
}

// Stop leaves no goroutine behind, whatever has been read.
func TestStopLeavesNoGoroutine(t *testing.T) {
	_, members := sample(t, 1<<20+1)
	for _, n := range []int{0, 1, 100_000, 1 << 19} {
		synctest.Test(t, func(t *testing.T) {
			r, err := gzipbody.NewReader(bytes.NewReader(members[0]), false)
			require.NoError(t, err)
			r.Start()
			_, err = io.ReadFull(r, make([]byte, n))
			require.NoError(t, err)
			synctest.Wait() // until it is as far ahead as it may be
			r.Stop()
			_, err = io.ReadAll(r)
			require.Error(t, err, "what was cut short is not whole")
		})
	}
}
