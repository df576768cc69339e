package table

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// A Layout is how a command prints what it found, in each of the formats of [shell.Shell.FormatFlags].
type Layout[T any] struct {
	Heads []string         // of the columns that people see
	Cells func(T) []string // below them
	Whole bool             // of cells that people see, nothing is cut
	Empty bool             // the heads are printed also if nothing is below them

	Columns, Others []string // of CSV and .xlsx, as in WriterOptions
	UsedOnly        bool     // the same
	Row             func(T) *Row

	Object func(T) any    // JSON
	Name   func(T) string // the DOI, of a command that prints DOIs

	Widths []int // of heads, for results that are printed at once, since each reports a write; nil if they can wait
}

// A Printer writes in one of the formats.
type Printer[T any] struct {
	layout *Layout[T]
	shell  *shell.Shell
	screen *shell.Table
	sheet  *Writer
	atOnce bool
	lines  *json.Encoder
	names  io.Writer
	some   bool
	lost   losses
}

// Printer returns one for a format.
func (l *Layout[T]) Printer(s *shell.Shell, format string, out io.Writer) *Printer[T] {
	p := &Printer[T]{layout: l, shell: s, atOnce: l.Widths != nil && format != shell.FormatXLSX}
	switch format {
	case shell.FormatJSON:
		p.lines = json.NewEncoder(shell.Tamed(out))
		p.lines.SetEscapeHTML(false)
	case shell.FormatDOI:
		p.names = shell.Tamed(out)
	case shell.FormatCSV, shell.FormatXLSX:
		p.sheet = NewWriter(shell.Tamed(out),
			&WriterOptions{Columns: l.Columns, Others: l.Others, UsedOnly: l.UsedOnly, Spreadsheet: format == shell.FormatXLSX})
	default:
		p.screen = s.Table(out, l.Heads...)
		p.screen.Whole = l.Whole
		p.screen.Widen(l.Widths...)
	}
	return p
}

// Print prints one thing.
func (p *Printer[T]) Print(what T) (err error) {
	p.some = true
	switch {
	case p.lines != nil:
		return p.lines.Encode(p.layout.Object(what))
	case p.names != nil:
		_, err := fmt.Fprintln(p.names, p.layout.Name(what))
		return err
	case p.sheet != nil:
		lost, err := p.sheet.Write(p.layout.Row(what))
		if p.lost.add(lost); err != nil {
			return err
		}
	default:
		if err := p.screen.Row(p.layout.Cells(what)...); err != nil {
			return err
		}
	}
	if p.atOnce {
		return p.flush()
	}
	return nil
}

// Discard removes what a Printer keeps that came to no End.
func (p *Printer[T]) Discard() { p.sheet.Discard() }

func (p *Printer[T]) flush() error {
	if p.sheet != nil {
		return p.sheet.Flush()
	}
	return p.screen.Flush()
}

// End comes after the last thing. People see no heads without rows, unless the layout says so.
func (p *Printer[T]) End() error {
	switch {
	case p.lines != nil, p.names != nil, p.screen != nil && !p.some && !p.layout.Empty:
		return nil
	case p.sheet != nil:
		p.lost.say(p.shell)
		err := p.sheet.Flush()
		if n := p.sheet.Defused(); n > 0 && err == nil {
			p.shell.Say("%s could be taken for a formula by a spreadsheet program, and got an apostrophe in front; tables are "+
				"read without it", shell.Count(n, "cell"))
		}
		return err
	}
	return p.flush()
}

// losses are the properties of records that a table cannot hold.
type losses struct {
	records int
	members map[string]int // records, by property
}

// add adds those of a record.
func (l *losses) add(members []string) {
	if len(members) == 0 {
		return
	}
	if l.members == nil {
		l.members = map[string]int{}
	}
	l.records++
	for _, name := range members {
		l.members[name]++
	}
}

// say names them.
func (l *losses) say(s *shell.Shell) {
	if l.records == 0 {
		return
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(l.members)) {
		all = append(all, fmt.Sprintf("%s (%s)", name, shell.Number(l.members[name])))
	}
	s.Say("note: of %s, some of the %s are not in the table; DOIs that are corrected by the table keep them, and new "+
		"DOIs lack them", shell.Count(l.records, "record"), strings.Join(all, ", "))
}
