package reports

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Stored is the service's response to a report that was sent.
type Stored struct {
	ID      string
	Header  Header   // as stored; after Put the deployed service returns the header as sent
	Subsets []Subset // compressed parts of the report, in no fixed order; their Datasets are 0

	// Existing is true if the service already had a report of this creator and period, and
	// returned it: the report that was sent was not stored.
	Existing bool

	// Warnings: about the report that was sent, such as counts that DOI records will not show; at most
	// 100
	Warnings []datacite.Finding
}

// Create stores a new report under an id that the service chooses. If the service already
// holds a report of the same creator and begin date, it stores nothing and returns the
// existing report, with Existing true; use [Client.Put] to replace it. If that one belongs to another
// account, the error matches [datacite.ErrConflict].
//
// The report is validated first. A DOI that the service would not recognise is sent in bare
// form, as the first identifier of its dataset. The report is sent compressed, with exception
// 69, if its JSON is longer than 10 MB (specification §8) or its header has that exception.
// Since the service would add a compressed report to an existing one, Create looks for one
// before it sends: also for one of the same month and a name that differs only in case or accents,
// since the deployed service compares them like this.
//
// Create takes the same lock as Submit, in the default folder: while another program on this machine
// writes to the report, Create sends nothing, and the error is [ErrBusy]. If a program elsewhere
// creates the report at the same time, the service adds the data to it; the error matches
// [datacite.ErrConflict] and gives the number of subsets. After a lost response, or a gateway's 429 or
// 503, the error matches [datacite.ErrUnclear]: the service may still work on the report for some
// minutes. The next Submit of it that uses the same folder waits for that. A report that the service
// cannot read is [ErrBroken].
//
// Create sends POST /reports (specification §4.1).
func (c *Client) Create(ctx context.Context, r *Report) (*Stored, error) {
	const op = "reports.Create"
	return c.store(ctx, op, nil, r, func(body body, _ *runlock.Lock) (*Stored, error) { return c.create(ctx, op, body) })
}

// store checks a report and calls write with its lock, unless other arguments are at fault.
func (c *Client) store(ctx context.Context, op string, fault error, r *Report,
	write func(body, *runlock.Lock) (*Stored, error)) (_ *Stored, err error) {
	defer func() { err = c.core.Shown(err) }()
	if err := c.core.Ready(ctx); err != nil {
		return nil, err
	}
	if fault != nil {
		return nil, fault
	}
	body, err := newBody(r)
	if err != nil {
		return nil, err
	}
	lock, err := c.lock(op, "", &r.Header)
	if err != nil {
		return nil, err
	}
	defer func() { err = release(lock, op, err) }()
	return write(body, lock)
}

func (c *Client) create(ctx context.Context, op string, body body) (*Stored, error) {
	h := body.report.Header
	if !body.compressed {
		stored, err := c.storePlain(ctx, body.request(op, http.MethodPost, "/reports"))
		if mayBeUnread(err) {
			if found, _ := c.find(ctx, op, h); found != nil { // if none can be found, err says what is wrong
				err = c.notWritten(ctx, op, found.ID, err)
			}
		}
		if err != nil {
			return nil, err
		}
		existing, err := stored.differs(body.report)
		if err != nil {
			return nil, err
		}
		return &Stored{ID: stored.ID, Header: stored.Header, Existing: existing, Warnings: body.warnings}, nil
	}
	found, err := c.find(ctx, op, h)
	if err != nil {
		return nil, err
	}
	if found != nil {
		return c.existing(ctx, op, found)
	}
	return c.storeAlone(ctx, op, http.MethodPost, "/reports", body)
}

// existing returns the report that is stored already. A report of another account is an
// error, as the service refuses an uncompressed POST for it.
func (c *Client) existing(ctx context.Context, op string, found *Summary) (*Stored, error) {
	token, err := c.token.claims(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	stored, err := c.scan(ctx, op, found.ID)
	if err == nil {
		err = stored.belongsTo(token.Account)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: reading the existing report: %w", op, err)
	}
	return &Stored{ID: found.ID, Header: found.Header, Subsets: stored.Subsets, Existing: true}, nil
}

// storeAlone sends a compressed body, which must become the only content of the report.
func (c *Client) storeAlone(ctx context.Context, op, method, path string, b body) (*Stored, error) {
	stored, err := c.requestStored(ctx, b.request(op, method, path))
	if err != nil {
		return nil, err
	}
	if stored.damage != nil {
		return nil, fmt.Errorf("%s: report %.40q: %w: %w", op, stored.ID, datacite.ErrIncomplete, stored.damage)
	}
	if n := len(stored.Subsets); n > 1 || n == 1 && !strings.EqualFold(stored.Subsets[0].Checksum, b.checksum) {
		return nil, fmt.Errorf("%s: %w: report %.40q holds %d subsets instead of this one; another program writes to it", op,
			datacite.ErrConflict, stored.ID, n)
	}
	return &Stored{ID: stored.ID, Header: stored.Header, Subsets: stored.Subsets, Warnings: b.warnings}, nil
}

// Put stores a report under an id that the caller chooses, a UUID, and replaces the report that has
// this id, also one of another account. Sending it twice, one after the other, has the same effect as
// once. Validation, compression, the lock and the errors are those of [Client.Create]. DOI records
// continue to show numbers that only the replaced report had; later runs of Submit set
// [Receipt].EarlierUnknown.
//
// Put sends every member of the header, also an empty one, because the deployed service
// keeps the old value of a missing member, and would drop the datasets of a plain report
// that replaces a compressed one. A response without the datasets is an error that
// matches [datacite.ErrIncomplete]. CreatedBy, ReportID and the month of a stored report
// never change.
//
// Put sends PUT /reports/{id} (specification §3.2, §4.1).
func (c *Client) Put(ctx context.Context, id string, r *Report) (*Stored, error) {
	const op = "reports.Put"
	return c.store(ctx, op, checkUUID("id", id), r, func(body body, lock *runlock.Lock) (*Stored, error) {
		return c.put(ctx, op, id, body, lock)
	})
}

func (c *Client) put(ctx context.Context, op, id string, body body, lock *runlock.Lock) (*Stored, error) {
	if err := lock.Forget(); err != nil {
		return nil, fmt.Errorf("%s: the record of earlier runs: %w", op, err)
	}
	if !body.compressed {
		stored, err := c.storePlain(ctx, body.request(op, http.MethodPut, "/reports/"+id))
		if err != nil {
			return nil, c.notWritten(ctx, op, id, err)
		}
		if stored.Datasets != nil && len(stored.Datasets) == 0 {
			return nil, fmt.Errorf("%s: report %s: %w: the response contains none of the %d datasets that were sent", op, id,
				datacite.ErrIncomplete, len(body.report.Datasets))
		}
		return &Stored{ID: stored.ID, Header: stored.Header, Warnings: body.warnings}, nil
	}
	stored, err := c.storeAlone(ctx, op, http.MethodPut, "/reports/"+id, body)
	return stored, c.notWritten(ctx, op, id, err)
}

// storePlain sends an uncompressed body and returns the report in the response. Its
// Datasets are nil if the response has no list of them.
func (c *Client) storePlain(ctx context.Context, r transport.Request) (*Report, error) {
	var stored Report
	r.Read = func(d *jsonlex.Decoder) error {
		dec := &datasetDecoder{}
		dec.budget, dec.kept = d.Budget(), true
		stored = Report{}
		stored.read(d.Lexer, dec)
		if d.Err() == nil && !isUUID(stored.ID) {
			return errNoID
		}
		return nil // but for the error of d
	}
	_, err := c.authorized(ctx, r)
	return &stored, err
}

// differs reports whether the service returned a report other than r. The status does
// not tell: it is 201 for both.
func (a *Report) differs(r *Report) (bool, error) {
	h := a.Header
	if h.Created != r.Header.Created || h.ReportID != r.Header.ReportID || h.ReportingPeriod != r.Header.ReportingPeriod {
		return true, nil
	}
	if a.Datasets == nil {
		return false, fmt.Errorf("reports.Create: %w: it has no list report-datasets", datacite.ErrUnreadable)
	}
	got, _ := json.Marshal(a.Datasets) // what was read or validated can be written
	want, _ := json.Marshal(r.Datasets)
	return !bytes.Equal(got, want), nil
}
