package shell

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// The formats of what was asked for.
const (
	FormatTable = "table"
	FormatCSV   = "csv"
	FormatXLSX  = "xlsx"
	FormatJSON  = "json"
	FormatDOI   = "doi" // of search: one per line, for other commands
)

// endings are the formats of files by the end of their names.
var endings = map[string]string{".csv": FormatCSV, ".xlsx": FormatXLSX, ".jsonl": FormatJSON, ".json": FormatJSON}

// FormatFlags adds --format, --json and --output to a command that prints rows. more are further formats.
func (s *Shell) FormatFlags(cmd *cobra.Command, more ...string) {
	formats := append([]string{FormatTable, FormatCSV, FormatXLSX, FormatJSON}, more...)
	last := len(formats) - 1
	use := "`table`, " + strings.Join(formats[1:last], ", ") + " or " + formats[last]
	Choice(cmd, &s.Format, "format", use, formats...)
	s.Flags(cmd, JSON)
	s.OutputFlag(cmd, "write to this `file`; .csv, .xlsx and .jsonl choose the format")
}

// ChooseFormat sets Format to the one that the flags mean.
func (s *Shell) ChooseFormat(cmd *cobra.Command) error {
	chosen := endings[strings.ToLower(filepath.Ext(s.Output))]
	switch {
	case s.JSON && Changed(cmd, "format") && s.Format != FormatJSON:
		return fmt.Errorf("--json prints JSON, and --format %s something else; leave one of them out", s.Format)
	case s.JSON:
		s.Format = FormatJSON
	case !Changed(cmd, "format") && chosen != "":
		s.Format = chosen
	case s.Format == FormatXLSX && s.Output == "" && IsTerminal(s.Stdout):
		return errors.New("an .xlsx is not for a terminal; add --output FILE.xlsx")
	}
	return nil
}
