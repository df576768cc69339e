package bench_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// TestEveryMethodHasAReading: whoever adds a method says what its responses may be.
func TestEveryMethodHasAReading(t *testing.T) {
	known := map[string]bool{}
	for _, r := range readings("") {
		known[r.method()] = true
	}
	for _, c := range []any{&dois.Client{}, &mds.Client{}, &reconcile.Client{}, &reports.Client{}} {
		of := reflect.TypeOf(c)
		for m := range of.Methods() {
			method := strings.TrimSuffix(strings.TrimPrefix(of.String(), "*"), ".Client") + "." + m.Name
			assert.True(t, known[method], "%s is in no row of readings", method)
			delete(known, method)
		}
	}
	assert.Empty(t, known, "readings of methods that do not exist")
}

// sizes are those that a content of a response is tried in.
func sizes(limit int64, all bool) []int64 {
	if all {
		return []int64{limit / 2, limit - 1, limit, limit + 1}
	}
	return []int64{limit / 2, limit - 1}
}

// TestWorkOfResponsesAtTheLimits reads responses of every content with every method, with
// small limits: half as long as allowed, a byte less, as long and a byte more. What is
// allocated, in all, is proportional to the length.
func TestWorkOfResponsesAtTheLimits(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	for row, r := range readings("") {
		for i, c := range r.contents {
			if i > 0 && sampled(row+i, 4) {
				continue
			}
			synctest.Test(t, func(t *testing.T) { checkWork(t, &r, c, i == 0) }) // Submit waits
		}
	}
}

func checkWork(t *testing.T, r *reading, c content, all bool) {
	calls := int64(1)
	switch r.method() {
	case "reconcile.Ensure", "reconcile.EnsureAll":
		calls = 2 // after a write whose response cannot be read, they look again
	}
	config := r.of("http://localhost")
	config.MaxBody, config.MaxReport = 128<<10, 128<<10
	limit := r.limit(config)
	var costs []cost
	for _, size := range sizes(limit, all) {
		costs = append(costs, service{reading: r, content: c, status: 200, size: size}.cost(config))
	}
	checkLimits(t, r.name+", "+c.name, costs)
	half, below := costs[0].allocated/calls, costs[1].allocated/calls
	const aside = 6 << 20 // for a client, what it looks for, and what an error has of a response
	assert.LessOrEqual(t, below, 60*limit+aside, "%s, %s", r.name, c.name)
	assert.LessOrEqual(t, below, 9*half/4+aside, "%s, %s: twice as long", r.name, c.name)
}

// checkLimits: the first content is read up to the limit, and not beyond.
func checkLimits(t *testing.T, name string, costs []cost) {
	t.Helper()
	for i, c := range costs {
		if len(costs) > 2 {
			assert.Equal(t, i == 3, errors.Is(c.err, datacite.ErrTooLarge), "%s, size %d of %d: %v", name, i+1, len(costs),
				c.err)
		}
		if c.err != nil {
			assert.Less(t, len(c.err.Error()), 8<<10, "%s: the text of the error", name)
		}
	}
}

// TestRefusalsAreReadInPart sends errors without end. Every method reads what it tells of
// them.
func TestRefusalsAreReadInPart(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	statuses := []int{422, 500, 404, 403, 400, 503, 302}
	for row, r := range readings("") {
		if r.contents == nil {
			continue // a HEAD
		}
		for i, c := range refusals {
			if sampled(row+i, 16) {
				continue
			}
			config := r.of("http://localhost")
			s := service{reading: &r, content: c, status: statuses[i%len(statuses)], size: 1 << 40}
			cost := s.cost(config)
			const calls = int64(4) // some look again, or ask for something else
			require.LessOrEqual(t, cost.read, calls*(128<<10), "%s, %s: bytes read", r.name, c.name)
			require.LessOrEqual(t, cost.allocated, calls*(24<<20), "%s, %s", r.name, c.name)
			if cost.err != nil {
				assert.Less(t, len(cost.err.Error()), 16<<10, "%s, %s", r.name, c.name)
			}
		}
	}
}

// fullSize is from how many MiB on the limits are the defaults, and all contents are tried.
const fullSize = 100

// sampled: below that size, only one of n contents is tried, another one of each method.
func sampled(i, n int) bool { return *hostileMiB < fullSize && i%n != 0 }

// TestMemoryOfResponsesAtTheLimits reads responses just below the default limits, each
// method in a process of its own, and reads how much memory that took at its peak.
func TestMemoryOfResponsesAtTheLimits(t *testing.T) {
	if *hostileMiB < fullSize {
		t.Skip("takes a minute; TestWorkOfResponsesAtTheLimits does the same with small limits, and -hostile 512 runs this " +
			"one, as .ci/run --long does")
	}
	for i, r := range readings("") {
		if r.contents == nil {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for line := range strings.Lines(apart(t, fmt.Sprintf("limits %d %d", i, *hostileMiB), nil)) {
				n++
				t.Log(line)
				var peak int
				var large, wanted bool
				_, err := fmt.Sscanf(line, "%d MiB %t %t", &peak, &large, &wanted)
				require.NoError(t, err, line)
				assert.LessOrEqual(t, peak, mostForAttack, line)
				assert.Equal(t, wanted, wanted && large, line)
			}
			assert.Equal(t, len(r.contents)+3, n)
		})
	}
}

// beReader is the process that TestMemoryOfResponsesAtTheLimits starts. It prints a line for
// each response: the peak, whether it was too large, and whether that was to be.
func beReader(arguments string) error {
	var i, mib int
	if _, err := fmt.Sscan(arguments, &i, &mib); err != nil {
		return err
	}
	subset := ""
	if strings.HasPrefix(readings("")[i].name, "reports.") {
		subset = compressedPart(content{"", `{"report-datasets":[{}`, `,{}`, `]}`}, int64(mib)<<20)
	}
	r := readings(subset)[i]
	for n, c := range r.contents {
		config := r.of("http://localhost")
		config.MaxBody, config.MaxReport = fullSize<<20, fullSize<<20 // MaxBody as the default is
		limit := r.limit(config)
		tried := []int64{limit - 1}
		if n == 0 {
			tried = sizes(limit, true)
		}
		for _, size := range tried {
			cost, peak, err := service{reading: &r, content: c, status: 200, size: size}.peak(config)
			for try := 1; try < 3 && err == nil && peak>>10 > mostForAttack; try++ {
				cost, peak, err = service{reading: &r, content: c, status: 200, size: size}.peak(config)
			}
			if err != nil {
				return err
			}
			fmt.Printf("%d MiB %t %t %s: %d of %d bytes: %d MiB allocated, %v: %.100q\n", peak>>10,
				errors.Is(cost.err, datacite.ErrTooLarge), size > limit,
				c.name, size, limit, cost.allocated>>20, cost.processor, fmt.Sprint(cost.err))
		}
	}
	return nil
}

// peak makes the call, and reads how much memory it took, in KiB.
func (s service) peak(config datacite.Config) (cost, int, error) {
	if err := forgetPeak(); err != nil {
		return cost{}, 0, err
	}
	c := s.cost(config)
	kib, err := peakMemory()
	return c, kib, err
}
