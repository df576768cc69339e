package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/metadata/table"
)

// isTable reports whether a source is a table, CSV or .xlsx.
func isTable(source string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".txt", ".xlsx"}, strings.ToLower(filepath.Ext(source)))
}

// wanted are the DOIs of a source. It is opened when they are ranged over, each time. Faults
// of a table are all told before the error that ends it.
func (a *auditor) wanted() iter.Seq2[dois.Wanted, error] {
	return func(yield func(dois.Wanted, error) bool) {
		source := a.source
		info, err := os.Stat(source)
		if err != nil {
			yield(dois.Wanted{}, err)
			return
		}
		files, _ := filepath.Glob(filepath.Join(source, "*.xml"))
		switch {
		case info.IsDir() && len(files) > 0:
			documents(files, yield)
		case info.IsDir():
			records(source, archive.NewFolderReader(os.DirFS(source), nil), yield)
		default:
			file, err := os.Open(source)
			if err != nil {
				yield(dois.Wanted{}, err)
				return
			}
			defer file.Close()
			if isTable(source) {
				a.items(file, yield)
				return
			}
			records(source, archive.NewReader(file, nil), yield)
		}
	}
}

// records are those of an archive.
func records(source string, from *archive.Reader, yield func(dois.Wanted, error) bool) {
	for r, err := range from.All() {
		if err != nil {
			yield(dois.Wanted{}, program.OfFile(source, err))
			return
		}
		if !yield(dois.Wanted{DOI: r.DOI, URL: r.URL, State: r.State, Metadata: &r.Record}, nil) {
			return
		}
	}
}

// documents are files of metadata XML, which name their DOIs.
func documents(files []string, yield func(dois.Wanted, error) bool) {
	for _, name := range files {
		w, err := document(name)
		if !yield(w, err) || err != nil {
			return
		}
	}
}

func document(name string) (dois.Wanted, error) {
	file, err := os.Open(name)
	if err != nil {
		return dois.Wanted{}, err
	}
	defer file.Close()
	r, err := metadata.ParseXML(file)
	switch {
	case err != nil:
		return dois.Wanted{}, fmt.Errorf("%s: %w", name, err)
	case r.DOI == "":
		return dois.Wanted{}, fmt.Errorf("%s: the identifier is empty, so its DOI is not known", name)
	}
	return dois.Wanted{DOI: r.DOI, Metadata: r, Place: name}, nil
}

// mostFaults is how many are told.
const mostFaults = 100

// resultColumns are those that a result table of datacite register has beside the ones of items.
var resultColumns = []string{"result", "error", "registered"}

// items are the rows of a table. If some have faults, the last thing is an error, after
// which nothing was compared or written yet.
func (a *auditor) items(file *os.File, yield func(dois.Wanted, error) bool) {
	r, err := table.NewReader(filepath.Base(file.Name()), file, &table.Options{Others: slices.Concat(resultColumns, a.passOver), Partial: true})
	if errors.Is(err, table.ErrUnknownColumn) {
		err = fmt.Errorf("%w; -pass-over names columns that are not compared", err)
	}
	if err == nil && !r.Has("doi") {
		err = fmt.Errorf("%s has no column doi", file.Name())
	}
	if err != nil {
		yield(dois.Wanted{}, err)
		return
	}
	if sheets := r.Sheets(); len(sheets) > 1 {
		a.p.Say("%s: only the sheet %q is read; %s ignored", file.Name(), sheets[0], program.Count(len(sheets)-1, "other"))
	}
	faults, faulty, warnings := 0, 0, 0
	for row, err := range r.All() {
		if err != nil {
			yield(dois.Wanted{}, err)
			return
		}
		if row.DOI == "" && len(row.Findings) == 0 {
			row.Findings = append(row.Findings, datacite.Finding{File: row.File, Line: row.Line, Path: "doi", Code: "missing", Reason: "is empty; datacite register gives names to items"})
		}
		if row.Err() != nil {
			faulty++
		}
		for _, f := range row.Findings {
			if f.Warning {
				if warnings++; warnings <= mostFaults {
					a.p.Say("%s", f)
				}
				continue
			}
			if faults++; faults <= mostFaults {
				a.p.Warn("error: %s", f)
			}
		}
		if faulty == 0 && !yield(dois.Wanted{DOI: row.DOI, URL: row.URL, State: dois.State(row.State), Metadata: row.Record, Place: fmt.Sprintf("%s, line %d", row.File, row.Line)}, nil) {
			return
		}
	}
	if warnings > mostFaults {
		a.p.Say("and %s", program.Count(warnings-mostFaults, "more warning"))
	}
	if faulty > 0 {
		shown := "all above"
		if faults > mostFaults {
			shown = fmt.Sprintf("the first %d above", mostFaults)
		}
		yield(dois.Wanted{}, program.Wrong(fmt.Errorf("%s: %s in %s, %s; nothing was compared or written", file.Name(), program.Count(faults, "fault"), program.Count(faulty, "row"), shown)))
	}
}
