package reports

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// look compares what the service holds with the plan. With an error, the kind of the view
// tells what it means; unseen means that another look would fail as well.
func (s *submission) look(ctx context.Context) (view, error) {
	if !s.found {
		if err := s.findReport(ctx); err != nil {
			return s.notFound(err), err
		}
		if s.options.CompareOthers || s.options.RefuseOthers {
			if err := s.compareOthers(ctx); err != nil {
				return s.notFound(err), fmt.Errorf("looking for other reports of the account: %w", transport.Within("reports.Submit", err))
			}
		}
		s.found = true
	}
	request := reading("reports.Submit", s.id)
	request.Replay = transport.IfUnsent // deliver has pauses of its own
	stored, err := s.client.requestStored(ctx, request)
	switch {
	case transport.NotFound(err):
		return view{kind: shown}, nil
	case err != nil:
		return view{kind: failure(err)}, err
	}
	if err := s.mayWrite(stored); err != nil {
		return view{}, err
	}
	seen := view{kind: shown, state: stored.state()}
	if stored.Shown == 0 && len(stored.Subsets) == 0 {
		return seen, nil
	}
	if s.header.differs(&stored.Header) != "" || stored.damage != nil && stored.Shown == 0 {
		seen.foreign = true
		return seen, nil
	}
	s.kept.Created = stored.Header.Created
	var ok bool
	if seen.first, ok = s.holds(stored); ok && stored.Shown == 0 {
		return seen, nil
	}
	// Another release may have compressed the subsets differently, or the service
	// shows datasets instead of subsets.
	var held []Subset
	seen.first, held, err = s.holdsContent(ctx)
	switch {
	case err != nil:
		return view{kind: failure(err)}, err
	case seen.first == 0:
		seen.foreign = true
	case len(held) > 0:
		s.accepted, s.covered = held, seen.first
	case s.listed != nil:
		s.accepted, s.covered = s.listed, seen.first
	}
	return seen, nil
}

// notFound returns what the error of a search means. It may pass, unless it comes from something else than the
// service: a page of a web server, or a login page.
func (s *submission) notFound(err error) view {
	e, ok := errors.AsType[*datacite.Error](err)
	if !datacite.Temporary(err) || errors.Is(err, errDamaged) || ok && (e.StatusCode == http.StatusNotFound || e.StatusCode/100 == 2 && whole(e.Body)) {
		return view{}
	}
	return view{kind: unreachable}
}

// whole reports whether a body that is no list of reports is surely something else, and not cut off.
func whole(body []byte) bool {
	body = bytes.TrimSpace(body)
	return json.Valid(body) || len(body) > 0 && body[0] != '{' && body[0] != '['
}

// mayWrite checks that the report stored under our id is the one to which a POST would
// add. The service does not: a PUT would replace the report of another account.
func (s *submission) mayWrite(stored *storedReport) error {
	if err := stored.belongsTo(s.account); err != nil {
		return err
	}
	h := &stored.Header
	year, month := s.header.ReportingPeriod.yearMonth()
	switch {
	case !strings.EqualFold(h.CreatedBy, cmp.Or(s.kept.CreatedBy, s.header.CreatedBy)):
		return stored.conflict("creator", h.CreatedBy, s.header.CreatedBy)
	case stored.Month != "" && (stored.Year != year || stored.Month != month):
		return stored.conflict("month", stored.Year+"-"+stored.Month, year+"-"+month)
	}
	s.keep(h)
	return nil
}

// belongsTo returns an error if the report shows an account other than that of the token.
func (s *storedReport) belongsTo(account string) error {
	if s.Account == "" || account == "" || strings.EqualFold(s.Account, account) {
		return nil
	}
	return s.conflict("account", s.Account, account)
}

func (s *storedReport) conflict(what, is, ours string) error {
	return fmt.Errorf("%w: the %s of report %.40s is %.100q, not %q", datacite.ErrConflict, what, s.ID, is, ours)
}

// holds returns how many of the planned subsets are stored; ok if they are the first
// ones and nothing else is stored.
func (s *submission) holds(stored *storedReport) (first int, ok bool) {
	first = s.covered + len(stored.Subsets) - len(s.accepted)
	return first, stored.damage == nil && first >= s.covered && first <= len(s.plan) && sameSubsets(stored.Subsets, s.subsets(first))
}

// sameSubsets reports whether two lists are equal, in any order.
func sameSubsets(a, b []Subset) bool { return slices.Equal(sortedChecksums(a), sortedChecksums(b)) }

func sortedChecksums(subsets []Subset) []string {
	sums := make([]string, len(subsets))
	for i, s := range subsets {
		sums[i] = strings.ToLower(s.Checksum)
	}
	slices.Sort(sums)
	return sums
}

// failure returns what the error of a look means. Two failures may pass: the service
// cannot be reached, or it cannot read a report because it is being written.
func failure(err error) viewKind {
	e, ok := errors.AsType[*datacite.Error](err)
	switch {
	case !ok || call.IsEnded(err) || errors.Is(err, datacite.ErrTooLarge):
		return unseen
	case errors.Is(err, errNotReadNow):
		return unreadable
	case e.StatusCode == 0 && e.Attempts > 0,
		e.StatusCode >= 500 || e.StatusCode == http.StatusTooManyRequests || errors.Is(err, datacite.ErrUnreadable):
		return unreachable
	}
	return unseen
}

// A contentSum identifies a set of datasets in any order: their number, and the sum of
// their SHA-256 checksums in four lanes.
type contentSum struct {
	datasets int64
	lanes    [4]uint64
}

// add adds a dataset in the form in which it would be sent. It reuses the memory of entry.
func (c *contentSum) add(d *Dataset, entry *[]byte) (err error) {
	if *entry, err = appendDataset((*entry)[:0], d); err != nil {
		return err
	}
	sum := sha256.Sum256(*entry)
	for i := range c.lanes {
		c.lanes[i] += binary.LittleEndian.Uint64(sum[8*i:])
	}
	c.datasets++
	return nil
}

// holdsContent reads the stored datasets and returns how many of the planned subsets
// hold the same, from the first one on; 0 if none do, or something else is stored. It is
// for a service that shows no subsets, and for subsets that another release
// compressed differently, which it returns.
func (s *submission) holdsContent(ctx context.Context) (first int, held []Subset, err error) {
	var stored, planned contentSum
	err = s.client.readStored(ctx, s.id, func(r *Reader) (err error) {
		stored, err = sumOf(r.Scan())
		held = r.Subsets
		return err
	})
	switch {
	case errors.Is(err, errDamaged):
		return 0, nil, nil // we did not send damaged data
	case err != nil:
		return 0, nil, err
	}
	for i := range s.plan {
		if planned.datasets >= stored.datasets {
			break
		}
		part, err := s.sum(i)
		if err != nil {
			return 0, nil, err
		}
		planned.datasets += part.datasets
		for lane := range planned.lanes {
			planned.lanes[lane] += part.lanes[lane]
		}
		if planned == stored {
			return i + 1, held, nil
		}
	}
	return 0, nil, nil
}

// errDamaged: a stored report was received several times, and never completely readable.
var errDamaged = transport.NewSign("reports: stored report is damaged")

// readStored calls f with a stored report. If the response breaks off, even without an error
// of the connection, the report seems damaged; so it is read again first.
func (c *Client) readStored(ctx context.Context, id string, f func(*Reader) error) error {
	const tries = 3
	for try := 1; ; try++ {
		r, err := c.open(ctx, "reports.Submit", id, nil)
		damaged := false
		if err == nil {
			err = f(r)
			damaged = err != nil && !r.closer.(*connection).broken.Load()
			r.Close()
		}
		switch err = transport.Within("reports.Submit", err); {
		case !errors.Is(err, datacite.ErrUnreadable):
			return err
		case try < tries && ctx.Err() == nil && !call.SettingsOf(ctx).Outage.Over():
			continue
		case damaged:
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		return err
	}
}

// sum returns the sum of planned subset i, computed once from its body.
func (s *submission) sum(i int) (contentSum, error) {
	for len(s.sums) <= i {
		r, err := NewReader(s.body(len(s.sums)))
		if err != nil {
			return contentSum{}, err
		}
		sum, err := sumOf(r.Scan())
		if err != nil {
			return contentSum{}, err
		}
		s.sums = append(s.sums, sum)
	}
	return s.sums[i], nil
}

func sumOf(datasets iter.Seq2[*Dataset, error]) (sum contentSum, err error) {
	var entry []byte
	for d, err := range datasets {
		if err != nil {
			return sum, err
		}
		if err := sum.add(d, &entry); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
