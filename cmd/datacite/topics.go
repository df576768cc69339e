package main

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
)

// topicFiles are the pages of datacite help that are not about one command. The first line of a page is
// shown in the list of topics. %columns% stands for the columns of tables.
//
//go:embed topics/*.txt
var topicFiles embed.FS

// topics make the pages, in the order of their names.
func topics() (all []shell.Maker) {
	files, _ := fs.Glob(topicFiles, "topics/*.txt")
	for _, file := range files {
		data, _ := topicFiles.ReadFile(file) // it is there
		short, long, _ := strings.Cut(string(data), "\n")
		if before, after, found := strings.Cut(long, "%columns%\n"); found {
			long = before + columns() + after
		}
		all = append(all, func(*shell.Shell) *cobra.Command {
			return &cobra.Command{Use: strings.TrimSuffix(path.Base(file), ".txt"), Short: short, Long: long}
		})
	}
	return all
}

func columns() string {
	var b strings.Builder
	for _, c := range table.Columns() {
		fmt.Fprintf(&b, "  %s\n      %s\n      e.g. %s\n", c.Name, c.Description, c.Example)
	}
	return b.String()
}
