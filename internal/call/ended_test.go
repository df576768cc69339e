package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
)

type fault []string // cannot be compared

func (f fault) Error() string { return strings.Join(f, ", ") }

// The error of a context matches what the caller asks for: that it ended, and why. It does not
// match what the cause says of another request.
func TestErr(t *testing.T) {
	sibling := &datacite.Error{StatusCode: 404, Err: io.ErrUnexpectedEOF}
	for name, cause := range map[string]error{
		"none": nil, "its own": context.Canceled, "a fault": errors.New("a fault"), "not comparable": fault{"a", "b"},
		"a condition": datacite.ErrNotFound, "wrapped": fmt.Errorf("sibling: %w", datacite.ErrNotFound),
		"a response": sibling, "several": errors.Join(io.EOF, datacite.ErrConflict),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			require.NoError(t, call.Ended(ctx))
			cancel(cause)
			err := fmt.Errorf("call: %w", call.Ended(ctx))
			require.ErrorIs(t, err, context.Canceled)
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
			assert.True(t, call.IsEnded(err))
			assert.False(t, datacite.Temporary(err))
			for _, condition := range []error{datacite.ErrNotFound, datacite.ErrConflict, datacite.ErrUnclear} {
				assert.NotErrorIs(t, err, condition)
			}
			_, found := errors.AsType[*datacite.Error](err)
			assert.False(t, found)
			if cause == nil {
				assert.EqualError(t, err, "call: context canceled")
				return
			}
			assert.ErrorContains(t, err, cause.Error())
			if cause != datacite.ErrNotFound && name != "not comparable" {
				assert.ErrorIs(t, err, cause)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("row 7: %w", io.EOF))
	assert.ErrorIs(t, call.Ended(ctx), io.EOF, "an error within the cause")
	shown := call.Ended(ctx).(*call.EndedError).Shown(strings.ToUpper)
	assert.EqualError(t, shown, "CONTEXT CANCELED: ROW 7: EOF")
	assert.ErrorIs(t, shown, io.EOF)
}

func TestErrOfADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("too slow")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		time.Sleep(2 * time.Second)
		err := call.Ended(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, cause)
		assert.False(t, datacite.Temporary(err))
		timeout, ok := errors.AsType[interface {
			error
			Timeout() bool
		}](err)
		assert.True(t, ok && timeout.Timeout())
	})
}
