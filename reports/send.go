package reports

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// compressAbove is the size of a report's JSON, in bytes, above which Create
// and Put send it compressed (specification §8).
const compressAbove = 10_000_000

// A body is a request body of interface A.
type body struct {
	transport.Body
	compressed bool
	checksum   string  // of a compressed body that is in memory
	report     *Report // what it holds
	warnings   []datacite.Finding
}

func newBody(r *Report) (body, error) {
	if r == nil {
		return body{}, datacite.Invalid(datacite.Finding{Path: "report", Code: "missing", Reason: "is nil"})
	}
	var b body
	v := validator{most: -1, warn: func(f datacite.Finding) {
		if len(b.warnings) < maxFaults {
			b.warnings = append(b.warnings, f)
		}
	}}
	if v.report(r); v.err() != nil {
		return body{}, v.err()
	}
	plain := *r
	plain.ID, plain.Datasets = "", slices.Clone(r.Datasets)
	for i := range plain.Datasets {
		d := &plain.Datasets[i]
		d.DatasetID, _ = readableIDs(d.DatasetID)
	}
	compressed := plain.Header.compressed()
	data, err := json.Marshal(plain)
	if err == nil && !compressed && len(data) > compressAbove {
		compressed = true
		plain.Header = plain.Header.withCompressed("")
		data, err = json.Marshal(plain)
	}
	if compressed && err == nil {
		data, err = gzipbody.Compress(data)
		sum := sha256.Sum256(data)
		b.compressed, b.checksum = true, hex.EncodeToString(sum[:])
	}
	b.Body, b.report = bytes.NewReader(data), &plain
	return b, err
}

// compressed reports whether the header says that the body is compressed.
func (h *Header) compressed() bool {
	return slices.ContainsFunc(h.Exceptions, func(e Exception) bool { return e.Code == CodeCompressed })
}

// withCompressed adds the exception that a compressed report carries, unless the header
// has it already (specification §4.1, Large reports, 5).
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

// request returns the request that stores a body, with the headers of specification
// §4.1. A compressed POST adds a subset each time it arrives, and the service may still be
// processing a compressed PUT whose response was lost; two at once can break the report. So
// both are sent again only if they certainly did not arrive.
func (b body) request(op, method, path string) transport.Request {
	r := transport.Request{
		Op: op, Method: method, Path: path, Body: b.Body,
		Accept: transport.JSONType, ContentType: transport.JSONType, Access: transport.Required,
	}
	if b.compressed {
		r.ContentType, r.ContentEncoding = transport.GzipType, "gzip"
		r.Stream, r.Unbounded, r.Replay = true, true, transport.IfUnsent
	}
	return r
}

// requestStored sends a request and reads from the response what is stored. The response
// contains every subset of the report, so it is not kept in memory.
func (c *Client) requestStored(ctx context.Context, r transport.Request) (*storedReport, error) {
	res, err := c.authorized(ctx, r)
	switch {
	case err != nil && r.Method == http.MethodGet:
		return nil, c.notRead(ctx, r.Op, err)
	case err != nil:
		return nil, err
	}
	defer res.Body.Close()
	stored, err := scanResponse(&boundedReader{src: res.Body, count: new(int64), limit: c.maxReport})
	if err == nil && !isUUID(stored.ID) {
		err = errNoID
	}
	if err == nil && r.Method == http.MethodGet && !strings.EqualFold(stored.ID, path.Base(r.Path)) {
		err = fmt.Errorf("it is the report %.40q", stored.ID)
	}
	if err != nil {
		return nil, c.core.Unreadable(r, res, err)
	}
	return &stored, nil
}

// errNoID: the ids of reports are UUIDs (specification §3.2).
var errNoID = errors.New("it holds no report with an id")

// scan reads what the service holds of a report, but for its datasets.
func (c *Client) scan(ctx context.Context, op, id string) (*storedReport, error) {
	return c.requestStored(ctx, reading(op, id))
}

// reading returns the request that reads a report.
func reading(op, id string) transport.Request {
	return transport.Request{
		Op: op, Method: http.MethodGet, Path: "/reports/" + id, Accept: transport.JSONType, Stream: true, Unbounded: true,
	}
}

// authorized sends a request. If the service does not accept the token, and there is a
// source that may have a newer one, it sends the request once more: nothing has been done
// before a 401.
func (c *Client) authorized(ctx context.Context, r transport.Request) (*transport.Response, error) {
	res, err := c.core.Do(ctx, r)
	if e, ok := errors.AsType[*datacite.Error](err); ok && e.StatusCode == http.StatusUnauthorized && !e.Unclear && c.token.renewable {
		res, err = c.core.Do(ctx, r)
	}
	return res, err
}

// find returns the stored report to which the service would apply a POST of this header,
// or nil. By the specification it has the same name and begin date. The deployed service
// compares names without case and accents, as its filter does, and the year and month of
// the begin date, which it shows in a single report.
func (c *Client) find(ctx context.Context, op string, h Header) (*Summary, error) {
	begin, err := h.ReportingPeriod.BeginDate.Time()
	if err != nil {
		return nil, datacite.Invalid(datacite.Finding{Path: "report-header.reporting-period.begin-date", Code: "date", Reason: "is not a date YYYY-MM-DD"})
	}
	var similar []*Summary
	for s, err := range c.All(ctx, &ListOptions{CreatedBy: h.CreatedBy}) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: looking for an existing report: %w", op, transport.Within(op, err))
		case !isUUID(s.ID):
			return nil, fmt.Errorf("%s: %w: the service lists a report whose id %.40q is not a UUID", op, datacite.ErrUnreadable, s.ID)
		}
		at, err := s.Header.ReportingPeriod.BeginDate.Time()
		switch {
		case err != nil:
		case s.Header.CreatedBy == h.CreatedBy && at.Equal(begin):
			return s, nil
		case at.Year() == begin.Year() && at.Month() == begin.Month():
			similar = append(similar, s)
		}
	}
	year, month := h.ReportingPeriod.yearMonth()
	for _, s := range similar {
		stored, err := c.scan(ctx, op, s.ID)
		if err != nil {
			return nil, fmt.Errorf("%s: looking for an existing report: %w", op, transport.Within(op, err))
		}
		if stored.Year == year && stored.Month == month {
			return s, nil
		}
	}
	return nil, nil
}
