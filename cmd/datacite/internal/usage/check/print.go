package check

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// A printer writes differences in one format.
type printer interface {
	print(*shown.Difference) error
	end() error // after the last one
}

var formats = map[string]func(c *command, out io.Writer) printer{
	shell.FormatTable: func(c *command, out io.Writer) printer {
		t := c.Table(out, "DOI", "MONTH", "OF", "REPORTED", "SHOWN", "CAUSE")
		return &screen{table: t}
	},
	shell.FormatCSV:  func(c *command, out io.Writer) printer { return newSheet(c, out, false) },
	shell.FormatXLSX: func(c *command, out io.Writer) printer { return newSheet(c, out, true) },
	shell.FormatJSON: func(c *command, out io.Writer) printer {
		return lines{json.NewEncoder(shell.Tamed(out)), c.service.Host}
	},
}

// A screen is for people. It has no head without rows.
type screen struct {
	table *shell.Table
	some  bool
}

func (s *screen) print(d *shown.Difference) error {
	s.some = true
	return s.table.Row(d.DOI, d.Month, string(d.Metric), shell.Number(d.Reported), shell.Number(d.Shown), string(d.Cause))
}

func (s *screen) end() error {
	if !s.some {
		return nil
	}
	return s.table.Flush()
}

// A sheet is CSV or .xlsx with a head.
type sheet struct {
	shell   *shell.Shell
	w       *table.Writer
	service string
}

func newSheet(c *command, out io.Writer, spreadsheet bool) printer {
	others := []string{"month", "metric", "reported", "expected", "shown", "cause", "detail", "reports", "service"}
	return sheet{c.Shell, table.NewWriter(shell.Tamed(out), &table.WriterOptions{Columns: []string{"doi"}, Others: others, Spreadsheet: spreadsheet}), c.service.Host}
}

func (s sheet) print(d *shown.Difference) error {
	var expected []string
	for _, n := range d.Expected {
		expected = append(expected, strconv.FormatInt(n, 10))
	}
	_, err := s.w.Write(&table.Row{DOI: d.DOI, Others: []string{
		d.Month, string(d.Metric), strconv.FormatInt(d.Reported, 10), strings.Join(expected, " or "), strconv.FormatInt(d.Shown, 10),
		string(d.Cause), d.Detail, strings.Join(d.Reports, " "), s.service,
	}})
	return err
}

func (s sheet) end() error { return table.End(s.shell, s.w) }

// lines are JSON objects, one a line.
type lines struct {
	to      *json.Encoder
	service string
}

func (l lines) print(d *shown.Difference) error {
	return l.to.Encode(struct {
		DOI      string       `json:"doi"`
		Month    string       `json:"month"`
		Metric   shown.Metric `json:"metric"`
		Reported int64        `json:"reported"`
		Expected []int64      `json:"expected"`
		Shown    int64        `json:"shown"`
		Cause    shown.Cause  `json:"cause"`
		Detail   string       `json:"detail,omitempty"`
		Reports  []string     `json:"reports"`
		Service  string       `json:"service"`
	}{d.DOI, d.Month, d.Metric, d.Reported, d.Expected, d.Shown, d.Cause, d.Detail, d.Reports, l.service})
}

func (l lines) end() error { return nil }
