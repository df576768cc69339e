package upgrade

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

// columns are those of the table of what cannot be derived. Value is for people; file, or doi where that is
// empty, and property say what it is for.
var columns = []string{"file", "doi", "property", "value", "stored", "reason"}

// A tableFile is a table that is being written; nil if none is wanted.
type tableFile struct {
	file *shell.File
	rows sheet.RowWriter
	n    int
	err  error // the first one
}

func newTable(flag, name string, columns []string) (*tableFile, error) {
	if name == "" {
		return nil, nil
	}
	if !table.IsOutput(name) {
		return nil, fmt.Errorf("%s is %s, not a name that ends in .csv, .tsv or .xlsx", flag, name)
	}
	const readable = 0o644
	file, err := shell.CreateFile(name, readable)
	if err != nil {
		return nil, err
	}
	var layout sheet.Layout
	if strings.EqualFold(filepath.Ext(name), ".tsv") {
		layout.Comma = '\t'
	}
	rows, err := sheet.Create(file, table.IsSpreadsheet(name), layout)
	if err == nil {
		err = rows.Write(columns)
	}
	if err != nil {
		file.Discard()
		return nil, err
	}
	return &tableFile{file: file, rows: rows}, nil
}

func (t *tableFile) row(cells ...string) {
	t.n++
	t.err = cmp.Or(t.err, t.rows.Write(cells))
}

// addMissing adds what a document lacks, and the types of its dates that were only assumed.
func (t *tableFile) addMissing(o *outcome, given map[string]string) {
	if t == nil {
		return
	}
	add := func(path, value, stored, reason string) { t.row(o.File, o.DOI, path, value, stored, reason) }
	for _, f := range o.Faults {
		if f.Path != "" {
			add(f.Path, "", f.Value, f.Reason)
		}
	}
	for _, d := range o.Derived {
		if _, isGiven := given[d.Path]; (d.Old == "StartDate" || d.Old == "EndDate") && !isGiven {
			add(d.Path, d.New, d.Old, "which type of date it is, was not recorded; Other is right, too")
		}
	}
}

// resultColumns are those of the table of --output: what became of each DOI.
var resultColumns = []string{"doi", "kernel", "result", "derived", "error"}

func (t *tableFile) addResult(o *outcome) {
	if t == nil {
		return
	}
	var derived, faults []string
	for _, d := range o.Derived {
		if !isOfAll[d.Path] {
			derived = append(derived, metadata.Derived(d).String())
		}
	}
	for _, f := range o.Faults {
		faults = append(faults, datacite.Finding{Path: f.Path, Line: f.Line, Reason: f.Reason}.String())
	}
	t.row(o.DOI, o.Kernel, o.Result, strings.Join(derived, "; "), strings.Join(faults, "; "))
}

func (t *tableFile) discard() {
	if t != nil {
		t.file.Discard()
	}
}

// save saves the table, unless it has no rows: empty says what that means.
func (t *tableFile) save(s *shell.Shell, empty string) error {
	switch {
	case t == nil:
		return nil
	case t.n == 0:
		s.Say("%s; %s is not written", empty, t.file.Name)
		return nil
	}
	if err := cmp.Or(t.err, t.rows.Close()); err != nil {
		return shell.Refused(fmt.Errorf("%s was not written: %w", t.file.Name, err))
	}
	return s.Keep(t.file)
}

// values are those of --values, by the file or DOI of a document.
type values struct {
	name   string
	byName map[string]map[string]string // paths and values
	lines  map[string]int               // where each document is named first
	used   map[string]bool              // the documents that there were
}

// readValues reads the table of --values.
func readValues(name string) (*values, error) {
	v := &values{name: name, byName: map[string]map[string]string{}, lines: map[string]int{}, used: map[string]bool{}}
	if name == "" {
		return v, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := sheet.NewReader(filepath.Base(name), file)
	heads, err := rows.Names()
	if err != nil && err != io.EOF {
		return nil, err
	}
	at := func(column string) int { return slices.Index(heads, column) }
	if at("property") < 0 || at("value") < 0 || at("file")+at("doi") < -1 {
		return nil, fmt.Errorf("%s: the columns are %s; --missing writes the table", name, strings.Join(columns, ", "))
	}
	var faults []datacite.Finding
	for {
		cells, err := rows.Read()
		if err == io.EOF {
			return v, datacite.Invalid(faults...)
		}
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			return nil, err
		}
		cell := func(column string) string {
			if i := at(column); i >= 0 && i < len(cells) {
				return strings.TrimSpace(cells[i])
			}
			return ""
		}
		if reason := v.add(cell, rows.Line(0)); reason != "" {
			faults = append(faults, datacite.Finding{File: filepath.Base(name), Line: rows.Line(0), Code: datacite.CodeValue,
				Reason: reason})
		}
	}
}

// add adds a row, and returns what is wrong with it.
func (v *values) add(cell func(string) string, line int) (fault string) {
	key, property, value := cell("file"), cell("property"), cell("value")
	if key == "" && cell("doi") != "" {
		key = doiKey(cell("doi"))
	}
	switch {
	case value == "":
		return ""
	case key == "" || property == "":
		return "a value needs its property, and its file or DOI"
	}
	if v.byName[key] == nil {
		v.byName[key], v.lines[key] = map[string]string{}, line
	}
	if other, ok := v.byName[key][property]; ok && other != value {
		return fmt.Sprintf("%s has the value %q in another row", property, other)
	}
	v.byName[key][property] = value
	return ""
}

// doiKey is the key of a DOI, which is no file's name.
func doiKey(text string) string {
	if name, err := doi.Parse(text); err == nil {
		text = name
	}
	return "\x00" + doi.Key(text)
}

// of returns the values for a document.
func (v *values) of(file, name string) map[string]string {
	all := map[string]string{}
	for _, key := range []string{doiKey(name), file} {
		v.used[key] = true
		maps.Copy(all, v.byName[key])
	}
	return all
}

// warn names rows for documents that there were not.
func (v *values) warn(s *shell.Shell) {
	n, first := 0, 0
	for key, line := range v.lines {
		if !v.used[key] {
			if n++; first == 0 || line < first {
				first = line
			}
		}
	}
	if n > 0 {
		s.Warn("%s: values for %s that there are not, first in line %d", v.name, shell.Count(n, "document"), first)
	}
}
