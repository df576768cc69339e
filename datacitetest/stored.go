package datacitetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
)

// The states of a DOI (specification §3.1). They have no type, so that they compare
// with a dois.State, an mds.State and a string.
const (
	StateDraft      = "draft"
	StateRegistered = "registered" // resolves and is not found by searching
	StateFindable   = "findable"   // resolves and is found by searching
)

// State returns the state of a DOI, or "" if the server does not know it.
func (s *Server) State(doi string) string { return s.service.State(doi) }

// Names returns the DOIs that the server has, in any state, sorted and in lower
// case.
func (s *Server) Names() []string { return s.service.Names() }

// Resolve returns what the global resolver would answer now: the URL of a DOI once
// its ResolveDelay has passed (see [Server.Advance]), else "". The error is the
// context's.
func (s *Server) Resolve(ctx context.Context, doi string) (url string, err error) {
	url, _ = s.service.Resolve(doi)
	return url, ctx.Err()
}

// PutRecord stores a record as it is, without checking it. Needed is the DOI; a record
// without State is findable. One with Raw is stored as Raw says.
func (s *Server) PutRecord(r *dois.Record) error {
	data := r.Raw
	if data == nil {
		var err error
		if data, err = json.Marshal(r); err != nil {
			return err
		}
	}
	return s.PutRecordJSON(data)
}

// PutRecordJSON stores a record given as the JSON object of its attributes, in which
// any member may have any type. Needed is "doi". "state", "url" and "xml" (base64)
// say what else there is; "client" says whose it is, be it an account or not.
func (s *Server) PutRecordJSON(attributes []byte) error {
	return s.service.PutRecordOf(s.account.ClientID, attributes)
}

// PutReport stores a report as it is, without checking it, and returns its id: r.ID,
// or a new one if that is empty.
func (s *Server) PutReport(r *reports.Report) (id string, err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return s.PutReportJSON(data)
}

// PutReportJSON stores a report given as JSON, in which any member of the header and
// the datasets may have any type: {"id", "report-header", "report-datasets"}. It
// returns the id, a new one if there is none.
func (s *Server) PutReportJSON(report []byte) (id string, err error) {
	return s.service.PutReportOf(s.account.ClientID, report)
}

// A StoredReport is a usage report as the server holds it.
type StoredReport struct {
	ID       string
	ClientID string         // of the account that sent it
	Subsets  []StoredSubset // in the order in which they came; of a plain report the one

	server *Server
}

// A StoredSubset is a part of a stored report.
type StoredSubset struct {
	Checksum string // SHA-256 of the body, in hex
	Body     []byte // as it came, compressed or not; a Deployed server's own gzip of plain JSON, and nil if it has lost it
}

// StoredReports returns the usage reports that the server holds, by id.
func (s *Server) StoredReports() []StoredReport {
	var all []StoredReport
	for _, kept := range s.service.StoredReports() {
		r := StoredReport{ID: kept.ID, ClientID: kept.Owner, server: s}
		for _, subset := range kept.Subsets {
			r.Subsets = append(r.Subsets, StoredSubset{Checksum: subset.Checksum, Body: bytes.Clone(subset.Body)})
		}
		all = append(all, r)
	}
	return all
}

// Report returns the report as the server shows it now, with the datasets of all its
// subsets. The error is what a GET would be answered, such as that of a report that
// overlapping writes have broken.
func (r StoredReport) Report() (*reports.Report, error) {
	fail := func(err error) error { return fmt.Errorf("datacitetest: report %s: %w", r.ID, err) }
	var shown bytes.Buffer
	if err := r.server.service.ShowReport(&shown, r.ID); err != nil {
		return nil, fail(err)
	}
	read, err := reports.NewReader(bytes.NewReader(shown.Bytes()))
	if err != nil {
		return nil, fail(err)
	}
	defer read.Close()
	report := &reports.Report{ID: r.ID}
	for dataset, err := range read.Datasets() {
		if err != nil {
			return nil, fail(err)
		}
		report.Datasets = append(report.Datasets, dataset)
	}
	report.Header = read.Header
	return report, nil
}
