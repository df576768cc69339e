package testkit_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reports"
)

// TestTemporaryIsTheSameEverywhere asks all packages about all statuses.
func TestTemporaryIsTheSameEverywhere(t *testing.T) {
	for status := range 600 {
		want := status == 0 || status/100 == 2 || status == 408 || status == 429 || status >= 500 && status != 501
		for page, want := range map[string]bool{"": want, "<html>": want || status == 403} {
			body := []byte(page)
			assert.Equal(t, want, mds.Temporary(&mds.Error{StatusCode: status, Body: body}), status)
			assert.Equal(t, want, dois.Temporary(fmt.Errorf("more: %w", &dois.Error{StatusCode: status, Body: body})), status)
			assert.Equal(t, want, reports.Temporary(&reports.Error{StatusCode: status, Body: body}), status)
		}
	}
	assert.False(t, dois.Temporary(&dois.Error{Err: context.Canceled}))
	assert.False(t, reports.Temporary(&reports.SubmitError{State: reports.Incomplete, Err: &reports.Error{Err: context.Canceled}}))
	assert.False(t, mds.Temporary(&mds.Error{Err: &tls.CertificateVerificationError{Err: errors.New("expired")}}))
	assert.False(t, dois.Temporary(nil))
	assert.False(t, reports.Temporary(&reports.FieldError{}))
	assert.True(t, reports.Temporary(&reports.SubmitError{State: reports.Incomplete, Err: &reports.Error{StatusCode: 502}}))
	assert.True(t, reports.Temporary(reports.ErrBusy))
}
