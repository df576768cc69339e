package count

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// mostLookups bounds a table, which is held in memory, and mostFaults the list of what is
// wrong in it.
const (
	mostLookups = 5_000_000
	mostFaults  = 100
)

// sessionID is what Java servers write into paths; it ends with its part of the path.
var sessionID = lazy.Regexp(`;jsessionid=[^/]*`)

// readPaths reads a table for logs.Paths.Table: CSV or .xlsx whose first row names the columns
// path, doi and kind, which is investigation or request. A path without a DOI is not a dataset. The
// name of the table is for messages. The error is a [*datacite.ValidationError] with all
// faults, at most 100.
func readPaths(r io.Reader, name string) (map[string]logs.Target, error) {
	targets := map[string]logs.Target{}
	err := readRows(r, name, []string{"path", "doi", "kind"}, func(cells []string) *cellFault {
		path, err := url.PathUnescape(strings.TrimSpace(cells[0]))
		if err != nil || !strings.HasPrefix(path, "/") || strings.ContainsAny(cells[0], "?#") {
			return &cellFault{0, datacite.CodeSyntax,
				fmt.Sprintf("is %.100q, not a path such as /data/17, without host and query", cells[0])}
		}
		path = sessionID().ReplaceAllLiteralString(path, "") // logs.Paths leaves it out, too
		var target logs.Target
		if target.DOI, err = optionalDOI(cells[1]); err != nil {
			return &cellFault{1, datacite.CodeDOI, fmt.Sprintf("is %.100q, not a DOI such as 10.5072/abc", cells[1])}
		}
		switch text := strings.TrimSpace(cells[2]); {
		case text == "request":
			target.Request = true
		case text != "investigation" && (text != "" || target.DOI != ""):
			return &cellFault{2, datacite.CodeVocabulary, fmt.Sprintf("is %.100q, neither investigation nor request", text)}
		}
		return put(targets, cmp.Or(strings.Clone(strings.TrimRight(path, "/")), "/"), target)
	})
	return targets, err
}

// readDOIs reads a table for logs.Paths.DOIs: CSV or .xlsx whose first row names the columns
// name and doi. A name without a DOI is not a dataset. Faults are returned as by readPaths.
func readDOIs(r io.Reader, name string) (map[string]string, error) {
	dois := map[string]string{}
	err := readRows(r, name, []string{"name", "doi"}, func(cells []string) *cellFault {
		text, err := optionalDOI(cells[1])
		switch {
		case strings.TrimSpace(cells[0]) == "":
			return &cellFault{0, datacite.CodeMissing, "is missing"}
		case err != nil:
			return &cellFault{1, datacite.CodeDOI, fmt.Sprintf("is %.100q, not a DOI such as 10.5072/abc", cells[1])}
		}
		return put(dois, strings.Clone(strings.TrimSpace(cells[0])), strings.Clone(text))
	})
	return dois, err
}

// optionalDOI returns the DOI of a cell, bare.
func optionalDOI(cell string) (string, error) {
	if cell = strings.TrimSpace(cell); cell == "" {
		return "", nil
	}
	return doi.Parse(cell)
}

// put adds a row, unless another one says something else.
func put[V comparable](rows map[string]V, key string, value V) *cellFault {
	if before, again := rows[key]; again && before != value {
		return &cellFault{0, datacite.CodeRepeated,
			fmt.Sprintf("is %.100q, which is in the table already, with another DOI or kind", key)}
	}
	rows[key] = value
	return nil
}

// A cellFault is what is wrong with a cell of the columns that are read.
type cellFault struct {
	column int
	code   datacite.Code
	reason string
}

// readRows adds the rows of a table with the columns.
func readRows(r io.Reader, name string, columns []string, add func(cells []string) *cellFault) error {
	rows := sheet.NewReader(name, r)
	names, err := rows.Names()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var faults []datacite.Finding
	fault := func(cell int, column string, code datacite.Code, reason string) {
		faults = append(faults, datacite.Finding{File: name, Line: rows.Line(max(cell, 0)), Column: cell + 1, Path: column,
			Code: code, Reason: reason})
	}
	var at []int
	for _, c := range columns {
		at = append(at, slices.Index(names, c))
	}
	if slices.Contains(at, -1) {
		last := len(columns) - 1
		fault(-1, "", "column", fmt.Sprintf("the table has to name the columns %s and %s", strings.Join(columns[:last], ", "),
			columns[last]))
		return datacite.Invalid(faults...)
	}
	wanted := make([]string, len(columns))
	for n := 0; len(faults) < mostFaults; n++ {
		cells, err := rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			return datacite.Invalid(faults...)
		case errors.Is(err, csv.ErrFieldCount):
			fault(-1, "", "cells", fmt.Sprintf("there are %d cells for %d columns", len(cells), len(names)))
			continue
		case err != nil:
			return err
		case n == mostLookups:
			fault(-1, "", datacite.CodeLimit,
				fmt.Sprintf("the table has more than %d rows; patterns take any number of paths", mostLookups))
			return datacite.Invalid(faults...)
		}
		for i, column := range at {
			wanted[i] = cells[column]
		}
		if f := add(wanted); f != nil {
			fault(at[f.column], columns[f.column], f.code, f.reason)
		}
	}
	return datacite.Invalid(faults...)
}
