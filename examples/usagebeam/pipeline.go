package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"strconv"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/stats"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

func init() {
	register.DoFn3x1[context.Context, fileio.ReadableFile, func(string, counter.Event), error](&readFn{})
	register.DoFn4x0[context.Context, string, func(*counter.Event) bool, func(cell, int64)](&countFn{})
	register.DoFn3x1[context.Context, int, func(*row) bool, error](&writeFn{})
	register.Function2x2(wholeCell)
	register.Function2x1(newRow)
	register.Emitter2[string, counter.Event]()
	register.Emitter2[cell, int64]()
	register.Iter1[counter.Event]()
	register.Iter1[row]()
	beam.RegisterCoder(reflect.TypeFor[counter.Event](), encodeEvent, decodeEvent)
}

// build adds the steps of the count to a pipeline.
func (j *job) build(s beam.Scope) { j.write(s, j.count(s, j.read(s, j.logs))) }

// read returns the events of logs, by counter.Key. Each log is read by one machine.
func (j *job) read(s beam.Scope, logs []string) beam.PCollection {
	files := fileio.ReadMatches(s, fileio.MatchAll(s, beam.CreateList(s, logs), fileio.MatchEmptyDisallow()))
	return beam.ParDo(s, &readFn{Rules: j.rules, JSON: j.json}, beam.Reshuffle(s, files))
}

// count returns the counts of each user, by cell.
func (j *job) count(s beam.Scope, events beam.PCollection) beam.PCollection {
	return beam.ParDo(s, &countFn{Rules: j.rules}, beam.GroupByKey(s, events))
}

// write adds up the counts and writes the table. The first sum is that of some users,
// the second that of all, so that no machine has to add up all users of a popular
// dataset.
func (j *job) write(s beam.Scope, counts beam.PCollection) {
	counts = stats.SumPerKey(s, counts)
	counts = stats.SumPerKey(s, beam.ParDo(s, wholeCell, counts))
	rows := beam.ParDo(s, newRow, counts)
	beam.ParDo0(s, &writeFn{Table: j.table}, beam.GroupByKey(s, beam.AddFixedKey(s, rows)))
}

// rules are the counter.Options that the machines need, as text.
type rules struct {
	Month, Zone string
	Robots      []string // patterns; nil means those that are built in
}

func (r rules) options() (*counter.Options, error) {
	month, err := time.Parse("2006-01", r.Month)
	if err != nil {
		return nil, errors.New("-month has to be a month such as 2026-10")
	}
	opts := &counter.Options{Period: reports.Month(month.Year(), month.Month()), Summary: &counter.Summary{}}
	if opts.Location, err = time.LoadLocation(r.Zone); err != nil {
		return nil, err
	}
	if r.Robots != nil {
		opts.Robots, err = counter.NewAgents(r.Robots...)
	}
	return opts, err
}

// A readFn reads the events of a log.
type readFn struct {
	Rules rules
	JSON  bool
	opts  *counter.Options
}

func (f *readFn) Setup() (err error) {
	f.opts, err = f.Rules.options()
	return err
}

func (f *readFn) ProcessElement(ctx context.Context, log fileio.ReadableFile, emit func(string, counter.Event)) error {
	from := logs.Source{Name: log.Metadata.Path, Open: func() (io.ReadCloser, error) { return log.Open(ctx) }}
	format := logs.Dataverse
	if f.JSON {
		format = logs.JSON
	}
	var lines logs.Summary
	for e, err := range logs.Read([]logs.Source{from}, format, &logs.Options{Summary: &lines}) {
		if err != nil {
			return err
		}
		counter.CountKey([]counter.Event{e}, f.opts)
		if f.opts.Summary.Robots+f.opts.Summary.NoDataset > 0 {
			tell(ctx, *f.opts.Summary) // it never counts, so it stays here
		} else {
			emit(counter.Key(e), e)
		}
	}
	beam.NewCounter(namespace, "lines about other pages").Inc(ctx, lines.Other)
	return nil
}

// A countFn counts the events of one user and one dataset.
type countFn struct {
	Rules rules
	opts  *counter.Options
}

func (f *countFn) Setup() (err error) {
	f.opts, err = f.Rules.options()
	return err
}

func (f *countFn) ProcessElement(ctx context.Context, key string, next func(*counter.Event) bool, emit func(cell, int64)) {
	var events []counter.Event
	for e := new(counter.Event); next(e); e = new(counter.Event) {
		events = append(events, *e)
	}
	for _, r := range counter.CountKey(events, f.opts) {
		emit(cell{DOI: r.DOI, Metric: string(r.Metric), Access: string(r.Access), Country: r.Country, Part: partOf(key)}, r.Count)
	}
	tell(ctx, *f.opts.Summary)
}

// A cell is what a row of the table counts, or the part of it that some users make.
type cell struct {
	DOI, Metric, Access, Country string
	Part                         int64
}

// partOf puts each user into one of 64 parts.
func partOf(key string) int64 {
	hash := fnv.New64a()
	hash.Write([]byte(key))
	return int64(hash.Sum64() % 64)
}

func wholeCell(c cell, n int64) (cell, int64) {
	c.Part = 0
	return c, n
}

// A row is a line of the table.
type row struct{ Cells []string }

var header = row{[]string{"doi", "metric", "access", "country", "count"}}

func newRow(c cell, n int64) row {
	return row{[]string{c.DOI, c.Metric, c.Access, c.Country, strconv.FormatInt(n, 10)}}
}

// A writeFn writes the table.
type writeFn struct{ Table string }

func (f *writeFn) ProcessElement(ctx context.Context, _ int, next func(*row) bool) error {
	files, err := filesystem.New(ctx, f.Table)
	if err != nil {
		return err
	}
	defer files.Close()
	file, err := files.OpenWrite(ctx, f.Table)
	if err != nil {
		return err
	}
	w := csv.NewWriter(file)
	w.Write(header.Cells) // the writer keeps its first error
	for r := new(row); next(r); r = new(row) {
		w.Write(r.Cells)
	}
	w.Flush()
	return errors.Join(w.Error(), file.Close())
}

func encodeEvent(e counter.Event) ([]byte, error) { return json.Marshal(e) }

func decodeEvent(data []byte) (e counter.Event, err error) { return e, json.Unmarshal(data, &e) }

// tell adds to the counts of what became of the events, on all machines.
func tell(ctx context.Context, sum counter.Summary) {
	for name, n := range outcomes(sum) {
		beam.NewCounter(namespace, name).Inc(ctx, n)
	}
}

const namespace = "usage"

func outcomes(sum counter.Summary) map[string]int64 {
	return map[string]int64{
		"events counted": sum.Counted, "double clicks": sum.DoubleClicks, "events of robots": sum.Robots,
		"events of other months": sum.OtherMonths, "events without a dataset": sum.NoDataset,
	}
}

// told returns what all machines told.
func told(result beam.PipelineResult) map[string]int64 {
	sum := outcomes(counter.Summary{})
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == namespace {
			sum[c.Key.Name] += c.Result()
		}
	}
	return sum
}
