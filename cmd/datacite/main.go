// Command datacite registers DOIs with DataCite, finds them, and keeps them right.
package main

import (
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/audit"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/get"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/harvest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/register"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sandbox"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/search"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/states"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/upgrade"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage"
)

// commands are those of the program, in the order in which datacite help shows them.
var commands = []shell.Maker{
	get.Command, search.Command, harvest.Command,
	register.Command, audit.Command, upgrade.Command, states.Hide, states.Show, states.Delete, states.Transfer,
	usage.Command,
	sandbox.Command,
	account.LoginCommand, account.ConfigCommand, versionCommand,
}

func main() { shell.Main("datacite/"+currentVersion().Version, append(commands, topics()...)...) }
