package reports

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// CompressAbove is the size of a report's JSON, in bytes, above which Create
// and Put send it compressed (specification §8).
const CompressAbove = 10_000_000

// Stored is what the service answers to a report that was sent.
type Stored struct {
	ID      string
	Header  Header   // as stored; after Put the deployed service echoes what was sent
	Subsets []Subset // compressed parts that the report consists of, in order; Datasets is not known

	// Existing is true when the service already had a report of this creator and
	// period and returned that one: what was sent was not stored.
	Existing bool
}

// Create stores a new report under an id that the service chooses. If the
// service already holds a report of the same creator and begin date, it keeps
// and returns that one, and Existing is true; use [Client.Put] to replace it.
//
// The report is validated first. It is sent compressed, with the exception 69
// that belongs to it, when its JSON is longer than [CompressAbove] or its header
// carries that exception already. Since the service would add a compressed
// report to one that is there, Create looks for one before it sends.
//
// Create sends POST /reports (specification §4.1).
func (c *Client) Create(ctx context.Context, r *Report) (*Stored, error) {
	const op = "reports.Create"
	body, err := newBody(r)
	if err != nil {
		return nil, err
	}
	if !body.compressed {
		return c.createPlain(ctx, r, body)
	}
	found, err := c.find(ctx, op, r.Header)
	if err != nil {
		return nil, err
	}
	if found != nil {
		return &Stored{ID: found.ID, Header: found.Header, Existing: true}, nil
	}
	answer, err := c.send(ctx, op, "POST", "/reports", body)
	if err != nil {
		return nil, err
	}
	return answer.stored(), nil
}

func (c *Client) createPlain(ctx context.Context, r *Report, body body) (*Stored, error) {
	answer, err := c.send(ctx, "reports.Create", "POST", "/reports", body)
	if err != nil {
		return nil, err
	}
	stored := answer.stored()
	stored.Existing, err = answer.differs(r)
	if err != nil {
		return nil, err
	}
	return stored, nil
}

// Put stores a report under an id that the caller chooses, a UUID, in place of
// whatever is stored there: its subsets too. Sending it twice has the same
// effect as once. The service does not check who owns a report, so an id that is
// not yours overwrites somebody else's. Validation and compression are those of
// [Client.Create].
//
// Put sends PUT /reports/{id} (specification §3.2, §4.1).
func (c *Client) Put(ctx context.Context, id string, r *Report) (*Stored, error) {
	if err := checkUUID("id", id); err != nil {
		return nil, err
	}
	body, err := newBody(r)
	if err != nil {
		return nil, err
	}
	answer, err := c.send(ctx, "reports.Put", "PUT", "/reports/"+id, body)
	if err != nil {
		return nil, err
	}
	return answer.stored(), nil
}

// A body is a request body of interface A.
type body struct {
	data       []byte
	compressed bool
}

func newBody(r *Report) (body, error) {
	if err := r.Validate(); err != nil {
		return body{}, err
	}
	plain := *r
	plain.ID = ""
	compressed := plain.Header.compressed()
	data, err := json.Marshal(plain)
	if err == nil && !compressed && len(data) > CompressAbove {
		compressed = true
		plain.Header = plain.Header.withCompressed("")
		data, err = json.Marshal(plain)
	}
	if err != nil || !compressed {
		return body{data: data}, err
	}
	data, err = gzipbody.Compress(data)
	return body{data: data, compressed: true}, err
}

// compressed reports whether the header says that the body is compressed.
func (h *Header) compressed() bool {
	return slices.ContainsFunc(h.Exceptions, func(e Exception) bool { return e.Code == CodeCompressed })
}

// withCompressed adds the exception that a compressed report carries, unless it
// is there (specification §4.1, Large reports, 5).
func (h Header) withCompressed(helpURL string) Header {
	if h.compressed() {
		return h
	}
	h.Exceptions = append(slices.Clone(h.Exceptions), Exception{
		Code:     CodeCompressed,
		Severity: "warning",
		Message:  "Report is compressed using gzip",
		HelpURL:  helpURL,
		Data:     "usage data needs to be uncompressed",
	})
	return h
}

// send sends a body with the headers of specification §4.1. A compressed POST
// adds a subset each time it arrives, so it is not sent again unless it surely
// did not.
func (c *Client) send(ctx context.Context, op, method, path string, b body) (*answer, error) {
	request := transport.Request{
		Op: op, Method: method, Path: path, Body: b.data, ContentType: transport.JSONType, Access: transport.Required,
	}
	if b.compressed {
		request.ContentType, request.ContentEncoding = transport.GzipType, "gzip"
		if method == "POST" {
			request.Replay = transport.IfUnsent
		}
	}
	type envelope struct {
		Report *answer `json:"report"`
	}
	found, res, err := transport.JSON[envelope](ctx, c.core, request)
	if err != nil {
		return nil, c.wrap(err)
	}
	if found.Report == nil || found.Report.ID == "" {
		return nil, c.wrap(c.core.Unreadable(request, res, errors.New("it holds no report with an id")))
	}
	return found.Report, nil
}

// An answer is the report that a write returns.
type answer struct {
	ID       text            `json:"id"`
	Header   Header          `json:"report-header"`
	Datasets json.RawMessage `json:"report-datasets"`
	Subsets  []storedSubset  `json:"report-subsets"`
}

func (a *answer) stored() *Stored {
	s := &Stored{ID: string(a.ID), Header: a.Header}
	for _, part := range a.Subsets {
		s.Subsets = append(s.Subsets, Subset{Checksum: part.Checksum, Bytes: int64(len(part.Gzip))})
	}
	return s
}

// differs reports whether the service returned another report than r. It does
// not say so itself: both answers are 201.
func (a *answer) differs(r *Report) (bool, error) {
	h := a.Header
	if h.Created != r.Header.Created || h.ReportID != r.Header.ReportID || h.ReportingPeriod != r.Header.ReportingPeriod {
		return true, nil
	}
	var datasets []Dataset
	if err := json.Unmarshal(a.Datasets, &datasets); err != nil {
		return false, fmt.Errorf("reports.Create: %w: report-datasets: %w", ErrUnreadable, err)
	}
	got, err := json.Marshal(datasets)
	if err != nil {
		return false, err
	}
	want, err := json.Marshal(r.Datasets)
	return !bytes.Equal(got, want), err
}

// find looks for the stored report of a header's creator and begin date.
func (c *Client) find(ctx context.Context, op string, h Header) (*Summary, error) {
	begin, err := h.ReportingPeriod.BeginDate.Time()
	if err != nil {
		return nil, &FieldError{"report-header.reporting-period.begin-date", "is not a date YYYY-MM-DD"}
	}
	for s, err := range c.All(ctx, &ListOptions{CreatedBy: h.CreatedBy}) {
		if err != nil {
			return nil, fmt.Errorf("%s: looking for a report that is there already: %w", op, err)
		}
		at, err := s.Header.ReportingPeriod.BeginDate.Time()
		if err == nil && s.Header.CreatedBy == h.CreatedBy && at.Equal(begin) {
			return s, nil
		}
	}
	return nil, nil
}
