package register

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// The address of a row finds the name that was made for it, so it may stand in several rows only if each has a name.
func TestRowsWithOneAddress(t *testing.T) {
	row := func(doi string) string {
		return doi + ",https://repository.example.org/1,Item,\"Lovelace, Ada\",Repository,2026,Dataset\n"
	}
	for names, code := range map[[2]string]int{{"", ""}: 2, {"10.5072/a", ""}: 2, {"", "10.5072/a"}: 2,
		{"10.5072/a", "10.5072/b"}: 0} {
		srv := shelltest.Serve(t, nil)
		items := filepath.Join(folder(t, header+row(names[0])+row(names[1])), "items.csv")
		got, _, notes := start(t, srv, "--prefix", "10.5072", items)
		assert.Equal(t, code, got, "%q: %s", names, notes)
		assert.Equal(t, code != 0, len(srv.Requests()) == 0)
		if code == 0 { // a row without a name could be either
			require.NoError(t, os.WriteFile(items, []byte(header+row("")), 0o600))
			got, _, notes = start(t, srv, "--prefix", "10.5072", items)
			assert.NotZero(t, got)
			assert.Contains(t, notes, "the result table has several DOIs with this URL; give the row its DOI")
		}
	}
}

// A row that was left out has no DOI that it was not given, and a row that was registered stays so.
func TestARowThatWasLeftOutHasNoDOI(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	row := func(doi, url, title string) string {
		return doi + ",https://repository.example.org/" + url + "," + title + ",\"Lovelace, Ada\",Repository,2026,Dataset\n"
	}
	path := folder(t, header+row("", "1", "First")+row("", "1", "Second"))
	items, result := filepath.Join(path, "items.csv"), filepath.Join(path, "items.registered.csv")
	titleOf := func(name string) string {
		record, err := srv.Record(name)
		require.NoError(t, err)
		return record.Titles[0].Title
	}
	var first string
	for _, file := range []string{items, items, result, result} {
		code, _, notes := start(t, srv, "--prefix", "10.5072", "--leave-out", file)
		require.Equal(t, 1, code, notes)
		assert.Contains(t, notes, "line 3: url: is that of "+filepath.Base(file)+", line 2, too")
		rows := read(t, result)
		first = rows[0]["doi"]
		assert.Equal(t, []string{"created", "", "failed"}, []string{rows[0]["result"], rows[1]["doi"], rows[1]["result"]})
		assert.Equal(t, "First", titleOf(first))
	}
	data := shelltest.Read(t, result)

	// The source loses the first row: the URL does not make its DOI that of the second, also not after a run that
	// was killed when it had tried the first again.
	require.NoError(t, os.WriteFile(items, []byte(header+row("", "1", "Second")), 0o600))
	for _, journal := range []string{"",
		fmt.Sprintf(`{"doi":%q,"url":"https://repository.example.org/1","result":"failed"}`, first)} {
		require.NoError(t, os.WriteFile(result, data, 0o600))
		require.NoError(t, os.WriteFile(result+".journal", []byte(journal), 0o600))
		code, _, notes := start(t, srv, "--prefix", "10.5072", "--leave-out", items)
		assert.Equal(t, 1, code)
		assert.Contains(t, notes, "is that of "+first+
			" and of a row that was left out; give the row its DOI, or continue with the result table")
		assert.Equal(t, "First", titleOf(first))
	}

	// So does the result table, whose second row is corrected.
	lines := strings.SplitAfter(string(data), "\n")
	require.NoError(t, os.WriteFile(result,
		[]byte(lines[0]+strings.Replace(lines[2], "example.org/1,", "example.org/2,", 1)), 0o600))
	code, _, notes := start(t, srv, "--prefix", "10.5072", "--leave-out", result)
	require.Zero(t, code, notes)
	second := read(t, result)[0]["doi"]
	assert.Equal(t, []string{"First", "Second"}, []string{titleOf(first), titleOf(second)})

	// The row with a DOI is the one that its URL tells, wherever it is.
	require.NoError(t, os.WriteFile(items, []byte(header+row("", "3", "Without")+row("10.5072/mine", "3", "Mine")), 0o600))
	require.NoError(t, os.Remove(result))
	for range 2 {
		code, _, notes = start(t, srv, "--prefix", "10.5072", "--leave-out", items)
		assert.Equal(t, 1, code)
		assert.Contains(t, notes, "line 2: url: is that of items.csv, line 3, too")
		rows := read(t, result)
		assert.Equal(t, []string{"", "failed", "10.5072/mine", "created"},
			[]string{rows[0]["doi"], rows[0]["result"], rows[1]["doi"], rows[1]["result"]})
	}
}

// A result may be read by those who may read the table, and its lines end as there.
func TestTheResultIsLikeItsTable(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	for _, tt := range []struct {
		table, header string
		mode          os.FileMode
	}{
		{header + line(1), "doi,url", 0o644},
		{strings.ReplaceAll("\ufeff"+header+line(1), "\n", "\r\n"), "doi,url", 0o640},
		{strings.NewReplacer(",", ";", "Lovelace, Ada", "Lovelace, Ada", "\n", "\r\n").Replace(header + line(1)), "doi;url",
			0o600},
	} {
		items := filepath.Join(folder(t, tt.table), "items.csv")
		require.NoError(t, os.Chmod(items, tt.mode))
		code, _, notes := start(t, srv, "--prefix", "10.5072", items)
		require.Zero(t, code, notes)
		result := strings.TrimSuffix(items, ".csv") + ".registered.csv"
		got := string(shelltest.Read(t, result))
		assert.Equal(t, strings.Count(tt.table, "\r\n"), strings.Count(got, "\r\n"))
		assert.Equal(t, 2, strings.Count(got, "\n"))
		assert.True(t, strings.HasPrefix(got, "\ufeff"+tt.header), got)
		if tt.header == "doi,url" {
			head, _, _ := strings.Cut(got, "\n")
			assert.Equal(t, "\ufeffdoi,url,state,title,creators,publisher,year,type,description,subjects,rights,language,"+
				"related identifiers,dates,result,error,registered", strings.TrimSpace(head))
		}
		info, err := os.Stat(result)
		require.NoError(t, err)
		if runtime.GOOS != "windows" { // which has other rights
			assert.Equal(t, tt.mode, info.Mode().Perm())
		}
	}
}

// Two runs do not write the same results.
func TestTwoAtOnce(t *testing.T) {
	path := folder(t, header+line(1))
	held := make(chan bool)
	srv := shelltest.Serve(t, &datacitetest.Options{Faults: func(int, *http.Request) *datacitetest.Fault {
		<-held
		return nil
	}})
	ended := make(chan int)
	go func() {
		code, _, _ := start(t, srv, "--prefix", "10.5072", filepath.Join(path, "items.csv"))
		ended <- code
	}()
	journal := filepath.Join(path, "items.registered.csv.journal")
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(journal)
		return err == nil && bytes.Contains(text, []byte("10.5072/"))
	}, 5*time.Minute, time.Millisecond)
	code, _, notes := start(t, srv, "--prefix", "10.5072", filepath.Join(path, "items.csv"))
	assert.Equal(t, 1, code)
	assert.Equal(t, "datacite: another run writes "+filepath.Join(path,
		"items.registered.csv")+"; wait until it has ended\n", notes)
	code, _, notes = shelltest.Anonymous(srv).Do(t, quick, "register", "--prefix", "10.5072", "--dry-run",
		filepath.Join(path, "items.csv"))
	assert.Zero(t, code, "a dry run writes nothing: %s", notes)
	close(held)
	assert.Zero(t, <-ended)
	left, err := os.ReadDir(path)
	require.NoError(t, err)
	assert.Len(t, left, 2, "the table and its results")
}

// openFiles opens files as a test says, until its end.
func openFiles(t *testing.T, open func(name string, flag int, mode fs.FileMode) (*os.File, error)) {
	was := shell.OpenFile
	shell.OpenFile = open
	t.Cleanup(func() { shell.OpenFile = was })
}

// Windows opens a file that is locked, and neither reads nor writes it.
func TestLocksOfWindows(t *testing.T) {
	openFiles(t, func(name string, flag int, mode fs.FileMode) (*os.File, error) {
		file, err := os.OpenFile(name, flag, mode)
		if err != nil {
			return nil, err
		}
		lock := flock.New(name, flock.SetFlag(os.O_RDONLY))
		defer lock.Close()
		if free, err := lock.TryLock(); err != nil || free {
			return file, err
		}
		require.NoError(t, file.Close())
		if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
			return os.OpenFile(name, os.O_RDONLY, 0)
		}
		return os.OpenFile(name, os.O_WRONLY, 0)
	})
	srv := shelltest.Serve(t, nil)
	path := folder(t, header+line(1)+line(2))
	journal := `{"doi":"10.5072/noted","made":true,"url":"https://repository.example.org/1"}` + "\n" +
		`{"url":"https://repo`
	require.NoError(t, os.WriteFile(filepath.Join(path, "items.registered.csv.journal"), []byte(journal), 0o600))
	code, _, notes := start(t, srv, "--prefix", "10.5072", filepath.Join(path, "items.csv"))
	require.Zero(t, code, notes)
	assert.Contains(t, srv.Names(), "10.5072/noted")
	assert.Len(t, srv.Names(), 2)
}

// A journal that cannot be read may have the names of rows, which would get others.
func TestJournalThatCannotBeRead(t *testing.T) {
	const noted = `{"doi":"10.5072/noted","made":true,"url":"https://repository.example.org/1"}` + "\n"
	for name, tt := range map[string]struct {
		journal string
		open    func(name string) (*os.File, error) // nil means that it can be opened
		says    string
	}{
		"refused": {noted, func(name string) (*os.File, error) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}, "open JOURNAL: permission denied"},
		"fails": {noted, func(name string) (*os.File, error) {
			return os.OpenFile(name, os.O_WRONLY, 0)
		}, "read JOURNAL: "},
		"damaged":    {noted[5:] + noted, nil, "JOURNAL: line 1 is damaged"},
		"run on":     {noted[:20] + noted, nil, "JOURNAL: line 1 is damaged"},
		"other type": {noted + `{"doi":1}` + "\n", nil, "JOURNAL: line 2 is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := shelltest.Serve(t, nil)
			path := folder(t, header+line(1)+line(2))
			journal := filepath.Join(path, "items.registered.csv.journal")
			require.NoError(t, os.WriteFile(journal, []byte(tt.journal), 0o600))
			openFiles(t, func(name string, flag int, mode fs.FileMode) (*os.File, error) {
				if name == journal && tt.open != nil && flag == os.O_RDONLY {
					return tt.open(name)
				}
				return os.OpenFile(name, flag, mode)
			})
			code, _, notes := start(t, srv, "--prefix", "10.5072", filepath.Join(path, "items.csv"))
			assert.Equal(t, 2, code, notes)
			assert.Contains(t, notes, strings.ReplaceAll(tt.says, "JOURNAL", journal))
			assert.Zero(t, len(srv.Requests()))
			assert.Equal(t, tt.journal, string(shelltest.Read(t, journal)))
		})
	}
	openFiles(t, func(name string, flag int, mode fs.FileMode) (*os.File, error) {
		file, err := os.OpenFile(name, flag, mode)
		if err == nil && strings.HasSuffix(name, ".journal") {
			assert.NoError(t, file.Close())
		}
		return file, err
	})
	silent := shelltest.Serve(t, nil)
	status, _, said := start(t, silent, "--prefix", "10.5072", filepath.Join(folder(t, header+line(1)), "items.csv"))
	assert.Equal(t, 2, status, "it cannot be written")
	assert.Contains(t, said, "the results cannot be kept: ")
	assert.Empty(t, silent.Requests())
	r := &results{dois: map[string]*entry{}, urls: map[string]*entry{}}
	assert.ErrorIs(t, r.readJournal(io.MultiReader(strings.NewReader(noted), iotest.ErrReader(io.ErrNoProgress))),
		io.ErrNoProgress, "in the middle")

	if runtime.GOOS == "windows" {
		return // a link to itself is not there
	}
	srv, path := shelltest.Serve(t, nil), folder(t, header+line(1))
	usual := filepath.Join(path, "items.registered.csv")
	require.NoError(t, os.Symlink(usual, usual))
	code, _, notes := start(t, srv, "--prefix", "10.5072", "--output", filepath.Join(path, "other.csv"),
		filepath.Join(path, "items.csv"))
	assert.Equal(t, 2, code, "whether there are results of an earlier run is not known")
	assert.Contains(t, notes, "stat "+usual)
	assert.Zero(t, len(srv.Requests()))
}

// Names that were made are not lost when a table no longer has their rows.
func TestNamesWithoutARow(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	path := folder(t, header+line(1)+line(2))
	items := filepath.Join(path, "items.csv")
	args := []string{"--prefix", "10.5072", items}
	code, _, notes := start(t, srv, args...)
	require.Equal(t, 0, code, notes)
	require.NoError(t, os.WriteFile(items, []byte(header+line(0)+line(2)), 0o600))
	code, _, notes = start(t, srv, args...)
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, "items.registered.csv has 1 DOI that the rows of "+items+" lack")
	assert.Contains(t, notes, "for https://repository.example.org/1; continue with the result table")

	// Rows may come in another order, and new ones among them.
	require.NoError(t, os.WriteFile(items, []byte(header+line(0)+line(2)+line(1)), 0o600))
	code, _, notes = start(t, srv, args...)
	require.Equal(t, 0, code, notes)
	assert.Len(t, srv.Names(), 3)
}

// A name that exists, as one in a billion does, is not overwritten: another is made, also after
// a run that was killed before it knew.
func TestTakenNames(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	var once sync.Once
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		if r.Method == http.MethodPost {
			once.Do(func() {
				name := regexp.MustCompile(`10\.5072/[\w-]+`).Find(body)
				assert.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"%s","url":"https://elsewhere.example.org/"}`, name)))
			})
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		srv.ServeHTTP(w, r)
	}))
	defer busy.Close()
	path := folder(t, header+line(1))
	items, result := filepath.Join(path, "items.csv"), filepath.Join(path, "items.registered.csv")
	code, _, notes := start(t, srv, "--service", busy.URL, "--prefix", "10.5072", items)
	require.Zero(t, code, notes)
	assert.Len(t, srv.Names(), 2)
	assert.Equal(t, "created", read(t, result)[0]["result"])

	require.NoError(t, os.Remove(result))
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/taken","url":"https://elsewhere.example.org/"}`)))
	require.NoError(t, os.WriteFile(result+".journal",
		[]byte(`{"doi":"10.5072/taken","made":true,"url":"https://repository.example.org/1"}`+"\n"), 0o600))
	code, _, notes = start(t, srv, "--prefix", "10.5072", items)
	require.Zero(t, code, notes)
	assert.NotEqual(t, "10.5072/taken", read(t, result)[0]["doi"])
	record, err := srv.Record("10.5072/taken")
	require.NoError(t, err)
	assert.Equal(t, "https://elsewhere.example.org/", record.URL)
}

// A name that may have been registered stays that of its row, also if the account then loses its rights for a while.
func TestANameThatMayBeRegisteredStays(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	changing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			srv.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the response is lost
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"errors":[{"status":"403","title":"You are not authorized to access this resource."}]}`)
	}))
	defer changing.Close()
	path := folder(t, header+line(1))
	items, result := filepath.Join(path, "items.csv"), filepath.Join(path, "items.registered.csv")
	code, _, notes := start(t, srv, "--service", changing.URL, "--prefix", "10.5072", items)
	assert.Equal(t, 3, code, notes)
	names := srv.Names()
	require.Len(t, names, 1)
	assert.Equal(t, names[0], read(t, result)[0]["doi"])
	code, _, notes = start(t, srv, "--prefix", "10.5072", items)
	require.Zero(t, code, notes)
	assert.Equal(t, names, srv.Names())
}

// In a folder that others can write to, a link at the place of the result table or its journal
// could lead anywhere.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, name := range []string{"items.registered.csv", "items.registered.csv.journal", "items.registered.csv.lock"} {
		for _, exists := range []bool{true, false} {
			srv := shelltest.Serve(t, nil)
			path, elsewhere := folder(t, header+line(1)), filepath.Join(t.TempDir(), "precious")
			if exists {
				require.NoError(t, os.WriteFile(elsewhere, []byte("precious"), 0o600))
			}
			shelltest.Symlink(t, elsewhere, filepath.Join(path, name))
			code, _, notes := start(t, srv, "--prefix", "10.5072", filepath.Join(path, "items.csv"))
			assert.Equal(t, 2, code, notes)
			assert.Contains(t, notes, name+" is a symbolic link")
			assert.Empty(t, srv.Requests())
			if exists {
				text := shelltest.Read(t, elsewhere)
				assert.Equal(t, "precious", string(text))
			} else {
				assert.NoFileExists(t, elsewhere)
			}
		}
	}
}
