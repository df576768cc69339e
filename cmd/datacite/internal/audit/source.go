package audit

import (
	"bytes"
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
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// desired are the DOIs of a source, which has one at least: without any, all DOIs of the service would be
// extra. It is opened when they are ranged over, each time. Faults of a table are all printed before the
// error that ends it.
func (c *command) desired(ctx context.Context) iter.Seq2[reconcile.Desired, error] {
	return func(yield func(reconcile.Desired, error) bool) {
		some := false
		for w, err := range c.read(ctx) {
			some = true
			if !yield(w, err) {
				return
			}
		}
		if !some {
			yield(reconcile.Desired{}, shell.Wrong(fmt.Errorf("%s has no records; nothing was compared", c.source)))
		}
	}
}

// read reads the source.
func (c *command) read(ctx context.Context) iter.Seq2[reconcile.Desired, error] {
	return func(yield func(reconcile.Desired, error) bool) {
		source := c.source
		info, err := os.Stat(source)
		if err != nil {
			yield(reconcile.Desired{}, err)
			return
		}
		files, _ := filepath.Glob(filepath.Join(source, "*.xml"))
		switch {
		case info.IsDir() && len(files) > 0:
			documents(files, yield)
		case info.IsDir():
			c.archived(source, archive.NewFolderReader(os.DirFS(source), nil), yield)
		default:
			if isTable(source) {
				c.items(ctx, yield)
				return
			}
			file, err := os.Open(source)
			if err != nil {
				yield(reconcile.Desired{}, err)
				return
			}
			defer file.Close()
			if strings.EqualFold(filepath.Ext(source), ".xml") {
				yield(reconcile.Desired{}, fmt.Errorf("%s is one file of metadata XML; give the folder with all of them", source))
				return
			}
			c.archived(source, archive.NewReader(file, nil), yield)
		}
	}
}

// archived are the records of an archive.
func (c *command) archived(source string, from *archive.Reader, yield func(reconcile.Desired, error) bool) {
	for r, err := range from.All() {
		if err != nil {
			if _, ofFile := errors.AsType[*fs.PathError](err); !ofFile {
				err = fmt.Errorf("%w; datacite harvest writes records", err)
			}
			yield(reconcile.Desired{}, shell.OfFile(source, err))
			return
		}
		src, err := record.Read(r)
		if err != nil {
			yield(reconcile.Desired{}, shell.OfFile(source, err))
			return
		}
		for _, f := range src.Left {
			f.File = strings.TrimPrefix(source+", "+r.DOI, ", ")
			c.Warn("%s", f)
		}
		if !yield(src.Desired(), nil) {
			return
		}
	}
}

// documents are files of metadata XML, which name their DOIs.
func documents(files []string, yield func(reconcile.Desired, error) bool) {
	for _, name := range files {
		w, err := document(name)
		if !yield(w, err) || err != nil {
			return
		}
	}
}

func document(name string) (reconcile.Desired, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return reconcile.Desired{}, err
	}
	r, err := metadata.ParseXML(bytes.NewReader(data))
	switch {
	case err != nil:
		return reconcile.Desired{}, fmt.Errorf("%s: %w", name, err)
	case r.DOI == "":
		return reconcile.Desired{}, fmt.Errorf("%s: the identifier is empty, so its DOI is not known", name)
	}
	return reconcile.Desired{DOI: r.DOI, XML: data, Place: name}, nil
}

// items are the rows of a table. If some have faults, the last thing is an error, after
// which nothing was compared or written yet.
func (c *command) items(ctx context.Context, yield func(reconcile.Desired, error) bool) {
	r, file, err := table.Open(c.source, &table.Options{Others: slices.Concat([]string{"file"}, table.SearchColumns,
		table.ResultColumns, c.passOver), Partial: true})
	if err != nil {
		yield(reconcile.Desired{}, err)
		return
	}
	defer file.Close()
	if !r.Has("doi") {
		yield(reconcile.Desired{}, fmt.Errorf("%s has no column doi", c.source))
		return
	}
	table.SaySheets(c.Shell, c.source, r)
	table.SayOwn(c.Shell, c.source, r)
	faults, faulty := 0, 0
	look := table.Look{Shell: c.Shell, Client: c.records}
	findings := table.Findings{Shell: c.Shell}
	defer findings.End()
	for row, err := range r.All() {
		if err != nil {
			yield(reconcile.Desired{}, err)
			return
		}
		if row.DOI == "" && len(row.Findings) == 0 {
			row.Findings = append(row.Findings,
				datacite.Finding{File: row.File, Line: row.Line, Path: "doi", Code: datacite.CodeMissing,
					Reason: "is empty; datacite register gives names to records"})
		}
		look.At(ctx, row)
		findings.Print(row)
		if invalid, ok := errors.AsType[*datacite.ValidationError](row.Err()); ok {
			faulty++
			for _, f := range invalid.Findings {
				if !f.Warning {
					faults++
				}
			}
		}
		if faulty == 0 && !yield(reconcile.Desired{DOI: row.DOI, URL: row.URL, State: datacite.State(row.State),
			Metadata: row.Record, Place: table.Place(row)}, nil) {
			return
		}
	}
	if faulty > 0 {
		yield(reconcile.Desired{}, shell.Wrong(fmt.Errorf("%s: %s in %s, all above; nothing was compared or written",
			c.source, shell.Count(faults, "fault"), shell.Count(faulty, "row"))))
	}
}
