// Package get is the command datacite get.
package get

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
)

// formats are the names of --format for the formats of the service.
var formats = map[string]dois.Format{
	"xml": dois.FormatDataCiteXML, "datacite-json": dois.FormatDataCiteJSON, "citeproc": dois.FormatCiteproc,
	"schema.org": dois.FormatSchemaOrg,
	"codemeta":   dois.FormatCodemeta, "crosscite": dois.FormatCrosscite, "jats": dois.FormatJATS, "bibtex": dois.FormatBibTeX, "ris": dois.FormatRIS, "csv": dois.FormatCSV,
}

// The formats that the command makes itself.
const (
	text     = "text"
	asJSON   = "json"
	citation = "citation"
)

// markup is that of a citation, whose texts are HTML.
var markup = lazy.Regexp(`</?[a-zA-Z][^<>]*>`)

type command struct {
	*shell.Shell
	flags         *account.Flags
	format        string
	style, locale string
}

// Command is datacite get.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	cmd := &cobra.Command{
		Use: "get DOI…", GroupID: shell.Reading, Args: cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Short: "Show the records of DOIs, in any format, or cite them",
		Long: `Show the records of DOIs: for people, as JSON with everything that the service knows, as the
metadata XML that is stored, in another format that the service writes, or as a citation.
A DOI may be written in any usual form, such as https://doi.org/10.5072/example. For "-", the
DOIs are read from standard input, one per line.

With a login, drafts and registered DOIs of the account are shown, too.`,
		Example: `  datacite get 10.5438/0012
  datacite get 10.5438/0012 --format bibtex >> references.bib
  datacite get 10.5438/0012 --format citation --style chicago-author-date
  datacite get 10.5438/0012 --json | jq .titles`,
		RunE: c.run,
	}
	names := append([]string{text, asJSON, citation}, slices.Sorted(maps.Keys(formats))...)
	shell.Choice(cmd, &c.format, "format", "one of `format`s: "+strings.Join(names, ", "), names...)
	cmd.Flags().StringVar(&c.style, "style", "",
		"`style` of the citation, as the Citation Style Language names it (default apa)")
	cmd.Flags().StringVar(&c.locale, "locale", "", "`language` of the citation, such as de-DE (default en-US)")
	s.OutputFlag(cmd, "write to this `file` instead of standard output")
	s.Flags(cmd, shell.JSON)
	c.flags = account.NewFlags(s, cmd, account.Reads)
	return cmd
}

func (c *command) run(cmd *cobra.Command, names []string) error {
	switch {
	case c.JSON && shell.Changed(cmd, "format") && c.format != asJSON:
		return shell.Wrong(fmt.Errorf("--json prints JSON, and --format %s something else; leave one of them out", c.format))
	case c.JSON:
		c.format = asJSON
	case c.format != citation && (c.style != "" || c.locale != ""):
		return shell.Wrong(errors.New("--style and --locale are for --format citation"))
	}
	names, err := c.DOIs(names)
	if err != nil {
		return shell.Wrong(err)
	}
	service, err := c.flags.Open()
	if err != nil {
		return err
	}
	client, err := dois.NewClient(service.Config)
	if err != nil {
		return err
	}
	return c.WriteOutput(func(out io.Writer) error { return c.all(cmd.Context(), client, service, names, out) })
}

func (c *command) all(ctx context.Context, client *dois.Client, service *account.Service, names []string,
	out io.Writer) error {
	shown := 0
	for _, name := range names {
		err := c.one(ctx, client, name, out)
		reason := ""
		switch {
		case err == nil:
			shown++
			continue
		case ctx.Err() != nil:
			return shell.Interrupted("%d of %s shown", shown, shell.Count(len(names), "DOI"))
		case errors.Is(err, datacite.ErrNotFound):
			if err := service.Check(ctx, c.Shell); err != nil { // a wrong login sees what everybody sees
				return err
			}
			reason = fmt.Sprintf("%s does not know %s, or does not show it without a login", service, name)
		case errors.Is(err, dois.ErrNoFormat):
			reason = fmt.Sprintf("%s does not write %s as %s", service, name, c.format)
		default:
			return err
		}
		if len(names) == 1 {
			return shell.Refused(errors.New(reason))
		}
		c.Warn("%s", reason)
	}
	if shown < len(names) {
		return shell.Refused(fmt.Errorf("%d of %s shown", shown, shell.Count(len(names), "DOI")))
	}
	return nil
}

func (c *command) one(ctx context.Context, client *dois.Client, name string, out io.Writer) error {
	switch c.format {
	case citation:
		line, err := client.Citation(ctx, name, &dois.CitationOptions{Style: c.style, Locale: c.locale})
		if err == nil {
			_, err = io.WriteString(out, shell.Clean(html.UnescapeString(markup().ReplaceAllString(line, "")))+"\n")
		}
		return err
	case text, asJSON:
		record, err := client.Get(ctx, name, &dois.GetOptions{Detail: true}) // texts are those of the XML
		if err != nil {
			return err
		}
		if c.format == text {
			return c.describe(record, out)
		}
		var line bytes.Buffer
		if err := json.Compact(&line, record.Raw); err != nil {
			return err
		}
		line.WriteByte('\n')
		_, err = shell.Tamed(out).Write(line.Bytes())
		return err
	}
	body, err := client.Open(ctx, name, formats[c.format])
	if err != nil {
		return err
	}
	defer body.Close()
	data, err := io.ReadAll(body) // a part of a record is of no use
	if err != nil {
		return err
	}
	_, err = shell.Tamed(out).Write(append(bytes.TrimSpace(data), '\n'))
	return err
}
