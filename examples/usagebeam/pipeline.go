package main

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/datacite-go/datacite-go/reports/counter"
)

func init() {
	register.DoFn3x1[context.Context, fileio.FileMetadata, func(source), error](&findFn{})
	register.DoFn6x1[context.Context, *sdf.LockRTracker, source, func(int, []byte), func(int, []byte), func([]byte), error](&readFn{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(int, []byte), error](&countFn{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(int, []byte), error](&checkFn{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, error](&writeFn{})
	register.Emitter1[source]()
	register.Emitter1[[]byte]()
	register.Emitter2[int, []byte]()
	register.Iter1[[]byte]()
	beam.RegisterType(reflect.TypeFor[source]())
}

// build adds the steps of the count to a pipeline. Between them, the engine moves blocks: packed records that go to
// one place. Their number grows with ranges of logs, parts and shards, and not with lines.
func (j *job) build(s beam.Scope) {
	in := j.read(s, j.logs)
	j.write(s, j.count(s, in.accesses), in)
}

// input is what is in logs, as blocks.
type input struct {
	accesses     beam.PCollection // by part
	descriptions beam.PCollection // by shard
	summaries    beam.PCollection // of each range
}

func (j *job) read(s beam.Scope, logs []string) (in input) {
	names := fileio.MatchAll(s, beam.CreateList(s, logs), fileio.MatchEmptyDisallow())
	sources := beam.Reshuffle(s, beam.ParDo(s, &findFn{}, beam.Reshuffle(s, names)))
	reading := &readFn{Rules: j.rules, Parts: j.parts, Shards: j.shards, Block: j.block}
	in.accesses, in.descriptions, in.summaries = beam.ParDo3(s, reading, sources)
	return in
}

// count returns the rows of each part, by shard.
func (j *job) count(s beam.Scope, accesses beam.PCollection) beam.PCollection {
	return beam.ParDo(s, &countFn{Rules: j.rules, Shards: j.shards}, beam.GroupByKey(s, accesses))
}

// write adds up the rows and writes the shards, when all logs are known to be fit for it.
func (j *job) write(s beam.Scope, rows beam.PCollection, in input) {
	checked := beam.ParDo(s, &checkFn{Rules: j.rules, Shards: j.shards}, beam.GroupByKey(s, beam.AddFixedKey(s, in.summaries)))
	shards := beam.CoGroupByKey(s, beam.Flatten(s, checked, rows), in.descriptions)
	beam.ParDo0(s, &writeFn{Rules: j.rules, Shards: j.shards, Table: j.table}, shards)
}

// tell adds to the counts of what became of events and lines, on all machines.
func tell(ctx context.Context, outcome map[string]int64) {
	for name, n := range outcome {
		beam.NewCounter(namespace, name).Inc(ctx, n)
	}
}

const namespace = "usage"

func outcomes(sum counter.Tally) map[string]int64 {
	return map[string]int64{
		"events counted": sum.Counted, "double clicks": sum.DoubleClicks, "events of robots": sum.Robots,
		"events of other months": sum.OtherMonths, "events without a dataset": sum.NoDataset,
	}
}

// numbersOf returns the numbers of all machines together.
func numbersOf(result beam.PipelineResult) map[string]int64 {
	sum := outcomes(counter.Tally{})
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == namespace {
			sum[c.Key.Name] += c.Result()
		}
	}
	return sum
}
