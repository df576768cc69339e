package testkit_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
	"github.com/datacite-go/datacite-go/reports/shown"
)

var looped = flag.Int("looped", 2, "values of each loop that TestLoopsAreLeft leaves at every point")

// A scene is what a loop runs in: an embedded service with some of everything, and
// clients whose requests can be watched.
type scene struct {
	srv       *datacitetest.Server
	dois      *dois.Client
	reconcile *reconcile.Client
	mds       *mds.Client
	reports   *reports.Client
	folder    func() string // makes an empty one
}

// newScene calls watch at each request and each entry of a source.
func newScene(t *testing.T, password string, watch func()) *scene {
	t.Helper()
	s := &scene{srv: datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true}),
		folder: t.TempDir}
	for i := range *looped {
		rec := dois.Record{Record: plain(i), URL: "https://example.org/", State: datacite.StateFindable}
		rec.DOI = fmt.Sprintf("10.5072/r%d", i)
		require.NoError(t, s.srv.PutRecord(&rec))
		must(s.srv.PutReport(report(i)))(t)
	}
	line := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		watch()
		return s.srv.HTTPClient().Transport.RoundTrip(r)
	})}
	var errs [4]error
	s.dois, errs[0] = dois.NewClient(datacite.Config{Service: datacite.Service{API: s.srv.URL},
		Username: datacitetest.Username, Password: password, HTTPClient: line})
	s.mds, errs[1] = mds.NewClient(datacite.Config{Service: datacite.Service{MDS: s.srv.URL},
		Username: datacitetest.Username, Password: password, HTTPClient: line})
	s.reports, errs[2] = reports.NewClient(datacite.Config{Service: datacite.Service{API: s.srv.URL}, HTTPClient: line,
		Token: s.srv.Token(s.srv.Now().Add(time.Hour))})
	s.reconcile, errs[3] = reconcile.NewClient(datacite.Config{Service: datacite.Service{API: s.srv.URL},
		Username: datacitetest.Username, Password: password, HTTPClient: line})
	require.NoError(t, errors.Join(errs[:]...))
	return s
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func plain(i int) metadata.Record {
	return metadata.Record{
		Creators: []metadata.Creator{{Name: "Lovelace, Ada"}}, Titles: []metadata.Title{{Title: fmt.Sprint("Table ", i)}},
		Publisher: metadata.Publisher{Name: "Example Press"}, PublicationYear: "2020",
		Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
	}
}

func report(i int) *reports.Report {
	r := &reports.Report{Header: reports.NewHeader(fmt.Sprint("Repository ", i), "1999-11-01",
		reports.Month(1999, time.October))}
	for k := range *looped {
		r.Datasets = append(r.Datasets, reports.Dataset{
			Title: "Table", YOP: "1998", Platform: "example", DataType: reports.DataTypeDataset, Publisher: "Example Press",
			URI:       "https://example.org/",
			DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: fmt.Sprintf("10.5072/t%d", k)}},
			Performance: []reports.Performance{{Period: r.Header.ReportingPeriod, Instance: []reports.Instance{
				{Count: 1, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessRegular},
			}}},
		})
	}
	return r
}

func dataset(i int) reports.Dataset { return report(0).Datasets[i] }

// source yields what of makes of each number, as often as it is asked.
func source[T any](watch func(), of func(i int) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for i := range *looped {
			watch()
			if !yield(of(i), nil) {
				return
			}
		}
	}
}

func wanted(i int) reconcile.Desired {
	rec := plain(i + 1)
	return reconcile.Desired{DOI: fmt.Sprintf("10.5072/r%d", i), Metadata: &rec}
}

func difference(i int) *reconcile.Difference {
	w := wanted(i)
	w.DOI = fmt.Sprintf("10.5072/n%d", i)
	return &reconcile.Difference{DOI: w.DOI, Kind: reconcile.KindMissing, Desired: &w}
}

func row(i int) reports.Row {
	return reports.Row{
		DOI: fmt.Sprintf("10.5072/t%d", i), Title: "Table", YOP: "1998", URI: "https://example.org/", Platform: "example",
		Publisher: "Example Press",
		Date:      "1999-10-01", Metric: reports.MetricTotalDatasetRequests, Access: reports.AccessRegular, Count: 1,
	}
}

func event(i int) counter.Event {
	return counter.Event{
		DOI: fmt.Sprintf("10.5072/t%d", i), Time: time.Date(1999, time.October, 1+i, 0, 0, 0, 0, time.UTC),
		URL: "/dataset.xhtml", User: "ada",
	}
}

// eventLines and dataverseLog are the same events in two formats.
func eventLines() string {
	var lines strings.Builder
	for i := range *looped {
		_ = json.NewEncoder(&lines).Encode(event(i))
	}
	return lines.String()
}

func dataverseLog() string {
	var lines strings.Builder
	for i := range *looped {
		e := event(i)
		fields := []string{e.Time.Format(time.RFC3339), "192.0.2.1", "-", "-", e.User, e.URL, e.DOI, "-", "-", "-", "Table",
			"Example Press", "-", "-", "-", "-", "-", "-", "-"}
		lines.WriteString(strings.Join(fields, "\t") + "\n")
	}
	return lines.String()
}

// watched calls watch at each Read.
type watched struct {
	io.Reader
	watch func()
}

func (w watched) Read(p []byte) (int, error) {
	w.watch()
	return w.Reader.Read(p[:min(len(p), 64)])
}

func recorded() string {
	var lines strings.Builder
	for i := range *looped {
		fmt.Fprintf(&lines, "{\"doi\":\"10.5072/r%d\"}\n", i)
	}
	return lines.String()
}

func file() string {
	data, err := json.Marshal(report(0))
	if err != nil {
		panic(err)
	}
	return string(data)
}

func zip(text string) io.Reader {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return &b
}

// A loop is a public sequence, without its values.
type loop func(ctx context.Context, s *scene, watch func()) iter.Seq[error]

// over ranges over a sequence with a loop of Go's, which panics if the sequence goes
// on after the loop was left.
func over[V any](seq iter.Seq2[V, error]) iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range seq {
			if !yield(err) {
				break
			}
		}
	}
}

func failed(err error) iter.Seq[error] { return func(yield func(error) bool) { yield(err) } }

// loops are all sequences that the public packages return, by package, type and name.
var loops = map[string]loop{
	"dois.Client.All": func(ctx context.Context, s *scene, _ func()) iter.Seq[error] {
		return over(s.dois.All(ctx, &dois.ListOptions{Page: query.Page{Size: (*looped + 1) / 2}}))
	},
	"dois.Client.Pages": func(ctx context.Context, s *scene, _ func()) iter.Seq[error] {
		return over(s.dois.Pages(ctx, &dois.ListOptions{Page: query.Page{Size: (*looped + 1) / 2}}))
	},
	"dois.Walk.All": func(ctx context.Context, s *scene, _ func()) iter.Seq[error] {
		return over(s.dois.Walk(&dois.ListOptions{Page: query.Page{Size: (*looped + 1) / 2}, Sort: query.ByName}).All(ctx))
	},
	"dois.Walk.Pages": func(ctx context.Context, s *scene, _ func()) iter.Seq[error] {
		return over(s.dois.Walk(&dois.ListOptions{Page: query.Page{Size: (*looped + 1) / 2}, Sort: query.ByName}).Pages(ctx))
	},
	"reconcile.Client.Audit": func(ctx context.Context, s *scene, watch func()) iter.Seq[error] {
		return over(s.reconcile.Audit(ctx, source(watch, wanted), &reconcile.AuditOptions{Prefix: []string{"10.5072"}}))
	},
	"reconcile.Corrections": func(ctx context.Context, s *scene, watch func()) iter.Seq[error] {
		return over(reconcile.Corrections(source(watch, difference)))
	},
	"reconcile.Client.EnsureAll": func(ctx context.Context, s *scene, watch func()) iter.Seq[error] {
		return over(s.reconcile.EnsureAll(ctx, source(watch, wanted), nil))
	},
	"archive.Reader.All": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		return over(archive.NewReader(watched{zip(recorded()), watch}, nil).All())
	},
	"reports.Client.All": func(ctx context.Context, s *scene, _ func()) iter.Seq[error] {
		return over(s.reports.All(ctx, &reports.ListOptions{Page: query.Page{Size: (*looped + 1) / 2}}))
	},
	"reports.Reader.All": func(ctx context.Context, s *scene, _ func()) iter.Seq[error] {
		r, err := s.reports.Open(ctx, s.srv.StoredReports()[0].ReportID)
		if err != nil {
			return failed(err)
		}
		return over(r.All())
	},
	"reports.Reader.Scan": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		r, err := reports.NewReader(watched{zip(file()), watch})
		if err != nil {
			return failed(err)
		}
		return over(r.Scan())
	},
	"reports.ReadFile": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		_, datasets, err := reports.ReadFile(watched{strings.NewReader(file()), watch})
		if err != nil {
			return failed(err)
		}
		return over(datasets)
	},
	"datacite.Each": func(context.Context, *scene, func()) iter.Seq[error] {
		return over(datacite.Each(report(0).Datasets))
	},
	"reports.Source": func(context.Context, *scene, func()) iter.Seq[error] {
		return over(reports.Source(report(0).Datasets))
	},
	"shown.Compare": func(ctx context.Context, s *scene, _ func()) iter.Seq[error] {
		return over(shown.Compare(ctx, s.reports, s.dois, "example.repo", nil))
	},
	"counter.Count": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		return over(counter.Count(source(watch, event),
			&counter.Options{Period: report(0).Header.ReportingPeriod, Memory: 1}))
	},
	"counter.Days.Rows": func(_ context.Context, s *scene, watch func()) iter.Seq[error] {
		days, err := counter.OpenDays(s.folder(), nil)
		if err == nil {
			defer days.Close()
			_, err = days.Add([]counter.EventLog{{Name: "log", Events: source(watch, event)}}, nil)
		}
		if err != nil {
			return failed(err)
		}
		return over(days.Rows(reports.Period{}))
	},
	"logs.Read": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		return over(logs.Read([]logs.Log{
			logs.FromReader("a", watched{strings.NewReader(eventLines()), watch}),
			logs.FromReader("b", watched{strings.NewReader(eventLines()), watch}),
		}, logs.JSON, nil))
	},
	"logs.Descriptions.Describe": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		var about logs.Descriptions
		if err := last(over(logs.Read([]logs.Log{logs.FromReader("", strings.NewReader(dataverseLog()))}, logs.Dataverse,
			&logs.Options{Descriptions: &about}))); err != nil {
			return failed(err)
		}
		return over(about.Describe(source(watch, dataset)))
	},
	"logs.Descriptions.All": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		var about logs.Descriptions
		if err := last(over(logs.Read([]logs.Log{logs.FromReader("", watched{strings.NewReader(dataverseLog()), watch})},
			logs.Dataverse, &logs.Options{Descriptions: &about}))); err != nil {
			return failed(err)
		}
		return over(about.All())
	},
	"reports.Group": func(_ context.Context, _ *scene, watch func()) iter.Seq[error] {
		return over(reports.Group(source(watch, row), nil))
	},
}

// Every sequence can be left at every point, with its context cancelled at any other,
// with a login that is accepted or not: it does not go on, nothing follows an error, and all
// goroutines have ended, or the bubble of synctest would not.
func TestLoopsAreLeft(t *testing.T) {
	require.ElementsMatch(t, sequences(t), slices.Collect(maps.Keys(loops)),
		"public functions that return a sequence, and those that are tested")
	for name, begin := range loops {
		t.Run(name, func(t *testing.T) {
			for _, password := range []string{datacitetest.Password, "wrong"} {
				for leave, ended := 0, false; !ended; leave++ {
					for cancel := -1; ; cancel++ {
						n, points, asks := leaving(t, begin, password, leave, cancel)
						ended = ended || cancel < 0 && n <= leave
						if cancel >= points || password != datacitetest.Password && !asks {
							break
						}
					}
				}
			}
		})
	}
}

// leaving leaves a loop at one of its values and cancels its context at one of its
// points. It returns how many values and points came, and whether the service was asked.
func leaving(t *testing.T, begin loop, password string, leave, cancelled int) (values, points int, asks bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var point atomic.Int64
		watch := func() {
			if point.Add(1) == int64(cancelled)+1 {
				cancel()
			}
		}
		var end error
		s := newScene(t, password, watch)
		for err := range begin(ctx, s, watch) {
			require.NoError(t, end, "the loop went on after an error")
			end = err
			watch()
			if values++; values > leave {
				break
			}
		}
		if cancelled < 0 && password == datacitetest.Password {
			require.NoError(t, end)
			require.Positive(t, values)
		}
		points, asks = int(point.Load()), len(s.srv.Requests()) > 0
	})
	return values, points, asks
}

// sequences finds the exported functions and methods that return a sequence.
func sequences(t *testing.T) (found []string) {
	t.Helper()
	for _, file := range publicFiles(t) {
		for _, d := range file.parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && returnsSequence(f) {
				found = append(found, file.parsed.Name.Name+"."+qualified(f))
			}
		}
	}
	return found
}

func returnsSequence(f *ast.FuncDecl) bool {
	if !f.Name.IsExported() || f.Type.Results == nil {
		return false
	}
	return slices.ContainsFunc(f.Type.Results.List, func(r *ast.Field) bool {
		sequence := false
		ast.Inspect(r.Type, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				pkg, _ := s.X.(*ast.Ident)
				sequence = sequence || pkg != nil && pkg.Name == "iter"
			}
			return true
		})
		return sequence
	})
}

func qualified(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if generic, ok := receiver.(*ast.IndexExpr); ok {
		receiver = generic.X
	}
	return receiver.(*ast.Ident).Name + "." + f.Name.Name
}

// calls are functions that call a function of their caller's: act, as part of what
// they are given.
var calls = map[string]func(ctx context.Context, t *testing.T, s *scene, act func()) error{
	"the source of Audit": func(ctx context.Context, _ *testing.T, s *scene, act func()) error {
		return last(over(s.reconcile.Audit(ctx, source(act, wanted), &reconcile.AuditOptions{Prefix: []string{"10.5072"}})))
	},
	"the source of Corrections": func(ctx context.Context, _ *testing.T, s *scene, act func()) error {
		return last(over(s.reconcile.EnsureAll(ctx, reconcile.Corrections(source(act, difference)), nil)))
	},
	"the source of EnsureAll": func(ctx context.Context, _ *testing.T, s *scene, act func()) error {
		return last(over(s.reconcile.EnsureAll(ctx, source(act, wanted), nil)))
	},
	"the source of Submit": func(ctx context.Context, t *testing.T, s *scene, act func()) error {
		r, dir := report(0), t.TempDir()
		defer func() { assert.Empty(t, temporary(t, dir), "files left behind") }()
		_, err := s.reports.Submit(ctx, r.Header, source(act, func(i int) reports.Dataset {
			return r.Datasets[i]
		}), &reports.SubmitOptions{TempDir: dir})
		return err
	},
	"the rows of Group": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(over(reports.Group(source(act, row), nil)))
	},
	"a file of ReadFile": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(loops["reports.ReadFile"](nil, nil, act))
	},
	"a compressed file of reports.NewReader": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(loops["reports.Reader.Scan"](nil, nil, act))
	},
	"an archive": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(over(archive.NewReader(watched{strings.NewReader(recorded()), act}, nil).All()))
	},
	"a compressed archive": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(loops["archive.Reader.All"](nil, nil, act))
	},
	"a folder of archives": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(over(archive.NewFolderReader(folder{fstest.MapFS{"a.jsonl": {Data: []byte(recorded())}}, act},
			nil).All()))
	},
	"Options.Members of an archive": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(over(archive.NewFolderReader(fstest.MapFS{"a.jsonl": {Data: []byte(recorded())}}, &archive.Options{
			Members: func(string) bool { act(); return true },
		}).All()))
	},
	"Options.LeaveOut of an archive": func(_ context.Context, _ *testing.T, _ *scene, act func()) error {
		return last(over(archive.NewReader(strings.NewReader("{\n"+recorded()), &archive.Options{
			LeaveOut: func(error) bool { act(); return true },
		}).All()))
	},
	"the faults of an embedded service": func(ctx context.Context, _ *testing.T, _ *scene, act func()) error {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
			Faults: func(int, *http.Request) *datacitetest.Fault { act(); return nil }})
		return errors.Join(last(over(srv.DOIs().All(ctx, nil))),
			last(over(srv.Reconcile().EnsureAll(ctx, source(func() {}, wanted), nil))))
	},
	"the transport of EnsureAll": func(ctx context.Context, t *testing.T, _ *scene, act func()) error {
		return last(over(newScene(t, datacitetest.Password, act).reconcile.EnsureAll(ctx, source(func() {}, wanted), nil)))
	},
}

type folder struct {
	fs.FS
	act func()
}

func (f folder) Open(name string) (fs.File, error) {
	f.act()
	return f.FS.Open(name)
}

// temporary are the files in a folder that are no locks.
func temporary(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") {
			names = append(names, path)
		}
		return err
	}))
	return names
}

func last(loop iter.Seq[error]) (last error) {
	for err := range loop {
		last = err
	}
	return last
}

// What a caller's function does to its goroutine happens to the caller's, whichever
// goroutine it was called in: at each of its first three calls it panics, or ends the goroutine as
// t.FailNow does.
func TestPanicsOfCallersFunctions(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	mine := errors.New("mine")
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			for _, at := range []int64{1, 2, 3} {
				happened := int64(0)
				run := func(act func()) (value any, returned bool) {
					synctest.Test(t, func(t *testing.T) {
						var n atomic.Int64
						ended := make(chan struct{})
						go func() {
							defer close(ended)
							defer func() { value = recover() }()
							_ = call(t.Context(), t, newScene(t, datacitetest.Password, func() {}), func() {
								if n.Add(1) == at {
									act()
								}
							})
							returned = true
						}()
						<-ended
						happened = n.Load()
					})
					return value, returned
				}
				value, returned := run(func() { panic(mine) })
				require.Positive(t, happened, "it is not called at all")
				if happened < at {
					continue // it is called less often
				}
				require.Equal(t, any(mine), value)
				require.False(t, returned)
				value, returned = run(runtime.Goexit)
				require.Nil(t, value)
				require.False(t, returned, "it returned as if nothing had happened")
			}
		})
	}
}

// What is nil and must not be is an error that names it, and nothing is sent.
func TestNilArguments(t *testing.T) {
	s := newScene(t, datacitetest.Password, func() { t.Error("a request was sent") })
	read := func(_ any, err error) error { return err }
	_, _, noFile := reports.ReadFile(nil)
	for name, err := range map[string]error{
		"rows":     last(over(reports.Group(nil, nil))),
		"desired":  last(over(s.reconcile.EnsureAll(t.Context(), nil, nil))),
		"file":     noFile,
		"reader":   read(reports.NewReader(nil)),
		"archive":  last(over(archive.NewReader(nil, nil).All())),
		"skipping": last(over(archive.NewReader(nil, &archive.Options{LeaveOut: func(error) bool { return true }}).All())),
		"folder":   last(over(archive.NewFolderReader(nil, nil).All())),
		"zero":     last(over((&archive.Reader{}).All())),
		"report":   last(over((&reports.Reader{}).All())),
		"scanned":  last(over((&reports.Reader{}).Scan())),
		"days":     last(over((&counter.Days{}).Rows(reports.Month(2026, 2)))),
		"added":    read((&counter.Days{}).Add([]counter.EventLog{{Name: "a", Events: source(func() {}, event)}}, nil)),
		"closed":   (&counter.Days{}).Close(),
		"XML":      read(metadata.ParseXML(nil)),
		"findings": read(metadata.FindingsXML(nil)),
		"valid":    metadata.ValidateXML(nil),
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.Regexp(t, "nil|zero", err.Error())
		})
	}
}
