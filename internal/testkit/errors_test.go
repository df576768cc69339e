package testkit_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/reports"
)

// TestTemporaryIsTheSameEverywhere asks all packages about all statuses.
func TestTemporaryIsTheSameEverywhere(t *testing.T) {
	for status := range 600 {
		want := status == 0 || status/100 == 2 || status == 408 || status == 429 || status >= 500 && status != 501
		for page, want := range map[string]bool{"": want, "<html>": want || status == 403} {
			body := []byte(page)
			assert.Equal(t, want, datacite.Temporary(&datacite.Error{StatusCode: status, Body: body}), status)
			assert.Equal(t, want, datacite.Temporary(fmt.Errorf("more: %w", &datacite.Error{StatusCode: status, Body: body})), status)
			assert.Equal(t, want, datacite.Temporary(&datacite.Error{StatusCode: status, Body: body}), status)
		}
	}
	assert.False(t, datacite.Temporary(&datacite.Error{Err: context.Canceled}))
	assert.False(t, datacite.Temporary(&reports.SubmitError{State: reports.Incomplete, Err: &datacite.Error{Err: context.Canceled}}))
	assert.False(t, datacite.Temporary(&datacite.Error{Err: &tls.CertificateVerificationError{Err: errors.New("expired")}}))
	assert.False(t, datacite.Temporary(nil))
	assert.False(t, datacite.Temporary(&datacite.FieldError{}))
	assert.True(t, datacite.Temporary(&reports.SubmitError{State: reports.Incomplete, Err: &datacite.Error{StatusCode: 502}}))
	assert.True(t, datacite.Temporary(reports.ErrBusy))
}
