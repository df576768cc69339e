// Package states has the commands that change the state or the account of DOIs and send no metadata: hide, show, delete
// and transfer.
package states

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/selection"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
)

// A verb is what one of the commands does.
type verb struct {
	name, done string
	from, to   datacite.State // to is empty where the DOI is gone
	event      dois.Event
	others     map[datacite.State]string // what to do with DOIs of other states
	question   string
}

func (v *verb) deletes() bool { return v.name == remove.name }

var (
	hide = verb{
		name: "hide", done: "hidden", from: datacite.StateFindable, to: datacite.StateRegistered, event: dois.EventHide,
		others: map[datacite.State]string{
			datacite.StateDraft: "is a draft, which nobody else sees; datacite delete removes it",
		},
		question: "Hide %s at %s?",
	}
	show = verb{
		name: "show", done: "shown", from: datacite.StateRegistered, to: datacite.StateFindable, event: dois.EventPublish,
		others: map[datacite.State]string{
			datacite.StateDraft: "is a draft; datacite register registers it with its metadata",
		},
		question: "Show %s at %s?",
	}
	remove = verb{
		name: "delete", done: "deleted", from: datacite.StateDraft,
		others: map[datacite.State]string{
			datacite.StateRegistered: "is registered, and is never deleted; searches do not find it",
			datacite.StateFindable:   "is findable, and is never deleted; datacite hide takes it out of searches",
		},
		question: "Delete %s at %s? That cannot be undone.",
	}
	transfer = verb{name: "transfer", done: "moved"}
)

type command struct {
	*shell.Shell
	verb
	flags   *account.Flags
	reason  string
	account string // that transfer moves DOIs to
	source  string // and from; "" means any
	service *account.Service
	client  *dois.Client
}

// Hide is datacite hide.
func Hide(s *shell.Shell) *cobra.Command {
	cmd, c := newCommand(s, hide)
	cmd.Short = "Take findable DOIs out of searches"
	cmd.Long = `Make findable DOIs registered: searches do not find them any more, and they still lead to their
URLs. Nothing else of them changes. "datacite show" reverses it. A DOI may be written in any
usual form. For "-", the DOIs are read from standard input, one per line, and
for a table (.csv, .xlsx), its column doi.

All DOIs are read first. If one of them cannot be hidden, nothing is changed.`
	cmd.Example = `  datacite hide 10.5072/glacier-9 --reason "registered twice" --service test`
	cmd.Flags().StringVar(&c.reason, "reason", "", "`why`, for the people of the account; the record keeps it")
	return finish(cmd, c)
}

// Show is datacite show.
func Show(s *shell.Shell) *cobra.Command {
	cmd, c := newCommand(s, show)
	cmd.Short = "Make hidden DOIs findable again"
	cmd.Long = `Make registered DOIs findable, such as those that "datacite hide" has hidden. Nothing else of them
changes, except that the reason for hiding goes. A DOI may be written in any usual form. For "-",
the DOIs are read from standard input, one per line, and for a table (.csv, .xlsx), its column doi.

All DOIs are read first. If one of them cannot be shown, nothing is changed.`
	cmd.Example = `  datacite show 10.5072/glacier-9 --service test`
	return finish(cmd, c)
}

// Delete is datacite delete.
func Delete(s *shell.Shell) *cobra.Command {
	cmd, c := newCommand(s, remove)
	cmd.Short = "Delete drafts"
	cmd.Long = `Delete drafts. Registered and findable DOIs are never deleted; "datacite hide" takes them out of
searches. A DOI may be written in any usual form. For "-", the DOIs are read from standard input,
one per line, and for a table (.csv, .xlsx), its column doi.

All DOIs are read first. If one of them cannot be deleted, nothing is.`
	cmd.Example = `  datacite delete 10.5072/glacier-draft --service test`
	return finish(cmd, c)
}

// Transfer is datacite transfer.
func Transfer(s *shell.Shell) *cobra.Command {
	cmd, c := newCommand(s, transfer)
	cmd.Use, cmd.Args = "transfer DOI… | --from ACCOUNT", nil
	cmd.Short = "Move DOIs to another repository account"
	cmd.Long = `Move DOIs to another repository account, and change nothing else: state, URL and metadata stay. Each
DOI is compared with what it was. It needs the login of the member that the repositories belong to,
or of the lead of the consortium, such as EXAMPLE for EXAMPLE.REPO; the service refuses that of a
repository. A DOI may be written in any usual form. For "-", the DOIs are read from standard input,
one per line, and for a table (.csv, .xlsx), its column doi. --from moves all DOIs of an account.

Prefixes do not move: the new account changes the DOIs, but creates DOIs only under its own
prefixes. The service accepts any account for --to; only the login of that account's member can move
the DOIs back.

All DOIs are read first. If one of them cannot be moved, nothing is changed. A second run moves what
the first one has left, and sends nothing for the others.`
	cmd.Example = `  datacite transfer --from EXAMPLE.OLD --to EXAMPLE.NEW --dry-run --service test
  datacite transfer moved.csv --to EXAMPLE.NEW --service test`
	cmd.Flags().StringVar(&c.account, "to", "", "repository `account` that the DOIs move to")
	cmd.Flags().StringVar(&c.source, "from", "", "move all DOIs of this repository `account`")
	return finish(cmd, c)
}

func newCommand(s *shell.Shell, v verb) (*cobra.Command, *command) {
	c := &command{Shell: s, verb: v}
	return &cobra.Command{
		Use: v.name + " DOI…", GroupID: shell.Writing, Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions, RunE: c.run,
	}, c
}

func finish(cmd *cobra.Command, c *command) *cobra.Command {
	c.Shell.Flags(cmd, shell.JSON, shell.DryRun, shell.Yes)
	c.flags = account.NewFlags(c.Shell, cmd, account.Writes)
	return cmd
}

// outcome is what --json prints of a DOI.
type outcome struct {
	DOI     string         `json:"doi"`
	State   datacite.State `json:"state,omitempty"`   // now; empty for one that is deleted
	Account string         `json:"account,omitempty"` // now, of transfer
	Result  string         `json:"result"`            // hidden, shown, deleted, moved, unchanged or checked
	Service string         `json:"service"`
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	if err := c.checkFlags(args); err != nil {
		return shell.Wrong(err)
	}
	ctx := cmd.Context()
	names, err := c.names(args)
	if err != nil {
		return shell.Wrong(err)
	}
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	if user := c.service.Config.Username; c.account != "" && strings.Contains(user, ".") {
		return shell.Wrong(fmt.Errorf("%s is the login of a repository; DOIs are moved with that of its member, or of the "+
			"lead of the consortium", user))
	}
	if c.client, err = dois.NewClient(c.service.Config); err != nil {
		return err
	}
	if err := c.service.Check(ctx, c.Shell); err != nil {
		return err
	}
	if c.source != "" {
		if names, err = selection.Names(ctx, c.Shell, c.client, &dois.ListOptions{ClientID: []string{c.source}},
			nil); err != nil {
			return err
		}
		slices.Sort(names) // they are listed by creation, and what is created side by side has no order
	}
	if len(names) == 0 {
		c.Say("%s lists no DOI of %s", c.service, c.source)
	}
	todo, err := c.check(ctx, names)
	if err != nil || len(todo) == 0 {
		return err
	}
	if c.account != "" {
		c.Say("note: %s: %s changes these DOIs, and creates DOIs only under its own prefixes", stay(todo), c.account)
	}
	if c.DryRun {
		return nil
	}
	if c.event == "" || c.service.Name == "production" && shell.IsTerminal(c.Stdin) {
		if err := c.Confirm(fmt.Sprintf(c.question, counted(todo), c.service)); err != nil {
			return err
		}
	}
	return c.changeAll(ctx, todo)
}

// checkFlags checks those of transfer.
func (c *command) checkFlags(args []string) error {
	if c.name != transfer.name {
		return nil
	}
	switch {
	case c.account == "":
		return errors.New("--to is missing; give the repository account that the DOIs move to")
	case c.source == "" && len(args) == 0:
		return errors.New("give the DOIs to move, or --from and an account to move all of its DOIs")
	case c.source != "" && len(args) > 0:
		return errors.New("--from moves all DOIs of an account; leave it or the DOIs out")
	case strings.EqualFold(c.source, c.account):
		return fmt.Errorf("--from and --to are both %s", c.source)
	}
	c.question = "Move %s to " + c.account + " at %s?"
	return nil
}

// names are the DOIs of the arguments, of which some are tables.
func (c *command) names(args []string) (names []string, err error) {
	if c.source != "" {
		return nil, nil
	}
	for _, arg := range args {
		if _, err := doi.Parse(arg); err == nil || !table.Is(arg) { // a DOI may end in .csv, too
			names = append(names, arg)
			continue
		}
		in, file, err := table.Open(arg, &table.Options{Partial: true, Others: table.SearchColumns})
		if err != nil {
			return nil, shell.OfFile(arg, err)
		}
		defer file.Close()
		for row, err := range in.All() {
			if err == nil && row.DOI == "" {
				err = fmt.Errorf("line %d has no DOI", row.Line)
			}
			if err != nil {
				return nil, shell.OfFile(arg, err)
			}
			names = append(names, row.DOI)
		}
	}
	return c.DOIs(names)
}

// counted names one DOI, and counts several.
func counted(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return shell.Count(len(names), "DOI")
}

// stay says of the prefixes of DOIs that they do not move.
func stay(names []string) string {
	var prefixes []string
	for _, name := range names {
		prefix, _, _ := strings.Cut(name, "/")
		prefixes = append(prefixes, prefix)
	}
	slices.Sort(prefixes)
	if prefixes = slices.Compact(prefixes); len(prefixes) == 1 {
		return "the prefix " + prefixes[0] + " does not move"
	}
	return "the prefixes " + strings.Join(prefixes, ", ") + " do not move"
}

// check reads all DOIs. It returns those to change, and an error if one of them cannot be changed.
func (c *command) check(ctx context.Context, names []string) (todo []string, err error) {
	faults := 0
	read := func(name string) (*dois.Record, error) {
		found, err := c.client.Get(ctx, name, nil)
		if errors.Is(err, datacite.ErrNotFound) {
			return nil, nil
		}
		return found, err
	}
	err = shell.InOrder(c.Shell, names, "DOIs read", read, func(name string, found *dois.Record) {
		if found == nil && c.deletes() && !c.DryRun { // by an earlier run, or never there
			c.Result(outcome{DOI: name, Result: "unchanged", Service: c.service.Host},
				"%s is not at %s, or not of this account: there is nothing to delete", name, c.service)
			return
		}
		if found == nil {
			faults++
			c.Warn("error: %s does not know %s, or does not show it to this account", c.service, name)
			return
		}
		now := outcome{DOI: found.DOI, State: found.State, Result: "unchanged", Service: c.service.Host}
		already, fault := c.judge(found)
		if c.account != "" {
			now.Account = found.Client
		}
		switch {
		case already != "":
			c.Result(now, "%s %s at %s already", found.DOI, already, c.service)
		case fault != "":
			faults++
			c.Warn("error: %s %s", found.DOI, fault)
		case c.DryRun:
			now.Result = "checked"
			c.Result(now, "%s can be %s at %s", found.DOI, c.becomes(found), c.service)
			fallthrough
		default:
			todo = append(todo, found.DOI)
		}
	})
	if err == nil && faults > 0 {
		err = shell.Refused(fmt.Errorf("%s of %s cannot be %s; nothing was changed", shell.Number(faults),
			shell.Count(len(names), "DOI"), c.done))
	}
	return todo, err
}

// judge says how a DOI is already as it is to be, or why it cannot become so; both are empty for one to change.
func (c *command) judge(found *dois.Record) (already, fault string) {
	switch {
	case c.account != "" && strings.EqualFold(found.Client, c.account):
		return "belongs to " + c.account, ""
	case c.source != "" && !strings.EqualFold(found.Client, c.source):
		return "", "belongs to " + found.Client + " now; the list of " + c.source + " lags behind by seconds or minutes"
	case c.account != "":
		return "", ""
	case found.State == c.to && (found.Reason == c.reason || c.reason == "" && c.event == dois.EventHide):
		return "is " + c.done, ""
	case found.State != c.from && found.State != c.to:
		return "", c.others[found.State]
	}
	return "", ""
}

// becomes says what a DOI becomes.
func (c *command) becomes(found *dois.Record) string {
	if c.account != "" {
		return "moved from " + found.Client + " to " + c.account
	}
	return c.done
}

// changeAll changes DOIs, and prints a line for each.
func (c *command) changeAll(ctx context.Context, todo []string) error {
	count, others := 0, 0
	err := shell.InOrder(c.Shell, todo, "DOIs "+c.done, func(name string) (*dois.Record, error) {
		after, err := c.change(ctx, name)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return after, err
	}, func(name string, after *dois.Record) {
		count++
		now := outcome{DOI: name, State: after.State, Result: c.done, Service: c.service.Host}
		switch {
		case c.deletes():
			c.Result(now, "%s deleted at %s", name, c.service)
		case c.account != "":
			now.Account = after.Client
			c.Result(now, "%s moved to %s at %s", name, c.account, c.service)
			others += c.warnOthers(after)
		default:
			c.Result(now, "%s %s at %s, now %s, leads to %s", name, c.done, c.service, after.State, after.URL)
		}
	})
	of := shell.Count(len(todo), "DOI")
	switch {
	case err != nil && ctx.Err() != nil && !errors.Is(err, datacite.ErrUnclear):
		return shell.Interrupted("%d of %s %s; run the same command again to continue", count, of, c.done)
	case err != nil:
		return fmt.Errorf("%w; %d of %s %s; run the same command again to continue", err, count, of, c.done)
	case others > 0:
		return shell.Refused(fmt.Errorf("%d of %s changed in more than the account; the lines above say where", others, of))
	}
	return nil
}

// change changes one DOI. It returns no state for a deleted one.
func (c *command) change(ctx context.Context, name string) (*dois.Record, error) {
	switch {
	case c.deletes():
		return new(dois.Record), c.client.Delete(ctx, name)
	case c.account != "":
		return c.client.Transfer(ctx, name, c.account, &dois.TransferOptions{From: c.source})
	}
	return c.client.ChangeState(ctx, name, c.event, &dois.EventOptions{Reason: c.reason})
}

// warnOthers names what somebody else changed of a DOI while it moved. It returns 1 if there is something.
func (c *command) warnOthers(after *dois.Record) (n int) {
	for _, f := range after.Warnings {
		if f.Code == datacite.CodeChanged {
			c.Warn("%s: %s", after.DOI, f)
			n = 1
		}
	}
	return n
}
