package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/send"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

func service(t *testing.T, faults datacitetest.Faults) *datacitetest.Server {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed, Faults: faults})
	for _, name := range []string{"a", "b"} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/%s","titles":[{"title":"Glacier"}],"publisher":"Example `+
				`Repository","publicationYear":2026,"url":"https://example.org/","creators":[{"name":"Lovelace, `+
				`Ada"}],"state":"findable"}`, name)))
	}
	return srv
}

// report is a report file of views of a, views of b and downloads of b.
func report(t *testing.T, creator string, a, b, downloads int64) string {
	t.Helper()
	month := reports.Month(2026, time.October)
	var all []reports.Dataset
	for name, counts := range map[string][2]int64{"10.5072/a": {a, 0}, "10.5072/b": {b, downloads}} {
		if counts[0] == 0 {
			continue
		}
		d := reports.Dataset{
			Title: "Glacier", Platform: "P", Publisher: "P", DataType: reports.DataTypeDataset,
			DatasetID: []reports.TypedValue{
				{Type: reports.TypeDOI, Value: name}}, Performance: []reports.Performance{{Period: month}},
		}
		for i, metric := range []reports.MetricType{reports.MetricTotalDatasetInvestigations,
			reports.MetricUniqueDatasetInvestigations, reports.MetricTotalDatasetRequests, reports.MetricUniqueDatasetRequests} {
			if n := counts[i/2]; n > 0 {
				d.Performance[0].Instance = append(d.Performance[0].Instance,
					reports.Instance{Count: n, MetricType: metric, AccessMethod: reports.AccessRegular})
			}
		}
		all = append(all, d)
	}
	var file bytes.Buffer
	require.NoError(t, reports.WriteFile(&file, reports.NewHeader(creator, "2026-11-01", month), reports.Source(all)))
	name := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(name, file.Bytes(), 0o600))
	return name
}

type result struct {
	code        int
	out, errors string
}

func runs(t *testing.T, srv *datacitetest.Server, command shell.Maker, stdin string, args ...string) result {
	t.Helper()
	run := shelltest.Anonymous(srv)
	run.Env["DATACITE_TOKEN"], run.Stdin = srv.Token(srv.Now().Add(90*24*time.Hour)), stdin
	code, out, notes := run.Do(t, command, args...)
	if code == shell.ExitDone {
		shelltest.HoldsCounts(t, srv.Reports(), stdin, args...)
	}
	return result{code, out, notes}
}

// viewsAndDownloads are the views of a and b, and the downloads of b, once the service has read the reports.
func viewsAndDownloads(t *testing.T, srv *datacitetest.Server) string {
	t.Helper()
	srv.ProcessUsage()
	a, err := srv.DOIs().Get(t.Context(), "10.5072/a", nil)
	require.NoError(t, err)
	b, err := srv.DOIs().Get(t.Context(), "10.5072/b", nil)
	require.NoError(t, err)
	return fmt.Sprint(a.ViewCount, b.ViewCount, b.DownloadCount)
}

// TestRepairs: a wrong name, a correction and a double report.
func TestRepairs(t *testing.T) {
	srv := service(t, nil)
	wrong, right := report(t, "Example Repo", 2, 1, 1), report(t, "Example Repository", 2, 1, 1)
	fewer, double := report(t, "Example Repository", 1, 0, 0), report(t, "Web Server 1", 1, 0, 0)
	for _, tt := range []struct {
		args  []string
		says  []string
		code  int
		shows string
	}{
		{[]string{"send", wrong}, []string{"holds exactly this report"}, 0, "2 1 1"},
		{[]string{"repair", "example.repo", right, "--replaces", "Example Repo", "--dry-run"}, []string{
			"Example Repository, report ", ": 2 datasets to send, 3 numbers would change\n  10.5072/a: views, 0 becomes 2\n  " +
				"10.5072/b: views, 0 becomes 1\n  10.5072/b: downloads, 0 becomes 1\n",
			"Example Repo, report ", "\n  10.5072/a: views, 2 becomes 0\n  10.5072/b: views, 1 becomes 0\n  10.5072/b: " +
				"downloads, 1 becomes 0\n\nNothing was sent to " + strings.TrimPrefix(srv.URL, "http://") + " yet.\n",
		}, 0, "2 1 1"},
		{[]string{"repair", "example.repo", right, "--replaces", "Example Repo"},
			[]string{"so nobody can answer; --yes answers yes"}, 2, "2 1 1"},
		{[]string{"repair", "EXAMPLE.REPO", right, "--replaces", "Example Repo", "--yes"},
			[]string{"Example Repo, report", "show the numbers when"}, 0, "2 1 1"},
		{[]string{"repair", "example.repo", fewer, "--dry-run"},
			[]string{"10.5072/a: views, 2 becomes 1", "10.5072/b: views, 1 becomes 0",
				"10.5072/b: downloads, 1 becomes 0"}, 0, "2 1 1"},
		{[]string{"repair", "example.repo", fewer, "--yes"}, []string{"10.5072/a: views, 2 becomes 1"}, 0, "1 0 0"},
		{[]string{"send", double, "--quiet"},
			[]string{`of "Example Repository" has 1 of the same numbers for that month, such as one of 10.5072/a`,
				"--allow-others"}, 1, "1 0 0"},
		{[]string{"send", double, "--allow-others"},
			[]string{`of "Example Repository" has 1 of the same numbers for that month, such as one of 10.5072/a`}, 0, "2 0 0"},
		{[]string{"repair", "example.repo", fewer, "--dry-run"}, []string{
			`--replaces "Web Server 1" takes its numbers back`, "Nothing is to be sent, but differences remain",
			"warning: remains: 10.5072/a: views of 2026-10: 1 reported, 2 shown: several reports have this count",
		}, 1, "2 0 0"},
		{[]string{"repair", "example.repo", fewer, "--replaces", "Web Server 1", "--yes"},
			[]string{"Web Server 1, report", "views, 1 becomes 0"}, 0, "1 0 0"},
		{[]string{"repair", "example.repo", fewer, "--replaces", "Web Server 1", "--yes"}, []string{"nothing is to be sent"},
			0, "1 0 0"},
		// the other report has zeros
		{[]string{"send", fewer, "--allow-lower"}, []string{"holds exactly this report"}, 0, "1 0 0"},
	} {
		before, line, command := shelltest.Writes(srv), strings.Join(tt.args, " "), shell.Maker(Command)
		if tt.args[0] == "send" {
			command = send.Command
		}
		done := runs(t, srv, command, "", tt.args...)
		require.Equal(t, tt.code, done.code, "%s: %s", line, done.errors)
		for _, text := range tt.says {
			assert.Contains(t, done.out+done.errors, text, line)
		}
		sends := tt.args[0] == "send" && tt.code == 0 && tt.args[1] != fewer ||
			strings.Contains(line, "--yes") && !strings.Contains(done.out, "nothing is to be sent")
		assert.Equal(t, sends, shelltest.Writes(srv) > before, line)
		assert.Equal(t, tt.shows, viewsAndDownloads(t, srv), line)
	}
}

// A table and standard input are what usage send takes, and programs get one object.
func TestTablesAndPrograms(t *testing.T) {
	srv := service(t, nil)
	const table = "doi,metric,access,count,platform,publisher\n10.5072/a,total-dataset-investigations,regular,4,P," +
		"P\n10.5072/a,unique-dataset-investigations,regular,3,P,P\n"
	for _, more := range []string{"--dry-run", "--yes"} {
		done := runs(t, srv, Command, table, "repair", "example.repo", "-", "--creator", "Example Repository", "--month",
			"2026-10", "--json", "--quiet", more)
		require.Equal(t, 0, done.code, done.errors)
		assert.Empty(t, done.errors)
		var o outcome
		require.NoError(t, json.Unmarshal([]byte(done.out), &o))
		require.Len(t, o.Reports, 1)
		assert.Equal(t, []change{{DOI: "10.5072/a", Metric: "views", Was: 0, Now: 3}}, o.Reports[0].Changes)
		assert.Equal(t, more == "--yes", o.Reports[0].Sent)
		assert.Equal(t, more != "--yes", o.DryRun)
	}
	assert.Equal(t, "3 0 0", viewsAndDownloads(t, srv))
}

// TestRefusals: what was not sent is reported, and nothing else is changed.
func TestRefusals(t *testing.T) {
	srv := service(t, func(_ int, r *http.Request) *datacitetest.Fault {
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusUnauthorized}
		}
		return nil
	})
	file := report(t, "My Repository", 1, 0, 0)
	done := runs(t, srv, Command, "", "repair", "example.repo", file, "--yes")
	assert.Equal(t, 2, done.code, done.errors)
	assert.Contains(t, done.errors, "My Repository, report ")
	assert.Contains(t, done.errors, "not sent: 1 dataset")
	assert.Contains(t, done.errors, "401")
	assert.Empty(t, done.out)
	for says, args := range map[string][]string{
		`is "Renamed", which is neither the creator nor the id of another report`: {file, "--replaces", "Renamed"},
		"there are several reports; repair one month at a time":                   {file, file},
		"--month is for tables: a report file has its own":                        {file, "--month", "2026-10"},
		"it holds no report": {"-"},
		"arguments are missing: datacite repair ACCOUNT FILE…;": nil,
	} {
		wrong := runs(t, srv, Command, `{"title":"x"}`, append([]string{"repair", "example.repo", "--dry-run"}, args...)...)
		assert.Equal(t, 2, wrong.code, says)
		assert.Contains(t, wrong.errors, says)
		assert.Empty(t, wrong.out)
	}
}
