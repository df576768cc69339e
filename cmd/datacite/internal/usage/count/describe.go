package count

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/reports"
)

// A description is what a record says of a dataset.
type description struct {
	DOI                         string // as [doi.Key] gives it
	Title, Publisher, Year, URL string
	Account                     string // of the repository
	Creators                    []string
}

func describeRecord(r *dois.Record) description {
	d := description{DOI: doi.Key(r.DOI), Title: r.Title(), Publisher: r.Publisher.Name, Year: string(r.PublicationYear),
		URL: r.URL, Account: r.Client}
	for _, c := range r.Creators {
		d.Creators = append(d.Creators, c.Name)
	}
	return d
}

// fill fills in what a dataset lacks.
func (a *description) fill(d *reports.Dataset) {
	d.Title, d.Publisher = cmp.Or(d.Title, a.Title), cmp.Or(d.Publisher, a.Publisher)
	d.YOP, d.URI = cmp.Or(d.YOP, a.Year), cmp.Or(d.URI, a.URL)
	if len(d.PublisherID) == 0 && a.Account != "" {
		d.PublisherID = []reports.TypedValue{{Type: "client-id", Value: a.Account}}
	}
	if len(d.Contributors) == 0 {
		for _, name := range a.Creators {
			d.Contributors = append(d.Contributors, reports.TypedValue{Type: reports.TypeName, Value: name})
		}
	}
}

// A describer finds descriptions, of at most 1,000 names at a time.
type describer struct {
	find  func(ctx context.Context, names []string) (map[string]description, error) // nil without --describe
	close func()

	unknown string // what becomes of datasets of unknown DOIs: keep, leave-out or stop
	missing int64  // of these
	left    int64  // investigations of those that are left out
	first   []string
}

// warn prints which DOIs are not known, with --quiet, too: a path may be no dataset.
func (a *describer) warn(s *shell.Shell) {
	if a.missing == 0 {
		return
	}
	become := "in the report without a title, and the service shows counts of registered DOIs only"
	if a.unknown == "leave-out" {
		become = "left out, with " + shell.Count(a.left, "investigation")
	}
	s.Warn("warning: %s; these datasets are %s", a.missingText(), become)
}

func (a *describer) missingText() string {
	text := fmt.Sprintf("--describe does not know %s: %s", shell.Count(a.missing, "DOI"), strings.Join(a.first, ", "))
	if more := a.missing - int64(len(a.first)); more > 0 {
		text += fmt.Sprintf(" and %s more", shell.Number(more))
	}
	return text
}

// describer is what --describe names.
func (c *command) describer(ctx context.Context) (*describer, error) {
	a := &describer{unknown: c.unknown, close: func() {}}
	switch c.describe {
	case "":
		return a, nil
	case "service":
		service, err := c.flags.Open()
		if err != nil {
			return nil, err
		}
		client, err := dois.NewClient(service.Config)
		a.find = func(ctx context.Context, names []string) (map[string]description, error) {
			return ask(ctx, client, names)
		}
		return a, err
	}
	known, err := openIndex(ctx, c.describe)
	if err != nil {
		return nil, shell.OfFile("--describe "+c.describe, err)
	}
	a.find, a.close = known.find, known.close
	return a, nil
}

// lacks tells whether a dataset needs a description.
func lacks(d *reports.Dataset) bool { return d.Title == "" || d.Publisher == "" }

func keyOf(d *reports.Dataset) string { return doi.Key(d.DatasetID[0].Value) }

// describe fills in titles and publishers that the logs do not have.
func (a *describer) describe(ctx context.Context,
	datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	if a.find == nil {
		return datasets
	}
	return func(yield func(reports.Dataset, error) bool) {
		var batch []reports.Dataset
		flush := func() bool {
			known, err := a.fill(ctx, batch)
			if err != nil {
				yield(reports.Dataset{}, fmt.Errorf("--describe: %w", err))
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
			yield(reports.Dataset{}, shell.Wrong(errors.New(a.missingText())))
		}
	}
}

// fill fills in what datasets lack, and returns those that are reported.
func (a *describer) fill(ctx context.Context, batch []reports.Dataset) ([]reports.Dataset, error) {
	var names []string
	for i := range batch {
		if lacks(&batch[i]) {
			names = append(names, keyOf(&batch[i]))
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
		about, ok := found[keyOf(&d)]
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
	found := map[string]description{}
	opts := &dois.ListOptions{Publisher: true, InBody: true} // a URL has no room for so many
	opts.Page.Size = 1000
	for _, name := range names {
		if !strings.Contains(name, ",") { // where the service ends a name
			opts.IDs = append(opts.IDs, name)
			continue
		}
		record, err := client.Get(ctx, name, &dois.GetOptions{Detail: true})
		switch {
		case err == nil:
			found[name] = describeRecord(record)
		case !errors.Is(err, datacite.ErrNotFound) && !errors.Is(err, datacite.ErrInvalidDOI):
			return nil, err
		}
	}
	for len(opts.IDs) > 0 {
		results, err := client.List(ctx, opts)
		if err != nil {
			return nil, err
		}
		opts.IDs = nil
		for i := range results.Records {
			r := &results.Records[i]
			about := describeRecord(r)
			if !slices.Contains(names, about.DOI) {
				return nil, shell.Failed(fmt.Errorf(
					"the service returned %s, which was not requested: the list of DOIs was lost on the way", about.DOI))
			}
			found[about.DOI] = about
			guessed := slices.ContainsFunc(r.Warnings, func(f datacite.Finding) bool { return f.Code == datacite.CodeAmbiguous })
			if guessed && !opts.Detail {
				opts.IDs = append(opts.IDs, about.DOI) // its XML has the text
			}
		}
		opts.Detail = true
	}
	return found, nil
}

// An index has the descriptions of an archive in a temporary file, and their places in memory: 16
// bytes for each record.
type index struct {
	file   *os.File
	seed   maphash.Seed
	places []place
}

type place struct {
	hash   uint64 // of the DOI
	offset int64
}

// openIndex reads an archive: a file, or the files of a folder.
func openIndex(ctx context.Context, name string) (_ *index, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	var from *archive.Reader
	if info.IsDir() {
		from = archive.NewFolderReader(os.DirFS(name), nil)
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = archive.NewReader(file, nil)
	}
	x := &index{seed: maphash.MakeSeed()}
	if x.file, err = os.CreateTemp("", "datacite-describe-*"); err != nil {
		return nil, err
	}
	if err := x.write(ctx, from); err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

func (x *index) write(ctx context.Context, from *archive.Reader) error {
	to, end := bufio.NewWriter(x.file), int64(0)
	for r, err := range from.All() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		about := describeRecord(r)
		line, err := json.Marshal(about)
		if err != nil {
			return err
		}
		x.places = append(x.places, place{maphash.String(x.seed, about.DOI), end})
		end += int64(len(line))
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
	slices.SortStableFunc(x.places, func(a, b place) int { return cmp.Compare(a.hash, b.hash) })
	return to.Flush()
}

// find finds names. Of several records of one DOI it takes the last one.
func (x *index) find(_ context.Context, names []string) (map[string]description, error) {
	found := map[string]description{}
	for _, name := range names {
		hash := maphash.String(x.seed, name)
		at := sort.Search(len(x.places), func(i int) bool { return x.places[i].hash >= hash })
		for ; at < len(x.places) && x.places[at].hash == hash; at++ {
			var about description
			section := io.NewSectionReader(x.file, x.places[at].offset, math.MaxInt64-x.places[at].offset)
			if err := json.NewDecoder(section).Decode(&about); err != nil {
				return nil, err
			}
			if about.DOI == name {
				found[name] = about
			}
		}
	}
	return found, nil
}

func (x *index) close() {
	_ = x.file.Close() // what it held has been read
	_ = os.Remove(x.file.Name())
}
