package dois_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

func TestOpenXML(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/xml", MetadataXML: []byte(xmlRecord)})
		require.NoError(t, err)
		body, err := srv.DOIs().Open(t.Context(), "10.5072/xml", dois.DataCiteXML)
		require.NoError(t, err)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		assert.Contains(t, string(text), "<title>From XML</title>")

		body, err = srv.DOIs().Open(t.Context(), "10.5072/xml", dois.DataCiteXML)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		n, err := body.Read(make([]byte, 10))
		assert.Zero(t, n, "of what was read ahead")
		require.ErrorIs(t, err, fs.ErrClosed)
		require.NoError(t, body.Close(), "twice")

		_, err = srv.DOIs().Open(t.Context(), "10.5072/xml", "application/x-unheard-of")
		require.ErrorIs(t, err, dois.ErrNoFormat)
		_, err = srv.DOIs().Open(t.Context(), "10.5072/none", dois.DataCiteXML)
		require.ErrorIs(t, err, datacite.ErrNotFound)
	})
}

// TestOpen asks for each format by its media type.
func TestOpen(t *testing.T) {
	client := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("Accept"))
		fmt.Fprint(w, r.Header.Get("Accept"))
	})
	for _, format := range []dois.Format{
		dois.DataCiteXML, dois.DataCiteJSON, dois.Citeproc, dois.SchemaOrg, dois.Codemeta, dois.Crosscite, dois.JATS, dois.BibTeX, dois.RIS, dois.CSV,
	} {
		body, err := client.Open(t.Context(), "10.5072/x", format)
		require.NoError(t, err)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		assert.Equal(t, string(format), string(text))
		require.NoError(t, body.Close())
	}
}

func TestOpenRefused(t *testing.T) {
	response := func(kind, body string) *dois.Client {
		return scripted(t, &datacite.Config{MaxAttempts: 1}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		})
	}
	_, err := response("application/vnd.datacite.datacite+xml", "").Open(t.Context(), "10.5072/x", dois.DataCiteXML)
	require.ErrorIs(t, err, dois.ErrNoFormat, "a record without XML")
	_, err = response("text/html", "<html>").Open(t.Context(), "10.5072/x", dois.BibTeX)
	require.ErrorIs(t, err, datacite.ErrUnreadable)
	_, err = response("text/plain", "x").Open(t.Context(), "10.5072/x", "no media type;")
	require.ErrorIs(t, err, datacite.ErrInvalid)
	_, err = response("text/plain", "x").Open(t.Context(), "null", dois.RIS)
	require.ErrorIs(t, err, datacite.ErrInvalidDOI)
}

func TestCitation(t *testing.T) {
	client := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "text/x-bibliography", r.Header.Get("Accept"))
		w.Header().Set("Content-Type", "text/x-bibliography; charset=utf-8")
		fmt.Fprintf(w, "Lovelace, A. (2020). Ice. %s\n", r.URL.RawQuery)
	})
	text, err := client.Citation(t.Context(), "10.5072/x", nil)
	require.NoError(t, err)
	assert.Equal(t, "Lovelace, A. (2020). Ice.", text)
	text, err = client.Citation(t.Context(), "10.5072/x", &dois.CitationOptions{Style: "chicago-author-date", Locale: "de-DE"})
	require.NoError(t, err)
	assert.Equal(t, "Lovelace, A. (2020). Ice. locale=de-DE&style=chicago-author-date", text)
}

// The deployed service writes a record in other formats, also one that was written in JSON. The embedded one refuses most of them
// with 501.
func TestFormatsOfTheDeployedService(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true})
	defer srv.Close()
	client := srv.DOIs()
	draft := &dois.Draft{DOI: "10.5072/x", URL: "https://example.org/", Event: dois.Publish}
	draft.Record = complete("Ice")
	_, err := client.Create(t.Context(), draft)
	require.NoError(t, err)
	for format, part := range map[dois.Format]string{
		dois.DataCiteXML: "<title>Ice</title>", dois.DataCiteJSON: `"title": "Ice"`, dois.Citeproc: `"title": "Ice"`, dois.BibTeX: "title = {Ice}",
	} {
		body, err := client.Open(t.Context(), "10.5072/x", format)
		require.NoError(t, err, format)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		assert.Contains(t, string(text), part, format)
	}
	_, err = client.Open(t.Context(), "10.5072/x", dois.RIS)
	require.ErrorContains(t, err, "Not supported by this test service")
	require.NotErrorIs(t, err, dois.ErrNoFormat, "the deployed service has it")
	text, err := client.Citation(t.Context(), "10.5072/x", nil)
	require.NoError(t, err)
	assert.Equal(t, "Lovelace, Ada. (2020). <i>Ice</i> [Data set]. Example Press. https://doi.org/10.5072/X", text)
}
