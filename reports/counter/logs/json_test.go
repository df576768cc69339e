package logs

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter"
)

// Lines as Go and Python write events are read without encoding/json.
func TestPlainJSON(t *testing.T) {
	e := counter.Event{
		DOI: "10.5072/ä", Time: time.Date(2026, 10, 14, 10, 1, 0, 5, time.FixedZone("", 7200)),
		URL: "https://example.org/a?b=1&c=<2>\t\"\\", Request: true,
		User: "u", Cookie: "c", Session: "s", Address: "2001:db8::1", Agent: "Mozilla/5.0 (X11; Linux " +
			"x86_64)", Access: "machine", Country: "de",
	}
	written, err := json.Marshal(e)
	require.NoError(t, err)
	for _, line := range []string{
		string(written),
		`{"doi": "10.5072/a", "time": "2026-10-14T10:00:00Z", "url": "\/a", "request": false}`,
		`{"doi":"10.5072/a","time":"2026-10-14T10:00:00Z"}`,
		`{"url":"/a","time":"2026-10-14T10:00:00.5+02:00","doi":"10.5072/a","doi":"10.5072/b"}` + "\r",
	} {
		sameAsJSON(t, line, true)
	}
	for _, line := range []string{
		``, `{`, `{}`, `{"doi":"\`, `null`, `{"doi":"a"`, `{"doi":"a",}`, `{"doi":"a"}}`, `{"doi":"a"} {}`, `{"DOI":"a"}`, `{"doi":null}`,
		`{"time":`, `{"time":"`, `{"time":,`, `{"time":null}`,
		`{"doi":1}`, `{"doi":"\ud800"}`, `{"doi":"\u00e4"}`, `{"doi":"\x"}`, `{"doi":"\u00"}`,
		"{\"doi\":\"\x01\"}", "{\"doi\":\"\xe4\"}", `{"time":"2026-10-14"}`, `{"time":"2026\u002d10-14T10:00:00Z"}`, `{"time":"2026-10-14T10:00:00Z" }`, `{"request":"true"}`, `{"request":trueish}`, `{"request":1}`, `{"other":"a"}`, `{"other":true}`, `{"other":false}`,
	} {
		sameAsJSON(t, line, false)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		damaged := []byte(written)
		for range 1 + r.IntN(2) {
			at := r.IntN(len(damaged))
			switch r.IntN(3) {
			case 0:
				damaged[at] = `"\{}:,u0 n`[r.IntN(10)]
			case 1:
				damaged = append(damaged[:at], damaged[at+1:]...)
			default:
				damaged[at] = byte(r.IntN(256))
			}
		}
		_, ok := plainJSON(string(damaged))
		sameAsJSON(t, string(damaged), ok)
	}
}

// sameAsJSON checks that a line is plain, or not, and then read as encoding/json reads it.
func sameAsJSON(t *testing.T, line string, isPlain bool) {
	t.Helper()
	got, ok := plainJSON(line)
	require.Equal(t, isPlain, ok, "%q", line)
	if want, err := anyJSON(strings.TrimSpace(line)); ok {
		require.NoError(t, err, "%q", line)
		assert.True(t, want.Time.Equal(got.Time))
		got.Time = want.Time
		require.Equal(t, want, got, "%q", line)
	}
}
