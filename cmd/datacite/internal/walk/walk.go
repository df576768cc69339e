//go:build !plan9

package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// Page runs the blocks of a page in order, in one shell on a terminal of its own, in a folder and
// with an environment. The error has all outputs that are not those of the page, until a command
// fails.
func Page(ctx context.Context, page, folder string, env []string) error {
	steps, err := parse(page)
	if err != nil {
		return err
	}
	t, err := open(ctx, folder, env)
	if err != nil {
		return err
	}
	defer t.close()
	var others []error
	for i, s := range steps {
		if s.isMissing() {
			continue
		}
		var printed string
		if s.file != "" {
			err = os.WriteFile(filepath.Join(folder, s.file), []byte(s.text), 0o600)
		} else {
			printed, err = t.run(i, s)
		}
		if err != nil {
			return errors.Join(append(others, fmt.Errorf("line %d: %w; printed:\n%s", s.line, err, printed))...)
		}
		if s.output != nil && !matches(*s.output, printed) {
			others = append(others, fmt.Errorf("line %d: the page shows:\n%s\nprinted:\n%s", s.line, *s.output, printed))
		}
	}
	return errors.Join(others...)
}

// A terminal has a shell that waits for commands.
type terminal struct {
	ctx    context.Context
	master *os.File
	shell  *exec.Cmd
	blocks string      // folder for the commands, outside of that of the page
	read   chan string // what is printed; closed at the end of the shell
}

// prompt is printed by a shell that waits for a command. It has the exit code of the last one.
var prompt = regexp.MustCompile(`\[walked (\d+)\]$`)

func open(ctx context.Context, folder string, env []string) (*terminal, error) {
	blocks, err := os.MkdirTemp("", "walk")
	if err != nil {
		return nil, err
	}
	t := &terminal{ctx: ctx, blocks: blocks, read: make(chan string), shell: exec.Command("sh", "-i", "+m")}
	t.shell.Dir, t.shell.Env = folder, append(env, "PS1=[walked $?]", "PS2=", "NO_COLOR=1", "TERM=xterm", "LANG=C.UTF-8")
	// A program that was started by nohup passes on that SIGHUP is ignored, and then a shell in the shell
	// outlives its terminal.
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	defer signal.Stop(hangUp)
	if t.master, err = pty.StartWithSize(t.shell, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		return nil, err
	}
	go func() {
		defer close(t.read)
		for buf := make([]byte, 64<<10); ; {
			n, err := t.master.Read(buf)
			if err != nil {
				return
			}
			t.read <- string(buf[:n])
		}
	}()
	// The terminal shall not repeat what is typed.
	if _, _, err = t.until(nil); err == nil {
		_, err = io.WriteString(t.master, "stty -echo\n")
	}
	if err == nil {
		_, _, err = t.until(nil)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// close ends the shell and what it started.
func (t *terminal) close() {
	kill(t.shell.Process)
	t.master.Close()
	for range t.read { // until the shell is gone
	}
	_ = t.shell.Wait() // it was killed
	os.RemoveAll(t.blocks)
}

// run types a block, and returns its output.
func (t *terminal) run(i int, s step) (printed string, err error) {
	block := filepath.Join(t.blocks, strconv.Itoa(i))
	if err := os.WriteFile(block, []byte(s.text), 0o600); err != nil {
		return "", err
	}
	mode := "-e" // each command of a block has to end well
	if s.exit != 0 {
		mode = "+e"
	}
	if _, err := fmt.Fprintf(t.master, "set %s; . %s\n", mode, block); err != nil {
		return "", err
	}
	printed, code, err := t.until(s.typed)
	if err == nil && code != s.exit {
		err = fmt.Errorf("the exit code is %d, not %d", code, s.exit)
	}
	return printed, err
}

// redrawn is a line of progress, which does not stay on the terminal.
var redrawn = regexp.MustCompile(`\r[^\r\n]*\x1b\[K`)

// until reads what is printed, and answers questions, until the shell waits for a command.
func (t *terminal) until(typed []string) (printed string, code int, err error) {
	const asks = 200 * time.Millisecond // nothing is printed after a question
	for {
		var quiet <-chan time.Time
		if len(typed) > 0 && strings.HasSuffix(printed, " ") {
			quiet = time.After(asks)
		}
		select {
		case text, ok := <-t.read:
			if !ok {
				return printed, 0, errors.New("a command of the block failed")
			}
			printed = redrawn.ReplaceAllLiteralString(strings.ReplaceAll(printed+text, "\r\n", "\n"), "")
			if m := prompt.FindStringSubmatchIndex(printed); m != nil {
				code, _ = strconv.Atoi(printed[m[2]:m[3]])
				if printed = printed[:m[0]]; len(typed) > 0 {
					err = fmt.Errorf("nothing asked for %q", typed[0])
				}
				return printed, code, err
			}
		case <-quiet:
			if _, err := fmt.Fprintln(t.master, typed[0]); err != nil {
				return printed, 0, err
			}
			if !strings.HasSuffix(printed, "(not shown): ") {
				printed += typed[0] + "\n"
			}
			typed = typed[1:]
		case <-t.ctx.Done():
			return printed, 0, t.ctx.Err()
		}
	}
}
