package send

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	records "github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports"
)

func sampleTable(t *testing.T) string {
	t.Helper()
	data := shelltest.Read(t, "testdata/counts.csv")
	return string(data)
}

func tableArgs(file string, more ...string) []string {
	return append(more, file, "--creator", "My Repository", "--month", "2024-10")
}

// shuffled puts the rows below the first one in another order.
func shuffled(table string) string {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	slices.Reverse(lines[1:])
	lines[1], lines[4] = lines[4], lines[1]
	return strings.Join(lines, "\n")
}

// withSemicolons writes a table as spreadsheets of many countries do.
func withSemicolons(t *testing.T, table string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	require.NoError(t, err)
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = ';', true
	require.NoError(t, w.WriteAll(rows))
	return b.String()
}

// The same counts make the same report, whatever shape the table has.
func TestTables(t *testing.T) {
	srv := newService(t)
	first := srv.runs(t, "", tableArgs("testdata/counts.csv")...)
	require.Equal(t, shell.ExitDone, first.code, first.errors)
	assert.Contains(t, first.out, "datasets       3")
	assert.Contains(t, first.out, "warnings       0")
	datasets := srv.datasets(t)
	assert.Equal(t, "Glacier length, yearly", datasets[1].Title)
	assert.Equal(t, []reports.Instance{
		{Count: 15, MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular,
			CountryCounts: reports.CountryCounts{{Country: "de", Count: 12}, {Country: "fr", Count: 3}}},
		{Count: 40, MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessMachine,
			CountryCounts: reports.CountryCounts{{Country: "us", Count: 40}}},
		{Count: 5, MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessRegular,
			CountryCounts: reports.CountryCounts{{Country: "de", Count: 5}}},
	}, datasets[0].Performance[0].Instance)
	assert.Equal(t, reports.CountryCounts{{Country: "no", Count: 2}}, datasets[2].Performance[0].Instance[0].CountryCounts)
	assert.EqualValues(t, 3, datasets[2].Performance[0].Instance[0].Count, "one use was from an unknown country")
	sent := shelltest.Writes(srv.Server)

	whole := sampleTable(t)
	for _, test := range []struct {
		name, file, stdin string
		options           []string
	}{
		{name: "again", file: "testdata/counts.csv"},
		{name: "unsorted", file: shelltest.File(t, "counts.csv", shuffled(whole))},
		{name: "zipped", file: shelltest.File(t, "counts.csv.gz", zipped(t, whole))},
		{name: "unsorted and zipped", file: shelltest.File(t, "counts.csv.gz", zipped(t, shuffled(whole)))},
		{name: "standard input", file: "-", stdin: shuffled(whole)},
		{name: "from a spreadsheet", file: shelltest.File(t, "counts.csv", "\ufeff"+strings.ReplaceAll(whole, "\n", "\r\n"))},
		{name: "with semicolons", file: shelltest.File(t, "counts.csv", "\ufeff"+withSemicolons(t, whole))},
		{name: "DOIs as addresses", file: shelltest.File(t, "counts.csv",
			strings.ReplaceAll(whole, "\n10.5072/", "\nhttps://doi.org/10.5072/"))},
		{name: "defaults", options: []string{"--platform", "Example Portal", "--publisher", "University of Examples"},
			file: shelltest.File(t, "counts.csv", strings.ReplaceAll(whole, "University of Examples,Example Portal", ","))},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := srv.runs(t, test.stdin, tableArgs(test.file, test.options...)...)
			require.Equal(t, shell.ExitDone, got.code, got.errors)
			assert.Contains(t, got.out, "already there  1 of 1 subset")
			assert.Equal(t, sent, shelltest.Writes(srv.Server))
		})
	}
}

const shortHead = "doi,metric,access,count,country,title\n"

// short are arguments for tables without columns for platform and publisher.
func short(table string, more ...string) []string {
	return tableArgs("-", append(more, "--platform", "Portal", "--publisher", "University")...)
}

func TestBadCellsNameLineAndColumn(t *testing.T) {
	srv := newService(t)
	const total = "total-dataset-requests"
	for _, test := range []struct{ row, says string }{
		{"abc," + total + ",regular,1,de,", `line 3: doi: is "abc", not a DOI`},
		{"," + total + ",regular,1,de,", `line 3: doi: is ""`},
		{"10.5072/a,downloads,regular,1,de,", `line 3: metric: is "downloads"; the service knows total-dataset-requests`},
		{"10.5072/a," + total + ",robot,1,de,", `line 3: access: is "robot"; the service knows regular and machine`},
		{"10.5072/a," + total + ",regular,1.5,de,", `line 3, column 4: count: is "1.5", not a whole number`},
		{"10.5072/a," + total + ",regular,-1,de,", `line 3: count: is -1`},
		{"10.5072/a," + total + ",regular,1,Germany,", `line 3: country: is "germany", not a country code of two letters`},
		{"10.5072/a," + total + ",regular,1,de,\xff", `line 3, column 47: the text is not UTF-8; save the table again`},
		{"10.5072/a," + total + ",regular", `line 3: there are 3 cells for 6 columns`},
		{"10.5072/0," + total + ",regular,1,,", `line 3: counts what standard input, line 2 of 10.5072/0 counts already`},
		{`10.5072/a,"` + total + "\n\",regular,x,de,", `line 4, column 4: count: is "x"`},
		{`10.5072/a,"` + strings.Repeat(total+"\n", 50_000),
			`line 11401, column 1: the row is longer than 256 KiB; a quotation mark may be missing; the row begins on line 3`},
		{`10.5072/a,"` + total + ",regular", `extraneous or missing " in quoted-field`},
	} {
		t.Run(test.says, func(t *testing.T) {
			table := shortHead + "10.5072/0," + total + ",regular,1,,\n" + test.row + "\n"
			more := []string{}
			if strings.HasPrefix(test.says, "extraneous") {
				more = append(more, "--leave-out") // a table that is damaged is not taken for a shorter one
			}
			got := srv.runs(t, table, short(table, more...)...)
			assert.Equal(t, shell.ExitWrong, got.code, got.errors)
			assert.Contains(t, got.errors, test.says)
			assert.Equal(t, strings.Contains(test.says, "counts already"),
				strings.Contains(got.errors, "--merge-repeats adds up what is counted twice."))
		})
	}
	assert.Empty(t, srv.Requests())
}

func TestAllBadCellsAreNamed(t *testing.T) {
	srv := newService(t)
	table := shortHead + strings.Repeat("10.5072/a,total-dataset-requests,regular,many,,\n", 130)
	got := srv.runs(t, table, short(table)...)
	assert.Equal(t, shell.ExitWrong, got.code)
	assert.Contains(t, got.errors, "faults in the input, the first 100; nothing was sent")
	assert.Contains(t, got.errors, "line 101, column 4: count")
	assert.NotContains(t, got.errors, "line 102, count")
}

func TestLeavingOutTheDatasetsOfBadRows(t *testing.T) {
	const table = shortHead +
		"10.5072/a,total-dataset-requests,regular,1,de,\n" +
		"10.5072/a,total-dataset-requests,regular,two,fr,\n" +
		",total-dataset-requests,regular,1,de,\n" +
		"10.5072/b,total-dataset-requests,regular,3,de,\n" +
		"10.5072/b,total-dataset-requests,regular,4,de,\n" +
		"10.5072/c,total-dataset-requests,regular,5,de,\n"
	for _, test := range []struct {
		name    string
		file    string
		options []string
		held    []string
		leftOut string
	}{
		{"streamed", shelltest.File(t, "counts.csv", table), nil, []string{"10.5072/c"}, "left out       3"},
		{"in memory", "-", nil, []string{"10.5072/c"}, "left out       3"},
		{"repeats added up", "-", []string{"--merge-repeats"}, []string{"10.5072/b", "10.5072/c"}, "left out       2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := newService(t)
			args := append(test.options, "--leave-out", "--platform", "Portal", "--publisher", "University")
			got := srv.runs(t, table, tableArgs(test.file, args...)...)
			require.Equal(t, shell.ExitDone, got.code, got.errors)
			assert.Equal(t, test.held, srv.held(t))
			assert.Contains(t, got.out, test.leftOut)
			assert.Contains(t, got.out, "line 3, column 4: count")
			assert.Contains(t, got.out, "line 4: doi")
			if slices.Contains(test.held, "10.5072/b") {
				assert.EqualValues(t, 7, srv.datasets(t)[0].Performance[0].Instance[0].Count)
			}
		})
	}
}

func TestTableWarningsNameTheirPlace(t *testing.T) {
	srv := newService(t)
	table := shortHead +
		"10.5072/a,unique-dataset-requests,regular,1,de,Glacier\n" +
		"10.5072/a,unique-dataset-requests,regular,1,fr,Volcano\n" +
		"10.5072/b,unique-dataset-requests,regular,0,xx,\n"
	got := srv.runs(t, table, short(table)...)
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Contains(t, got.errors, "warning: standard input, line 3: title: differs from standard input, line 2 of "+
		"10.5072/a")
	assert.Contains(t, got.errors, "warning: 10.5072/b: performance[0].instance[0].count: is 0")
	assert.Contains(t, got.errors, `warning: 10.5072/b: performance[0].instance[0].country-counts["xx"]`)
	assert.Contains(t, got.out, "warnings       3")
}

// A spreadsheet makes the same report, from a file, compressed, and from standard input.
func TestSpreadsheets(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(sampleTable(t))).ReadAll()
	require.NoError(t, err)
	var b bytes.Buffer
	w := records.NewWriter(&b, &records.WriterOptions{Columns: []string{"doi", "title", "year"}, Others: rows[0][3:],
		Spreadsheet: true})
	for _, row := range rows[1:] {
		year, err := strconv.Atoi(row[2])
		require.NoError(t, err)
		_, err = w.Write(&records.Row{DOI: row[0],
			Record: &metadata.Record{Titles: metadata.List[metadata.Title]{{Title: row[1]}},
				PublicationYear: metadata.YearOf(year)}, Others: row[3:]})
		require.NoError(t, err)
	}
	require.NoError(t, w.Flush())
	srv := newService(t)
	first := srv.runs(t, "", tableArgs("testdata/counts.csv")...)
	require.Equal(t, shell.ExitDone, first.code, first.errors)
	sent := shelltest.Writes(srv.Server)
	for file, stdin := range map[string]string{
		shelltest.File(t, "counts.xlsx", b.String()): "", shelltest.File(t, "counts.xlsx.gz", zipped(t, b.String())): "",
		"-": b.String(),
	} {
		got := srv.runs(t, stdin, tableArgs(file)...)
		require.Equal(t, shell.ExitDone, got.code, got.errors)
		assert.Contains(t, got.out, "already there  1 of 1 subset", file)
	}
	assert.Equal(t, sent, shelltest.Writes(srv.Server))
}

// Several tables make one report, and messages name the file.
func TestSeveralTables(t *testing.T) {
	srv := newService(t)
	require.Equal(t, shell.ExitDone, srv.runs(t, "", tableArgs("testdata/counts.csv")...).code)
	sent := shelltest.Writes(srv.Server)
	lines := strings.SplitAfter(sampleTable(t), "\n")
	one, two := shelltest.File(t, "one.csv",
		strings.Join(lines[:4], "")), shelltest.File(t, "two.csv", lines[0]+strings.Join(lines[4:], ""))
	got := srv.runs(t, "", append(tableArgs(one), two)...)
	require.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Equal(t, sent, shelltest.Writes(srv.Server))
	got = srv.runs(t, "", append(tableArgs(one),
		shelltest.File(t, "bad.csv", strings.ReplaceAll(sampleTable(t), ",40\n", ",many\n")))...)
	assert.Equal(t, shell.ExitWrong, got.code)
	assert.Contains(t, got.errors, `bad.csv, line 5, column 10: count: is "many"`)
	assert.Contains(t, got.errors, one+", line 2 of 10.5072/glacier-area counts already")
}
