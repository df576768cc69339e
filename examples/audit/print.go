package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/dois"
)

// A writer writes differences in a format.
type writer struct {
	write func(*dois.Difference) error
	close func() error
}

// A row is one thing that differs.
type row struct {
	Kind   dois.DifferenceKind `json:"kind"`
	DOI    string              `json:"doi"`
	Path   string              `json:"path,omitempty"`
	Wanted string              `json:"wanted,omitempty"`
	Found  string              `json:"found,omitempty"`
	Reason string              `json:"reason,omitempty"`
}

// rows are the parts of a difference, or the one of a DOI as a whole.
func rows(d *dois.Difference) (all []row) {
	for _, c := range d.Changes {
		all = append(all, row{Kind: d.Kind, DOI: d.DOI, Path: c.Path, Wanted: c.Wanted, Found: c.Found})
	}
	for _, f := range d.Findings {
		all = append(all, row{Kind: d.Kind, DOI: d.DOI, Path: f.Path, Found: f.Value, Reason: f.Message})
	}
	if all == nil {
		all = []row{{Kind: d.Kind, DOI: d.DOI}}
	}
	return all
}

func newWriter(out io.Writer, format string) (*writer, error) {
	each := func(one func(row) error) func(*dois.Difference) error {
		return func(d *dois.Difference) error {
			for _, r := range rows(d) {
				if err := one(r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	done := func() error { return nil }
	switch format {
	case "jsonl":
		lines := json.NewEncoder(out)
		return &writer{each(func(r row) error { return lines.Encode(r) }), done}, nil
	case "csv":
		lines := csv.NewWriter(out)
		err := lines.Write([]string{"kind", "doi", "path", "wanted", "found", "reason"})
		return &writer{each(func(r row) error {
			return lines.Write([]string{string(r.Kind), r.DOI, r.Path, r.Wanted, r.Found, r.Reason})
		}), func() error { lines.Flush(); return lines.Error() }}, err
	}
	return &writer{each(func(r row) error {
		what := r.Reason
		if what == "" && r.Path != "" {
			what = fmt.Sprintf("%.60q is wanted, %.60q was found", r.Wanted, r.Found)
		}
		_, err := fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-10s %-30s %-20s %s", r.Kind, r.DOI, r.Path, what), " "))
		return err
	}), done}, nil
}

// A meter shows how far an audit is, on a terminal alone.
type meter struct {
	out   io.Writer
	live  bool
	began time.Time
	shown bool
}

func (m *meter) tell(p dois.AuditProgress) {
	if !m.live {
		return
	}
	text := fmt.Sprintf("%d wanted, %d found", p.Wanted, p.Found)
	if p.Total > 0 && p.Found > 0 && p.Found < p.Total {
		left := time.Duration(float64(time.Since(m.began)) * float64(p.Total-p.Found) / float64(p.Found))
		text += fmt.Sprintf(" of %d, %v left", p.Total, left.Round(time.Second))
	}
	fmt.Fprintf(m.out, "\r\033[K%s, %d compared, %d differ", text, p.Compared, p.Differences)
	m.shown = true
}

func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.out, "\r\033[K")
	}
	m.shown = false
}
