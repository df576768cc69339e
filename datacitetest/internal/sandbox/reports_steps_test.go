package sandbox_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// What happens between the steps of a write. The services here take twenty
// seconds for one: a write that begins at 0 looks its report up at 12, has its
// row in the database at 15 and its document at 20. A compressed PUT over a
// report has removed the document at 13 and the old rows at 14.

const second = time.Second

var noted = month("Repo", "2020-01-01", noteCompressed)

// slow is a service that takes twenty seconds for a write.
func slow(faults ...sandbox.Fault) *sandbox.Service {
	return sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, WriteTime: 20 * second, Faults: first(faults)})
}

// first gives the first POSTs and PUTs these faults; one without a kind does nothing.
func first(faults []sandbox.Fault) func(int, *http.Request) *sandbox.Fault {
	return func(_ int, r *http.Request) *sandbox.Fault {
		if r.Method == http.MethodGet || len(faults) == 0 {
			return nil
		}
		f := faults[0]
		faults = faults[1:]
		if f.Kind == "" {
			return nil
		}
		return &f
	}
}

// stalled halts a write at a step for an hour.
func stalled(at faults.Step) sandbox.Fault {
	return sandbox.Fault{Kind: faults.Stall, Step: at, Delay: time.Hour}
}

// withOne has a compressed report of one subset.
func withOne(t *testing.T, service *sandbox.Service) *sandbox.Service {
	t.Helper()
	require.Equal(t, 201, putNumber(1).do(t, service).status)
	return service
}

func putNumber(n int) call { return putSubset(someUUID, reportBody(noted, numbered(n))) }

func subsetNumber(n int) call { return postSubset(reportBody(noted, numbered(n))) }

func plainPut() call {
	return putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), dataset))
}

// everyCall reads and writes the report in every way there is.
func everyCall() []call {
	return []call{getReport(someUUID), subsetNumber(7), postReport(reportBody(noted, dataset)), plainPut(), putNumber(8)}
}

// begin sends a call in the background; the answer comes through the channel.
func begin(t *testing.T, service *sandbox.Service, c call) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	go func() { answers <- c.do(t, service) }()
	synctest.Wait()
	return answers
}

// until sleeps till a time after a start, and lets things settle.
func until(start time.Time, d time.Duration) {
	time.Sleep(time.Until(start.Add(d)))
	synctest.Wait()
}

// subsets is how many subsets GET shows.
func subsets(t *testing.T, service *sandbox.Service) int {
	t.Helper()
	a := getReport(someUUID).do(t, service)
	require.Equal(t, 200, a.status, a.body)
	return len(checksums(a.read(t)))
}

func assertBroken(t *testing.T, service *sandbox.Service) {
	t.Helper()
	time.Sleep(24 * time.Hour)
	for _, c := range everyCall() {
		assertCrash(t, c.do(t, service), "[UsageReports]")
	}
	assert.Equal(t, someUUID, onlyReport(t, service), "the list still shows it")
}

func TestDeployedGapOfPOST(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := withOne(t, slow())
		start := time.Now()
		done := begin(t, service, subsetNumber(2))
		early := begin(t, service, putReport(someUUID, "{")) // refused as soon as it is read
		until(start, 14*second)
		assert.Equal(t, 1, subsets(t, service), "nothing to be seen yet")
		assert.Equal(t, 400, (<-early).status)

		until(start, 15*second) // the row is there, the document is not
		assertCrash(t, getReport(someUUID).do(t, service), crash)
		assert.Equal(t, 200, call{method: "GET", path: "/reports"}.do(t, service).status)
		until(start, 19*second) // and the old document is gone
		assertCrash(t, getReport(someUUID).do(t, service), "The attachment for this report cannot be found: https://")
		assert.Equal(t, 201, (<-done).status)
		assert.Equal(t, 20*second, time.Since(start))
		assert.Equal(t, 2, subsets(t, service))
	})
}

// A write that looks the report up while a row is not in the document.
func TestDeployedWritesInTheGapOfPOST(t *testing.T) {
	for _, c := range everyCall()[1:] {
		synctest.Test(t, func(t *testing.T) {
			service := withOne(t, slow())
			start := time.Now()
			done := begin(t, service, subsetNumber(2))
			until(start, 4*second)
			assertCrash(t, c.do(t, service), crash)
			assert.Equal(t, 201, (<-done).status)
			assert.Equal(t, 2, subsets(t, service))
		})
	}
}

func TestDeployedPOSTsAtOnceBreakTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := withOne(t, slow())
		start := time.Now()
		one := begin(t, service, subsetNumber(2))
		until(start, second)
		two := begin(t, service, subsetNumber(3))
		until(start, 16*second)
		assertCrash(t, getReport(someUUID).do(t, service), crash)
		a, b := <-one, <-two
		assert.Equal(t, []int{201, 201}, []int{a.status, b.status})
		assert.Len(t, checksums(a.read(t)), 2, "each lists its own")
		assert.Len(t, checksums(b.read(t)), 2)
		assertCrash(t, getReport(someUUID).do(t, service), "[UsageReports] Cannot find report-subset gzip field.")
		assertBroken(t, service)
	})
}

// Two that send the same bytes leave a report that can be read.
func TestDeployedSameBytesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := withOne(t, slow())
		one, two := begin(t, service, subsetNumber(2)), begin(t, service, subsetNumber(2))
		<-one
		<-two
		assert.Equal(t, 2, subsets(t, service), "fewer than there are rows")
		assert.Len(t, service.RowIDs(someUUID), 3)
	})
}

func TestDeployedFirstPOSTsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow()
		one, two := begin(t, service, subsetNumber(1)), begin(t, service, subsetNumber(2))
		got := map[int]int{}
		got[(<-one).status]++
		got[(<-two).status]++
		assert.Equal(t, map[int]int{201: 1, 409: 1}, got)
		assert.Len(t, checksums(getReport(onlyReport(t, service)).do(t, service).read(t)), 1)
	})
}

// Of two first PUTs with one id the second finds the id taken; its reasons are
// lost like all.
func TestDeployedFirstPUTsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow()
		start := time.Now()
		one := begin(t, service, putNumber(1))
		until(start, second)
		two := begin(t, service, putNumber(1))
		assert.Equal(t, 201, (<-one).status)
		assertRefused(t, <-two, 422, "undefined method `serialize'")
		assert.Equal(t, 1, subsets(t, service))
	})
}

func TestDeployedGapOfPUTThatCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow()
		start := time.Now()
		done := begin(t, service, putNumber(1))
		until(start, 14*second)
		assert.Equal(t, 404, getReport(someUUID).do(t, service).status)
		until(start, 15*second)
		assert.Equal(t, 1, subsets(t, service), "from the database")
		assert.Equal(t, 201, (<-done).status)
	})
}

func TestDeployedGapOfPUTOverAReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := withOne(t, slow())
		require.Equal(t, 201, subsetNumber(2).do(t, service).status)
		start := time.Now()
		done := begin(t, service, putNumber(3))
		for _, moment := range []struct {
			at   time.Duration
			want int
		}{{12, 2}, {13, 2}, {14, 0}, {15, 1}, {16, 1}, {19, 1}} {
			until(start, moment.at*second)
			assert.Equal(t, moment.want, subsets(t, service), "after %d seconds", moment.at)
		}
		assert.Equal(t, 200, (<-done).status)
		assert.Equal(t, 20*second, time.Since(start))
		assert.Equal(t, 1, subsets(t, service))
	})
}

// A plain PUT over a report changes the header first; the document is the old
// one until it is gone.
func TestDeployedGapOfPlainPUT(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow()
		require.Equal(t, 201, plainPut().do(t, service).status)
		start := time.Now()
		changed := strings.Replace(month("Repo", "2020-01-01", ""), `"created":"2020-02-01"`, `"created":"2021-01-01"`, 1)
		done := begin(t, service, putReport(someUUID, reportBody(changed, numbered(9))))
		until(start, 18*second)
		got := getReport(someUUID).do(t, service).read(t)
		assert.Equal(t, "2021-01-01", at(got, "report.report-header.created"))
		assert.Equal(t, []string{"10.5072/0001"}, dois(got))
		until(start, 19*second)
		assertCrash(t, getReport(someUUID).do(t, service), "The attachment for this report cannot be found")
		assert.Equal(t, 200, (<-done).status)
		assert.Equal(t, []string{"10.5072/0009"}, dois(getReport(someUUID).do(t, service).read(t)))
	})
}

// The document of a PUT that comes after that of a POST breaks the report. It
// makes no difference whether the PUT creates the report or replaces it.
func TestDeployedLateDocumentOfPUT(t *testing.T) {
	for _, before := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			service := slow(append(make([]sandbox.Fault, before), stalled(faults.Rendered))...)
			for range before {
				withOne(t, service)
			}
			put := begin(t, service, putNumber(2))
			time.Sleep(16 * second)
			assert.Equal(t, 1, subsets(t, service))
			a := subsetNumber(3).do(t, service)
			assert.Equal(t, 201, a.status)
			assert.Len(t, checksums(a.read(t)), 2, "its document lists both")
			assert.Equal(t, 2, subsets(t, service))
			assert.Equal(t, 201-before, (<-put).status)
			assertCrash(t, getReport(someUUID).do(t, service), crash)
			assertBroken(t, service)
		})
	}
}

// If the document of the PUT comes first, the report is sound in the end.
func TestDeployedEarlyDocumentOfPUT(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow(sandbox.Fault{Kind: faults.Stall, Step: faults.Rendered, Delay: 3 * second}) // its document comes at 23
		start := time.Now()
		put := begin(t, service, putNumber(1))
		until(start, 4500*time.Millisecond)
		post := begin(t, service, subsetNumber(2)) // row at 19.5, rendered at 21.5, document at 24.5
		until(start, 22*second)
		assert.Equal(t, 2, subsets(t, service))
		assert.Equal(t, 201, (<-put).status)
		until(start, 23200*time.Millisecond)
		assertCrash(t, getReport(someUUID).do(t, service), crash)
		assert.Equal(t, 201, (<-post).status)
		assert.Equal(t, 2, subsets(t, service))
	})
}

// An answer that is rendered after the other request has cleaned up finds a row
// without bytes.
func TestDeployedLateResponse(t *testing.T) {
	t.Run("of a PUT", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := slow(stalled(faults.HeaderCommitted))
			put := begin(t, service, putNumber(1))
			time.Sleep(18 * second)
			assert.Equal(t, 201, subsetNumber(2).do(t, service).status)
			assertCrash(t, <-put, "no implicit conversion of nil into String")
			assert.Equal(t, 2, subsets(t, service), "nothing is broken by that")
			assert.Equal(t, 201, subsetNumber(3).do(t, service).status)
		})
	})
	t.Run("of a POST", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := slow()
			start := time.Now()
			put := begin(t, service, putNumber(1))
			until(start, 4*second)
			post := begin(t, service, subsetNumber(2)) // looked up while there is no document, row at 19
			assert.Equal(t, 201, (<-put).status)
			assertCrash(t, <-post, "no implicit conversion of nil into String")
			assertBroken(t, service)
		})
	})
}

func TestDeployedSamePUTTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := slow(stalled(faults.Rendered))
		one := begin(t, service, putNumber(1))
		time.Sleep(18 * second)
		assert.Equal(t, 200, putNumber(1).do(t, service).status)
		assert.Equal(t, 201, (<-one).status)
		assert.Equal(t, 1, subsets(t, service))
		assert.Equal(t, 201, subsetNumber(2).do(t, service).status)
	})
}

// A report without a document shows what a POST has inserted before its document
// is there, and takes another POST meanwhile.
func TestDeployedReportWithoutADocument(t *testing.T) {
	for name, refused := range map[string]call{
		"with rows":    putSubset(someUUID, reportBody(strings.Replace(noted, `"release"`, `"foo":1,"release"`, 1), numbered(2))),
		"without rows": putSubset(someUUID, reportBody(strings.Replace(noted, "rd1", "RD1", 1), numbered(2))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := withOne(t, slow(sandbox.Fault{}, sandbox.Fault{}, stalled(faults.Rendered)))
				require.GreaterOrEqual(t, refused.do(t, service).status, 400)
				left := subsets(t, service)
				one := begin(t, service, subsetNumber(3))
				time.Sleep(18 * second)
				assert.Equal(t, left+1, subsets(t, service), "seen without a document")
				assert.Equal(t, 201, subsetNumber(4).do(t, service).status)
				assert.Equal(t, left+2, subsets(t, service))
				a := <-one
				assert.Equal(t, 201, a.status)
				assert.Len(t, checksums(a.read(t)), left+1, "what there was when it was rendered")
				assertBroken(t, service)
			})
		})
	}
}

// While there is no file, a write skips the comparison, and finds rows whose
// bytes the other request is about to remove.
func TestDeployedWriteWhileThereIsNoFile(t *testing.T) {
	t.Run("POST", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := withOne(t, slow(sandbox.Fault{}, stalled(faults.DocumentDeleted)))
			one := begin(t, service, subsetNumber(2))
			time.Sleep(30 * second)
			assertCrash(t, getReport(someUUID).do(t, service), "The attachment for this report cannot be found")
			a := subsetNumber(3).do(t, service)
			assert.Equal(t, 201, a.status)
			assert.Len(t, checksums(a.read(t)), 3, "all from the database")
			assert.Equal(t, 3, subsets(t, service))
			assert.Equal(t, 201, (<-one).status)
			assertBroken(t, service)
		})
	})
	t.Run("POST that arrives too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := withOne(t, slow())
			start := time.Now()
			one := begin(t, service, subsetNumber(2))
			until(start, 7*second+second/2)
			a := subsetNumber(3).do(t, service) // looks up between 19 and 20
			assertCrash(t, a, "no implicit conversion of nil into String")
			assert.Equal(t, 201, (<-one).status)
			assertBroken(t, service)
		})
	})
	t.Run("compressed PUT", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := withOne(t, slow(sandbox.Fault{}, sandbox.Fault{Kind: faults.Crash, Step: faults.DocumentDeleted}))
			_, err := service.Transport().RoundTrip(gzipPost(t, service, zipped([]byte(reportBody(noted, numbered(2))))))
			require.Error(t, err)
			assertCrash(t, getReport(someUUID).do(t, service), "The attachment for this report cannot be found")
			assert.Equal(t, 200, putNumber(5).do(t, service).status, "repairs it")
			assert.Equal(t, 1, subsets(t, service))
		})
	})
}

// What is left when the server dies at a step.
func TestDeployedCrash(t *testing.T) {
	const gone = "The attachment for this report cannot be found"
	for name, want := range map[string]struct {
		call
		empty bool        // nothing was there before
		step  faults.Step // where it dies
		shown int         // how many subsets GET shows; -1: no report
		title string      // what GET says instead
		post  int         // what another POST gets
		put   int         // and then another PUT
	}{
		"POST, before the row":              {call: subsetNumber(2), step: faults.LookedUp, shown: 1, post: 201, put: 200},
		"POST, before the document":         {call: subsetNumber(2), step: faults.RowInserted, title: crash, post: 500, put: 500},
		"POST, after the header":            {call: subsetNumber(2), step: faults.HeaderCommitted, title: crash, post: 500, put: 500},
		"POST, without a file":              {call: subsetNumber(2), step: faults.DocumentDeleted, title: gone, post: 201, put: 200},
		"POST, with the document":           {call: subsetNumber(2), step: faults.DocumentStored, shown: 2, post: 201, put: 200},
		"POST, before the answer":           {call: subsetNumber(2), step: faults.RowsCleaned, shown: 2, post: 201, put: 200},
		"first PUT, before the row":         {call: putNumber(2), empty: true, step: faults.LookedUp, shown: -1, post: 201, put: 409},
		"first PUT, before the document":    {call: putNumber(2), empty: true, step: faults.RowInserted, shown: 1, post: 201, put: 200},
		"first PUT, with the document":      {call: putNumber(2), empty: true, step: faults.DocumentStored, shown: 1, post: 201, put: 200},
		"PUT, after the document's removal": {call: putNumber(2), step: faults.DocumentRemoved, shown: 1, post: 201, put: 200},
		"PUT, after the rows' removal":      {call: putNumber(2), step: faults.RowsDestroyed, shown: 0, post: 201, put: 200},
		"PUT, before the document":          {call: putNumber(2), step: faults.RowInserted, shown: 1, post: 201, put: 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				faults := []sandbox.Fault{{}, {Kind: faults.Crash, Step: want.step}}
				if want.empty {
					faults = faults[1:]
				}
				service := slow(faults...)
				if !want.empty {
					withOne(t, service)
				}
				req, err := http.NewRequestWithContext(t.Context(), want.method, base+want.path, strings.NewReader(want.body))
				require.NoError(t, err)
				req.Header = gzipPost(t, service, nil).Header
				_, err = service.Transport().RoundTrip(req)
				require.Error(t, err, "the connection drops")
				requests := service.Requests()
				assert.Equal(t, 0, requests[len(requests)-1].Status)
				a := getReport(someUUID).do(t, service)
				switch {
				case want.title != "":
					assertCrash(t, a, want.title)
				case want.shown < 0:
					assert.Equal(t, 404, a.status)
				default:
					require.Equal(t, 200, a.status, a.body)
					assert.Len(t, checksums(a.read(t)), want.shown)
					assert.Equal(t, 69.0, at(a.read(t), "report.report-header.exceptions.0.code"))
				}
				assert.Equal(t, want.post, subsetNumber(5).do(t, service).status)
				assert.Equal(t, want.put, putNumber(6).do(t, service).status)
			})
		})
	}
	t.Run("a request that does not come there is done", func(t *testing.T) {
		service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, Faults: first([]sandbox.Fault{{Kind: faults.Crash, Step: faults.RowsDestroyed}})})
		_, err := service.Transport().RoundTrip(gzipPost(t, service, zipped([]byte(reportBody(noted, dataset)))))
		require.Error(t, err)
		onlyReport(t, service)
	})
}

// Whatever overlaps with whatever: every write ends, no row has another's bytes,
// and GET shows a whole report or says why it cannot.
func TestDeployedWritesOfAllKindsAtOnce(t *testing.T) {
	steps := []faults.Step{
		"", faults.Parsed, faults.LookedUp, faults.DocumentRemoved, faults.RowsDestroyed, faults.RowInserted, faults.HeaderCommitted,
		faults.Rendered, faults.DocumentDeleted, faults.DocumentStored, faults.RowsCleaned,
	}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		synctest.Test(t, func(t *testing.T) {
			service := sandbox.New(&sandbox.Options{
				Behaviour: sandbox.Deployed, WriteTime: 20 * second,
				Faults: func(int, *http.Request) *sandbox.Fault {
					f := sandbox.Fault{Kind: faults.Stall, Step: steps[random.IntN(len(steps))], Delay: time.Duration(random.IntN(20)) * second}
					if f.Step == "" {
						return nil
					}
					return &f
				},
			})
			var answers []<-chan answer
			for range 8 {
				answers = append(answers, begin(t, service, everyCall()[1+random.IntN(4)]))
				time.Sleep(time.Duration(random.IntN(15)) * second)
				assert.Contains(t, []int{200, 404, 422, 500}, getReport(someUUID).do(t, service).status)
			}
			for _, a := range answers {
				assert.Contains(t, []int{200, 201, 409, 422, 500}, (<-a).status)
			}
			a := getReport(someUUID).do(t, service)
			assert.Contains(t, []int{200, 404, 500}, a.status)
			if a.status != 200 {
				return
			}
			for _, s := range at(a.read(t), "report.report-subsets").([]any) {
				data, err := base64.StdEncoding.DecodeString(at(s, "gzip").(string))
				require.NoError(t, err)
				sum := sha256.Sum256(data)
				assert.Equal(t, hex.EncodeToString(sum[:]), at(s, "checksum"))
			}
		})
	}
}

func TestDeployedWorkGoesOnWithoutTheClient(t *testing.T) {
	for _, impatient := range []time.Duration{time.Millisecond, second, 14 * second, 19 * second} {
		synctest.Test(t, func(t *testing.T) {
			service := withOne(t, slow())
			ctx, cancel := context.WithTimeout(t.Context(), impatient)
			defer cancel()
			body := zipped([]byte(reportBody(noted, numbered(2))))
			_, err := service.Transport().RoundTrip(gzipPost(t, service, body).WithContext(ctx))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			service.Wait()
			assert.Equal(t, 2, subsets(t, service))
		})
	}
}

// The same over a port, where the server sees the client's end go away.
func TestDeployedWorkGoesOnOverAPort(t *testing.T) {
	server := sandbox.Serve(&sandbox.Options{
		Behaviour: sandbox.Deployed,
		Faults: func(n int, _ *http.Request) *sandbox.Fault {
			if n == 1 {
				return &sandbox.Fault{Kind: faults.DropAfter}
			}
			return nil
		},
	}, false)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/reports", strings.NewReader(string(zipped([]byte(reportBody(noted, numbered(2)))))))
	require.NoError(t, err)
	req.Header = gzipPost(t, server.Current(), nil).Header
	_, err = server.HTTPClient().Do(req)
	require.Error(t, err)
	onlyReport(t, server.Current())
}
