package send

import (
	"fmt"
	"iter"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/reports"
)

// A meter shows how far the work is. One goroutine uses it: package reports reads the
// source and reports progress on the goroutine of its caller.
type meter struct {
	shell *shell.Shell

	until  time.Time // of the wait told last
	reason string    // of the wait that goes on; empty if the work does
}

// at shows how many things are done, and of how many if that is known; fraction is how much of the input has
// been read, negative if that is not known.
func (m *meter) at(things string, fraction float64, n, total int64) {
	m.reason = ""
	more := ""
	if fraction >= 0 {
		more = fmt.Sprintf("%.0f %% of the input", 100*fraction)
	}
	m.shell.Progress(int(n), int(total), things, more)
}

// wait tells that nothing goes on until then at the latest, and why. A service that is looked
// at again and again makes many waits for one reason, which is told once.
func (m *meter) wait(until time.Time, reason string) {
	left := time.Until(until).Round(time.Second)
	if left > 0 && (reason != m.reason || !until.Equal(m.until)) {
		m.until, m.reason = until, reason
		m.shell.Say("waiting until %s at the latest (%v): %s", until.Local().Format(time.TimeOnly), left, reason)
	}
}

// A watcher shows a submission on a meter.
type watcher struct {
	show *meter
	in   *input

	built int64 // datasets of all subsets
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
			fraction := -1.0 // a table has been read by then
			if w.in.isTable {
				w.in.doi = d.DatasetID[0].Value
			} else {
				fraction = w.in.files[0].fraction()
			}
			w.show.at("datasets built", fraction, n, 0)
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (w *watcher) progress(p reports.Progress) {
	switch {
	case p.Stage == reports.Building:
		w.built = p.Datasets
	case p.Stage == reports.Waiting:
		w.show.wait(p.Until, p.Reason)
	default:
		w.show.at("datasets sent", -1, p.Datasets, w.built)
	}
}
