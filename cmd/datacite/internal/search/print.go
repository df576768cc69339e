package search

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/dois"
)

type printer = *table.Printer[*dois.Record]

func (c *command) printer(out io.Writer) printer {
	l := &table.Layout[*dois.Record]{
		Heads: []string{"DOI", "YEAR", "TYPE", "CITED", "CREATORS", "TITLE"}, Empty: true,
		Cells: func(r *dois.Record) []string {
			var creators []string
			for _, c := range r.Creators {
				creators = append(creators, c.Name)
			}
			return []string{r.DOI, string(r.PublicationYear), string(r.Types.ResourceTypeGeneral), strconv.Itoa(r.CitationCount),
				strings.Join(creators, "; "), r.Title()}
		},
		Others: table.SearchColumns, UsedOnly: c.Output != "" && c.Output != "-", // elsewhere rows are printed at once
		Row: func(r *dois.Record) *table.Row {
			for _, f := range r.Warnings {
				c.Warn("%s: %s", r.DOI, f)
			}
			return &table.Row{
				DOI: r.DOI, URL: r.URL, State: string(r.State), Record: table.Stored(r),
				Others: []string{strconv.Itoa(r.CitationCount), strconv.Itoa(r.ViewCount), strconv.Itoa(r.DownloadCount)},
			}
		},
		Name:   func(r *dois.Record) string { return r.DOI },
		Object: func(r *dois.Record) any { return json.RawMessage(r.Raw) }, // the attributes as the service sent them
	}
	return l.Printer(c.Shell, c.Format, out)
}
