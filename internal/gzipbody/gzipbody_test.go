package gzipbody_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

// inflate reads one gzip member with the standard library, which checks its CRC
// and size, and makes sure that nothing follows it.
func inflate(t testing.TB, body []byte) []byte {
	t.Helper()
	source := bytes.NewReader(body)
	r, err := gzip.NewReader(source)
	require.NoError(t, err)
	r.Multistream(false)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Zero(t, source.Len(), "one member holds it all")
	return data
}

// words is text that compresses about as well as a report does.
func words(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	list := []string{`"count":`, "report", "dataset", "10.5072/", "0", "1", "é", ",", `"`, "machine"}
	var out []byte
	for len(out) < n {
		out = append(out, list[random.IntN(len(list))]...)
	}
	return out[:n]
}

func noise(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

func member(t testing.TB) (*bytes.Buffer, *gzipbody.Member) {
	t.Helper()
	body := &bytes.Buffer{}
	m, err := gzipbody.NewMember(body)
	require.NoError(t, err)
	return body, m
}

// TestMemberPassesErrorsOn: a full disk must not look like a finished member.
func TestMemberPassesErrorsOn(t *testing.T) {
	for room := range 40 {
		w := &fullAfter{room: room}
		m, err := gzipbody.NewMember(w)
		if err == nil {
			err = m.Add(gzipbody.Stored([]byte("twelve bytes")))
		}
		if err == nil {
			err = m.Close()
		}
		if room < gzipbody.Overhead+5+12 {
			require.ErrorIs(t, err, io.ErrShortWrite, "%d", room)
		} else {
			require.NoError(t, err)
		}
	}
}

// fullAfter is a writer with room for so many bytes.
type fullAfter struct{ room int }

func (w *fullAfter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		return 0, io.ErrShortWrite
	}
	w.room -= len(p)
	return len(p), nil
}

func TestCompress(t *testing.T) {
	data := slices.Concat([]byte(`{"a":[`), bytes.Repeat([]byte("1,"), 100_000), []byte("1]}"))
	body, err := gzipbody.Compress(data)
	require.NoError(t, err)
	again, err := gzipbody.Compress(data)
	require.NoError(t, err)
	assert.Equal(t, body, again, "only the data decides the bytes")
	assert.Equal(t, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}, body[:10], "no time, no name, no system")
	assert.Equal(t, data, inflate(t, body))

	body, err = gzipbody.Compress(nil)
	require.NoError(t, err)
	assert.Empty(t, inflate(t, body))
}

func TestBlockDependsOnItsDataOnly(t *testing.T) {
	for level := 1; level <= 9; level++ {
		fresh, err := gzipbody.NewCompressor(level)
		require.NoError(t, err)
		data := words(7, 200_000)
		want, err := fresh.Block(nil, data)
		require.NoError(t, err)

		used, err := gzipbody.NewCompressor(level)
		require.NoError(t, err)
		for seed := range uint64(2) {
			_, err = used.Block(nil, append(words(seed, 60_000), noise(seed, 50_000)...))
			require.NoError(t, err)
		}
		got, err := used.Block([]byte("what is there stays"), data)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want.Data, got.Data), "level %d", level)
		assert.Equal(t, want.CRC, got.CRC)
	}
}

func TestStored(t *testing.T) {
	for _, n := range []int{0, 1, 2, 65_535} {
		body, m := member(t)
		data := noise(1, n)
		require.NoError(t, m.Add(gzipbody.Stored(data)))
		require.NoError(t, m.Add(gzipbody.Stored(data)))
		require.NoError(t, m.Close())
		assert.True(t, bytes.Equal(slices.Concat(data, data), inflate(t, body.Bytes())), "%d bytes", n)
	}
	assert.Panics(t, func() { gzipbody.Stored(make([]byte, 65_536)) })
}

// FuzzMember puts any data into blocks of any size: the standard library must
// read the same data back. Releases of compressors have been withdrawn for less.
func FuzzMember(f *testing.F) {
	f.Add([]byte("abc"), uint16(1), uint8(1))
	for level := range uint8(9) {
		f.Add(slices.Concat(words(1, 50_000), noise(3, 70_000), words(4, 30_000), bytes.Repeat([]byte{0}, 100_000),
			words(1, 50_000)), uint16(50_000), level)
		f.Add(noise(1, 3000), uint16(7*int(level)), level)
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint16, level uint8) {
		c, err := gzipbody.NewCompressor(1 + int(level)%9)
		require.NoError(t, err)
		body, m := member(t)
		var want []byte
		for piece := range slices.Chunk(data, 1+int(size)) {
			block, err := c.Block(nil, piece)
			require.NoError(t, err)
			require.NoError(t, m.Add(block))
			require.NoError(t, m.Add(gzipbody.Stored([]byte(","))))
			want = append(append(want, piece...), ',')
		}
		length := m.Len()
		require.NoError(t, m.Close())
		require.EqualValues(t, length, body.Len(), "the size is known before the end")
		require.True(t, bytes.Equal(want, inflate(t, body.Bytes())))
	})
}

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
