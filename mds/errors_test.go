package mds_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/mds"
)

var sentinels = []error{
	datacite.ErrBadRequest, datacite.ErrUnauthorized, datacite.ErrForbidden, datacite.ErrNotFound, datacite.ErrNotAllowed, mds.ErrMetadataMissing, datacite.ErrTooLarge,
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
		{getMetadata, 404, "DOI is unknown to MDS", datacite.ErrNotFound},
		{getMetadata, 404, "DOI not found", datacite.ErrNotFound},
		{put, 201, "OK", nil},
		{put, 200, "OK", datacite.ErrUnreadable}, // neither this nor the next ones is the service's
		{put, 201, "", datacite.ErrUnreadable},
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
		{putMetadata, 422, "DOI 10.5072/x: Schema http://datacite.org/schema/kernel-3 is no longer supported", datacite.ErrInvalid},
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
			assert.True(t, strings.HasPrefix(err.Error(), "mds."+tt.call+": "), err.Error())
			temporary := []error{datacite.ErrForbidden, datacite.ErrRateLimited, datacite.ErrServer, mds.ErrTimeout, datacite.ErrUnreadable}
			assert.Equal(t, slices.Contains(temporary, tt.want), datacite.Temporary(err))
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
			"DOI 10.5072/GLACIER-7: Missing child element(s). Expected is ( {http://datacite.org/schema/kernel-4}title ). at line 7, column 0",
			datacite.Finding{Path: "titles", Line: 7},
		},
		{
			"as the validator writes it",
			"8:0: ERROR: Element '{http://datacite.org/schema/kernel-4}title', attribute 'titleType': The value 'x' is not an element of the set",
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
