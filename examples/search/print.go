package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/sheet"
)

// A printer writes records in one format.
type printer interface {
	print(*dois.Record) error
	end() error // after the last record
}

var printers = map[string]func(io.Writer) printer{
	"table": newTable,
	"jsonl": func(out io.Writer) printer { return lines{out} },
	"csv":   newCSV,
}

// A table is for people: one line a record, texts cut to what fits.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer) printer {
	t := table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t.w, "DOI\tYEAR\tTYPE\tCITED\tCREATORS\tTITLE")
	return t
}

func (t table) print(r *dois.Record) error {
	_, err := fmt.Fprintf(t.w, "%s\t%s\t%s\t%d\t%s\t%s\n", clean(r.DOI), clean(string(r.PublicationYear)),
		clean(string(r.Types.ResourceTypeGeneral)), r.CitationCount, short(creators(r, "; "), 30), short(title(r), 60))
	return err
}

func (t table) end() error { return t.w.Flush() }

// lines are the attributes of each record as the service sent them, one record a
// line.
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

// A csvTable is CSV with a head.
type csvTable struct{ w *sheet.CSVWriter }

func newCSV(out io.Writer) printer {
	s := csvTable{sheet.NewCSVWriter(out)}
	_ = s.w.Write([]string{"doi", "year", "type", "title", "creators", "publisher", "url", "citations", "views", "downloads"}) // end tells
	return s
}

func (s csvTable) print(r *dois.Record) error {
	return s.w.Write([]string{
		r.DOI, string(r.PublicationYear), string(r.Types.ResourceTypeGeneral), title(r), creators(r, "; "), r.Publisher.Name, r.URL,
		strconv.Itoa(r.CitationCount), strconv.Itoa(r.ViewCount), strconv.Itoa(r.DownloadCount),
	})
}

func (s csvTable) end() error {
	s.w.Flush()
	return s.w.Error()
}

func (s csvTable) Defused() int { return s.w.Defused }

func title(r *dois.Record) string {
	if len(r.Titles) == 0 {
		return ""
	}
	return r.Titles[0].Title
}

func creators(r *dois.Record, between string) string {
	var names []string
	for _, c := range r.Creators {
		names = append(names, c.Name)
	}
	return strings.Join(names, between)
}

// short cuts a text to a number of characters.
func short(text string, most int) string {
	runes := []rune(clean(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// clean takes out what would move the cursor of a terminal or break a line:
// titles hold what anybody has written into them.
func clean(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
}
