package reports

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Verify reads a stored report and compares it with the receipt of its submission: the
// header, if the receipt has one, and the data, which must be those of the receipt's
// subsets, each once, in any order. If the service returns datasets instead of subsets, it
// compares their number. A difference is an error that matches [datacite.ErrIncomplete];
// [Client.Submit] with the same data corrects it. No credentials are needed.
//
// A report that the service cannot read is [ErrBroken]. This can also be temporary, for
// some minutes while another program writes to the report.
//
// Verify sends GET /reports/{id} (specification §4.1). It hashes the response while
// reading it, in constant memory.
func (c *Client) Verify(ctx context.Context, r *Receipt) (err error) {
	defer func() { err = c.core.Shown(err) }()
	const op = "reports.Verify"
	if r == nil {
		return datacite.Invalidf("r", datacite.CodeMissing, "is nil")
	}
	if err := checkUUID("Receipt.ReportID", r.ReportID); err != nil {
		return err
	}
	stored, err := c.scan(ctx, op, r.ReportID)
	if err != nil {
		return err
	}
	if difference := r.differs(stored); difference != "" {
		return fmt.Errorf("%s: report %s: %w: %s", op, r.ReportID, datacite.ErrIncomplete, transport.Line(difference))
	}
	return nil
}

// A Receipt describes the report that the service holds after [Client.Submit].
type Receipt struct {
	ReportID string
	Header   Header   // as stored
	Subsets  []Subset // in the order of the datasets; the service does not keep this order
	Datasets int64    // in all subsets

	Sent int // how many of the Subsets this call stored, also if the response was lost; the others were stored before

	// Kept counts the old numbers that DOI records still show because this version does not
	// contain them. If EarlierUnknown is true, there may be more: SubmitOptions.LockDir
	// does not have all earlier versions of this account, and Warn was called.
	Kept           int64
	EarlierUnknown bool
	// Zeros counts the stored datasets with the count 0 in place of such numbers (see
	// SubmitOptions.ZeroDropped). Datasets includes them.
	Zeros int64
}

// differs describes the first difference between the receipt and what is stored, or
// returns "".
func (r *Receipt) differs(s *storedReport) string {
	if h := &r.Header; h.CreatedBy != "" {
		switch difference := h.differs(&s.Header); {
		case difference != "":
			return difference
		case s.Header.CreatedBy != h.CreatedBy:
			return fmt.Sprintf("created-by is %q, want %q", s.Header.CreatedBy, h.CreatedBy)
		case s.Header.ReportID != h.ReportID:
			return fmt.Sprintf("report-id is %q, want %q", s.Header.ReportID, h.ReportID)
		}
	}
	switch {
	case s.Shown > 0 || len(s.Subsets) == 0:
		if int64(s.Shown) != r.Datasets {
			return fmt.Sprintf("%d datasets stored, %d sent", s.Shown, r.Datasets)
		}
		return ""
	case s.damage != nil:
		return s.damage.Error()
	}
	return r.differingSubsets(s.Subsets)
}

// differingSubsets compares without regard to order: the service keeps none.
func (r *Receipt) differingSubsets(stored []Subset) string {
	left := map[string]int{} // sent and not found yet
	for _, s := range r.Subsets {
		left[strings.ToLower(s.Checksum)]++
	}
	for _, s := range stored {
		sent, known := left[s.Checksum]
		switch {
		case !known:
			return fmt.Sprintf("%d subsets stored, %d sent; that with checksum %s was not sent", len(stored), len(r.Subsets),
				s.Checksum)
		case sent == 0:
			return fmt.Sprintf("subset %s is stored twice", s.Checksum)
		}
		left[s.Checksum]--
	}
	if len(stored) < len(r.Subsets) {
		return fmt.Sprintf("%d subsets stored, %d sent", len(stored), len(r.Subsets))
	}
	return ""
}

// differs names the first member that is stored differently, or returns "". It leaves
// out created-by and report-id, which never change in a stored report, and created: the same
// data sent on another day are the same report.
func (h *Header) differs(stored *Header) string {
	for _, m := range []struct {
		name         string
		stored, sent any
	}{
		{"report-name", stored.ReportName, h.ReportName},
		{"release", stored.Release, h.Release},
		{"reporting-period", stored.ReportingPeriod, h.ReportingPeriod},
	} {
		if m.stored != m.sent {
			return fmt.Sprintf("%s is %q, want %q", m.name, m.stored, m.sent)
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
