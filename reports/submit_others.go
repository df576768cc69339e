package reports

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/internal/versions"
)

// compareOthers warns of other reports of the account that count datasets of the plan in
// the same month: records add up the counts of all reports (rule 7). It is advice, so what
// cannot be compared is a warning, too. With RefuseOthers, both are errors.
func (s *submission) compareOthers(ctx context.Context) error {
	var others []*Summary
	unlisted := errors.New("the token does not name its account")
	if s.account != "" { // the list would be that of everybody's reports
		others, unlisted = s.listOthers(ctx)
	}
	same, err := s.sameNumbers(ctx, others)
	for _, err := range []error{unlisted, err} {
		switch {
		case err == nil:
		case ctx.Err() != nil || s.options.RefuseOthers:
			return err
		default:
			s.warn(datacite.Finding{Path: "report-datasets",
				Reason: fmt.Sprintf("cannot be compared with the other reports of the account: %v",
					transport.Within("reports.Submit", err)), Code: datacite.CodeReportedTwice, Warning: true})
		}
	}
	if s.options.RefuseOthers {
		return datacite.Invalid(same...)
	}
	for _, f := range same {
		f.Warning = true
		s.warn(f)
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
			if err = failed; err == nil && !seen[r.ID] && !strings.EqualFold(r.ID, s.id) &&
				r.Header.shownMonth() == s.header.shownMonth() {
				seen[r.ID] = true
				others = append(others, r)
			}
		}
		if !datacite.Temporary(err) || call.SettingsOf(ctx).Outage.Over() {
			break
		}
	}
	return others, err
}

// sameNumbers returns a finding for each of the other reports that has numbers of the plan.
func (s *submission) sameNumbers(ctx context.Context, others []*Summary) (same []datacite.Finding, err error) {
	if len(others) == 0 {
		return nil, nil
	}
	c := versions.New(s.options.TempDir)
	c.Used = true // a 0 adds nothing to the sum
	defer c.Close()
	if err := s.eachPlanned(func(d *Dataset) error { return s.addNumbers(c, versions.Plan, d, false) }); err != nil {
		return nil, err
	}
	for i, r := range others {
		err := s.client.eachStored(ctx, r.ID, func(d *Dataset) error { return s.addNumbers(c, i+1, d, false) })
		switch {
		case ctx.Err() != nil:
			return nil, call.Ended(ctx)
		case err != nil && s.options.RefuseOthers:
			return nil, fmt.Errorf("report %s of the same month cannot be compared: %w", r.ID, err)
		case err != nil:
			s.warn(datacite.Finding{Path: "report-datasets",
				Reason: fmt.Sprintf("cannot be compared completely with report %s of the same month: %v", r.ID,
					err), Code: datacite.CodeReportedTwice, Warning: true})
		}
	}
	counts, example := make([]int, len(others)), make([]string, len(others))
	for n, err := range c.Numbers() {
		if err != nil {
			return nil, err
		}
		if n.In[0] != versions.Plan {
			continue
		}
		for _, i := range n.In[1:] {
			counts[i-1]++
			example[i-1] = n.Name
		}
	}
	for i, r := range others {
		if counts[i] > 0 {
			same = append(same, datacite.Finding{
				Path: "report-datasets",
				Reason: fmt.Sprintf("report %s of %.100q has %d of the same numbers for that month, such as one of %s; records "+
					"show the sum", r.ID, r.Header.CreatedBy, counts[i], example[i]),
				Code: datacite.CodeReportedTwice,
			})
		}
	}
	return same, nil
}
