package gzipbody_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

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

func TestCompress(t *testing.T) {
	pieces := [][]byte{[]byte(`{"a":[`), bytes.Repeat([]byte("1,"), 100_000), []byte("1]}")}
	body, err := gzipbody.Compress(pieces...)
	require.NoError(t, err)
	again, err := gzipbody.Compress(bytes.Join(pieces, nil))
	require.NoError(t, err)
	assert.Equal(t, body, again, "only the data decides the bytes")
	assert.Equal(t, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}, body[:10], "no time, no name, no system")
	assert.Equal(t, bytes.Join(pieces, nil), inflate(t, body))

	body, err = gzipbody.Compress()
	require.NoError(t, err)
	assert.Empty(t, inflate(t, body))
}

func TestMemberOfBlocks(t *testing.T) {
	for level := 1; level <= 9; level++ {
		c, err := gzipbody.NewCompressor(level)
		require.NoError(t, err)
		var m gzipbody.Member
		for round := range 2 {
			m.Reset()
			var want []byte
			for _, data := range [][]byte{
				words(1, 50_000), words(2, 1), nil, noise(3, 70_000), words(4, 300_000), bytes.Repeat([]byte{0}, 70_000), words(1, 50_000),
			} {
				block, err := c.Block(nil, data)
				require.NoError(t, err)
				m.Add(block)
				m.Add(gzipbody.Stored([]byte(",")))
				want = append(append(want, data...), ',')
				require.Len(t, m.Bytes(), m.Len(), "the size is known before the end")
			}
			assert.True(t, bytes.Equal(want, inflate(t, m.Bytes())), "level %d, round %d", level, round)
		}
	}
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
		var m gzipbody.Member
		data := noise(1, n)
		m.Add(gzipbody.Stored(data))
		m.Add(gzipbody.Stored(data))
		assert.True(t, bytes.Equal(slices.Concat(data, data), inflate(t, m.Bytes())), "%d bytes", n)
	}
	assert.Panics(t, func() { gzipbody.Stored(make([]byte, 65_536)) })
}

func TestLevels(t *testing.T) {
	for _, level := range []int{-1, 0, 10} {
		_, err := gzipbody.NewCompressor(level)
		assert.ErrorContains(t, err, "between 1 and 9")
	}
}

func TestChecksum(t *testing.T) {
	assert.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", gzipbody.Checksum([]byte("abc")))
}

// FuzzMember puts any data into blocks of any size: the standard library must
// read the same data back. Releases of compressors have been withdrawn for less.
func FuzzMember(f *testing.F) {
	f.Add([]byte("abc"), uint16(1), uint8(1))
	f.Add(words(1, 5000), uint16(1000), uint8(6))
	f.Add(noise(1, 3000), uint16(700), uint8(9))
	f.Add(bytes.Repeat([]byte("a"), 100_000), uint16(50_000), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, size uint16, level uint8) {
		c, err := gzipbody.NewCompressor(1 + int(level)%9)
		require.NoError(t, err)
		var m gzipbody.Member
		for piece := range slices.Chunk(data, 1+int(size)) {
			block, err := c.Block(nil, piece)
			require.NoError(t, err)
			m.Add(block)
		}
		require.True(t, bytes.Equal(data, inflate(t, m.Bytes())))
	})
}

func BenchmarkBlock(b *testing.B) {
	data := words(1, 1<<20)
	for _, level := range []int{1, 6, 8} {
		b.Run(string(rune('0'+level)), func(b *testing.B) {
			c, err := gzipbody.NewCompressor(level)
			require.NoError(b, err)
			var out []byte
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				block, err := c.Block(out[:0], data)
				if err != nil {
					b.Fatal(err)
				}
				out = block.Data
			}
		})
	}
}
