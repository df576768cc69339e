package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/reports"
)

// complete fills in -publisher. A report without a dataset is a fault: the wrong logs, or
// the wrong month.
func (in *input) complete(datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		n := 0
		for d, err := range datasets {
			n++
			if d.Publisher == "" {
				d.Publisher = in.publisher
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
		if n == 0 {
			yield(reports.Dataset{}, in.nothing())
		}
	}
}

// nothing says why no access was counted.
func (in *input) nothing() error {
	l, e := in.lines, in.events
	return fmt.Errorf("no access is to be counted: of %d lines, %d are comments or empty, %d neither investigations nor requests, %d cannot be read; of %d accesses, %d are not from %s to %s, %d without a dataset, %d by robots",
		l.Lines(), l.Comments, l.Other, l.Faulty, l.Events, e.OtherMonths, in.period.BeginDate, in.period.EndDate, e.NoDataset, e.Robots)
}

// A description is what a record says of a dataset.
type description struct {
	Title, Publisher, Year, URL string
	Account                     string // of the repository
	Creators                    []string
}

func describeRecord(r *dois.Record) description {
	d := description{Title: r.Title(), Publisher: r.Publisher.Name, Year: string(r.PublicationYear), URL: r.URL, Account: r.Client}
	for _, c := range r.Creators {
		d.Creators = append(d.Creators, c.Name)
	}
	return d
}

// fill fills in what a dataset lacks.
func (a *description) fill(d *reports.Dataset) {
	for _, text := range []struct {
		at   *string
		from string
	}{{&d.Title, a.Title}, {&d.Publisher, a.Publisher}, {&d.YOP, a.Year}, {&d.URI, a.URL}} {
		if *text.at == "" {
			*text.at = text.from
		}
	}
	if len(d.PublisherID) == 0 && a.Account != "" {
		d.PublisherID = []reports.TypedValue{{Type: "client-id", Value: a.Account}}
	}
	if len(d.Contributors) == 0 {
		for _, name := range a.Creators {
			d.Contributors = append(d.Contributors, reports.TypedValue{Type: reports.TypeName, Value: name})
		}
	}
}

// A describer finds descriptions. Names come in order, in lower case, at most 1,000 at
// a time.
type describer struct {
	find  func(ctx context.Context, names []string) (map[string]description, error)
	close func()

	unknown string // what becomes of datasets of unknown DOIs: keep, leave-out or stop
	missing int64  // of these
	left    int64  // investigations of those that are left out
	first   []string
}

// warn prints which DOIs are not known, with -quiet, too: a path may be no dataset.
func (a *describer) warn(out io.Writer) {
	if a.missing == 0 {
		return
	}
	become := "in the report without a title, and the service shows counts of registered DOIs only"
	if a.unknown == "leave-out" {
		become = "left out, with " + several(a.left, "investigation")
	}
	fmt.Fprintf(out, "warning: %s; these datasets are %s\n", a.missingText(), become)
}

func (a *describer) missingText() string {
	text := fmt.Sprintf("-describe does not know %s: %s", several(a.missing, "DOI"), strings.Join(a.first, ", "))
	if more := a.missing - int64(len(a.first)); more > 0 {
		text += fmt.Sprintf(" and %s more", thousands(more))
	}
	return text
}

// describer is what -describe names.
func (p *program) describer(ctx context.Context, s *settings) (*describer, error) {
	switch {
	case s.describe == "":
		return &describer{close: func() {}}, nil
	case strings.Contains(s.describe, "://"):
		client, err := dois.NewClient(datacite.Config{
			Service: datacite.Service{API: s.describe}, UserAgent: "usagelog",
			Username: p.getenv("DATACITE_USERNAME"), Password: p.getenv("DATACITE_PASSWORD"),
		})
		if err != nil {
			return nil, err
		}
		return &describer{unknown: s.unknown, close: func() {}, find: func(ctx context.Context, names []string) (map[string]description, error) {
			return ask(ctx, client, names)
		}}, nil
	}
	a, err := openArchive(ctx, s.describe, s.memory)
	if err == nil {
		a.unknown = s.unknown
	}
	return a, err
}

// lacks tells whether a dataset needs a description.
func lacks(d *reports.Dataset) bool { return d.Title == "" || d.Publisher == "" }

func nameOf(d *reports.Dataset) string { return lower(d.DatasetID[0].Value) }

// lower is how DOIs are compared and sorted.
func lower(name string) string { return string(jsonlex.AppendLower(nil, name)) }

// describe fills in titles and publishers that the logs do not have.
func (a *describer) describe(ctx context.Context, datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	if a.find == nil {
		return datasets
	}
	return func(yield func(reports.Dataset, error) bool) {
		var batch []reports.Dataset
		flush := func() bool {
			known, err := a.fill(ctx, batch)
			if err != nil {
				yield(reports.Dataset{}, fmt.Errorf("-describe: %w", err))
				return false
			}
			for _, d := range known {
				if !yield(d, nil) {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		for d, err := range datasets {
			if err != nil {
				yield(d, err)
				return
			}
			const most = 1000
			if batch = append(batch, d); len(batch) == most && !flush() {
				return
			}
		}
		if flush() && a.unknown == "stop" && a.missing > 0 {
			yield(reports.Dataset{}, errors.New(a.missingText()))
		}
	}
}

// fill fills in what datasets lack, and returns those that are reported.
func (a *describer) fill(ctx context.Context, batch []reports.Dataset) ([]reports.Dataset, error) {
	var names []string
	for i := range batch {
		if lacks(&batch[i]) {
			names = append(names, nameOf(&batch[i]))
		}
	}
	if len(names) == 0 {
		return batch, nil
	}
	found, err := a.find(ctx, names)
	if err != nil {
		return nil, err
	}
	known := batch[:0]
	for _, d := range batch {
		about, ok := found[nameOf(&d)]
		switch {
		case !lacks(&d):
		case ok:
			about.fill(&d)
		default:
			const most = 20
			if a.missing++; len(a.first) < most {
				a.first = append(a.first, d.DatasetID[0].Value)
			}
			if a.unknown == "leave-out" {
				a.left += countsOf(&d)[0]
				continue
			}
		}
		known = append(known, d)
	}
	return known, nil
}

// ask asks the DOI query interface.
func ask(ctx context.Context, client *dois.Client, names []string) (map[string]description, error) {
	opts := &dois.ListOptions{IDs: names, Publisher: true, InBody: true} // a URL has no room for so many
	opts.Page.Size = 1000
	results, err := client.List(ctx, opts)
	if err != nil {
		return nil, &serviceError{err}
	}
	found := map[string]description{}
	asked := map[string]bool{}
	for _, name := range names {
		asked[name] = true
	}
	for i := range results.Records {
		r := &results.Records[i]
		name := lower(r.DOI)
		if !asked[name] {
			return nil, &serviceError{fmt.Errorf("the service returned %s, which nobody asked for: the list of DOIs was lost on the way", r.DOI)}
		}
		found[name] = describeRecord(r)
	}
	return found, nil
}

// openArchive sorts the descriptions in an archive, of any size, by DOI.
func openArchive(ctx context.Context, name string, memory int) (*describer, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("-describe: %w", err)
	}
	var from *archive.Reader
	if info.IsDir() {
		from = archive.NewFolderReader(os.DirFS(name), nil)
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("-describe: %w", err)
		}
		defer file.Close()
		from = archive.NewReader(file, nil)
	}
	sorter := &extsort.Sorter{Memory: memory, Dir: os.TempDir()}
	for r, err := range from.All() {
		if err == nil {
			err = ctx.Err()
		}
		var value []byte
		if err == nil {
			value, err = json.Marshal(&named{r.DOI, describeRecord(r)})
		}
		if err == nil {
			err = sorter.Add([]byte(lower(r.DOI)), value)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("-describe %s: %w", name, err), sorter.Close())
		}
	}
	next, stop := iter.Pull2(sorter.Values())
	a := &archived{next: next}
	a.advance()
	return &describer{find: a.find, close: func() {
		stop()
		_ = sorter.Close() // what it held has been read
	}}, nil
}

// A named description is as it is sorted.
type named struct {
	DOI string
	description
}

// archived are descriptions in the order of their DOIs.
type archived struct {
	next func() ([]byte, error, bool)
	head named // "" at the end
	err  error
}

func (a *archived) advance() {
	value, err, more := a.next()
	a.head = named{}
	if a.err = err; more && err == nil {
		a.err = json.Unmarshal(value, &a.head)
	}
}

// find goes on to the names. Of several records of one DOI it takes the last one.
func (a *archived) find(_ context.Context, names []string) (map[string]description, error) {
	found := map[string]description{}
	for _, name := range names {
		for ; a.head.DOI != "" && lower(a.head.DOI) <= name; a.advance() {
			if lower(a.head.DOI) == name {
				found[name] = a.head.description
			}
		}
	}
	return found, a.err
}
