package reports

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// VerifyLevel says how much [Client.VerifyAt] compares.
type VerifyLevel int

// The levels of verification; each includes those before it. The first two drop
// the data as they come in; the last one inflates and decodes all of them.
const (
	// VerifyHeader compares the header, if the receipt has one.
	VerifyHeader VerifyLevel = iota + 1
	// VerifyChecksums also compares the set of subsets with those sent: each
	// once, none missing, no others, in any order. Of a service that shows
	// datasets instead of subsets, it compares their number.
	VerifyChecksums
	// VerifyData also checks the data against each checksum, and counts the datasets.
	VerifyData
)

// Verify reads a stored report and compares it with the receipt of its
// submission, completely: it is [Client.VerifyAt] with [VerifyData].
func (c *Client) Verify(ctx context.Context, r *Receipt) error {
	return c.VerifyAt(ctx, r, VerifyData)
}

// VerifyAt reads a stored report and compares it with the receipt of its
// submission. A difference is an error that matches [datacite.ErrIncomplete] and says what
// differs. No credentials are needed.
//
// VerifyAt sends GET /reports/{id} (specification §4.1).
func (c *Client) VerifyAt(ctx context.Context, r *Receipt, level VerifyLevel) error {
	const op = "reports.Verify"
	if r == nil {
		return &datacite.FieldError{Path: "r", Reason: "is nil"}
	}
	if err := checkUUID("Receipt.ReportID", r.ReportID); err != nil {
		return err
	}
	if level < VerifyHeader || level > VerifyData {
		return &datacite.FieldError{Path: "level", Reason: fmt.Sprintf("is %d, not between VerifyHeader and VerifyData", level)}
	}
	find := c.scan
	if level == VerifyData {
		find = c.count
	}
	stored, err := find(ctx, op, r.ReportID)
	if err != nil {
		return err
	}
	if difference := r.differs(stored, level); difference != "" {
		return fmt.Errorf("%s: report %s: %w: %s", op, r.ReportID, datacite.ErrIncomplete, transport.Line(difference))
	}
	return nil
}

// count reads a stored report to its end.
func (c *Client) count(ctx context.Context, op, id string) (*storedReport, error) {
	r, err := c.open(ctx, op, id, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	n := 0
	for _, err := range r.Scan() {
		if err != nil {
			return nil, err
		}
		n++
	}
	s := &storedReport{ID: r.ID, Header: r.Header, Subsets: r.Subsets}
	if len(s.Subsets) == 0 {
		s.Shown = n
	}
	return s, nil
}

// differs describes the first difference between what is stored and the receipt; ""
// if there is no difference.
func (r *Receipt) differs(s *storedReport, level VerifyLevel) string {
	if h := &r.Header; h.CreatedBy != "" {
		switch difference := h.differs(&s.Header); {
		case difference != "":
			return difference
		case s.Header.CreatedBy != h.CreatedBy:
			return fmt.Sprintf("created-by is %q, that sent %q", s.Header.CreatedBy, h.CreatedBy)
		case s.Header.ReportID != h.ReportID:
			return fmt.Sprintf("report-id is %q, that sent %q", s.Header.ReportID, h.ReportID)
		}
	}
	switch {
	case level == VerifyHeader:
		return ""
	case s.Shown > 0 || len(s.Subsets) == 0:
		if int64(s.Shown) != r.Datasets {
			return fmt.Sprintf("%d datasets stored, %d sent", s.Shown, r.Datasets)
		}
		return ""
	}
	return r.differingSubsets(s.Subsets, level)
}

// differingSubsets compares without regard to order: the service keeps none.
func (r *Receipt) differingSubsets(stored []Subset, level VerifyLevel) string {
	var datasets int64
	left := map[string][]Subset{} // sent and not found yet
	for _, s := range r.Subsets {
		key := strings.ToLower(s.Checksum)
		left[key] = append(left[key], s)
	}
	found := map[string]bool{}
	for _, s := range stored {
		datasets += int64(s.Datasets)
		key := strings.ToLower(s.Checksum)
		switch sent := left[key]; {
		case len(sent) == 0 && found[key]:
			return fmt.Sprintf("subset %s is stored twice", shortened(s.Checksum))
		case len(sent) == 0:
			return fmt.Sprintf("%d subsets stored, %d sent; that with checksum %s was not sent", len(stored), len(r.Subsets), shortened(s.Checksum))
		case level == VerifyData && sent[0].Datasets > 0 && s.Datasets != sent[0].Datasets:
			return fmt.Sprintf("subset %s holds %d datasets, that sent %d", shortened(s.Checksum), s.Datasets, sent[0].Datasets)
		default:
			found[key], left[key] = true, sent[1:]
		}
	}
	switch {
	case len(stored) < len(r.Subsets):
		return fmt.Sprintf("%d subsets stored, %d sent", len(stored), len(r.Subsets))
	case level == VerifyData && datasets != r.Datasets:
		return fmt.Sprintf("%d datasets stored, %d sent", datasets, r.Datasets)
	}
	return ""
}

// shortened bounds a text of the service that should be a checksum.
func shortened(checksum string) string { return fmt.Sprintf("%.64q", checksum) }

// differs names the first member that the service stores differently; "" if there
// is no difference. It leaves out created-by and report-id, which never change after a
// report was created.
func (h *Header) differs(stored *Header) string {
	for _, m := range []struct {
		name         string
		stored, sent any
	}{
		{"report-name", stored.ReportName, h.ReportName},
		{"release", stored.Release, h.Release},
		{"created", stored.Created, h.Created},
		{"reporting-period", stored.ReportingPeriod, h.ReportingPeriod},
	} {
		if m.stored != m.sent {
			return fmt.Sprintf("%s is %q, that sent %q", m.name, m.stored, m.sent)
		}
	}
	switch {
	case !slices.Equal(stored.ReportFilters, h.ReportFilters):
		return fmt.Sprintf("report-filters are %q, those sent %q", stored.ReportFilters, h.ReportFilters)
	case !slices.Equal(stored.ReportAttributes, h.ReportAttributes):
		return fmt.Sprintf("report-attributes are %q, those sent %q", stored.ReportAttributes, h.ReportAttributes)
	case !slices.EqualFunc(stored.Exceptions, h.Exceptions, func(a, b Exception) bool { return a.Code == b.Code }):
		return fmt.Sprintf("exceptions are %v, those sent %v", stored.Exceptions, h.Exceptions)
	}
	return ""
}
