package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/reports"
)

// A receipt is what is printed when all went well.
type receipt struct {
	DryRun       bool         `json:"dry-run"`
	InMemory     bool         `json:"in-memory"`         // nothing real holds the report
	Service      string       `json:"service,omitempty"` // of the others
	ReportID     string       `json:"report-id,omitempty"`
	CreatedBy    string       `json:"created-by"`
	BeginDate    reports.Date `json:"begin-date"`
	EndDate      reports.Date `json:"end-date"`
	Datasets     int64        `json:"datasets"`
	Sent         int          `json:"subsets-sent"`
	AlreadyThere int          `json:"subsets-already-there"`
	Subsets      []subset     `json:"subsets"`
	Kept         int64        `json:"numbers-kept"`               // of earlier versions, which DOI records continue to show
	MoreKept     bool         `json:"more-may-be-kept,omitempty"` // not all earlier versions are known
	Zeros        int64        `json:"zeros-sent"`                 // datasets with the count 0, against that
	LeftOut      int64        `json:"left-out"`
	Faults       []string     `json:"faults"` // of what was left out, the first ones
	Warnings     int          `json:"warnings"`
}

type subset struct {
	Checksum string `json:"checksum"` // SHA-256 of the compressed bytes
	Datasets int    `json:"datasets"`
	Bytes    int64  `json:"bytes"` // compressed
}

func newReceipt(s settings, service string, in *input, stored *reports.Receipt) *receipt {
	r := &receipt{
		DryRun: s.dryRun, InMemory: s.inMemory(), Service: service, ReportID: stored.ReportID,
		CreatedBy: in.header.CreatedBy, BeginDate: in.header.ReportingPeriod.BeginDate, EndDate: in.header.ReportingPeriod.EndDate,
		Datasets: stored.Datasets, Sent: stored.Sent, AlreadyThere: len(stored.Subsets) - stored.Sent,
		Kept: stored.Kept, MoreKept: stored.EarlierUnknown, Zeros: stored.Zeros, LeftOut: int64(in.leftOut), Faults: append([]string{}, in.faults...), Warnings: in.warned,
	}
	for _, part := range stored.Subsets {
		r.Subsets = append(r.Subsets, subset(part))
	}
	if r.InMemory {
		r.Service = ""
	}
	if r.DryRun {
		r.Service, r.ReportID, r.Sent, r.AlreadyThere = "", "", 0, 0
	}
	return r
}

// write returns the receipt as it is printed.
func (r *receipt) write(asJSON bool) (string, error) {
	if !asJSON {
		return r.text(), nil
	}
	data, err := json.MarshalIndent(r, "", "  ")
	return string(data) + "\n", err
}

// kept says what is to be done about numbers that stay; "" if there are none.
func (r *receipt) kept() string {
	var parts []string
	if r.Kept > 0 {
		parts = append(parts, fmt.Sprintf("%d numbers of earlier versions, which DOI records continue to show; run it again with -dropped zero to remove them", r.Kept))
	}
	if r.MoreKept {
		parts = append(parts, "perhaps numbers of earlier versions that are not known on this machine; the program usagecheck finds them")
	}
	return strings.Join(parts, "; ")
}

func (r *receipt) text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-14s "+format+"\n", append([]any{name}, args...)...)
	}
	switch {
	case r.DryRun:
		fmt.Fprintln(&b, "The report could be sent; nothing was.")
	case r.InMemory:
		fmt.Fprintln(&b, "The service in memory held exactly this report, and is gone: no real service was sent anything.")
		line("service", "in memory")
	default:
		fmt.Fprintln(&b, "The service holds exactly this report.")
		line("service", "%s", r.Service)
	}
	if !r.DryRun {
		line("report", "%s", r.ReportID)
	}
	line("created by", "%s", r.CreatedBy)
	line("period", "%s to %s", r.BeginDate, r.EndDate)
	line("datasets", "%d", r.Datasets)
	for i, part := range r.Subsets {
		line(fmt.Sprintf("subset %d", i+1), "%s  %d datasets, %d bytes", part.Checksum, part.Datasets, part.Bytes)
	}
	if !r.DryRun {
		line("sent now", "%d of %d subsets", r.Sent, len(r.Subsets))
		line("already there", "%d of %d subsets", r.AlreadyThere, len(r.Subsets))
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
