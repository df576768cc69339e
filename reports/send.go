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

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/runlock"
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
	if !compressed && len(data) > compressAbove {
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
	if e, ok := errors.AsType[*datacite.Error](err); ok && e.StatusCode == http.StatusUnauthorized && !e.Unclear &&
		c.token.renewable {
		res, err = c.core.Do(ctx, r)
	}
	return res, err
}

// The deployed service reads a stored report not only for a GET but before most writes. If
// it cannot, its response is 422 or 500, in words that depend on what is wrong: the
// document lacks a subset, is not there or is cut off, the database has no subset, the base64
// is damaged (datacitetest/evidence/deployed-reports.md). What these responses have in common is that
// the service goes on listing the report.

// errNotReadNow is ErrBroken within Submit, which waits and looks again before it says that.
var errNotReadNow = transport.NewError("reports: stored report cannot be read now")

// mayBeUnread reports whether a response may mean that the service cannot read the report.
func mayBeUnread(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && (e.StatusCode == http.StatusInternalServerError || e.StatusCode == http.StatusUnprocessableEntity)
}

// notRead returns the error of a request that reads a report, and sets its condition.
func (c *Client) notRead(ctx context.Context, op string, err error) error {
	if !mayBeUnread(err) {
		return err
	}
	_, failed := c.core.Do(ctx, transport.Request{
		Op: op, Method: http.MethodGet, Path: "/reports", Query: "page%5Bsize%5D=1", Accept: transport.JSONType,
		Replay: transport.IfUnsent,
		Read: func(d *jsonlex.Decoder) error {
			pageJSON.Read(d, &Results{})
			return nil // but for the error of d
		},
	})
	if failed != nil {
		return err // the service fails altogether, which the first error says
	}
	return unread(err)
}

func unread(err error) error {
	e, _ := errors.AsType[*datacite.Error](err)
	// A report that is being written is 500, and never 422.
	condition := &transport.Condition{Text: ErrBroken.Error(), General: ErrBroken, Passes: e.StatusCode >= 500}
	if e.Op == "reports.Submit" {
		condition.General = errNotReadNow
	}
	e.Err = condition
	e.Message = "the service cannot read the stored report, which is broken unless another program is writing to it " +
		"now: " + e.Message
	return err
}

// lock excludes other runs on this machine. The service finds a report by the creator's
// name and the month, and its database compares names without regard to case and accents.
func (c *Client) lock(op, folder string, h *Header) (*runlock.Lock, error) {
	if folder == "" {
		var err error
		if folder, err = runlock.Folder(c.core.LockDir()); err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	name := collate.New(language.Und, collate.Loose).KeyFromString(&collate.Buffer{}, strings.TrimSpace(h.CreatedBy))
	year, month := h.ReportingPeriod.yearMonth()
	lock, err := runlock.Take(folder, fmt.Sprintf("%x\n%s\n%s\n%s", name, year, month, c.core.BaseURL()))
	switch {
	case errors.Is(err, runlock.ErrHeld):
		return nil, fmt.Errorf("%s: %w: %w", op, ErrBusy, err)
	case err != nil:
		return nil, fmt.Errorf("%s: the lock of the report (SubmitOptions.LockDir, or DATACITE_LOCK_DIR in the "+
			"environment): %w", op, err)
	}
	return lock, nil
}

// release releases the lock. If the service may still be working on the request, the next run
// of Submit learns of it, and waits.
func release(lock *runlock.Lock, op string, err error) error {
	defer lock.Release()
	if !errors.Is(err, datacite.ErrUnclear) {
		return err
	}
	unrecorded := lock.Forget()
	if unrecorded == nil {
		unrecorded = lock.Sending()
	}
	if unrecorded != nil {
		err = fmt.Errorf("%w; %s: the next run will not know of the request: %w", err, op, unrecorded)
	}
	return err
}
