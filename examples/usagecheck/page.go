package main

import (
	"cmp"
	_ "embed"
	"html/template"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// A page shows the result of a comparison to people.
type page struct {
	Account     string
	Creator     string
	At          time.Time
	Progress    shown.Progress
	Months      []shown.Month
	Differences int64
	Largest     []*shown.Difference
	LeftOut     []string // reports, and why
	Some        bool     // not all causes were checked

	causes map[shown.Cause]*causeTotal
}

// A causeTotal sums the differences of one cause.
type causeTotal struct {
	Cause       shown.Cause
	Differences int64
	Missing     int64 // sum by which numbers are too low
	Surplus     int64 // sum by which numbers are too high
}

func newPage(s *settings) *page {
	return &page{
		Account: s.account, Creator: s.options.CreatedBy, At: time.Now(), Some: s.options.Causes != nil, causes: map[shown.Cause]*causeTotal{},
	}
}

const largest = 50

func (p *page) add(d *shown.Difference) {
	p.Differences++
	c := p.causes[d.Cause]
	if c == nil {
		c = &causeTotal{Cause: d.Cause}
		p.causes[d.Cause] = c
	}
	c.Differences++
	c.Missing += max(d.Reported-d.Shown, 0)
	c.Surplus += max(d.Shown-d.Reported, 0)
	at, _ := slices.BinarySearchFunc(p.Largest, d, func(a, b *shown.Difference) int {
		return cmp.Or(cmp.Compare(off(b.Reported, b.Shown), off(a.Reported, a.Shown)), -1)
	})
	if p.Largest = slices.Insert(p.Largest, at, d); len(p.Largest) > largest {
		p.Largest = p.Largest[:largest]
	}
}

// off is the deviation of a number.
func off(reported, shown int64) int64 { return max(shown-reported, reported-shown) }

// Causes are the causes found, most frequent first.
func (p *page) Causes() (all []*causeTotal) {
	for _, cause := range shown.AllCauses() {
		if c := p.causes[cause]; c != nil {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *causeTotal) int { return cmp.Compare(b.Differences, a.Differences) })
	return all
}

// Views and Downloads are the totals of all months.
func (p *page) Views() (sum shown.Total) {
	for i := range p.Months {
		plus(&sum, p.Months[i].Views)
	}
	return sum
}

func (p *page) Downloads() (sum shown.Total) {
	for i := range p.Months {
		plus(&sum, p.Months[i].Downloads)
	}
	return sum
}

func plus(sum *shown.Total, t shown.Total) {
	sum.Reported += t.Reported
	sum.Shown += t.Shown
	sum.Differences += t.Differences
}

// Newest are the months, newest first.
func (p *page) Newest() []shown.Month {
	months := slices.Clone(p.Months)
	slices.Reverse(months)
	return months
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":    program.Style,
	"number":   program.Number[int64],
	"count":    program.Number[int],
	"things":   program.Count[int],
	"chart":    newChart,
	"change":   change,
	"sentence": func(c shown.Cause) string { return c.Sentence() },
	"remedy":   func(c shown.Cause) string { return remedies[c] },
	"address":  address,
	"largest":  func() int { return largest },
	"mostBars": func() int { return mostBars },
	"sum":      func(a, b int) int { return a + b },
}).Parse(pageText))

// change is a difference with its sign.
func change(reported, shown int64) string {
	switch d := shown - reported; {
	case d > 0:
		return "+" + program.Number(d)
	default:
		return program.Number(d)
	}
}

// address is the URL of a DOI; "" for other names.
func address(name string) string {
	if _, err := doi.Parse(name); err != nil {
		return ""
	}
	return doi.Address(name)
}

// remedies are the advice for each cause.
var remedies = map[shown.Cause]string{
	shown.NotProcessed:     "Wait, and check again in a day or two.",
	shown.Lost:             "Store the report again. If that does not help, ask the operator of the service.",
	shown.NoRecord:         "Register the DOI, or correct it in the report.",
	shown.ReportedTwice:    "Decide which of the reports counts, and store the others again with counts of 0.",
	shown.Left:             "Store the report again with a count of 0 for these DOIs.",
	shown.Unreported:       "Nothing, if another account or creator is right to report these DOIs. If not, ask the operator of the service.",
	shown.NotRegular:       "Store the report again with a count of 0 for people.",
	shown.NotUnique:        "Report unique counts as well.",
	shown.TooManyInstances: "Report one count for each metric and access method, with its countries inside.",
	shown.LaterPerformance: "Put all counts of a dataset into one performance.",
	shown.SeveralCounts:    "Add the counts up, and report one.",
	shown.LaterIdentifier:  "Put the DOI before other identifiers.",
	shown.NotADOI:          "Report datasets by their DOI.",
	shown.Spelling:         "Write the DOI bare, such as 10.5072/abc.",
	shown.Characters:       "Nothing: the service shows no counts of these DOIs.",
	shown.OtherDOI:         "Report these datasets under a DOI without # and ?.",
	shown.OtherMonth:       "Give the begin date of the report as a day, such as 2026-10-01.",
	shown.TooLarge:         "Correct the count.",
	shown.NoCount:          "Store the report again with the count, or with 0.",
	shown.LongDOI:          "Nothing: the service keeps the counts of one of these DOIs.",
}
