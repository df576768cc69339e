package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/internal/sheet"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// mostPaths bounds the table of -paths, which is held in memory.
const mostPaths = 5_000_000

// mostFaults bounds the list of what is wrong in it.
const mostFaults = 100

// readPaths reads the table of -paths; nil without one.
func readPaths(name string) (map[string]counter.Target, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("-paths: %w", err)
	}
	defer file.Close()
	t := &pathTable{name: name, rows: sheet.NewReader(file), targets: map[string]counter.Target{}}
	if err := t.read(); err != nil {
		return nil, err
	}
	if len(t.faults) > 0 {
		return nil, &reports.ValidationError{Faults: t.faults}
	}
	return t.targets, nil
}

// A pathTable is a table with the columns path, doi and kind.
type pathTable struct {
	name    string
	rows    *sheet.Reader
	targets map[string]counter.Target
	faults  []*datacite.FieldError
}

func (t *pathTable) read() error {
	names, err := t.rows.Names()
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("-paths: %s: %w", t.name, err)
	}
	path, doiColumn, kind := slices.Index(names, "path"), slices.Index(names, "doi"), slices.Index(names, "kind")
	if min(path, doiColumn, kind) < 0 {
		return fmt.Errorf("-paths: %s: the first row has to name the columns path, doi and kind", t.name)
	}
	for len(t.faults) < mostFaults && len(t.targets) < mostPaths {
		cells, err := t.rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, csv.ErrFieldCount):
			t.fault(0, "", fmt.Sprintf("has %d cells for %d columns", len(cells), len(names)))
		case err != nil:
			return fmt.Errorf("-paths: %s: %w", t.name, err)
		default:
			t.add(cells, path, doiColumn, kind)
		}
	}
	if len(t.targets) == mostPaths {
		return fmt.Errorf("-paths: %s has more than %d paths; -investigations and -requests take patterns", t.name, mostPaths)
	}
	return nil
}

// add adds a row.
func (t *pathTable) add(cells []string, path, doiColumn, kind int) {
	where, err := url.PathUnescape(strings.TrimSpace(cells[path]))
	if err != nil || !strings.HasPrefix(where, "/") || strings.ContainsAny(cells[path], "?#") {
		t.fault(path, "path", fmt.Sprintf("is %.100q, not a path such as /data/17, without host and query", cells[path]))
		return
	}
	var target counter.Target
	if target.DOI, err = doi.Parse(cells[doiColumn]); err != nil {
		t.fault(doiColumn, "doi", fmt.Sprintf("is %.100q, not a DOI such as 10.5072/abc", cells[doiColumn]))
		return
	}
	switch text := strings.TrimSpace(cells[kind]); text {
	case "investigation":
	case "request":
		target.Request = true
	default:
		t.fault(kind, "kind", fmt.Sprintf("is %.100q, neither investigation nor request", text))
		return
	}
	if before, again := t.targets[where]; again && before != target {
		t.fault(path, "path", fmt.Sprintf("is %.100q, which is in the table already, with another DOI or kind", where))
		return
	}
	t.targets[strings.Clone(where)] = target
}

// fault notes what is wrong with a cell.
func (t *pathTable) fault(cell int, column, reason string) {
	place := fmt.Sprintf("%s, line %d", t.name, t.rows.Line(cell))
	if column != "" {
		place += ", " + column
	}
	t.faults = append(t.faults, &datacite.FieldError{Path: place, Reason: reason})
}
