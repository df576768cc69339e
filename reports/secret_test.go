package reports_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// TestNoSecretInAnyFile looks into every file of a submission, at each of its steps
// and after one that failed.
func TestNoSecretInAnyFile(t *testing.T) {
	srv := server(t)
	secret := srv.Token(srv.Now().Add(time.Hour))
	folder := t.TempDir()
	client, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: secret})
	require.NoError(t, err)
	files := 0
	look := func() {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil // done with, meanwhile
			}
			files++
			for _, written := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))} {
				assert.NotContains(t, string(data)+path, written)
			}
			return err
		}))
	}
	looking := func(source iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
		return func(yield func(reports.Dataset, error) bool) {
			for d, err := range source {
				look()
				if !yield(d, err) {
					return
				}
			}
		}
	}
	opts := &reports.SubmitOptions{TempDir: folder, LockDir: folder, MaxDatasets: 2, Progress: func(reports.Progress) { look() }}
	_, err = client.Submit(t.Context(), header("Example", time.October), looking(datasets(6)), opts)
	require.NoError(t, err)
	require.NotZero(t, files, "there were files to look into")

	srv.Close()
	client, err = reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: secret, MaxAttempts: 1})
	require.NoError(t, err)
	opts.MaxOutage = 1
	_, err = client.Submit(t.Context(), header("Example", time.September), looking(datasets(6)), opts)
	require.Error(t, err)
	look()
	assert.False(t, strings.Contains(err.Error(), secret))
}
