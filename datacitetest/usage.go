package datacitetest

import (
	"path"

	"github.com/datacite-go/datacite-go/reports"
)

// A UsageEvent is a count that a Deployed server derived from a usage report. A record's
// viewCount and downloadCount are sums of them, and its viewsOverTime and
// downloadsOverTime have an entry for each.
type UsageEvent struct {
	ReportID string
	DOI      string // of the record that shows it, in lower case; registered or not
	// Metric: reports.MetricUniqueDatasetInvestigations are views, reports.MetricUniqueDatasetRequests
	// downloads
	Metric reports.MetricType
	Month  string // such as "2026-10"
	Count  int64
}

// UsageEvents returns the events of all usage reports whose UsageLag has passed, by DOI,
// and those of a DOI in the order in which they were made. A Documented server has none.
func (s *Server) UsageEvents() []UsageEvent {
	var all []UsageEvent
	for _, e := range s.served().Current().UsageEvents() {
		metric := reports.MetricUniqueDatasetRequests
		if e.Views {
			metric = reports.MetricUniqueDatasetInvestigations
		}
		all = append(all, UsageEvent{ReportID: path.Base(e.Report), DOI: e.Target, Metric: metric, Month: e.YearMonth(),
			Count: e.Count})
	}
	return all
}

// ProcessUsage makes a Deployed server turn the usage reports that it holds into numbers of
// DOIs now, and related identifiers into relationships, without waiting for UsageLag. The
// clock does not move: lists show them IndexLag later.
func (s *Server) ProcessUsage() { s.served().Current().ProcessUsage() }
