// Package topics has the pages of datacite help that are not about one command.
package topics

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
)

// The first line of a page is shown in the list of topics. %columns% stands for the columns of
// tables.
//
//go:embed *.txt
var pages embed.FS

// Makers make the pages, in the order of their names.
func Makers() (all []shell.Maker) {
	names, _ := fs.Glob(pages, "*.txt")
	for _, name := range names {
		all = append(all, func(*shell.Shell) *cobra.Command { return page(name) })
	}
	return all
}

func page(name string) *cobra.Command {
	data, _ := pages.ReadFile(name) // it is there
	short, long, _ := strings.Cut(string(data), "\n")
	return &cobra.Command{Use: strings.TrimSuffix(name, ".txt"), Short: short, Long: strings.ReplaceAll(long, "%columns%\n", columns())}
}

func columns() string {
	var b strings.Builder
	for _, c := range table.Columns() {
		fmt.Fprintf(&b, "  %s\n      %s\n      e.g. %s\n", c.Name, c.Description, c.Example)
	}
	return b.String()
}
