package check

import (
	"io"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// object is a difference as --json prints it.
type object struct {
	DOI      string        `json:"doi"`
	Month    string        `json:"month"`
	Metric   shown.Metric  `json:"metric"`
	Reported int64         `json:"reported"`
	Expected []int64       `json:"expected"`
	Shown    int64         `json:"shown"`
	Cause    datacite.Code `json:"cause"`
	Detail   string        `json:"detail,omitempty"`
	Reports  []string      `json:"reports"`
	Service  string        `json:"service"`
}

type printer = *table.Printer[*shown.Difference]

func (c *command) printer(out io.Writer) printer {
	l := &table.Layout[*shown.Difference]{
		Heads: []string{"DOI", "MONTH", "OF", "REPORTED", "SHOWN", "CAUSE"},
		Cells: func(d *shown.Difference) []string {
			return []string{d.DOI, d.Month, string(d.Metric), shell.Number(d.Reported), shell.Number(d.Shown), string(d.Cause)}
		},
		Columns: []string{"doi"}, Others: []string{"month", "metric", "reported", "expected", "shown", "cause", "detail",
			"reports", "service"},
		Row: func(d *shown.Difference) *table.Row {
			var expected []string
			for _, n := range d.Expected {
				expected = append(expected, strconv.FormatInt(n, 10))
			}
			return &table.Row{DOI: d.DOI, Others: []string{
				d.Month, string(d.Metric), strconv.FormatInt(d.Reported, 10), strings.Join(expected, " or "),
				strconv.FormatInt(d.Shown, 10),
				string(d.Cause), d.Detail, strings.Join(d.Reports, " "), c.service.Host,
			}}
		},
		Object: func(d *shown.Difference) any {
			return object{d.DOI, d.Month, d.Metric, d.Reported, d.Expected, d.Shown, d.Cause, d.Detail, d.Reports,
				c.service.Host}
		},
	}
	return l.Printer(c.Shell, c.Format, out)
}
