package send

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// looks are the waits between looks of a run that waits until then at the latest.
func looks(m *meter, latest time.Duration, reason string, pauses ...time.Duration) {
	until := time.Now().Add(latest)
	for _, d := range pauses {
		m.wait(until, reason)
		time.Sleep(d)
	}
}

func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const s = time.Second
		var out bytes.Buffer
		m := &meter{shell: &shell.Shell{Stderr: &out}}
		m.sent(1, 4)
		looks(m, 300*s, "the response to the last request was lost", 1*s)
		looks(m, 1800*s, "the service cannot read the report", 2*s, 4*s, 8*s, 5*s)
		m.sent(2, 4)
		looks(m, 300*s, "the response to the last request was lost", s)
		assert.Equal(t, strings.Join([]string{
			"waiting until 00:05:00 at the latest (5m0s): the response to the last request was lost",
			"waiting until 00:30:01 at the latest (30m0s): the service cannot read the report",
			"waiting until 00:05:20 at the latest (5m0s): the response to the last request was lost",
			"",
		}, "\n"), out.String())
	})
}
