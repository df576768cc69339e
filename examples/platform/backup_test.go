package main

import (
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// A repository is copied while curators work. Then its process is killed and its disk is
// lost: one that starts from the copy has everything, and the service agrees with it.
func TestBackup(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	config := settings(srv, filepath.Join(t.TempDir(), "data"))
	client := login(t, config)
	p := start(t, config)
	backup := filepath.Join(t.TempDir(), "backup")

	ada := &curation{client: client, random: rand.New(rand.NewPCG(1, 2))}
	var death sync.WaitGroup
	death.Go(func() {
		defer p.kill()
		for range 8 {
			require.NoError(t, run(t.Context(), []string{"backup", backup, "--data", config.Folder}, io.Discard, io.Discard))
			whole(t, config, backup)
		}
	})
	ada.curate(p.url)
	death.Wait()

	p = start(t, config)
	draft := (&curation{client: client, url: p.url}).post("/new", fields("A draft"))
	require.Eventually(t, func() bool {
		_, page := fetch(t, client, p.url+"/status")
		return strings.Contains(page, "Every DOI is as its dataset is.")
	}, patience, patience/100)
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"backup", backup, "--data", config.Folder}, &out, io.Discard))
	assert.Contains(t, out.String(), " files, ")
	p.kill()
	versions, _ := agree(t, srv, config)
	require.NoError(t, os.RemoveAll(config.Folder))

	config.Folder = filepath.Join(t.TempDir(), "another machine")
	require.NoError(t, os.CopyFS(config.Folder, os.DirFS(backup)))
	require.NoError(t, os.Chmod(config.Folder, 0o700))
	p = start(t, config)
	status, page := fetch(t, client, p.url+draft)
	assert.Equal(t, http.StatusOK, status, "the session goes on")
	assert.Contains(t, page, "A draft")
	p.kill()
	restored, pending := agree(t, srv, config)
	assert.Equal(t, versions, restored)
	assert.NotZero(t, restored)
	assert.Zero(t, pending)
}

// whole makes sure that a copy has all that it names, and nothing else.
func whole(t *testing.T, config Config, backup string) {
	restored := config
	restored.Folder = filepath.Join(t.TempDir(), "restored")
	require.NoError(t, os.CopyFS(restored.Folder, os.DirFS(backup)))
	require.NoError(t, os.Chmod(restored.Folder, 0o700))
	files := func() (n int) {
		entries, err := os.ReadDir(filepath.Join(restored.Folder, "files"))
		require.NoError(t, err)
		return len(entries)
	}
	before := files()
	s, err := store.Open(restored.Folder)
	require.NoError(t, err)
	defer s.Close()
	assert.Equal(t, before, files(), "files that nobody needs were copied")
	list, err := s.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	for _, d := range list.Datasets {
		for _, v := range d.Versions {
			for _, f := range v.Files {
				info, err := os.Stat(filepath.Join(restored.Folder, "files", f.SHA256))
				if assert.NoError(t, err) {
					assert.Equal(t, f.Size, info.Size())
				}
			}
		}
	}
}

// A copy that is interrupted, or has no room, leaves the earlier one as it was.
func TestBackupFails(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	var config Config
	c := open(t, srv, func(settings *Config) { config = *settings }).as("ada")
	c.publish("Glacier")
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, run(t.Context(), []string{"backup", backup, "--data", config.Folder}, io.Discard, io.Discard))
	c.publish("Stones")

	obstacle := filepath.Join(backup, "next.db")
	require.NoError(t, os.MkdirAll(filepath.Join(obstacle, "x"), 0o700))
	err := run(t.Context(), []string{"backup", backup, "--data", config.Folder}, io.Discard, io.Discard)
	require.Error(t, err)
	assert.Equal(t, 2, code(err))
	require.NoError(t, os.RemoveAll(obstacle))
	s, err := store.Open(backup)
	require.NoError(t, err)
	list, err := s.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	assert.Len(t, list.Datasets, 1)
	require.NoError(t, s.Close())

	err = run(t.Context(), []string{"backup", backup, "--data", filepath.Join(t.TempDir(), "nothing")}, io.Discard, io.Discard)
	assert.ErrorContains(t, err, "nothing")
	err = run(t.Context(), []string{"backup", config.Folder, "--data", config.Folder}, io.Discard, io.Discard)
	assert.ErrorContains(t, err, "is the folder of the repository itself")
}
