package main

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/reports"
)

// A meter shows how far the work is: as a bar on a terminal, and elsewhere, as in
// the mails of cron, as a line every few seconds. One goroutine uses it: package
// reports reads the source and reports progress on the goroutine of its caller.
type meter struct {
	out   io.Writer
	bar   bool
	pause time.Duration // between two lines, or two pictures of the bar

	stage         string // empty if nothing is shown
	first, latest sample
	shown         time.Time
	drawn         bool // the latest sample is shown

	until  time.Time // of the wait shown last
	reason string    // of the wait that goes on; empty if the work does
}

// A sample is how far a stage was at some time.
type sample struct {
	at       time.Time
	fraction float64 // of all; negative if that is not known
	n        int64
	things   string
}

const (
	linePause = 5 * time.Second
	barPause  = 100 * time.Millisecond
	barWidth  = 24
)

func newMeter(out io.Writer) *meter {
	if terminal(out) {
		return &meter{out: out, bar: true, pause: barPause}
	}
	return &meter{out: out, pause: linePause}
}

func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// at shows that n things are done. The first call of a stage begins it.
func (m *meter) at(stage string, fraction float64, n int64, things string) {
	now := sample{time.Now(), fraction, n, things}
	if stage != m.stage {
		m.end()
		m.stage, m.first, m.shown = stage, now, now.at
	}
	m.latest, m.drawn = now, false
	if now.at.Sub(m.shown) < m.pause {
		return
	}
	m.shown = now.at
	m.draw()
}

// wait shows that nothing goes on until then at the latest, and why. A service
// that is looked at again and again makes many waits for one reason; they change
// the bar's place, and add nothing to a mail.
func (m *meter) wait(until time.Time, reason string) {
	left := time.Until(until).Round(time.Second)
	if left <= 0 {
		return
	}
	isNew := reason != m.reason
	if isNew {
		m.end()
		m.reason = reason
	}
	when := fmt.Sprintf("until %s at the latest (%v)", until.Local().Format(time.TimeOnly), left)
	switch {
	case m.bar:
		if isNew { // not in the bar's place, where it may be too long to be wiped out
			fmt.Fprintf(m.out, "Waiting: %s\n", reason)
		}
		m.clear()
		fmt.Fprint(m.out, "Waiting  ", when)
	case isNew || !until.Equal(m.until):
		fmt.Fprintf(m.out, "Waiting %s: %s\n", when, reason)
	}
	m.until = until
}

// say prints a line between the pictures.
func (m *meter) say(format string, args ...any) {
	m.clear()
	fmt.Fprintf(m.out, format+"\n", args...)
	m.drawn = m.drawn && !m.bar // the line took the bar's place
}

func (m *meter) clear() {
	if m.bar {
		fmt.Fprint(m.out, "\r\x1b[K")
	}
}

// end shows the last state of the stage. A wait leaves its reason alone.
func (m *meter) end() {
	if m.reason != "" {
		m.clear()
		m.reason = ""
	}
	if m.stage == "" {
		return
	}
	if !m.drawn {
		m.draw()
	}
	if m.bar {
		fmt.Fprintln(m.out)
	}
	m.stage = ""
}

func (m *meter) draw() {
	m.drawn = true
	if m.bar {
		m.clear()
		fmt.Fprint(m.out, m.picture())
		return
	}
	fmt.Fprintln(m.out, m.picture())
}

func (m *meter) picture() string {
	now := m.latest
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s", m.stage)
	if now.fraction >= 0 {
		if m.bar {
			full := int(now.fraction * barWidth)
			fmt.Fprintf(&b, " [%s%s]", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full))
		}
		fmt.Fprintf(&b, " %3.0f%%", 100*now.fraction)
	}
	fmt.Fprintf(&b, "  %s %s", thousands(now.n), now.things)
	spent := now.at.Sub(m.first.at)
	if spent < time.Second {
		return b.String() // too little to tell a rate from
	}
	fmt.Fprintf(&b, "  %s/s", thousands(int64(float64(now.n-m.first.n)/spent.Seconds())))
	if done := now.fraction - m.first.fraction; now.fraction >= 0 && now.fraction < 1 && done > 0 {
		left := time.Duration(float64(spent) * (1 - now.fraction) / done)
		fmt.Fprintf(&b, "  %v left", left.Round(time.Second))
	}
	return b.String()
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// A watcher shows a submission on a meter.
type watcher struct {
	show   *meter
	in     *input
	dryRun bool

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
		w.show.end()
	}
}

func (w *watcher) progress(p reports.Progress) {
	switch {
	case p.Stage == reports.Building:
		w.built = p.Bytes
	case p.Stage == reports.Waiting:
		w.show.wait(p.Until, p.Reason)
	case !w.dryRun:
		w.show.at("Sending", float64(p.Bytes)/float64(w.built), p.Datasets, "datasets")
	}
}
