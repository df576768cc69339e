package shelltest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/source"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reports"
)

// ofFiles are the flags that say how files are read, and have a value.
var ofFiles = []string{"--creator", "--month", "--created", "--name", "--report-id", "--platform", "--publisher"}

// HoldsCounts requires that the service holds the files of a command that has succeeded: each dataset with its counts
// and texts, and besides them only zeros. It leaves out what no file alone tells: datasets that were left out, and
// counts that were added up.
func HoldsCounts(t testing.TB, client *reports.Client, stdin string, args ...string) {
	t.Helper()
	if slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"--dry-run", "--leave-out", "--merge-repeats"}, arg)
	}) {
		return
	}
	var flags, names []string
	for i, arg := range args {
		before := args[max(i-1, 0)]
		switch info, err := os.Stat(arg); {
		case slices.Contains(ofFiles, before):
			flags = append(flags, before, arg)
		case before != "--login" && (arg == "-" || err == nil && info.Mode().IsRegular()):
			names = append(names, arg)
		}
	}
	s := &shell.Shell{Stdin: strings.NewReader(stdin), Quiet: true}
	cmd := &cobra.Command{}
	files := source.NewFiles(s, cmd)
	require.NoError(t, cmd.ParseFlags(flags))
	all, err := files.Open(cmd, names)
	require.NoError(t, err)
	require.NotEmpty(t, all, "no file in %v", args)
	for _, in := range all {
		defer in.Close()
		require.NoError(t, in.Begin(t.Context()))
		want := map[string]string{}
		for d, err := range in.Datasets() {
			require.NoError(t, err)
			want[nameOf(&d)] = textOf(&d)
		}
		for _, d := range storedDatasets(t, client, &in.Header) {
			name := nameOf(&d)
			if want[name] == "" && onlyZeros(&d) {
				continue
			}
			assert.Equal(t, want[name], textOf(&d), "%s is otherwise at the service", name)
			delete(want, name)
		}
		assert.Empty(t, want, "not at the service")
	}
}

// storedDatasets are those of the report with a header.
func storedDatasets(t testing.TB, client *reports.Client, h *reports.Header) (all []reports.Dataset) {
	t.Helper()
	for s, err := range client.All(t.Context(), &reports.ListOptions{CreatedBy: h.CreatedBy}) {
		require.NoError(t, err)
		if s.Header.ReportingPeriod.BeginDate == h.ReportingPeriod.BeginDate {
			r, err := client.Get(t.Context(), s.ID)
			require.NoError(t, err)
			all = append(all, r.Datasets...)
		}
	}
	return all
}

// nameOf is the DOI of a dataset. The service is sent the DOI first.
func nameOf(d *reports.Dataset) string {
	i := slices.IndexFunc(d.DatasetID, func(id reports.TypedValue) bool {
		return strings.EqualFold(id.Type, reports.TypeDOI)
	})
	if i < 0 {
		return ""
	}
	return doi.Key(d.DatasetID[i].Value)
}

// textOf is what a reader of a dataset sees, whatever the order of its counts.
func textOf(d *reports.Dataset) string {
	var counts []string
	for _, p := range d.Performance {
		for _, n := range p.Instance {
			countries := slices.SortedFunc(slices.Values(n.CountryCounts), func(a, b reports.CountryCount) int {
				return cmp.Compare(a.Country, b.Country)
			})
			counts = append(counts, fmt.Sprint(p.Period, n.MetricType, n.AccessMethod, n.Count, countries))
		}
	}
	slices.Sort(counts)
	return fmt.Sprintf("%q %q %q %q %q\n%s", d.Title, d.Publisher, d.Platform, d.YOP, d.URI, strings.Join(counts, "\n"))
}

func onlyZeros(d *reports.Dataset) bool {
	return !slices.ContainsFunc(d.Performance, func(p reports.Performance) bool {
		return slices.ContainsFunc(p.Instance, func(n reports.Instance) bool { return n.Count != 0 })
	})
}
