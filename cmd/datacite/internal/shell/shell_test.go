package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

// greet is a small command.
func greet(s *shell.Shell) *cobra.Command {
	name, tone := "", ""
	cmd := &cobra.Command{Use: "greet", Short: "Greet", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Say("greeting %s", name)
			if len(args) > 0 {
				<-cmd.Context().Done()
				return shell.Interrupted("0 of 1 greeted; run it again")
			}
			if err := s.Confirm("Really?"); err != nil {
				return err
			}
			s.Result(map[string]string{"greeted": name}, "hello %s", name)
			return nil
		}}
	cmd.Flags().StringVar(&name, "name", "world", "whom")
	cmd.Flags().Int("times", 1, "how often")
	shell.Choice(cmd, &tone, "tone", "how", "kind", "formal")
	s.Flags(cmd, shell.JSON, shell.Yes)
	return cmd
}

func TestMain(m *testing.M) { shelltest.Main(m, greet) }

func TestMistakesSayWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		args string
		says string
	}{
		{"gret", `there is no command or topic "gret"; did you mean greet?`},
		{"logout", `there is no command or topic "logout"; datacite login --forget removes a stored login`},
		{"dance", `there is no command or topic "dance"; datacite help shows them`},
		{"help dance", `there is no command or topic "dance"; datacite help shows them`},
		{"greet --nam x", "datacite greet has no flag --nam; did you mean --name?"},
		{"greet --svalbard", `datacite greet has no flag --svalbard; "datacite greet --help" shows the flags`},
		{"greet -name x", "there is no flag -name; did you mean --name?"},
		{"greet --name", `flag needs an argument: --name; "datacite greet --help" shows the flags`},
		{"greet --name=", "--name is given and empty; is a variable not set?"},
		{"greet --times=", "--times is given and empty; is a variable not set?"},
		{"greet --times two", `--times: "two" is not a number; "datacite greet --help" shows the flags`},
		{"greet --tone=rude", `--tone: "rude" is not one of kind, formal; "datacite greet --help" shows the flags`},
		{"greet --tone forml", `--tone: "forml" is unknown; did you mean formal?; "datacite greet --help" shows the flags`},
		{"greet a b", `too many arguments: datacite greet; "datacite greet --help" shows how`},
		{"greet", "Really? Standard input is not a terminal, so nobody can answer; --yes answers yes"},
	} {
		code, out, notes := shelltest.Run{}.Do(t, greet, strings.Fields(tt.args)...)
		assert.Equal(t, 2, code, tt.args)
		assert.Empty(t, out, tt.args)
		assert.Equal(t, "datacite: "+tt.says+"\n", strings.TrimPrefix(notes, "greeting world\n"), tt.args)
	}
	_, out, _ := shelltest.Run{}.Do(t, greet, "__complete", "help", "")
	assert.Contains(t, out, "greet\tGreet\n")
	assert.NotContains(t, out, "__complete")
	_, _, notes := shelltest.Run{}.Do(t, greet, "greet", "")
	assert.Equal(t, "datacite: an argument is empty; is a variable not set?\n", notes)
}

func TestResults(t *testing.T) {
	for args, want := range map[string][2]string{
		"greet -y":                {"hello world\n", "greeting world\n"},
		"greet -y --json":         {`{"greeted":"world"}` + "\n", "greeting world\n"},
		"greet -y --quiet":        {"", ""},
		"greet -y --quiet --json": {`{"greeted":"world"}` + "\n", ""},
	} {
		code, out, notes := shelltest.Run{}.Do(t, greet, strings.Fields(args)...)
		assert.Zero(t, code)
		assert.Equal(t, want, [2]string{out, notes}, args)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"--help"}} {
		code, out, _ := shelltest.Run{}.Do(t, greet, args...)
		assert.Zero(t, code)
		assert.Contains(t, out, "Usage:\n  datacite COMMAND\n")
		assert.NotContains(t, out, "\x1b")
	}
	code, out, _ := shelltest.Run{}.Do(t, greet, "help", "greet")
	assert.Zero(t, code)
	assert.Contains(t, out, "Flags:\n      --name string   whom (default \"world\")\n")
	assert.Contains(t, out, "\nFlags of all commands:\n  -q, --quiet ")
	for _, of := range []string{"bash", "zsh", "fish", "powershell"} {
		code, out, _ = shelltest.Run{}.Do(t, greet, "completion", of)
		assert.Zero(t, code)
		assert.Contains(t, out, "datacite")
	}
}

func TestCode(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{errors.New("a flag"), 2},
		{&fs.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}, 2},
		{&datacite.Error{StatusCode: 401}, 2},
		{&datacite.Error{StatusCode: 422}, 1},
		{&datacite.Error{StatusCode: 503}, 3},
		{&datacite.Error{StatusCode: 501}, 3},
		{&datacite.Error{Err: errors.New("connection refused")}, 3},
		{fmt.Errorf("a step: %w", datacite.ErrIncomplete), 3},
		{fmt.Errorf("a step: %w", context.Canceled), 130},
		{fmt.Errorf("rows: %w", shell.Refused(&datacite.Error{StatusCode: 503})), 1},
		{shell.Interrupted("x"), 130},
		{shell.Failed(errors.New("a resolver")), 3},
		{shell.OfFile("x.gz", datacite.ErrUnreadable), 2},
		{shell.OfFile("x.gz", fmt.Errorf("reading: %w", context.Canceled)), 130},
	} {
		assert.Equal(t, tt.code, shell.Code(tt.err), fmt.Sprint(tt.err))
	}
}

// Where the output is full or closed, what was done is said on standard error.
func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	read, closed, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	defer closed.Close()
	for out, says := range map[*os.File]string{
		full: "greeting world\nhello world\ndatacite: standard output cannot be written: write /dev/stdout: no space " +
			"left on device; print to another place\n",
		closed: "greeting world\nhello world\ndatacite: standard output was closed before everything was printed\n",
	} {
		cmd, _, stderr := shelltest.Run{}.Process(t, "greet", "-y")
		cmd.Stdout = out
		assert.Equal(t, 1, shelltest.ExitCode(t, cmd.Run()))
		assert.Equal(t, says, shelltest.Plain(stderr.String()))
		cmd, _, stderr = shelltest.Run{}.Process(t, "help")
		cmd.Stdout = out
		assert.Equal(t, 1, shelltest.ExitCode(t, cmd.Run()))
		assert.Contains(t, stderr.String(), "datacite: standard output ")
	}
}

func TestASignalEndsTheWork(t *testing.T) {
	shelltest.NeedsSignals(t)
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, stdout, _ := shelltest.Run{}.Process(t, "greet", "slowly")
		said := &bytes.Buffer{}
		begun := make(chan bool)
		cmd.Stderr = writer(func(text []byte) (int, error) {
			if said.Len() == 0 {
				close(begun)
			}
			return said.Write(text)
		})
		require.NoError(t, cmd.Start())
		<-begun
		require.NoError(t, cmd.Process.Signal(signal))
		assert.Equal(t, 130, shelltest.ExitCode(t, cmd.Wait()))
		assert.Equal(t, "greeting world\ndatacite: interrupted; 0 of 1 greeted; run it again\n", said.String())
		assert.Empty(t, stdout.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(text []byte) (int, error) { return w(text) }

// A file gets its name when it is complete, through links, too.
func TestFile(t *testing.T) {
	folder := t.TempDir()
	name, link := filepath.Join(folder, "a.csv"), filepath.Join(folder, "link.csv")
	shelltest.Symlink(t, "a.csv", link)
	s := &shell.Shell{Output: link}
	require.Error(t, s.WriteOutput(func(out io.Writer) error { return errors.New("broken off") }))
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, left, 1, "the link alone")
	require.NoError(t, s.WriteOutput(func(out io.Writer) error {
		_, err := out.Write([]byte("all"))
		return err
	}))
	text := shelltest.Read(t, name)
	assert.Equal(t, "all", string(text))
	// Whoever made it decided who may read it.
	require.NoError(t, os.Chmod(name, 0o600))
	require.NoError(t, s.WriteOutput(func(io.Writer) error { return nil }))
	info, err := os.Stat(name)
	require.NoError(t, err)
	if !shelltest.IsWindows {
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	// A link may lead to a file that does not exist yet, by way of a folder that is a link itself.
	elsewhere := filepath.Join(t.TempDir(), "sub")
	require.NoError(t, os.Mkdir(elsewhere, 0o700))
	shelltest.Symlink(t, elsewhere, filepath.Join(folder, "sub"))
	shelltest.Symlink(t, "../up.csv", filepath.Join(elsewhere, "up"))
	shelltest.Symlink(t, "round", filepath.Join(folder, "round"))
	s.Output = filepath.Join(folder, "sub", "up")
	require.NoError(t, s.WriteOutput(func(io.Writer) error { return nil }))
	assert.FileExists(t, filepath.Join(filepath.Dir(elsewhere), "up.csv"))
	for name, says := range map[string]string{
		filepath.Join(folder, "round"):       map[bool]string{false: "too many", true: "round"}[shelltest.IsWindows],
		folder:                               "is a folder; give the name of a file",
		filepath.Join(folder, "no", "a.csv"): "no such file or directory",
	} {
		s.Output = name
		err := s.WriteOutput(func(io.Writer) error { return nil })
		require.Error(t, err)
		assert.Contains(t, shelltest.Plain(err.Error()), says)
		assert.Equal(t, 2, shell.Code(err))
	}
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	s.Output = fmt.Sprintf("/dev/fd/%d", write.Fd())
	if _, err := os.Stat(s.Output); err == nil { // not on all systems
		require.NoError(t, s.WriteOutput(func(out io.Writer) error {
			_, err := out.Write([]byte("all"))
			return err
		}))
	}
	require.NoError(t, write.Close())
}

// Standard input is read once, in the place of a file.
func TestInputs(t *testing.T) {
	name := shelltest.File(t, "a.csv", "of a file")
	s := &shell.Shell{Stdin: strings.NewReader("standard")}
	for arg, want := range map[string][2]string{"-": {"standard input", "standard"}, name: {name, "of a file"}} {
		in, err := s.OpenInput(arg)
		require.NoError(t, err)
		assert.Equal(t, want[0], in.Name)
		assert.Equal(t, want[1][:2], string(in.Peek(2)))
		_, err = in.Seek(0, io.SeekCurrent)
		assert.Equal(t, arg == "-", err != nil, "a file can be read again")
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		assert.Equal(t, want[1], string(text))
		in.Close()
	}
	for arg, says := range map[string]string{
		"-":                "standard input can be read once, and two arguments are -",
		filepath.Dir(name): "is a folder; give the name of a file", name + "x": "no such file",
	} {
		_, err := s.OpenInput(arg)
		require.Error(t, err)
		assert.Contains(t, shelltest.Plain(err.Error()), says)
		assert.Equal(t, 2, shell.Code(err))
	}
}

func TestTexts(t *testing.T) {
	assert.Equal(t, "1,234,567", shell.Number(1234567))
	assert.Equal(t, "−1,000", shell.Number(int64(-1000)))
	assert.Equal(t, "1 DOI", shell.Count(1, "DOI"))
	assert.Equal(t, "1,200 DOIs", shell.Count(1200, "DOI"))
	assert.Equal(t, "a [31mb c", shell.Clean("a\x1b[31mb\n\u202ec"))
	assert.Equal(t, "x", shell.Message(fmt.Errorf("mds.Register: %w", errors.New("mds: x"))))
	fault := datacite.Finding{Path: "url", Code: "missing", Reason: "is empty"}
	assert.Equal(t, "a.csv: url: is empty", shell.Message(fmt.Errorf("a.csv: %w", datacite.Invalid(fault))))
	assert.Equal(t, "2 faults: url: is empty; url: is empty",
		shell.Message(fmt.Errorf("mds.Register: %w", datacite.Invalid(fault, fault))))
}
