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
)

// endings are the formats of files by the end of their names.
var endings = map[string]string{".csv": FormatCSV, ".xlsx": FormatXLSX, ".jsonl": FormatJSON, ".json": FormatJSON}

// FormatFlags adds --format, --json and --output to a command that prints rows.
func (s *Shell) FormatFlags(cmd *cobra.Command) {
	Choice(cmd, &s.Format, "format", "`table`, csv, xlsx or json", FormatTable, FormatCSV, FormatXLSX, FormatJSON)
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
