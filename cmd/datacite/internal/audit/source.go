package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/metadata"
)

// wanted are the DOIs of a source, which has one at least: without any, all DOIs of the service would be
// extra. It is opened when they are ranged over, each time. Faults of a table are all printed before the
// error that ends it.
func (c *command) wanted(ctx context.Context) iter.Seq2[dois.Wanted, error] {
	return func(yield func(dois.Wanted, error) bool) {
		some := false
		for w, err := range c.read(ctx) {
			some = true
			if !yield(w, err) {
				return
			}
		}
		if !some {
			yield(dois.Wanted{}, shell.Wrong(fmt.Errorf("%s has no records; nothing was compared", c.source)))
		}
	}
}

// read reads the source.
func (c *command) read(ctx context.Context) iter.Seq2[dois.Wanted, error] {
	return func(yield func(dois.Wanted, error) bool) {
		source := c.source
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
			if isTable(source) {
				c.items(ctx, yield)
				return
			}
			file, err := os.Open(source)
			if err != nil {
				yield(dois.Wanted{}, err)
				return
			}
			defer file.Close()
			if strings.EqualFold(filepath.Ext(source), ".xml") {
				yield(dois.Wanted{}, fmt.Errorf("%s is one file of metadata XML; give the folder with all of them", source))
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
			if _, ofFile := errors.AsType[*fs.PathError](err); !ofFile {
				err = fmt.Errorf("%w; datacite harvest writes records", err)
			}
			yield(dois.Wanted{}, shell.OfFile(source, err))
			return
		}
		if err := table.CheckRecord(r); err != nil {
			yield(dois.Wanted{}, shell.OfFile(source, err))
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

// items are the rows of a table. If some have faults, the last thing is an error, after
// which nothing was compared or written yet.
func (c *command) items(ctx context.Context, yield func(dois.Wanted, error) bool) {
	r, file, err := table.Open(c.source, &table.Options{Others: slices.Concat(table.SearchColumns, table.ResultColumns, c.passOver), Partial: true})
	if err != nil {
		yield(dois.Wanted{}, err)
		return
	}
	defer file.Close()
	if !r.Has("doi") {
		yield(dois.Wanted{}, fmt.Errorf("%s has no column doi", c.source))
		return
	}
	table.SaySheets(c.Shell, c.source, r)
	faults, faulty := 0, 0
	look := table.Look{Shell: c.Shell, Client: c.client}
	for row, err := range r.All() {
		if err != nil {
			yield(dois.Wanted{}, err)
			return
		}
		if row.DOI == "" && len(row.Findings) == 0 {
			row.Findings = append(row.Findings, datacite.Finding{File: row.File, Line: row.Line, Path: "doi", Code: "missing", Reason: "is empty; datacite register gives names to records"})
		}
		look.At(ctx, row)
		table.PrintFindings(c.Shell, row)
		if invalid, ok := errors.AsType[*datacite.ValidationError](row.Err()); ok {
			faulty++
			for _, f := range invalid.Findings {
				if !f.Warning {
					faults++
				}
			}
		}
		if faulty == 0 && !yield(dois.Wanted{DOI: row.DOI, URL: row.URL, State: dois.State(row.State), Metadata: row.Record, Place: table.Place(row)}, nil) {
			return
		}
	}
	if faulty > 0 {
		yield(dois.Wanted{}, shell.Wrong(fmt.Errorf("%s: %s in %s, all above; nothing was compared or written", c.source, shell.Count(faults, "fault"), shell.Count(faulty, "row"))))
	}
}
