// Package usage counts how datasets are used, and sends the report of each month.
package usage

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// A Counter notes accesses, and counts them.
type Counter struct {
	Store   *store.Store
	Reports *reports.Client
	By      dataset.Repository
	Folder  string         // for what Submit remembers from one run to the next
	Proxies []netip.Prefix // their X-Forwarded-For says who a visitor is
	Log     *slog.Logger

	visitors counter.Pseudonyms
}

// Access notes an access to a published version: a request if a file was downloaded.
// Which accesses count is decided when they are counted.
func (c *Counter) Access(r *http.Request, status int, v *dataset.Version, request bool) error {
	e, ok := counter.FromRequest(r, status, c.Proxies)
	if !ok || v.State != dataset.Published {
		return nil
	}
	e.Request = request
	e.Address = c.visitors.Address(e.Address, e.Time)
	return c.Store.Accessed(context.WithoutCancel(r.Context()), v, e)
}

// Address returns who sent a request, for as long as it is handled.
func (c *Counter) Address(r *http.Request) string {
	e, _ := counter.FromRequest(r, http.StatusOK, c.Proxies)
	return e.Address
}

// rows yields the counts of a month, with what the report says of the datasets.
func (c *Counter) rows(ctx context.Context, month time.Time) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		public, err := c.Store.Public(ctx)
		if err != nil {
			yield(reports.Row{}, err)
			return
		}
		byDOI := map[string]*dataset.Version{}
		for _, d := range public {
			for _, v := range d.Versions {
				byDOI[doi.Key(v.DOI)] = v
			}
		}
		const after = 30 * time.Second // a double click may be that long after the end of the month
		events := c.Store.Accesses(ctx, month, month.AddDate(0, 1, 0).Add(after))
		for r, err := range counter.Count(events, &counter.Options{Period: reports.Month(month.Year(), month.Month())}) {
			if err == nil {
				r.Platform, r.Publisher = c.By.Name, c.By.Name
				if v := byDOI[doi.Key(r.DOI)]; v != nil { // nil: it got another DOI a moment ago
					r.Title, r.YOP, r.URI = v.About.Title, v.About.Year, c.By.Public+v.Path()
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// counts are those of a month that DOI records show, too: how many different people
// looked and downloaded. It has an entry for each DOI that was used at all.
func (c *Counter) counts(ctx context.Context, month time.Time) (map[string]store.Used, error) {
	counts := map[string]store.Used{}
	for r, err := range c.rows(ctx, month) {
		if err != nil {
			return nil, err
		}
		n := counts[r.DOI]
		switch {
		case r.Access != reports.Regular: // programs
		case r.Metric == reports.UniqueDatasetInvestigations:
			n.Views += r.Count
		case r.Metric == reports.UniqueDatasetRequests:
			n.Downloads += r.Count
		}
		counts[r.DOI] = n
	}
	return counts, nil
}

// Count stores the counts of the months whose reports are not complete.
func (c *Counter) Count(ctx context.Context) error {
	months, err := c.Store.Months(ctx)
	if err != nil {
		return err
	}
	for _, month := range months {
		counts, err := c.counts(ctx, month)
		if err != nil {
			return err
		}
		if err := c.Store.Counted(ctx, month, counts); err != nil {
			return err
		}
	}
	return nil
}

// ReportDue sends the reports of the months that are over, as far as they are not sent
// completely: one from before the month was over is replaced.
func (c *Counter) ReportDue(ctx context.Context, now time.Time) error {
	months, err := c.Store.Months(ctx)
	if err != nil {
		return err
	}
	for _, month := range months {
		if now.Before(month.AddDate(0, 1, 0).Add(time.Minute)) { // with what the last seconds count
			break
		}
		if err := c.Report(ctx, month, now); err != nil {
			return err
		}
	}
	return nil
}

// Report sends the usage of a month. Sending it again replaces what is there only if it
// has changed.
func (c *Counter) Report(ctx context.Context, month, now time.Time) error {
	counts, err := c.counts(ctx, month)
	if err != nil {
		return err
	}
	sent := store.Report{Complete: !now.Before(month.AddDate(0, 1, 0))}
	if len(counts) > 0 { // a report without datasets is refused
		header := reports.NewHeader(c.By.Name, reports.Day(now), reports.Month(month.Year(), month.Month()))
		receipt, err := c.Reports.Submit(ctx, header, reports.Group(c.rows(ctx, month), nil), &reports.SubmitOptions{LockDir: c.Folder})
		if err != nil {
			return err
		}
		sent.ID, sent.Datasets = receipt.ReportID, receipt.Datasets
	}
	c.Log.Info("usage reported", "month", month.Format("2006-01"), "complete", sent.Complete, "datasets", sent.Datasets, "report", sent.ID)
	return c.Store.Reported(ctx, month, sent, counts)
}
