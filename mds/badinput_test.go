package mds_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
)

// odd are names that older DOIs may have and new ones may not.
var odd = []string{"10.5072/a b", "10.5072/a+b", "10.5072/a:b", "10.5072/<1661::AID>3.0.CO;2-2", `10.5072/a\b`,
	`10.5072/a"b`, "10.5072/a&b=c"}

// elsewhere are names under prefixes that the service does not register, or of which it would take a part.
var elsewhere = []string{"10.1000.10/abc", "10.824331/abc", "10.507224/x", "10.5072.1/x", "10.507/x"}

// others are no DOIs, or names that the deployed service takes for those of other DOIs.
var others = []string{
	"", " ", "null", "10.5072", "10.5072/", "not a doi", "10.5072/a\nurl=https://evil.example", "10.5072/a\u200bb",
	"https://repo.example.org/glacier/7",
	"10.5072/a#b", "10.5072/a?b", "10.5072/a%b", "10.5072/a%23b", "10.5072/%61", "10.5072/größe", "10.5072/á", "10.5072/日本", "10.5072/\uff41",
	"10.5072//a//b", "10.5072//a", "10.5072/a/./b/../c", "10.5072/b/../a", "10.5072/.", "10.5072/a/.", "10.5072/a/", "10.5072/a/media", "10.5072/a/media/1",
	"10.5072/a/get-url", "10.5072/a/events/1", "https://doi.org/10.5072/a%E2%80%8B", "https://doi.org/10.5072/a%20",
}

func TestReadsReachExactlyThatDOI(t *testing.T) {
	for _, doi := range slices.Concat([]string{"10.5072/ABC"}, odd, elsewhere) {
		var asked []string
		c := served(t, func(req *http.Request) *http.Response {
			assert.Empty(t, req.URL.RawQuery+req.URL.Fragment, doi)
			arrived, err := url.ParseRequestURI(req.URL.RequestURI()) // as a server reads the wire
			require.NoError(t, err)
			asked = append(asked, arrived.Path)
			return response(http.StatusNotFound, plain, "DOI not found")
		}, nil)
		require.ErrorIs(t, calls["URL"](t.Context(), c, doi), datacite.ErrNotFound)
		require.ErrorIs(t, calls["Metadata"](t.Context(), c, doi), datacite.ErrNotFound)
		assert.Equal(t, []string{"/doi/" + doi, "/metadata/" + doi}, asked)
	}
}

func TestRefusedNames(t *testing.T) {
	srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	for call, do := range calls {
		refused := others
		if reads := call == "URL" || call == "Metadata" || call == "State"; !reads {
			refused = slices.Concat(others, elsewhere)
		}
		for _, text := range refused {
			err := do(t.Context(), srv.MDS(), text)
			require.ErrorIs(t, err, datacite.ErrInvalidDOI, "%s %q", call, text)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.Equal(t, "doi", datacite.Findings(err)[0].Path)
			require.ErrorIs(t, doi.CheckNew(text), datacite.ErrInvalidDOI)
		}
	}
	for _, prefix := range []string{"", "10", "10.", "5072", "10.5072/", "10.5072/a", "10.50.72", "10.507224", "10.5072.1",
		"10.507"} {
		_, errMint := srv.MDS().Mint(t.Context(), prefix, record("A"))
		for _, err := range []error{errMint, srv.MDS().CheckAccess(t.Context(), prefix, address)} {
			require.ErrorIs(t, err, datacite.ErrInvalidDOI, prefix)
			assert.Equal(t, "prefix", datacite.Findings(err)[0].Path)
		}
	}
	assert.Empty(t, srv.Requests(), "nothing was sent")
}

// Nobody gets such a name today. Those who have one keep its DOI up to date.
func TestOldNamesAreChangedAndNotMade(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, c := t.Context(), srv.MDS()
		for _, old := range odd {
			require.ErrorIs(t, doi.CheckNew(old), datacite.ErrInvalidDOI)
			_, errMetadata := c.PutMetadata(ctx, old, record("Old"))
			require.ErrorIs(t, errMetadata, datacite.ErrInvalidDOI)
			assert.Equal(t, "doi", datacite.Findings(errMetadata)[0].Path)
			_, errRegister := c.Register(ctx, old, address, record("Old"), nil)
			require.ErrorIs(t, errRegister, datacite.ErrInvalidDOI)
			assert.Equal(t, "doi", datacite.Findings(errRegister)[0].Path)
			_, errURL := c.PutURL(ctx, old, address)
			require.Error(t, errURL, "it has no metadata")
			require.ErrorIs(t, c.Hide(ctx, old), datacite.ErrNotFound)
			require.ErrorIs(t, c.DeleteDraft(ctx, old), datacite.ErrNotFound)
			assert.Empty(t, srv.Names())
		}
		for _, old := range odd {
			seed(t, srv, map[string]any{"doi": old, "url": address, "state": "findable"})
			must(c.Register(ctx, old, "https://repo.example.org/old", record("Old"), nil))(t)
			assert.Equal(t, "https://repo.example.org/old", storedURL(t, srv, old))
			must(c.PutURL(ctx, old, address))(t)
			assert.Equal(t, address, storedURL(t, srv, old))
			require.NoError(t, c.Hide(ctx, old))
			assert.Equal(t, "registered", srv.State(old))
			require.NoError(t, c.Show(ctx, old))
			assert.Equal(t, "findable", srv.State(old))
		}
	})
}

func TestAServiceThatTakesAnotherNameIsFoundOut(t *testing.T) {
	for said, location := range map[string]string{"OK (10.5072/A)": "",
		"CREATED": "https://mds.example.org/metadata/10.5072%2FA"} {
		c := served(t, func(*http.Request) *http.Response {
			res := response(201, plain, said)
			res.Header.Set("Location", location)
			return res
		}, nil)
		_, err := c.PutMetadata(t.Context(), "10.5072/a.b", record("A"))
		require.ErrorIs(t, err, datacite.ErrUnreadable)
		assert.ErrorContains(t, err, "stored the metadata under 10.5072/a")
		assert.False(t, datacite.Temporary(err), "once more would make one more")
		require.NoError(t, failure(c.PutMetadata(t.Context(), "10.5072/A", record("A"))), "case does not count")
	}
	require.NoError(t, failure(responding(t, 201, plain, "OK", nil).PutMetadata(t.Context(), name, record("A"))),
		"it does not say under which name")
}

func TestRefusedAddresses(t *testing.T) {
	srv := newServer(t, nil)
	for bad, code := range map[string]datacite.Code{
		"": "missing", "https://repo.example.org/\nurl=https://evil.example": "encoding",
		"https://repo.example.org/\rurl=https://evil.example": "encoding",
		"https://repo.example.org/\x00":                       "encoding", "https://repo.example.org/\ta": "encoding", "https://repo.example.org/a b": "encoding",
		"https://repo.example.org/\x7f": "encoding", "https://repo.example.org/\u0085a": "encoding", "https://repo.example.org/\u2028url=x": "encoding",
		"https://repo.example.org/\u2029url=x": "encoding", "https://repo.example.org/\u00a0": "encoding", "https://repo.example.org/\xff": "encoding",
		"https://repo.example.org/\n": "encoding", "/glacier/7": "uri", "https:///glacier": "uri", "javascript:alert(1)": "uri", "file:///etc/passwd": "uri",
		"https://repo.example.org/%zz": "uri", "HTTPS://repo.example.org/": "uri", "Http://repo.example.org/": "uri", "FTP://repo.example.org/": "uri",
	} {
		_, errPut := srv.MDS().PutURL(t.Context(), "10.5072/a", bad)
		_, errRegister := srv.MDS().Register(t.Context(), "10.5072/a", bad, record("A"), nil)
		for i, err := range []error{errPut, errRegister, srv.MDS().CheckAccess(t.Context(), "10.5072", cmp.Or(bad, " "))} {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			fault := datacite.Findings(err)[0]
			assert.Equal(t, "url", fault.Path, "%q", bad)
			assert.True(t, fault.Code == code || bad == "" && i == 2, "%q: %v", bad, err)
			if code == "uri" && bad != strings.ToLower(bad) {
				assert.Contains(t, fault.Reason, "in lower case")
			}
		}
	}
	assert.Empty(t, srv.Requests(), "nothing was sent")
}

// The body has two lines, and what the service decodes in it is protected.
func TestURLsArriveAsTheyAre(t *testing.T) {
	body := ""
	c := served(t, func(req *http.Request) *http.Response {
		data, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		body = string(data)
		assert.Equal(t, "text/plain;charset=UTF-8", req.Header.Get("Content-Type"))
		return response(201, plain, "OK")
	}, nil)
	for exact, encoded := range map[string]string{
		address: address, "https://repo.example.org/a%20b": "https://repo.example.org/a%2520b",
		"https://repo.example.org/a+b":              "https://repo.example.org/a%2Bb",
		"https://repo.example.org/?q=a%2Bb+c&d=e=f": "https://repo.example.org/?q=a%252Bb%2Bc&d=e=f", "https://repo.example.org/a%0Aurl=x": "https://repo.example.org/a%250Aurl=x",
		"https://repo.example.org/größe": "https://repo.example.org/größe", "https://repo.example.org/#part%2F": "https://repo.example.org/#part%252F", "ftp://ftp.example.org/x": "ftp://ftp.example.org/x",
	} {
		status := must(c.PutURL(t.Context(), "https://doi.org/10.5072/ABC", exact))(t)
		assert.EqualValues(t, "OK", status)
		assert.Equal(t, "doi=10.5072/ABC\nurl="+encoded, body)
		eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
			findable(t, srv, name)
			must(srv.MDS().PutURL(t.Context(), name, exact))(t)
			assert.Equal(t, exact, storedURL(t, srv, name))
		})
	}
}

// No URL adds a line to the body, of which the service decodes the values.
func FuzzURLBody(f *testing.F) {
	for _, seed := range []string{address, "https://a.example/%0Aurl=b", "https://a.example/\nurl=b", "http://0??",
		"https://a.example/a+b%2Bc", "ftp://a.example/\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, to string) {
		c := served(t, func(req *http.Request) *http.Response {
			body := must(io.ReadAll(req.Body))(t)
			value, found := strings.CutPrefix(string(body), "doi="+name+"\nurl=")
			require.True(t, found)
			require.NotContains(t, value, "\n")
			sent := must(url.QueryUnescape(value))(t)
			assert.Equal(t, to, sent)
			return response(201, plain, "OK")
		}, nil)
		if _, err := c.PutURL(t.Context(), name, to); err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalid)
		}
	})
}

func TestDocumentsThatCannotBeSent(t *testing.T) {
	srv := newServer(t, nil)
	for _, tt := range []struct {
		doc  mds.Document
		want string
	}{
		{mds.Document{}, "doc.Data: is empty"},
		{mds.Document{ContentType: mds.XMLType, Data: []byte("TY  - DATA")}, "doc.Data: is not XML"},
		{mds.Document{ContentType: ";", Data: []byte("a")}, "doc.ContentType: \";\" is not a media type"},
		{mds.XML(nil), "doc.Data: is empty"},
		{mds.XML(bytes.Repeat([]byte("<resource/>"), 1<<20)), "doc.Data: is longer than 10 MiB"},
		{mds.Document{ContentType: "text/plain", Data: bytes.Repeat([]byte("TY  - DATA\n"), 1<<20)},
			"doc.Data: is longer than 10 MiB"},
		{mds.Document{Data: []byte("<resource/>")}, "doc.ContentType: is empty"},
		{mds.Document{ContentType: "text/plain\r\nX-Evil: 1", Data: []byte("a")},
			"doc.ContentType: has a character that is not allowed in a header"},
		{mds.Document{ContentType: "text/xml", Data: []byte("TY  - DATA")}, "doc.Data: is not XML"},
		{mds.Document{ContentType: "application/json; a=~", Data: []byte("{}")},
			"doc.ContentType: application/json is read as parameters"},
		{mds.Document{ContentType: "application/x-www-form-urlencoded", Data: []byte("a=b")},
			"doc.ContentType: application/x-www-form-urlencoded is read as"},
		{mds.Document{ContentType: "multipart/form-data", Data: []byte("a=b")},
			"doc.ContentType: multipart/form-data is read as parameters"},
		{mds.Document{ContentType: "text/x-json", Data: []byte("{}")}, "doc.ContentType: text/x-json is read as parameters"},
		{mds.Document{ContentType: "application/jsonrequest", Data: []byte("{}")},
			"doc.ContentType: application/jsonrequest is read as parameters"},
	} {
		_, errPut := srv.MDS().PutMetadata(t.Context(), name, tt.doc)
		_, errMint := srv.MDS().Mint(t.Context(), "10.5072", tt.doc)
		_, errRegister := srv.MDS().Register(t.Context(), name, address, tt.doc, nil)
		for _, err := range []error{errPut, errMint, errRegister} {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, tt.want)
			assert.NotEmpty(t, datacite.Findings(err)[0].Code)
		}
	}
	assert.Empty(t, srv.Requests(), "nothing was sent")
}

func TestCredentialsThatCannotBeSent(t *testing.T) {
	for _, tt := range []struct {
		creds credentials
		want  string
	}{
		{credentials{}, "Config.Username: is empty; the metadata store needs"},
		{credentials{Username: "REPO"}, "Config.Password: is empty"},
		{credentials{Username: "DC.sesamesesamesesamesesame", Password: "x"},
			"Config.Username: is an API key; give the name of the account"},
	} {
		_, err := mds.NewClient(datacite.Config{Service: datacite.Test, Username: tt.creds.Username,
			Password: tt.creds.Password})
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.ErrorContains(t, err, tt.want)
		assert.NotContains(t, err.Error(), "sesame")
	}
}

func TestResponsesThatMakeNoSense(t *testing.T) {
	page := "<!DOCTYPE html><html><head><title>Welcome to the hotel network</title></head></html>"
	t.Run("200 with an HTML page", func(t *testing.T) {
		for call, do := range calls {
			err := do(t.Context(), responding(t, 200, "text/html", page, nil), name)
			require.ErrorIs(t, err, datacite.ErrUnreadable, call)
			assert.ErrorContains(t, err, "Welcome to the hotel network", call)
			writes := call == "PutURL" || call == "PutMetadata" || call == "DeleteDraft"
			assert.Equal(t, writes, errors.Is(err, datacite.ErrUnclear), "%s: reading changes nothing", call)
		}
	})
	t.Run("no URL", func(t *testing.T) {
		for _, text := range []string{"", "DOI not found", "https://repo.example.org/\nhttps://evil.example/", "glacier/7"} {
			for _, call := range []string{"URL", "State"} {
				require.ErrorIs(t, calls[call](t.Context(), responding(t, 200, plain, text, nil), name), datacite.ErrUnreadable)
			}
		}
		got := must(responding(t, 200, plain, "http://old.example.org/a b\n", nil).URL(t.Context(), name))(t)
		assert.Equal(t, "http://old.example.org/a b", got, "an old one may be odd")
	})
	t.Run("a body cut off in the middle", func(t *testing.T) {
		c := served(t, func(*http.Request) *http.Response {
			res := response(200, "application/xml", "")
			res.Body = io.NopCloser(io.MultiReader(strings.NewReader("<resource><tit"), failing{}))
			return res
		}, nil)
		_, err := c.Metadata(t.Context(), name)
		require.ErrorIs(t, err, datacite.ErrUnreadable)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
