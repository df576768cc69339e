// Package usage counts how datasets are used, and sends the report of each month.
package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// Settings of a Counter.
type Settings struct {
	Store   *store.Store
	Reports *reports.Client
	By      dataset.Repository
	Folder  string         // for what Submit remembers from one run to the next
	Proxies []netip.Prefix // their X-Forwarded-For says who a visitor is
	Token   string         // for reports
	Limits  Limits
	Log     *slog.Logger
}

// A Counter notes accesses, and counts them.
type Counter struct {
	Settings

	visitors  counter.Pseudonyms
	allowance allowance
	troubles  troubles

	keeping sync.Mutex // held while some are stored
	mu      sync.Mutex
	noted   []store.Access // not stored yet
}

// New returns a counter with these settings.
func New(s Settings) *Counter {
	return &Counter{Settings: s, troubles: troubles{missed: map[string]int64{}, failed: map[string]error{}}}
}

// maxAgent is the most bytes of a user agent that are kept. Programs name themselves before that.
const maxAgent = 250

// Access notes an access to a published version: a request if a file was downloaded. Which
// accesses count is decided when they are counted. The page neither waits for the disk nor
// fails with it: an access that cannot be stored is missed, which Notices tells, and a process
// that is killed loses the accesses since the last Keep.
func (c *Counter) Access(r *http.Request, status int, v *dataset.Version, request bool) {
	e, ok := counter.FromRequest(r, status, c.Proxies)
	if !ok || v.State != dataset.Published {
		return
	}
	from := c.visitors.Address(network(e.Address, 32).String(), e.Time)
	e.Address = c.visitors.Address(e.Address, e.Time)
	// What the reader chooses is stored as far as counting needs it.
	e.URL, e.Agent, e.Request = r.URL.Path, e.Agent[:min(len(e.Agent), maxAgent)], request
	if err := c.allow(context.WithoutCancel(r.Context()), e.Time, from); err != nil {
		c.miss(e.Time, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noted = append(c.noted, store.Access{Dataset: v.Dataset, Number: v.Number, Event: e})
}

// Keep stores the accesses that were noted since the last time.
func (c *Counter) Keep(ctx context.Context) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	c.mu.Lock()
	noted := c.noted
	c.noted = nil
	c.mu.Unlock()
	if len(noted) == 0 {
		return
	}
	missed, err := c.Store.Accessed(context.WithoutCancel(ctx), noted...)
	if err != nil {
		missed = len(noted)
	} else {
		err = store.ErrFinal
	}
	for range missed {
		c.miss(noted[0].Event.Time, err)
	}
}

// Network returns the network from which a request came: the part of the address that its
// owner cannot choose, such as 192.0.2.7/32 with 32 bits, or 2001:db8::/64. Logs may have one
// of 24 bits: a program that blocks networks can use it, and it names no person.
func (c *Counter) Network(r *http.Request, bits int) netip.Prefix {
	e, _ := counter.FromRequest(r, http.StatusOK, c.Proxies)
	return network(e.Address, bits)
}

// rows yields the counts of a month, with what the report says of the datasets.
func (c *Counter) rows(ctx context.Context, month time.Time) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		public, err := c.Store.AllPublic(ctx)
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
					r.Title, r.YOP, r.URI = v.About.Title, v.Year(), c.By.Public+v.Path()
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
		case r.Access != reports.AccessRegular: // programs
		case r.Metric == reports.MetricUniqueDatasetInvestigations:
			n.Views += r.Count
		case r.Metric == reports.MetricUniqueDatasetRequests:
			n.Downloads += r.Count
		}
		counts[r.DOI] = n
	}
	return counts, nil
}

// Count stores the counts of the months whose reports are not complete, and how many
// accesses they lack.
func (c *Counter) Count(ctx context.Context) error {
	c.Keep(ctx)
	months, err := c.Store.Months(ctx)
	if err := errors.Join(err, c.KeepMissed(ctx)); err != nil {
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
	c.Keep(ctx)
	months, err := c.Store.Months(ctx)
	if err != nil {
		return err
	}
	for _, month := range months {
		if now.Before(month.AddDate(0, 1, 0).Add(time.Minute)) { // with what the last seconds count
			break
		}
		err = errors.Join(err, c.Report(ctx, month, now)) // the others do not wait for it
	}
	return err
}

// Report sends the usage of a month. Sending it again replaces what is there only if it has
// changed, and never by less: accesses are missing then, since the clock was wrong or the
// database is an old copy.
func (c *Counter) Report(ctx context.Context, month, now time.Time) (err error) {
	defer func() { c.troubles.reported(month, err) }()
	c.Keep(ctx)
	final, err := c.Store.Final(ctx, month)
	if err != nil {
		return err
	}
	if final {
		return errors.New("the complete report was sent before; is the clock right?")
	}
	counts, err := c.counts(ctx, month)
	if err != nil {
		return err
	}
	sent := store.Report{Complete: !now.Before(month.AddDate(0, 1, 0))}
	if len(counts) > 0 { // a report without datasets is refused
		header := reports.NewHeader(c.By.Name, reports.Day(now), reports.Month(month.Year(), month.Month()))
		receipt, err := c.Reports.Submit(ctx, header, reports.Group(c.rows(ctx, month), nil), &reports.SubmitOptions{
			LockDir: c.Folder, RefuseLower: true,
			Warn: func(f datacite.Finding) { c.Log.Warn("usage report", "month", month.Format("2006-01"), "finding", f) },
		})
		if err != nil {
			return err
		}
		sent.ID, sent.Datasets = receipt.ReportID, receipt.Datasets
	}
	c.Log.Info("usage reported", "month", month.Format("2006-01"), "complete", sent.Complete, "datasets", sent.Datasets, "report", sent.ID)
	return c.Store.Reported(ctx, month, sent, counts)
}

// Limits of what is stored, since anybody can look at pages.
type Limits struct {
	Day     int // accesses in a day; 0 means 100,000, at most some 80 MB
	Visitor int // accesses of a network in a day; 0 means 5,000
}

// An allowance counts the accesses of today.
type allowance struct {
	mu   sync.Mutex
	day  string
	all  int
	from map[string]int
}

// allow counts an access, or returns an error if a limit is reached.
func (c *Counter) allow(ctx context.Context, at time.Time, from string) error {
	a := &c.allowance
	a.mu.Lock()
	defer a.mu.Unlock()
	if day := at.UTC().Format(time.DateOnly); day != a.day {
		stored, err := c.Store.AccessesOn(ctx, day) // of a process before this one
		if err != nil {
			return err
		}
		a.day, a.all, a.from = day, stored, map[string]int{}
	}
	switch {
	case a.all >= cmp.Or(c.Limits.Day, 100_000):
		return errors.New("the limit of accesses of a day is reached")
	case a.from[from] >= cmp.Or(c.Limits.Visitor, 5000):
		return errors.New("the limit of accesses of a network and day is reached")
	}
	a.all++
	a.from[from]++
	return nil
}

// network is the network of an IPv4 address with so many bits, or the /64 of an IPv6 address,
// whose owner can choose among 2^64 addresses.
func network(address string, bits int) netip.Prefix {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Prefix{}
	}
	if ip = ip.Unmap(); !ip.Is4() {
		bits = 64
	}
	prefix, _ := ip.Prefix(bits)
	return prefix
}

// Troubles are missing accesses and reports that could not be sent.
type troubles struct {
	mu     sync.Mutex
	missed map[string]int64 // accesses that were not noted, by month; not in the database yet
	failed map[string]error // why the last try to send a report failed, by month
}

// miss counts an access that was not stored. The first of an hour is logged.
func (c *Counter) miss(at time.Time, why error) {
	t := &c.troubles
	t.mu.Lock()
	defer t.mu.Unlock()
	month := at.UTC().Format("2006-01")
	if t.missed[month]++; t.missed[month] == 1 {
		c.Log.Error("an access is not counted; more may follow", "month", month, "error", why)
	}
}

// KeepMissed stores how many accesses were missed since the last time.
func (c *Counter) KeepMissed(ctx context.Context) error {
	t := &c.troubles
	t.mu.Lock()
	defer t.mu.Unlock()
	err := c.Store.Missed(ctx, t.missed)
	if err == nil {
		t.missed = map[string]int64{}
	}
	return err
}

func (t *troubles) reported(month time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed[month.Format("2006-01")] = err
}

// Notices tell an administrator why reports were not sent, and what they lack.
func (c *Counter) Notices(ctx context.Context, now time.Time) (all []string, err error) {
	if problem := c.TokenProblem(now); problem != "" {
		all = append(all, problem)
	}
	missed, err1 := c.Store.AllMissed(ctx)
	months, err2 := c.Store.Months(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	t := &c.troubles
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, month := range slices.Sorted(maps.Keys(t.failed)) {
		if err := t.failed[month]; err != nil {
			all = append(all, "The report of "+month+" was not sent: "+err.Error())
		}
	}
	for month, n := range t.missed {
		missed[month] += n
	}
	for _, month := range slices.Sorted(maps.Keys(missed)) {
		all = append(all, fmt.Sprintf("Accesses that are missing in the report of %s: %d. The log has the reasons.", month, missed[month]))
	}
	for _, month := range months {
		if month.After(now) {
			all = append(all, fmt.Sprintf("There are accesses of %s, which has not begun. Is the clock right?", month.Format("2006-01")))
		}
	}
	return all, nil
}

// TokenProblem says why reports cannot be sent now, or in 30 days; "" if they can.
func (c *Counter) TokenProblem(now time.Time) string {
	expires, err := reports.TokenExpiry(c.Token)
	switch left := expires.Sub(now); {
	case c.Token == "":
		return "DATACITE_TOKEN is not set. Usage is counted and kept, but no report can be sent."
	case err != nil:
		return "" // perhaps the service can read it
	case left <= 0:
		return "DATACITE_TOKEN expired on " + expires.Format(time.DateOnly) + ". Usage is counted and kept, but no report can be sent."
	case left < 30*24*time.Hour:
		return "DATACITE_TOKEN expires on " + expires.Format(time.DateOnly) + ". After that, no report can be sent."
	}
	return ""
}
