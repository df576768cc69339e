package shown

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/internal/usage"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports"
)

// stored is a report, or one attempt to read it.
type stored struct {
	id      string
	created time.Time // zero if the report has no date
	dead    bool      // the attempt failed; its entries do not count
}

// readReports reads all reports.
func (c *comparison) readReports(ctx context.Context) error {
	list := &reports.ListOptions{ClientID: c.account}
	if c.opts.CreatedBy != "" {
		list = &reports.ListOptions{CreatedBy: c.opts.CreatedBy}
	}
	var all []*reports.Summary
	for s, err := range c.reports.All(ctx, list) {
		if err != nil {
			return err
		}
		if month := shownMonth(s.Header); month == "" || c.covers(month) || c.covers(headerMonth(s.Header)) {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *reports.Summary) int { return cmp.Compare(a.Header.Created, b.Header.Created) })
	c.progress.AllReports = len(all)
	for _, s := range all {
		month := shownMonth(s.Header)
		err := c.readReport(ctx, s)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			c.of[month] = append(c.of[month], s.ID)
		case c.opts.LeaveOut == nil:
			return err
		default:
			c.opts.LeaveOut(s.ID, err)
			c.skipped[month], c.skipped[headerMonth(s.Header)] = true, true
		}
		c.progress.Reports++
		c.told(0)
	}
	return nil
}

// again calls read up to three times if the connection breaks.
func again(ctx context.Context, read func() error) error {
	const attempts = 3
	for n := 1; ; n++ {
		err := read()
		if err == nil || n == attempts || !datacite.Temporary(err) {
			return err
		}
		_ = transport.Sleep(ctx, time.Duration(n)*time.Second) // the next attempt finds the end of ctx
	}
}

// readReport reads a report. A failed attempt leaves entries behind, so each attempt
// has its own number.
func (c *comparison) readReport(ctx context.Context, s *reports.Summary) error {
	if shownMonth(s.Header) == "" {
		return datacite.Invalid(datacite.Finding{Path: "report " + s.ID, Code: "date", Reason: fmt.Sprintf("begins on %q, which is not a date", s.Header.ReportingPeriod.BeginDate)})
	}
	created, _ := s.Header.Created.Time()
	before := c.progress.Datasets
	return again(ctx, func() error {
		c.progress.Datasets = before
		c.stored = append(c.stored, stored{id: s.ID, created: created})
		err := c.scan(ctx, s)
		c.stored[len(c.stored)-1].dead = err != nil
		return err
	})
}

func (c *comparison) scan(ctx context.Context, s *reports.Summary) error {
	r, err := c.reports.Open(ctx, s.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	one := make([]reports.Dataset, 1)
	for d, err := range r.Scan() {
		if err != nil {
			return err
		}
		one[0] = *d
		for _, made := range reports.ShownBy(s.Header, one) {
			if err := c.keep(&s.Header, d, &made); err != nil {
				return err
			}
		}
		c.progress.Datasets++
		c.told(c.progress.Datasets)
	}
	return nil
}

// An entry has the counts of a dataset for a DOI and month.
type entry struct {
	Views     count  `json:"v,omitzero"`
	Downloads count  `json:"d,omitzero"`
	Other     Cause  `json:"o,omitempty"` // not "" if the counts were reported for another DOI or month: why they are shown here
	Cause     Cause  `json:"r,omitempty"` // why counts are hidden or changed
	Detail    string `json:"t,omitempty"` // the reason given by the finding
}

// A count is that of one metric.
type count struct {
	Reported int64   `json:"r,omitempty"`
	Total    int64   `json:"t,omitempty"` // by people, if there are no unique counts
	Machine  bool    `json:"m,omitempty"` // the unique counts are those of machines
	Values   []int64 `json:"v,omitempty"` // one of them is shown; empty if nothing is
	Missing  bool    `json:"n,omitempty"` // the report has the number without a count: an earlier one may stay
}

func countOf(n reports.Number) count {
	return count{Reported: n.Reported, Values: n.Values, Missing: n.Kept && len(n.Values) > 0}
}

func (e *entry) count(m Metric) *count {
	if m == Downloads {
		return &e.Downloads
	}
	return &e.Views
}

// keep stores how the service counts a dataset: under the DOI and month that the sender
// means, and also where the counts are shown, if elsewhere.
func (c *comparison) keep(h *reports.Header, d *reports.Dataset, made *reports.Shown) error {
	e := entry{Views: countOf(made.Views), Downloads: countOf(made.Downloads)}
	e.explain(made.Why)
	e.weigh(d)
	name, month := meant(d, made), headerMonth(*h)
	if made.DOI == "" || made.DOI == name && made.Month == month {
		return c.add(name, month, made.Name, &e)
	}
	elsewhere := entry{Views: count{Values: e.Views.Values, Missing: e.Views.Missing}, Downloads: count{Values: e.Downloads.Values, Missing: e.Downloads.Missing}, Other: OtherDOI, Detail: fmt.Sprintf("%.100q of %s", made.Name, month)}
	if made.DOI == name {
		elsewhere.Other = OtherMonth
		e.Cause, e.Detail = OtherMonth, fmt.Sprintf("the report begins on %s", h.ReportingPeriod.BeginDate)
	}
	e.Views.Values, e.Downloads.Values = nil, nil
	if err := c.add(made.DOI, made.Month, made.Name, &elsewhere); err != nil {
		return err
	}
	return c.add(name, month, made.Name, &e)
}

// explain uses the most important finding.
func (e *entry) explain(findings []datacite.Finding) {
	best := len(hiding)
	for _, f := range findings {
		if rank := slices.Index(hiding, Cause(f.Code)); rank >= 0 && rank < best {
			best = rank
			f.Path = strings.TrimPrefix(f.Path, "report-datasets[0].")
			e.Cause, e.Detail = hiding[best], f.Path+" "+f.Reason
		}
	}
}

// weigh sums the counts that records do not show.
func (e *entry) weigh(d *reports.Dataset) {
	for i := range d.Performance {
		for _, n := range d.Performance[i].Instance {
			unique := n.MetricType == reports.UniqueDatasetInvestigations || n.MetricType == reports.UniqueDatasetRequests
			to := &e.Views
			if n.MetricType == reports.UniqueDatasetRequests || n.MetricType == reports.TotalDatasetRequests {
				to = &e.Downloads
			}
			switch {
			case unique && n.AccessMethod == reports.Machine && n.Count > 0:
				to.Machine = true
			case !unique && n.AccessMethod == reports.Regular && e.Cause == NotUnique:
				to.Total += n.Count
			}
		}
	}
}

// meant is the DOI that the sender means, in lower case, or else the text of the first
// identifier.
func meant(d *reports.Dataset, made *reports.Shown) string {
	if made.DOI != "" {
		return made.Name
	}
	for _, id := range d.DatasetID {
		if name, err := doi.Parse(id.Value); err == nil {
			return doi.Key(name)
		}
	}
	if len(d.DatasetID) == 0 {
		return ""
	}
	return d.DatasetID[0].Value
}

// headerMonth is the month that the sender of a report means.
func headerMonth(h reports.Header) string {
	return usage.WrittenMonth(string(h.ReportingPeriod.BeginDate))
}

func shownMonth(h reports.Header) string {
	made := reports.ShownBy(h, []reports.Dataset{{}})
	return made[0].Month
}

// listRecords lists the records of the account.
func (c *comparison) listRecords(ctx context.Context) error {
	const maxSize = 1000
	walk := c.dois.Walk(&dois.ListOptions{ClientID: []string{c.account}, Page: query.Page{Size: maxSize}, Detail: true, Fields: fields})
	for r, err := range walk.All(ctx) {
		if err != nil {
			return err
		}
		if err := c.sort(doi.Key(r.DOI), "", "", "", c.recordOf(r)); err != nil {
			return err
		}
		c.progress.Records++
		c.progress.AllRecords = max(c.progress.AllRecords, walk.Total())
		c.told(c.progress.Records)
	}
	return nil
}

// fields are the attributes of records that are read. Lists include the months only with detail.
var fields = []string{"doi", "viewsOverTime", "downloadsOverTime"}

// A record is what a DOI record shows.
type record struct {
	Views     dois.Series `json:"v,omitempty"`
	Downloads dois.Series `json:"d,omitempty"`
}

// recordOf has the months that are compared.
func (c *comparison) recordOf(r *dois.Record) *record {
	other := func(n dois.Count) bool { return !c.covers(n.YearMonth) }
	return &record{slices.DeleteFunc(slices.Clone(r.ViewsOverTime), other), slices.DeleteFunc(slices.Clone(r.DownloadsOverTime), other)}
}

func (r *record) series(m Metric) dois.Series {
	switch {
	case r == nil:
		return nil
	case m == Downloads:
		return r.Downloads
	}
	return r.Views
}

func (c *comparison) add(name, month, as string, e *entry) error {
	if !c.covers(month) {
		return nil
	}
	return c.sort(name, month, strconv.Itoa(len(c.stored)-1), as, e)
}

// sort adds a record, or an entry of a report, to the sorter.
func (c *comparison) sort(name, month, report, as string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var key []byte
	for _, part := range [...]string{name, month, fmt.Sprintf("%8s", report), as} {
		key = append(append(key, strings.ReplaceAll(part, "\x00", "\ufffd")...), 0)
	}
	return c.sorter.Add(append(key, data...), nil)
}

// A line is sorted by DOI, month, report and name, the record of a DOI before
// the entries of reports.
type line struct {
	doi, month string
	report     int    // -1 of a record
	name       string // of the DOI, as the service reads it in the report
	data       []byte
}

func readLine(sorted []byte) line {
	parts := bytes.SplitN(sorted, []byte{0}, 5)
	l := line{doi: string(parts[0]), month: string(parts[1]), report: -1, name: string(parts[3]), data: parts[4]}
	if n, err := strconv.Atoi(string(bytes.TrimSpace(parts[2]))); err == nil {
		l.report = n
	}
	return l
}
