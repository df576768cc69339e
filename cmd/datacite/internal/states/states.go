// Package states has the commands datacite hide, datacite show and datacite delete, which change the state of DOIs
// and send no metadata.
package states

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
)

// A verb is what one of the commands does.
type verb struct {
	name, done string
	from, to   dois.State // to is empty where the DOI is gone
	event      dois.Event
	others     map[dois.State]string // what to do with DOIs of other states
	question   string
}

var (
	hide = verb{
		name: "hide", done: "hidden", from: dois.StateFindable, to: dois.StateRegistered, event: dois.Hide,
		others:   map[dois.State]string{dois.StateDraft: "is a draft, which nobody else sees; datacite delete removes it"},
		question: "Hide %s at %s?",
	}
	show = verb{
		name: "show", done: "shown", from: dois.StateRegistered, to: dois.StateFindable, event: dois.Publish,
		others:   map[dois.State]string{dois.StateDraft: "is a draft; datacite register registers it with its metadata"},
		question: "Show %s at %s?",
	}
	remove = verb{
		name: "delete", done: "deleted", from: dois.StateDraft,
		others: map[dois.State]string{
			dois.StateRegistered: "is registered, and is never deleted; searches do not find it",
			dois.StateFindable:   "is findable, and is never deleted; datacite hide takes it out of searches",
		},
		question: "Delete %s at %s? That cannot be undone.",
	}
)

type command struct {
	*shell.Shell
	verb
	flags   *account.Flags
	reason  string
	service *account.Service
	client  *dois.Client
}

// Hide is datacite hide.
func Hide(s *shell.Shell) *cobra.Command {
	cmd, c := newCommand(s, hide)
	cmd.Short = "Take findable DOIs out of searches"
	cmd.Long = `Make findable DOIs registered: searches do not find them any more, and they still lead to their
URLs. Nothing else of them changes. "datacite show" reverses it. A DOI may be written in any
usual form. For "-", the DOIs are read from standard input, one per line.

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
the DOIs are read from standard input, one per line.

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
one per line.

All DOIs are read first. If one of them cannot be deleted, nothing is.`
	cmd.Example = `  datacite delete 10.5072/glacier-draft --service test`
	return finish(cmd, c)
}

func newCommand(s *shell.Shell, v verb) (*cobra.Command, *command) {
	c := &command{Shell: s, verb: v}
	return &cobra.Command{
		Use: v.name + " DOI…", GroupID: shell.Writing, Args: cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions, RunE: c.run,
	}, c
}

func finish(cmd *cobra.Command, c *command) *cobra.Command {
	c.Shell.Flags(cmd, shell.JSON, shell.DryRun, shell.Yes)
	c.flags = account.NewFlags(c.Shell, cmd, account.Writes)
	return cmd
}

// outcome is what --json prints of a DOI.
type outcome struct {
	DOI     string     `json:"doi"`
	State   dois.State `json:"state,omitempty"` // now; empty for one that is deleted
	Result  string     `json:"result"`          // hidden, shown, deleted, unchanged or checked
	Service string     `json:"service"`
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	names, err := c.DOIs(args)
	if err != nil {
		return shell.Wrong(err)
	}
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	if c.client, err = dois.NewClient(c.service.Config); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := c.service.Check(ctx, c.Shell); err != nil {
		return err
	}
	todo, err := c.check(ctx, names)
	if err != nil {
		return err
	}
	if c.DryRun {
		return nil
	}
	if len(todo) > 0 && (c.event == "" || c.service.Name == "production" && shell.IsTerminal(c.Stdin)) {
		if err := c.Confirm(fmt.Sprintf(c.question, counted(todo), c.service)); err != nil {
			return err
		}
	}
	for i, name := range todo {
		if err := c.change(ctx, name); err != nil {
			if ctx.Err() != nil && !errors.Is(err, datacite.ErrUnclear) {
				return shell.Interrupted("%d of %s %s; run the same command again to continue", i, shell.Count(len(todo), "DOI"), c.done)
			}
			return fmt.Errorf("%s: %w; %d of %s %s; run the same command again to continue", name, err, i, shell.Count(len(todo), "DOI"), c.done)
		}
	}
	return nil
}

// counted names one DOI, and counts several.
func counted(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return shell.Count(len(names), "DOI")
}

// check reads all DOIs. It returns those to change, and an error if one of them cannot be changed.
func (c *command) check(ctx context.Context, names []string) (todo []string, err error) {
	faults := 0
	for _, name := range names {
		found, err := c.client.Get(ctx, name, nil)
		gone := errors.Is(err, datacite.ErrNotFound)
		switch {
		case gone && c.event == "" && !c.DryRun: // by an earlier run, or never there
			c.Result(outcome{DOI: name, Result: "unchanged", Service: c.service.Host}, "%s is not at %s, or not of this account: there is nothing to delete", name, c.service)
		case gone:
			faults++
			c.Warn("error: %s does not know %s, or does not show it to this account", c.service, name)
		case err != nil:
			return nil, err
		case found.State == c.to && (found.Reason == c.reason || c.reason == "" && c.event == dois.Hide):
			c.Result(outcome{found.DOI, found.State, "unchanged", c.service.Host}, "%s is %s at %s already", found.DOI, c.done, c.service)
		case found.State != c.from && found.State != c.to:
			faults++
			c.Warn("error: %s %s", found.DOI, c.others[found.State])
		case c.DryRun:
			c.Result(outcome{found.DOI, found.State, "checked", c.service.Host}, "%s can be %s at %s", found.DOI, c.done, c.service)
		default:
			todo = append(todo, found.DOI)
		}
	}
	if faults > 0 {
		return nil, shell.Refused(fmt.Errorf("%s of %s cannot be %s; nothing was changed", shell.Number(faults), shell.Count(len(names), "DOI"), c.done))
	}
	return todo, nil
}

// change changes one DOI, and says so.
func (c *command) change(ctx context.Context, name string) error {
	now := outcome{DOI: name, Result: c.done, Service: c.service.Host}
	if c.event == "" {
		if err := c.client.Delete(ctx, name); err != nil {
			return err
		}
		c.Result(now, "%s deleted at %s", name, c.service)
		return nil
	}
	after, err := c.client.ChangeState(ctx, name, c.event, &dois.EventOptions{Reason: c.reason})
	if err != nil {
		return err
	}
	now.State = after.State
	c.Result(now, "%s %s at %s, now %s, leads to %s", name, c.done, c.service, after.State, after.URL)
	return nil
}
