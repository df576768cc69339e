package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

var everyBit = flag.Bool("every-bit", false, "cut TARs at every byte and flip each of their bits, not one of 31")

// zipped is a gzip stream of one member.
func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // to memory
	_ = w.Close()
	return b.String()
}

// tarred is a TAR of files: path, content, path, content.
func tarred(files ...string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if dir, _, inside := strings.Cut(files[i], "/"); inside {
			_ = w.WriteHeader(&tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o755})
		}
		_ = w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))})
		_, _ = io.WriteString(w, files[i+1])
	}
	_ = w.Close()
	return b.String()
}

func attributes(n int) string {
	return fmt.Sprintf(`{"doi":"10.5072/r%d","titles":[{"title":"Record %[1]d"}],"updated":"2025-01-02T03:04:05Z"}`, n)
}

func resource(n int) string {
	return fmt.Sprintf(`{"id":"10.5072/r%d","type":"dois","attributes":%s,`+
		`"relationships":{"client":{"data":{"id":"demo.repo","type":"clients"}}}}`, n, attributes(n))
}

// from joins records of one shape with what stands between them.
func from(shape func(int) string, between string, numbers ...int) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, shape(n))
	}
	return strings.Join(texts, between)
}

func lines(shape func(int) string, numbers ...int) string {
	return from(shape, "\n", numbers...) + "\n"
}

func indented(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, []byte(text), "", "  "))
	return b.String() + "\n"
}

func namesOf(records []*dois.Record) (names []string) {
	for _, r := range records {
		names = append(names, r.DOI)
	}
	return names
}

func readAll(r *archive.Reader) (records []*dois.Record, err error) {
	for record, err := range r.All() {
		if err != nil {
			return records, err
		}
		records = append(records, record)
	}
	return records, nil
}

func readText(text string, opts *archive.Options) ([]*dois.Record, error) {
	return readAll(archive.NewReader(strings.NewReader(text), opts))
}

// shapes are the archives that there are, of the records 1 to 4.
func shapes(t testing.TB) map[string]string {
	page := `{"data":[` + from(resource, ",", 1, 2, 3, 4) + `],"meta":{"total":4},"links":{}}`
	table := zipped("doi,state,client_id,updated\n10.5072/r1,findable,demo.repo,2025-01-02\n")
	file := tarred(
		"README.txt", "What is in here.",
		"dois/updated_2025-01/2025-01.csv.gz", table,
		"dois/updated_2025-01/part_0000.jsonl.gz", zipped(lines(resource, 1, 2)),
		"dois/updated_2025-01/part_0001.jsonl.gz", zipped(lines(resource, 3)),
		"dois/updated_2025-02/2025-02.csv.gz", table,
		"dois/updated_2025-02/part_0000.jsonl.gz", zipped(lines(resource, 4)),
		"STATUS.json", `{"generated":"2026-01-06"}`,
	)
	return map[string]string{
		"what a harvest writes": lines(attributes, 1, 2, 3, 4),
		"it, compressed": zipped(lines(attributes, 1,
			2)) + zipped(lines(attributes, 3)) + zipped(lines(attributes, 4)),
		"resources in lines":           lines(resource, 1, 2, 3, 4),
		"lines without the last break": from(resource, "\n", 1, 2, 3, 4),
		"lines of DOS, and blank ones": "\ufeff" + from(resource, "\r\n \r\n\r\n", 1, 2, 3, 4),
		"a page":                       page,
		"a page, printed":              indented(t, page),
		"a page, printed on DOS":       strings.ReplaceAll(indented(t, page), "\n", "\r\n"),
		"a page with all its members": `{"jsonapi":{"version":"1.0"},"errors":null,"included":[],"links":{},"data":[` +
			from(resource, ",", 1, 2, 3, 4) + `]}`,
		"a page, its records last": `{"meta":{"total":4},"links":{},"data":[` + from(resource, ",", 1, 2, 3, 4) + `]}`,
		"a page, its links first":  `{"links":{},"data":[` + from(resource, ",", 1, 2, 3, 4) + `]}`,
		"a page, its errors first": `{"errors":null,"data":[` + from(resource, ",", 1, 2, 3, 4) + `]}`,
		"a page, included first":   `{"included":[],"data":[` + from(resource, ",", 1, 2, 3, 4) + `]}`,
		"pages in lines": `{"data":[` + resource(1) + `]}` + "\n" + `{"data":[` + from(resource, ",", 2,
			3) + `]}` + "\n" + `{"data":[]}` + "\n" + `{"data":` + resource(4) + `,"included":[]}`,
		"pages, compressed": zipped(indented(t, page)),
		"a list":            "[" + from(attributes, ",\n", 1, 2, 3, 4) + "]",
		"records, printed": indented(t, attributes(1)) + indented(t, resource(2)) + indented(t, attributes(3)) +
			indented(t, resource(4)),
		"records, printed on DOS": strings.ReplaceAll(indented(t, attributes(1))+indented(t, resource(2))+
			indented(t, attributes(3))+indented(t, resource(4)), "\n", "\r\n"),
		"data file of 2023": zipped(tarred("dois/10.5072/0.json", lines(attributes, 1, 2), "dois/10.5072/1.jsonl",
			lines(attributes, 3, 4))),
		"data file of 2024":           file,
		"data file, compressed again": zipped(file),
		"a TAR with a file twice": tarred("a.jsonl", lines(attributes, 1, 2), "a.jsonl", lines(attributes, 3), "a.jsonl",
			lines(attributes, 4)),
		"a TAR of 20 blocks": tarred("a.jsonl", lines(attributes, 1, 2, 3, 4)) + strings.Repeat("\x00", 7<<10),
		"a TAR of pages, printed": tarred("a.json", indented(t, `{"data":[`+from(resource, ",", 1, 2)+`]}`), "b.json",
			indented(t, `{"data":[`+from(resource, ",", 3, 4)+`]}`)),
		"a TAR in a TAR": tarred("all.tar", file),
	}
}

// Whatever an archive looks like, its records are the same, in the same order.
func TestReadsArchives(t *testing.T) {
	all := shapes(t)
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			for way, src := range map[string]io.Reader{
				"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
				"with the end": iotest.DataErrReader(strings.NewReader(text)),
			} {
				records, err := readAll(archive.NewReader(src, nil))
				require.NoError(t, err, way)
				require.Equal(t, []string{"10.5072/r1", "10.5072/r2", "10.5072/r3", "10.5072/r4"}, namesOf(records), way)
				assert.Equal(t, "Record 3", records[2].Titles[0].Title)
				assert.JSONEq(t, attributes(3), string(records[2].Raw))
			}
		})
	}
}

func TestReadsFolders(t *testing.T) {
	files := fstest.MapFS{
		"a/part_0000.jsonl.gz":   {Data: []byte(zipped(lines(resource, 1, 2)))},
		"a/2025-01.csv.gz":       {Data: []byte(zipped("doi,state\n"))},
		"b/records.tar":          {Data: []byte(tarred("part.jsonl", lines(attributes, 3)))},
		"c.jsonl":                {Data: []byte(lines(attributes, 4))},
		"c.jsonl.position":       {Data: []byte(`{"position":{},"bytes":7}`)}, // as a harvest keeps it
		"d/status.json":          {Data: []byte(`{"attributes":{"doi":"10.5072/r5"}}`)},
		"MANIFEST.json":          {Data: []byte(`{"files":3}`)},
		"._c.jsonl.AppleDouble":  {Data: []byte("\x00\x05\x16\x07")},
		"empty.jsonl":            {},
		"notes/about/README.txt": {Data: []byte("What is in here.")},
	}
	r := archive.NewFolderReader(files, nil)
	for range 2 {
		records, err := readAll(r)
		require.NoError(t, err)
		assert.Equal(t, []string{"10.5072/r1", "10.5072/r2", "10.5072/r3", "10.5072/r4", "10.5072/r5"}, namesOf(records))
	}

	var b bytes.Buffer
	w := zip.NewWriter(&b)
	require.NoError(t, w.AddFS(files))
	require.NoError(t, w.Close())
	packed, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	records, err := readAll(archive.NewFolderReader(packed, nil))
	require.NoError(t, err)
	assert.Len(t, records, 5)

	var left []error
	files = fstest.MapFS{"a.jsonl": {Mode: fs.ModeSymlink, Data: []byte("gone")}, "b.jsonl": {Data: []byte("{")},
		"c.jsonl": {Data: []byte(lines(attributes, 4))}}
	records, err = readAll(archive.NewFolderReader(files, &archive.Options{LeaveOut: func(e error) bool {
		left = append(left, e)
		return true
	}}))
	require.NoError(t, err)
	assert.Len(t, records, 1)
	require.Len(t, left, 2)
	require.ErrorIs(t, left[0], fs.ErrNotExist)
	require.NotErrorIs(t, left[0], datacite.ErrInvalid, "the file is not to blame")
	require.ErrorIs(t, left[1], datacite.ErrInvalid)

	_, err = readAll(archive.NewFolderReader(os.DirFS("there/is/none"), nil))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, datacite.ErrInvalid)
	_, err = readAll(archive.NewFolderReader(os.DirFS(t.TempDir()), nil))
	require.ErrorIs(t, err, datacite.ErrInvalid)
	records, err = readAll(archive.NewFolderReader(fstest.MapFS{"empty.jsonl": {}}, nil))
	require.NoError(t, err, "a harvest that found nothing")
	assert.Empty(t, records)
}

// A note among the files is JSON without any member that records or pages have.
func TestNotesAreNoRecords(t *testing.T) {
	for _, name := range []string{"doi", "id", "identifiers", "prefix", "attributes", "data"} {
		for text, skipped := range map[string]bool{`{"note":[{}],"of":"` + name + `"}`: true, `{"note":[{}],"` + name +
			`":null}`: false,
			`[{"note":"x"}]`: false, `{"note":"cut`: false} {
			for _, file := range []string{"STATUS.json", "MANIFEST.JSON.gz", "note", "notes/note.txt"} {
				data := text
				if strings.HasSuffix(file, ".gz") {
					data = zipped(text)
				}
				records, err := readText(tarred("a.jsonl", lines(attributes, 1), file, data), nil)
				assert.Len(t, records, 1)
				assert.Equal(t, skipped, err == nil, "%s: %s", file, text)
			}
			_, err := readText(tarred("a.jsonl", lines(attributes, 1), "b.json", text), nil)
			require.ErrorIs(t, err, datacite.ErrInvalid)
		}
	}
}

func TestReadsLinksOfFolders(t *testing.T) {
	dir := t.TempDir()
	for name, n := range map[string]int{"c.jsonl": 4, "below/e.jsonl": 5} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(lines(attributes, n)), 0o600))
	}
	testkit.Symlink(t, filepath.Join(dir, "c.jsonl"), filepath.Join(dir, "d.jsonl"))
	records, err := readAll(archive.NewFolderReader(os.DirFS(dir), nil))
	require.NoError(t, err)
	assert.Len(t, records, 3)
}

// A month of a data file is read without the others.
func TestOneMonthOfADataFile(t *testing.T) {
	var asked []string
	records, err := readText(shapes(t)["data file of 2024"], &archive.Options{Members: func(path string) bool {
		asked = append(asked, path)
		return strings.HasPrefix(path, "dois/updated_2025-02/")
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"10.5072/r4"}, namesOf(records))
	assert.Len(t, asked, 7)

	asked = nil
	folder := fstest.MapFS{"a/part.jsonl": {Data: []byte(lines(attributes, 1))},
		"b/part.jsonl": {Data: []byte(lines(attributes, 2))}}
	records, err = readAll(archive.NewFolderReader(folder, &archive.Options{Members: func(path string) bool {
		asked = append(asked, path)
		return strings.HasPrefix(path, "b")
	}}))
	require.NoError(t, err)
	assert.Equal(t, []string{"10.5072/r2"}, namesOf(records))
	assert.Equal(t, []string{"a/part.jsonl", "b/part.jsonl"}, asked, "files, and no folders")
}

// spoiled has another byte at an offset.
func spoiled(text string, at int) string { return text[:at] + "?" + text[at+1:] }

// What is wrong is an error that says where, and what was read last.
func TestArchiveErrors(t *testing.T) {
	broken := `{"doi":"10.5072/r2","titles":[{"title":"Reco`
	crc := []byte(zipped(lines(resource, 1, 2)))
	crc[len(crc)-6] ^= 1
	file := func(part string) string {
		return tarred("dois/part_0000.jsonl.gz", zipped(lines(resource, 1)), "dois/part_0001.jsonl.gz", part,
			"dois/part_0002.jsonl.gz", zipped(lines(resource, 4)))
	}
	long := `{"doi":"10.5072/long","titles":[{"title":"` + strings.Repeat("long ", 4<<20) + `"}]}`
	hungry := `{"doi":"10.5072/hungry","relatedItems":[` + strings.Repeat("{},", 3<<20) + `{}]}`
	for _, tt := range []struct {
		name, text string
		want       string
		after      []string // what comes after it, if reading goes on
	}{
		{"a line cut off", lines(attributes, 1) + broken + "\n" + lines(attributes, 3),
			`: line 2: byte 86, after the record 10.5072/r1: unexpected EOF`, []string{"10.5072/r3"}},
		{"a line cut off, in a file with a mark", "\ufeff" + lines(attributes, 1) + broken + "\n" + lines(attributes, 3),
			`: line 2: byte 89, after the record 10.5072/r1: unexpected EOF`, []string{"10.5072/r3"}},
		{"a line that is no JSON", lines(attributes, 1) + `{"doi":10.5072/r2}` + "\n" + lines(attributes, 3),
			`: line 2: byte 100, after the record 10.5072/r1: at byte 14: found '/' instead of a member or the end of an ` +
				`object`, []string{"10.5072/r3"}},
		{"no DOI", lines(attributes, 1) + `{"alias":"10.5072/r2"}` + "\n" + lines(attributes, 3),
			`: line 2: byte 86, after the record 10.5072/r1: not a record: it has no DOI`, []string{"10.5072/r3"}},
		{"no attributes", `{"id":"10.5072/r1","type":"dois","attributes":null}` + "\n" + lines(attributes, 3),
			`a record has no attributes`, []string{"10.5072/r3"}},
		{"other resources", `{"id":"demo.repo","type":"clients","attributes":{"name":"Demo"}}`,
			`not a record, but a resource of the type "clients"`, nil},
		{"an error page", `{"errors":[{"title":"busy"}]}`, `: byte 29: neither a record nor a page of records`, nil},
		{"no DOI in a page", `{"data":[` + attributes(1) + `,{"alias":"10.5072/r2"},` + attributes(3) + `]}`,
			`: byte 95, after the record 10.5072/r1: not a record: it has no DOI`, []string{"10.5072/r3"}},
		{"a page without records", `{"data":null,"meta":{"total":0}}`,
			`: byte 32: neither a record nor a page of records`, nil},
		{"a page of one text", `{"data":"10.5072/r1"}`, `: byte 21: neither a record nor a page of records`, nil},
		{"something behind a page", `{"data":[` + resource(1) + `]} more`, `after the record 10.5072/r1: `, nil},
		{"something behind a list", `[` + resource(1) + `]]`, `after the record 10.5072/r1: `, nil},
		{"a record in a page that is not UTF-8", `{"data":[` + attributes(1) + `,{"doi":"10.5072/r2","language":"` +
			"\xe4" + `"},` + attributes(3) + `]}`,
			`after the record 10.5072/r1: `, []string{"10.5072/r3"}},
		{"HTML", `<!doctype html><title>busy</title>`, `neither JSON nor gzip nor TAR: it begins with "<!doctype html><titl"`,
			nil},
		{"a long line", lines(attributes, 1) + long + "\n" + lines(attributes, 3),
			`: line 2: byte 86, after the record 10.5072/r1: too large: the line is longer than 16 MiB`, []string{"10.5072/r3"}},
		{"a long line at the end", lines(attributes, 1) + long,
			`: line 2: byte 86, after the record 10.5072/r1: too large: the line is longer than 16 MiB`, nil},
		{"a long record in a page", `{"data":[` + attributes(1) + `,` + long + `,` + attributes(3) + `]}`, `too large: `,
			nil},
		{"a record that takes memory", lines(attributes, 1) + hungry + "\n" + lines(attributes, 3),
			`too large: it takes more than 104857600 bytes of memory`, []string{"10.5072/r3"}},
		{"a page cut off", `{"data":[` + resource(1) + `,` + resource(2)[:50], `after the record 10.5072/r1: unexpected EOF`,
			nil},
		{"gzip cut off", zipped(lines(attributes, 1, 2))[:60], `unexpected EOF`, nil},
		{"a gzip header cut off", "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03na", `: byte 0: unexpected EOF`, nil},
		{"gzip in too many layers", zipped(zipped(zipped(zipped(zipped(zipped(zipped(zipped(zipped("{}"))))))))),
			`too large: more than 8 nested packings`, nil},
		{"something behind the gzip", zipped(lines(attributes, 1)) + "more", `after the record 10.5072/r1: unexpected EOF`,
			nil},
		{"a wrong checksum", file(string(crc)),
			`: dois/part_0001.jsonl.gz, line 3: byte 410, after the record 10.5072/r2: gzip: invalid checksum`, []string{
				"10.5072/r4"}},
		{"a member cut off", file(zipped(lines(resource, 2))[:40]),
			`: dois/part_0001.jsonl.gz: byte 0, after the record 10.5072/r1: unexpected EOF`, []string{"10.5072/r4"}},
		{"a member that is empty", file(""),
			`: dois/part_0001.jsonl.gz: byte 0, after the record 10.5072/r1: an empty file is not gzip`, []string{"10.5072/r4"}},
		{"a member that is something else", file(zipped("doi,state\n")),
			`: dois/part_0001.jsonl.gz: byte 0, after the record 10.5072/r1: neither JSON nor gzip nor TAR: it begins with ` +
				`"doi,state\n"`, []string{"10.5072/r4"}},
		{"a member of other JSON", file(zipped(`{"generated":"today"}`)),
			`: dois/part_0001.jsonl.gz, line 1: byte 0, after the record 10.5072/r1: not a record`, []string{"10.5072/r4"}},
		{"a line in a member", file(zipped(broken + "\n" + lines(resource, 3))),
			`: dois/part_0001.jsonl.gz, line 1: byte 0, after the record 10.5072/r1: unexpected EOF`, []string{"10.5072/r3",
				"10.5072/r4"}},
		{"a TAR without its end", strings.TrimRight(file(zipped(lines(resource, 3))), "\x00") + "\x00",
			`dois/part_0002.jsonl.gz`, nil},
		{"no TAR in a TAR", tarred("a.jsonl", lines(attributes, 1), "2025.tar.gz", zipped("gone")),
			`: 2025.tar.gz: byte 0, after the record 10.5072/r1: neither JSON nor gzip nor TAR: it begins with "gone"`, nil},
		{"a TAR whose first header is damaged", spoiled(tarred("a.jsonl", lines(attributes, 1)), 0),
			`: byte 512: the TAR cannot be read: archive/tar: invalid tar header`, nil},
		{"a TAR whose second header is damaged",
			spoiled(tarred("a.jsonl", lines(attributes, 1), "b.jsonl", lines(attributes, 2)),
				1024), `, after the record 10.5072/r1: the TAR cannot be read after a.jsonl: archive/tar: invalid tar header`, nil},
		{"a TAR of other things", tarred("README", "Nothing."), `no file in it has records`, nil},
		{"a byte behind the TAR", tarred("a.jsonl", lines(attributes, 1)) + "x", `data follows the end of the TAR`, nil},
		{"something behind the TAR", tarred("a.jsonl", lines(attributes, 1)) + tarred("b.jsonl", lines(attributes, 2)),
			`data follows the end of the TAR`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, err := readText(tt.text, nil)
			require.Len(t, datacite.Findings(err), 1, "%v", err)
			assert.ErrorContains(t, err, tt.want)
			tooLarge := strings.Contains(tt.want, "too large")
			assert.Equal(t, tooLarge, errors.Is(err, datacite.ErrTooLarge))
			require.ErrorIs(t, err, datacite.ErrInvalid)
			if len(before) > 0 {
				assert.ErrorContains(t, err, ", after the record "+before[len(before)-1].DOI+": ")
			}

			var skipped []string
			all, wrong := readText(tt.text, &archive.Options{LeaveOut: func(e error) bool {
				skipped = append(skipped, e.Error())
				return true
			}})
			require.NoError(t, wrong)
			assert.Equal(t, []string{err.Error()}, skipped, "the same is said once")
			assert.Equal(t, tt.after, namesOf(all[len(before):]))

			_, wrong = readText(tt.text, &archive.Options{LeaveOut: func(error) bool { return false }})
			assert.EqualError(t, wrong, err.Error())
		})
	}
}

// The error of the source is in the error of the archive.
func TestArchiveThatCannotBeRead(t *testing.T) {
	lost := errors.New("disk is dead")
	for _, text := range shapes(t) {
		for _, part := range []int{0, len(text) / 2} {
			_, err := readAll(archive.NewReader(io.MultiReader(strings.NewReader(text[:part]), iotest.ErrReader(lost)), nil))
			require.ErrorIs(t, err, lost)
			require.NotErrorIs(t, err, datacite.ErrInvalid)
		}
	}
	r := archive.NewReader(strings.NewReader(lines(attributes, 1)), nil)
	_, err := readAll(r)
	require.NoError(t, err)
	_, err = readAll(r)
	require.ErrorContains(t, err, "already been read")
	assert.EqualValues(t, "used", datacite.Findings(err)[0].Code)
}

// A cut, or a bit that has flipped, is never taken for an archive of other records.
func TestDamagedArchives(t *testing.T) {
	small := func(n int) string { return fmt.Sprintf(`{"doi":"10.5072/r%d"}`, n) }
	members := []string{zipped(lines(small, 1, 2)), zipped(lines(small, 3))}
	file := tarred("part_0.jsonl.gz", members[0], "part_1.jsonl.gz", members[1])
	whole := []string{`{"doi":"10.5072/r1"}`, `{"doi":"10.5072/r2"}`, `{"doi":"10.5072/r3"}`}
	for name, tt := range map[string]struct {
		text  string
		clean []int // where a cut is no damage
	}{
		"gzip":   {zipped(lines(small, 1, 2, 3)), []int{0}},
		"gzips":  {members[0] + members[1], []int{0, len(members[0])}},
		"TAR":    {file, []int{0}},
		"TAR.GZ": {zipped(file), []int{0}},
		"page":   {`{"data":[` + from(small, ",", 1, 2, 3) + `]}`, []int{0}},
		"lines":  {lines(small, 1, 2, 3), []int{0, 20, 21, 41, 42, 62}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(text string, place ...any) (found []string, err error) {
				records, err := readText(text, nil)
				if err != nil {
					require.ErrorIs(t, err, datacite.ErrInvalid, place...)
				}
				for _, r := range records {
					found = append(found, string(r.Raw))
				}
				return found, err
			}
			step := 1
			if strings.HasPrefix(name, "TAR") && !*everyBit {
				step = 31
			}
			for cut := 0; cut < len(tt.text); cut += step/7 + 1 {
				found, err := check(tt.text[:cut], "cut at", cut)
				require.Equal(t, strings.Join(whole[:len(found)], ","), strings.Join(found, ","), "cut at %d", cut)
				require.Equal(t, slices.Contains(tt.clean, cut), err == nil, "cut at %d of %d: %v", cut, len(tt.text), err)
			}
			if name == "page" || name == "lines" {
				return // plain text has no checksum
			}
			for bit := 0; bit < 8*len(tt.text); bit += step {
				flipped := []byte(tt.text)
				flipped[bit/8] ^= 1 << (bit % 8)
				found, err := check(string(flipped), "bit", bit)
				if err == nil {
					require.Equal(t, whole, found, "bit %d of byte %d", bit%8, bit/8)
				}
			}
		})
	}
}

// Memory does not grow with what an archive inflates to.
func TestMemoryDoesNotGrowWithWhatAnArchiveInflatesTo(t *testing.T) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	_, err = w.Write([]byte(attributes(1)))
	require.NoError(t, err)
	for range 64 {
		_, err = w.Write(blanks)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = readText(b.String(), nil)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, datacite.ErrTooLarge)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(48<<20), "bytes that were ever allocated")
}

// Many batches are in the order of the archive, also up to where the loop is left.
func TestManyRecordsAreInOrder(t *testing.T) {
	var numbers []int
	for n := range 20_000 {
		numbers = append(numbers, n)
	}
	text := tarred("a.jsonl.gz", zipped(lines(resource, numbers...)))
	for _, stop := range []int{100, 15_000, 20_000} {
		n := 0
		for r, err := range archive.NewReader(strings.NewReader(text), nil).All() {
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("10.5072/r%d", n), r.DOI)
			if n++; n == stop {
				break
			}
		}
		require.Equal(t, stop, n)
	}
}

// FuzzReader: no input makes the reader panic, hang or give a record without a name.
func FuzzReader(f *testing.F) {
	for _, text := range shapes(f) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := &archive.Options{LeaveOut: func(e error) bool {
			assert.NotEmpty(t, e.Error())
			assert.ErrorIs(t, e, datacite.ErrInvalid)
			return true
		}}
		for r, err := range archive.NewReader(bytes.NewReader(data), opts).All() {
			require.NoError(t, err)
			require.NotEmpty(t, r.DOI)
			require.True(t, json.Valid(r.Raw))
		}
	})
}

// A Reader without a source is an error, whichever way it was made.
func TestNothingToRead(t *testing.T) {
	for name, r := range map[string]*archive.Reader{
		"no reader": archive.NewReader(nil, nil), "no folder": archive.NewFolderReader(nil, nil), "zero": {},
	} {
		_, err := readAll(r)
		require.ErrorIs(t, err, datacite.ErrInvalid, name)
		require.ErrorContains(t, err, "has no source", name)
		assert.Equal(t, "Reader", datacite.Findings(err)[0].Path)
	}
}
