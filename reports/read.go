package reports

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// Get returns a stored report with all its datasets, those of compressed
// subsets included. It holds the whole report in memory; [Client.Open] does not.
// No credentials are needed.
//
// Get sends GET /reports/{id} (specification §4.1).
func (c *Client) Get(ctx context.Context, id string) (*Report, error) {
	r, err := c.open(ctx, "reports.Get", id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report := &Report{Datasets: []Dataset{}}
	for d, err := range r.Datasets() {
		if err != nil {
			return nil, err
		}
		report.Datasets = append(report.Datasets, d)
	}
	report.ID, report.Header = r.ID, r.Header
	return report, nil
}

// Open starts to read a stored report. Its datasets come one by one from
// [Reader.Datasets]; the caller closes the Reader. No credentials are needed.
//
// Open sends GET /reports/{id} (specification §4.1).
func (c *Client) Open(ctx context.Context, id string) (*Reader, error) {
	return c.open(ctx, "reports.Open", id)
}

func (c *Client) open(ctx context.Context, op, id string) (*Reader, error) {
	if err := checkUUID("id", id); err != nil {
		return nil, err
	}
	request := transport.Request{
		Op: op, Method: "GET", Path: "/reports/" + id, Accept: transport.JSONType, Stream: true,
	}
	res, err := c.core.Do(ctx, request)
	if err != nil {
		return nil, c.wrap(err)
	}
	r := &Reader{
		ID:   id,
		body: res.Body,
		dec:  json.NewDecoder(res.Body),
		fail: func(cause error) error { return c.wrap(c.core.Unreadable(request, res, cause)) },
	}
	if err := r.begin(); err != nil {
		res.Body.Close()
		return nil, r.fail(err)
	}
	return r, nil
}

// A Reader reads the datasets of one stored report.
type Reader struct {
	ID     string // of the report
	Header Header // complete once Datasets has ended; the service sends it first

	// Subsets are the compressed parts that the report is stored in, as far as
	// Datasets has read them; empty for a report that is shown whole. Checksum
	// and Bytes are of the compressed part.
	Subsets []Subset

	body io.ReadCloser
	dec  *json.Decoder
	next string // member of the report whose value comes next; "" at the end
	read int    // datasets yielded
	fail func(error) error
}

// Close ends reading.
func (r *Reader) Close() error { return r.body.Close() }

// begin reads up to the first list of datasets.
func (r *Reader) begin() error {
	if err := expect(r.dec, json.Delim('{')); err != nil {
		return err
	}
	for r.dec.More() {
		name, err := memberName(r.dec)
		if err != nil {
			return err
		}
		if name != "report" {
			if err := skip(r.dec); err != nil {
				return err
			}
			continue
		}
		if err := expect(r.dec, json.Delim('{')); err != nil {
			return err
		}
		return r.advance()
	}
	return errors.New(`it has no member "report"`)
}

// advance reads members until one that holds datasets comes next, or the end.
func (r *Reader) advance() error {
	for r.dec.More() {
		name, err := memberName(r.dec)
		if err != nil {
			return err
		}
		switch name {
		case "report-datasets", "report-subsets":
			r.next = name
			return nil
		case "id":
			err = r.dec.Decode((*text)(&r.ID))
		case "report-header":
			err = r.dec.Decode(&r.Header)
		default:
			err = skip(r.dec)
		}
		if err != nil {
			return err
		}
	}
	r.next = ""
	return expect(r.dec, json.Delim('}'))
}

// Datasets returns a single-use iterator over the datasets, in the order stored.
// An error ends it: the connection, an answer that is cut off, or a subset that
// does not match its checksum.
func (r *Reader) Datasets() iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		for r.next != "" {
			more, err := r.member(yield)
			if err == nil && more {
				err = r.advance()
			}
			if err != nil {
				yield(Dataset{}, r.fail(err))
				return
			}
			if !more {
				return
			}
		}
	}
}

// member yields the datasets of the member that comes next.
func (r *Reader) member(yield func(Dataset, error) bool) (more bool, err error) {
	if r.next == "report-datasets" {
		return r.datasets(r.dec, yield)
	}
	first, err := r.dec.Token()
	if err != nil || first == nil {
		return err == nil, err
	}
	if first != json.Delim('[') {
		return false, fmt.Errorf("report-subsets is %v, not a list", first)
	}
	// A report that shows its datasets also has a subset, made by the service
	// from the same data: counting both would count everything twice.
	shown := r.read > 0
	for r.dec.More() {
		var s storedSubset
		if err := r.dec.Decode(&s); err != nil {
			return false, err
		}
		if shown {
			continue
		}
		if more, err := r.subset(s, yield); err != nil || !more {
			return false, err
		}
	}
	return true, expect(r.dec, json.Delim(']'))
}

// A storedSubset is a compressed part of a report as the service shows it.
type storedSubset struct {
	Gzip     []byte `json:"gzip"` // base64 in JSON
	Checksum string `json:"checksum"`
}

func (r *Reader) subset(s storedSubset, yield func(Dataset, error) bool) (more bool, err error) {
	sum := sha256.Sum256(s.Gzip)
	if found := hex.EncodeToString(sum[:]); s.Checksum != "" && s.Checksum != found {
		return false, fmt.Errorf("subset %d has checksum %s, but the service says %s", len(r.Subsets)+1, found, s.Checksum)
	}
	zr, err := gzip.NewReader(bytes.NewReader(s.Gzip))
	if err != nil {
		return false, fmt.Errorf("subset %d: %w", len(r.Subsets)+1, err)
	}
	before := r.read
	more, err = r.inner(json.NewDecoder(zr), yield)
	if err != nil {
		return false, fmt.Errorf("subset %d: %w", len(r.Subsets)+1, err)
	}
	r.Subsets = append(r.Subsets, Subset{Checksum: hex.EncodeToString(sum[:]), Datasets: r.read - before, Bytes: int64(len(s.Gzip))})
	return more, nil
}

// inner yields the datasets of an uncompressed subset: an object with a header
// of its own, which may differ from the report's and does not count.
func (r *Reader) inner(dec *json.Decoder, yield func(Dataset, error) bool) (more bool, err error) {
	if err := expect(dec, json.Delim('{')); err != nil {
		return false, err
	}
	for dec.More() {
		name, err := memberName(dec)
		if err != nil {
			return false, err
		}
		if name != "report-datasets" {
			if err := skip(dec); err != nil {
				return false, err
			}
			continue
		}
		if more, err := r.datasets(dec, yield); err != nil || !more {
			return more, err
		}
	}
	return true, expect(dec, json.Delim('}'))
}

// datasets yields the elements of a list of datasets, which may be null.
func (r *Reader) datasets(dec *json.Decoder, yield func(Dataset, error) bool) (more bool, err error) {
	first, err := dec.Token()
	if err != nil || first == nil {
		return err == nil, err
	}
	if first != json.Delim('[') {
		return false, fmt.Errorf("report-datasets is %v, not a list", first)
	}
	for dec.More() {
		var d Dataset
		if err := dec.Decode(&d); err != nil {
			return false, err
		}
		r.read++
		if !yield(d, nil) {
			return false, nil
		}
	}
	return true, expect(dec, json.Delim(']'))
}

func expect(dec *json.Decoder, want json.Token) error {
	got, err := dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case got != want:
		return fmt.Errorf("found %v in the place of %v", got, want)
	}
	return nil
}

func memberName(dec *json.Decoder) (string, error) {
	token, err := dec.Token()
	if err != nil {
		return "", err
	}
	name, _ := token.(string)
	return name, nil
}

func skip(dec *json.Decoder) error {
	var ignored json.RawMessage
	return dec.Decode(&ignored)
}
