package main

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/reports"
)

// A meter shows how far the work is. One goroutine uses it: package reports reads the
// source and reports progress on the goroutine of its caller.
type meter struct {
	p     *program.Program
	stage string
	first sample

	until  time.Time // of the wait told last
	reason string    // of the wait that goes on; empty if the work does
}

// A sample is how far a stage was at some time.
type sample struct {
	at       time.Time
	fraction float64 // of all; negative if that is not known
	n        int64
	things   string
}

// at shows that n things are done. The first call of a stage begins it.
func (m *meter) at(stage string, fraction float64, n int64, things string) {
	now := sample{time.Now(), fraction, n, things}
	if m.reason = ""; stage != m.stage {
		m.stage, m.first = stage, now
	}
	m.p.Progress("%s", m.text(now))
}

// wait tells that nothing goes on until then at the latest, and why. A service that is looked
// at again and again makes many waits for one reason, which is told once.
func (m *meter) wait(until time.Time, reason string) {
	left := time.Until(until).Round(time.Second)
	if left > 0 && (reason != m.reason || !until.Equal(m.until)) {
		m.until, m.reason = until, reason
		m.p.Say("Waiting until %s at the latest (%v): %s", until.Local().Format(time.TimeOnly), left, reason)
	}
}

func (m *meter) text(now sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s", m.stage)
	if now.fraction >= 0 {
		fmt.Fprintf(&b, " %3.0f%%", 100*now.fraction)
	}
	fmt.Fprintf(&b, "  %s %s", program.Number(now.n), now.things)
	spent := now.at.Sub(m.first.at)
	if spent < time.Second {
		return b.String() // too little to tell a rate from
	}
	fmt.Fprintf(&b, "  %s/s", program.Number(int64(float64(now.n-m.first.n)/spent.Seconds())))
	if done := now.fraction - m.first.fraction; now.fraction >= 0 && now.fraction < 1 && done > 0 {
		left := time.Duration(float64(spent) * (1 - now.fraction) / done)
		fmt.Fprintf(&b, "  %v left", left.Round(time.Second))
	}
	return b.String()
}

// A watcher shows a submission on a meter.
type watcher struct {
	show *meter
	in   *input

	built int64 // compressed bytes of all subsets
}

// datasets hands the datasets of the input on. Their errors are the input's.
func (w *watcher) datasets() iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		n := int64(0)
		for d, err := range w.in.datasets {
			if err != nil {
				yield(d, w.in.fault(err))
				return
			}
			n++
			if w.in.isTable {
				w.in.doi = d.DatasetID[0].Value
			}
			w.show.at("Building", w.in.fraction(), n, "datasets")
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (w *watcher) progress(p reports.Progress) {
	switch {
	case p.Stage == reports.Building:
		w.built = p.Bytes
	case p.Stage == reports.Waiting:
		w.show.wait(p.Until, p.Reason)
	default:
		w.show.at("Sending", float64(p.Bytes)/float64(w.built), p.Datasets, "datasets")
	}
}
