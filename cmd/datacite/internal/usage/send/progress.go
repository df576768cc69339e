package send

import (
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

// sent shows how many datasets are sent.
func (m *meter) sent(n, total int64) {
	m.reason = ""
	m.shell.Progress(int(n), int(total), "datasets sent", "")
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
	show  *meter
	built int64 // datasets of all subsets
}

func (w *watcher) progress(p reports.Progress) {
	switch {
	case p.Stage == reports.StageBuilding:
		w.built = p.Datasets
	case p.Stage == reports.StageWaiting:
		w.show.wait(p.Until, p.Reason)
	default:
		w.show.sent(p.Datasets, w.built)
	}
}
