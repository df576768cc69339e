package reports

import (
	"context"
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

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
