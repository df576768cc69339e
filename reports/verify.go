package reports

import (
	"context"
	"fmt"
	"slices"
)

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
