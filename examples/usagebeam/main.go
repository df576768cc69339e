// Command usagebeam counts the usage of a month on many machines. It is a pipeline of
// Apache Beam that reads logs and writes a table of counts, which datacite usage send submits:
//
//	cd examples/usagebeam
//	go run . -month 2026-10 -timezone Europe/Berlin -platform "My Portal" -publisher "My University" -o counts.csv logs/*.log.gz
//	datacite usage send counts-*.csv --creator "My Repository" --month 2026-10 --service test
//
// -h lists the flags. README.md says how it works, what it costs, and how to run it on Flink, Spark and Dataflow.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for -timezone on machines without a database of time zones

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// The runners but for Dataflow, and where files lie.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"github.com/datacite-go/datacite-go"
)

func main() {
	beamlog.SetupLogging("warn", "text")
	job := job{block: 1 << 20}
	job.addFlags(flag.CommandLine)
	flag.Parse()
	beam.Init() // the copies of this program on other machines go no further
	job.logs = flag.Args()
	ctx := context.Background()
	if err := job.check(ctx); err != nil {
		exit(2, err)
	}
	if *jobopts.WorkerBinary == "" { // Beam would compile main.go alone
		program, err := os.Executable()
		if err != nil {
			exit(1, err)
		}
		*jobopts.WorkerBinary = program
	}
	p, s := beam.NewPipelineWithRoot()
	job.build(s)
	result, err := beam.Run(ctx, cmp.Or(*runners.Runner, "prism"), p)
	if err != nil {
		exit(1, err)
	}
	sum := numbersOf(result)
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		fmt.Fprintln(os.Stderr, name+":", sum[name])
	}
}

func exit(code int, err error) {
	fmt.Fprintln(os.Stderr, "usagebeam:", err)
	os.Exit(code)
}

// A job says what is counted.
type job struct {
	rules rules
	logs  []string // names of files, or patterns of names
	table string

	parts  int   // in which users are counted
	shards int   // of the table
	block  int64 // bytes of the unit of ranges
}

// addFlags adds the flags of the job. Beam has others, such as -zone, which is Google's.
func (j *job) addFlags(to *flag.FlagSet) {
	r := &j.rules
	r.Tolerance.DOIs = 0.01 // as datacite usage count
	to.StringVar(&r.Month, "month", "", "`month` to count, such as 2026-10")
	to.StringVar(&r.Zone, "timezone", "", "time `zone` of the repository, in which the month begins, such as Europe/Berlin or UTC")
	to.StringVar(&r.Format, "log-format", "dataverse", "`format` of the logs: dataverse, combined or json")
	to.StringVar(&r.Layout, "layout", "", "for the format combined: the `text` that LogFormat (Apache) or log_format (nginx) "+
		"has in the configuration of the web server; common ones are known")
	to.StringVar(&r.Investigations, "investigations", "", "`pattern` that is found in paths of investigations")
	to.StringVar(&r.Requests, "requests", "", "`pattern` that is found in paths of requests")
	to.StringVar(&r.Paths, "paths", "", "`file` .csv with the columns path, doi and kind (investigation or request), for paths without a DOI")
	to.StringVar(&r.DOIs, "dois", "", "`file` .csv with the columns name and doi: the DOI of what the first group of a pattern finds")
	to.StringVar(&r.GeoIP, "geoip", "", "`file` .mmdb with the countries of addresses; no countries without it")
	to.DurationVar(&r.Gap, "gap", 24*time.Hour, "refuse logs of a folder that have no access for this `time`, such as 72h; 0 refuses none")
	to.StringVar(&r.Platform, "platform", "", "`platform` of the datasets")
	to.StringVar(&r.Publisher, "publisher", "", "`publisher` of datasets for which nothing names one")
	to.StringVar(&j.table, "o", "counts.csv", "`file` for the table of counts, .csv; each shard has its number in its name")
	to.IntVar(&j.shards, "shards", 8, "`number` of files into which the table is written")
	to.IntVar(&j.parts, "parts", 64, "`number` of parts in which users are counted: "+
		"some for each processor of all machines, and more if machines lack memory")
	to.Func("proxies", "`addresses` of proxies, such as 198.51.100.0/24, separated by commas", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			network, err := netip.ParsePrefix(part)
			if err != nil {
				return err
			}
			r.Proxies = append(r.Proxies, network)
		}
		return nil
	})
	to.Func("bad-lines", "`share` of lines that may be unreadable and are left out, such as 1%; none without it", func(text string) error {
		number, ok := strings.CutSuffix(text, "%")
		share, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(share >= 0 && share <= 100) {
			return errors.New("not a share such as 2.5%")
		}
		r.Tolerance.Share = share / 100
		return nil
	})
	to.Func("leave-out", "`code` of faults, such as no-dataset: lines with it are left out however many they are; may be repeated", func(code string) error {
		r.Tolerance.Always = append(r.Tolerance.Always, datacite.Code(code))
		return nil
	})
}

// check finds what is wrong before any machine has work.
func (j *job) check(ctx context.Context) error {
	switch {
	case len(j.logs) == 0:
		return errors.New("no logs; -h tells how to use it")
	case slices.Contains(j.logs, "-"):
		return errors.New("- is standard input, which many machines cannot read; name files")
	case !strings.EqualFold(path.Ext(j.table), ".csv"):
		return fmt.Errorf("-o is %q, not a file .csv", j.table)
	case j.shards < 1 || j.shards > 10_000:
		return fmt.Errorf("-shards is %d, not between 1 and 10000", j.shards)
	case j.parts < 1 || j.parts > 100_000:
		return fmt.Errorf("-parts is %d, not between 1 and 100000", j.parts)
	}
	if _, _, err := j.rules.reading(ctx); err != nil {
		return err
	}
	return j.checkTable(ctx)
}

// checkTable refuses a table beside which there are shards of another run that would be taken for its own.
func (j *job) checkTable(ctx context.Context) error {
	files, err := filesystem.New(ctx, j.table)
	if err != nil {
		return err
	}
	defer files.Close()
	stem := strings.TrimSuffix(j.table, path.Ext(j.table))
	found, err := files.List(ctx, stem+"-?????-of-?????"+path.Ext(j.table))
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	for _, name := range found {
		if !strings.HasSuffix(name, fmt.Sprintf("-of-%05d%s", j.shards, path.Ext(j.table))) {
			return fmt.Errorf("-o: %s is of a run with other -shards; remove it, or give another name", name)
		}
	}
	return nil
}
