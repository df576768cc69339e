package counter_test

import (
	"fmt"
	"testing"

	"github.com/datacite-go/datacite-go/reports/counter"
)

var browsers = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.1 Safari/605.1.15",
	"Mozilla/5.0 (X11; Linux x86_64; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0",
	"python-requests/2.%d.3",
	"Mozilla/5.0 (compatible; Googlebot/2.%d; +http://www.google.com/bot.html)",
}

func BenchmarkAgents(b *testing.B) {
	var agents []string
	for i, format := range browsers {
		agents = append(agents, fmt.Sprintf(format, 100+i))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, agent := range agents {
			_ = counter.Robots().Match(agent) || counter.Machines().Match(agent)
		}
	}
}
