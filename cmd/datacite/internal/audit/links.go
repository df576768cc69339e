package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/landing"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reconcile"
)

// links are the flags and the pages of --links.
type links struct {
	wanted       bool
	rate         float64
	allowPrivate bool

	pages *landing.Pages
	kept  *landing.Journal // nil if nothing is kept
}

func (l *links) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&l.wanted, "links", false, "ask the landing page of each findable DOI, too")
	flags.Float64Var(&l.rate, "links-rate", 1, "most requests per second to one host of landing pages, a `number`")
	flags.BoolVar(&l.allowPrivate, "allow-private", false,
		"ask landing pages at private, loopback and link-local addresses, too")
}

func (c *command) checkLinks(cmd *cobra.Command) error {
	switch {
	case !c.links.wanted && (shell.Changed(cmd, "links-rate") || c.links.allowPrivate):
		return errors.New("--links-rate and --allow-private have no effect without --links")
	case c.links.wanted && c.fix:
		return errors.New("--links and --fix are two runs: repair first, and then ask the pages")
	case !(c.links.rate > 0):
		return fmt.Errorf("--links-rate is %v; it must be more than 0", c.links.rate)
	}
	return nil
}

// open begins the list of pages, and continues the journal beside the output of the command.
func (l *links) open(output, html string) (err error) {
	if !l.wanted {
		return nil
	}
	if l.pages, err = landing.NewPages(); err != nil {
		return err
	}
	if output == "-" {
		output = ""
	}
	if name := cmp.Or(output, html); name != "" {
		l.kept, err = landing.OpenJournal(name + ".links")
	}
	return err
}

// close removes the list, and the journal of a run that is complete.
func (l *links) close(complete bool) error {
	if l.pages == nil {
		return nil
	}
	end := l.kept.Close
	if complete {
		end = l.kept.Remove
	}
	return errors.Join(l.pages.Close(), end())
}

// list adds the page of a findable DOI.
func (l *links) list(r *dois.Record) {
	if r.State == datacite.StateFindable {
		l.pages.Add(landing.Page{DOI: r.DOI, URL: r.URL, Title: r.Title()})
	}
}

// askPages asks the landing pages, and prints those that are not right or at another address.
func (c *command) askPages(ctx context.Context, out printer) error {
	if !c.links.wanted {
		return nil
	}
	contact := strings.TrimPrefix(c.service.Config.Contact, "mailto:")
	if contact == "" {
		c.Say(`note: the hosts of landing pages are not told whom to ask; "datacite config contact ADDRESS" stores a mail ` +
			`address`)
	}
	if n := c.links.kept.Len(); n > 0 {
		c.Say("continues the run before, which asked %s", shell.Count(n, "landing page"))
	}
	agent := c.service.Config.UserAgent
	if contact != "" {
		agent += " (mailto:" + contact + ")"
	}
	p := &pages{Total: c.links.pages.Len(), sections: map[landing.Kind]*section{}}
	c.page.Pages = p
	opts := &landing.Options{UserAgent: agent, Rate: c.links.rate, AllowPrivate: c.links.allowPrivate,
		Journal: c.links.kept}
	for r, err := range landing.Check(ctx, c.links.pages, opts) {
		if err == nil {
			row := c.rowOf(r)
			p.add(r.Kind, row)
			c.Progress(p.asked, p.Total, "landing pages", shell.Number(p.Wrong())+" not right")
			if r.Kind == landing.Right || r.Kind == landing.Redirected && c.Format == shell.FormatTable {
				continue
			}
			err = out.Print(row)
		}
		if err != nil && ctx.Err() != nil {
			more := "with --output, a run continues where it was interrupted"
			if c.links.kept != nil {
				more = "the same command continues"
			}
			err = shell.Interrupted("%s of %s asked; %s", shell.Number(p.asked), shell.Count(p.Total, "landing page"), more)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *command) rowOf(r landing.Result) row {
	return row{
		Kind: reconcile.DifferenceKind(r.Kind), DOI: r.DOI, Path: "url", Found: strings.Join(r.Via, " → "), Reason: r.Reason,
		Title: r.Title, URL: r.URL, State: datacite.StateFindable, Service: c.service.Host, page: true,
	}
}

// pages are the landing pages that were asked.
type pages struct {
	Total      int
	Redirected int // of the right ones
	asked      int
	right      int
	sections   map[landing.Kind]*section
}

func (p *pages) add(kind landing.Kind, r row) {
	p.asked++
	if kind == landing.Right || kind == landing.Redirected {
		p.right++
	}
	if kind == landing.Right {
		return
	}
	if kind == landing.Redirected {
		p.Redirected++
	}
	s := p.sections[kind]
	if s == nil {
		s = &section{Kind: r.Kind}
		p.sections[kind] = s
	}
	if s.Count++; s.Count <= mostItems {
		s.Items = append(s.Items, item{[]row{r}})
	}
}

// Right and Wrong are how many pages are as they should be, and how many are not, or not known to be.
func (p *pages) Right() int { return p.right }
func (p *pages) Wrong() int { return p.asked - p.right }

// Sections are those there are, faults first.
func (p *pages) Sections() (all []*section) {
	for _, kind := range slices.Concat(landing.Faults, []landing.Kind{landing.Redirected}) {
		if s := p.sections[kind]; s != nil {
			all = append(all, s)
		}
	}
	return all
}

// sayPages sums up, and returns what is wrong in words.
func (c *command) sayPages() string {
	p := c.page.Pages
	if p == nil {
		return ""
	}
	c.Say("%s of %s right", shell.Number(p.Right()), shell.Count(p.Total, "landing page"))
	for _, s := range p.Sections() {
		c.Say("%7s %s", shell.Number(s.Count), s.Kind)
	}
	switch p.Wrong() {
	case 0:
		return ""
	case 1:
		return "; 1 landing page is not right"
	}
	return fmt.Sprintf("; %s landing pages are not right", shell.Number(p.Wrong()))
}
