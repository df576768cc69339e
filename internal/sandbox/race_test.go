package sandbox_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/sandbox"
)

// slow is a service that takes ten seconds for a write, and has a compressed
// report of one subset.
func slow(t *testing.T) *sandbox.Service {
	t.Helper()
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, WriteTime: 10 * time.Second})
	require.Equal(t, 201, putSubset(someUUID, reportBody(month("Repo", "2020-01-01", noteCompressed), numbered(1))).do(t, service).status)
	return service
}

func subsetNumber(n int) call {
	return postSubset(reportBody(month("Repo", "2020-01-01", noteCompressed), numbered(n)))
}

// begin sends a call in the background; the answer comes through the channel.
func begin(t *testing.T, service *sandbox.Service, c call) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	go func() { answers <- c.do(t, service) }()
	synctest.Wait()
	return answers
}

func TestDeployedWriteTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow(t)
		started := time.Now()
		done := begin(t, service, subsetNumber(2))
		time.Sleep(4 * time.Second)
		assert.Len(t, checksums(getReport(someUUID).do(t, service).read(t)), 1, "nothing to be seen yet")

		time.Sleep(2 * time.Second) // the row is there, the document is not
		for _, c := range []call{
			getReport(someUUID), subsetNumber(3), putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), dataset)),
			putSubset(someUUID, reportBody(month("Repo", "2020-01-01", noteCompressed), dataset)),
		} {
			assertCrash(t, c.do(t, service), crash)
		}
		assert.Equal(t, 200, call{method: "GET", path: "/reports"}.do(t, service).status)

		assert.Equal(t, 201, (<-done).status)
		assert.Equal(t, 10*time.Second, time.Since(started))
		assert.Len(t, checksums(getReport(someUUID).do(t, service).read(t)), 2)
	})
}

func TestDeployedWritesThatOverlapBreakTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow(t)
		first := begin(t, service, subsetNumber(2))
		time.Sleep(time.Second)
		second := begin(t, service, subsetNumber(3))
		assert.Equal(t, 201, (<-first).status)
		assert.Equal(t, 201, (<-second).status)
		time.Sleep(time.Hour)
		for _, c := range []call{getReport(someUUID), subsetNumber(4), putSubset(someUUID, reportBody(month("Repo", "2020-01-01", noteCompressed)))} {
			assertCrash(t, c.do(t, service), crash)
		}
		assert.Equal(t, someUUID, onlyReport(t, service), "the list still shows it")
	})
}

// Two that send the same bytes leave a report that can be read.
func TestDeployedSameBytesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow(t)
		first, second := begin(t, service, subsetNumber(2)), begin(t, service, subsetNumber(2))
		<-first
		<-second
		assert.Len(t, checksums(getReport(someUUID).do(t, service).read(t)), 2, "fewer than there are rows")
	})
}

func TestDeployedFirstPostsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, WriteTime: 10 * time.Second})
		first, second := begin(t, service, subsetNumber(1)), begin(t, service, subsetNumber(2))
		got := map[int]int{}
		got[(<-first).status]++
		got[(<-second).status]++
		assert.Equal(t, map[int]int{201: 1, 409: 1}, got)
		assert.Len(t, checksums(getReport(onlyReport(t, service)).do(t, service).read(t)), 1)
	})
}

func TestDeployedNewReportCanBeReadBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, WriteTime: 10 * time.Second})
		done := begin(t, service, putSubset(someUUID, reportBody(month("Repo", "2020-01-01", noteCompressed), dataset)))
		time.Sleep(4 * time.Second)
		assert.Equal(t, 404, getReport(someUUID).do(t, service).status)
		time.Sleep(2 * time.Second)
		assert.Equal(t, 200, getReport(someUUID).do(t, service).status)
		assert.Equal(t, 201, (<-done).status)
	})
}

func TestDeployedWorkGoesOnWithoutTheClient(t *testing.T) {
	for _, impatient := range []time.Duration{time.Millisecond, time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			service := slow(t)
			ctx, cancel := context.WithTimeout(t.Context(), impatient)
			defer cancel()
			body := zipped([]byte(reportBody(month("Repo", "2020-01-01", noteCompressed), numbered(2))))
			_, err := service.Transport().RoundTrip(gzipPost(t, service, body).WithContext(ctx))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			service.Wait()
			assert.Len(t, checksums(getReport(someUUID).do(t, service).read(t)), 2)
		})
	}
}

// The same over a port, where the server sees the client's end go away.
func TestDeployedWorkGoesOnOverAPort(t *testing.T) {
	server := sandbox.Serve(&sandbox.Options{
		Behaviour: sandbox.Deployed,
		Faults: func(n int, _ *http.Request) *sandbox.Fault {
			if n == 1 {
				return &sandbox.Fault{Kind: sandbox.DropAfter}
			}
			return nil
		},
	}, false)
	defer server.Close()
	body := reportBody(month("Repo", "2020-01-01", noteCompressed), numbered(2))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/reports", strings.NewReader(string(zipped([]byte(body)))))
	require.NoError(t, err)
	req.Header = gzipPost(t, server.Service, nil).Header
	_, err = server.HTTPClient().Do(req)
	require.Error(t, err)
	onlyReport(t, server.Service)
}
