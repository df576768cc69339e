package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unique"

	"github.com/datacite-go/datacite-go/reports"
)

// A column is the name of one.
type column string

const (
	columnDOI       column = "doi"
	columnTitle     column = "title"
	columnYear      column = "year"
	columnURI       column = "uri"
	columnPublisher column = "publisher"
	columnPlatform  column = "platform"
	columnMetric    column = "metric"
	columnAccess    column = "access"
	columnCountry   column = "country"
	columnCount     column = "count"
)

var (
	knownColumns = []column{
		columnDOI, columnTitle, columnYear, columnURI, columnPublisher, columnPlatform,
		columnMetric, columnAccess, columnCountry, columnCount,
	}
	neededColumns = []column{columnDOI, columnMetric, columnAccess, columnCount}
)

// readColumns understands the first row of a table.
func readColumns(names []string, s tableSettings) ([]column, error) {
	columns := make([]column, len(names))
	for i, name := range names {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // spreadsheets begin a file with it
		}
		c := column(strings.ToLower(strings.TrimSpace(name)))
		switch {
		case !slices.Contains(knownColumns, c):
			return nil, fmt.Errorf("line 1: column %d is named %q; the columns are %s", i+1, name, list(knownColumns))
		case slices.Contains(columns[:i], c):
			return nil, fmt.Errorf("line 1: two columns are named %s", c)
		}
		columns[i] = c
	}
	needed := slices.Clone(neededColumns)
	if s.platform == "" {
		needed = append(needed, columnPlatform)
	}
	if s.publisher == "" {
		needed = append(needed, columnPublisher)
	}
	needed = slices.DeleteFunc(needed, func(c column) bool { return slices.Contains(columns, c) })
	if len(needed) > 0 {
		return nil, fmt.Errorf("line 1: there is no column %s (-platform and -publisher stand in for theirs)", list(needed))
	}
	return columns, nil
}

func list(columns []column) string {
	var names []string
	for _, c := range columns {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// A row is one count. Bad rows have at least their line and, if there is one,
// their DOI, so that the dataset they belong to is known.
type row struct {
	line int
	bad  bool

	doi, title, year, uri, publisher, platform string

	metric  reports.MetricType
	access  reports.AccessMethod
	country string // empty if not known
	count   int64
}

func (r *row) key() string { return strings.ToLower(r.doi) }

var (
	metrics = []string{
		string(reports.TotalDatasetRequests), string(reports.UniqueDatasetRequests),
		string(reports.TotalDatasetInvestigations), string(reports.UniqueDatasetInvestigations),
	}
	accesses = []string{string(reports.Regular), string(reports.Machine)}
)

// row reads the cells of a row and notes what is wrong with them. A cell may
// contain line breaks, so each one has its own line.
func (t *table) row(cells []string, lineOf func(cell int) int) row {
	r := row{line: lineOf(0), platform: t.platform, publisher: t.publisher}
	if len(cells) != len(t.columns) {
		t.fault(r.line, "", "has %d cells, and there are %d columns", len(cells), len(t.columns))
		r.bad = true
	}
	for i, c := range t.columns[:min(len(cells), len(t.columns))] {
		if err := r.set(c, strings.TrimSpace(cells[i])); err != nil {
			t.fault(lineOf(i), c, "%v", err)
			r.bad = true
		}
	}
	return r
}

// set understands one cell. What many rows share is kept in memory once.
func (r *row) set(c column, text string) (err error) {
	if !utf8.ValidString(text) {
		return errors.New("is not valid UTF-8")
	}
	switch c {
	case columnDOI:
		r.doi = cleanDOI(text)
		return checkDOI(r.doi)
	case columnTitle:
		r.title = text
	case columnYear:
		r.year = unique.Make(text).Value()
		return checkYear(text)
	case columnURI:
		r.uri = text
		return checkURI(text)
	case columnPublisher:
		r.publisher = unique.Make(cmp.Or(text, r.publisher)).Value()
		return notEmpty(r.publisher, "-publisher")
	case columnPlatform:
		r.platform = unique.Make(cmp.Or(text, r.platform)).Value()
		return notEmpty(r.platform, "-platform")
	case columnMetric:
		return oneOf(text, metrics, func(known string) { r.metric = reports.MetricType(known) })
	case columnAccess:
		return oneOf(text, accesses, func(known string) { r.access = reports.AccessMethod(known) })
	case columnCountry:
		r.country = unique.Make(strings.ToLower(text)).Value()
		return checkCountry(r.country)
	case columnCount:
		r.count, err = readCount(text)
	}
	return err
}

// cleanDOI takes away what people put before a DOI.
func cleanDOI(text string) string {
	text = strings.TrimSpace(text)
	for _, before := range []string{"https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/", "doi:"} {
		if len(text) > len(before) && strings.EqualFold(text[:len(before)], before) {
			return text[len(before):]
		}
	}
	return text
}

func checkDOI(doi string) error {
	prefix, suffix, _ := strings.Cut(doi, "/")
	if !strings.HasPrefix(prefix, "10.") || len(prefix) < len("10.x") || suffix == "" {
		return fmt.Errorf("is %q, not a DOI such as 10.5072/abc", doi)
	}
	return nil
}

func checkYear(text string) error {
	if n, err := strconv.Atoi(text); text != "" && (err != nil || len(text) != 4 || n < 1000) {
		return fmt.Errorf("is %q, not a year of four digits", text)
	}
	return nil
}

func checkURI(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("is %q, not an address https://…", text)
	}
	return nil
}

func notEmpty(text, option string) error {
	if text == "" {
		return errors.New("is empty; " + option + " gives what empty cells stand for")
	}
	return nil
}

func oneOf(text string, known []string, set func(string)) error {
	i := slices.Index(known, text)
	if i < 0 {
		return fmt.Errorf("is %q, not one of %s", text, strings.Join(known, ", "))
	}
	set(known[i])
	return nil
}

func checkCountry(code string) error {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	if code != "" && (len(code) != 2 || !letter(code[0]) || !letter(code[1])) {
		return fmt.Errorf("is %q, not a country code of two letters", code)
	}
	return nil
}

// mostUses bounds a count, so that no sum of counts can overflow.
const mostUses = 1_000_000_000_000

func readCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("is %q, not a whole number", text)
	case n < 0 || n > mostUses:
		return 0, fmt.Errorf("is %d, not between 0 and %d", n, int64(mostUses))
	}
	return n, nil
}
