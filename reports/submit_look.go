package reports

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/delivery"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// look compares what the service holds with the plan. With an error, the kind of the view
// tells what it means; unseen means that another look would fail as well.
func (s *submission) look(ctx context.Context) (delivery.View, error) {
	if !s.found {
		if err := s.findReport(ctx); err != nil {
			return s.notFound(err), err
		}
		if s.options.CompareOthers || s.options.RefuseOthers {
			if err := s.compareOthers(ctx); err != nil {
				return s.notFound(err), fmt.Errorf("looking for other reports of the account: %w",
					transport.Within("reports.Submit", err))
			}
		}
		s.found = true
	}
	request := reading("reports.Submit", s.id)
	request.Replay = transport.IfUnsent // deliver has pauses of its own
	stored, err := s.client.requestStored(ctx, request)
	switch {
	case transport.NotFound(err):
		return delivery.View{Kind: delivery.Shown}, nil
	case err != nil:
		return delivery.View{Kind: failure(err)}, err
	}
	if err := s.mayWrite(stored); err != nil {
		return delivery.View{}, err
	}
	seen := delivery.View{Kind: delivery.Shown, Hash: stored.state()}
	if stored.Shown == 0 && len(stored.Subsets) == 0 {
		return seen, nil
	}
	if s.header.differs(&stored.Header) != "" || stored.damage != nil && stored.Shown == 0 {
		seen.Foreign = true
		return seen, nil
	}
	s.kept.Created = stored.Header.Created
	var ok bool
	if seen.First, ok = s.holds(stored); ok && stored.Shown == 0 {
		return seen, nil
	}
	// Another release may have compressed the subsets differently, or the service
	// shows datasets instead of subsets.
	var held []Subset
	seen.First, held, err = s.holdsContent(ctx)
	switch {
	case err != nil:
		return delivery.View{Kind: failure(err)}, err
	case seen.First == 0:
		seen.Foreign = true
	case len(held) > 0:
		s.accepted, s.covered = held, seen.First
	case s.listed != nil:
		s.accepted, s.covered = s.listed, seen.First
	}
	return seen, nil
}

// findReport decides which report to write: the one with the given id, the stored one,
// or a new one with an id derived from creator and month. Since the service finds the
// report of a POST by creator and month alone, another id for the same month would
// send the later subsets to the other report.
func (s *submission) findReport(ctx context.Context) error {
	found, err := s.client.find(ctx, "reports.Submit", s.header)
	asked := s.options.ID
	switch {
	case err != nil || found == nil:
		return err
	case asked != "" && !strings.EqualFold(asked, found.ID):
		return fmt.Errorf("%w: the service holds report %s of %q for %s, not %s",
			datacite.ErrConflict, found.ID, found.Header.CreatedBy, s.header.ReportingPeriod.BeginDate, asked)
	default:
		s.id = found.ID
		s.keep(&found.Header)
	}
	return nil
}

// notFound returns what the error of a search means. It may pass, unless it comes from something else than the
// service: a page of a web server, or a login page.
func (s *submission) notFound(err error) delivery.View {
	e, ok := errors.AsType[*datacite.Error](err)
	if !datacite.Temporary(err) || errors.Is(err, errDamaged) || ok && (e.StatusCode == http.StatusNotFound ||
		e.StatusCode/100 == 2 && whole(e.Body)) {
		return delivery.View{}
	}
	return delivery.View{Kind: delivery.Unreachable}
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

// holds returns how many of the planned subsets are stored; ok if they are the first
// ones and nothing else is stored.
func (s *submission) holds(stored *storedReport) (first int, ok bool) {
	first = s.covered + len(stored.Subsets) - len(s.accepted)
	return first, stored.damage == nil && first >= s.covered && first <= len(s.plan) && sameSubsets(stored.Subsets,
		s.subsets(first))
}

// failure returns what the error of a look means. Two failures may pass: the service
// cannot be reached, or it cannot read a report because it is being written.
func failure(err error) delivery.Kind {
	e, ok := errors.AsType[*datacite.Error](err)
	switch {
	case !ok || call.IsEnded(err) || errors.Is(err, datacite.ErrTooLarge):
		return delivery.Unseen
	case errors.Is(err, errNotReadNow):
		return delivery.Unreadable
	case e.StatusCode == 0 && e.Attempts > 0,
		e.StatusCode >= 500 || e.StatusCode == http.StatusTooManyRequests || errors.Is(err, datacite.ErrUnreadable):
		return delivery.Unreachable
	}
	return delivery.Unseen
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
