package reports

import (
	"context"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// compareOthers warns of other reports of the account that count datasets of the plan in
// the same month: records add up the counts of all reports (rule 7). It is advice, so what
// cannot be compared is a warning, too.
func (s *submission) compareOthers(ctx context.Context) error {
	if s.account == "" { // the list would be that of everybody's reports
		return datacite.Invalid(datacite.Finding{Path: "SubmitOptions.CompareOthers", Code: "missing", Reason: "needs a token that names its account"})
	}
	others, unlisted := s.listOthers(ctx)
	err := s.warnOfOthers(ctx, others)
	for _, err := range []error{unlisted, err} {
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		default:
			s.warn(datacite.Finding{Path: "report-datasets", Reason: fmt.Sprintf("cannot be compared with the other reports of the account: %v", transport.Within("reports.Submit", err)), Code: display.ReportedTwice, Warning: true})
		}
	}
	return nil
}

// listOthers lists the other reports of the account for the month. An unnamed report could not be
// looked up by whoever reads the warning, so the list is requested more often than usual. With an
// error, it returns those that it found.
func (s *submission) listOthers(ctx context.Context) (others []*Summary, err error) {
	const tries = 5
	seen := map[string]bool{}
	for range tries {
		err = nil
		for r, failed := range s.client.All(ctx, &ListOptions{ClientID: s.account}) {
			if err = failed; err == nil && !seen[r.ID] && !strings.EqualFold(r.ID, s.id) && r.Header.shownMonth() == s.header.shownMonth() {
				seen[r.ID] = true
				others = append(others, r)
			}
		}
		if err == nil || ctx.Err() != nil || !datacite.Temporary(err) {
			break
		}
	}
	return others, err
}

func (s *submission) warnOfOthers(ctx context.Context, others []*Summary) error {
	if len(others) == 0 {
		return nil
	}
	c := s.newComparison()
	defer c.sorter.Close()
	if err := s.eachPlanned(func(d *Dataset) error { return c.add(0, d, false) }); err != nil {
		return err
	}
	for i, r := range others {
		err := s.client.eachStored(ctx, r.ID, func(d *Dataset) error { return c.add(i+1, d, false) })
		switch {
		case ctx.Err() != nil:
			return call.Ended(ctx)
		case err != nil:
			s.warn(datacite.Finding{Path: "report-datasets", Reason: fmt.Sprintf("cannot be compared completely with report %s of the same month: %v", r.ID, err), Code: display.ReportedTwice, Warning: true})
		}
	}
	counts, example := make([]int, len(others)), make([]string, len(others))
	for n, err := range c.numbers() {
		if err != nil {
			return err
		}
		if n.In[0] != 0 {
			continue
		}
		for _, i := range n.In[1:] {
			counts[i-1]++
			example[i-1] = n.Name
		}
	}
	for i, r := range others {
		if counts[i] > 0 {
			s.warn(datacite.Finding{
				Path:   "report-datasets",
				Reason: fmt.Sprintf("have %d numbers, such as one of %s, that report %s of %.100q has for the same month; records show the sum", counts[i], example[i], r.ID, r.Header.CreatedBy),
				Code:   display.ReportedTwice, Warning: true,
			})
		}
	}
	return nil
}
