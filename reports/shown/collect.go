package shown

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports"
)

// stored is a report, or one attempt to read it.
type stored struct {
	id      string
	month   string    // that the sender means
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
		if month := shownMonth(&s.Header); month == "" || c.covers(month) || c.covers(headerMonth(&s.Header)) {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *reports.Summary) int { return cmp.Compare(a.Header.Created, b.Header.Created) })
	c.progress.AllReports = len(all)
	for _, s := range all {
		month := shownMonth(&s.Header)
		var err error
		if uuid.Validate(s.ID) != nil { // anything, such as a credential, so it is not repeated
			err = datacite.Invalidf("reports", datacite.CodeSyntax, "have one of %s whose id is not a UUID", month)
		} else if err = c.readReport(ctx, s); err != nil {
			err = fmt.Errorf("report %s: %w", s.ID, err)
		}
		switch {
		case ctx.Err() != nil:
			return call.Ended(ctx)
		case err == nil:
			c.of[month] = append(c.of[month], s.ID)
		case c.opts.LeaveOut == nil || !c.opts.LeaveOut(err):
			return err
		default:
			c.skipped[month], c.skipped[headerMonth(&s.Header)] = true, true
		}
		c.progress.Reports++
		c.reportProgress(0)
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
	if shownMonth(&s.Header) == "" {
		return datacite.Invalidf("reporting-period.begin-date", datacite.CodeDate,
			"is %q, not a date", s.Header.ReportingPeriod.BeginDate)
	}
	created, _ := s.Header.Created.Time()
	before := c.progress.Datasets
	return again(ctx, func() error {
		c.progress.Datasets = before
		c.stored = append(c.stored, stored{id: s.ID, month: headerMonth(&s.Header), created: created})
		err := c.scan(ctx, s)
		c.stored[len(c.stored)-1].dead = err != nil
		return err
	})
}

func (c *comparison) scan(ctx context.Context, s *reports.Summary) error {
	return eachDataset(ctx, c.reports, s.ID, func(d *reports.Dataset) error {
		c.progress.Datasets++
		c.reportProgress(c.progress.Datasets)
		return c.keep(&s.Header, d)
	})
}

// eachDataset calls f for each dataset of a stored report.
func eachDataset(ctx context.Context, client *reports.Client, id string, f func(*reports.Dataset) error) error {
	r, err := client.Open(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close()
	for d, err := range r.Scan() {
		if err == nil {
			err = f(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read is what the service reads of a dataset of a report.
func read(h *reports.Header, d *reports.Dataset) display.Reading {
	plain := display.Dataset{IDs: len(d.DatasetID), Performances: len(d.Performance)}
	if plain.IDs > 0 {
		plain.ID = d.DatasetID[0].Value
	}
	for i := range d.Performance {
		for _, n := range d.Performance[i].Instance {
			plain.Counts = append(plain.Counts,
				display.Count{Performance: i, Metric: string(n.MetricType), Access: string(n.AccessMethod), N: n.Count,
					Missing: n.NoCount})
		}
	}
	return plain.Read(shownMonth(h))
}

// An entry is what the service reads of a dataset.
type entry struct {
	display.Reading
	Elsewhere bool `json:"e,omitempty"` // another record or month displays it, or none
}

// keep keeps what the service reads of a dataset: for the DOI and month that the sender means,
// and also for those that display it, if they are others.
func (c *comparison) keep(h *reports.Header, d *reports.Dataset) error {
	e := entry{Reading: read(h, d)}
	name, month := meant(d, &e.Reading), headerMonth(h)
	if e.DOI == name && e.Month == month {
		return c.add(name, month, &e)
	}
	if e.DOI != "" {
		if err := c.add(e.DOI, e.Month, &e); err != nil {
			return err
		}
	}
	if e.DOI == name {
		e.Code, e.Detail = datacite.CodeOtherMonth, fmt.Sprintf("the report begins on %s", h.ReportingPeriod.BeginDate)
	}
	e.Elsewhere = true
	return c.add(name, month, &e)
}

// meant is the DOI that the sender means, in lower case, or else the text of the first
// identifier.
func meant(d *reports.Dataset, read *display.Reading) string {
	if read.DOI != "" {
		return read.Name
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
func headerMonth(h *reports.Header) string {
	return display.WrittenMonth(string(h.ReportingPeriod.BeginDate))
}

// shownMonth is the month under which records show the counts of a report.
func shownMonth(h *reports.Header) string { return display.Month(string(h.ReportingPeriod.BeginDate)) }

// listRecords lists the records of the account.
func (c *comparison) listRecords(ctx context.Context) error {
	const maxSize = 1000
	walk := c.dois.Walk(&dois.ListOptions{ClientID: []string{c.account}, Page: query.Page{Size: maxSize}, Detail: true,
		Fields: fields})
	for r, err := range walk.All(ctx) {
		if err != nil {
			return err
		}
		if err := c.sort(doi.Key(r.DOI), "", "", "", c.recordOf(r)); err != nil {
			return err
		}
		c.progress.Records++
		c.progress.AllRecords = max(c.progress.AllRecords, walk.Total())
		c.reportProgress(c.progress.Records)
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
	return &record{slices.DeleteFunc(slices.Clone(r.ViewsOverTime), other),
		slices.DeleteFunc(slices.Clone(r.DownloadsOverTime), other)}
}

func (r *record) series(m Metric) dois.Series {
	switch {
	case r == nil:
		return nil
	case m == MetricDownloads:
		return r.Downloads
	}
	return r.Views
}

// add adds what was read of a dataset to the sorter, unless its month is not compared.
func (c *comparison) add(name, month string, e *entry) error {
	if !c.covers(month) {
		return nil
	}
	return c.sort(name, month, strconv.Itoa(len(c.stored)-1), e.Name, e)
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

// A holding has what was reported for one DOI, and its listed record.
type holding struct {
	doi     string
	listed  *record          // nil if it is in no list
	entries []placed         // by month, report and name
	events  []*display.Event // of its record: what the rules make of the reports
}

// A placed entry is that of a report in a month of a DOI.
type placed struct {
	month  string
	report int
	entry
}

// read adds a line. Lines come sorted.
func (h *holding) read(l *line) error {
	if l.report < 0 {
		h.listed = &record{}
		return json.Unmarshal(l.data, h.listed)
	}
	e := placed{month: l.month, report: l.report}
	if err := json.Unmarshal(l.data, &e.entry); err != nil {
		return err
	}
	e.Name = l.name
	if e.Month = l.month; !e.Elsewhere {
		e.DOI = l.doi
	}
	h.entries = append(h.entries, e)
	return nil
}

// Holdings are compared when there are so many, so that unlisted ones are looked up together.
const holdings = 100

// holdings goes through the sorted lines, DOI by DOI.
func (c *comparison) holdings(ctx context.Context) iter.Seq2[*holding, error] {
	return func(yield func(*holding, error) bool) {
		var held []*holding
		release := func() bool {
			if err := c.findUnlisted(ctx, held); err != nil {
				yield(nil, err)
				return false
			}
			for _, h := range held {
				h.predict()
				if !yield(h, nil) {
					return false
				}
			}
			held = nil
			return true
		}
		for sorted, err := range c.sorter.Keys() {
			if err != nil {
				yield(nil, err)
				return
			}
			l := readLine(sorted)
			if l.report >= 0 && c.stored[l.report].dead {
				continue
			}
			last := len(held) - 1
			if last < 0 || held[last].doi != l.doi {
				if len(held) >= holdings && !release() {
					return
				}
				held = append(held, &holding{doi: l.doi})
				last = len(held) - 1
			}
			if err := held[last].read(&l); err != nil {
				yield(nil, err)
				return
			}
		}
		release()
	}
}

// predict asks the rules what the record displays of the reports.
func (h *holding) predict() {
	readings := map[int][]display.Reading{}
	for i := range h.entries {
		if e := &h.entries[i]; !e.Elsewhere {
			readings[e.report] = append(readings[e.report], e.Reading)
		}
	}
	var d display.Display
	for report, read := range readings {
		d.Store(report, read)
	}
	for _, e := range d.Events() {
		if e.DOI == h.doi {
			h.events = append(h.events, e)
		}
	}
}

// findUnlisted lists the records that are not among those of the account.
func (c *comparison) findUnlisted(ctx context.Context, held []*holding) error {
	const most = 8 << 10 // bytes of names in an address
	of, names, size := map[string]*holding{}, []string(nil), 0
	for _, h := range held {
		if _, err := doi.Parse(h.doi); err != nil || h.listed != nil || strings.Contains(h.doi, ",") ||
			size+len(h.doi) > most {
			continue
		}
		of[h.doi], names, size = h, append(names, h.doi), size+len(h.doi)
	}
	if len(names) < 2 {
		return nil
	}
	found, err := c.dois.List(ctx, &dois.ListOptions{IDs: names, Detail: true, Fields: fields})
	if err != nil {
		return err
	}
	for i := range found.Records {
		if h := of[doi.Key(found.Records[i].DOI)]; h != nil {
			h.listed = c.recordOf(&found.Records[i])
		}
	}
	return nil
}
