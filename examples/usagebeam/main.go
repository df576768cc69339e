// Command usagebeam counts the usage of a month on many machines. It is a pipeline of
// Apache Beam that reads logs and writes a table of counts, which usagereport submits:
//
//	cd examples/usagebeam
//	go run . -month 2026-10 -o counts.csv logs/*.log.gz
//	cd ../.. && go run ./examples/usagereport -csv examples/usagebeam/counts.csv -creator "My Repository" -month 2026-10 -platform "My Portal" -publisher "My University"
//
// The logs are those of Dataverse and Dryad or, with -json, events of package counter,
// one a line. They may be compressed with gzip. A line that cannot be read ends the
// pipeline, and no table is written.
//
// Without further flags everything runs in this process, on prism, Beam's embedded
// runner. Any other runner takes the same pipeline. Its machines need to see the files:
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

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/datacite-go/datacite-go/reports/counter"
)

func main() {
	beamlog.SetupLogging("warn", "text")
	var job job
	flag.StringVar(&job.rules.Month, "month", "", "`month` to count, such as 2026-10")
	flag.StringVar(&job.rules.Zone, "timezone", "UTC", "time `zone` of the platform, such as Europe/Berlin")
	flag.BoolVar(&job.json, "json", false, "the logs are events of package counter, one a line")
	flag.StringVar(&job.table, "o", "counts.csv", "`file` for the table of counts")
	robots := flag.String("robots", "", "`file` with the robots, JSON or text; without it a short list that is built in")
	flag.Parse()
	beam.Init() // the copies of this program on other machines go no further
	job.logs = flag.Args()
	if err := job.check(*robots); err != nil {
		exit(2, err)
	}
	p, s := beam.NewPipelineWithRoot()
	job.build(s)
	result, err := beamx.RunWithMetrics(context.Background(), p)
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
	rules rules
	json  bool
	logs  []string // names of files, or patterns of names
	table string
}

// check finds what is wrong before any machine has work, and reads the list of robots.
func (j *job) check(robots string) error {
	if len(j.logs) == 0 {
		return errors.New("no logs; -h tells how to use it")
	}
	if _, err := j.rules.options(); err != nil {
		return err
	}
	if robots == "" {
		return nil
	}
	file, err := os.Open(robots)
	if err != nil {
		return err
	}
	defer file.Close()
	list, err := counter.ReadAgents(file)
	if err != nil {
		return fmt.Errorf("%s: %w", robots, err)
	}
	j.rules.Robots = list.Without(counter.GeneralPurpose()...).Patterns()
	return nil
}
