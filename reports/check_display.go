package reports

import (
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/display"
)

// What DOI records display of a report is decided by package display. Its rules say of which
// counts Submit, Create, Put and Group warn.

// outline writes what the rules of display ask of a dataset into to, whose memory it reuses.
func (d *Dataset) outline(to *display.Dataset) {
	*to = display.Dataset{IDs: len(d.DatasetID), Performances: len(d.Performance), Counts: to.Counts[:0]}
	if to.IDs > 0 {
		to.ID = d.DatasetID[0].Value
	}
	if to.Performances > 0 {
		to.Begin = string(d.Performance[0].Period.BeginDate)
	}
	for i := range d.Performance {
		for j := range d.Performance[i].Instance {
			n := &d.Performance[i].Instance[j]
			to.Counts = append(to.Counts, display.Count{Performance: i, Metric: string(n.MetricType), Access: string(n.AccessMethod), N: n.Count, Missing: n.NoCount})
		}
	}
}

// displayed warns of counts of a dataset that no record would display unchanged.
func (v *validator) displayed(d *Dataset) {
	sent := *d
	if ids, changed := readableIDs(d.DatasetID); changed {
		v.place.performance, v.place.instance = -1, -1
		v.warning("dataset-id[0].value", "corrected", fmt.Sprintf("is %.100q, in which the service does not find the DOI; Submit, Create and Put send %.100q first", d.DatasetID[0].Value, ids[0].Value))
		sent.DatasetID = ids
	}
	sent.outline(&v.outlined)
	for _, h := range v.outlined.Check(v.month) {
		if h.Code != display.NoCount { // a fault
			v.warn(datacite.Finding{Path: fmt.Sprintf("report-datasets[%d].%s", v.place.dataset, h.Path), Code: h.Code, Reason: h.Reason, Warning: true})
		}
	}
}

// shownMonth is the month under which records display the counts of a report.
func (h *Header) shownMonth() string { return display.Month(string(h.ReportingPeriod.BeginDate)) }

// readableIDs returns the identifiers of a dataset so that the service finds the DOI, and whether
// they had to be changed.
func readableIDs(ids []TypedValue) ([]TypedValue, bool) {
	return display.Readable(ids, func(id *TypedValue) (kind, value *string) { return &id.Type, &id.Value })
}
