package send

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/source"
	"github.com/datacite-go/datacite-go/reports"
)

// A receipt is what is printed when all went well.
type receipt struct {
	DryRun       bool         `json:"dryRun"`
	Service      string       `json:"service,omitempty"` // its host
	ReportID     string       `json:"report,omitempty"`  // in a dry run the one that would be replaced
	CreatedBy    string       `json:"createdBy"`
	BeginDate    reports.Date `json:"begin"`
	EndDate      reports.Date `json:"end"`
	Datasets     int64        `json:"datasets"`
	Sent         int          `json:"sent"`         // subsets
	AlreadyThere int          `json:"alreadyThere"` // subsets
	Subsets      []subset     `json:"subsets"`
	// Kept: numbers of earlier versions, which DOI records continue to show
	Kept     int64    `json:"kept"`
	MoreKept bool     `json:"moreKept,omitempty"` // perhaps: not all earlier versions are known
	Zeros    int64    `json:"zeros"`              // datasets with the count 0, against that
	LeftOut  int64    `json:"leftOut"`
	Faults   []string `json:"faults"` // of what was left out, the first ones
	Warnings int      `json:"warnings"`

	service string // for people
}

type subset struct {
	Checksum string `json:"checksum"` // SHA-256 of the compressed bytes
	Datasets int    `json:"datasets"`
	Bytes    int64  `json:"bytes"` // compressed
}

func (c *command) newReceipt(in *source.Report, stored *reports.Receipt) *receipt {
	r := &receipt{
		DryRun: c.DryRun, CreatedBy: in.Header.CreatedBy, BeginDate: in.Header.ReportingPeriod.BeginDate,
		EndDate:  in.Header.ReportingPeriod.EndDate,
		Datasets: stored.Datasets, Kept: stored.Kept, MoreKept: stored.EarlierUnknown, Zeros: stored.Zeros,
		LeftOut: int64(in.LeftOut), Faults: append([]string{}, in.Faults...), Warnings: in.Warned,
	}
	for _, part := range stored.Subsets {
		r.Subsets = append(r.Subsets, subset(part))
	}
	if r.ReportID = stored.ReportID; c.service != nil {
		r.Service, r.service = c.service.Host, c.service.String()
	}
	if !c.DryRun {
		r.Sent, r.AlreadyThere = stored.Sent, len(stored.Subsets)-stored.Sent
	}
	return r
}

// kept says what is to be done about numbers that stay; "" if there are none.
func (r *receipt) kept() string {
	var parts []string
	if r.Kept > 0 {
		parts = append(parts, fmt.Sprintf(
			"%d numbers of earlier versions, which DOI records continue to show; run it again with --zero-dropped to remove "+
				"them", r.Kept))
	}
	if r.MoreKept {
		parts = append(parts, "perhaps numbers of earlier versions that are not known on this machine; datacite usage "+
			"check finds them")
	}
	return strings.Join(parts, "; ")
}

func (r *receipt) text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-14s "+format+"\n", append([]any{name}, args...)...)
	}
	switch {
	case r.DryRun && r.service == "":
		fmt.Fprintln(&b, "Dry run: nothing sent. The report could be.")
	case r.DryRun:
		fmt.Fprintf(&b, "Dry run: nothing sent. %s would hold exactly this report.\n", r.service)
		line("replaces", "%s", cmp.Or(r.ReportID, "no report"))
	default:
		fmt.Fprintf(&b, "%s holds exactly this report.\n", r.service)
		line("report", "%s", r.ReportID)
	}
	line("created by", "%s", r.CreatedBy)
	line("period", "%s to %s", r.BeginDate, r.EndDate)
	line("datasets", "%s", shell.Number(r.Datasets))
	for i, part := range r.Subsets {
		line(fmt.Sprintf("subset %d", i+1), "%s  %s, %s", part.Checksum, shell.Count(part.Datasets, "dataset"),
			shell.Count(part.Bytes, "byte"))
	}
	if !r.DryRun {
		line("sent now", "%s of %s", shell.Number(r.Sent), shell.Count(len(r.Subsets), "subset"))
		line("already there", "%s of %s", shell.Number(r.AlreadyThere), shell.Count(len(r.Subsets), "subset"))
	}
	if kept := r.kept(); kept != "" {
		line("kept", "%s", kept)
	}
	if r.Zeros > 0 {
		line("zeros", "%d datasets with the count 0, which earlier versions had", r.Zeros)
	}
	line("left out", "%d datasets", r.LeftOut)
	for _, f := range r.Faults {
		line("", "%s", f)
	}
	line("warnings", "%d", r.Warnings)
	return b.String()
}
