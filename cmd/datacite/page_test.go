//go:build !plan9

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A block is a block of commands or a file of a page.
type block struct {
	line   int    // of the page
	text   string // the commands, or the content of the file
	file   string // name of the file; "" for commands
	exit   int    // exit code of the last command
	typed  []string
	output *string // nil if the page does not show it
	needs  string  // a program without which the block is not run
}

var (
	blockAttribute = regexp.MustCompile(`([\w-]+)(?:="([^"]*)"|=(\S+))?`)
	otherShells    = []string{"bash", "console", "shell", "shell-session", "zsh"}
)

// blocksOf reads the blocks of a page that are walked.
func blocksOf(page string) (blocks []block, err error) {
	lines := strings.Split(page, "\n")
	var commands *block // those that an output belongs to
	for at := 0; at < len(lines); at++ {
		info, fenced := strings.CutPrefix(lines[at], "```")
		if !fenced {
			continue
		}
		first := at + 1
		for at = first; at < len(lines) && lines[at] != "```"; at++ {
		}
		if at == len(lines) {
			return nil, fmt.Errorf("line %d: the block does not end", first)
		}
		s := block{line: first, text: strings.Join(append(slices.Clone(lines[first:at]), ""), "\n")}
		language, rest, _ := strings.Cut(info, " ")
		run := language == "sh"
		for _, m := range blockAttribute.FindAllStringSubmatch(rest, -1) {
			switch value := m[2] + m[3]; m[1] {
			case "file":
				s.file, run = value, true
			case "exit":
				s.exit, err = strconv.Atoi(value)
			case "type":
				s.typed = strings.Split(value, "|")
			case "needs":
				s.needs = value
			case "not-run":
				run = false
			default:
				err = fmt.Errorf("there is no attribute %q", m[1])
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", first, err)
			}
		}
		switch {
		case slices.Contains(otherShells, language):
			return nil, fmt.Errorf("line %d: commands are blocks of sh, not of %s", first, language)
		case language == "output" && commands == nil:
			return nil, fmt.Errorf("line %d: no commands go before this output", first)
		case language == "output":
			commands.output, commands = &s.text, nil
		case run:
			blocks = append(blocks, s)
			commands = nil
			if s.file == "" {
				commands = &blocks[len(blocks)-1]
			}
		}
	}
	return blocks, nil
}

// shows compares an output with the page, in which … stands for any text within a line, and a
// line of … alone for any lines. Blanks at the end of a line do not count.
func shows(shown, printed string) bool {
	blanks := regexp.MustCompile(`(?m)[ \t]+$`)
	shown, printed = blanks.ReplaceAllLiteralString(shown, ""), blanks.ReplaceAllLiteralString(printed, "")
	pattern := regexp.QuoteMeta(strings.TrimRight(shown, "\n"))
	pattern = regexp.MustCompile(`(?m)^…$`).ReplaceAllLiteralString(pattern, `(?s:.+)`)
	pattern = strings.ReplaceAll(pattern, "…", `[^\n]+`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimRight(printed, "\n"))
}

// walked runs a page in a folder of its own.
func walked(t *testing.T, page string, env ...string) error {
	t.Helper()
	_, err := walk(t.Context(), page, t.TempDir(), append(env, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir()))
	return err
}

func TestPage(t *testing.T) {
	for name, text := range map[string]string{
		"one shell":    "```sh\nx=5; cd ..\n```\n```sh\necho $x\n```\n```output\n5\n```\n",
		"both streams": "```sh\necho a\necho b >&2\n```\n```output\na\nb\n```\n",
		"a terminal":   "```sh\ntest -t 0 && test -t 1 && test -t 2\n```\n",
		"another shell": "```sh\nY=6 sh\n```\n```sh\necho $Y\n```\n```output\n6\n```\n```sh\nexit\n```\n```sh\necho " +
			"\"<$Y>\"\n```\n```output\n<>\n```\n",
		"a file":       "```python file=try.py\nprint(1)\n```\n```sh\ncat try.py\n```\n```output\nprint(1)\n```\n",
		"an exit code": "```sh exit=3\necho a; (exit 3)\n```\n```output\na\n```\n",
		"what varies":  "```sh\nprintf 'a 1 b\\nx\\ny\\nz\\n'\n```\n```output\na … b\n…\nz\n```\n",
		"typed answers": "```sh type=\"Ada|secret\"\nprintf 'Name: '; read -r x; printf 'Password (not shown): '; " +
			"read -r y; echo; echo $x $y\n```\n```output\nName: Ada\nPassword (not shown): \nAda secret\n```\n",
		"progress": "```sh\nprintf '\\r1 of 2\\033[K'; printf '\\r2 of 2\\033[K'; printf '\\r\\033[K'; echo " +
			"done\n```\n```output\ndone\n```\n",
		"what is not run": "```sh not-run\nexit 1\n```\n```text\nelse\n```\n",
		"what is missing": "```sh needs=no-such-program\nexit 1\n```\n```output\na\n```\n```sh needs=sh\necho " +
			"b\n```\n```output\nb\n```\n",
		"an end without \\n": "```sh\nprintf a\n```\n```output\na\n```\n",
	} {
		t.Run(name, func(t *testing.T) { assert.NoError(t, walked(t, text)) })
	}
}

func TestPageRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"```sh\necho a\n```\n```output\nb\n```\n":                  "line 1: the page shows:\nb\n\nprinted:\na\n",
		"\n```sh\necho a\n```\n```output\na\nb\n```\n":             "line 2: the page shows",
		"```sh\necho ab\n```\n```output\na…b\n```\n":               "the page shows",
		"```sh\nprintf 'a\\nb\\n'\n```\n```output\n…\nb\nb```":     "does not end",
		"```sh\nprintf 'a\\nb\\n'\n```\n```output\na\n…\nb\n```\n": "the page shows",
		"```sh\nfalse\n:\n```\n":                                   "line 1: a command of the block failed",
		"```sh\nsh\n```\n```sh\nfalse\n:\n```\n":                   "line 4: a command of the block failed",
		"```sh\nexit 0\n```\n":                                     "a command of the block failed",
		"```sh exit=1\n:\n```\n":                                   "the exit code is 0, not 1",
		"```sh exit=one\n:\n```\n":                                 "invalid syntax",
		"```sh type=\"Ada\"\n:\n```\n":                             `nothing asked for "Ada"`,
		"```sh exti=1\n:\n```\n":                                   `there is no attribute "exti"`,
		"```bash\n:\n```\n":                                        "commands are blocks of sh, not of bash",
		"```output\na\n```\n":                                      "no commands go before this output",
		"```sh\n:\n```\n```output\n```\n```output\n```\n":          "no commands go before this output",
		"```sh\n:\n": "does not end",
	} {
		assert.ErrorContains(t, walked(t, text), want, text)
	}
}

// A page can write at DataCite's hosts, and reaches no other.
func TestHosts(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl")
	}
	require.NoError(t, walked(t, "```sh\ncurl -sSf https://api.test.datacite.org/dois && echo && curl -sSf "+
		"https://api.datacite.org/dois\n"+
		"```\n```output\n{\"data\":[]…\n{\"data\":[]…\n```\n```sh exit=56\ncurl -s https://example.org\n```\n", hosts(t)...))
}
