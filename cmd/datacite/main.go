// Command datacite registers DOIs with DataCite, finds them, and keeps them right.
package main

import (
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/audit"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/config"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/get"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/harvest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/login"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/register"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sandbox"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/search"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/states"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/topics"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/version"
)

// commands are those of the program, in the order in which datacite help shows them.
var commands = []shell.Maker{
	get.Command, search.Command, harvest.Command,
	register.Command, audit.Command, states.Hide, states.Show, states.Delete,
	usage.Command,
	sandbox.Command,
	login.Command, config.Command, version.Command,
}

func main() { shell.Main(version.Agent(), append(commands, topics.Makers()...)...) }
