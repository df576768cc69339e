package reports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A storedReport is what a response says of a report, but for its datasets.
type storedReport struct {
	ID string
	storedHeader
	Shown   int      // datasets shown outside of subsets
	Subsets []Subset // in no order; how many datasets they hold is not known
	damage  error    // of the first subset that does not match its checksum
}

// read reads the data of a subset, which are hashed and dropped as they come in.
func (s *storedReport) read(l *jsonlex.Lexer) (part Subset) {
	if l.Kind() != '"' {
		l.Skip()
		return part
	}
	data := l.Base64()
	if err := data.Drain(); err != nil {
		s.damaged(fmt.Errorf("subset %d: %w", len(s.Subsets)+1, err))
	}
	return Subset{Checksum: data.Checksum(), Bytes: data.Size()}
}

// add adds a subset, and compares it with the checksum shown.
func (s *storedReport) add(part Subset, checksum string) {
	if part.Checksum == "" {
		s.damaged(fmt.Errorf("subset %d has no data", len(s.Subsets)+1))
	}
	s.damaged(part.compareChecksum(len(s.Subsets), checksum))
	s.Subsets = append(s.Subsets, part)
}

func (s *storedReport) damaged(err error) { s.damage = cmp.Or(s.damage, err) }

// state is a hash of what is stored, in any order: even for subsets, and odd for datasets.
func (s *storedReport) state() uint64 {
	sum := sha256.Sum256(fmt.Append(nil, s.Shown, sortedChecksums(s.Subsets)))
	state := binary.BigEndian.Uint64(sum[:]) &^ 1
	if s.Shown > 0 {
		state++
	}
	return state
}

// scanResponse reads a report as the service shows it.
func scanResponse(r io.Reader) (storedReport, error) {
	dec := &datasetDecoder{}
	dec.budget = jsonlex.NewBudget(maxMemory)
	d := newDocument(r, dec)
	var s storedReport
	entry := func() bool {
		d.lex.Skip()
		s.Shown++
		return true
	}
	subset := func() bool {
		var part Subset
		checksum := d.readSubset(func() { part = s.read(d.lex) })
		d.lex.Spend(2 * sizeOf[Subset]())
		s.add(part, checksum)
		return true
	}
	var lone Subset
	for m := d.next(); m != jsonlex.End; m = d.next() {
		switch m {
		case reportGzip:
			lone = s.read(d.lex)
		case reportSubsets:
			d.elements(subset, subset)
		default:
			d.elements(entry, subset)
		}
	}
	if lone.Checksum != "" {
		s.add(lone, d.checksum)
	}
	s.ID, s.storedHeader = d.id, d.header
	return s, d.lex.Err()
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

// requestStored sends a request and reads from the response what is stored. The response
// contains every subset of the report, so it is not kept in memory.
func (c *Client) requestStored(ctx context.Context, r transport.Request) (*storedReport, error) {
	res, err := c.authorized(ctx, r)
	switch {
	case err != nil && r.Method == http.MethodGet:
		return nil, c.notRead(ctx, r.Op, err)
	case err != nil:
		return nil, err
	}
	defer res.Body.Close()
	stored, err := scanResponse(&boundedReader{src: res.Body, count: new(int64), limit: c.maxReport})
	if err == nil && !isUUID(stored.ID) {
		err = errNoID
	}
	if err == nil && r.Method == http.MethodGet && !strings.EqualFold(stored.ID, path.Base(r.Path)) {
		err = fmt.Errorf("it is the report %.40q", stored.ID)
	}
	if err != nil {
		return nil, c.core.Unreadable(r, res, err)
	}
	return &stored, nil
}

// errNoID: the ids of reports are UUIDs (specification §3.2).
var errNoID = errors.New("it holds no report with an id")

// scan reads what the service holds of a report, but for its datasets.
func (c *Client) scan(ctx context.Context, op, id string) (*storedReport, error) {
	return c.requestStored(ctx, reading(op, id))
}

// find returns the stored report to which the service would apply a POST of this header,
// or nil. By the specification it has the same name and begin date. The deployed service
// compares names without case and accents, as its filter does, and the year and month of
// the begin date, which it shows in a single report.
func (c *Client) find(ctx context.Context, op string, h Header) (*Summary, error) {
	begin, _ := h.ReportingPeriod.BeginDate.Time() // the header was validated
	var similar []*Summary
	for s, err := range c.All(ctx, &ListOptions{CreatedBy: h.CreatedBy}) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: looking for an existing report: %w", op, transport.Within(op, err))
		case !isUUID(s.ID):
			return nil, fmt.Errorf("%s: %w: the service lists a report whose id %.40q is not a UUID", op, datacite.ErrUnreadable,
				s.ID)
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

// notWritten returns the error of a write of the report with this id, and sets its condition
// if it is that the service cannot read what is stored.
func (c *Client) notWritten(ctx context.Context, op, id string, err error) error {
	if !mayBeUnread(err) {
		return err
	}
	if _, look := c.scan(ctx, op, id); errors.Is(look, ErrBroken) || errors.Is(look, errNotReadNow) {
		return unread(err)
	}
	return err
}

// errDamaged: a stored report was received several times, and never completely readable.
var errDamaged = transport.NewError("reports: stored report is damaged")

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

// eachStored calls f for each dataset of a stored report; again from the first one if the
// response breaks off. If the report is damaged, those before the damage have been read.
func (c *Client) eachStored(ctx context.Context, id string, f func(*Dataset) error) error {
	return c.readStored(ctx, id, func(r *Reader) error { return each(r, f) })
}

func each(r *Reader, f func(*Dataset) error) error {
	for d, err := range r.Scan() {
		if err != nil {
			return err
		}
		if err := f(d); err != nil {
			return err
		}
	}
	return nil
}
