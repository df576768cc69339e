package mds_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
)

// odd are names that older DOIs may have and new ones may not.
var odd = []string{"10.5072/a b", "10.5072/a+b", "10.5072/a:b", "10.5072/<1661::AID>3.0.CO;2-2", `10.5072/a\b`, `10.5072/a"b`, "10.5072/a&b=c"}

// elsewhere are names under prefixes that the service does not register.
var elsewhere = []string{"10.1000.10/abc", "10.824331/abc"}

// others are names that the deployed service takes for those of other DOIs.
var others = []string{
	"10.5072/a#b", "10.5072/a?b", "10.5072/a%b", "10.5072/a%23b", "10.5072/größe", "10.5072/日本", "10.5072//a//b", "10.5072/a/./b/../c",
	"10.5072/.", "10.5072/a/", "10.5072/a/media", "10.5072/a/events/1",
}

func TestReadsReachExactlyThatDOI(t *testing.T) {
	for _, doi := range slices.Concat([]string{"10.5072/ABC"}, odd, elsewhere) {
		t.Run(doi, func(t *testing.T) {
			var asked []string
			c := served(t, func(req *http.Request) *http.Response {
				assert.Empty(t, req.URL.RawQuery)
				assert.Empty(t, req.URL.Fragment)
				arrived, err := url.ParseRequestURI(req.URL.RequestURI()) // as a server reads the wire
				require.NoError(t, err)
				asked = append(asked, arrived.Path)
				return response(http.StatusNotFound, plain, "DOI not found")
			}, nil)
			_, err := c.URL(t.Context(), doi)
			require.ErrorIs(t, err, datacite.ErrNotFound)
			_, err = c.Metadata(t.Context(), doi)
			require.ErrorIs(t, err, datacite.ErrNotFound)
			assert.Equal(t, []string{"/doi/" + doi, "/metadata/" + doi}, asked)
		})
	}
}

func TestWritesRefuseNamesOfOthers(t *testing.T) {
	srv := newServer(t, nil)
	c := srv.MDS()
	for _, doi := range append([]string{"", "null", "10.5072", "10.5072/", "not a doi", "10.5072/a\nurl=https://evil.example"}, slices.Concat(elsewhere, others)...) {
		t.Run(doi, func(t *testing.T) {
			_, errMetadata := c.PutMetadata(t.Context(), doi, record("A"))
			_, errURL := c.PutURL(t.Context(), doi, address)
			_, errRegister := c.Register(t.Context(), doi, address, record("A"))
			_, errEnsure := c.Ensure(t.Context(), doi, address, record("A"), nil)
			for _, err := range []error{errMetadata, errURL, errRegister, errEnsure, c.Hide(t.Context(), doi), c.Show(t.Context(), doi), c.DeleteDraft(t.Context(), doi)} {
				require.ErrorIs(t, err, datacite.ErrInvalidDOI)
				require.ErrorIs(t, err, datacite.ErrInvalid)
				fault, ok := errors.AsType[*datacite.ValidationError](err)
				require.True(t, ok)
				assert.Equal(t, "doi", fault.Findings[0].Path)
			}
		})
	}
	assert.Empty(t, srv.Requests(), "nothing was sent")
}

func TestReadsRefuseWhatIsNoName(t *testing.T) {
	srv := newServer(t, nil)
	for _, text := range append([]string{"", " ", "null", "10.5072", "10.5072/", "glacier-7", "10.5072/a\nb", "10.5072/a\u200bb", "https://repo.example.org/glacier/7"}, others...) {
		_, errURL := srv.MDS().URL(t.Context(), text)
		_, errMetadata := srv.MDS().Metadata(t.Context(), text)
		_, errState := srv.MDS().State(t.Context(), text)
		for _, err := range []error{errURL, errMetadata, errState} {
			require.ErrorIs(t, err, datacite.ErrInvalidDOI, "%q", text)
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
			_, errRegister := c.Register(ctx, old, address, record("Old"))
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
			_, err := c.Register(ctx, old, "https://repo.example.org/old", record("Old"))
			require.NoError(t, err)
			assert.Equal(t, "https://repo.example.org/old", storedURL(t, srv, old))
			_, err = c.PutURL(ctx, old, address)
			require.NoError(t, err)
			assert.Equal(t, address, storedURL(t, srv, old))
			require.NoError(t, c.Hide(ctx, old))
			assert.Equal(t, datacitetest.StateRegistered, srv.State(old))
			require.NoError(t, c.Show(ctx, old))
			assert.Equal(t, datacitetest.StateFindable, srv.State(old))
		}
	})
}

func TestAServiceThatTakesAnotherNameIsFoundOut(t *testing.T) {
	c := responding(t, 201, plain, "OK (10.5072/A)", nil)
	_, err := c.PutMetadata(t.Context(), "10.5072/a.b", record("A"))
	require.ErrorIs(t, err, datacite.ErrUnreadable)
	assert.ErrorContains(t, err, "stored the metadata under 10.5072/a")
	assert.False(t, datacite.Temporary(err), "once more would make one more")
	_, err = c.PutMetadata(t.Context(), "10.5072/A", record("A"))
	require.NoError(t, err, "case does not count")
}

func TestUpperCaseIsTheSameDOI(t *testing.T) {
	srv := newServer(t, nil)
	findable(t, srv, "10.5072/ABC")
	got, err := srv.MDS().URL(t.Context(), "https://doi.org/10.5072/abc")
	require.NoError(t, err)
	assert.Equal(t, address, got)
}

func TestPutURLRefusesAddresses(t *testing.T) {
	srv := newServer(t, nil)
	for name, bad := range map[string]string{
		"empty":                 "",
		"line break":            "https://repo.example.org/\nurl=https://evil.example",
		"carriage return":       "https://repo.example.org/\rurl=https://evil.example",
		"null character":        "https://repo.example.org/\x00",
		"tabulator":             "https://repo.example.org/\ta",
		"blank":                 "https://repo.example.org/a b",
		"delete character":      "https://repo.example.org/\x7f",
		"next line, U+0085":     "https://repo.example.org/\u0085a",
		"line separator":        "https://repo.example.org/\u2028url=x",
		"paragraph separator":   "https://repo.example.org/\u2029url=x",
		"no-break space":        "https://repo.example.org/\u00a0",
		"broken UTF-8":          "https://repo.example.org/\xff",
		"relative":              "/glacier/7",
		"no host":               "https:///glacier",
		"script":                "javascript:alert(1)",
		"file":                  "file:///etc/passwd",
		"broken percent":        "https://repo.example.org/%zz",
		"line break at the end": "https://repo.example.org/\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, errPut := srv.MDS().PutURL(t.Context(), "10.5072/a", bad)
			_, errRegister := srv.MDS().Register(t.Context(), "10.5072/a", bad, record("A"))
			for _, err := range []error{errPut, errRegister} {
				fault, ok := errors.AsType[*datacite.ValidationError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, "url", fault.Findings[0].Path)
				require.ErrorIs(t, err, datacite.ErrInvalid)
			}
		})
	}
	assert.Empty(t, srv.Requests(), "nothing was sent")
	for _, bad := range []string{"/glacier/7", "https:///glacier", "https://repo.example.org/%zz"} {
		_, err := srv.MDS().PutURL(t.Context(), "10.5072/a", bad)
		assert.Equal(t, datacite.Code("uri"), datacite.Findings(err)[0].Code, bad)
	}
}

func TestURLsArriveAsTheyAre(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		for _, exact := range []string{
			"https://repo.example.org/a%20b", "https://repo.example.org/a+b", "https://repo.example.org/?q=a%2Bb+c&d=e=f",
			"https://repo.example.org/a%250Aurl=x", "https://repo.example.org/größe", "https://repo.example.org/#part%2F", "ftp://ftp.example.org/x",
		} {
			findable(t, srv, name)
			_, err := srv.MDS().PutURL(t.Context(), name, exact)
			require.NoError(t, err)
			assert.Equal(t, exact, storedURL(t, srv, name))
		}
	})
}

func TestTheBodyHasTwoLines(t *testing.T) {
	var body string
	c := served(t, func(req *http.Request) *http.Response {
		data, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		body = string(data)
		return response(201, plain, "OK")
	}, nil)
	_, err := c.PutURL(t.Context(), "https://doi.org/10.5072/ABC", address)
	require.NoError(t, err)
	assert.Equal(t, "doi=10.5072/ABC\nurl="+address, body)
	_, err = c.PutURL(t.Context(), "10.5072/abc", "https://repo.example.org/a%0Aurl=b+c")
	require.NoError(t, err)
	assert.Equal(t, "doi=10.5072/abc\nurl=https://repo.example.org/a%250Aurl=b%2Bc", body, "what the service decodes is protected")
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
		{mds.Document{Data: []byte("<resource/>")}, "doc.ContentType: is empty"},
		{mds.Document{ContentType: "text/plain\r\nX-Evil: 1", Data: []byte("a")}, "not allowed in a header"},
		{mds.Document{ContentType: "application/json", Data: []byte("{}")}, "read as parameters"},
		{mds.Document{ContentType: "text/x-json", Data: []byte("{}")}, "read as parameters"},
		{mds.Document{ContentType: "application/jsonrequest", Data: []byte("{}")}, "read as parameters"},
		{mds.Document{ContentType: "multipart/form-data", Data: []byte("{}")}, "read as parameters"},
		{mds.Document{ContentType: "application/json; a=~", Data: []byte("{}")}, "read as parameters"},
		{mds.Document{ContentType: "application/x-www-form-urlencoded", Data: []byte("a=b")}, "read as parameters"},
	} {
		_, errPut := srv.MDS().PutMetadata(t.Context(), name, tt.doc)
		_, errMint := srv.MDS().Mint(t.Context(), "10.5072", tt.doc)
		_, errRegister := srv.MDS().Register(t.Context(), name, address, tt.doc)
		for _, err := range []error{errPut, errMint, errRegister} {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, tt.want)
			assert.NotEmpty(t, datacite.Findings(err)[0].Code)
		}
	}
	for _, prefix := range []string{"", "10", "10.", "5072", "10.5072/", "10.5072/a", "10.50.72"} {
		_, err := srv.MDS().Mint(t.Context(), prefix, record("A"))
		require.ErrorIs(t, err, datacite.ErrInvalidDOI, prefix)
		assert.Equal(t, "prefix", datacite.Findings(err)[0].Path)
		err = srv.MDS().CheckAccess(t.Context(), prefix, address)
		require.ErrorIs(t, err, datacite.ErrInvalidDOI, prefix)
		assert.Equal(t, "prefix", datacite.Findings(err)[0].Path)
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
		{credentials{Password: "sesame"}, "Config.Username: is empty"},
		{credentials{Username: "RE:PO", Password: "sesame"}, "colon"},
		{credentials{Username: "DC.sesamesesamesesamesesame", Password: "x"}, "Config.Username: is an API key; give the name of the account"},
		{credentials{Username: "REPO", Password: "ses\name"}, "control character"},
	} {
		_, err := mds.NewClient(datacite.Config{Service: datacite.Test, Username: tt.creds.Username, Password: tt.creds.Password})
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.ErrorContains(t, err, tt.want)
		assert.NotContains(t, err.Error(), "sesame")
	}
}

func TestClientShowsNoSecret(t *testing.T) {
	c, err := mds.NewClient(datacite.Config{Service: datacite.Test, Username: "REPO", Password: "open sesame 100%"})
	require.NoError(t, err)
	var log bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10v", "%T %v"} {
		for _, v := range []any{c, *c} {
			text := fmt.Sprintf(verb, v)
			assert.NotContains(t, text, "sesame", verb)
			assert.NotContains(t, strings.ToLower(text), fmt.Sprintf("%x", "sesame"), verb)
		}
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("login", "client", c)
	}
	assert.NotContains(t, log.String(), "sesame")
}

func TestSecretsShowInNoErrorAndNoLog(t *testing.T) {
	var log bytes.Buffer
	// A service that repeats the request's header in its response.
	c := served(t, func(req *http.Request) *http.Response {
		_, password, _ := req.BasicAuth()
		return response(403, plain, "denied for "+req.Header.Get("Authorization")+" with "+password)
	}, &datacite.Config{MaxAttempts: 1, Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	_, err := c.PutURL(t.Context(), name, address)
	e, ok := errors.AsType[*datacite.Error](err)
	require.True(t, ok)
	slog.New(slog.NewTextHandler(&log, nil)).Error("failed", "error", e)
	everything := err.Error() + string(e.Body) + e.Message + fmt.Sprintf("%+v", *e) + log.String()
	assert.NotContains(t, everything, account.Password)
	assert.NotContains(t, everything, "RVhBTVBMRS5SRVBP", "nor encoded")
	assert.Contains(t, everything, "REDACTED")
}

func TestResponsesThatMakeNoSense(t *testing.T) {
	page := "<!DOCTYPE html><html><head><title>Welcome to the hotel network</title></head></html>"
	t.Run("200 with an HTML page", func(t *testing.T) {
		c := responding(t, 200, "text/html", page, nil)
		_, errURL := c.URL(t.Context(), name)
		_, errMetadata := c.Metadata(t.Context(), name)
		_, errPut := c.PutURL(t.Context(), name, address)
		_, errStore := c.PutMetadata(t.Context(), name, record("A"))
		for _, err := range []error{errURL, errMetadata, errPut, errStore, c.Hide(t.Context(), name), c.DeleteDraft(t.Context(), name)} {
			require.ErrorIs(t, err, datacite.ErrUnreadable)
			assert.ErrorContains(t, err, "Welcome to the hotel network")
		}
		assert.ErrorIs(t, errPut, datacite.ErrUnclear)
		assert.NotErrorIs(t, errURL, datacite.ErrUnclear, "reading changes nothing")
	})
	t.Run("200 with a text that says no", func(t *testing.T) {
		c := responding(t, 200, plain, "Not a valid HTTP(S) or FTP URL", nil)
		_, err := c.PutURL(t.Context(), name, address)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.ErrorContains(t, err, "Not a valid HTTP(S) or FTP URL")
	})
	t.Run("metadata that are no XML", func(t *testing.T) {
		_, err := responding(t, 200, plain, "DOI is unknown to MDS", nil).Metadata(t.Context(), name)
		require.ErrorIs(t, err, datacite.ErrUnreadable)
	})
	t.Run("a URL that is none", func(t *testing.T) {
		for _, text := range []string{"DOI not found", "https://repo.example.org/\nhttps://evil.example/", "glacier/7"} {
			_, err := responding(t, 200, plain, text, nil).URL(t.Context(), name)
			require.ErrorIs(t, err, datacite.ErrUnreadable)
		}
		got, err := responding(t, 200, plain, "http://old.example.org/a b\n", nil).URL(t.Context(), name)
		require.NoError(t, err)
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

func TestRedirectsToAnotherHostAreNotFollowed(t *testing.T) {
	asked := 0
	c := served(t, func(*http.Request) *http.Response {
		asked++
		res := response(302, plain, "")
		res.Header.Set("Location", "https://evil.example/")
		return res
	}, nil)
	_, errGet := c.URL(t.Context(), name)
	_, errPut := c.PutURL(t.Context(), name, address)
	for _, err := range []error{errGet, errPut} {
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.Equal(t, 302, e.StatusCode)
		assert.ErrorContains(t, err, "redirect to https://evil.example/ not followed")
	}
	assert.Equal(t, 2, asked)
}

func TestAServerThatNeverResponds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		client, err := mds.NewClient(datacite.Config{
			Service: datacite.Service{MDS: "https://mds.example.org"}, Username: account.Username, Password: account.Password,
			MaxAttempts: 3, Timeout: time.Minute,
			HTTPClient: &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
				attempts++
				<-req.Context().Done()
				return nil, req.Context().Err()
			})},
		})
		require.NoError(t, err)
		_, err = client.PutURL(t.Context(), name, address)
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.ErrorContains(t, err, "no response")
		require.ErrorIs(t, err, datacite.ErrUnclear)
		assert.True(t, datacite.Temporary(err))
		assert.Equal(t, 3, e.Attempts)
		assert.Equal(t, 3, attempts)
	})
}
