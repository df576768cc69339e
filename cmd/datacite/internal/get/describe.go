package get

import (
	"fmt"
	"io"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
)

// describe prints a record for people.
func (c *command) describe(r *dois.Record, out io.Writer) error {
	var b strings.Builder
	line := func(name, value string) {
		if value = shell.Clean(value); value != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", name, value)
		}
	}
	look := map[datacite.State]shell.Style{datacite.StateFindable: shell.Green, datacite.StateRegistered: shell.Yellow,
		datacite.StateDraft: shell.Faint}[r.State]
	fmt.Fprintf(&b, "%s  %s\n", c.Styled(out, shell.Bold, shell.Clean(r.DOI)),
		c.Styled(out, look, shell.Clean(string(r.State))))
	for _, title := range r.Titles {
		line("title", title.Title)
	}
	var people []string
	for _, creator := range r.Creators {
		people = append(people, creator.Name)
	}
	line("creators", strings.Join(people, "; "))
	line("publisher", r.Publisher.Name)
	line("year", string(r.PublicationYear))
	line("type", strings.Trim(string(r.Types.ResourceTypeGeneral)+" / "+r.Types.ResourceType, " /"))
	line("leads to", r.URL)
	line("usage", fmt.Sprintf("%s, %s, %s", shell.Count(r.ViewCount, "view"), shell.Count(r.DownloadCount, "download"),
		shell.Count(r.CitationCount, "citation")))
	line("created", string(r.Created))
	line("updated", string(r.Updated))
	line("account", r.Client)
	line("hidden", r.Reason)
	_, err := io.WriteString(out, b.String())
	return err
}
