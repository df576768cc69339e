package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/dois/doistest"
)

func none(string) string { return "" }

// service is a server with n records and a file to harvest them to.
func service(t *testing.T, n int) (srv *doistest.Server, file string) {
	t.Helper()
	srv = doistest.NewServer(nil)
	t.Cleanup(srv.Close)
	put(t, srv, 0, n)
	return srv, filepath.Join(t.TempDir(), "records.jsonl.gz")
}

func put(t *testing.T, srv *doistest.Server, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		require.NoError(t, srv.PutJSON(fmt.Appendf(nil, `{"doi":"10.5072/r%04d","created":"2020-01-01T%02d:%02d:00Z","client":"demo.c%d"}`, i, i/60, i%60, i%2)))
	}
}

// names reads the file as any program would.
func names(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	zip, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	var out []string
	for lines := bufio.NewScanner(zip); lines.Scan(); {
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
	require.NoError(t, run(t.Context(), []string{"-api", srv.URL, "-o", file, "-page", "100"}, none, &out, &notes))
	assert.Equal(t, "1250 records in "+file+"\n", out.String())
	assert.Contains(t, notes.String(), "100% 1250 of 1250 records")
	expect(t, file, 1250)
}

func TestHarvestOfOneRepository(t *testing.T) {
	srv, file := service(t, 30)
	require.NoError(t, run(t.Context(), []string{"-api", srv.URL, "-o", file, "-client", "demo.c1"}, none, &bytes.Buffer{}, &bytes.Buffer{}))
	assert.Len(t, names(t, file), 15)
}

// TestInterrupted stops a harvest at each of its requests and calls it again.
func TestInterrupted(t *testing.T) {
	srv, _ := service(t, 450)
	target, err := url.Parse(srv.URL)
	require.NoError(t, err)
	for stop := 1; stop <= 4; stop++ {
		t.Run(fmt.Sprint(stop), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "records.jsonl.gz")
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
			err := run(ctx, args, none, &bytes.Buffer{}, &bytes.Buffer{})
			require.ErrorIs(t, err, context.Canceled)
			assert.ErrorContains(t, err, fmt.Sprintf("%d records are in", (stop-1)*100))

			var out, notes bytes.Buffer
			require.NoError(t, run(t.Context(), args, none, &out, &notes))
			if stop > 1 {
				assert.Contains(t, notes.String(), fmt.Sprintf("continuing after %d records", (stop-1)*100))
			}
			assert.Equal(t, "450 records in "+file+"\n", out.String())
			expect(t, file, 450)
		})
	}
}

// TestCrashed leaves half a member behind the saved position, as a power cut
// does.
func TestCrashed(t *testing.T) {
	srv, file := service(t, 50)
	args := []string{"-api", srv.URL, "-o", file}
	require.NoError(t, run(t.Context(), args, none, &bytes.Buffer{}, &bytes.Buffer{}))
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("\x1f\x8bhalf")
	require.NoError(t, err)
	require.NoError(t, f.Close())

	put(t, srv, 50, 70) // and new records were made
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), args, none, &out, &bytes.Buffer{}))
	assert.Equal(t, "70 records in "+file+"\n", out.String())
	expect(t, file, 70)
}

func TestNothingToHarvest(t *testing.T) {
	srv, file := service(t, 0)
	var out bytes.Buffer
	for range 2 {
		out.Reset()
		require.NoError(t, run(t.Context(), []string{"-api", srv.URL, "-o", file}, none, &out, &bytes.Buffer{}))
		assert.Equal(t, "0 records in "+file+"\n", out.String())
	}
}

func TestFaults(t *testing.T) {
	srv, file := service(t, 5)
	require.NoError(t, run(t.Context(), []string{"-api", srv.URL, "-o", file}, none, &bytes.Buffer{}, &bytes.Buffer{}))
	foreign := filepath.Join(t.TempDir(), "mine.gz")
	require.NoError(t, os.WriteFile(foreign, []byte("mine"), 0o600))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-client", "a.b"}, "give -o"},
		{[]string{"-o", foreign}, "is there already"},
		{[]string{"-o", file, "-prefix", "10.5072"}, "other options"},
		{[]string{"-o", file + "2", "-query", `"open`}, "quot"},
	} {
		err := run(t.Context(), append([]string{"-api", srv.URL}, tt.args...), none, &bytes.Buffer{}, &bytes.Buffer{})
		assert.ErrorContains(t, err, tt.want)
	}
	expect(t, file, 5)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-api", srv.URL, "-o", file}, none, &out, &bytes.Buffer{}))
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
