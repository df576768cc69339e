package search

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/dois"
)

// A printer writes records in one format.
type printer interface {
	print(*dois.Record) error
	end() error // after the last record
}

var printers = map[string]func(*shell.Shell, io.Writer) printer{
	shell.FormatTable: func(s *shell.Shell, out io.Writer) printer {
		return screen{s.Table(out, "DOI", "YEAR", "TYPE", "CITED", "CREATORS", "TITLE")}
	},
	shell.FormatJSON: func(_ *shell.Shell, out io.Writer) printer { return lines{shell.Tamed(out)} },
	shell.FormatCSV:  func(s *shell.Shell, out io.Writer) printer { return newSheet(s, out, false) },
	shell.FormatXLSX: func(s *shell.Shell, out io.Writer) printer { return newSheet(s, out, true) },
}

// A screen is for people: one line a record.
type screen struct{ table *shell.Table }

func (t screen) print(r *dois.Record) error {
	var creators []string
	for _, c := range r.Creators {
		creators = append(creators, c.Name)
	}
	return t.table.Row(r.DOI, string(r.PublicationYear), string(r.Types.ResourceTypeGeneral), strconv.Itoa(r.CitationCount), strings.Join(creators, "; "), r.Title())
}

func (t screen) end() error { return t.table.Flush() }

// lines are the attributes of each record as the service sent them, one record a line.
type lines struct{ out io.Writer }

func (l lines) print(r *dois.Record) error {
	var line bytes.Buffer
	if err := json.Compact(&line, r.Raw); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := l.out.Write(line.Bytes())
	return err
}

func (l lines) end() error { return nil }

// A sheet is a table that other commands read.
type sheet struct {
	shell *shell.Shell
	w     *table.Writer
	lost  *table.Losses
}

func newSheet(s *shell.Shell, out io.Writer, spreadsheet bool) printer {
	return sheet{s, table.NewWriter(shell.Tamed(out), &table.WriterOptions{Others: table.SearchColumns, Spreadsheet: spreadsheet}), &table.Losses{}}
}

func (s sheet) print(r *dois.Record) error {
	for _, f := range r.Warnings {
		s.shell.Warn("%s: %s", r.DOI, f)
	}
	lost, err := s.w.Write(&table.Row{
		DOI: r.DOI, URL: r.URL, State: string(r.State), Record: table.Stored(r),
		Others: []string{strconv.Itoa(r.CitationCount), strconv.Itoa(r.ViewCount), strconv.Itoa(r.DownloadCount)},
	})
	s.lost.Add(lost)
	return err
}

func (s sheet) end() error {
	s.lost.Say(s.shell)
	return table.End(s.shell, s.w)
}
