package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// A checkFn lets each shard be written, with an empty block, if the logs are fit for a table.
type checkFn struct {
	Rules  rules
	Shards int
}

func (f *checkFn) ProcessElement(ctx context.Context, _ int, next func(*[]byte) bool, allow func(int, []byte)) error {
	all, err := together(next)
	if err != nil {
		return err
	}
	_, opts, err := f.Rules.reading(ctx)
	if err != nil {
		return err
	}
	if err := cmp.Or(all.Check(opts.Tolerance), f.Rules.checkGaps(opts, all.Files)); err != nil {
		return err
	}
	outcome := map[string]int64{"lines about other pages": all.Other}
	for _, c := range all.Faults {
		outcome["lines left out: "+string(c.Code)] = c.Lines
		for _, first := range c.First {
			log.Warnf(ctx, "left out: %v", first)
		}
	}
	for _, file := range all.Files {
		if file.Lines() == 0 {
			outcome["logs that are empty"]++
			log.Warnf(ctx, "%s is empty", file.Name)
		}
	}
	for _, o := range all.Offsets {
		log.Warnf(ctx, "%d lines have the offset %s from UTC, which %s has not at that time; the first in %s, line %d",
			o.Lines, o, opts.Location, o.First.File, o.First.Line)
	}
	tell(ctx, outcome)
	for shard := range f.Shards {
		allow(shard, nil)
	}
	return nil
}

// together is the summary of all logs. Their parts have numbered lines from their own beginning.
func together(next func(*[]byte) bool) (all logs.Stats, err error) {
	var parts []part
	for data := new([]byte); next(data); {
		var p part
		if err := json.Unmarshal(*data, &p); err != nil {
			return all, err
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Begin, b.Begin)) })
	var last *logs.FileStats
	for i, p := range parts {
		if i > 0 && p.Name == parts[i-1].Name && p.Begin == parts[i-1].Begin {
			return all, fmt.Errorf("%s is given twice, so its accesses would count twice", p.Name)
		}
		file := &p.Lines.Files[0]
		if p.Begin > 0 {
			p.number(int(last.Lines()) - 1) // the first line is the one before it
			add(last, file)
			p.Lines.Files = nil
		}
		if all.Add(p.Lines); p.Begin == 0 {
			last = &all.Files[len(all.Files)-1]
		}
	}
	return all, nil
}

// number adds to the numbers of lines.
func (p *part) number(before int) {
	for _, c := range p.Lines.Faults {
		for i := range c.First {
			c.First[i].Line += before
		}
	}
	for i := range p.Lines.Offsets {
		p.Lines.Offsets[i].First.Line += before
	}
}

// add adds to the summary of a log that of its next part.
func add(to, next *logs.FileStats) {
	to.Events += next.Events
	to.Comments += next.Comments
	to.Other += next.Other
	to.Faulty += next.Faulty
	for hour, some := range next.Hours {
		to.Hours[hour] = to.Hours[hour] || some
	}
}

// checkGaps refuses logs of a folder, which are those of a server, that have nothing of a long time.
func (r *rules) checkGaps(opts *logs.Options, files []logs.FileStats) error {
	if r.Gap == 0 {
		return nil
	}
	folders := map[string][]logs.FileStats{}
	for _, f := range files {
		folder := path.Dir(f.Name)
		folders[folder] = append(folders[folder], f)
	}
	var missing []string
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		for _, g := range opts.Gaps(r.Gap, folders[folder]...) {
			missing = append(missing, fmt.Sprintf("%s: none from %s to %s", folder, g.From.Format(time.RFC3339), g.Until.Format(time.RFC3339)))
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("logs seem to be missing; give them, or a longer -gap: %s", strings.Join(missing, "; "))
}

// A writeFn writes a shard of the table: all rows of some datasets, sorted.
type writeFn struct {
	Rules  rules
	Shards int
	Table  string
}

func (f *writeFn) ProcessElement(ctx context.Context, shard int, rows, about func(*[]byte) bool) (err error) {
	descriptions := &logs.Descriptions{}
	defer descriptions.Close() // they have been read
	var fault error
	err = unpacked(about, func(b *block) bool {
		fault = descriptions.Add(b.description())
		return fault == nil
	})
	if err := cmp.Or(fault, err); err != nil {
		return err
	}
	datasets := reports.Group(f.rows(rows), &reports.GroupOptions{MergeRepeats: true, Memory: partMemory})
	name := shardName(f.Table, shard, f.Shards)
	return writeFile(ctx, name, func(out io.Writer) error { return writeTable(out, f.complete(descriptions.Describe(datasets))) })
}

func (f *writeFn) rows(next func(*[]byte) bool) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		if err := unpacked(next, func(b *block) bool { return yield(b.row(), nil) }); err != nil {
			yield(reports.Row{}, err)
		}
	}
}

// complete fills in -platform and -publisher.
func (f *writeFn) complete(datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for d, err := range datasets {
			d.Title, d.Platform = strings.TrimSpace(d.Title), strings.TrimSpace(f.Rules.Platform)
			d.Publisher = strings.TrimSpace(cmp.Or(d.Publisher, f.Rules.Publisher))
			if !yield(d, err) {
				return
			}
		}
	}
}

// shardName is the name of a table, or of a part of it.
func shardName(table string, shard, shards int) string {
	if shards == 1 {
		return table
	}
	return fmt.Sprintf("%s-%05d-of-%05d%s", strings.TrimSuffix(table, path.Ext(table)), shard, shards, path.Ext(table))
}

// writeFile writes a file that has its name when it is whole. A worker that was given up may still write, too.
func writeFile(ctx context.Context, name string, content func(io.Writer) error) (err error) {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	unfinished := fmt.Sprintf("%s.%x", name, rand.Uint64())
	file, err := files.OpenWrite(ctx, unfinished)
	if err != nil {
		return err
	}
	if err := errors.Join(content(file), file.Close()); err != nil {
		if remover, ok := files.(filesystem.Remover); ok {
			err = errors.Join(err, remover.Remove(ctx, unfinished))
		}
		return err
	}
	return filesystem.Rename(ctx, files, unfinished, name)
}

// writeTable writes a table as datacite usage count does.
func writeTable(out io.Writer, datasets iter.Seq2[reports.Dataset, error]) error {
	if _, err := io.WriteString(out, byteOrderMark); err != nil {
		return err
	}
	w := csv.NewWriter(out) // it keeps its first error
	_ = w.Write([]string{"doi", "title", "year", "uri", "publisher", "platform", "metric", "access", "country", "count"})
	for d, err := range datasets {
		if err != nil {
			return err
		}
		texts := []string{d.DatasetID[0].Value, d.Title, d.YOP, d.URI, d.Publisher, d.Platform}
		for i, text := range texts {
			texts[i] = inert(text)
		}
		for _, i := range d.Performance[0].Instance {
			left := i.Count
			for _, c := range append(slices.Clone(i.CountryCounts), reports.CountryCount{}) {
				n := c.Count
				if c.Country == "" {
					n = left // those without a country
				}
				if left -= c.Count; n > 0 {
					_ = w.Write(append(slices.Clip(texts), string(i.MetricType), string(i.AccessMethod), c.Country, strconv.FormatInt(n, 10)))
				}
			}
		}
	}
	w.Flush()
	return w.Error()
}

// byteOrderMark lets spreadsheet programs read the table as UTF-8.
const byteOrderMark = "\ufeff"

// inert returns a text with an apostrophe in front if spreadsheet programs would take it for a formula.
// Programs that read the table remove it.
func inert(text string) string {
	start, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, "'"))
	if strings.ContainsRune("=+-@＝＋－＠\t\r\n", start) && start != utf8.RuneError {
		return "'" + text
	}
	return text
}
