//go:build !plan9

package walk_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/walk"
)

func page(t *testing.T, text string, env ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	return walk.Page(ctx, text, t.TempDir(), append(env, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir()))
}

func TestPage(t *testing.T) {
	for name, text := range map[string]string{
		"one shell":          "```sh\nx=5; cd ..\n```\n```sh\necho $x\n```\n```output\n5\n```\n",
		"both streams":       "```sh\necho a\necho b >&2\n```\n```output\na\nb\n```\n",
		"a terminal":         "```sh\ntest -t 0 && test -t 1 && test -t 2\n```\n",
		"another shell":      "```sh\nY=6 sh\n```\n```sh\necho $Y\n```\n```output\n6\n```\n```sh\nexit\n```\n```sh\necho \"<$Y>\"\n```\n```output\n<>\n```\n",
		"a file":             "```python file=try.py\nprint(1)\n```\n```sh\ncat try.py\n```\n```output\nprint(1)\n```\n",
		"an exit code":       "```sh exit=3\necho a; (exit 3)\n```\n```output\na\n```\n",
		"what varies":        "```sh\nprintf 'a 1 b\\nx\\ny\\nz\\n'\n```\n```output\na … b\n…\nz\n```\n",
		"typed answers":      "```sh type=\"Ada|secret\"\nprintf 'Name: '; read -r x; printf 'Password (not shown): '; read -r y; echo; echo $x $y\n```\n```output\nName: Ada\nPassword (not shown): \nAda secret\n```\n",
		"progress":           "```sh\nprintf '\\r1 of 2\\033[K'; printf '\\r2 of 2\\033[K'; printf '\\r\\033[K'; echo done\n```\n```output\ndone\n```\n",
		"what is not run":    "```sh not-run\nexit 1\n```\n```text\nelse\n```\n",
		"what is missing":    "```sh needs=no-such-program\nexit 1\n```\n```output\na\n```\n```sh needs=sh\necho b\n```\n```output\nb\n```\n",
		"an end without \\n": "```sh\nprintf a\n```\n```output\na\n```\n",
	} {
		t.Run(name, func(t *testing.T) { assert.NoError(t, page(t, text)) })
	}
}

func TestMissing(t *testing.T) {
	assert.Equal(t, []string{"no-such-program"}, walk.Missing("```sh needs=no-such-program\n```\n```sh needs=sh\n```\n```sh needs=no-such-program\n```\n"))
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
		assert.ErrorContains(t, page(t, text), want, text)
	}
}

// A page can write at DataCite's hosts, and reaches no other.
func TestHosts(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl")
	}
	require.NoError(t, page(t, "```sh\ncurl -sSf https://api.test.datacite.org/dois && echo && curl -sSf https://api.datacite.org/dois\n"+
		"```\n```output\n{\"data\":[]…\n{\"data\":[]…\n```\n```sh exit=56\ncurl -s https://example.org\n```\n", walk.Hosts(t)...))
}
