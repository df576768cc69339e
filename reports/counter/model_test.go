package counter_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// model counts as the code of practice says (RD1, "Processing Rules for Underlying
// Reporting Data"), rule by rule, comparing every event with every other. It shares
// no code with the package.
func model(events []counter.Event, period reports.Period, zone *time.Location) (map[reports.Row]int64, counter.Tally) {
	var sum counter.Tally
	counts := map[reports.Row]int64{}
	kept := filterDoubleClicks(events, zone)
	inPeriod := func(e counter.Event) bool {
		day := e.Time.In(zone).Format("2006-01-02")
		return period == (reports.Period{}) || string(period.BeginDate) <= day && day <= string(period.EndDate)
	}
	for i, e := range kept {
		if !inPeriod(e) {
			continue
		}
		row := reports.Row{
			DOI: strings.ToLower(strings.TrimPrefix(e.DOI, "doi:")),
			Date: reports.Date(e.Time.In(zone).Format("2006-01") +
				"-01"), Access: accessOf(e), Country: strings.ToLower(e.Country),
		}
		earlier := func(wanted func(counter.Event) bool) bool { // in the same session
			return slices.ContainsFunc(kept[:i], func(o counter.Event) bool {
				return inPeriod(o) && wanted(o) && userSession(o, zone) == userSession(e, zone) && accessOf(o) == accessOf(e) &&
					strings.EqualFold(strings.TrimPrefix(o.DOI, "doi:"), row.DOI)
			})
		}
		count := func(metric reports.MetricType) {
			row.Metric = metric
			counts[row]++
		}
		sum.Counted++
		count(reports.MetricTotalDatasetInvestigations)
		if !earlier(func(counter.Event) bool { return true }) {
			count(reports.MetricUniqueDatasetInvestigations)
		}
		if e.Request {
			count(reports.MetricTotalDatasetRequests)
			if !earlier(func(o counter.Event) bool { return o.Request }) {
				count(reports.MetricUniqueDatasetRequests)
			}
		}
	}
	return counts, sum
}

// filterDoubleClicks sorts events and removes each one that the same user in the
// same session follows up with a click on the same URL within 30 seconds.
func filterDoubleClicks(events []counter.Event, zone *time.Location) (kept []counter.Event) {
	events = slices.Clone(events)
	slices.SortFunc(events, func(a, b counter.Event) int { // the last of those that are alike is kept
		flag := func(b bool) int { return map[bool]int{true: 1}[b] }
		return cmp.Or(a.Time.Compare(b.Time),
			flag(a.Request)-flag(b.Request), flag(
				accessOf(a) == reports.AccessMachine)-flag(accessOf(b) == reports.AccessMachine),
			strings.Compare(strings.ToLower(a.Country), strings.ToLower(b.Country)), strings.Compare(a.URL, b.URL))
	})
	for i, e := range events {
		doubled := slices.ContainsFunc(events[i+1:], func(later counter.Event) bool {
			return strings.EqualFold(strings.TrimPrefix(e.DOI, "doi:"), strings.TrimPrefix(later.DOI, "doi:")) &&
				page(e) == page(later) && clicker(e, zone) == clicker(later, zone) && later.Time.Sub(e.Time) <= 30*time.Second
		})
		if !doubled {
			kept = append(kept, e)
		}
	}
	return kept
}

func page(e counter.Event) string {
	url, _, _ := strings.Cut(e.URL, "#")
	return url
}

// clicker is whose double clicks are one: user name, user cookie, session cookie, or
// address and user agent, whose sessions are slices of an hour.
func clicker(e counter.Event, zone *time.Location) string {
	switch {
	case e.User != "":
		return "user " + e.User
	case e.Cookie != "":
		return "cookie " + e.Cookie
	case e.Session != "":
		return "session " + e.Session
	}
	return "address " + e.Address + "|" + e.Agent + "|" + e.Time.In(zone).Format("2006-01-02|15 -0700")
}

// userSession is the session of the code of practice: identification, date, and the
// hour of day unless it is a session cookie.
func userSession(e counter.Event, zone *time.Location) string {
	switch {
	case e.User == "" && e.Cookie == "" && e.Session != "":
		return clicker(e, zone) + e.Time.In(zone).Format("|2006-01-02")
	}
	return clicker(e, zone) + e.Time.In(zone).Format("|2006-01-02|15 -0700")
}

func accessOf(e counter.Event) reports.AccessMethod {
	switch {
	case e.Access != "":
		return e.Access
	case e.Agent == "" || strings.HasPrefix(e.Agent, "curl"):
		return reports.AccessMachine
	}
	return reports.AccessRegular
}
