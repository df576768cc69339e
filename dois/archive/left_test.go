package archive_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois/archive"
)

// An endless source repeats a text after a beginning, for as long as somebody reads.
type endless struct {
	begin, text string
	ended       bool // nobody may read any more
	t           *testing.T
}

func (e *endless) Read(p []byte) (int, error) {
	assert.False(e.t, e.ended, "a Read after the loop")
	if e.begin == "" {
		e.begin = e.text
	}
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	return n, nil
}

// Leaving the loop ends everything that reads, in whatever it is, and an error does, too.
func TestALoopThatIsLeft(t *testing.T) {
	part := strings.TrimSuffix(tarred("a.jsonl", lines(attributes, 1, 2)), strings.Repeat("\x00", 1024))
	long := `{"doi":"10.5072/long","titles":[{"title":"` + strings.Repeat("long ", 50_000) + `"}]}` + "\n"
	for name, src := range map[string]endless{
		"lines":        {text: lines(attributes, 1)},
		"long lines":   {text: long},
		"a page":       {begin: `{"data":[` + attributes(1), text: "," + attributes(2)},
		"pages":        {text: `{"data":[` + attributes(1) + `]}` + "\n"},
		"long records": {begin: `[` + long, text: "," + long},
		"gzip":         {text: zipped(lines(attributes, 1))},
		"TAR":          {text: part},
		"TAR of gzip": {text: strings.TrimSuffix(tarred("a.jsonl.gz", zipped(lines(attributes, 1))),
			strings.Repeat("\x00", 1024))},
	} {
		for _, after := range []int{1, 100} {
			synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left behind
				src := src
				src.t = t
				n := 0
				for _, err := range archive.NewReader(&src, nil).All() {
					require.NoError(t, err, name)
					if n++; n == after {
						break
					}
				}
				src.ended = true
				assert.Equal(t, after, n)
			})
		}
	}
}

// Nothing is read after damage that is not left out: not the next file of a TAR, nor of a folder.
func TestNothingIsReadAfterDamage(t *testing.T) {
	lost := errors.New("disk is dead")
	whole := tarred("a.jsonl", lines(attributes, 1))
	for name, damaged := range map[string]string{
		"m.jsonl.gz":  zipped(lines(attributes, 1))[:60],
		"m1.jsonl.gz": zipped("<html>")[:len(zipped("<html>"))-8],
		"m.ndjson.gz": "",
		"m.gz":        zipped("")[:5],
		"m.jsonl":     "<html>",
		"m.json":      `{"data":[{"doi"`,
		"m0.json":     `{"errors":[]}`,
		"m.tar":       spoiled(whole, 0),
		"m0.tar":      whole[:len(whole)-1024],
		"m1.tar":      whole + "more",
		"m2.tar":      tarred("README", "Nothing."),
		"m3.tar":      whole[:700],
		"m4.tar":      tarred("b.jsonl.gz", zipped(lines(attributes, 1))[:60]),
		"m5.tar":      tarred("README", strings.Repeat("text ", 4000))[:9000],
		"m.tgz":       zipped(whole)[:100],
		"m1.tgz":      zipped(whole)[:len(zipped(whole))-4],
	} {
		for kind, reader := range map[string]func(*archive.Options) *archive.Reader{
			"TAR": func(opts *archive.Options) *archive.Reader {
				return archive.NewReader(strings.NewReader(tarred("a.jsonl", lines(attributes, 1), name, damaged, "z.jsonl",
					lines(attributes, 2))), opts)
			},
			"folder": func(opts *archive.Options) *archive.Reader {
				return archive.NewFolderReader(fstest.MapFS{"a.jsonl": {Data: []byte(lines(attributes, 1))},
					name:      {Data: []byte(damaged)},
					"z.jsonl": {Data: []byte(lines(attributes, 2))}}, opts)
			},
			"source that fails": func(opts *archive.Options) *archive.Reader {
				return archive.NewFolderReader(failing{fstest.MapFS{"a.jsonl": {Data: []byte(lines(attributes, 1))},
					name: {Data: []byte(lines(attributes, 3))}, "z.jsonl": {Data: []byte(lines(attributes, 2))}}, name, lost}, opts)
			},
		} {
			var asked []string
			opts := archive.Options{Members: func(path string) bool {
				asked = append(asked, path)
				return true
			}}
			_, err := readAll(reader(&opts))
			require.Error(t, err, "%s in a %s", name, kind)
			assert.NotContains(t, asked, "z.jsonl", "after %s in a %s", name, kind)
			assert.Equal(t, kind == "source that fails", errors.Is(err, lost))
			assert.Equal(t, kind != "source that fails", errors.Is(err, datacite.ErrInvalid))

			opts.LeaveOut = func(error) bool { return true }
			records, err := readAll(reader(&opts))
			require.NoError(t, err)
			assert.Equal(t, "10.5072/r2", records[len(records)-1].DOI, "%s in a %s", name, kind)
		}
	}
	assert.NotPanics(t, func() { // what is left out of a TAR is read, to find what follows
		cut := tarred("a.jsonl", lines(attributes, 1), "b.jsonl", lines(attributes, 2))
		_, err := readText(cut[:1536+40], &archive.Options{Members: func(path string) bool { return path == "a.jsonl" }})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.ErrorContains(t, err, "the TAR cannot be read after b.jsonl")
	})
}

// failing is a folder of which one file cannot be opened.
type failing struct {
	fs.FS
	name string
	err  error
}

func (f failing) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

func (f failing) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
	}
	return f.FS.Open(name)
}

// Each file of a folder is closed before the next one is opened.
func TestFilesAreClosed(t *testing.T) {
	files := &counted{FS: fstest.MapFS{"a.jsonl": {Data: []byte(lines(attributes, 1))}, "b.csv": {Data: []byte("doi\n")},
		"c.jsonl": {Data: []byte("{")}, "d.jsonl.gz": {Data: []byte(zipped(lines(attributes, 2)))}}}
	records, err := readAll(archive.NewFolderReader(files, &archive.Options{LeaveOut: func(error) bool { return true }}))
	require.NoError(t, err)
	assert.Len(t, records, 2)
	assert.Equal(t, []int{1, 0}, []int{files.most, files.open})
}

// counted counts files that are open.
type counted struct {
	fs.FS
	open, most int
}

type countedFile struct {
	fs.File
	of *counted
}

func (c *counted) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.FS, name) }
func (c *counted) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(c.FS, name) }

func (c *counted) Open(name string) (fs.File, error) {
	file, err := c.FS.Open(name)
	c.open++
	c.most = max(c.most, c.open)
	return countedFile{file, c}, err
}

func (f countedFile) Close() error {
	f.of.open--
	return f.File.Close()
}

// A panic of the source or of Members is the caller's, who can recover.
func TestSourcesThatPanic(t *testing.T) {
	broken := readerFunc(func([]byte) (int, error) { panic("no more") })
	for name, r := range map[string]*archive.Reader{
		"at once":     archive.NewReader(broken, nil),
		"in lines":    archive.NewReader(io.MultiReader(strings.NewReader(lines(attributes, 1)), broken), nil),
		"in a page":   archive.NewReader(io.MultiReader(strings.NewReader(`{"data":[`+attributes(1)), broken), nil),
		"in gzip":     archive.NewReader(io.MultiReader(strings.NewReader(zipped(lines(attributes, 1))), broken), nil),
		"in a folder": archive.NewFolderReader(panicking{}, nil),
		"Members": archive.NewReader(strings.NewReader(tarred("a.jsonl", lines(attributes, 1))),
			&archive.Options{Members: func(string) bool { panic("no more") }}),
	} {
		synctest.Test(t, func(t *testing.T) {
			assert.PanicsWithValue(t, "no more", func() { _, _ = readAll(r) }, name)
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type panicking struct{}

func (panicking) Open(string) (fs.File, error) { panic("no more") }

// A line and a record may have 16 MiB, and not a byte more.
func TestTheLongestRecords(t *testing.T) {
	const most = 16 << 20
	record := func(size int) string {
		const begin, end = `{"doi":"10.5072/long","titles":[{"title":"`, `"}]}`
		return begin + strings.Repeat("x", size-len(begin)-len(end)) + end
	}
	for name, tt := range map[string]struct {
		text  string
		large bool
	}{
		"line":                      {record(most-1) + "\n", false},
		"longer line":               {record(most) + "\n", true},
		"line without its end":      {record(most), false},
		"record in a page":          {`{"data":[` + record(most) + `]}`, false},
		"longer record in a page":   {`{"data":[` + record(most+1) + `]}`, true},
		"much longer one in a page": {`{"data":[` + record(most+200_000) + `]}`, true},
	} {
		records, err := readAll(archive.NewReader(iotest.HalfReader(strings.NewReader(tt.text)), nil))
		assert.Equal(t, tt.large, errors.Is(err, datacite.ErrTooLarge), "%s: %v", name, err)
		assert.Equal(t, tt.large, len(records) == 0, fmt.Sprint(name))
	}
}
