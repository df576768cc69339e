package mds_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
)

func TestFilesOfADOI(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.MDS()
		table := mds.Media{Type: "text/csv", URL: "https://repo.example.org/table.csv"}
		require.ErrorIs(t, c.AddMedia(t.Context(), name, table), datacite.ErrNotFound)
		findable(t, srv, name)
		_, err := c.ListMedia(t.Context(), name)
		require.ErrorIs(t, err, datacite.ErrNotFound, "it has none yet")
		require.NoError(t, c.AddMedia(t.Context(), name, table))
		media, err := c.ListMedia(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, []mds.Media{table}, media)
	})
}

// mediaStore is /media as the deployed service has it, with its cut at "=".
type mediaStore map[string][]string

func (m mediaStore) serve(req *http.Request) *http.Response {
	doi := strings.TrimPrefix(req.URL.Path, "/media/")
	if req.Method == "POST" {
		body, err := io.ReadAll(req.Body)
		parts := strings.Split(string(body), "=")
		if err != nil || len(parts) < 2 {
			return response(200, plain, "Media type and URL missing")
		}
		m[doi] = append(m[doi], parts[0]+"="+parts[1]) // it drops what follows the next "="
		return response(200, plain, "OK")
	}
	if len(m[doi]) == 0 {
		return response(404, plain, "No media for the DOI")
	}
	return response(200, plain, strings.Join(m[doi], "\n"))
}

func TestMedia(t *testing.T) {
	store := mediaStore{}
	c := served(t, store.serve, nil)
	_, err := c.ListMedia(t.Context(), name)
	require.ErrorIs(t, err, datacite.ErrNotFound)

	table := mds.Media{Type: "text/csv", URL: "https://repo.example.org/table.csv"}
	bucket := mds.Media{Type: "application/x-hdf5", URL: "s3://bucket/table.h5"}
	require.NoError(t, c.AddMedia(t.Context(), name, table))
	require.NoError(t, c.AddMedia(t.Context(), name, bucket))
	media, err := c.ListMedia(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, []mds.Media{table, bucket}, media)

	store[name] = []string{"text/csv=https://repo.example.org/?a=b"}
	media, err = c.ListMedia(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, []mds.Media{{Type: "text/csv", URL: "https://repo.example.org/?a=b"}}, media, "reading keeps what others stored")

	store[name] = []string{"text/csv"}
	_, err = c.ListMedia(t.Context(), name)
	require.ErrorIs(t, err, datacite.ErrUnreadable)
}

func TestMediaThatTheServiceWouldSpoil(t *testing.T) {
	store := mediaStore{}
	c := served(t, store.serve, nil)
	for _, tt := range []struct {
		medium mds.Media
		path   string
	}{
		{mds.Media{Type: "text/csv", URL: "https://repo.example.org/?id=7"}, "media.URL"},
		{mds.Media{Type: "text/csv", URL: ""}, "media.URL"},
		{mds.Media{Type: "text/csv", URL: "https://repo.example.org/\ntext/html=x"}, "media.URL"},
		{mds.Media{Type: "text/csv", URL: "mailto:a@example.org"}, "media.URL"},
		{mds.Media{Type: "", URL: address}, "media.Type"},
		{mds.Media{Type: "csv", URL: address}, "media.Type"},
		{mds.Media{Type: "text/csv;charset=utf-8", URL: address}, "media.Type"},
		{mds.Media{Type: "text/csv\ntext/html", URL: address}, "media.Type"},
	} {
		err := c.AddMedia(t.Context(), name, tt.medium)
		fault, ok := errors.AsType[*datacite.ValidationError](err)
		require.True(t, ok, "%+v", tt.medium)
		assert.Equal(t, tt.path, fault.Findings[0].Path)
	}
	require.ErrorIs(t, c.AddMedia(t.Context(), "10.5072/a#b", mds.Media{Type: "text/csv", URL: address}), datacite.ErrInvalidDOI)
	assert.Empty(t, store)

	refusing := responding(t, 200, plain, "Media type and URL missing", nil)
	require.ErrorIs(t, refusing.AddMedia(t.Context(), name, mds.Media{Type: "text/csv", URL: address}), datacite.ErrInvalid)
}

func TestAddMediaIsNotSentTwice(t *testing.T) {
	sent := 0
	c := served(t, func(*http.Request) *http.Response {
		sent++
		return response(502, plain, "")
	}, &datacite.Config{MaxAttempts: 5})
	err := c.AddMedia(t.Context(), name, mds.Media{Type: "text/csv", URL: address})
	require.ErrorIs(t, err, datacite.ErrUnclear)
	assert.Equal(t, 1, sent)
}
