package harvest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

func TestMain(m *testing.M) { shelltest.Main(m, Command) }

// start runs the command at the service of a URL.
func start(t *testing.T, url string, args ...string) (code int, out, notes string) {
	t.Helper()
	return startUntil(t, t.Context(), url, args...)
}

func startUntil(t *testing.T, ctx context.Context, url string, args ...string) (code int, out, notes string) {
	t.Helper()
	return shelltest.Run{Ctx: ctx}.Do(t, Command, append([]string{"harvest", "--service", url}, args...)...)
}

// of names a service in what is said of it.
func of(url string) string { return strings.TrimPrefix(url, "http://") }

// service is a server with n records and a file to harvest them to.
func service(t *testing.T, n int) (srv *datacitetest.Server, file string) {
	t.Helper()
	srv = datacitetest.NewServer(nil)
	t.Cleanup(srv.Close)
	put(t, srv, 0, n)
	return srv, filepath.Join(t.TempDir(), "records.jsonl.gz")
}

func put(t *testing.T, srv *datacitetest.Server, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/r%04d","created":"2020-01-01T%02d:%02d:00Z","client":"demo.c%d"}`, i, i/60, i%60, i%2)))
	}
}

// names reads the file as any program would.
func names(t *testing.T, file string) []string {
	t.Helper()
	data := shelltest.Read(t, file)
	var in io.Reader = bytes.NewReader(data)
	if strings.HasSuffix(file, ".gz") {
		unzipped, err := gzip.NewReader(in)
		require.NoError(t, err)
		in = unzipped
	}
	return namesIn(t, in)
}

func namesIn(t *testing.T, in io.Reader) []string {
	t.Helper()
	var out []string
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var record struct {
			DOI string `json:"doi"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &record))
		out = append(out, record.DOI)
	}
	return out
}

func expect(t *testing.T, file string, n int) {
	t.Helper()
	got := names(t, file)
	require.Len(t, got, n)
	for i, name := range got {
		require.Equal(t, fmt.Sprintf("10.5072/r%04d", i), name)
	}
}

func TestHarvest(t *testing.T) {
	srv, file := service(t, 1250)
	code, out, notes := start(t, srv.URL, "-o", file, "--page-size", "100")
	require.Zero(t, code, notes)
	assert.Equal(t, "1,250 records of "+of(srv.URL)+" in "+file+"\n", out)
	assert.Contains(t, notes, "for later changes: --updated-since ")
	expect(t, file, 1250)
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 2, "the file and its position")
}

func TestJSON(t *testing.T) {
	srv, file := service(t, 30)
	code, out, _ := start(t, srv.URL, "-o", file, "--json")
	require.Zero(t, code)
	var got result
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.WithinDuration(t, time.Now().Add(-lag), got.AsOf, time.Minute)
	got.AsOf = time.Time{}
	assert.Equal(t, result{File: file, Records: 30, Service: of(srv.URL)}, got)
}

func TestHarvestOfSomeRecords(t *testing.T) {
	for _, choice := range [][]string{{"--client", "demo.c1"},
		{"--query", "doi:*1 OR doi:*3 OR doi:*5 OR doi:*7 OR doi:*9"}} {
		srv, file := service(t, 30)
		code, _, notes := start(t, srv.URL, append(choice, "-o", file)...)
		require.Zero(t, code, notes)
		assert.Len(t, names(t, file), 15)
	}
}

// stopping is a service before a service: its nth request ends a context instead.
func stopping(t *testing.T, srv *datacitetest.Server, nth int) (proxyURL string, ctx context.Context) {
	t.Helper()
	target, err := url.Parse(srv.URL)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	asked := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == nth {
			cancel()
			<-r.Context().Done()
			return
		}
		httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL, ctx
}

// A harvest is stopped at each of its requests, and run again.
func TestInterrupted(t *testing.T) {
	srv, _ := service(t, 450)
	for stop := range 8 {
		name := []string{"records.jsonl", "records.jsonl.gz"}[stop%2]
		stop := 1 + stop/2
		t.Run(fmt.Sprint(stop, name), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name)
			where, ctx := stopping(t, srv, stop)
			code, _, notes := startUntil(t, ctx, where, "-o", file, "--page-size", "100")
			require.Equal(t, shell.ExitInterrupted, code)
			says := fmt.Sprintf("%d records in %s; run the same command again to continue", (stop-1)*100, file)
			if stop == 1 {
				says = "nothing is stored in " + file + " yet; the same command begins again"
			}
			assert.Equal(t, "datacite: interrupted; "+says+"\n", notes)

			code, out, notes := start(t, where, "-o", file, "--page-size", "100")
			require.Zero(t, code, notes)
			if stop > 1 {
				assert.Contains(t, notes, fmt.Sprintf("continuing after %d records", (stop-1)*100))
			}
			assert.Equal(t, "450 records of "+of(where)+" in "+file+"\n", out)
			expect(t, file, 450)
		})
	}
}

// A power cut leaves something behind the saved position.
func TestCrashed(t *testing.T) {
	for _, name := range []string{"records.jsonl", "records.jsonl.gz"} {
		t.Run(name, func(t *testing.T) {
			srv, _ := service(t, 50)
			file := filepath.Join(t.TempDir(), name)
			code, _, _ := start(t, srv.URL, "-o", file)
			require.Zero(t, code)
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("\x1f\x8bhalf")
			require.NoError(t, err)
			require.NoError(t, f.Close())

			put(t, srv, 50, 70) // and new records were made
			code, out, _ := start(t, srv.URL, "-o", file)
			require.Zero(t, code)
			assert.Equal(t, "70 records of "+of(srv.URL)+" in "+file+"\n", out)
			expect(t, file, 70)
		})
	}
}

// A process that is killed continues, and a second one at the same time is refused.
func TestKilled(t *testing.T) {
	srv, _ := service(t, 450)
	where, killed := stopping(t, srv, 3)
	file := filepath.Join(t.TempDir(), "records.jsonl.gz")
	args := []string{"harvest", "--service", where, "-o", file, "--page-size", "100"}
	cmd, _, _ := shelltest.Run{}.Process(t, args...)
	require.NoError(t, cmd.Start())
	<-killed.Done()
	code, _, notes := start(t, where, "-o", file, "--page-size", "100")
	assert.Equal(t, shell.ExitRefused, code)
	assert.Equal(t, "datacite: another run writes "+file+"; wait until it has ended\n", notes)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	code, out, notes := start(t, where, "-o", file, "--page-size", "100")
	require.Zero(t, code, notes)
	assert.Equal(t, "450 records of "+of(where)+" in "+file+"\n", out)
	expect(t, file, 450)
}

func TestStandardOutput(t *testing.T) {
	srv, _ := service(t, 30)
	t.Chdir(t.TempDir())
	code, out, notes := start(t, srv.URL, "-o", "-")
	require.Zero(t, code)
	assert.Len(t, namesIn(t, strings.NewReader(out)), 30)
	assert.Equal(t, "30 records of "+of(srv.URL)+" on standard output\n", notes)

	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	code, _, notes = startUntil(t, ctx, srv.URL, "-o", "-")
	assert.Equal(t, shell.ExitInterrupted, code)
	assert.Equal(t, "datacite: interrupted; standard output cannot be continued; the same command begins again\n", notes)
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A harvest of what changed, while it goes on changing.
func TestUpdatedSince(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
		update := func(i int, at time.Time) {
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
				`{"doi":"10.5072/r%04d","created":"2020-01-01T%02d:%02d:00Z","updated":"%s"}`,
				i, i/60, i%60, at.UTC().Format(time.RFC3339))))
		}
		old, lately := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), time.Now().Add(-time.Hour)
		for i := range 60 {
			update(i, map[bool]time.Time{true: old, false: lately}[i%3 == 0])
		}
		where, ctx := stopping(t, srv, 3) // after two pages, of the records up to r0029

		file := filepath.Join(t.TempDir(), "changes.jsonl.gz")
		args := []string{"-o", file, "--page-size", "10", "--updated-since", "2025-03-02"}
		code, _, notes := startUntil(t, ctx, where, args...)
		require.Equal(t, shell.ExitInterrupted, code, notes)
		update(29, time.Now()) // it was the last one
		update(10, time.Now())
		update(50, time.Now())
		code, out, notes := start(t, where, args...)
		require.Zero(t, code, notes)
		assert.Equal(t, "39 records of "+of(where)+" in "+file+"\n", out)
		found := names(t, file)
		assert.Len(t, found, 39)
		assert.Contains(t, found, "10.5072/r0029", "as it was")
		assert.NotContains(t, found, "10.5072/r0050", "it changed too late, so the next harvest has it")
		var next string
		_, text, _ := strings.Cut(notes, "for later changes:")
		_, err := fmt.Sscanf(text, " --updated-since %20s", &next)
		require.NoError(t, err, notes)

		update(59, time.Now()) // and the last one of all
		code, out, notes = start(t, where, args...)
		require.Zero(t, code, "run again when it is done: %s", notes)
		assert.Equal(t, "39 records of "+of(where)+" in "+file+"\n", out)
		code, _, notes = start(t, where, append(args, "--updated-since", "2025-03-03")...)
		assert.Equal(t, shell.ExitWrong, code)
		assert.Contains(t, notes, "begun with other flags")
		code, _, notes = start(t, where, "-o", file+"2", "--updated-since", next)
		require.Zero(t, code, notes)
		minute := time.Now().Add(-time.Minute).Format(time.RFC3339)
		code, _, notes = start(t, where, "-o", file+"3", "--updated-since", minute)
		assert.Equal(t, shell.ExitWrong, code)
		assert.Contains(t, notes, "may not be listed yet")
		assert.NoFileExists(t, file+"3.position")
	}
}

// As cron runs it.
func TestQuiet(t *testing.T) {
	srv, file := service(t, 30)
	for range 2 {
		code, out, notes := start(t, srv.URL, "-o", file, "--quiet")
		require.Zero(t, code)
		assert.Empty(t, out+notes)
	}
	expect(t, file, 30)
}

// A slip in a flag finds nothing, and must not stand in the way.
func TestAnotherTryWithOtherFlags(t *testing.T) {
	srv, file := service(t, 30)
	for _, client := range []string{"demo.slip", "demo.c1"} {
		code, _, notes := start(t, srv.URL, "-o", file, "--client", client)
		require.Zero(t, code, notes)
	}
	assert.Len(t, names(t, file), 15)
}

// The records of two services are not mixed.
func TestAnotherService(t *testing.T) {
	srv, file := service(t, 30)
	other, _ := service(t, 60)
	code, _, _ := start(t, srv.URL, "-o", file)
	require.Zero(t, code)
	code, _, notes := start(t, other.URL, "-o", file)
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, file+" was begun with records of "+of(srv.URL)+", and the service is "+of(other.URL)+
		"; use another file")
	expect(t, file, 30)
}

// With a wrong login the service shows what everybody may see, which is not all.
func TestLogin(t *testing.T) {
	srv, file := service(t, 30)
	run := shelltest.At(srv)
	run.Env["DATACITE_PASSWORD"] = "wrong"
	code, _, notes := run.Do(t, Command, "harvest", "-o", file)
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, "refuses the login")
	assert.NoFileExists(t, file)
	code, _, notes = shelltest.At(srv).Do(t, Command, "harvest", "-o", file)
	assert.Zero(t, code, notes)
}

// What is said after a harvest that ended within its first page is true.
func TestFirstPage(t *testing.T) {
	for _, name := range []string{"records.jsonl", "records.jsonl.gz"} {
		srv, _ := service(t, 450)
		file := filepath.Join(t.TempDir(), name)
		whole := []string{"-o", file, "--page-size", "400"}

		o, err := openOutput(file, of(srv.URL), nil) // killed in the middle of the page
		require.NoError(t, err)
		_, err = o.file.WriteString("\x1f\x8bhalf a record")
		require.NoError(t, err)
		require.NoError(t, o.file.Close())
		code, out, notes := start(t, srv.URL, append(whole, "--client", "demo.c1")...)
		assert.Zero(t, code, notes)
		assert.Equal(t, "225 records of "+of(srv.URL)+" in "+file+"\n", out, "it begins again, with any flags")
		require.NoError(t, os.Remove(file))
		require.NoError(t, os.Remove(file+".position"))

		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		code, _, notes = startUntil(t, ctx, srv.URL, whole...)
		assert.Equal(t, shell.ExitInterrupted, code)
		assert.Contains(t, notes, "nothing is stored in "+file+" yet; the same command begins again")
		assert.NoFileExists(t, file+".position")
		require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
		code, _, _ = start(t, srv.URL, whole...)
		assert.Equal(t, shell.ExitWrong, code, "what somebody has put there meanwhile is left alone")
		require.NoError(t, os.Remove(file))
		code, _, _ = start(t, srv.URL, whole...)
		assert.Zero(t, code)
		expect(t, file, 450)
	}
}

// A disk that is full at some time leaves what was said.
func TestFullDisk(t *testing.T) {
	srv, whole := service(t, 1400)
	whole = strings.TrimSuffix(whole, ".gz")
	code, _, _ := start(t, srv.URL, "-o", whole)
	require.Zero(t, code)
	info, err := os.Stat(whole)
	require.NoError(t, err)
	for _, room := range []int{0, 3000, int(info.Size()) * 9 / 10} {
		file := filepath.Join(t.TempDir(), "records.jsonl")
		o, err := openOutput(file, of(srv.URL), nil)
		require.NoError(t, err)
		o.out = &disk{o.file, room}
		c := &command{Shell: &shell.Shell{Output: file, Stderr: io.Discard}}
		c.opts.Page.Size, c.opts.Affiliation, c.opts.Publisher, c.opts.Detail = 200, true, true, true
		err = c.harvest(t.Context(), srv.DOIs(), o)
		require.ErrorIs(t, err, syscall.ENOSPC)
		says, code := "nothing is stored in "+file+" yet; the same command begins again", shell.ExitWrong
		if room > 3000 {
			says, code = fmt.Sprintf("%s in %s; run the same command again to continue", shell.Count(o.Position.Seen, "record"),
				file), shell.ExitRefused
			assert.NotZero(t, o.Position.Seen)
		}
		assert.ErrorContains(t, err, says)
		assert.Equal(t, code, shell.Code(err))
		code, out, notes := start(t, srv.URL, "-o", file, "--page-size", "200")
		assert.Zero(t, code, notes)
		assert.Equal(t, "1,400 records of "+of(srv.URL)+" in "+file+"\n", out)
		assert.Equal(t, room > 3000, strings.Contains(notes, "continuing after "+shell.Count(o.Position.Seen, "record")))
		expect(t, file, 1400)
	}
}

// A disk has room for some bytes.
type disk struct {
	io.Writer
	room int
}

func (d *disk) Write(data []byte) (int, error) {
	n, err := d.Writer.Write(data[:min(len(data), d.room)])
	if d.room -= n; err == nil && n < len(data) {
		err = syscall.ENOSPC
	}
	return n, err
}

func TestNothingToHarvest(t *testing.T) {
	srv, file := service(t, 0)
	for range 2 {
		code, out, _ := start(t, srv.URL, "-o", file)
		require.Zero(t, code)
		assert.Equal(t, "0 records of "+of(srv.URL)+" in "+file+"\n", out)
	}
}

func TestFaults(t *testing.T) {
	srv, file := service(t, 5)
	code, _, _ := start(t, srv.URL, "-o", file)
	require.Zero(t, code)
	renamed := strings.TrimSuffix(file, ".gz")
	for _, end := range []string{"", ".position"} {
		data := shelltest.Read(t, file+end)
		require.NoError(t, os.WriteFile(renamed+end, data, 0o600))
	}
	foreign := shelltest.File(t, "mine.gz", "mine")
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--client", "a.b"}, 2, "give --output FILE"},
		{[]string{"-o", file, "--page-size", "0"}, 2, "--page-size is 0"},
		{[]string{"-o", file, "--type", "datset"}, 2, `--type: "datset" is unknown; did you mean dataset?`},
		{[]string{"-o", file + "2", "--updated-since", "yesterday"}, 2, "not a time such as 2026-01-06"},
		{[]string{"-o", renamed}, 2, "was begun under another name"},
		{[]string{"-o", foreign}, 2, "exists, and not from a harvest that can continue; give another file"},
		{[]string{"-o", file, "--prefix", "10.5072"}, 2, "was begun with other flags; use the same ones, or another file"},
		{[]string{"-o", file + "2", "--query", `"open`}, 2, "quot"},
	} {
		code, out, notes := start(t, srv.URL, tt.args...)
		assert.Equal(t, tt.code, code, "%v: %s", tt.args, notes)
		assert.Empty(t, out)
		assert.Contains(t, notes, tt.says)
	}
	expect(t, file, 5)
	code, out, _ := start(t, srv.URL, "-o", file)
	require.Zero(t, code)
	assert.Equal(t, "5 records of "+of(srv.URL)+" in "+file+"\n", out, "a command that failed has changed nothing")
	data := shelltest.Read(t, foreign)
	assert.Equal(t, "mine", string(data), "another's file is left alone")
}

// In a folder that others can write to, a link at the place of a file of the harvest's own could
// lead anywhere.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, ending := range []string{".position", ".position.new", ".lock"} {
		for _, exists := range []bool{true, false} {
			srv, file := service(t, 3)
			elsewhere := filepath.Join(t.TempDir(), "precious")
			if exists {
				require.NoError(t, os.WriteFile(elsewhere, []byte("precious"), 0o600))
			}
			shelltest.Symlink(t, elsewhere, file+ending)
			code, _, notes := start(t, srv.URL, "-o", file)
			if ending != ".position.new" { // which nothing uses
				assert.Equal(t, 2, code, notes)
				assert.Contains(t, notes, ending+" is a symbolic link")
			}
			if exists {
				text := shelltest.Read(t, elsewhere)
				assert.Equal(t, "precious", string(text))
			} else {
				assert.NoFileExists(t, elsewhere)
			}
		}
	}
}
