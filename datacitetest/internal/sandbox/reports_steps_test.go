package sandbox_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strconv"
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

// A course is what happens to a report, step by step:
//
//	put 1: 201            a compressed PUT of dataset 1, and its status, which may be followed
//	                      by how many subsets the response lists, or by its text
//	put 1: dies           the server dies; "drops": after its work
//	post 2                a POST in the background
//	answer 1: 201         the response to the first request in the background
//	shows 2, fails …      how many subsets GET shows, or its error
//	start, @15, +18       the clock begins; seconds since then; so many more
//	broken                no request works any more
type course struct {
	name   string
	faults []sandbox.Fault
	steps  string
}

const (
	gone   = "The attachment for this report cannot be found"
	noText = "no implicit conversion of nil into String"
)

func (c course) run(t *testing.T) {
	service, start := slow(c.faults...), time.Now()
	var background []<-chan answer
	for step := range strings.SplitSeq(c.steps, "; ") {
		what, want, now := strings.Cut(step, ": ")
		verb, arg, _ := strings.Cut(what, " ")
		n, _ := strconv.ParseFloat(strings.TrimLeft(cmp.Or(arg, verb), "@+"), 64)
		var a answer
		switch send := sent(verb, int(n)); {
		case verb == "start":
			start = time.Now()
		case verb[0] == '@':
			until(start, time.Duration(n*float64(second)))
		case verb[0] == '+':
			until(time.Now(), time.Duration(n*float64(second)))
		case verb == "shows":
			assert.Equal(t, int(n), subsets(t, service), c.steps)
		case verb == "took":
			assert.Equal(t, time.Duration(n)*second, time.Since(start))
		case verb == "rows":
			assert.Len(t, service.RowIDs(someUUID), int(n))
		case verb == "broken":
			assertBroken(t, service)
		case verb == "fails" && arg == "404":
			assert.Equal(t, 404, getReport(someUUID).do(t, service).status)
		case verb == "fails":
			assertCrash(t, getReport(someUUID).do(t, service), arg)
		case verb == "answer":
			a = <-background[int(n)-1]
		case want == "dies" || want == "drops":
			req, err := http.NewRequestWithContext(t.Context(), send.method, base+send.path, strings.NewReader(send.body))
			require.NoError(t, err)
			req.Header = gzipPost(t, service, nil).Header
			_, err = service.Transport().RoundTrip(req)
			require.Error(t, err, "the connection drops")
			requests := service.Requests()
			assert.Equal(t, want == "dies", requests[len(requests)-1].Status == 0)
			continue
		case now:
			a = send.do(t, service)
		default:
			background = append(background, begin(t, service, send))
		}
		if !now {
			continue
		}
		status, text, _ := strings.Cut(want, " ")
		assert.Equal(t, status, strconv.Itoa(a.status), "%s of %s: %s", step, c.steps, a.body)
		switch count, err := strconv.Atoi(text); {
		case err == nil && text != "":
			assert.Len(t, checksums(a.read(t)), count, step)
		case status == "500":
			assertCrash(t, a, text)
		default:
			assert.Contains(t, a.body, text)
		}
	}
}

// sent is the request of a step.
func sent(verb string, n int) call {
	switch verb {
	case "put":
		return putNumber(n)
	case "post":
		return subsetNumber(n)
	case "plain-put":
		return plainPut()
	case "plain-post":
		return postReport(reportBody(noted, dataset))
	case "unknown-put":
		return putSubset(someUUID, reportBody(strings.Replace(noted, `"release"`, `"foo":1,"release"`, 1), numbered(n)))
	case "capital-put":
		return putSubset(someUUID, reportBody(strings.Replace(noted, "rd1", "RD1", 1), numbered(n)))
	}
	return putReport(someUUID, "{") // refused as soon as it is read
}

func stalls(before int, at faults.Step) []sandbox.Fault {
	return append(make([]sandbox.Fault, before), stalled(at))
}

func crashes(before int, at faults.Step) []sandbox.Fault {
	return append(make([]sandbox.Fault, before), sandbox.Fault{Kind: faults.Crash, Step: at})
}

// Writes that overlap, and what is seen between their steps.
func TestDeployedCourses(t *testing.T) {
	const one = "put 1: 201; start; "
	courses := []course{
		{"POST over a report", nil, one + "post 2; refused; @14; shows 1; answer 2: 400; @15; fails " + crash +
			"; @19; fails " + gone + "; answer 1: 201; took 20; shows 2"},
		{"POSTs at once break the report", nil,
			one + "post 2; @1; post 3; @16; fails " + crash +
				"; answer 1: 201 2; answer 2: 201 2; fails [UsageReports] Cannot find report-subset gzip field.; broken"},
		{"POSTs of the same bytes at once do not", nil,
			one + "post 2; post 2; answer 1: 201; answer 2: 201; shows 2; rows 3"},
		{"first PUTs with one id at once", nil,
			"put 1; @1; put 1; answer 1: 201; answer 2: 422 undefined method `serialize'; shows 1"},
		{"PUT that creates", nil, "put 1; @14; fails 404; @15; shows 1; answer 1: 201"},
		{"PUT over a report", nil, "put 1: 201; post 2: 201; start; put 3; @12; shows 2; @13; shows 2; @14; shows 0; @15; " +
			"shows 1; @16; shows 1; @19; shows 1; answer 1: 200; took 20; shows 1"},
		{"the document of a PUT comes after that of a POST", stalls(0, faults.Rendered),
			"put 2; @16; shows 1; post 3: 201 2; shows 2; answer 1: 201; fails " + crash + "; broken"},
		{"the same over a report", stalls(1, faults.Rendered),
			one + "put 2; @16; shows 1; post 3: 201 2; shows 2; answer 1: 200; fails " + crash + "; broken"},
		{"the document of a PUT comes first", []sandbox.Fault{{Kind: faults.Stall, Step: faults.Rendered, Delay: 3 * second}},
			"put 1; @4.5; post 2; @22; shows 2; answer 1: 201; @23.2; fails " + crash + "; answer 2: 201; shows 2"},
		{"a PUT is rendered after the other has cleaned up", stalls(0, faults.HeaderCommitted),
			"put 1; @18; post 2: 201; answer 1: 500 " + noText + "; shows 2; post 3: 201"},
		{"a POST is rendered after the other has cleaned up", nil,
			"put 1; @4; post 2; answer 1: 201; answer 2: 500 " + noText + "; broken"},
		{"the same PUT twice", stalls(0, faults.Rendered), "put 1; @18; put 1: 200; answer 1: 201; shows 1; post 2: 201"},
		{"without a document, with rows", stalls(2, faults.Rendered),
			one + "unknown-put 2: 400; shows 1; post 3; +18; shows 2; post 4: 201; shows 3; answer 1: 201 2; broken"},
		{"without a document, without rows", stalls(2, faults.Rendered),
			one + "capital-put 2: 422; shows 0; post 3; +18; shows 1; post 4: 201; shows 2; answer 1: 201 1; broken"},
		{"POST while there is no file", stalls(1, faults.DocumentDeleted),
			one + "post 2; +30; fails " + gone + "; post 3: 201 3; shows 3; answer 1: 201; broken"},
		{"POST that arrives too late", nil, one + "post 2; @7.5; post 3: 500 " + noText + "; answer 1: 201; broken"},
		{"PUT while there is no file repairs it", crashes(1, faults.DocumentDeleted),
			one + "post 2: dies; fails " + gone + "; put 5: 200; shows 1"},

		// What is left when the server dies at a step.
		{"POST, before the row", crashes(1, faults.LookedUp), one + "post 2: dies; shows 1; post 5: 201; put 6: 200"},
		{"POST, before the document", crashes(1, faults.RowInserted),
			one + "post 2: dies; fails " + crash + "; post 5: 500; put 6: 500"},
		{"POST, after the header", crashes(1, faults.HeaderCommitted),
			one + "post 2: dies; fails " + crash + "; post 5: 500; put 6: 500"},
		{"POST, without a file", crashes(1, faults.DocumentDeleted),
			one + "post 2: dies; fails " + gone + "; post 5: 201; put 6: 200"},
		{"POST, with the document", crashes(1, faults.DocumentStored),
			one + "post 2: dies; shows 2; post 5: 201; put 6: 200"},
		{"POST, before the answer", crashes(1, faults.RowsCleaned), one + "post 2: dies; shows 2; post 5: 201; put 6: 200"},
		{"first PUT, before the row", crashes(0, faults.LookedUp), "put 2: dies; fails 404; post 5: 201; put 6: 409"},
		{"first PUT, before the document", crashes(0, faults.RowInserted), "put 2: dies; shows 1; post 5: 201; put 6: 200"},
		{"first PUT, with the document", crashes(0, faults.DocumentStored), "put 2: dies; shows 1; post 5: 201; put 6: 200"},
		{"PUT, after the document's removal", crashes(1, faults.DocumentRemoved),
			one + "put 2: dies; shows 1; post 5: 201; put 6: 200"},
		{"PUT, after the rows' removal", crashes(1, faults.RowsDestroyed),
			one + "put 2: dies; shows 0; post 5: 201; put 6: 200"},
		{"PUT, before the document", crashes(1, faults.RowInserted), one + "put 2: dies; shows 1; post 5: 201; put 6: 200"},
		{"a request that does not reach the step is done", crashes(0, faults.RowsDestroyed), "put 2: drops; shows 1"},
	}
	for _, in := range []string{"post 7", "plain-post", "plain-put", "put 8"} {
		courses = append(courses, course{in + " looks the report up while a row is not in the document", nil,
			one + "post 2; @4; " + in + ": 500 " + crash + "; answer 1: 201; shows 2"})
	}
	for _, c := range courses {
		t.Run(c.name, func(t *testing.T) { synctest.Test(t, c.run) })
	}
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

// Whatever overlaps with whatever: every write ends, no row has another's bytes,
// and GET shows a whole report or says why it cannot.
func TestDeployedWritesOfAllKindsAtOnce(t *testing.T) {
	steps := []faults.Step{
		"", faults.Parsed, faults.LookedUp, faults.DocumentRemoved, faults.RowsDestroyed, faults.RowInserted,
		faults.HeaderCommitted,
		faults.Rendered, faults.DocumentDeleted, faults.DocumentStored, faults.RowsCleaned,
	}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		synctest.Test(t, func(t *testing.T) {
			service := sandbox.New(&sandbox.Options{
				Behaviour: sandbox.Deployed, WriteTime: 20 * second,
				Faults: func(int, *http.Request) *sandbox.Fault {
					f := sandbox.Fault{Kind: faults.Stall, Step: steps[random.IntN(len(steps))],
						Delay: time.Duration(random.IntN(20)) * second}
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
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/reports",
		strings.NewReader(string(zipped([]byte(reportBody(noted, numbered(2)))))))
	require.NoError(t, err)
	req.Header = gzipPost(t, server.Current(), nil).Header
	_, err = server.HTTPClient().Do(req)
	require.Error(t, err)
	onlyReport(t, server.Current())
}
