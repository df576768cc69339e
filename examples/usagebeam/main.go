// Command usagebeam counts the usage of a month on many machines. It is a pipeline of
// Apache Beam that reads logs and writes a table of counts, which datacite usage send submits:
//
//	cd examples/usagebeam
//	go run . -month 2026-10 -timezone Europe/Berlin -o counts.csv logs/*.log.gz
//	datacite usage send counts.csv --creator "My Repository" --month 2026-10 --platform "My Portal" --publisher "My University" --service test
//
// -h lists the flags. Titles that logs of Dataverse or Dryad have come into the table. If more
// lines than -bad-lines allows cannot be read, or logs are missing, no table is written. Keep the
// logs of each server in a folder of its own: missing logs are noticed by folder.
//
// Without further flags everything runs in this process, on prism, Beam's embedded
// runner, which is for trials: it holds all events in memory, and costs some 20 times as
// much as datacite usage count. Any other runner takes the same pipeline. Its machines need to see all
// files:
//
//	go run . -runner flink -endpoint localhost:8099 -month 2026-10 -timezone UTC -o gs://bucket/counts.csv 'gs://bucket/logs/*'
//
// The counts are those of counter.Count. The rows of the table come in no order.
package main

import (
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
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/datacite-go/datacite-go"
)

func main() {
	beamlog.SetupLogging("warn", "text")
	var job job
	job.addFlags(flag.CommandLine)
	flag.Parse()
	beam.Init() // the copies of this program on other machines go no further
	job.logs = flag.Args()
	ctx := context.Background()
	if err := job.check(ctx); err != nil {
		exit(2, err)
	}
	p, s := beam.NewPipelineWithRoot()
	job.build(s)
	result, err := beamx.RunWithMetrics(ctx, p)
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
}

// addFlags adds the flags of the job. Beam has others, such as -zone, which is Google's.
func (j *job) addFlags(to *flag.FlagSet) {
	r := &j.rules
	to.StringVar(&r.Month, "month", "", "`month` to count, such as 2026-10")
	to.StringVar(&r.Zone, "timezone", "", "time `zone` of the repository, in which the month begins, such as Europe/Berlin or UTC")
	to.StringVar(&r.Format, "log-format", "dataverse", "`format` of the logs: dataverse, combined or json")
	to.StringVar(&r.Layout, "layout", "", "for the format combined: the `text` that LogFormat (Apache) or log_format (nginx) has in the configuration of the web server; common ones are known")
	to.StringVar(&r.Investigations, "investigations", "", "`pattern` that is found in paths of investigations")
	to.StringVar(&r.Requests, "requests", "", "`pattern` that is found in paths of requests")
	to.StringVar(&r.Paths, "paths", "", "`file` .csv with the columns path, doi and kind (investigation or request), for paths without a DOI")
	to.StringVar(&r.DOIs, "dois", "", "`file` .csv with the columns name and doi: the DOI of what the first group of a pattern finds")
	to.StringVar(&r.GeoIP, "geoip", "", "`file` .mmdb with the countries of addresses; no countries without it")
	to.DurationVar(&r.Gap, "gap", 24*time.Hour, "refuse logs of a folder that have no access for this `time`, such as 72h; 0 refuses none")
	to.StringVar(&j.table, "o", "counts.csv", "`file` for the table of counts, .csv")
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
	}
	_, _, err := j.rules.reading(ctx)
	return err
}
