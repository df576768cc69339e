package bench_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostForAttack is the most memory, in MiB, that a response may cost at the defaults.
const mostForAttack = 300

// compressedPart is a subset of a report: JSON in gzip in base64.
func compressedPart(c content, size int64) string {
	return `{"checksum":"a","gzip":"` + base64.StdEncoding.EncodeToString(c.compressed(size)) + `"}`
}

// compressed is a response of size bytes in gzip.
func (c content) compressed(size int64) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if _, err := io.Copy(z, c.body(max(size, int64(len(c.start)+len(c.end))))); err != nil {
		panic(err)
	}
	z.Close()
	return out.Bytes()
}

// hostileServer responds to everything with the content of the reading whose number is in
// the path, compressed if the client accepts that.
func hostileServer(t *testing.T, all []reading) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		i, err := strconv.Atoi(number)
		if err != nil {
			panic(err)
		}
		r.URL.Path = "/" + path
		c, size := all[i].contents[0], int64(*hostileMiB)<<20
		kind, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
		w.Header().Set("Content-Type", kind) // a response of another type is not read
		switch {
		case !all[i].hostile(r):
			status, text := ordinary(r)
			w.WriteHeader(status)
			io.WriteString(w, text)
		case strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
			w.Header().Set("Content-Encoding", "gzip")
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
			io.Copy(z, c.body(size)) // fails when the client has enough
			z.Close()
		default:
			io.Copy(w, c.body(size))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestHostileServers lets a service send responses that are small on the line and
// inflate to more than any limit, and reads how much memory the client took at its peak.
func TestHostileServers(t *testing.T) {
	all := readings("")
	url := hostileServer(t, all)
	for i, r := range all {
		if r.contents == nil {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			out := apart(t, fmt.Sprintf("victim %s %d", url, i), nil)
			number, outcome, _ := strings.Cut(strings.TrimSpace(out), " ")
			peak, err := strconv.Atoi(number)
			require.NoError(t, err, out)
			t.Logf("%4d MiB: %.150s", peak>>10, outcome)
			if *hostileMiB >= fullSize {
				assert.Contains(t, outcome, "too large")
			}
			assert.LessOrEqual(t, peak>>10, mostForAttack, "MiB")
		})
	}
}

// beVictim is the process that TestHostileServers starts.
func beVictim(arguments string) error {
	var url string
	var i int
	if _, err := fmt.Sscan(arguments, &url, &i); err != nil {
		return err
	}
	r := readings("")[i]
	config := r.of(fmt.Sprintf("%s/%d", url, i))
	config.MaxReport = fullSize << 20
	if err := forgetPeak(); err != nil {
		return err
	}
	outcome := r.call(context.Background(), config)
	peak, err := peakMemory()
	fmt.Println(peak, errors.Join(outcome))
	return err
}
