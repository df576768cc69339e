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
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// CompressAbove is the size of a report's JSON, in bytes, above which Create
// and Put send it compressed (specification §8).
const CompressAbove = 10_000_000

// Stored is the service's answer to a report that was sent.
type Stored struct {
	ID      string
	Header  Header   // as stored; after Put the deployed service echoes what was sent
	Subsets []Subset // compressed parts of the report, in no order; their Datasets is 0

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
// report to an existing one, Create looks for that before it sends: one of the same
// creator and begin date, or what the service treats as such (the deployed one: the
// same month, and a name that differs in case or accents). One that shows another
// account is [datacite.ErrConflict]. If one was created in the
// meantime, the service has added the data to it; the error matches [datacite.ErrConflict] and
// says how many subsets it holds. After a lost answer, or a gateway's 429 or 503, a
// compressed report is not sent again: the error matches [datacite.ErrUnclear]; look with
// List.
//
// Create sends POST /reports (specification §4.1).
func (c *Client) Create(ctx context.Context, r *Report) (*Stored, error) {
	const op = "reports.Create"
	body, err := newBody(r)
	if err != nil {
		return nil, err
	}
	if !body.compressed {
		stored, err := c.storePlain(ctx, body.request(op, http.MethodPost, "/reports"))
		if err != nil {
			return nil, err
		}
		existing, err := stored.differs(r)
		if err != nil {
			return nil, err
		}
		return &Stored{ID: stored.ID, Header: stored.Header, Existing: existing}, nil
	}
	found, err := c.find(ctx, op, r.Header)
	if err != nil {
		return nil, err
	}
	if found != nil {
		return c.existing(ctx, op, found)
	}
	return c.storeAlone(ctx, op, http.MethodPost, "/reports", body)
}

// existing is the report that is there already, unless it is that of another
// account: the service refuses an uncompressed POST for that.
func (c *Client) existing(ctx context.Context, op string, found *Summary) (*Stored, error) {
	account, err := c.token.account(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	stored, err := c.scan(ctx, op, found.ID)
	if err == nil {
		err = stored.belongsTo(account)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: looking at the report that is there: %w", op, err)
	}
	return &Stored{ID: found.ID, Header: found.Header, Subsets: stored.Subsets, Existing: true}, nil
}

// storeAlone stores a compressed body that has to be all that the report holds.
func (c *Client) storeAlone(ctx context.Context, op, method, path string, b body) (*Stored, error) {
	stored, err := c.requestStored(ctx, b.request(op, method, path))
	if err != nil {
		return nil, err
	}
	if stored.damage != nil {
		return nil, fmt.Errorf("%s: report %.40q: %w: %w", op, stored.ID, datacite.ErrIncomplete, stored.damage)
	}
	if n := len(stored.Subsets); n > 1 || n == 1 && !strings.EqualFold(stored.Subsets[0].Checksum, b.checksum) {
		return nil, fmt.Errorf("%s: %w: the service holds %d subsets in report %.40q, and this one was to be all; another program writes to it", op, datacite.ErrConflict, n, stored.ID)
	}
	return &Stored{ID: stored.ID, Header: stored.Header, Subsets: stored.Subsets}, nil
}

// Put stores a report under an id that the caller chooses, a UUID, replacing
// whatever is stored there. Sending it twice has the same effect as once. The
// service does not check who owns a report, so the id of another
// account's report overwrites that report. Validation and compression are those of
// [Client.Create].
//
// Every member of the header is sent, also if it is empty, because the deployed
// service keeps the old value of any that is left out, and would drop the
// datasets of a plain report that replaces a compressed one. An answer without
// the datasets is an error that matches [datacite.ErrIncomplete]. CreatedBy and ReportID of
// a stored report, and the month that the service finds it by, never change.
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
	if !body.compressed {
		stored, err := c.storePlain(ctx, body.request("reports.Put", http.MethodPut, "/reports/"+id))
		if err != nil {
			return nil, err
		}
		if stored.Datasets != nil && len(stored.Datasets) == 0 {
			return nil, fmt.Errorf("reports.Put: report %s: %w: the service shows none of the %d datasets that were sent", id, datacite.ErrIncomplete, len(r.Datasets))
		}
		return &Stored{ID: stored.ID, Header: stored.Header}, nil
	}
	return c.storeAlone(ctx, "reports.Put", http.MethodPut, "/reports/"+id, body)
}

// A body is a request body of interface A.
type body struct {
	transport.Body
	compressed bool
	checksum   string // of a compressed body that is held
}

func newBody(r *Report) (body, error) {
	if r == nil {
		return body{}, &datacite.FieldError{Path: "report", Reason: "is nil"}
	}
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
		return body{Body: bytes.NewReader(data)}, err
	}
	data, err = gzipbody.Compress(data)
	sum := sha256.Sum256(data)
	return body{bytes.NewReader(data), true, hex.EncodeToString(sum[:])}, err
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

// request is the request that stores a body, with the headers of specification
// §4.1. A compressed POST adds a subset each time it arrives, so it is not sent
// again unless it certainly did not.
func (b body) request(op, method, path string) transport.Request {
	r := transport.Request{
		Op: op, Method: method, Path: path, Body: b.Body,
		Accept: transport.JSONType, ContentType: transport.JSONType, Access: transport.Required,
	}
	if b.compressed {
		r.ContentType, r.ContentEncoding = transport.GzipType, "gzip"
		r.Stream, r.Unbounded = true, true
		if method == http.MethodPost {
			r.Replay = transport.IfUnsent
		}
	}
	return r
}

// store sends a compressed body and reads from the answer what is stored. The
// answer repeats every subset of the report, so it is read without being held.
func (c *Client) requestStored(ctx context.Context, r transport.Request) (*storedReport, error) {
	res, err := c.authorized(ctx, r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	stored, err := scanAnswer(&boundedReader{src: res.Body, count: new(int64), limit: c.maxReport})
	if err == nil && stored.ID == "" {
		err = errors.New("it holds no report with an id")
	}
	if err != nil {
		return nil, c.core.Unreadable(r, res, err)
	}
	return &stored, nil
}

// scan reads what the service holds of a report, without its datasets.
func (c *Client) scan(ctx context.Context, op, id string) (*storedReport, error) {
	return c.requestStored(ctx, reading(op, id))
}

// reading is the request that reads a report.
func reading(op, id string) transport.Request {
	return transport.Request{
		Op: op, Method: http.MethodGet, Path: "/reports/" + id, Accept: transport.JSONType, Stream: true, Unbounded: true,
	}
}

// authorized sends a request. If the service does not accept the token, and
// there is a source that may know a newer one, it is asked and the request sent
// once more: a 401 comes before anything is done.
func (c *Client) authorized(ctx context.Context, r transport.Request) (*transport.Response, error) {
	res, err := c.core.Do(ctx, r)
	if e, ok := errors.AsType[*datacite.Error](err); ok && e.StatusCode == http.StatusUnauthorized && !e.Unclear && c.token.renewable {
		res, err = c.core.Do(ctx, r)
	}
	return res, err
}

// storePlain sends an uncompressed body and returns the report that the service
// answers with. Its Datasets are nil if the service shows none.
func (c *Client) storePlain(ctx context.Context, r transport.Request) (*Report, error) {
	var stored Report
	r.Read = func(d *jsonlex.Decoder) error {
		dec := newDecoder()
		dec.budget, dec.kept = d.Budget(), true
		stored = Report{}
		stored.read(d.Lexer, dec)
		if d.Err() == nil && stored.ID == "" {
			return errors.New("it holds no report with an id")
		}
		return d.Err()
	}
	_, err := c.authorized(ctx, r)
	return &stored, err
}

// differs reports whether the service returned another report than r. It does
// not say so itself: both answers are 201.
func (a *Report) differs(r *Report) (bool, error) {
	h := a.Header
	if h.Created != r.Header.Created || h.ReportID != r.Header.ReportID || h.ReportingPeriod != r.Header.ReportingPeriod {
		return true, nil
	}
	if a.Datasets == nil {
		return false, fmt.Errorf("reports.Create: %w: it has no list report-datasets", datacite.ErrUnreadable)
	}
	got, err := json.Marshal(a.Datasets)
	if err != nil {
		return false, err
	}
	want, err := json.Marshal(r.Datasets)
	return !bytes.Equal(got, want), err
}

// find looks for the stored report that a POST of this header would reach, as
// the service does: the deployed one goes by its own idea of equal names (case
// and accents do not count) and by year and month of the begin date, which it
// shows in a single report; the specification by the same name and begin date.
// A name that the service's own filter takes for equal is equal.
func (c *Client) find(ctx context.Context, op string, h Header) (*Summary, error) {
	begin, err := h.ReportingPeriod.BeginDate.Time()
	if err != nil {
		return nil, &datacite.FieldError{Path: "report-header.reporting-period.begin-date", Reason: "is not a date YYYY-MM-DD"}
	}
	var similar []*Summary
	for s, err := range c.All(ctx, &ListOptions{CreatedBy: h.CreatedBy}) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: looking for an existing report: %w", op, transport.Within(op, err))
		case !uuidForm.MatchString(s.ID):
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
