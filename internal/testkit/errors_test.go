package testkit_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reports"
)

// TestTemporary asks about all statuses, and about errors of each package.
func TestTemporary(t *testing.T) {
	for status := range 600 {
		want := status == 0 || status/100 == 2 || status == 408 || status == 429 || status >= 500 && status != 501
		for page, want := range map[string]bool{"": want, "<html>": want || status == 403} {
			err := fmt.Errorf("more: %w", &datacite.Error{StatusCode: status, Body: []byte(page), Err: syscall.ECONNRESET})
			assert.Equal(t, want, datacite.Temporary(err), status)
		}
	}
	for _, err := range []error{
		nil, context.Canceled, &datacite.ValidationError{}, syscall.ECONNRESET, // not of a request
		&datacite.Error{Err: context.Canceled},
		&datacite.Error{Err: datacite.ErrUnauthorized}, // no login to send
		&datacite.Error{Err: &tls.CertificateVerificationError{Err: errors.New("expired")}},
		&datacite.Error{StatusCode: 412, Err: mds.ErrMetadataMissing},
		&reports.SubmitError{State: reports.Incomplete, Err: &datacite.Error{Err: context.Canceled}},
		&reports.SubmitError{State: reports.Broken, Err: &datacite.Error{StatusCode: 502}},
	} {
		assert.False(t, datacite.Temporary(err), "%v", err)
	}
	for _, err := range []error{
		reports.ErrBusy,
		&reports.SubmitError{State: reports.Incomplete, Err: &datacite.Error{StatusCode: 502}},
		mds.ErrUnconfirmed, &datacite.Error{StatusCode: 408, Err: mds.ErrTimeout},
	} {
		assert.True(t, datacite.Temporary(err), "%v", err)
	}
}

// A request of the caller's own has the client's login, retries and errors, and is sent
// twice only if the caller allows it.
func TestRequestsOfTheCaller(t *testing.T) {
	lost := &datacitetest.Fault{Kind: datacitetest.Status}
	faults := datacitetest.First(lost, nil, lost)
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true, Faults: faults})
	defer srv.Close()
	res, err := srv.DOIs().Do(t.Context(), &datacite.Request{Method: http.MethodGet, Path: "/dois", Query: url.Values{"page[size]": {"0"}}})
	require.NoError(t, err, "a read is sent again")
	assert.JSONEq(t, `[]`, string(dataOf(t, res.Body)))
	assert.Len(t, srv.Requests(), 2)
	assert.Equal(t, "page%5Bsize%5D=0", srv.Requests()[0].URL.RawQuery)

	draft := &datacite.Request{Method: http.MethodPost, Path: "/dois", ContentType: "application/vnd.api+json", Body: []byte(`{"data":{"type":"dois","attributes":{"doi":"10.5072/own"}}}`)}
	_, err = srv.DOIs().Do(t.Context(), draft)
	require.ErrorIs(t, err, datacite.ErrUnclear)
	assert.ErrorContains(t, err, "dois.Do: POST ")
	assert.Len(t, srv.Requests(), 3, "sent once")
	res = must(srv.DOIs().Do(t.Context(), draft))(t)
	assert.Equal(t, http.StatusCreated, res.StatusCode)
	assert.NotEmpty(t, res.RequestID)

	_, err = srv.MDS().Do(t.Context(), &datacite.Request{Method: http.MethodGet, Path: "/doi/10.5072/unknown"})
	require.ErrorIs(t, err, datacite.ErrNotFound)
	assert.ErrorContains(t, err, "mds.Do: GET ")
	require.Error(t, only(srv.Reports().Do(t.Context(), &datacite.Request{Method: http.MethodDelete, Path: "/reports/none", Repeatable: true})))
	for _, bad := range []*datacite.Request{nil, {}, {Method: "GET"}, {Method: "GET", Path: "dois"}, {Method: "GET", Path: "/dois?a=b"}} {
		require.ErrorIs(t, only(srv.DOIs().Do(t.Context(), bad)), datacite.ErrInvalid)
	}
}

// One condition for each status, unless the response means something else.
func TestConditions(t *testing.T) {
	of := map[int]error{
		400: datacite.ErrBadRequest, 401: datacite.ErrUnauthorized, 403: datacite.ErrForbidden, 404: datacite.ErrNotFound, 405: datacite.ErrNotAllowed, 409: datacite.ErrConflict,
		413: datacite.ErrTooLarge, 415: datacite.ErrMediaType, 422: datacite.ErrInvalid, 429: datacite.ErrRateLimited, 500: datacite.ErrServer, 503: datacite.ErrServer,
	}
	for status := range of {
		for _, condition := range of {
			assert.Equal(t, condition == of[status], errors.Is(&datacite.Error{StatusCode: status}, condition), "%d, %v", status, condition)
		}
	}
	assert.ErrorIs(t, &datacite.Error{StatusCode: 404}, datacite.ErrNotFound)
	assert.NotErrorIs(t, &datacite.Error{StatusCode: 404, Err: datacite.ErrUnauthorized}, datacite.ErrNotFound)
	assert.ErrorIs(t, &datacite.Error{StatusCode: 404, Err: datacite.ErrUnauthorized}, datacite.ErrUnauthorized)
	assert.NotErrorIs(t, &datacite.Error{StatusCode: 422, Err: mds.ErrMetadataMissing}, datacite.ErrInvalid)
	assert.ErrorIs(t, &datacite.Error{StatusCode: 403, Err: context.DeadlineExceeded}, datacite.ErrForbidden, "what ended the retries changes nothing")
	assert.NotErrorIs(t, &datacite.Error{StatusCode: 403, Body: []byte(" <html>")}, datacite.ErrForbidden)
	assert.ErrorIs(t, datacite.Invalid(datacite.Finding{Err: datacite.ErrInvalidDOI}), datacite.ErrInvalidDOI)
	assert.ErrorContains(t, only(dois.NewClient(datacite.Config{})), "datacite: Config.Service.API: is empty; set Config.Service to datacite.Test or datacite.Production")
}

func dataOf(t *testing.T, body []byte) json.RawMessage {
	t.Helper()
	var list struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(body, &list))
	return list.Data
}
