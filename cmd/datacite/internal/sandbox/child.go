package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// start runs a command that works with the service, to its end. Its exit code becomes that of the
// sandbox.
func (c *command) start(ctx context.Context, words []string, address, token string) error {
	child := exec.CommandContext(ctx, words[0], words[1:]...)
	child.Cancel = func() error {
		if runtime.GOOS == "windows" { // whose console tells all of its processes of Ctrl-C
			return nil
		}
		return child.Process.Signal(os.Interrupt)
	}
	child.WaitDelay = 10 * time.Second // after which it is killed
	child.Stdin, child.Stdout, child.Stderr = c.Stdin, c.Stdout, c.Stderr
	child.Env = append(os.Environ(), "DATACITE_SERVICE="+address, "DATACITE_USERNAME="+datacitetest.Username,
		"DATACITE_PASSWORD="+datacitetest.Password, "DATACITE_TOKEN="+token)
	child.Env = append(append(child.Env, c.direct()...), c.trust()...)
	err := child.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() > 0 {
		return shell.Exit(ended.ExitCode())
	}
	if err != nil && ctx.Err() == nil {
		return shell.Wrong(err)
	}
	return err
}
