package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/reports"
)

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
