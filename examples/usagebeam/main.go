// Command usagebeam counts the usage of a month on many machines. It is a pipeline of
// Apache Beam that reads logs and writes a table of counts, which datacite usage send submits:
//
//	cd examples/usagebeam
//	go run . -month 2026-10 -zone Europe/Berlin -o counts.csv logs/*.log.gz
//	datacite usage send counts.csv --creator "My Repository" --month 2026-10 --platform "My Portal" --publisher "My University" --service test
//
// Logs and flags are those of datacite usage count, except for what one machine does before or after:
// -h lists them. Titles that logs of Dataverse or Dryad have come into the table. If more
// lines than -bad-lines allows cannot be read, or logs are missing, no table is written.
//
// Without further flags everything runs in this process, on prism, Beam's embedded
// runner, which is for trials: it holds all events in memory, and costs some 20 times as
// much as datacite usage count. Any other runner takes the same pipeline. Its machines need to see all
// files, except for the lists of user agents:
//
//	go run . -runner flink -endpoint localhost:8099 -month 2026-10 -o gs://bucket/counts.csv 'gs://bucket/logs/*'
//
// The counts are those of counter.Count. The rows of the table come in no order.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"
	_ "time/tzdata" // for -zone on machines without a database of time zones

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/datacite-go/datacite-go/reports/counter"
)

func main() {
	beamlog.SetupLogging("warn", "text")
	var job job
	flag.CommandLine = job.flags(flag.CommandLine)
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
	sum := told(result)
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
	rules            rules
	robots, machines string
	logs             []string // names of files, or patterns of names
	table            string
}

// elsewhere are the flags of datacite usage count that this program has not, and why.
var elsewhere = map[string]string{
	"creator": "datacite usage send takes it", "platform": "datacite usage send takes it", "publisher": "datacite usage send takes it",
	"output": "it is -o", "describe": "machines would ask the service for the same DOIs; titles come from the logs", "unknown": "it goes with --describe",
	"memory": "the runner decides about the memory of its machines", "days": "each run reads all logs", "quiet": "what was left out is always told",
	"until": "the table is of a whole month; datacite usage count counts a part of one", "service": "counting needs none", "login": "counting needs none",
	"rate": "counting needs no service", "timezone": "it is -zone", "format": "it is -log-format", "json": "it is -log-format json",
}

// flags returns those of the job and of Beam. A name that both have, such as -zone, is the
// job's, as for datacite usage count: in Google's zone, workers run by -worker_zone, too.
func (j *job) flags(ofBeam *flag.FlagSet) *flag.FlagSet {
	flags := flag.NewFlagSet("usagebeam", flag.ExitOnError)
	j.rules.Logs.AddFlags(flags)
	flags.StringVar(&j.rules.Month, "month", "", "`month` to count, such as 2026-10")
	flags.StringVar(&j.rules.GeoIP, "geoip", "", "`file` .mmdb with the countries of addresses, which all machines see; no countries without it")
	flags.DurationVar(&j.rules.Gap, "gap", 24*time.Hour, "refuse logs of a busy server that have no access for this `time`, such as 72h; 0 refuses none")
	flags.StringVar(&j.robots, "robots", "", "`file` of user agents that are not counted, as COUNTER-Robots publishes it or one pattern a line; that of COUNTER is built in")
	flags.StringVar(&j.machines, "machines", "", "`file` of user agents that count as machines, in the same form")
	flags.StringVar(&j.table, "o", "counts.csv", "`file` for the table of counts, .csv or .xlsx")
	for name, why := range elsewhere {
		flags.BoolFunc(name, "not here: "+why, func(string) error { return errors.New(why) })
	}
	ofBeam.VisitAll(func(f *flag.Flag) {
		if flags.Lookup(f.Name) == nil {
			flags.Var(f.Value, f.Name, f.Usage)
		}
	})
	return flags
}

// check finds what is wrong before any machine has work, and reads the lists of user agents.
func (j *job) check(ctx context.Context) (err error) {
	switch {
	case len(j.logs) == 0:
		return errors.New("no logs; -h tells how to use it")
	case slices.Contains(j.logs, "-"):
		return errors.New("- is standard input, which many machines cannot read; name files")
	}
	if j.rules.Robots, err = patterns("-robots", j.robots, counter.GeneralPurpose()...); err != nil {
		return err
	}
	if j.rules.Machines, err = patterns("-machines", j.machines); err != nil {
		return err
	}
	if _, err := j.rules.options(); err != nil {
		return err
	}
	_, _, err = j.rules.reading(ctx)
	return err
}

// patterns reads a list of user agents, without those that match some; nil without a name.
func patterns(flag, name string, without ...string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer file.Close()
	list, err := counter.ReadAgents(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", flag, name, err)
	}
	if len(list.Patterns()) == 0 {
		return nil, fmt.Errorf("%s: %s has no pattern", flag, name)
	}
	return list.Without(without...).Patterns(), nil
}
