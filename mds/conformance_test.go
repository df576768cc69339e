package mds_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
)

// The tests of this file go through the specification row by row: the states of
// §3.1, the endpoints and codes of §4.3 and §7, authentication in §5, the limits
// of §8.

// TestStates is specification §3.1.
func TestStates(t *testing.T) {
	for _, tt := range []struct {
		name  string
		calls string
		err   error // of the last call
		want  string
	}{
		{"PUT metadata of an unknown DOI makes a draft", "PutMetadata", nil, "draft"},
		{"PUT metadata of a draft leaves it a draft", "PutMetadata PutMetadata", nil, "draft"},
		{"PUT doi of a draft makes it findable", "PutMetadata PutURL", nil, "findable"},
		{"DELETE metadata of a findable DOI makes it registered", "Register Hide", nil, "registered"},
		{"DELETE metadata of a registered DOI leaves it registered", "Register Hide Hide", nil, "registered"},
		{"PUT metadata of a registered DOI makes it findable", "Register Hide PutMetadata", nil, "findable"},
		{"Show of a registered DOI makes it findable", "Register Hide Show Show", nil, "findable"},
		{"DELETE doi of a draft removes it", "PutMetadata DeleteDraft", nil, ""},
		{"DELETE doi of a findable DOI is refused", "Register DeleteDraft", datacite.ErrNotAllowed,
			"findable"},
		{"DELETE doi of a registered DOI is refused", "Register Hide DeleteDraft", datacite.ErrNotAllowed,
			"registered"},
		{"DELETE metadata of a draft leaves it a draft", "PutMetadata Hide", nil, "draft"},
		{"DELETE metadata of an unknown DOI makes nothing", "Hide", datacite.ErrNotFound, ""},
		{"Show of a draft is refused", "PutMetadata Show", mds.ErrNoURL, "draft"},
		{"Show of an unknown DOI makes nothing", "Show", datacite.ErrNotFound, ""},
		{"PUT doi before the metadata is refused", "PutURL", mds.ErrMetadataMissing, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
				all := strings.Fields(tt.calls)
				for i, call := range all {
					err := calls[call](t.Context(), srv.MDS(), name)
					if i < len(all)-1 || tt.err == nil {
						require.NoError(t, err)
					} else {
						require.ErrorIs(t, err, tt.err)
					}
				}
				assert.Equal(t, tt.want, srv.State(name))
				seen := must(srv.MDS().State(t.Context(), name))(t)
				shown := map[string]datacite.State{"": mds.StateNone, "draft": datacite.StateDraft}
				if want, ok := shown[tt.want]; ok {
					assert.Equal(t, want, seen)
				} else {
					assert.Equal(t, mds.StateRegisteredOrFindable, seen)
				}
			})
		})
	}
}

// TestStatusCodes goes through the requests of specification §4.3 and the codes of §7.
func TestStatusCodes(t *testing.T) {
	draft := func(t testing.TB, srv *datacitetest.Server, doi string) {
		require.NoError(t, calls["PutMetadata"](t.Context(), srv.MDS(), doi))
	}
	of := func(attributes map[string]any) func(testing.TB, *datacitetest.Server, string) {
		return func(t testing.TB, srv *datacitetest.Server, doi string) {
			attributes["doi"] = doi
			seed(t, srv, attributes)
		}
	}
	put := func(doc mds.Document) func(context.Context, *mds.Client, string) error {
		return func(ctx context.Context, c *mds.Client, doi string) error {
			return failure(c.PutMetadata(ctx, doi, doc))
		}
	}
	mint := func(doc mds.Document) func(context.Context, *mds.Client, string) error {
		return func(ctx context.Context, c *mds.Client, name string) error {
			prefix, _ := doi.Split(name)
			return failure(mintByService(ctx, c, prefix, doc))
		}
	}
	unknownType := mds.Document{ContentType: "text/plain", Data: []byte("neither XML nor anything else")}
	xmlAsText := mds.Document{ContentType: "text/plain;charset=UTF-8", Data: record("A").Data}
	for _, tt := range []struct {
		name  string // the request and the code
		there func(t testing.TB, srv *datacitetest.Server, doi string)
		call  func(context.Context, *mds.Client, string) error
		want  error

		// The deployed service responds differently; TestEveryResponseOfTheDeployedService
		// has how.
		documentedOnly bool
	}{
		{"GET /metadata 200", findable, calls["Metadata"], nil, false},
		{"GET /metadata 204", of(map[string]any{"state": "draft"}), calls["Metadata"], mds.ErrNoMetadata, false},
		{"GET /metadata 401", nil, calls["Metadata"], datacite.ErrUnauthorized, true},
		{"GET /metadata 403", foreign, calls["Metadata"], datacite.ErrForbidden, true},
		{"GET /metadata 404", nil, calls["Metadata"], datacite.ErrNotFound, false},
		{"GET /metadata 422", of(map[string]any{"xml": "PHJlc291cmNlLz4="}), calls["Metadata"], datacite.ErrInvalid, true},
		{"PUT /metadata 201", nil, calls["PutMetadata"], nil, false},
		{"PUT /metadata 201 of a known DOI", findable, calls["PutMetadata"], nil, false},
		{"PUT /metadata 401", nil, calls["PutMetadata"], datacite.ErrUnauthorized, false},
		{"PUT /metadata 403", foreign, calls["PutMetadata"], datacite.ErrForbidden, false},
		{"PUT /metadata 403 prefix", nil, calls["PutMetadata"], datacite.ErrForbidden, false},
		{"PUT /metadata 415", nil, put(unknownType), datacite.ErrMediaType, false},
		{"PUT /metadata 415 of XML as something else", nil, put(xmlAsText), datacite.ErrMediaType, true},
		{"PUT /metadata 422", nil, put(invalid()), datacite.ErrInvalid, false},
		{"PUT /metadata/{prefix} 201", nil, mint(record("A")), nil, false},
		{"PUT /metadata/{prefix} 401", nil, mint(record("A")), datacite.ErrUnauthorized, false},
		{"PUT /metadata/{prefix} 403 prefix", nil, mint(record("A")), datacite.ErrForbidden, false},
		{"PUT /metadata/{prefix} 415", nil, mint(unknownType), datacite.ErrMediaType, false},
		{"PUT /metadata/{prefix} 422", nil, mint(invalid()), datacite.ErrInvalid, false},
		{"GET /doi 200", findable, calls["URL"], nil, false},
		{"GET /doi 204", draft, calls["URL"], mds.ErrNoURL, false},
		{"GET /doi 401", nil, calls["URL"], datacite.ErrUnauthorized, true},
		{"GET /doi 403", foreign, calls["URL"], datacite.ErrForbidden, true},
		{"GET /doi 404", nil, calls["URL"], datacite.ErrNotFound, false},
		{"PUT /doi 201", draft, calls["PutURL"], nil, false},
		{"PUT /doi 400 prefix", nil, calls["PutURL"], datacite.ErrBadRequest, true},
		{"PUT /doi 401", nil, calls["PutURL"], datacite.ErrUnauthorized, false},
		{"PUT /doi 403", foreign, calls["PutURL"], datacite.ErrForbidden, false},
		{"PUT /doi 412", nil, calls["PutURL"], mds.ErrMetadataMissing, false},
		{"DELETE /metadata 200", findable, calls["Hide"], nil, false},
		{"DELETE /metadata 401", nil, calls["Hide"], datacite.ErrUnauthorized, true},
		{"DELETE /metadata 403", foreign, calls["Hide"], datacite.ErrForbidden, true},
		{"DELETE /metadata 404", nil, calls["Hide"], datacite.ErrNotFound, false},
		{"DELETE /doi 200", draft, calls["DeleteDraft"], nil, false},
		{"DELETE /doi 401", draft, calls["DeleteDraft"], datacite.ErrUnauthorized, false},
		{"DELETE /doi 403", of(map[string]any{"client": "other.repo", "state": "draft"}), calls["DeleteDraft"],
			datacite.ErrForbidden, false},
		{"DELETE /doi 404", nil, calls["DeleteDraft"], datacite.ErrNotFound, false},
		{"DELETE /doi 405", findable, calls["DeleteDraft"], datacite.ErrNotAllowed, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
				if tt.documentedOnly && srv.Behaviour != datacitetest.Documented {
					return
				}
				synctest.Test(t, func(t *testing.T) {
					name := name
					if strings.HasSuffix(tt.name, "prefix") {
						name = unowned
					}
					if tt.there != nil {
						tt.there(t, srv, name)
					}
					login, code := account, strings.Fields(tt.name)[2]
					if code == "401" {
						login.Password = "not the password"
					}
					err := tt.call(t.Context(), as(t, srv, login, nil), name)
					if tt.want == nil {
						require.NoError(t, err)
					} else {
						require.ErrorIs(t, err, tt.want)
						assert.NotContains(t, err.Error(), datacitetest.Password)
					}
					if srv.Behaviour == datacitetest.Documented {
						log := slices.DeleteFunc(srv.Requests(), func(r datacitetest.Request) bool {
							return strings.HasPrefix(r.URL.Path, "/dois/")
						})
						assert.Equal(t, code, strconv.Itoa(log[len(log)-1].Status))
					}
				})
			})
		})
	}
}

// mintByService lets the service choose a name, as the documentation of Mint says.
func mintByService(ctx context.Context, c *mds.Client, prefix string, doc mds.Document) (string, error) {
	res, err := c.Do(ctx, &datacite.Request{Method: http.MethodPut, Path: "/metadata/" + prefix,
		ContentType: doc.ContentType, Body: doc.Data})
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(res.Body), ")"), "OK (")
	if !ok {
		_, name, _ = strings.Cut(res.Header.Get("Location"), "/metadata/")
	}
	return strings.ToLower(name), nil
}

// The service writes the identifier, whatever the metadata name.
func TestMintByService(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		minted := must(mintByService(t.Context(), srv.MDS(), datacitetest.Prefix,
			naming(t, "DataCite XML", "10.5072/another")))(t)
		assert.Regexp(t, `^10\.5072/[0-9a-z]{4}-[0-9a-z]{4}$`, minted)
		assert.Equal(t, "draft", srv.State(minted))
		stored := must(srv.MDS().Metadata(t.Context(), minted))(t)
		assert.Equal(t, "application/xml; charset=utf-8", stored.ContentType)
		assert.Contains(t, strings.ToLower(string(stored.Data)), ">"+minted+"</identifier>")
		assert.Equal(t, []string{minted}, srv.Names())
	})
}

// TestAuthentication is specification §5 for interface C: each request carries the login.
func TestAuthentication(t *testing.T) {
	for call, do := range calls {
		asked := 0
		c := served(t, func(req *http.Request) *http.Response {
			asked++
			user, password, ok := req.BasicAuth()
			assert.True(t, ok && account == credentials{Username: user, Password: password}, call)
			return response(http.StatusNotFound, plain, "DOI not found")
		}, nil)
		err := do(t.Context(), c, name)
		makesDOI := call == "PutMetadata" || call == "PutURL" || call == "Register"
		assert.Equal(t, makesDOI, errors.Is(err, datacite.ErrUnauthorized), "%s: an unknown account: %v", call, err)
		assert.Positive(t, asked, call)
	}
}

// TestSuffixCharacters is specification §2.3 and §8.
func TestSuffixCharacters(t *testing.T) {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/0123456789-._;()"
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		must(srv.MDS().PutMetadata(t.Context(), "10.5072/"+all, record("A")))(t)
		assert.Equal(t, "draft", srv.State("10.5072/"+all))
	})
	for _, r := range " !\"#$%&'*+,:<=>?@[\\]^`{|}~äß€\u00b2\u0663" {
		assert.ErrorIs(t, doi.CheckNew("10.5072/a"+string(r)+"b"), datacite.ErrInvalidDOI, "%q", r)
	}
}

var sentinels = []error{
	datacite.ErrBadRequest, datacite.ErrUnauthorized, datacite.ErrForbidden, datacite.ErrNotFound, datacite.ErrNotAllowed,
	mds.ErrMetadataMissing, datacite.ErrTooLarge,
	datacite.ErrMediaType, datacite.ErrInvalid, datacite.ErrInvalidDOI, mds.ErrNoMetadata, mds.ErrNoURL, datacite.ErrRateLimited, datacite.ErrServer, mds.ErrTimeout,
	datacite.ErrUnreadable,
}

// TestEveryResponseOfTheDeployedService maps each response that the public
// service is known to send to exactly one condition.
func TestEveryResponseOfTheDeployedService(t *testing.T) {
	const get, getMetadata, put, putMetadata, hide, del, state = "URL", "Metadata", "PutURL", "PutMetadata", "Hide", "DeleteDraft", "State"
	for _, tt := range []struct {
		call   string
		status int
		body   string
		want   error // nil for success
	}{
		{get, 200, address, nil},
		{get, 204, "", mds.ErrNoURL},
		{get, 401, "An Authentication object was not found in the SecurityContext", datacite.ErrUnauthorized},
		{get, 401, "Bad credentials", datacite.ErrUnauthorized},
		{get, 403, "Access is denied", datacite.ErrForbidden},
		{get, 403, "<html><body><center><h1>403 Forbidden</h1></center></body></html>", datacite.ErrRateLimited},
		{get, 404, "DOI not found", datacite.ErrNotFound},
		{get, 408, "Request timeout", mds.ErrTimeout},
		{get, 429, "Too many requests", datacite.ErrRateLimited},
		{get, 500, "<html><title>We're sorry</title></html>", datacite.ErrServer},
		{get, 502, "<html><title>502 Bad Gateway</title></html>", datacite.ErrServer},
		{get, 503, "", datacite.ErrServer},
		{get, 504, "upstream timed out", datacite.ErrServer},
		{getMetadata, 200, "<resource/>", nil},
		{getMetadata, 200, "", mds.ErrNoMetadata},
		{getMetadata, 200, "DOI is unknown to MDS", datacite.ErrUnreadable},
		{getMetadata, 404, "DOI is unknown to MDS", datacite.ErrNotFound},
		{getMetadata, 404, "DOI not found", datacite.ErrNotFound},
		{put, 201, "OK", nil},
		{put, 200, "OK", datacite.ErrUnreadable}, // neither this nor the next ones is the service's
		{put, 201, "", datacite.ErrUnreadable},
		{put, 202, " ", datacite.ErrUnreadable},
		{putMetadata, 204, "", datacite.ErrUnreadable},
		{del, 206, " ", datacite.ErrUnreadable},
		{hide, 200, " ", datacite.ErrUnreadable},
		{putMetadata, 200, "OK", datacite.ErrUnreadable},
		{putMetadata, 201, "", datacite.ErrUnreadable},
		{del, 201, "", datacite.ErrUnreadable},
		{del, 201, "OK", datacite.ErrUnreadable},
		{hide, 201, " ", datacite.ErrUnreadable}, // of a DOI that was deleted meanwhile, and is a new draft
		{put, 200, "Not a valid HTTP(S) or FTP URL", datacite.ErrInvalid},
		{put, 400, "", datacite.ErrBadRequest},
		{put, 400, "param 'doi' required", datacite.ErrBadRequest},
		{put, 400, "param 'url' required", datacite.ErrBadRequest},
		{put, 400, "doi parameter does not match doi of resource", datacite.ErrBadRequest},
		{put, 404, "DOI not found", datacite.ErrUnauthorized},
		{put, 412, "", mds.ErrMetadataMissing},
		{put, 422, "Can't be blank", mds.ErrMetadataMissing},
		{put, 422, "Is invalid", datacite.ErrInvalid},
		{put, 422, "URL is not allowed by repository domain settings.", datacite.ErrInvalid},
		{put, 422, "found unpermitted parameter: :x", datacite.ErrInvalid},
		{putMetadata, 201, "OK (" + strings.ToUpper(name) + ")", nil},
		{putMetadata, 201, "CREATED", nil},
		{putMetadata, 404, "Not found", datacite.ErrUnauthorized},
		{putMetadata, 413, "<html><title>413 Request Entity Too Large</title></html>", datacite.ErrTooLarge},
		{putMetadata, 415, "Content type application/x-www-form-urlencoded is not supported", datacite.ErrMediaType},
		{putMetadata, 415, "Metadata format not recognized", datacite.ErrMediaType},
		{putMetadata, 422, "Can't be blank", datacite.ErrInvalid},
		{putMetadata, 422, "DOI 10.5072/x: Schema http://datacite.org/schema/kernel-3 is no longer supported",
			datacite.ErrInvalid},
		{putMetadata, 403, "Access is denied", datacite.ErrForbidden},
		{del, 200, "OK", nil},
		{del, 404, "DOI not found", datacite.ErrNotFound},
		{del, 405, "Method not allowed", datacite.ErrNotAllowed},
		{state, 204, "", nil},
		{state, 404, "DOI not found", nil},
		{state, 502, "", datacite.ErrServer},
		{hide, 200, "OK", nil},
		{hide, 403, "Access is denied", datacite.ErrForbidden},
		{hide, 404, "DOI not found", datacite.ErrNotFound},
	} {
		t.Run(fmt.Sprintf("%s %d %.30s", tt.call, tt.status, tt.body), func(t *testing.T) {
			kind := plain
			if strings.HasPrefix(tt.body, "<html") {
				kind = "text/html"
			}
			if tt.call == getMetadata && tt.status == 200 {
				kind = "application/xml; charset=utf-8" // also for a record without XML
			}
			c := served(t, func(req *http.Request) *http.Response {
				if tt.call == hide && req.Method == "GET" {
					return response(200, plain, address) // Hide looks first
				}
				return response(tt.status, kind, tt.body)
			}, nil)
			err := calls[tt.call](t.Context(), c, name)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			for _, sentinel := range sentinels {
				assert.Equal(t, sentinel == tt.want, errors.Is(err, sentinel), "%v", sentinel)
			}
			e, ok := errors.AsType[*datacite.Error](err)
			require.True(t, ok)
			assert.Equal(t, tt.status, e.StatusCode)
			assert.Equal(t, tt.status == 422 && tt.call == putMetadata, len(e.Details) > 0)
			assert.True(t, strings.HasPrefix(err.Error(), "mds."+tt.call+": "), err.Error())
			temporary := []error{datacite.ErrForbidden, datacite.ErrRateLimited, datacite.ErrServer, mds.ErrTimeout,
				datacite.ErrUnreadable}
			passes, reads := slices.Contains(temporary, tt.want), slices.Contains([]string{get, getMetadata, state}, tt.call)
			assert.Equal(t, passes, datacite.Temporary(err))
			assert.Equal(t, passes && !reads, errors.Is(err, datacite.ErrUnclear),
				"a write is unclear if its response does not say whether it was carried out")
			if tt.want == datacite.ErrUnauthorized && tt.status == 404 {
				assert.ErrorContains(t, err, "unknown account)")
			}
		})
	}
}

func TestRefusedMetadataSayWhere(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       datacite.Finding
	}{
		{
			"as the deployed service passes it on",
			"DOI 10.5072/GLACIER-7: Missing child element(s). Expected is ( {http://datacite.org/schema/kernel-4}title ). at " +
				"line 7, column 0",
			datacite.Finding{Path: "titles", Line: 7},
		},
		{
			"as the validator writes it",
			"8:0: ERROR: Element '{http://datacite.org/schema/kernel-4}title', attribute 'titleType': The value 'x' is not an " +
				"element of the set",
			datacite.Finding{Path: "title", Line: 8},
		},
		{
			"not well formed",
			"Opening and ending tag mismatch: title line 8 and titles at line 9, column 12",
			datacite.Finding{Path: "title", Line: 9, Column: 12},
		},
		{"with the element in front", "publisher: This element is not expected", datacite.Finding{Path: "publisher"}},
		{"with a word in front that is no element", "Sorry: come again", datacite.Finding{}},
		{"with a word of the text in front", "Table: come again", datacite.Finding{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := responding(t, 422, plain, tt.text, nil).PutMetadata(t.Context(), name, record("A"))
			e, ok := errors.AsType[*datacite.Error](err)
			require.True(t, ok)
			require.Len(t, e.Details, 1)
			assert.Equal(t, tt.text, e.Details[0].Reason)
			tt.want.Reason, tt.want.Code = tt.text, "refused"
			assert.Equal(t, tt.want, e.Details[0])
		})
	}
	t.Run("as the embedded service says it", func(t *testing.T) {
		_, err := newServer(t, nil).MDS().PutMetadata(t.Context(), name, invalid())
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		require.Len(t, e.Details, 1)
		assert.Equal(t, "resource", e.Details[0].Path)
		assert.Contains(t, e.Details[0].Reason, "publisher")
	})
}
