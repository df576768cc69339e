package shell

import (
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// A Table is rows of cells. On a terminal, the columns are aligned and the last one is cut at
// the edge; elsewhere, cells are separated by tabs, and nothing is cut.
type Table struct {
	Whole bool // the last column is not cut

	shell  *Shell
	out    io.Writer
	rows   [][]string // that are not printed yet
	head   bool       // the first row is the names
	widths []int      // of the columns so far
}

// alignedTogether is how many rows of a long table have columns of the same width.
const alignedTogether = 1000

// Table returns a table with a first row of names.
func (s *Shell) Table(out io.Writer, names ...string) *Table {
	return &Table{shell: s, out: out, rows: [][]string{names}, head: true, widths: make([]int, len(names))}
}

// Widen makes columns at least so wide, for a table whose rows are printed one by one.
func (t *Table) Widen(widths ...int) {
	for i, width := range widths {
		t.widths[i] = max(t.widths[i], width)
	}
}

// Row adds a row.
func (t *Table) Row(cells ...string) error {
	clean := make([]string, len(cells))
	for i, cell := range cells {
		clean[i] = Clean(cell)
	}
	t.rows = append(t.rows, clean)
	if len(t.rows) < alignedTogether {
		return nil
	}
	return t.Flush()
}

// Flush prints the rows that were not printed yet.
func (t *Table) Flush() error {
	var lines []string
	if IsTerminal(t.out) && len(t.rows) > 0 {
		lines = t.align(width(t.out))
	} else {
		for _, row := range t.rows {
			lines = append(lines, strings.Join(row, "\t"))
		}
	}
	if t.head && len(lines) > 0 {
		lines[0] = t.shell.Styled(t.out, Bold, lines[0])
	}
	t.rows, t.head = nil, false
	if len(lines) == 0 {
		return nil
	}
	_, err := io.WriteString(t.out, strings.Join(append(lines, ""), "\n"))
	return err
}

// align makes lines of the rows. A column other than the last has at most a third of the width, and
// in a narrow window those behind the first have less.
func (t *Table) align(most int) (lines []string) {
	const gap = 2
	for _, row := range t.rows {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], min(runewidth.StringWidth(cell), most/3))
		}
	}
	const narrow = 4 // columns
	least := narrow  // of the last one
	if !t.Whole {
		least = max(least, most/3)
	}
	for used := 0; len(t.widths) > 2; used = 0 {
		for _, w := range t.widths[:len(t.widths)-1] {
			used += w + gap
		}
		middle := t.widths[1 : len(t.widths)-1]
		widest := slices.Index(middle, slices.Max(middle))
		if used+least <= most || middle[widest] <= narrow {
			break
		}
		middle[widest]--
	}
	for _, row := range t.rows {
		var line strings.Builder
		used := 0
		for i, cell := range row {
			switch {
			case i == len(row)-1 && t.Whole:
				line.WriteString(cell)
			case i == len(row)-1:
				line.WriteString(runewidth.Truncate(cell, max(most-used, narrow), "…"))
			default:
				line.WriteString(runewidth.FillRight(runewidth.Truncate(cell, t.widths[i], "…"), t.widths[i]+gap))
				used += t.widths[i] + gap
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}
