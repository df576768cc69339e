//go:build !plan9

// Package walk runs the commands of a page of the documentation as its readers do, and compares
// what they print with the page. See "Pages that are walked" in CONTRIBUTING.md.
package walk

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A step is a block of commands or a file of a page.
type step struct {
	line   int    // of the page
	text   string // the commands, or the content of the file
	file   string // name of the file; "" for commands
	exit   int    // exit code of the last command
	typed  []string
	output *string // nil if the page does not show it
	needs  string  // a program without which the block is not run
}

var (
	attribute = regexp.MustCompile(`([\w-]+)(?:="([^"]*)"|=(\S+))?`)
	shells    = []string{"bash", "console", "shell", "shell-session", "zsh"}
)

// parse reads the blocks of a page that are walked.
func parse(page string) (steps []step, err error) {
	lines := strings.Split(page, "\n")
	var commands *step // those that an output belongs to
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
		s := step{line: first, text: strings.Join(append(slices.Clone(lines[first:at]), ""), "\n")}
		language, rest, _ := strings.Cut(info, " ")
		run := language == "sh"
		for _, m := range attribute.FindAllStringSubmatch(rest, -1) {
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
		case slices.Contains(shells, language):
			return nil, fmt.Errorf("line %d: commands are blocks of sh, not of %s", first, language)
		case language == "output" && commands == nil:
			return nil, fmt.Errorf("line %d: no commands go before this output", first)
		case language == "output":
			commands.output, commands = &s.text, nil
		case run:
			steps = append(steps, s)
			commands = nil
			if s.file == "" {
				commands = &steps[len(steps)-1]
			}
		}
	}
	return steps, nil
}

// Missing returns the programs that blocks of a page need and this machine does not have. Page passes
// over these blocks.
func Missing(page string) (programs []string) {
	steps, _ := parse(page) // Page returns the error
	for _, s := range steps {
		if s.isMissing() && !slices.Contains(programs, s.needs) {
			programs = append(programs, s.needs)
		}
	}
	return programs
}

func (s step) isMissing() bool {
	if s.needs == "" {
		return false
	}
	_, err := exec.LookPath(s.needs)
	return err != nil
}

// matches compares an output with the page, in which … stands for any text within a line, and a
// line of … alone for any lines. Blanks at the end of a line do not count.
func matches(shown, printed string) bool {
	blanks := regexp.MustCompile(`(?m)[ \t]+$`)
	shown, printed = blanks.ReplaceAllLiteralString(shown, ""), blanks.ReplaceAllLiteralString(printed, "")
	pattern := regexp.QuoteMeta(strings.TrimRight(shown, "\n"))
	pattern = regexp.MustCompile(`(?m)^…$`).ReplaceAllLiteralString(pattern, `(?s:.+)`)
	pattern = strings.ReplaceAll(pattern, "…", `[^\n]+`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimRight(printed, "\n"))
}
