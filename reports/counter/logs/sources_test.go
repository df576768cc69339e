package logs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// A file is a log that notes whether it was closed.
type file struct {
	io.Reader
	closed int
	fails  error // of Close
}

func (f *file) Close() error {
	f.closed++
	return f.fails
}

func (f *file) log(name string) logs.Log {
	return logs.Log{Name: name, Open: func() (io.ReadCloser, error) { return f, nil }}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // to memory
	_ = w.Close()
	return b.String()
}

// The first bytes of a log show its compression.
func TestCompressedLogs(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	frame := string(z.EncodeAll([]byte("x\n"), nil))
	bzip, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWXdLsBQAAAAAgABAIAAhGEaC7kinChIO6XYCgA==") // x
	require.NoError(t, err)
	for text, want := range map[string]string{
		"x": "", gzipped("x\n"): "", string(bzip): "", frame: "", "\x50\x2a\x4d\x18\x04\x00\x00\x00pzst" + frame: "",
		"\xfd7zXZ\x00":                 "a.log, line 1: is compressed with xz; only gzip, bzip2 and zstd are read",
		"PK\x03\x04":                   "a.log, line 1: is compressed with ZIP;",
		"7z\xbc\xaf\x27\x1c":           "a.log, line 1: is compressed with 7-Zip;",
		"\x04\x22\x4d\x18":             "a.log, line 1: is compressed with LZ4;",
		"\x1f\x9d":                     "a.log, line 1: is compressed with compress;",
		"\x1f\x8bnothing that is gzip": "a.log, line 1: gzip: invalid header",
		gzipped("x\n")[:8]:             "a.log, line 1: unexpected EOF",
		gzipped("x\nx\n")[:20]:         "a.log, line 3: unexpected EOF",
	} {
		f := &file{Reader: strings.NewReader(text)}
		var sum logs.Stats
		_, err := collect(logs.Read([]logs.Log{f.log("a.log")}, logs.Dataverse, &logs.Options{Stats: &sum, Tolerance: all}))
		assert.Equal(t, 1, f.closed)
		if want == "" {
			require.NoError(t, err, "%q", text)
			assert.EqualValues(t, 1, sum.Faulty, "%q", text)
			continue
		}
		require.ErrorIs(t, err, datacite.ErrInvalid)
		require.ErrorContains(t, err, want)
		assert.EqualValues(t, "syntax", datacite.Findings(err)[0].Code)
	}
}

// A log that was compressed while it was written is read up to its last whole line, if that is allowed.
func TestTruncatedLogs(t *testing.T) {
	whole := gzipped(line() + line("client_ip", "192.0.2.2"))
	text := strings.Repeat(line(), 5) // plain text has no end that is known
	for name, tt := range map[string]struct {
		text      string
		events    int
		truncated bool
	}{
		"whole":               {whole, 2, false},
		"checksum missing":    {whole[:len(whole)-4], 2, true},
		"header cut":          {whole[:5], 0, true},
		"first two bytes":     {whole[:2], 0, true},
		"plain, without":      {text[:len(text)-1], 5, false},
		"empty":               {"", 0, false},
		"an end that is line": {gzipped(line() + "#")[:len(gzipped(line()+"#"))-8], 1, true},
	} {
		var sum logs.Stats
		log := logs.FromReader("a.log", strings.NewReader(tt.text))
		after := logs.FromReader("b.log", strings.NewReader(line()))
		events, err := collect(logs.Read([]logs.Log{log, after}, logs.Dataverse, &logs.Options{Stats: &sum,
			AllowTruncated: true}))
		require.NoError(t, err, name)
		assert.Len(t, events, tt.events+1, name)
		assert.Equal(t, tt.truncated, sum.Files[0].Truncated, name)
		assert.False(t, sum.Files[1].Truncated)
		assert.EqualValues(t, tt.events+1, sum.Lines(), "no part of a line")

		_, err = collect(read(logs.Dataverse, strings.NewReader(tt.text), nil))
		assert.Equal(t, tt.truncated, errors.Is(err, datacite.ErrInvalid), name)
	}
	damaged := []byte(whole)
	damaged[len(damaged)-6] ^= 1
	_, err := collect(read(logs.Dataverse, bytes.NewReader(damaged), &logs.Options{AllowTruncated: true}))
	require.ErrorContains(t, err, "line 3: gzip: invalid checksum")
	_, err = collect(read(logs.Dataverse, strings.NewReader("PK\x03\x04"), &logs.Options{AllowTruncated: true}))
	require.ErrorContains(t, err, "is compressed with ZIP")
}

// A log that cannot be read is not to blame.
func TestSourcesThatFail(t *testing.T) {
	lost := errors.New("disk is dead")
	for name, tt := range map[string]struct {
		log  logs.Log
		want string
	}{
		"not there": {logs.Log{Name: "a.log", Open: func() (io.ReadCloser, error) { return nil, lost }},
			"disk is dead"},
		"not at all":     {(&file{Reader: iotest.ErrReader(lost)}).log("a.log"), "a.log, line 1: disk is dead"},
		"without a name": {(&file{Reader: iotest.ErrReader(lost)}).log(""), "line 1: disk is dead"},
		"after a line": {(&file{Reader: io.MultiReader(strings.NewReader(line()),
			iotest.ErrReader(lost))}).log("a.log"), "a.log, line 2: disk is dead"},
		"within a line": {(&file{Reader: io.MultiReader(strings.NewReader(line()[:9]),
			iotest.ErrReader(lost))}).log("a.log"), "a.log, line 1: disk is dead"},
		"in a gzip header": {(&file{Reader: io.MultiReader(strings.NewReader("\x1f\x8b"),
			iotest.ErrReader(lost))}).log("a.log"), "a.log, line 1: disk is dead"},
		"when it is closed": {(&file{Reader: strings.NewReader(line()), fails: lost}).log("a.log"), "disk is dead"},
	} {
		_, err := collect(logs.Read([]logs.Log{tt.log}, logs.Dataverse, &logs.Options{AllowTruncated: true}))
		require.ErrorIs(t, err, lost, name)
		require.NotErrorIs(t, err, datacite.ErrInvalid, name)
		assert.EqualError(t, err, tt.want, name)
	}
}

// Whoever leaves the loop gets no error, and the log is closed.
func TestALoopThatIsLeft(t *testing.T) {
	f, next := &file{Reader: strings.NewReader(strings.Repeat(line(), 1000))}, &file{Reader: strings.NewReader(line())}
	n := 0
	for _, err := range logs.Read([]logs.Log{f.log("a.log"), next.log("b.log")}, logs.Dataverse, nil) {
		require.NoError(t, err)
		if n++; n == 3 {
			break
		}
	}
	assert.Equal(t, []int{3, 1, 0}, []int{n, f.closed, next.closed})
}

// A log of another format is refused after 10,000 lines, however long it is, unless its faults are allowed.
func TestALogOfAnotherFormat(t *testing.T) {
	bad := strings.Repeat("x", 99) + "\n"
	for name, tt := range map[string]struct {
		begin     string
		tolerance logs.Tolerance
		hopeless  bool
	}{
		"all":              {"", logs.Tolerance{}, true},
		"but a comment":    {"# lines\n\n", logs.Tolerance{Share: 0.99}, true},
		"but an event":     {line(), logs.Tolerance{}, false},
		"all are left out": {"", logs.Tolerance{Always: []datacite.Code{"syntax"}}, false},
	} {
		var sum logs.Stats
		_, err := collect(read(logs.Dataverse, strings.NewReader(tt.begin+strings.Repeat(bad, 20_000)),
			&logs.Options{Stats: &sum, Tolerance: tt.tolerance}))
		assert.Equal(t, tt.tolerance.Always == nil, err != nil, name)
		assert.Equal(t, tt.hopeless, sum.Faulty < 12_000, name)
		assert.GreaterOrEqual(t, sum.Faulty, int64(10_000), name)
	}
	const short = "fields are 1, not 19 separated by tabs"
	sum := logs.Stats{}
	_, err := collect(read(logs.Dataverse, strings.NewReader(line()+strings.Repeat("x\n", 3)+line("client_ip", "x")),
		&logs.Options{
			Stats: &sum, Tolerance: logs.Tolerance{Share: 0.015}}))
	assert.EqualError(t, err,
		"logs: 4 of 5 lines cannot be read, more than 1.5 % of them or of the accesses; syntax: 3, first line 2: "+short+
			"; line 3: "+short+"; line 4: "+short+`; address: 1, first line 5: client_ip is "x", not an IP address`)
	_, err = collect(read(logs.Dataverse, strings.NewReader("x\n"), nil))
	assert.EqualError(t, err,
		`logs: 1 of 1 lines cannot be read; syntax: 1, first line 1: `+short)
}

// A country is looked up once for an address, and not for an event that has one.
func TestCountriesAreLookedUpOnce(t *testing.T) {
	events := `{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","address":"192.0.2.1"}
{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","address":"192.0.2.2"}
{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","address":"192.0.2.1"}
{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","address":"192.0.2.1","country":"us"}
{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","user":"jane"}
{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","address":"192.0.2.3"}
`
	var asked, got []string
	for e, err := range read(logs.JSON, strings.NewReader(events), &logs.Options{Country: func(address string) (string,
		error) {
		asked = append(asked, address)
		if address == "192.0.2.3" {
			return "", io.ErrClosedPipe
		}
		return map[string]string{"192.0.2.1": "de", "192.0.2.2": "fr"}[address], nil
	}}) {
		if err != nil {
			assert.Equal(t, counter.Event{}, e)
			assert.EqualError(t, err, "the country of an address: io: read/write on closed pipe")
			continue
		}
		got = append(got, e.Country)
	}
	assert.Equal(t, []string{"de", "fr", "de", "us", ""}, got)
	assert.Equal(t, []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}, asked)
}

// Programs with a format of their own find datasets as the built-in formats do.
func TestFinder(t *testing.T) {
	find := pages().Finder()
	for path, want := range map[string]*logs.Target{"/files/10.5072/a": {DOI: "10.5072/a", Request: true},
		"https://data.example.org/data/10.5072/a?b=c#d": {DOI: "10.5072/a"}, "/about": nil} {
		for range 2 {
			got, err := find(path)
			require.NoError(t, err)
			assert.Equal(t, want, got, path)
		}
	}
	got, err := find("/data/10.x")
	assert.Nil(t, got)
	require.ErrorContains(t, err, `path is "/data/10.x" and has "10.x", which is not a DOI`)
}
