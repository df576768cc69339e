package reports

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/extsort"
)

// Submit makes the stored report of the header's creator and month hold exactly the
// datasets of src, each once. [Source] makes src of a slice, [ReadFile] of a file, [Group] of
// rows, and [Reader.All] of a stored report.
//
// Submit reads and checks src to its end before it sends anything. Faults are a
// [*datacite.ValidationError], and an error of src is wrapped. Then it sends what the stored
// report lacks: nothing if it has the data already. If Submit cannot finish, the error is a
// [*SubmitError], which says what is stored; submit the same data again to continue. While
// another run submits the report, the error matches [ErrBusy]; if the stored report belongs to
// another account, creator or month, [datacite.ErrConflict].
//
// The package documentation has the details ("Sending a report").
func (c *Client) Submit(ctx context.Context, h Header, src iter.Seq2[Dataset, error],
	opts *SubmitOptions) (_ *Receipt, err error) {
	defer func() { err = c.core.Shown(err) }()
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := c.core.Ready(ctx); err != nil {
		return nil, err
	}
	if src == nil {
		return nil, datacite.Invalidf("src", datacite.CodeMissing, "is nil")
	}
	if warn := o.Warn; warn != nil { // the words of the service may hold secrets
		o.Warn = func(f datacite.Finding) { f.Path, f.Reason = c.core.Text(f.Path), c.core.Text(f.Reason); warn(f) }
	}
	s := &submission{client: c, header: h.withCompressed(o.HelpURL), outage: o.MaxOutage}
	o.MaxProcessing, o.MaxOutage = c.core.Pause(o.MaxProcessing), c.core.Outage(o.MaxOutage)
	s.options = o
	if !o.DryRun {
		token, err := c.token.claims(ctx)
		if err != nil {
			return nil, fmt.Errorf("reports.Submit: %w", err)
		}
		if s.account = token.Account; !c.token.renewable {
			s.expires = token.Expires
		}
	}
	if s.bodies, err = extsort.CreateTemp(o.TempDir); err != nil {
		return nil, fmt.Errorf("reports.Submit: no temporary file can be created (SubmitOptions.TempDir, or TMPDIR in the "+
			"environment): %w", err)
	}
	defer extsort.RemoveTemp(s.bodies)
	if !o.DryRun {
		if s.lock, err = c.lock("reports.Submit", o.LockDir, &h); err != nil {
			return nil, err
		}
		defer s.lock.Release()
	}
	if err := s.build(ctx, src); err != nil {
		return nil, err
	}
	if s.id = cmp.Or(o.ID, DeriveID(h)); o.DryRun {
		return s.receipt(), nil
	}
	if err := s.deliver(ctx); err != nil {
		return nil, err
	}
	return s.receipt(), nil
}

func (s *submission) receipt() *Receipt {
	h := s.header
	h.CreatedBy, h.ReportID, h.Created = cmp.Or(s.kept.CreatedBy,
		h.CreatedBy), cmp.Or(s.kept.ReportID, h.ReportID), cmp.Or(s.kept.Created, h.Created)
	return &Receipt{ReportID: s.id, Header: h, Subsets: s.subsets(len(s.plan)), Datasets: s.datasets(len(s.plan)),
		Sent: s.sent, Kept: s.staying, EarlierUnknown: s.past.unknown, Zeros: s.zeroed}
}
