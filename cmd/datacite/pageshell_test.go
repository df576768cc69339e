//go:build !plan9

package main

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

// walk runs the blocks of a page in order, in one shell on a terminal of its own, in a folder and with an environment,
// as readers of the page do. It passes over blocks whose programs this machine does not have, and returns these. The
// error has all outputs that are not those of the page, until a command fails.
func walk(ctx context.Context, page, folder string, env []string) (missing []string, err error) {
	blocks, err := blocksOf(page)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // it hangs
	defer cancel()
	t, err := openShell(ctx, folder, env)
	if err != nil {
		return nil, err
	}
	defer t.close()
	var others []error
	for _, b := range blocks {
		if _, err := exec.LookPath(b.needs); b.needs != "" && err != nil {
			missing = append(missing, b.needs)
			continue
		}
		var printed string
		if b.file != "" {
			err = os.WriteFile(filepath.Join(folder, b.file), []byte(b.text), 0o600)
		} else {
			printed, err = t.run(b)
		}
		if err != nil {
			return missing, errors.Join(append(others, fmt.Errorf("line %d: %w; printed:\n%s", b.line, err, printed))...)
		}
		if b.output != nil && !shows(*b.output, printed) {
			others = append(others, fmt.Errorf("line %d: the page shows:\n%s\nprinted:\n%s", b.line, *b.output, printed))
		}
	}
	return missing, errors.Join(others...)
}

// A pageShell is a shell on a terminal that waits for commands.
type pageShell struct {
	ctx    context.Context
	master *os.File
	shell  *exec.Cmd
	blocks string      // folder for the commands, outside of that of the page
	read   chan string // what is printed; closed at the end of the shell
}

// pagePrompt is printed by a shell that waits for a command. It has the exit code of the last one.
var pagePrompt = regexp.MustCompile(`\[walked (\d+)\]$`)

func openShell(ctx context.Context, folder string, env []string) (*pageShell, error) {
	blocks, err := os.MkdirTemp("", "walk")
	if err != nil {
		return nil, err
	}
	t := &pageShell{ctx: ctx, blocks: blocks, read: make(chan string), shell: exec.Command("sh", "-i", "+m")}
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
func (t *pageShell) close() {
	_ = t.shell.Process.Kill() // it may have ended
	t.master.Close()           // which hangs up
	for range t.read {         // until the shell is gone
	}
	_ = t.shell.Wait() // it was killed
	os.RemoveAll(t.blocks)
}

// run types a block, and returns its output.
func (t *pageShell) run(b block) (printed string, err error) {
	commands := filepath.Join(t.blocks, strconv.Itoa(b.line)) // a shell may still read those of an earlier block
	if err := os.WriteFile(commands, []byte(b.text), 0o600); err != nil {
		return "", err
	}
	mode := "-e" // each command of a block has to end well
	if b.exit != 0 {
		mode = "+e"
	}
	if _, err := fmt.Fprintf(t.master, "set %s; . %s\n", mode, commands); err != nil {
		return "", err
	}
	printed, code, err := t.until(b.typed)
	if err == nil && code != b.exit {
		err = fmt.Errorf("the exit code is %d, not %d", code, b.exit)
	}
	return printed, err
}

// redrawnLine is a line of progress, which does not stay on the terminal.
var redrawnLine = regexp.MustCompile(`\r[^\r\n]*\x1b\[K`)

// pageQuestion is what stands before an answer.
var pageQuestion = regexp.MustCompile(`(:|\?|\]) $`)

// until reads what is printed, and answers questions, until the shell waits for a command.
func (t *pageShell) until(typed []string) (printed string, code int, err error) {
	const asks = 200 * time.Millisecond // nothing is printed after a question
	for {
		var quiet <-chan time.Time
		if len(typed) > 0 && pageQuestion.MatchString(printed) {
			quiet = time.After(asks)
		}
		select {
		case text, ok := <-t.read:
			if !ok {
				return printed, 0, errors.New("a command of the block failed")
			}
			printed = redrawnLine.ReplaceAllLiteralString(strings.ReplaceAll(printed+text, "\r\n", "\n"), "")
			if m := pagePrompt.FindStringSubmatchIndex(printed); m != nil {
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
