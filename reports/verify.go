package reports

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// VerifyLevel says how far [Client.VerifyAt] looks.
type VerifyLevel int

// The levels of verification; each includes those before it. The first two read
// what the service says of a report and drop the data as they come in; the last
// one inflates and decodes all of them.
const (
	// VerifyHeader compares the header, if the receipt has one.
	VerifyHeader VerifyLevel = iota + 1
	// VerifyChecksums also compares the list of subsets with those sent: each
	// once, none missing, none more, in order. Of a service that shows datasets in
	// the place of subsets, it compares their number.
	VerifyChecksums
	// VerifyCount also proves each checksum by the data, and counts the datasets.
	VerifyCount
)

// Verify reads a stored report and compares it with the receipt of its
// submission, as far as it can be done: it is [Client.VerifyAt] with
// [VerifyCount].
func (c *Client) Verify(ctx context.Context, r *Receipt) error {
	return c.VerifyAt(ctx, r, VerifyCount)
}

// VerifyAt reads a stored report and compares it with the receipt of its
// submission. A difference is an error that matches [ErrIncomplete] and says what
// differs. No credentials are needed.
//
// VerifyAt sends GET /reports/{id} (specification §4.1).
func (c *Client) VerifyAt(ctx context.Context, r *Receipt, level VerifyLevel) error {
	const op = "reports.Verify"
	if err := checkUUID("Receipt.ReportID", r.ReportID); err != nil {
		return err
	}
	if level < VerifyHeader || level > VerifyCount {
		return &FieldError{"level", fmt.Sprintf("is %d, not between VerifyHeader and VerifyCount", level)}
	}
	find := c.scan
	if level == VerifyCount {
		find = c.count
	}
	stored, err := find(ctx, op, r.ReportID)
	if err != nil {
		return err
	}
	if difference := r.differs(stored, level); difference != "" {
		return fmt.Errorf("%s: report %s: %w: %s", op, r.ReportID, ErrIncomplete, difference)
	}
	return nil
}

// count reads a stored report to its end.
func (c *Client) count(ctx context.Context, op, id string) (*storedReport, error) {
	r, err := c.open(ctx, op, id)
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

// differs says what is stored otherwise than the receipt has it; "" is nothing.
func (r *Receipt) differs(s *storedReport, level VerifyLevel) string {
	if r.Header.CreatedBy != "" {
		if difference := r.Header.differs(&s.Header); difference != "" {
			return difference
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

func (r *Receipt) differingSubsets(stored []Subset, level VerifyLevel) string {
	var datasets int64
	for _, s := range stored {
		datasets += int64(s.Datasets)
	}
	for i, sent := range r.Subsets {
		switch {
		case i == len(stored):
			return fmt.Sprintf("%d subsets stored, %d sent", len(stored), len(r.Subsets))
		case !strings.EqualFold(stored[i].Checksum, sent.Checksum):
			return fmt.Sprintf("subset %d of %d has checksum %s, that sent %s", i+1, len(stored), stored[i].Checksum, sent.Checksum)
		case level == VerifyCount && sent.Datasets > 0 && stored[i].Datasets != sent.Datasets:
			return fmt.Sprintf("subset %d holds %d datasets, that sent %d", i+1, stored[i].Datasets, sent.Datasets)
		}
	}
	switch {
	case len(stored) == len(r.Subsets) && level == VerifyCount && datasets != r.Datasets:
		return fmt.Sprintf("%d datasets stored, %d sent", datasets, r.Datasets)
	case len(stored) == len(r.Subsets):
		return ""
	}
	extra := stored[len(r.Subsets)]
	if slices.ContainsFunc(r.Subsets, func(s Subset) bool { return strings.EqualFold(s.Checksum, extra.Checksum) }) {
		return fmt.Sprintf("subset %s is stored twice", extra.Checksum)
	}
	return fmt.Sprintf("%d subsets stored, %d sent", len(stored), len(r.Subsets))
}

// differs names the first member of which the service stores something else; ""
// is none.
func (h *Header) differs(stored *Header) string {
	for _, m := range []struct {
		name         string
		stored, sent any
	}{
		{"report-name", stored.ReportName, h.ReportName},
		{"report-id", stored.ReportID, h.ReportID},
		{"release", stored.Release, h.Release},
		{"created-by", stored.CreatedBy, h.CreatedBy},
		{"created", stored.Created, h.Created},
		{"reporting-period", stored.ReportingPeriod, h.ReportingPeriod},
		{"number of exceptions", len(stored.Exceptions), len(h.Exceptions)},
		{"exception 69", stored.compressed(), h.compressed()},
	} {
		if m.stored != m.sent {
			return fmt.Sprintf("%s is %v, that sent %v", m.name, m.stored, m.sent)
		}
	}
	switch {
	case !slices.Equal(stored.ReportFilters, h.ReportFilters):
		return fmt.Sprintf("report-filters are %v, those sent %v", stored.ReportFilters, h.ReportFilters)
	case !slices.Equal(stored.ReportAttributes, h.ReportAttributes):
		return fmt.Sprintf("report-attributes are %v, those sent %v", stored.ReportAttributes, h.ReportAttributes)
	}
	return ""
}
