package check

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// A page shows the result of a comparison to people.
type page struct {
	Account     string
	Creator     string
	Service     string // for people
	Resolver    string // "" if it is not known
	At          time.Time
	Progress    shown.Progress
	Months      []shown.Month
	Differences int64
	Largest     []*shown.Difference
	LeftOut     []string // reports, and why
	Some        bool     // not all causes were checked
	MostUsed    []used
	Used        int // records with views
	Records     int

	causes map[datacite.Code]*causeTotal
	wrong  int    // DOIs with differences, which follow each other
	last   string // of them
}

// A causeTotal sums the differences of one cause.
type causeTotal struct {
	Cause       datacite.Code
	Differences int64
	Missing     int64 // sum by which numbers are too low
	Surplus     int64 // sum by which numbers are too high
}

// A used dataset is one of those with the most views.
type used struct {
	DOI, Title       string
	Views, Downloads int
}

func (c *command) newPage() *page {
	return &page{
		Account: c.account, Creator: c.opts.CreatedBy, Service: c.service.String(), Resolver: c.service.Resolver(),
		At: time.Now(), Some: c.opts.Causes != nil, causes: map[datacite.Code]*causeTotal{},
	}
}

// mostUsed is how many datasets are shown by name.
const mostUsed = 20

// addMostUsed asks the service for the most used datasets, and how many have been used at all. They
// are those of the account, whoever reported their usage, so a page about one creator lacks them.
func (p *page) addMostUsed(ctx context.Context, client *dois.Client) error {
	if p.Creator != "" {
		return nil
	}
	list := func(size int, q query.Expr) (*dois.Results, error) {
		return client.List(ctx, &dois.ListOptions{
			ClientID: []string{p.Account}, Query: q, Sort: query.ByViewCount.Desc(), Page: query.Page{Number: 1, Size: size},
			Fields: []string{"doi", "titles", "viewCount", "downloadCount"},
		})
	}
	all, err := list(mostUsed, nil)
	if err != nil {
		return err
	}
	for i := range all.Records {
		if r := &all.Records[i]; r.ViewCount+r.DownloadCount > 0 {
			p.MostUsed = append(p.MostUsed, used{r.DOI, r.Title(), r.ViewCount, r.DownloadCount})
		}
	}
	some, err := list(1, query.FieldViewCount.Between("1", ""))
	if err != nil {
		return err
	}
	p.Records, p.Used = all.Total, some.Total
	return nil
}

// A coverage is how many of the months from the first to the last have a report.
type coverage struct {
	Months, Of int
	Missing    []string
}

// Coverage looks for months without a report between the first and the last one.
func (p *page) Coverage() (c coverage) {
	reported := map[string]bool{}
	first, last := "", ""
	for _, m := range p.Months {
		if m.Views.Reported+m.Downloads.Reported > 0 {
			reported[m.Month] = true
			first, last = cmp.Or(first, m.Month), m.Month
		}
	}
	at, err := time.Parse("2006-01", first)
	for ; err == nil && at.Format("2006-01") <= last; at = at.AddDate(0, 1, 0) {
		c.Of++
		if month := at.Format("2006-01"); reported[month] {
			c.Months++
		} else {
			c.Missing = append(c.Missing, month)
		}
	}
	return c
}

// A trend compares the views of the last months that are over with those of as many before.
type trend struct {
	Months        int
	Before, After int64
}

// Change is the difference in words.
func (t trend) Change() string {
	if t.Before == 0 {
		return "new"
	}
	return fmt.Sprintf("%+.0f %%", 100*float64(t.After-t.Before)/float64(t.Before))
}

// Timeline is the months from the first to the last, also those without a number.
func (p *page) Timeline() (all []shown.Month) {
	for _, m := range p.Months {
		for len(all) > 0 {
			last, err := time.Parse("2006-01", all[len(all)-1].Month)
			next := last.AddDate(0, 1, 0).Format("2006-01")
			if err != nil || next >= m.Month {
				break
			}
			all = append(all, shown.Month{Month: next})
		}
		all = append(all, m)
	}
	return all
}

// Running is the last month if it is not over, or else "".
func (p *page) Running() string {
	if now := p.At.UTC().Format("2006-01"); len(p.Months) > 0 && p.Months[len(p.Months)-1].Month == now {
		return now
	}
	return ""
}

// Trend has at most a year on each side; nil if there are not two months.
func (p *page) Trend() *trend {
	const year = 12
	months := p.Timeline()
	if p.Running() != "" {
		months = months[:len(months)-1]
	}
	n := min(year, len(months)/2)
	if n == 0 {
		return nil
	}
	t := &trend{Months: n}
	for i, m := range months[len(months)-2*n:] {
		if i < n {
			t.Before += m.Views.Shown
		} else {
			t.After += m.Views.Shown
		}
	}
	return t
}

const largest = 50

func (p *page) add(d *shown.Difference) {
	if p.Differences++; d.DOI != p.last {
		p.wrong, p.last = p.wrong+1, d.DOI
	}
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

var pageTemplate = shell.PageTemplate("page", pageText, template.FuncMap{
	"long":     shell.Number[int64],
	"chart":    newChart,
	"change":   change,
	"sentence": shown.Sentence,
	"remedy":   func(c datacite.Code) string { return remedies[c] },
	"largest":  func() int { return largest },
	"mostBars": func() int { return mostBars },
	"sum":      func(a, b int) int { return a + b },
})

// change is a difference with its sign.
func change(reported, shown int64) string {
	switch d := shown - reported; {
	case d > 0:
		return "+" + shell.Number(d)
	default:
		return shell.Number(d)
	}
}

// Address is where a DOI leads; "" for other names, and where the resolver of the service is not known.
func (p *page) Address(name string) string {
	if _, err := doi.Parse(name); err != nil || p.Resolver == "" {
		return ""
	}
	return p.Resolver + strings.TrimPrefix(doi.URL(name), "https://doi.org")
}

// remedies are the advice for each cause.
var remedies = map[datacite.Code]string{
	datacite.CodeNotProcessed:  "Wait, and check again in a day or two.",
	datacite.CodeLost:          "Store the report again. If that does not help, ask the operator of the service.",
	datacite.CodeNoRecord:      "Register the DOI, or correct it in the report.",
	datacite.CodeReportedTwice: "Decide which of the reports counts, and store the others again with counts of 0.",
	datacite.CodeLeft:          "Store the report again with a count of 0 for these DOIs.",
	datacite.CodeUnreported: "Nothing, if another account or creator is right to report these DOIs. If not, ask " +
		"the operator of the service.",
	datacite.CodeNotRegular:       "Store the report again with a count of 0 for people.",
	datacite.CodeNotUnique:        "Report unique counts as well.",
	datacite.CodeTooManyInstances: "Report one count for each metric and access method, with its countries inside.",
	datacite.CodeLaterPerformance: "Put all counts of a dataset into one performance.",
	datacite.CodeSeveralCounts:    "Add the counts up, and report one.",
	datacite.CodeLaterIdentifier:  "Put the DOI before other identifiers.",
	datacite.CodeNotADOI:          "Report datasets by their DOI.",
	datacite.CodeSpelling:         "Write the DOI bare, such as 10.5072/abc.",
	datacite.CodeCharacters:       "Nothing: the service shows no counts of these DOIs.",
	datacite.CodeOtherDOI:         "Report these datasets under a DOI without # and ?.",
	datacite.CodeOtherMonth:       "Give the begin date of the report as a day, such as 2026-10-01.",
	datacite.CodeTooLarge:         "Correct the count.",
	datacite.CodeNoCount:          "Store the report again with the count, or with 0.",
}
