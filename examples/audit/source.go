package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/metadata"
)

// wanted are the DOIs of a source. It is opened when they are ranged over, each time.
func wanted(source string) iter.Seq2[dois.Wanted, error] {
	return func(yield func(dois.Wanted, error) bool) {
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
			records(archive.NewFolderReader(os.DirFS(source), nil), yield)
		default:
			file, err := os.Open(source)
			if err != nil {
				yield(dois.Wanted{}, err)
				return
			}
			defer file.Close()
			if strings.EqualFold(filepath.Ext(source), ".csv") {
				lines(file, yield)
				return
			}
			records(archive.NewReader(file, nil), yield)
		}
	}
}

// records are those of an archive.
func records(from *archive.Reader, yield func(dois.Wanted, error) bool) {
	for r, err := range from.All() {
		if err != nil {
			yield(dois.Wanted{}, err)
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
	return dois.Wanted{DOI: r.DOI, Metadata: r}, nil
}

// lines are those of a CSV file, below a header.
func lines(file io.Reader, yield func(dois.Wanted, error) bool) {
	rows := csv.NewReader(file)
	header, err := rows.Read()
	if err != nil {
		yield(dois.Wanted{}, fmt.Errorf("the header: %w", err))
		return
	}
	column := func(name string) int {
		return slices.IndexFunc(header, func(cell string) bool {
			return strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(cell, "\ufeff")), name)
		})
	}
	doi, url, state := column("doi"), column("url"), column("state")
	if doi < 0 || url < 0 && state < 0 {
		yield(dois.Wanted{}, fmt.Errorf("the header is %q; it must name the column doi, and url or state", strings.Join(header, ",")))
		return
	}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return
		}
		var w dois.Wanted
		if err == nil {
			cell := func(i int) string {
				if i < 0 {
					return ""
				}
				return strings.TrimSpace(row[i])
			}
			w = dois.Wanted{DOI: cell(doi), URL: cell(url), State: dois.State(cell(state))}
			if line, _ := rows.FieldPos(0); w.DOI == "" {
				err = fmt.Errorf("line %d has no DOI", line)
			}
		}
		if !yield(w, err) || err != nil {
			return
		}
	}
}
