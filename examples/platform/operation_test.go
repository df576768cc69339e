package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

// What the service refuses waits for a person: an administrator sees the reason, mends the
// cause, and has it tried again. Nobody else sees what others do.
func TestAdministration(t *testing.T) {
	var refuses atomic.Bool
	refuses.Store(true)
	srv := datacitetest.NewServer(&datacitetest.Options{Faults: func(_ int, r *http.Request) *datacitetest.Fault {
		if refuses.Load() && r.Method != http.MethodGet && r.Method != http.MethodHead {
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusUnprocessableEntity}
		}
		return nil
	}})
	defer srv.Close()
	reader := open(t, srv, func(c *Config) { c.Retry = time.Hour })
	ada, grace := reader.as("ada"), reader.as("grace")
	path := grace.publish("Glacier")
	var page string
	require.Eventually(t, func() bool {
		_, page = ada.get("/status")
		return strings.Contains(page, "Tried 1 time:")
	}, patience, 5*time.Millisecond)
	for _, want := range []string{"422", "1 dataset, 1 of which failed", `href="` + path + `"`, "of grace", "1 file of ",
		" free</dd>", "go1."} {
		assert.Contains(t, page, want)
	}
	_, own := grace.get(path)
	assert.Contains(t, own, "not registered yet")
	_, public := reader.get(path)
	assert.Contains(t, public, `id="state">being published`)
	assert.NotContains(t, public, "not registered yet", "that is for its curator")
	_, v := grace.now(path)
	for _, form := range []string{"/status", "/status/check", "/status/report", "/status/again"} {
		status, page := grace.post(form, map[string]string{"dataset": "1"})
		if form == "/status" {
			status, page = grace.get(form)
		}
		assert.Equal(t, http.StatusForbidden, status, form)
		assert.NotContains(t, page, v.DOI)
	}
	_, page = grace.get("/mine")
	assert.Contains(t, page, "not registered yet", "curators see what became of their own")
	for _, text := range []string{own, page} {
		_, drawn, _ := strings.Cut(v.DOI, "/") // which may have these digits
		assert.NotContains(t, strings.ReplaceAll(text, drawn, ""), "422", "and no names of Go")
	}
	assert.NotContains(t, page, "/status")

	refuses.Store(false)
	status, _ := ada.post("/status/again", map[string]string{"dataset": "1"})
	assert.Equal(t, http.StatusOK, status)
	grace.settled(path)
	assert.Equal(t, "findable", srv.State(v.DOI))
	status, _ = ada.post("/status/again", map[string]string{"dataset": "x"})
	assert.Equal(t, http.StatusNotFound, status)
}

// A supervisor learns whether the repository can work, and nothing else.
func TestHealth(t *testing.T) {
	srv := serve(t, nil)
	c := open(t, srv)
	status, text := c.get("/health")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "ok\n", text)

	c = open(t, srv)
	require.NoError(t, c.platform.store.Close())
	status, text = c.get("/health")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "failing\n", text)
}

// The log says who changed what and what became of it. It has nothing of visitors, and no
// passwords.
func TestLog(t *testing.T) {
	srv := serve(t, nil)
	var log lockedBuffer
	reader := open(t, srv, func(c *Config) { c.Token, c.Log = "", slog.New(slog.NewJSONHandler(&log, nil)) })
	c := reader.as("ada")
	path := c.publish("Glacier")
	d, _ := c.settled(path)
	reader.get(path + "?q=what+a+visitor+looks+for")
	c.background(c.platform.outbox.Check)

	_, page := c.get("/status")
	assert.Contains(t, page, "DATACITE_TOKEN", "usage that cannot be reported is not only counted")

	text := log.String()
	assert.Contains(t, text, "DATACITE_TOKEN")
	var seen []string
	for line := range strings.Lines(text) {
		var entry struct {
			Msg, Curator, Path, DOI string
			Status, Findings        int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		switch entry.Msg {
		case "form":
			seen = append(seen, entry.Curator+" "+entry.Path)
		case "registered":
			seen = append(seen, entry.DOI)
		case "records compared":
			assert.Zero(t, entry.Findings)
		}
	}
	assert.Subset(t, seen, []string{"ada /new", "ada " + path + "/files", "ada " + path + "/publish", d.DOI})
	for _, secret := range []string{password, datacitetest.Password, firefox, "127.0.0.1", "visitor"} {
		assert.NotContains(t, text, secret)
	}
}

// A lockedBuffer is written by several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(data)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The outbox comes back when the service asks for it, not sooner; and what it put off when the clock was
// ahead does not wait until then.
func TestTheOutboxWaitsAsLongAsTheServiceAsks(t *testing.T) {
	busy := func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusTooManyRequests,
			RetryAfter: 3 * time.Hour}
	}
	srv := serve(t, &datacitetest.Options{Faults: busy})
	c := open(t, srv).as("ada")
	path := c.publish("Glacier")
	require.Eventually(t, func() bool { d, _ := c.now(path); return d.Tries > 0 }, patience, 5*time.Millisecond)
	waiting, err := c.platform.store.Waiting(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	assert.Greater(t, time.Until(waiting[0].Due), 2*time.Hour)
	due, next, err := c.platform.store.Due(t.Context())
	require.NoError(t, err)
	assert.Empty(t, due)
	assert.False(t, next.After(time.Now().Add(time.Hour)))
	c.database(fmt.Sprintf(`UPDATE outbox SET due = due + %d`, 365*24*time.Hour.Milliseconds()))
	due, _, err = c.platform.store.Due(t.Context())
	require.NoError(t, err)
	assert.Len(t, due, 1)
}
