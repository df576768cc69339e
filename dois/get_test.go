package dois_test

import (
	"errors"
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

// TestNamesThatNoPathHolds gives names that the deployed service takes for others
// in a path. Get asks the list for them.
func TestNamesThatNoPathHolds(t *testing.T) {
	for _, name := range []string{
		"10.5072/a/./b", "10.5072/../x", "10.5072/größe-日本", "https://doi.org/10.5072/a%20",
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				c := srv.DOIs()
				_, errExists := c.Exists(t.Context(), name)
				_, errXML := c.Open(t.Context(), name, dois.FormatDataCiteXML)
				_, errUpdate := c.Update(t.Context(), name, &dois.Draft{URL: "https://example.org/"})
				_, errHide := c.ChangeState(t.Context(), name, dois.EventHide, nil)
				for _, err := range []error{errExists, errXML, errUpdate, errHide, c.Delete(t.Context(), name)} {
					require.ErrorIs(t, err, datacite.ErrInvalidDOI)
					assert.ErrorContains(t, err, "another DOI")
				}
				assert.Empty(t, srv.Requests(), "nothing was sent")
				_, errGet := c.Get(t.Context(), name, nil)
				require.ErrorIs(t, errGet, datacite.ErrNotFound)
			})
		})
	}
	story(t, "in a list", []string{
		`{"doi":"10.5072/größe","titles":[{"title":"Size"}]}`, `{"doi":"10.5072/grosse"}`, `{"doi":"10.5072/größe,n"}`,
	}, func(t *testing.T, srv *datacitetest.Server) {
		r := must(srv.DOIs().Get(t.Context(), "10.5072/GRöße", &dois.GetOptions{Include: []string{"client"}}))(t)
		assert.Equal(t, "10.5072/größe", r.DOI)
		assert.Equal(t, "Size", r.Titles[0].Title)
		assert.NotEmpty(t, r.Included)
		srv.SetFaults(datacitetest.First(&datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 400}))
		require.ErrorIs(t, failure(srv.DOIs().Get(t.Context(), "10.5072/größe", nil)), datacite.ErrBadRequest)
		err := failure(srv.DOIs().Get(t.Context(), "10.5072/größe,n", nil))
		require.ErrorIs(t, err, datacite.ErrInvalidDOI, "a list takes the comma for the end of a name")
		assert.Equal(t, "doi", datacite.Findings(err)[0].Path)
	})
}

// TestInvalidNamesAreNotSent gives what is no DOI. Nothing may be sent: a path
// without a name is the list of all DOIs.
func TestInvalidNamesAreNotSent(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.DOIs()
		for _, name := range []string{
			"", " ", "null", "undefined", "10.5072", "10.5072/", "/abc", "abc/10.5072", "10./x", "11.5072/x", "10.5072/a\x00b",
			"10.5072/a\nb",
			"10.5072/\xff", "https://example.org/10.5072/abc", "https://doi.org/10.5072/a%2",
		} {
			_, errGet := c.Get(t.Context(), name, nil)
			_, errUpdate := c.Update(t.Context(), name, &dois.Draft{})
			for _, err := range []error{errGet, errUpdate, c.Delete(t.Context(), name)} {
				require.ErrorIs(t, err, datacite.ErrInvalidDOI, "%q", name)
				require.ErrorIs(t, err, datacite.ErrInvalid)
				assert.Equal(t, "doi", datacite.Findings(err)[0].Path)
			}
		}
		assert.Empty(t, srv.Requests(), "nothing was sent")
	})
}

func TestGetUnknown(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.DOIs().Get(t.Context(), "10.5072/nothing", nil)
		require.ErrorIs(t, err, datacite.ErrNotFound)
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.Equal(t, "dois.Get", e.Op)
		assert.Equal(t, 404, e.StatusCode)
		assert.NotEmpty(t, e.RequestID)
		err2 := failure(srv.DOIs().Get(t.Context(), "10.5072/nothing", &dois.GetOptions{Include: []string{"views"}}))
		require.ErrorContains(t, err2, "GetOptions.Include: ")
		assert.ErrorContains(t, err, "/dois/10.5072/nothing?affiliation=true&publisher=true: 404 Not Found")
	})
}

// A cache or a gateway may answer with another record than the one that was asked for. It is
// not taken for that one, and above all it does not direct a write.
func TestTheRecordOfAnotherDOI(t *testing.T) {
	var written []string
	client := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-of-tests", MaxAttempts: 1},
		func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				written = append(written, r.URL.Path)
			}
			fmt.Fprint(w, `{"data":{"id":"10.5072/theirs","type":"dois","attributes":{"doi":"10.5072/theirs","state":"draft",`+
				`"titles":[{"title":"Theirs"}]}}}`)
		})
	ctx := t.Context()
	_, get := client.Get(ctx, "10.5072/mine", nil)
	_, change := client.ChangeState(ctx, "10.5072/mine", dois.EventPublish, nil)
	require.Empty(t, written)
	_, update := client.Update(ctx, "10.5072/mine", &dois.Draft{URL: "https://example.org/"})
	_, create := client.Create(ctx, &dois.Draft{DOI: "10.5072/mine"})
	for call, err := range map[string]error{"Get": get, "ChangeState": change, "Update": update, "Create": create} {
		require.ErrorIs(t, err, datacite.ErrUnreadable, call)
		assert.ErrorContains(t, err, `it is the record of "10.5072/theirs", not of "10.5072/mine"`, call)
	}
	assert.Equal(t, []string{"/dois/10.5072/mine", "/dois"}, written)

	for _, spelling := range []string{"10.5072/THEIRS", "https://doi.org/10.5072/theirs", "doi:10.5072/Theirs"} {
		r := must(client.Get(ctx, spelling, nil))(t)
		assert.Equal(t, "Theirs", r.Titles[0].Title)
	}
	r := must(client.Create(ctx, &dois.Draft{Prefix: "10.5072"}))(t)
	assert.Equal(t, "10.5072/theirs", r.DOI)
}

func TestOpenXML(t *testing.T) {
	onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
		must(srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/xml", MetadataXML: []byte(xmlRecord)}))(t)
		body := must(srv.DOIs().Open(t.Context(), "10.5072/xml", dois.FormatDataCiteXML))(t)
		text := must(io.ReadAll(body))(t)
		require.NoError(t, body.Close())
		assert.Contains(t, string(text), "<title>From XML</title>")

		body = must(srv.DOIs().Open(t.Context(), "10.5072/xml", dois.FormatDataCiteXML))(t)
		require.NoError(t, body.Close())
		n, err := body.Read(make([]byte, 10))
		assert.Zero(t, n, "of what was read ahead")
		require.ErrorIs(t, err, fs.ErrClosed)
		require.NoError(t, body.Close(), "twice")

		require.ErrorIs(t, failure(srv.DOIs().Open(t.Context(), "10.5072/xml", "application/x-unheard-of")), dois.ErrNoFormat)
		require.ErrorIs(t, failure(srv.DOIs().Open(t.Context(), "10.5072/none", dois.FormatDataCiteXML)),
			datacite.ErrNotFound)
	})
}

// TestOpen asks for each format by its media type.
func TestOpen(t *testing.T) {
	client := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("Accept"))
		fmt.Fprint(w, r.Header.Get("Accept"))
	})
	for _, format := range []dois.Format{
		dois.FormatDataCiteXML, dois.FormatDataCiteJSON, dois.FormatCiteproc, dois.FormatSchemaOrg, dois.FormatCodemeta,
		dois.FormatCrosscite, dois.FormatJATS, dois.FormatBibTeX, dois.FormatRIS, dois.FormatCSV,
	} {
		body := must(client.Open(t.Context(), "10.5072/x", format))(t)
		text := must(io.ReadAll(body))(t)
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
	cut := scripted(t, &datacite.Config{MaxAttempts: 1}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", string(dois.FormatRIS))
		w.Header().Set("Content-Length", "9")
	})
	require.ErrorIs(t, failure(cut.Open(t.Context(), "10.5072/x", dois.FormatRIS)), datacite.ErrUnreadable)
	_, err := response("application/vnd.datacite.datacite+xml", "").Open(t.Context(), "10.5072/x", dois.FormatDataCiteXML)
	require.ErrorIs(t, err, dois.ErrNoFormat, "a record without XML")
	require.ErrorIs(t, failure(response("text/html", "<html>").Open(t.Context(), "10.5072/x", dois.FormatBibTeX)),
		datacite.ErrUnreadable)
	require.NoError(t, failure(response("text/html", "x").Open(t.Context(), "10.5072/x", "application/*")), "any of them")
	require.ErrorIs(t, failure(response("text/plain", "x").Open(t.Context(), "10.5072/x", "no media type;")),
		datacite.ErrInvalid)
	require.ErrorIs(t, failure(response("text/plain", "x").Open(t.Context(), "null", dois.FormatRIS)),
		datacite.ErrInvalidDOI)
	cite := func(body, name string, opts *dois.CitationOptions) error {
		return failure(response("text/x-bibliography", body).Citation(t.Context(), name, opts))
	}
	require.ErrorIs(t, cite(" \n", "10.5072/x", nil), dois.ErrNoFormat)
	require.ErrorIs(t, cite("x", "null", nil), datacite.ErrInvalidDOI)
	for path, opts := range map[string]dois.CitationOptions{"CitationOptions.Style": {Style: "APA style"},
		"CitationOptions.Locale": {Locale: "german"}} {
		err := cite("x", "10.5072/x", &opts)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.Equal(t, path, datacite.Findings(err)[0].Path)
		assert.Contains(t, "value language", datacite.Findings(err)[0].Code)
	}
}

func TestCitation(t *testing.T) {
	client := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "text/x-bibliography", r.Header.Get("Accept"))
		w.Header().Set("Content-Type", "text/x-bibliography; charset=utf-8")
		fmt.Fprintf(w, "Lovelace, A. (2020). Ice. %s\n", r.URL.RawQuery)
	})
	text := must(client.Citation(t.Context(), "10.5072/x", nil))(t)
	assert.Equal(t, "Lovelace, A. (2020). Ice.", text)
	text = must(client.Citation(t.Context(), "10.5072/x",
		&dois.CitationOptions{Style: "chicago-author-date", Locale: "de-DE"}))(t)
	assert.Equal(t, "Lovelace, A. (2020). Ice. locale=de-DE&style=chicago-author-date", text)
}
