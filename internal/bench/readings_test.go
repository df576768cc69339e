package bench_test

import (
	"context"
	"io"
	"iter"
	"math"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// A reading is a call that reads a response, or several.
type reading struct {
	name     string    // the method; after a comma, which of its responses is meant
	contents []content // of a success
	limit    limit
	hostile  func(*http.Request) bool // the requests with that response; the others get an ordinary one
	call     func(ctx context.Context, config datacite.Config) error
}

func (r *reading) method() string {
	method, _, _ := strings.Cut(r.name, ",")
	return method
}

// A limit is the most bytes that a response may have.
type limit func(datacite.Config) int64

func wholeBody(c datacite.Config) int64   { return c.MaxBody }
func aLine(c datacite.Config) int64       { return min(c.MaxBody, 1<<20) }
func aDocument(c datacite.Config) int64   { return min(c.MaxBody, 16<<20) }
func wholeReport(c datacite.Config) int64 { return c.MaxReport }
func noBody(datacite.Config) int64        { return math.MaxInt64 }

func every(*http.Request) bool { return true }

// service is a network on which the requests of a reading get a response of one content.
type service struct {
	reading *reading
	content content
	status  int
	size    int64
	read    *atomic.Int64 // bytes of it
}

func (s service) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	res := &http.Response{StatusCode: s.status, Header: http.Header{}, Request: r, ProtoMajor: 1, ProtoMinor: 1}
	if accept := r.Header.Get("Accept"); strings.HasPrefix(accept, "application/x-bibtex") ||
		strings.HasPrefix(accept, "text/x-bibliography") {
		res.Header.Set("Content-Type", accept)
	}
	switch {
	case r.Method == http.MethodHead:
		res.Body = http.NoBody
	case s.reading.hostile(r):
		res.Body = io.NopCloser(counted{s.content.body(s.size), s.read})
	default:
		status, text := ordinary(r)
		res.StatusCode, res.Body = status, io.NopCloser(strings.NewReader(text))
	}
	return res, nil
}

type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// of is the configuration of a client that does not send again, with credentials to look
// for.
func (r *reading) of(url string) datacite.Config {
	config := datacite.Config{Service: datacite.Service{API: url, MDS: url}, Username: "EXAMPLE.REPO",
		Password: "password of a repository", MaxAttempts: 1}
	if strings.HasPrefix(r.name, "reports.") {
		config.Token = "eyJhbGciOiJub25lIn0.eyJ1aWQiOiJhIiwiZXhwIjo0MTAyNDQ0ODAwfQ.abcdefghijklmnop"
	}
	return config
}

// A cost is what a call needed.
type cost struct {
	allocated int64         // bytes, in all
	processor time.Duration // of the process
	read      int64         // bytes of the hostile responses
	err       error
}

// cost makes the call with a service.
func (s service) cost(config datacite.Config) cost {
	s.read = &atomic.Int64{}
	config.HTTPClient = &http.Client{Transport: s}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := processorTime()
	err := s.reading.call(context.Background(), config)
	used = processorTime() - used
	runtime.ReadMemStats(&after)
	return cost{int64(after.TotalAlloc - before.TotalAlloc), used, s.read.Load(), err}
}

// request recognises requests with one of the methods and a beginning of the path.
func request(methods, path string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return strings.Contains(methods, r.Method) && strings.HasPrefix(r.URL.Path, path)
	}
}

// client makes a call with a client of a package.
func client[C any](newClient func(datacite.Config) (C, error),
	call func(context.Context, C) error) func(context.Context, datacite.Config) error {
	return func(ctx context.Context, config datacite.Config) error {
		c, err := newClient(config)
		if err != nil {
			return err
		}
		return call(ctx, c)
	}
}

// ofDOIs, ofReconcile, ofStore and ofReports are readings of the three packages.
func ofDOIs(name string, contents []content, limit limit, hostile func(*http.Request) bool,
	call func(context.Context, *dois.Client) error) reading {
	return reading{"dois." + name, contents, limit, hostile, client(dois.NewClient, call)}
}

func ofReconcile(name string, contents []content, limit limit, hostile func(*http.Request) bool,
	call func(context.Context, *reconcile.Client) error) reading {
	return reading{"reconcile." + name, contents, limit, hostile, client(reconcile.NewClient, call)}
}

func ofStore(name string, contents []content, limit limit, hostile func(*http.Request) bool,
	call func(context.Context, *mds.Client) error) reading {
	return reading{"mds." + name, contents, limit, hostile, client(mds.NewClient, call)}
}

func ofReports(name string, contents []content, limit limit, hostile func(*http.Request) bool,
	call func(context.Context, *reports.Client) error) reading {
	return reading{"reports." + name, contents, limit, hostile, client(reports.NewClient, call)}
}

// each ranges over a sequence up to its first error.
func each[T any](all iter.Seq2[T, error]) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// failed is the error of a call that also returns something else.
func failed[T any](_ T, err error) error { return err }

const (
	thisDOI = "10.5072/a"
	thisURL = "https://example.org/"
)

func givenDocument() mds.Document {
	return mds.XML([]byte(anElement + `<titles><title>A</title></titles></resource>`))
}

// readings are all methods of the three clients that read a response; the subset is that
// of storedReports.
func readings(subset string) []reading {
	stored := storedReports(subset)
	anything := texts("")
	status := texts("OK")
	return []reading{
		ofReconcile("Audit", records, wholeBody, every, func(ctx context.Context, c *reconcile.Client) error {
			wanted := func(yield func(reconcile.Desired, error) bool) {
				yield(reconcile.Desired{DOI: thisDOI, URL: thisURL}, nil)
			}
			return each(c.Audit(ctx, wanted, &reconcile.AuditOptions{ClientID: []string{"a.b"}, AllowEmpty: true}))
		}),
		ofDOIs("Do", anything, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.Do(ctx, &datacite.Request{Method: "GET", Path: "/a"}))
		}),
		ofDOIs("Open", anything, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			body, err := c.Open(ctx, thisDOI, dois.FormatBibTeX)
			if err != nil {
				return err
			}
			defer body.Close()
			_, err = io.Copy(io.Discard, body)
			return err
		}),
		ofDOIs("Citation", texts("A"), aDocument, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.Citation(ctx, thisDOI, nil))
		}),
		ofDOIs("Get", oneRecord, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.Get(ctx, thisDOI, nil))
		}),
		ofDOIs("Get, of the list", records, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.Get(ctx, "10.5072/é", nil))
		}),
		ofDOIs("Exists", nil, noBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.Exists(ctx, thisDOI))
		}),
		ofDOIs("List", records, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.List(ctx, &dois.ListOptions{Page: query.Page{Size: 1000}}))
		}),
		ofReconcile("Ensure", oneRecord, wholeBody, request("GET", "/dois/"),
			func(ctx context.Context, c *reconcile.Client) error {
				return failed(c.Ensure(ctx, reconcile.Desired{DOI: thisDOI, URL: thisURL, State: datacite.StateFindable}, nil))
			}),
		ofReconcile("EnsureAll", oneRecord, wholeBody, request("GET", "/dois/"),
			func(ctx context.Context, c *reconcile.Client) error {
				wanted := func(yield func(reconcile.Desired, error) bool) {
					yield(reconcile.Desired{DOI: thisDOI, URL: thisURL, State: datacite.StateFindable}, nil)
				}
				for e, err := range c.EnsureAll(ctx, wanted, &reconcile.Options{Rounds: 1}) {
					if err != nil {
						return err
					}
					return e.Err
				}
				return nil
			}),
		ofDOIs("Pages", records, wholeBody, every,
			func(ctx context.Context, c *dois.Client) error { return each(c.Pages(ctx, nil)) }),
		ofDOIs("All", records, wholeBody, every,
			func(ctx context.Context, c *dois.Client) error { return each(c.All(ctx, nil)) }),
		ofDOIs("Walk", records, wholeBody, every,
			func(ctx context.Context, c *dois.Client) error { return each(c.Walk(nil).All(ctx)) }),
		ofDOIs("Create", oneRecord, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.Create(ctx, &dois.Draft{DOI: thisDOI}))
		}),
		ofDOIs("Update", oneRecord, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.Update(ctx, thisDOI, &dois.Draft{URL: thisURL}))
		}),
		ofDOIs("ChangeState", oneRecord, wholeBody, every, func(ctx context.Context, c *dois.Client) error {
			return failed(c.ChangeState(ctx, thisDOI, dois.EventPublish, nil))
		}),
		ofDOIs("ChangeState, written", oneRecord, wholeBody, request("PUT", "/dois/"),
			func(ctx context.Context, c *dois.Client) error {
				return failed(c.ChangeState(ctx, thisDOI, dois.EventHide, nil))
			}),
		ofDOIs("Transfer", oneRecord, wholeBody, request("GET", "/dois/"), func(ctx context.Context, c *dois.Client) error {
			return failed(c.Transfer(ctx, thisDOI, "example.repo", nil)) // which has the DOI
		}),
		ofDOIs("Delete", anything, aLine, every,
			func(ctx context.Context, c *dois.Client) error { return c.Delete(ctx, thisDOI) }),

		ofStore("CheckAccess", status, aLine, every, func(ctx context.Context, c *mds.Client) error {
			return c.CheckAccess(ctx, "10.5072", "")
		}),
		ofStore("Do", anything, wholeBody, every, func(ctx context.Context, c *mds.Client) error {
			return failed(c.Do(ctx, &datacite.Request{Method: "GET", Path: "/doi"}))
		}),
		ofStore("Metadata", documents, aDocument, every, func(ctx context.Context, c *mds.Client) error {
			return failed(c.Metadata(ctx, thisDOI))
		}),
		ofStore("Metadata, no XML", anything, aDocument, every, func(ctx context.Context, c *mds.Client) error {
			return failed(c.Metadata(ctx, thisDOI))
		}),
		ofStore("PutMetadata", status, aLine, every, func(ctx context.Context, c *mds.Client) error {
			return failed(c.PutMetadata(ctx, thisDOI, givenDocument()))
		}),
		ofStore("Hide", status, aLine, request("DELETE", "/metadata/"),
			func(ctx context.Context, c *mds.Client) error { return c.Hide(ctx, thisDOI) }),
		ofStore("Show", documents, aDocument, request("GET", "/metadata/"),
			func(ctx context.Context, c *mds.Client) error { return c.Show(ctx, thisDOI) }),
		ofStore("DeleteDraft", status, aLine, every,
			func(ctx context.Context, c *mds.Client) error { return c.DeleteDraft(ctx, thisDOI) }),
		ofStore("Mint", status, aLine, request("PUT", "/metadata/"), func(ctx context.Context, c *mds.Client) error {
			return failed(c.Mint(ctx, "10.5072", givenDocument()))
		}),
		ofStore("Register", documents, aDocument, request("GET", "/metadata/"),
			func(ctx context.Context, c *mds.Client) error {
				return failed(c.Register(ctx, thisDOI, thisURL, givenDocument(), nil))
			}),
		ofStore("Register, the record", oneRecord, wholeBody, request("GET", "/dois/"),
			func(ctx context.Context, c *mds.Client) error {
				return failed(c.Register(ctx, thisDOI, thisURL, givenDocument(), nil))
			}),
		ofStore("Register, the URL", texts(thisURL), aLine, request("GET", "/doi/"),
			func(ctx context.Context, c *mds.Client) error {
				return failed(c.Register(ctx, thisDOI, thisURL, givenDocument(), &mds.RegisterOptions{NoReadBack: true}))
			}),
		ofStore("Register, costly metadata", costly, aDocument, request("GET", "/metadata/"),
			func(ctx context.Context, c *mds.Client) error {
				return failed(c.Register(ctx, thisDOI, thisURL, givenDocument(), nil))
			}),
		ofStore("State", texts(thisURL), aLine, every,
			func(ctx context.Context, c *mds.Client) error { return failed(c.State(ctx, thisDOI)) }),
		ofStore("URL", texts(thisURL), aLine, every,
			func(ctx context.Context, c *mds.Client) error { return failed(c.URL(ctx, thisDOI)) }),
		ofStore("PutURL", status, aLine, every,
			func(ctx context.Context, c *mds.Client) error { return failed(c.PutURL(ctx, thisDOI, thisURL)) }),

		ofReports("Do", anything, wholeBody, every, func(ctx context.Context, c *reports.Client) error {
			return failed(c.Do(ctx, &datacite.Request{Method: "GET", Path: "/reports"}))
		}),
		ofReports("Create", stored, wholeBody, every, func(ctx context.Context, c *reports.Client) error {
			return failed(c.Create(ctx, aGivenReport(false)))
		}),
		ofReports("Create, compressed", stored, wholeReport, request("POST", "/reports"),
			func(ctx context.Context, c *reports.Client) error {
				return failed(c.Create(ctx, aGivenReport(true)))
			}),
		ofReports("Put", stored, wholeBody, every, func(ctx context.Context, c *reports.Client) error {
			return failed(c.Put(ctx, reportID, aGivenReport(false)))
		}),
		ofReports("List", reportList, wholeBody, every,
			func(ctx context.Context, c *reports.Client) error { return failed(c.List(ctx, nil)) }),
		ofReports("All", reportList, wholeBody, every,
			func(ctx context.Context, c *reports.Client) error { return each(c.All(ctx, nil)) }),
		ofReports("Get", stored, wholeReport, every,
			func(ctx context.Context, c *reports.Client) error { return failed(c.Get(ctx, reportID)) }),
		ofReports("Open", stored, wholeReport, every, func(ctx context.Context, c *reports.Client) error {
			r, err := c.Open(ctx, reportID)
			if err != nil {
				return err
			}
			defer r.Close()
			return each(r.All())
		}),
		ofReports("Submit", stored, wholeReport, request("PUT POST", "/reports"), submitOne),
		ofReports("Submit, the list", reportList, wholeBody,
			func(r *http.Request) bool { return r.URL.Path == "/reports" && r.Method == http.MethodGet }, submitOne),
		ofReports("Verify", stored, wholeReport, every, func(ctx context.Context, c *reports.Client) error {
			return c.Verify(ctx, &reports.Receipt{ReportID: reportID, Datasets: 1, Subsets: []reports.Subset{{Checksum: "a"}}})
		}),
	}
}

func submitOne(ctx context.Context, c *reports.Client) error {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	given := aGivenReport(false)
	return failed(c.Submit(ctx, given.Header, reports.Source(given.Datasets),
		&reports.SubmitOptions{ID: reportID, LockDir: folder, TempDir: folder, MaxOutage: time.Second, MaxProcessing: 1}))
}

// aGivenReport is of a month before the virtual time of tests begins.
func aGivenReport(compressed bool) *reports.Report {
	header := reports.NewHeader("Example", "1999-11-01", reports.Month(1999, 10))
	if compressed {
		header.Exceptions = []reports.Exception{
			{Code: reports.ExceptionCompressed, Severity: "warning", Message: "Report is compressed using gzip",
				Data: "usage data needs to be uncompressed"}}
	}
	return &reports.Report{Header: header, Datasets: []reports.Dataset{{
		Title: "a", Platform: "a", Publisher: "a", DataType: reports.DataTypeDataset,
		DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: thisDOI}},
		Performance: []reports.Performance{{Period: reports.Month(1999, 10), Instance: []reports.Instance{
			{Count: 1, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessRegular},
		}}},
	}}}
}

// ordinary responds to the requests that are not hostile.
func ordinary(r *http.Request) (status int, text string) {
	switch path := r.URL.Path; {
	case request("GET", "/doi/"+thisDOI)(r):
		return http.StatusOK, thisURL
	case request("GET", "/doi/")(r):
		return http.StatusNotFound, "DOI not found"
	case request("GET", "/metadata/")(r):
		return http.StatusOK, string(givenDocument().Data)
	case strings.HasPrefix(path, "/doi/"), strings.HasPrefix(path, "/metadata/"):
		return http.StatusCreated, "OK"
	case path == "/dois" && r.Method == http.MethodGet:
		return http.StatusOK, `{"data":[` + strings.TrimSuffix(strings.TrimPrefix(aRecord, `{"data":`),
			"") + `}}],"meta":{"total":1}}`
	case strings.HasPrefix(path, "/dois"):
		return http.StatusOK, aRecord + `}}}`
	case path == "/reports" && r.Method == http.MethodGet:
		return http.StatusOK, `{"reports":[],"meta":{"total":0}}`
	}
	return http.StatusOK, aReport + datasets + `}}`
}
