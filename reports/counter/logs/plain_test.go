package logs

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/access"
)

// Times with the offset of the one before them are read without the standard library, and no others.
func TestPlainTimes(t *testing.T) {
	for _, tt := range []struct {
		layout string
		read   func(*zone) func(string) (time.Time, bool)
		clock  func() (read func(string) (time.Time, error), last *zone)
	}{
		{"2006-01-02T15:04:05-0700", func(z *zone) func(string) (time.Time, bool) { return z.read },
			func() (func(string) (time.Time, error), *zone) { c := new(isoClock); return c.read, &c.zone }},
		{webTime, func(z *zone) func(string) (time.Time, bool) { return z.readWeb },
			func() (func(string) (time.Time, error), *zone) { c := new(webClock); return c.read, &c.zone }},
	} {
		read, last := tt.clock()
		plain := tt.read(last)
		r := rand.New(rand.NewPCG(1, 4))
		zone := time.FixedZone("", -9000)
		_, err := read(time.Date(2026, 10, 14, 0, 0, 0, 0, zone).Format(tt.layout))
		require.NoError(t, err)
		for range 2000 { // all digits, and all months
			want := time.Unix(r.Int64N(4e9), 0).In(zone)
			got, ok := plain(want.Format(tt.layout))
			require.True(t, ok && want.Equal(got), "%v, %v", want, got)
		}
		texts := 0
		for range 20_000 {
			text := []byte(time.Unix(r.Int64N(4e9), 0).In(zone).Format(tt.layout))
			for range 1 + r.IntN(2) {
				text[r.IntN(19)] = `0123456789/:;-. TAJanFebOct`[r.IntN(27)]
			}
			want, err := time.Parse(tt.layout, string(text))
			got, ok := plain(string(text))
			if ok {
				texts++
			}
			require.Equal(t, err == nil && want.Format(tt.layout) == string(text), ok, "%s", text)
			require.True(t, !ok || want.Equal(got), "%s: %v", text, got)
		}
		assert.Greater(t, texts, 1000)
		other := time.Date(2026, 10, 14, 0, 0, 0, 0, time.FixedZone("", 3600)).Format(tt.layout)
		_, ok := plain(other)
		assert.False(t, ok, "another offset")
		_, err = read(other)
		require.NoError(t, err)
		_, ok = plain(other)
		assert.True(t, ok, "it is the last one now")
	}
	c := new(isoClock)
	for _, text := range []string{"2026-10-14 10:00:00Z", "2026-10-14T10:00:00Z", "2026-10-14T10:00:00.5Z",
		"2026-10-14T10:00:00Z"} {
		_, err := c.read(text)
		require.NoError(t, err)
		_, ok := c.zone.read("2026-10-14T11:00:00Z")
		assert.True(t, ok, text)
	}
}

// What netip writes as an address of IPv4 is taken for one without it, and nothing else.
func TestPlainAddresses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	part := func() string {
		return []string{"0", "1", "9", "10", "99", "100", "255", "256", "1000", "01", "00", "", "a", "/", ":",
			"1.1"}[r.IntN(16)*r.IntN(2)]
	}
	known := 0
	for range 20_000 {
		text := fmt.Sprint(part(), ".", part(), ".", part(), ".", part())
		if r.IntN(10) == 0 {
			text = fmt.Sprint(part(), ".", part(), ".", part())
		}
		ip, err := netip.ParseAddr(text)
		require.Equal(t, err == nil && ip.Is4(), isIPv4(text), text)
		if err == nil {
			known++
		}
	}
	assert.Greater(t, known, 1000)
}

// A path is found out about once, unless that is as soon done as looked up.
func TestPathsThatAreRemembered(t *testing.T) {
	expression := &Paths{Requests: []*regexp.Regexp{regexp.MustCompile(`/d/(.+)`)},
		DOIs: map[string]string{"1": "10.5072/1"}}
	table := DataversePaths()
	table.Table = map[string]Target{"/about": {}}
	some := DataversePaths()
	some.Investigations = append(some.Investigations, regexp.MustCompile(`/d.`))
	for name, tt := range map[string]struct {
		paths      *Paths
		path       string
		beside     bool
		remembered bool
	}{
		"words alone":             {DataversePaths(), "/dataset.xhtml", true, false},
		"words alone, not beside": {DataversePaths(), "/about", false, true},
		"with a table":            {table, "/about", true, true},
		"an expression":           {expression, "/d/1", false, true},
		"words and an expression": {some, "/dataset.xhtml", true, true},
		"not in the table":        {expression, "/d/2", false, false},
	} {
		f := newPathFinder(tt.paths)
		f.beside = tt.beside
		first, counts, err := f.target(tt.path)
		_, known := f.known.Get(access.KeyOf(tt.path))
		assert.Equal(t, tt.remembered, known, name)
		again, alike, err2 := f.target(tt.path)
		assert.Equal(t, []any{first, counts, err}, []any{again, alike, err2})
	}
}
