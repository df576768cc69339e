package shelltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/metadata"
)

// Whatever a run called created, updated, unchanged or repaired is so at the service when it ends: each Run of At
// is followed by a look. Rows that a result table had before the run are not of the run.

// claimed are the rows of result tables that were registered, by file and DOI.
func claimed(args []string) map[string]*table.Row {
	all := map[string]*table.Row{}
	for _, arg := range args {
		end := filepath.Ext(arg)
		for _, name := range []string{arg, strings.TrimSuffix(arg, end) + ".registered" + end} {
			if !table.Is(name) {
				continue
			}
			rows, others := readTable(name)
			result, registered := slices.Index(others, "result"), slices.Index(others, "registered")
			for _, row := range rows {
				if result >= 0 && registered >= 0 && row.Others[registered] != "" && slices.Contains([]string{"created", "updated",
					"unchanged"}, row.Others[result]) {
					all[fmt.Sprint(name, " ", row.DOI, " ", row.Others[registered])] = row
				}
			}
		}
	}
	return all
}

// readTable reads a table with columns of any names; no rows if it cannot be read.
func readTable(name string) (rows []*table.Row, others []string) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil
	}
	known := map[string]bool{}
	for _, c := range table.Columns() {
		known[c.Name] = true
	}
	if head, _, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n")); !table.IsSpreadsheet(name) {
		for cell := range strings.FieldsFuncSeq(string(head), func(r rune) bool {
			return strings.ContainsRune(",;\t\r", r)
		}) {
			if cell = strings.Trim(cell, `" `); !known[strings.ToLower(cell)] {
				others = append(others, cell)
			}
		}
	} else {
		others = table.ResultColumns
	}
	r, err := table.NewReader(name, bytes.NewReader(data), &table.Options{Others: others, Partial: true})
	if err != nil {
		return nil, nil
	}
	for row, err := range r.All() {
		if err != nil {
			return rows, others
		}
		rows = append(rows, row)
	}
	return rows, others
}

// held compares what a run said with what is stored.
func held(t testing.TB, srv *datacitetest.Server, before map[string]*table.Row, args []string, out string) {
	t.Helper()
	for key, row := range claimed(args) {
		if before[key] != nil || row.Err() != nil {
			continue
		}
		found, err := srv.Record(row.DOI)
		if !assert.NoError(t, err, "%v: the table says that it is registered", args) {
			continue
		}
		assert.Equal(t, row.URL, found.URL, "%v: %s", args, row.DOI)
		assert.Equal(t, row.State, string(found.State), "%v: %s", args, row.DOI)
		if row.Record != nil {
			whole, _ := table.Complete(row.Record, found)
			assert.Empty(t, metadata.Diff(whole, &found.Record), "%v: %s", args, row.DOI)
		}
	}
	for _, said := range said(out) {
		found, err := srv.Record(said.DOI)
		if !assert.NoError(t, err, "%v: %+v", args, said) {
			continue
		}
		data, err := json.Marshal(found)
		var record any
		if assert.NoError(t, err) && assert.NoError(t, json.Unmarshal(data, &record)) {
			if is, ok := at(record, said.Path).(string); ok {
				is = strings.Join(strings.Fields(is), " ") // as a line shows it
				wanted := strings.Join(strings.Fields(said.Wanted), " ")
				assert.Equal(t, wanted, is[:min(len(is), len(wanted))], "%v: %s %s is called right", args, said.DOI, said.Path)
			}
		}
	}
}

// A claim is that a property of a DOI is as wanted.
type claim struct{ DOI, Path, Wanted string }

var (
	written  = regexp.MustCompile(`(?m)^(10\.\S+) (?:created|updated|unchanged) at \S+.*, now (\w+), leads to (\S+)$`)
	repaired = regexp.MustCompile(`(?m)^changed\t(10\.\S+)\trepaired\t(\S+): .*, should be (".*")$`)
)

// said are the claims in what was printed, as lines or as JSON.
func said(out string) (all []claim) {
	for _, m := range written.FindAllStringSubmatch(out, -1) {
		all = append(all, claim{m[1], "state", m[2]}, claim{m[1], "url", m[3]})
	}
	for _, m := range repaired.FindAllStringSubmatch(out, -1) {
		const shown = 60 // more is cut
		if wanted, err := strconv.Unquote(m[3]); err == nil && len([]rune(wanted)) <= shown {
			all = append(all, claim{m[1], m[2], wanted})
		}
	}
	for line := range strings.Lines(out) {
		var o struct{ DOI, Result, State, URL, Path, Wanted string }
		if json.Unmarshal([]byte(line), &o) != nil {
			continue
		}
		switch o.Result {
		case "created", "updated", "unchanged":
			all = append(all, claim{o.DOI, "state", o.State}, claim{o.DOI, "url", o.URL})
		case "repaired":
			all = append(all, claim{o.DOI, o.Path, o.Wanted})
		}
	}
	return all
}

var step = regexp.MustCompile(`[^.\[\]]+`)

// at is what a path leads to, such as titles[0].title; nil if it leads nowhere.
func at(value any, path string) any {
	for _, name := range step.FindAllString(path, -1) {
		switch in := value.(type) {
		case map[string]any:
			value = in[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(in) {
				return nil
			}
			value = in[n]
		default:
			return nil
		}
	}
	return value
}
