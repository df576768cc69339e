package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/internal/sheet"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// A printer writes differences in one format.
type printer interface {
	print(*shown.Difference) error
	end() error // after the last one
}

var formats = map[string]func(io.Writer) printer{
	"table": func(out io.Writer) printer { return &table{out: out} },
	"csv":   newCSV,
	"jsonl": func(out io.Writer) printer { return lines{json.NewEncoder(out)} },
}

// A table is for people.
type table struct {
	out    io.Writer
	headed bool
}

func (t *table) print(d *shown.Difference) error {
	if !t.headed {
		t.headed = true
		if _, err := fmt.Fprintf(t.out, "%-32s %-7s %-9s %13s %13s  %s\n", "DOI", "MONTH", "OF", "REPORTED", "SHOWN", "CAUSE"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.out, "%-32s %-7s %-9s %13s %13s  %s\n", program.Clean(d.DOI), d.Month, d.Metric, program.Number(d.Reported), program.Number(d.Shown), d.Cause)
	return err
}

func (t *table) end() error { return nil }

// A csvTable is CSV with a header.
type csvTable struct{ w *sheet.CSVWriter }

func newCSV(out io.Writer) printer {
	s := csvTable{sheet.NewCSVWriter(out)}
	_ = s.w.Write([]string{"doi", "month", "metric", "reported", "expected", "shown", "cause", "detail", "reports"}) // end returns the error
	return s
}

func (s csvTable) print(d *shown.Difference) error {
	var expected []string
	for _, n := range d.Expected {
		expected = append(expected, strconv.FormatInt(n, 10))
	}
	return s.w.Write([]string{
		d.DOI, d.Month, string(d.Metric), strconv.FormatInt(d.Reported, 10), strings.Join(expected, " or "), strconv.FormatInt(d.Shown, 10),
		string(d.Cause), d.Detail, strings.Join(d.Reports, " "),
	})
}

func (s csvTable) end() error {
	s.w.Flush()
	return s.w.Error()
}

func (s csvTable) Defused() int { return s.w.Defused }

// lines are JSON objects, one a line.
type lines struct{ to *json.Encoder }

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
	}(*d))
}

func (l lines) end() error { return nil }
