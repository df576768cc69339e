// Package usage is the command datacite usage, which has the commands about usage reports below it.
package usage

import (
	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/check"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/count"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/repair"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/send"
)

// Command is datacite usage.
func Command(s *shell.Shell) *cobra.Command {
	cmd := &cobra.Command{
		Use: "usage", GroupID: shell.Counting,
		Short: "Count how often datasets were used, report it, and check what records show",
		Long: `Count how often datasets were used, report it, and check what DOI records show of it: count, send,
and a day or two later check; repair, where records show something else.

A usage report has the counts of a month, made by the COUNTER code of practice for research data.
Some time after it is stored, the service computes from it the views and downloads that DOI
records show.`,
	}
	cmd.AddCommand(count.Command(s), send.Command(s), check.Command(s), repair.Command(s))
	return cmd
}
