package main

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/internal/csvrows"
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
	return dois.Wanted{DOI: r.DOI, Metadata: r, Place: name}, nil
}

// lines are those of a CSV file, below a header.
func lines(file *os.File, yield func(dois.Wanted, error) bool) {
	table := csvrows.NewReader(file)
	header, err := table.Names()
	if err != nil {
		yield(dois.Wanted{}, fmt.Errorf("%s: the header: %w", file.Name(), err))
		return
	}
	doi, url, state := slices.Index(header, "doi"), slices.Index(header, "url"), slices.Index(header, "state")
	if doi < 0 || url < 0 && state < 0 {
		yield(dois.Wanted{}, fmt.Errorf("%s: the header is %q; it must name the column doi, and url or state", file.Name(), strings.Join(header, ",")))
		return
	}
	for {
		row, err := table.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			yield(dois.Wanted{}, fmt.Errorf("%s: %w", file.Name(), err))
			return
		}
		cell := func(i int) string {
			if i < 0 {
				return ""
			}
			return strings.TrimSpace(row[i])
		}
		place := fmt.Sprintf("%s, line %d", file.Name(), table.Line(0))
		if !yield(dois.Wanted{DOI: cell(doi), URL: cell(url), State: dois.State(cell(state)), Place: place}, nil) {
			return
		}
	}
}
