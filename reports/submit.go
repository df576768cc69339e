package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/subset"
)

// MaxSubsetBytes is the most compressed bytes that the deployed service stores
// of one subset.
const MaxSubsetBytes = 16_777_215

// SubmitOptions are what [Client.Submit] can do without.
type SubmitOptions struct {
	ID          string         // id of the report, a UUID; "" means that of the report that is there already, else DeriveID
	MaxDatasets int            // most datasets in a subset; 0 means 50,000, which is also the most
	MaxBytes    int64          // most compressed bytes in a subset; 0 means MaxSubsetBytes
	Workers     int            // subsets compressed at once; 0 means 2
	Progress    func(Progress) // called after each stored subset, one call at a time; be quick
	HelpURL     string         // goes into the exception that says the report is compressed
}

// Progress tells how far a submission has come.
type Progress struct {
	ReportID string
	Subsets  int   // stored so far
	Of       int   // subsets of the whole report
	Datasets int64 // stored so far
	Bytes    int64 // compressed bytes stored so far
}

// A Receipt says what [Client.Submit] stored.
type Receipt struct {
	ReportID string
	Subsets  []Subset // in the order stored
	Datasets int64    // in all subsets
}

// A Subset is one compressed part of a report.
type Subset struct {
	Checksum string // SHA-256 of the compressed bytes, in hexadecimal digits; the service uses the same
	Datasets int
	Bytes    int64 // compressed
}

// A SubmitError says how far a submission came before it failed. What is stored
// is incomplete; run Submit again with the same data, and it starts over.
type SubmitError struct {
	ReportID string
	Stored   []Subset // what the service confirmed
	Of       int      // subsets of the whole report
	Unclear  bool     // the subset after Stored may be stored too
	Err      error
}

// Error says what is stored and what is not.
func (e *SubmitError) Error() string {
	next := "is not stored"
	if e.Unclear {
		next = "may be stored"
	}
	return fmt.Sprintf("reports.Submit: report %s is incomplete: %d of %d subsets stored, the next one %s: %v",
		e.ReportID, len(e.Stored), e.Of, next, e.Err)
}

// Unwrap returns what stopped the submission.
func (e *SubmitError) Unwrap() error { return e.Err }

// Is matches [ErrIncomplete], and [ErrUnclear] if Unclear.
func (e *SubmitError) Is(target error) bool {
	return target == ErrIncomplete || target == ErrUnclear && e.Unclear
}

// Submit makes the service's report of the header's creator and month hold
// exactly the datasets of src. It sends compressed subsets, strictly one after
// the other: a PUT, which clears what was there, and then a POST for each
// further subset (specification §4.1, Large reports, 4). The header gets the
// exception 69 that compressed reports carry.
//
// Before the first byte is sent, src is read to its end, and every dataset is
// validated and compressed: faults come back as a [*ValidationError], and an
// error of src as it is, with nothing changed on the service. Until then Submit
// holds the compressed report in memory.
//
// A failure after that is a [*SubmitError]. Running Submit again with the same
// data starts over and ends with the same report.
func (c *Client) Submit(ctx context.Context, h Header, src iter.Seq2[Dataset, error], opts *SubmitOptions) (*Receipt, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	h = h.withCompressed(o.HelpURL)
	parts, err := pack(h, src, o)
	if err != nil {
		return nil, err
	}
	id, err := c.reportID(ctx, h, o.ID)
	if err != nil {
		return nil, err
	}
	return c.sendParts(ctx, id, parts, o)
}

func (o *SubmitOptions) withDefaults() (SubmitOptions, error) {
	if o == nil {
		o = &SubmitOptions{}
	}
	out := *o
	out.MaxDatasets = cmp.Or(o.MaxDatasets, MaxDatasets)
	out.MaxBytes = cmp.Or(o.MaxBytes, MaxSubsetBytes)
	out.Workers = cmp.Or(o.Workers, 2)
	switch {
	case out.MaxDatasets < 0 || out.MaxDatasets > MaxDatasets:
		return out, &FieldError{"SubmitOptions.MaxDatasets", fmt.Sprintf("is not between 1 and %d", MaxDatasets)}
	case out.MaxBytes < 0:
		return out, &FieldError{"SubmitOptions.MaxBytes", "is negative"}
	case out.Workers < 0:
		return out, &FieldError{"SubmitOptions.Workers", "is negative"}
	case out.ID != "":
		return out, checkUUID("SubmitOptions.ID", out.ID)
	}
	return out, nil
}

// A part is a subset that is ready to be sent.
type part struct {
	Subset
	body []byte
}

// pack turns all datasets into parts, or fails before anything is sent.
func pack(h Header, src iter.Seq2[Dataset, error], o SubmitOptions) ([]part, error) {
	v := &validator{}
	v.header(&h)
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	p := packer{head: slices.Concat([]byte(`{"report-header":`), head, []byte(`,"report-datasets":[`)), most: o.MaxBytes}

	var parts []part
	groups := subset.Cut(encoded(src, v), o.MaxDatasets)
	for more, err := range subset.Ahead(groups, o.Workers, p.pack) {
		if err != nil {
			return nil, err
		}
		parts = append(parts, more...)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, &FieldError{"report-datasets", "is empty; the service takes no report without datasets"}
	}
	return parts, nil
}

// mostFaults bounds the list of faults of a source of any length.
const mostFaults = 100

// encoded checks the datasets of src and yields their JSON. Faults go to v; after
// too many of them reading on is of no use.
func encoded(src iter.Seq2[Dataset, error], v *validator) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		i := 0
		for d, err := range src {
			if err != nil {
				yield(nil, fmt.Errorf("reports.Submit: dataset %d of the source: %w", i, err))
				return
			}
			v.dataset(i, &d)
			i++
			if len(v.faults) >= mostFaults {
				yield(nil, v.err())
				return
			}
			data, err := json.Marshal(d)
			if !yield(data, err) || err != nil {
				return
			}
		}
	}
}

// A packer makes parts of encoded datasets.
type packer struct {
	head []byte
	most int64
}

// pack compresses entries into one part, or into more if one would be too large.
func (p packer) pack(entries [][]byte) ([]part, error) {
	pieces := make([][]byte, 0, 2*len(entries)+1)
	pieces = append(pieces, p.head)
	for i, e := range entries {
		if i > 0 {
			pieces = append(pieces, []byte{','})
		}
		pieces = append(pieces, e)
	}
	body, err := gzipbody.Compress(append(pieces, []byte(`]}`))...)
	if err != nil {
		return nil, err
	}
	size := int64(len(body))
	if size <= p.most {
		return []part{{Subset{gzipbody.Checksum(body), len(entries), size}, body}}, nil
	}
	if len(entries) == 1 {
		return nil, &FieldError{"report-datasets", fmt.Sprintf("holds an entry that takes %d bytes compressed, more than the %d of a subset: %.80s", size, p.most, entries[0])}
	}
	middle := len(entries) / 2
	first, err := p.pack(entries[:middle])
	if err != nil {
		return nil, err
	}
	second, err := p.pack(entries[middle:])
	return append(first, second...), err
}

// reportID decides which report to write: the one asked for, the one that is
// there, or the one whose id follows from creator and month. Since the service
// finds the report of a POST by creator and month alone, another id for the same
// month would send the later subsets into the other report.
func (c *Client) reportID(ctx context.Context, h Header, asked string) (string, error) {
	found, err := c.find(ctx, "reports.Submit", h)
	switch {
	case err != nil:
		return "", err
	case found == nil:
		return cmp.Or(asked, DeriveID(h)), nil
	case asked != "" && !strings.EqualFold(asked, found.ID):
		return "", fmt.Errorf("reports.Submit: %w: the service holds report %s of %q for %s, not %s",
			ErrConflict, found.ID, h.CreatedBy, h.ReportingPeriod.BeginDate, asked)
	}
	return found.ID, nil
}

func (c *Client) sendParts(ctx context.Context, id string, parts []part, o SubmitOptions) (*Receipt, error) {
	receipt := &Receipt{ReportID: id}
	done := Progress{ReportID: id, Of: len(parts)}
	for i, p := range parts {
		if err := c.sendPart(ctx, id, i, parts); err != nil {
			return nil, &SubmitError{ReportID: id, Stored: receipt.Subsets, Of: len(parts), Unclear: errors.Is(err, ErrUnclear), Err: err}
		}
		receipt.Subsets = append(receipt.Subsets, p.Subset)
		receipt.Datasets += int64(p.Datasets)
		done.Subsets, done.Datasets, done.Bytes = i+1, receipt.Datasets, done.Bytes+p.Bytes
		if o.Progress != nil {
			o.Progress(done)
		}
	}
	return receipt, nil
}

// sendPart sends part i and checks that the answer is about the right report
// and lists the parts sent so far, if it lists any.
func (c *Client) sendPart(ctx context.Context, id string, i int, parts []part) error {
	method, path := "POST", "/reports"
	if i == 0 {
		method, path = "PUT", "/reports/"+id
	}
	a, err := c.send(ctx, "reports.Submit", method, path, body{data: parts[i].body, compressed: true})
	if err != nil {
		return err
	}
	if !strings.EqualFold(string(a.ID), id) {
		return fmt.Errorf("the service put subset %d into the report %s: %w", i+1, a.ID, ErrConflict)
	}
	if len(a.Subsets) == 0 {
		return nil
	}
	return sameSubsets(a.Subsets, parts[:i+1])
}

func sameSubsets(stored []storedSubset, sent []part) error {
	var got, want []string
	for _, s := range stored {
		got = append(got, s.Checksum)
	}
	for _, p := range sent {
		want = append(want, p.Checksum)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%w: the service lists %d subsets and %d were sent, or their checksums differ: somebody else writes to this report, or an earlier subset arrived twice", ErrIncomplete, len(got), len(want))
	}
	return nil
}

// Verify reads a stored report and compares it with the receipt of its
// submission: the checksums of its subsets if the service shows them, and the
// number of datasets. A difference matches [ErrIncomplete].
func (c *Client) Verify(ctx context.Context, r *Receipt) error {
	stored, err := c.open(ctx, "reports.Verify", r.ReportID)
	if err != nil {
		return err
	}
	defer stored.Close()
	var datasets int64
	for _, err := range stored.Datasets() {
		if err != nil {
			return err
		}
		datasets++
	}
	if datasets != r.Datasets {
		return fmt.Errorf("reports.Verify: report %s: %w: %d datasets stored, %d sent", r.ReportID, ErrIncomplete, datasets, r.Datasets)
	}
	if len(stored.Subsets) > 0 && !slices.Equal(stored.Subsets, r.Subsets) {
		return fmt.Errorf("reports.Verify: report %s: %w: the subsets stored are not those sent", r.ReportID, ErrIncomplete)
	}
	return nil
}

// Each makes a source for [Client.Submit] of a slice.
func Each(datasets []Dataset) iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		for _, d := range datasets {
			if !yield(d, nil) {
				return
			}
		}
	}
}
