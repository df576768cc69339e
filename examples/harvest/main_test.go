package main

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

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/program"
)

func none(string) string { return "" }

// start runs the program.
func start(ctx context.Context, args []string, out, notes io.Writer) int {
	return (&program.Program{Name: "harvest", Args: args, Getenv: none, Stdout: out, Stderr: notes}).Run(ctx, run)
}

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
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/r%04d","created":"2020-01-01T%02d:%02d:00Z","client":"demo.c%d"}`, i, i/60, i%60, i%2)))
	}
}

// names reads the file as any program would.
func names(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var in io.Reader = bytes.NewReader(data)
	if strings.HasSuffix(file, ".gz") {
		in, err = gzip.NewReader(in)
		require.NoError(t, err)
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
	var out, notes bytes.Buffer
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file, "-page", "100"}, &out, &notes))
	assert.Equal(t, "1250 records in "+file+"\n", out.String())
	assert.Contains(t, notes.String(), "for later changes: -updated-since ")
	expect(t, file, 1250)
}

func TestHarvestOfOneRepository(t *testing.T) {
	srv, file := service(t, 30)
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file, "-client", "demo.c1"}, &bytes.Buffer{}, &bytes.Buffer{}))
	assert.Len(t, names(t, file), 15)
}

// TestInterrupted stops a harvest at each of its requests and calls it again.
func TestInterrupted(t *testing.T) {
	srv, _ := service(t, 450)
	target, err := url.Parse(srv.URL)
	require.NoError(t, err)
	for stop := range 8 {
		name := []string{"records.jsonl", "records.jsonl.gz"}[stop%2]
		stop := 1 + stop/2
		t.Run(fmt.Sprint(stop, name), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			asked := 0
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked == stop {
					cancel()
					<-r.Context().Done()
					return
				}
				httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
			}))
			defer proxy.Close()

			args := []string{"-api", proxy.URL, "-o", file, "-page", "100"}
			var out, notes bytes.Buffer
			require.Equal(t, program.ExitNotAllDone, start(ctx, args, &bytes.Buffer{}, &out))
			says := fmt.Sprintf("%d records are in %s; the same call again continues", (stop-1)*100, file)
			if stop == 1 {
				says = "nothing is stored in " + file + " yet; the same call begins afresh"
			}
			assert.Equal(t, "harvest: interrupted\n"+says+"\n", out.String())

			out.Reset()
			require.Equal(t, 0, start(t.Context(), args, &out, &notes))
			if stop > 1 {
				assert.Contains(t, notes.String(), fmt.Sprintf("continuing after %d records", (stop-1)*100))
			}
			assert.Equal(t, "450 records in "+file+"\n", out.String())
			expect(t, file, 450)
		})
	}
}

// TestCrashed leaves something behind the saved position, as a power cut does.
func TestCrashed(t *testing.T) {
	for _, name := range []string{"records.jsonl", "records.jsonl.gz"} {
		t.Run(name, func(t *testing.T) {
			srv, _ := service(t, 50)
			file := filepath.Join(t.TempDir(), name)
			args := []string{"-api", srv.URL, "-o", file}
			require.Equal(t, 0, start(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{}))
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("\x1f\x8bhalf")
			require.NoError(t, err)
			require.NoError(t, f.Close())

			put(t, srv, 50, 70) // and new records were made
			var out bytes.Buffer
			require.Equal(t, 0, start(t.Context(), args, &out, &bytes.Buffer{}))
			assert.Equal(t, "70 records in "+file+"\n", out.String())
			expect(t, file, 70)
		})
	}
}

func TestStandardOutput(t *testing.T) {
	srv, _ := service(t, 30)
	t.Chdir(t.TempDir())
	var out, notes bytes.Buffer
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", "-"}, &out, &notes))
	assert.Len(t, namesIn(t, &out), 30)
	assert.Equal(t, "30 records on standard output\n", notes.String())

	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	notes.Reset()
	assert.Equal(t, program.ExitNotAllDone, start(ctx, []string{"-api", srv.URL, "-o", "-"}, &out, &notes))
	assert.Equal(t, "harvest: interrupted\nwhat is on standard output cannot be continued; the same call begins afresh\n", notes.String())
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestUpdatedSince harvests what changed, while it goes on changing.
func TestUpdatedSince(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour})
		defer srv.Close()
		update := func(i int, at time.Time) {
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/r%04d","created":"2020-01-01T%02d:%02d:00Z","updated":"%s"}`,
				i, i/60, i%60, at.UTC().Format(time.RFC3339))))
		}
		old, lately := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), time.Now().Add(-time.Hour)
		for i := range 60 {
			update(i, map[bool]time.Time{true: old, false: lately}[i%3 == 0])
		}
		target, err := url.Parse(srv.URL)
		require.NoError(t, err)
		asked := 0
		ctx, cancel := context.WithCancel(t.Context())
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 3 {
				cancel() // after two pages, of the records up to r0029
				<-r.Context().Done()
				return
			}
			httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
		}))
		defer proxy.Close()

		file := filepath.Join(t.TempDir(), "changes.jsonl.gz")
		args := []string{"-api", proxy.URL, "-o", file, "-page", "10", "-updated-since", "2025-03-02"}
		var said bytes.Buffer
		require.Equal(t, program.ExitNotAllDone, start(ctx, args, &bytes.Buffer{}, &said), "%s", &said)
		update(29, time.Now()) // it was the last one
		update(10, time.Now())
		update(50, time.Now())
		var out, notes bytes.Buffer
		require.Equal(t, 0, start(t.Context(), args, &out, &notes))
		assert.Equal(t, "39 records in "+file+"\n", out.String())
		found := names(t, file)
		assert.Len(t, found, 39)
		assert.Contains(t, found, "10.5072/r0029", "as it was")
		assert.NotContains(t, found, "10.5072/r0050", "it changed too late, so the next harvest has it")
		var next string
		_, text, _ := strings.Cut(notes.String(), "for later changes:")
		_, err = fmt.Sscanf(text, " -updated-since %20s", &next)
		require.NoError(t, err, notes.String())

		update(59, time.Now()) // and the last one of all
		out.Reset()
		require.Equal(t, 0, start(t.Context(), args, &out, &bytes.Buffer{}), "called again when it is done")
		assert.Equal(t, "39 records in "+file+"\n", out.String())
		said.Reset()
		assert.Equal(t, program.ExitWrong, start(t.Context(), append(args, "-updated-since", "2025-03-03"), &out, &said))
		assert.Contains(t, said.String(), "begun with other flags")
		require.Equal(t, 0, start(t.Context(), []string{"-api", proxy.URL, "-o", file + "2", "-updated-since", next}, &out, &bytes.Buffer{}))
		minute := time.Now().Add(-time.Minute).Format(time.RFC3339)
		assert.Equal(t, program.ExitWrong, start(t.Context(), []string{"-api", proxy.URL, "-o", file + "3", "-updated-since", minute}, &out, &said))
		assert.Contains(t, said.String(), "may not be listed yet")
	}
}

// TestQuiet is how cron calls it.
func TestQuiet(t *testing.T) {
	srv, file := service(t, 30)
	for range 2 {
		var out, notes bytes.Buffer
		require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file, "-quiet"}, &out, &notes))
		assert.Empty(t, out.String()+notes.String())
	}
	expect(t, file, 30)
}

// TestAnotherTryWithOtherFlags: a slip in a flag finds nothing, and must not stand
// in the way.
func TestAnotherTryWithOtherFlags(t *testing.T) {
	srv, file := service(t, 30)
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file, "-client", "demo.slip"}, &bytes.Buffer{}, &bytes.Buffer{}))
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file, "-client", "demo.c1"}, &bytes.Buffer{}, &bytes.Buffer{}))
	assert.Len(t, names(t, file), 15)
}

// What is said after a harvest that ended within its first page is true.
func TestFirstPage(t *testing.T) {
	for _, name := range []string{"records.jsonl", "records.jsonl.gz"} {
		srv, _ := service(t, 450)
		file := filepath.Join(t.TempDir(), name)
		whole := []string{"-api", srv.URL, "-o", file, "-page", "400"}

		o, err := openOutput(file, nil) // killed in the middle of the page
		require.NoError(t, err)
		_, err = o.file.WriteString("\x1f\x8bhalf a record")
		require.NoError(t, err)
		require.NoError(t, o.file.Close())
		var out, notes bytes.Buffer
		assert.Equal(t, program.ExitDone, start(t.Context(), append(whole, "-client", "demo.c1"), &out, &notes), "%s", &notes)
		assert.Equal(t, "225 records in "+file+"\n", out.String(), "it begins afresh, with any flags")
		require.NoError(t, os.Remove(file))
		require.NoError(t, os.Remove(file+".position"))

		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		notes.Reset()
		assert.Equal(t, program.ExitNotAllDone, start(ctx, whole, &out, &notes))
		assert.Contains(t, notes.String(), "nothing is stored in "+file+" yet; the same call begins afresh")
		assert.NoFileExists(t, file+".position")
		require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
		assert.Equal(t, program.ExitWrong, start(t.Context(), whole, &out, &notes), "what somebody has put there meanwhile is left alone")
		require.NoError(t, os.Remove(file))
		assert.Equal(t, program.ExitDone, start(t.Context(), whole, &out, &notes))
		expect(t, file, 450)
	}
}

// A disk that is full at some time leaves what was said.
func TestFullDisk(t *testing.T) {
	srv, whole := service(t, 1400)
	whole = strings.TrimSuffix(whole, ".gz")
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", whole}, &bytes.Buffer{}, &bytes.Buffer{}))
	info, err := os.Stat(whole)
	require.NoError(t, err)
	client := srv.DOIs()
	for _, room := range []int{0, 3000, int(info.Size()) * 9 / 10} {
		file := filepath.Join(t.TempDir(), "records.jsonl")
		args := []string{"-api", srv.URL, "-o", file, "-page", "200"}
		o, err := openOutput(file, nil)
		require.NoError(t, err)
		o.out = &disk{o.file, room}
		p := &program.Program{Name: "harvest", Args: args, Getenv: none, Stderr: &bytes.Buffer{}}
		s, err := readSettings(p)
		require.NoError(t, err)
		err = harvest(t.Context(), client, s, o, p)
		require.ErrorIs(t, err, syscall.ENOSPC)
		says := "nothing is stored in " + file + " yet; the same call begins afresh"
		if room > 3000 {
			says = fmt.Sprintf("%d records are in %s; the same call again continues", o.Position.Seen, file)
			assert.NotZero(t, o.Position.Seen)
		}
		assert.ErrorContains(t, err, says)
		var out, notes bytes.Buffer
		assert.Equal(t, program.ExitDone, start(t.Context(), args, &out, &notes))
		assert.Equal(t, "1400 records in "+file+"\n", out.String())
		assert.Equal(t, room > 3000, strings.Contains(notes.String(), fmt.Sprintf("continuing after %d records", o.Position.Seen)))
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
	var out bytes.Buffer
	for range 2 {
		out.Reset()
		require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file}, &out, &bytes.Buffer{}))
		assert.Equal(t, "0 records in "+file+"\n", out.String())
	}
}

func TestFaults(t *testing.T) {
	srv, file := service(t, 5)
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file}, &bytes.Buffer{}, &bytes.Buffer{}))
	renamed := strings.TrimSuffix(file, ".gz")
	for _, end := range []string{"", ".position"} {
		data, err := os.ReadFile(file + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(renamed+end, data, 0o600))
	}
	foreign := filepath.Join(t.TempDir(), "mine.gz")
	require.NoError(t, os.WriteFile(foreign, []byte("mine"), 0o600))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-client", "a.b"}, "give -o"},
		{[]string{"-o", ""}, "-o is given and empty; is a variable not set?"},
		{[]string{"-o", file, "10.5072"}, `"10.5072" is not a flag`},
		{[]string{"-o", file, "-page", "0"}, "-page is 0"},
		{[]string{"-o", file + "2", "-updated-since", "yesterday"}, "not a time such as 2026-01-06"},
		{[]string{"-o", renamed}, "was begun under another name"},
		{[]string{"-o", foreign}, "is there already"},
		{[]string{"-o", file, "-prefix", "10.5072"}, "was begun with other flags; use the same ones, or another file"},
		{[]string{"-o", file + "2", "-query", `"open`}, "quot"},
	} {
		var notes bytes.Buffer
		assert.Equal(t, program.ExitWrong, start(t.Context(), append([]string{"-api", srv.URL}, tt.args...), &bytes.Buffer{}, &notes))
		assert.Contains(t, notes.String(), tt.want)
	}
	expect(t, file, 5)
	var out bytes.Buffer
	require.Equal(t, 0, start(t.Context(), []string{"-api", srv.URL, "-o", file}, &out, &bytes.Buffer{}))
	assert.Equal(t, "5 records in "+file+"\n", out.String(), "a call that failed has changed nothing")
	data, err := os.ReadFile(foreign)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data), "another's file is left alone")
}

func TestMeter(t *testing.T) {
	m := &meter{first: 100}
	assert.Equal(t, "[###############...............]  50% 500 of 1000 records, 40 a second, 13s left", m.text(500, 1000, 10*time.Second))
	assert.Equal(t, "[##############################] 100% 0 of 0 records, 0 a second", (&meter{}).text(0, 0, time.Second))
	assert.Equal(t, "300 records, 20 a second", m.text(300, -1, 10*time.Second))
}
