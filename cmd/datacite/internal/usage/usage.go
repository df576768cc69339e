// Package usage is the command datacite usage, which has the commands about usage reports below it.
package usage

import (
	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/check"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/count"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/send"
)

// Command is datacite usage.
func Command(s *shell.Shell) *cobra.Command {
	cmd := &cobra.Command{
		Use: "usage", GroupID: shell.Counting,
		Short: "Report how often datasets were used, and check what records show of it",
		Long: `Report how often datasets were used, and check what DOI records show of it.

A usage report has the counts of a month, made by the COUNTER code of practice for research data.
Some time after it is stored, the service computes from it the views and downloads that DOI
records show.`,
	}
	cmd.AddCommand(count.Command(s), send.Command(s), check.Command(s))
	return cmd
}
