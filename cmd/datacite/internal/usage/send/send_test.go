package send

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// TestMain makes the zone of the times that are printed the same everywhere, before
// any goroutine looks at it.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	shelltest.Main(m, Command)
}

// A service is one to submit to, and a token for it.
type service struct {
	*datacitetest.Server
	token string
	http  *http.Client // what the program sends with; nil if the service listens
}

func newService(t *testing.T) *service { return serviceLike(t, datacitetest.Documented) }

func serviceLike(t *testing.T, behaviour datacitetest.Behaviour) *service {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir()) // where runs leave what the next one has to know
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
	return &service{Server: srv, token: srv.Token(srv.Now().Add(365 * 24 * time.Hour))}
}

// eachBehaviour tells a story with the documented and with the deployed service.
func eachBehaviour(t *testing.T, story func(t *testing.T, srv *service)) {
	t.Helper()
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(b), func(t *testing.T) { story(t, serviceLike(t, b)) })
	}
}

// held returns the DOIs of the datasets in the only report of the service, sorted,
// since the service keeps no order of the subsets.
func (s *service) held(t *testing.T) (dois []string) {
	t.Helper()
	for _, d := range s.datasets(t) {
		dois = append(dois, d.DatasetID[0].Value)
	}
	slices.Sort(dois)
	return dois
}

func (s *service) datasets(t *testing.T) []reports.Dataset {
	t.Helper()
	list, err := s.Reports().List(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Reports, 1)
	r, err := s.Reports().Get(t.Context(), list.Reports[0].ID)
	require.NoError(t, err)
	return r.Datasets
}

// behind puts handle in front of the service; what it does not answer goes on.
func (s *service) behind(t *testing.T, handle func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !handle(w, r) {
			s.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// A result is what a run of the program left.
type result struct {
	code        int
	out, errors string
}

func (s *service) runs(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	done := s.runsAt(t.Context(), s.URL, stdin, args...)
	if done.code == shell.ExitDone {
		shelltest.HoldsCounts(t, s.Reports(), stdin, args...)
	}
	return done
}

func (s *service) runsAt(ctx context.Context, url, stdin string, args ...string) result {
	return runs(ctx, s.http, s.token, strings.NewReader(stdin),
		append([]string{"send", "--service", url, "--max-processing", "1ms"}, args...)...)
}

// runs runs the command with a token.
func runs(ctx context.Context, client *http.Client, token string, stdin io.Reader, args ...string) result {
	var out, errors bytes.Buffer
	env := map[string]string{"DATACITE_TOKEN": token, "DATACITE_CONFIG_DIR": "/datacite-no-settings"}
	s := &shell.Shell{
		Args: args, Getenv: func(name string) string { return env[name] }, Stdin: stdin, Stdout: &out, Stderr: &errors,
		Config: datacite.Config{HTTPClient: client},
	}
	if client == nil {
		s.Config.MaxWait = 5 * time.Millisecond
	}
	code := s.Run(ctx, Command)
	return result{code, out.String(), errors.String()}
}

// report is a report file of n datasets. Its month is over even where time is that
// of testing/synctest, which begins with the year 2000.
func report(t *testing.T, n int, change func(*reports.Report)) string {
	t.Helper()
	period := reports.Month(1999, time.October)
	r := &reports.Report{Header: reports.NewHeader("My Repository", "1999-11-02", period)}
	for i := range n {
		r.Datasets = append(r.Datasets, reports.Dataset{
			Title: "Table", Platform: "Portal", Publisher: "University", DataType: reports.DataTypeDataset, YOP: "1990",
			DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: fmt.Sprintf("10.5072/d%d", i)}},
			Performance: []reports.Performance{{Period: period, Instance: []reports.Instance{
				{Count: int64(i + 1), MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessRegular},
			}}},
		})
	}
	if change != nil {
		change(r)
	}
	data, err := json.Marshal(r)
	require.NoError(t, err)
	return string(data)
}

func zipped(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func TestReportFiles(t *testing.T) {
	plain := report(t, 3, nil)
	for _, test := range []struct{ name, file, stdin string }{
		{name: "JSON", file: shelltest.File(t, "report.json", plain)},
		{name: "gzip", file: shelltest.File(t, "report.json.gz", zipped(t, plain))},
		{name: "standard input", file: "-", stdin: plain},
		{name: "gzip on standard input", file: "-", stdin: zipped(t, plain)},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := newService(t)
			got := srv.runs(t, test.stdin, test.file)
			require.Equal(t, shell.ExitDone, got.code, got.errors)
			assert.Equal(t, []string{"10.5072/d0", "10.5072/d1", "10.5072/d2"}, srv.held(t))
			for _, line := range []string{
				"holds exactly this report", "created by     My Repository", "period         1999-10-01 to 1999-10-31",
				"datasets       3", "sent now       1 of 1 subset", "left out       0", "warnings       0",
			} {
				assert.Contains(t, got.out, line)
			}
		})
	}
}

// TestQuiet is how cron calls it: a mail comes only if something is wrong.
func TestQuiet(t *testing.T) {
	srv := newService(t)
	file := shelltest.File(t, "report.json", report(t, 2, func(r *reports.Report) {
		r.Datasets[1].Performance[0].Instance[0].Count = 0
	}))
	for _, more := range []string{"--dry-run", "--max-processing=1s"} {
		got := srv.runs(t, "", "--quiet", more, file)
		assert.Equal(t, result{}, got)
	}
	assert.Len(t, srv.held(t), 2)

	got := srv.runs(t, "", "--quiet", shelltest.File(t, "report.json", report(t, 3, func(r *reports.Report) {
		r.Datasets[2].DataType = "software"
	})))
	assert.Equal(t, shell.ExitWrong, got.code)
	assert.Empty(t, got.out)
	assert.Contains(t, got.errors, `report-datasets[2].data-type: is "software"`)
	assert.NotContains(t, got.errors, "Building")
}

func TestInterruptedRunGoesOn(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *service) {
		ctx, interrupt := context.WithCancel(t.Context())
		url := srv.behind(t, func(_ http.ResponseWriter, r *http.Request) bool {
			if ctx.Err() != nil || r.Method != http.MethodPost {
				return false
			}
			interrupt() // the first subset is stored, the second one is on its way
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return true
		})
		file := shelltest.File(t, "report.json", report(t, 3, nil))
		first := srv.runsAt(ctx, url, "", "--max-datasets", "1", file)
		require.Equal(t, shell.ExitInterrupted, first.code, first.errors)
		assert.Contains(t, first.errors, "1 of 3 subsets, 1 dataset")
		assert.Contains(t, first.errors, "Run the same command again")
		assert.NotRegexp(t, "[0-9a-f]{64}", first.errors, "hashes help nobody here")
		assert.Empty(t, first.out)
		assert.Equal(t, []string{"10.5072/d0"}, srv.held(t))

		second := srv.runsAt(t.Context(), url, "", "--max-datasets", "1", file)
		require.Equal(t, shell.ExitDone, second.code, second.errors)
		assert.Contains(t, second.out, "sent now       2 of 3 subsets")
		assert.Contains(t, second.out, "already there  1 of 3 subsets")
		assert.Equal(t, []string{"10.5072/d0", "10.5072/d1", "10.5072/d2"}, srv.held(t))
	})
}

func TestInterruptedWhileReading(t *testing.T) {
	srv := newService(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{
		{shelltest.File(t, "report.json", report(t, 3, nil))},
		tableArgs(shelltest.File(t, "counts.csv", sampleTable(t))),
	} {
		got := srv.runsAt(ctx, srv.URL, "", args...)
		assert.Equal(t, shell.ExitInterrupted, got.code, got.errors)
		assert.Contains(t, got.errors, "This run changed nothing on the service.")
		assert.Contains(t, got.errors, "Run the same command again")
	}
	assert.Empty(t, srv.Requests())
}

func TestDryRunSendsNothing(t *testing.T) {
	srv := newService(t)
	good := shelltest.File(t, "report.json", report(t, 5, func(r *reports.Report) {
		r.Datasets[1].Performance[0].Instance[0].Count = 0
	}))
	got := srv.runs(t, "", "--dry-run", "--max-datasets", "2", good)
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Contains(t, got.out, "Dry run: nothing sent. "+strings.TrimPrefix(srv.URL,
		"http://")+" would hold exactly this report.")
	assert.Contains(t, got.out, "replaces       no report")
	assert.Contains(t, got.out, "datasets       5")
	assert.Contains(t, got.out, "subset 3")
	assert.Contains(t, got.errors, "warning: 10.5072/d1: performance[0].instance[0].count: is 0")

	bad := shelltest.File(t, "report.json", report(t, 3, func(r *reports.Report) { r.Datasets[2].DataType = "software" }))
	got = srv.runs(t, "", "--dry-run", bad)
	assert.Equal(t, shell.ExitWrong, got.code)
	assert.Contains(t, got.errors, `report-datasets[2].data-type: is "software"`)
	assert.Zero(t, shelltest.Writes(srv.Server))
	assert.Len(t, srv.Requests(), 2, "whether the token is right, and what is stored")

	// What is wrong with the service or the token is known before the report is sent.
	for says, at := range map[string]*service{
		"usage reports need a token": {Server: srv.Server},
		"refuses the token": {Server: &datacitetest.Server{
			URL: srv.behind(t, func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusUnauthorized)
				return true
			})}, token: srv.token},
		"the token expired at":  {Server: srv.Server, token: srv.Token(srv.Now().Add(-time.Hour))},
		"connection refused":    {Server: &datacitetest.Server{URL: "http://127.0.0.1:1"}, token: srv.token},
		`"nowhere" is not test`: {Server: &datacitetest.Server{URL: "nowhere"}, token: srv.token},
	} {
		if got = at.runs(t, "", "--dry-run", good); says == "usage reports need a token" { // without any login
			got = runs(t.Context(), nil, "", strings.NewReader("DATACITE_USERNAME=A.B\nDATACITE_PASSWORD=secret\n"), "send",
				"--service", srv.URL, "--login", "-", "--dry-run", good)
		}
		assert.NotZero(t, got.code, says)
		assert.Contains(t, shelltest.Plain(got.errors), says)
		assert.Empty(t, got.out)
	}
}

func TestDryRunPlansWhatIsSent(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *service) {
		file := shelltest.File(t, "report.json", report(t, 5, nil))
		var planned, sent receipt
		require.NoError(t, json.Unmarshal([]byte(srv.runs(t, "", "--json", "--dry-run", "--max-datasets", "2", file).out),
			&planned))
		require.NoError(t, json.Unmarshal([]byte(srv.runs(t, "", "--json", "--max-datasets", "2", file).out), &sent))
		assert.True(t, planned.DryRun)
		assert.Equal(t, sent.Subsets, planned.Subsets)
		assert.Equal(t, 3, sent.Sent)
		assert.NotEmpty(t, sent.ReportID)
	})
}

func TestBadDatasets(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *service) {
		file := shelltest.File(t, "report.json", report(t, 3, func(r *reports.Report) {
			r.Datasets[1].DataType = "software"
		}))
		got := srv.runs(t, "", file)
		assert.Equal(t, shell.ExitWrong, got.code)
		assert.Contains(t, got.errors, `report-datasets[1].data-type: is "software"`)
		assert.Empty(t, got.out)
		assert.Zero(t, shelltest.Writes(srv.Server))

		got = srv.runs(t, "", "--leave-out", file)
		require.Equal(t, shell.ExitDone, got.code, got.errors)
		assert.Contains(t, got.out, "left out       1 dataset")
		assert.Contains(t, got.out, `report-datasets[1].data-type: is "software"`)
		assert.Equal(t, []string{"10.5072/d0", "10.5072/d2"}, srv.held(t))
	})
}

// TestCorrections: what a corrected report lacks is reported, and zeros are sent with --zero-dropped.
func TestCorrections(t *testing.T) {
	views := func(d *reports.Dataset) {
		d.Performance[0].Instance = []reports.Instance{
			{Count: 5, MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular}}
	}
	whole := shelltest.File(t, "whole.json", report(t, 3, func(r *reports.Report) { views(&r.Datasets[1]) }))
	part := shelltest.File(t, "part.json", report(t, 1, func(*reports.Report) {}))
	srv := newService(t)
	got := srv.runs(t, "", whole)
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.NotContains(t, got.out, "kept")

	sent := shelltest.Writes(srv.Server)
	got = srv.runs(t, "", part)
	assert.Equal(t, shell.ExitRefused, got.code)
	assert.Equal(t, "datacite: the stored report has 3 counts that DOI records show, and this one has less in 2; "+
		"nothing was sent\n"+
		"  10.5072/d1, unique-dataset-investigations: 0, not 5\n  10.5072/d2, unique-dataset-requests: 0, not 3\n"+
		"A log may have been missing when it was counted; if this is the correction, add --allow-lower.\n", got.errors)
	assert.Equal(t, sent, shelltest.Writes(srv.Server))

	got = srv.runs(t, "", "--allow-lower", "--allow-others", part)
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Contains(t, got.errors, "lack the unique-dataset-investigations of 10.5072/d1 that the stored report has; "+
		"its record continues to show 5")
	assert.Contains(t, got.out, "kept           2 numbers of earlier versions")
	assert.Contains(t, got.out, "run it again with --zero-dropped")

	got = srv.runs(t, "", "--quiet", part)
	assert.Contains(t, got.errors, "kept: 2 numbers", "not even -quiet hides what nobody else notices")
	assert.Empty(t, got.out)

	got = srv.runs(t, "", "--zero-dropped", part)
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Contains(t, got.out, "zeros          2 datasets with the count 0")
	assert.Len(t, srv.held(t), 3)
}

func TestRepeatedDOIs(t *testing.T) {
	file := shelltest.File(t, "report.json", report(t, 3, func(r *reports.Report) {
		r.Datasets[1].DatasetID[0].Value = "10.5072/D0"
	}))
	for _, test := range []struct {
		args []string
		code int
		held int
	}{{[]string{file}, shell.ExitWrong, 0}, {[]string{file, "--merge-repeats"}, shell.ExitDone, 2}} {
		t.Run(fmt.Sprint(len(test.args)), func(t *testing.T) {
			srv := newService(t)
			got := srv.runs(t, "", test.args...)
			require.Equal(t, test.code, got.code, got.errors)
			if test.held == 0 {
				assert.Contains(t, got.errors, "report-datasets[1].dataset-id: is that of report-datasets[0]")
				assert.Contains(t, got.errors, "--merge-repeats adds up what is counted twice.")
				assert.Zero(t, shelltest.Writes(srv.Server))
				return
			}
			assert.Len(t, srv.held(t), test.held)
		})
	}
}

func TestWarningsAreCountedAndTwentyShown(t *testing.T) {
	srv := newService(t)
	file := shelltest.File(t, "report.json", report(t, 30, func(r *reports.Report) {
		for i := range r.Datasets {
			r.Datasets[i].Performance[0].Instance[0].Count = 0
		}
	}))
	got := srv.runs(t, "", file)
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Equal(t, 20, strings.Count(got.errors, "warning: 10.5072/d"))
	assert.Contains(t, got.errors, "warnings: 30 in all, of which 20 are shown")
	assert.Contains(t, got.out, "warnings       30")
}

func TestFaultsOfTheInput(t *testing.T) {
	whole := report(t, 2, nil)
	for _, test := range []struct{ name, content, says string }{
		{"no report", `{"title":"something else"}`, "it holds no report"},
		{"a table", sampleTable(t), "a table needs --creator and --month"},
		{"cut off", whole[:len(whole)-20], "report.json: report: dataset 1: unexpected EOF"},
		{"Latin-1", strings.Replace(whole, `"report-datasets":[`, `"report-datasets":[{"dataset-title":"Glaci`+"\xe8"+`rs"},`,
			1), "the text is not UTF-8"},
		{"cut off and zipped", zipped(t, whole)[:200], "report.json: "},
		{"empty", report(t, 0, nil), "report-datasets: is empty"},
		{"header", strings.Replace(whole, `"rd1"`, `"rd2"`, 1), "report-header.release"},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := newService(t)
			got := srv.runs(t, "", shelltest.File(t, "report.json", test.content))
			assert.Equal(t, shell.ExitWrong, got.code, got.errors)
			assert.Contains(t, got.errors, test.says)
			assert.Zero(t, shelltest.Writes(srv.Server))
		})
	}
}

func TestFaultsOfTheOptions(t *testing.T) {
	srv := newService(t)
	file := shelltest.File(t, "report.json", report(t, 1, nil))
	for _, test := range []struct {
		says string
		args []string
	}{
		{"arguments are missing", nil},
		{"are a table and a report; send them one after the other", []string{file, "testdata/counts.csv"}},
		{"are a table and a report; send them one after the other", []string{"testdata/counts.csv", file}},
		{"an argument is empty; is a variable not set?", []string{""}},
		{"--max-datasets is 50001", []string{"--max-datasets", "50001", file}},
		{"--max-processing is", []string{"--max-processing=-1s", file}},
		{"--creator is for tables: a report file has its own", []string{"--creator", "Me", file}},
		{"--platform is for tables: a report file has its own", []string{file, "--platform", "x"}},
		{"a table needs --creator and --month", []string{"testdata/counts.csv"}},
		{"not YYYY-MM", []string{"testdata/counts.csv", "--creator", "Me", "--month", "10/2024"}},
		{"is not over", []string{"testdata/counts.csv", "--creator", "Me", "--month", "9999-01"}},
		{"not YYYY-MM-DD", []string{"testdata/counts.csv", "--creator", "Me", "--month", "2024-10", "--created", "today"}},
	} {
		t.Run(test.says, func(t *testing.T) {
			got := srv.runs(t, "", test.args...)
			assert.Equal(t, shell.ExitWrong, got.code, got.errors)
			assert.Contains(t, got.errors, test.says)
			assert.Empty(t, got.out)
		})
	}
	assert.Empty(t, srv.Requests())
}

// Nothing is sent anywhere by accident: the service has to be said, and the token be there.
func TestTheServiceIsSaid(t *testing.T) {
	file := shelltest.File(t, "report.json", report(t, 2, nil))
	got := runs(t.Context(), nil, "a-token", nil, "send", file)
	assert.Equal(t, shell.ExitWrong, got.code)
	assert.Contains(t, got.errors, "say which service is meant: add --service test")
	got = runs(t.Context(), nil, "", nil, "send", "--dry-run", file)
	assert.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Equal(t, "the service and the token are not checked, since no service is said; --service checks them\n",
		got.errors, "no service is read from")
}

// Counts that contradict each other are refused, unless they are meant: today's tools write some, and
// the service takes them.
func TestInconsistentCounts(t *testing.T) {
	srv := newService(t)
	file := shelltest.File(t, "report.json", report(t, 1, func(r *reports.Report) {
		first := &r.Datasets[0].Performance[0]
		first.Instance = append(first.Instance,
			reports.Instance{Count: 0, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessRegular})
	}))
	refused := srv.runs(t, "", file)
	assert.Equal(t, shell.ExitWrong, refused.code)
	assert.Contains(t, refused.errors, "are inconsistent")
	sent := srv.runs(t, "", "--allow-inconsistent", file)
	assert.Equal(t, shell.ExitDone, sent.code, sent.errors)
}

// Several reports are sent one after the other.
func TestSeveralReports(t *testing.T) {
	srv := newService(t)
	another := report(t, 1, func(r *reports.Report) { r.Header.CreatedBy = "Another" })
	got := srv.runs(t, "", "--json", "--allow-others", shelltest.File(t, "a.json", report(t, 2, nil)),
		shelltest.File(t, "b.json.gz", zipped(t, another)))
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Equal(t, 2, strings.Count(got.out, "\n"))
	assert.Contains(t, got.out, `"createdBy":"Another"`)
	list, err := srv.Reports().List(t.Context(), nil)
	require.NoError(t, err)
	assert.Len(t, list.Reports, 2)
}
