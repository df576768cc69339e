package upgrade

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/selection"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reconcile"
)

// remote is the part of the command that upgrades DOIs of the service.
type remote struct {
	flags   *account.Flags
	opts    dois.ListOptions
	fix     bool
	service *account.Service
	client  *dois.Client
	writer  *reconcile.Client
	kept    *record.Kept
	sent    atomic.Int64 // DOIs that were upgraded
}

func (r *remote) addFlags(s *shell.Shell, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&r.opts.ClientID, "client", nil, "DOIs of these repository `accounts`, separated by commas")
	flags.StringSliceVar(&r.opts.Prefix, "prefix", nil, "DOIs with one of these `prefixes`, separated by commas")
	flags.BoolVar(&r.fix, "fix", false, "write the new metadata of DOIs")
	s.Flags(cmd, shell.Yes)
	r.flags = account.NewFlags(s, cmd, account.Writes)
}

func (r *remote) isChosen() bool { return len(r.opts.ClientID)+len(r.opts.Prefix) > 0 }

// open opens the service. A login is needed to write.
func (c *command) open(ctx context.Context) (err error) {
	c.DryRun = !c.fix
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	if c.client, err = dois.NewClient(c.service.Config); err != nil {
		return err
	}
	if c.writer, err = reconcile.NewClient(c.service.Config); err != nil {
		return err
	}
	if c.kept, err = record.NewKept(c.Shell, c.missing); err != nil {
		return shell.Wrong(err)
	}
	return c.service.Check(ctx, c.Shell)
}

// ofService upgrades the DOIs of the service that have old metadata.
func (c *command) ofService(ctx context.Context) error {
	names, err := selection.Names(ctx, c.Shell, c.client, &c.opts, isOld)
	if err != nil {
		return c.stopped(ctx, err)
	}
	if c.fix && len(names) > 0 {
		if err := c.Confirm(fmt.Sprintf("Write the metadata of %s at %s in kernel 4?", shell.Count(len(names), "DOI"),
			c.service)); err != nil {
			return err
		}
	}
	values := map[string]map[string]string{}
	for _, name := range names {
		values[name] = c.given.of("", name)
	}
	err = shell.InOrder(c.Shell, names, "DOIs", func(name string) (*outcome, error) {
		return c.ofDOI(ctx, name, values[name])
	},
		func(name string, out *outcome) { c.end(out, values[name]) })
	// also of a run that was stopped
	if saved := c.done.save(c.Shell, "no DOI has metadata of kernel 2 or 3"); saved != nil {
		return saved
	}
	if err != nil {
		return c.stopped(ctx, err)
	}
	if err := c.table.save(c.Shell, nothingMissing); err != nil {
		return err
	}
	return c.reportDOIs(len(names))
}

// stopped is the error of a run that did not come to its end.
func (c *command) stopped(ctx context.Context, err error) error {
	done := fmt.Sprintf("%s upgraded; %srun the same command again to continue", shell.Count(c.sent.Load(), "DOI"),
		c.unwritten())
	switch {
	case ctx.Err() != nil: // a DOI whose write is not clear is looked at first, next time
		return shell.Interrupted("%s", done)
	case c.sent.Load() > 0:
		return shell.Refused(fmt.Errorf("%w; %s", err, done))
	}
	return fmt.Errorf("%w; %s", err, done)
}

// unwritten names the table of a run that did not come to its end.
func (c *command) unwritten() string {
	if c.missing == "" {
		return ""
	}
	return c.missing + " was not written; "
}

func isOld(r *dois.Record) bool {
	v := version(r.SchemaVersion)
	return v != "" && (v[0] == '2' || v[0] == '3') && r.SchemaVersion != ""
}

// ofDOI upgrades the metadata of a DOI. The lists of the service lag behind, so they are read first.
func (c *command) ofDOI(ctx context.Context, name string, values map[string]string) (*outcome, error) {
	found, err := c.client.Get(ctx, name, &dois.GetOptions{Detail: true})
	if err != nil {
		return nil, err
	}
	out := &outcome{DOI: found.DOI, Service: c.service.Host, Result: refused}
	if len(found.MetadataXML) == 0 {
		out.Faults = []fault{{Reason: "the service has no XML of it"}}
		return out, nil
	}
	document, err := lift(out, values, found.MetadataXML)
	switch {
	case err != nil || out.Result != checked || !c.fix:
		return out, err
	}
	_, err = c.writer.Ensure(ctx, reconcile.Desired{DOI: found.DOI, XML: document, Audited: found},
		&reconcile.Options{Upgrade: true, BeforeWrite: c.kept.Keep})
	if lost := c.kept.Settle(found.DOI, err); lost != nil {
		return nil, lost
	}
	switch {
	case err == nil:
		out.Result = upgraded
		c.sent.Add(1)
	case ctx.Err() != nil, datacite.Temporary(err), errors.Is(err,
		datacite.ErrUnauthorized), errors.Is(err, datacite.ErrUnclear):
		return nil, err
	default:
		out.Result, out.Faults = failed, []fault{{Reason: shell.Message(err)}}
	}
	return out, nil
}

func (c *command) reportDOIs(n int) error {
	c.given.warn(c.Shell)
	of := shell.Count(n, "DOI") + " with metadata of kernel 2 or 3"
	if c.fix {
		c.Say("%d of %s upgraded at %s, %d of kernel 4 already", c.count[upgraded], of, c.service, c.count[current])
	} else {
		c.Say("%d of %s at %s can be upgraded; --fix writes them", c.count[checked], of, c.service)
	}
	if c.count[failed] > 0 {
		return shell.Refused(fmt.Errorf("%d of %s were not upgraded; the lines above say why",
			c.count[failed]+c.count[refused], of))
	}
	return c.refused(of)
}
