package count

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/source"
	"github.com/datacite-go/datacite-go/reports"
)

// totals are of the whole report.
type totals struct {
	datasets, untitled int64
	counts             counts
	views, downloads   int64  // what DOI records show: unique counts of people
	most               []used // the ten most used datasets
}

// counts are total and unique investigations and requests.
type counts [4]int64

var metrics = [...]reports.MetricType{
	reports.MetricTotalDatasetInvestigations, reports.MetricUniqueDatasetInvestigations,
	reports.MetricTotalDatasetRequests, reports.MetricUniqueDatasetRequests,
}

func (c counts) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"totalInvestigations":%d,"uniqueInvestigations":%d,"totalRequests":%d,"uniqueRequests":%d}`,
		c[0], c[1], c[2], c[3]), nil
}

type used struct {
	DOI    string `json:"doi"`
	Title  string `json:"title,omitempty"`
	Counts counts `json:"counts"`
}

// add adds up the datasets while they go by.
func (t *totals) add(datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for d, err := range datasets {
			if err == nil {
				t.addOne(&d)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func (t *totals) addOne(d *reports.Dataset) {
	t.datasets++
	if lacks(d) {
		t.untitled++
	}
	u := used{d.DatasetID[0].Value, d.Title, countsOf(d)}
	for i, n := range u.Counts {
		t.counts[i] += n
	}
	for _, p := range d.Performance {
		for _, i := range p.Instance {
			switch {
			case i.AccessMethod != reports.AccessRegular:
			case i.MetricType == reports.MetricUniqueDatasetInvestigations:
				t.views += i.Count
			case i.MetricType == reports.MetricUniqueDatasetRequests:
				t.downloads += i.Count
			}
		}
	}
	const shown = 10
	at, _ := slices.BinarySearchFunc(t.most, u, func(a, b used) int { // of equal ones the first
		return cmp.Or(cmp.Compare(b.Counts[0], a.Counts[0]), -1)
	})
	t.most = slices.Insert(t.most, at, u)
	t.most = t.most[:min(len(t.most), shown)]
}

func countsOf(d *reports.Dataset) (all counts) {
	for _, p := range d.Performance {
		for _, i := range p.Instance {
			all[slices.Index(metrics[:], i.MetricType)] += i.Count
		}
	}
	return all
}

// writeTable writes the counts of datasets, from which the same datasets can be made again, but
// for what has no column.
func writeTable(out io.Writer, datasets iter.Seq2[reports.Dataset, error], spreadsheet bool) error {
	w := source.NewWriter(out, spreadsheet)
	for d, err := range datasets {
		if err != nil {
			return err
		}
		row := reports.Row{DOI: d.DatasetID[0].Value, Title: d.Title, YOP: d.YOP, URI: d.URI, Platform: d.Platform,
			Publisher: d.Publisher}
		for _, i := range d.Performance[0].Instance {
			row.Metric, row.Access = i.MetricType, i.AccessMethod
			left := i.Count
			for _, c := range append(slices.Clone(i.CountryCounts), reports.CountryCount{}) {
				if row.Country, row.Count = c.Country, c.Count; c.Country == "" {
					row.Count = left // those without a country
				}
				left -= c.Count
				if row.Count == 0 {
					continue
				}
				if err := w.Write(row); err != nil {
					return err
				}
			}
		}
	}
	return w.Close()
}

// A summary is what was counted, for programs.
type summary struct {
	CreatedBy     string       `json:"createdBy,omitempty"`
	BeginDate     reports.Date `json:"begin"`
	EndDate       reports.Date `json:"end"`
	Partial       bool         `json:"partial"` // of the month
	Output        string       `json:"output,omitempty"`
	Files         int          `json:"files"`         // that were read now
	Before        int          `json:"countedBefore"` // files
	Lines         int64        `json:"lines"`
	Comments      int64        `json:"comments"`
	Other         int64        `json:"other"`
	Faulty        int64        `json:"faulty"`
	Accesses      int64        `json:"accesses"`
	OutsidePeriod int64        `json:"outsidePeriod"`
	CountedBefore int64        `json:"accessesCountedBefore"` // of days that earlier runs counted
	NoDataset     int64        `json:"withoutDataset"`
	Robots        int64        `json:"robots"`
	DoubleClicks  int64        `json:"doubleClicks"`
	Counted       int64        `json:"counted"`
	Datasets      int64        `json:"datasets"`
	Untitled      int64        `json:"untitled"`
	UnknownDOIs   int64        `json:"unknownDOIs"`
	LeftOut       int64        `json:"leftOutInvestigations"`
	Counts        counts       `json:"counts"`
	Views         int64        `json:"views"` // as DOI records show them
	Downloads     int64        `json:"downloads"`
	Servers       []server     `json:"servers"`
	MostUsed      []used       `json:"mostUsed"`
}

// A server is the logs of one.
type server struct {
	Name       string    `json:"name"`
	Logs       int       `json:"logs"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	Days       int       `json:"days"`
	EmptyDays  int       `json:"emptyDays"`
	Hours      int       `json:"hours"`
	EmptyHours int       `json:"emptyHours"`

	text string // for people
}

// summarize prints what became of the lines, and the most used datasets.
func (in *input) summarize(h reports.Header, t *totals, about *describer) error {
	l, e := in.lines, in.events
	s := &summary{
		CreatedBy: in.creator, BeginDate: in.period.BeginDate, EndDate: in.period.EndDate, Partial: len(h.Exceptions) > 0,
		Output: in.Output,
		Files:  len(in.sources) - in.unread, Before: in.unread, Lines: l.Lines(), Comments: l.Comments, Other: l.Other, Faulty: l.Faulty,
		Accesses: l.Events, OutsidePeriod: e.OtherMonths, CountedBefore: l.Events - e.Events(), NoDataset: e.NoDataset, Robots: e.Robots, DoubleClicks: e.DoubleClicks, Counted: e.Counted,
		Datasets: t.datasets, Untitled: t.untitled, UnknownDOIs: about.missing, Counts: t.counts, Views: t.views, Downloads: t.downloads, MostUsed: t.most, LeftOut: about.left,
	}
	for _, of := range serversOf(in.lines.Files) {
		first, last := of.span()
		c := coverageOf(in.reading, 0, &of)
		s.Servers = append(s.Servers, server{of.Name, len(of.Logs), first, last, c.Days, c.EmptyDays, c.Hours, c.EmptyHours,
			serverText(&of)})
	}
	if in.Output == "-" {
		in.Say("%s", s.text(in))
		return nil
	}
	in.Result(s, "%s", s.text(in))
	return nil
}

func (s *summary) text(in *input) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(n int64, format string, args ...any) {
		fmt.Fprintf(w, "%s\t %s\n", shell.Number(n), fmt.Sprintf(format, args...))
	}
	line(s.Lines, "lines in %s", shell.Count(s.Files, "file"))
	if s.Before > 0 {
		line(int64(s.Before), "files were counted in earlier runs; what follows, up to the datasets, is about the others")
	}
	line(s.Comments, "comments and empty lines")
	line(s.Other, "neither investigations nor requests")
	line(s.Faulty, "could not be read")
	line(s.Accesses, "accesses")
	line(s.OutsidePeriod, "not from %s to %s", s.BeginDate, s.EndDate)
	if s.CountedBefore > 0 {
		line(s.CountedBefore, "of days that were counted in earlier runs")
	}
	line(s.NoDataset, "without a dataset")
	line(s.Robots, "by robots")
	line(s.DoubleClicks, "double clicks")
	line(s.Counted, "counted")
	line(s.Datasets, "datasets")
	if s.Untitled > 0 {
		advice := "--describe and --publisher give them"
		if in.describe != "" {
			advice = "nor has --describe; --publisher names a publisher"
		}
		line(s.Untitled, "of them without a title or publisher; %s", advice)
	}
	for i, name := range metrics {
		line(s.Counts[i], "%s", strings.ReplaceAll(string(name), "-dataset-", " "))
	}
	line(s.Views, "views on DOI records: unique investigations by people, not programs")
	line(s.Downloads, "downloads on DOI records: unique requests by people")
	w.Flush()
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nFirst access\tLast access\tDays without\tHours without\tLog")
	for _, of := range s.Servers {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%d of %d\t%s\n", in.at(of.First), in.at(of.Last), of.EmptyDays, of.Days,
			of.EmptyHours, of.Hours, of.text)
	}
	w.Flush()
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nMost used\tInvestigations\tunique\tRequests\tunique\tTitle")
	for _, u := range s.MostUsed {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", u.DOI, shell.Number(u.Counts[0]), shell.Number(u.Counts[1]),
			shell.Number(u.Counts[2]), shell.Number(u.Counts[3]), short(shell.Clean(u.Title)))
	}
	w.Flush()
	of, partial, end := "Counts", "", "not written; --output writes a report (.json) or a table of counts (.csv, .xlsx)"
	if s.CreatedBy != "" {
		of = "Report of " + s.CreatedBy
	}
	if s.Partial {
		partial = fmt.Sprintf(", a part of the month (exception %d)", reports.ExceptionPartial)
	}
	switch s.Output {
	case "":
	case "-":
		end = "written to standard output"
	default:
		end = "written to " + s.Output
	}
	fmt.Fprintf(&b, "\n%s, %s to %s%s\n  %s", of, s.BeginDate, s.EndDate, partial, end)
	return trailing().ReplaceAllString(b.String(), "")
}

var trailing = lazy.Regexp(`(?m) +$`) // of columns that are empty

// at is a time in the zone of the repository.
func (in *input) at(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(in.reading.Location).Format(time.DateTime)
}

// short cuts a long title.
func short(title string) string {
	const most = 60
	if utf8.RuneCountInString(title) <= most {
		return title
	}
	return string([]rune(title)[:most-1]) + "…"
}
