package transport

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go"
)

// TestWhatMustNotBeDoneTwiceIsSentOnce asks about every status and kind of failure.
func TestWhatMustNotBeDoneTwiceIsSentOnce(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for status := range 600 {
		for _, o := range []outcome{
			{status: status}, {status: status, page: []byte("<html>")}, {status: status, retryAfter: "3"},
			{status: status, err: errMaybeLost}, {status: status,
				err: errors.New("cut off")}, {status: status, err: fmt.Errorf("%w: long", datacite.ErrTooLarge)},
		} {
			if status == 0 && o.err == nil {
				continue // there is no such outcome
			}
			once, always := judge(IfUnsent, o, time.Minute), judge(Always, o, time.Minute)
			assert.False(t, once.again, "%+v", o)
			assert.Equal(t, always.unclear, once.unclear, "%+v", o)
			assert.False(t, always.again && !always.unclear, "sent again after a clear response: %+v", o)
		}
	}
	v := judge(IfUnsent, outcome{err: dial, unsent: neverSent(dial)}, time.Minute)
	assert.True(t, v.again, "nothing was sent")
	assert.False(t, v.unclear)
}
