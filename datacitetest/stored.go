package datacitetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/reports"
)

// State returns the state of a DOI as a text, such as "findable", or "" if the server does not know it.
func (s *Server) State(doi string) string { return s.served().Current().State(doi) }

// Record returns a record as its owner gets it, with all details. Unlike [dois.Client.Get]
// it sends no request, returns the records of all accounts, and is not affected by Faults.
// An error for a DOI that the server does not know matches [datacite.ErrNotFound].
func (s *Server) Record(doi string) (*dois.Record, error) {
	shown := s.served().Current().ShowRecord(doi)
	if shown == nil {
		return nil, fmt.Errorf("datacitetest.Record: %s: %w", doi, datacite.ErrNotFound)
	}
	data, err := json.Marshal(shown)
	record := new(dois.Record)
	if err == nil {
		err = json.Unmarshal(data, record)
	}
	if err != nil {
		return nil, fmt.Errorf("datacitetest.Record: %s: %w", doi, err)
	}
	return record, nil
}

// Names returns all DOIs of the server, sorted and in lower case.
func (s *Server) Names() []string { return s.served().Current().Names() }

// Resolve returns the URL that the global resolver has for a DOI: the DOI's URL after
// ResolveDelay (see [Server.Advance]), before that "". The error is the context's.
func (s *Server) Resolve(ctx context.Context, doi string) (url string, err error) {
	url, _ = s.served().Current().Resolve(doi)
	return url, ctx.Err()
}

// PutRecord stores a record without checking it. Only the DOI is required; a record without
// State is findable. If the record has Raw, Raw is stored.
func (s *Server) PutRecord(r *dois.Record) error {
	if r == nil {
		return isNil
	}
	data := r.Raw
	if data == nil {
		var err error
		if data, err = json.Marshal(r); err != nil {
			return err
		}
	}
	return s.PutRecordJSON(data)
}

// PutRecordJSON stores a record given as the JSON object of its attributes. Only "doi" is
// required. The server reads "state" (findable if not given), "url", "created", "updated"
// and "registered" (RFC 3339, date or year; now), "client", "provider" and "consortium"
// (ids; the account's), "source", "metadataVersion" and "xml" (base64). All other members,
// of any type, are shown unchanged. If there are none, they are read from the XML. Given
// views and downloads are shown until a usage report counts for the DOI
// ([Options].UsageLag); given numbers of related records are always shown.
func (s *Server) PutRecordJSON(attributes []byte) error {
	return refused("attributes", s.served().Current().PutRecordOf(s.account.ClientID, attributes))
}

// PutReport stores a report without checking it, and returns its id: r.ID, or a new one
// if that is empty.
func (s *Server) PutReport(r *reports.Report) (id string, err error) {
	if r == nil {
		return "", isNil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return s.PutReportJSON(data)
}

// PutReportJSON stores a report given as JSON, {"id", "report-header", "report-datasets"},
// and returns its id, a new one if it has no id. The contents of header and datasets are
// not checked; with exception 69 it is a compressed report.
func (s *Server) PutReportJSON(report []byte) (id string, err error) {
	id, err = s.served().Current().PutReportOf(s.account.ClientID, report)
	return id, refused("report", err)
}

// refused is what is wrong with a parameter that is to be stored.
func refused(path string, err error) error {
	return input.Invalid(err, datacite.Finding{Path: path, Code: datacite.CodeRefused})
}

var isNil = datacite.Invalidf("r", datacite.CodeMissing, "is nil")

// A StoredReport is a usage report as the server holds it.
type StoredReport struct {
	ReportID string
	ClientID string         // of the account that first sent it
	Header   reports.Header // as the server keeps it; members of other types than a Header has are left out
	Subsets  []StoredSubset // in the order in which they came; a plain report has one

	server *Server
}

// A StoredSubset is a part of a stored report.
type StoredSubset struct {
	Checksum string // SHA-256 of the body, in hex
	Body     []byte // gzip or JSON as it came; a Deployed server compresses JSON; nil if it is lost
}

// StoredReports returns the usage reports that the server holds, by id.
func (s *Server) StoredReports() []StoredReport {
	var all []StoredReport
	for _, kept := range s.served().Current().StoredReports() {
		r := StoredReport{ReportID: kept.ID, ClientID: kept.Owner, server: s}
		_ = json.Unmarshal(kept.Header, &r.Header) // PutReportJSON stores any
		for _, subset := range kept.Subsets {
			r.Subsets = append(r.Subsets, StoredSubset{Checksum: subset.Checksum, Body: bytes.Clone(subset.Body)})
		}
		all = append(all, r)
	}
	return all
}

// Report returns the report as the server shows it now, with the datasets of all its
// subsets. The error is that of a GET, such as for a report that overlapping writes have
// broken.
func (r StoredReport) Report() (*reports.Report, error) {
	fail := func(err error) error { return fmt.Errorf("datacitetest: report %s: %w", r.ReportID, err) }
	var shown bytes.Buffer
	if err := r.server.served().Current().ShowReport(&shown, r.ReportID); err != nil {
		return nil, fail(err)
	}
	read, err := reports.NewReader(bytes.NewReader(shown.Bytes()))
	if err != nil {
		return nil, fail(err)
	}
	defer read.Close()
	report := &reports.Report{ID: r.ReportID}
	for dataset, err := range read.All() {
		if err != nil {
			return nil, fail(err)
		}
		report.Datasets = append(report.Datasets, dataset)
	}
	report.Header = read.Header
	return report, nil
}
