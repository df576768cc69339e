package counter

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
)

// Agents is a list of patterns for user agents: regular expressions that ignore case and
// match anywhere in the text. Matching is fast for long lists: an automaton reads the user
// agent once and finds the literal texts of the patterns, and only patterns whose literal
// text was found, or that have none, are tried. The zero value matches nothing.
type Agents struct {
	patterns []pattern
	literals automaton
	others   []int // patterns without a literal
}

// A pattern matches where its literal is found, and its expression, if it has one.
type pattern struct {
	text, literal string
	expression    *regexp.Regexp // nil if the literal is all of it
}

// NewAgents makes a list of patterns. A pattern that is not a regular expression is a
// [*datacite.ValidationError].
func NewAgents(patterns ...string) (*Agents, error) {
	list := make([]pattern, len(patterns))
	for i, text := range patterns {
		var err error
		if list[i], err = readPattern(text); err != nil {
			return nil, datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("pattern %d", i+1), Code: "syntax", Reason: err.Error()})
		}
	}
	return newAgents(list), nil
}

func newAgents(patterns []pattern) *Agents {
	a := &Agents{patterns: patterns}
	literals := make([]string, len(patterns))
	for i, p := range patterns {
		literals[i] = p.literal
		if p.literal == "" {
			a.others = append(a.others, i)
		}
	}
	a.literals = newAutomaton(literals)
	return a
}

// ReadAgents reads a list of patterns: the JSON that COUNTER-Robots publishes, an array of
// objects with a member "pattern"; or a text with one pattern per line, in which empty
// lines and lines that begin with # are ignored.
func ReadAgents(r io.Reader) (*Agents, error) {
	data, err := io.ReadAll(r)
	switch {
	case err != nil:
		return nil, err
	case !utf8.Valid(data):
		return nil, datacite.Invalid(datacite.Finding{Path: "user agents", Code: "encoding", Reason: "are not valid UTF-8"})
	case json.Valid(data):
		return readJSONAgents(data)
	}
	var list []pattern
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if line = strings.TrimRight(line, "\r\n"); line == "" || line[0] == '#' {
			continue
		}
		p, err := readPattern(line)
		if err != nil {
			return nil, datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("line %d", number), Code: "syntax", Reason: err.Error()})
		}
		list = append(list, p)
	}
	return newAgents(list), nil
}

func readJSONAgents(data []byte) (*Agents, error) {
	var list []struct {
		Pattern string `json:"pattern"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, datacite.Invalid(datacite.Finding{Path: "user agents", Code: "syntax", Reason: fmt.Sprintf("are not an array of objects with a pattern: %v", err)})
	}
	patterns := make([]string, len(list))
	for i, entry := range list {
		if patterns[i] = entry.Pattern; entry.Pattern == "" {
			return nil, datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("[%d].pattern", i), Code: "missing", Reason: "is missing"})
		}
	}
	return NewAgents(patterns...)
}

// Match reports whether a pattern matches a user agent.
func (a *Agents) Match(agent string) bool {
	if len(a.patterns) == 0 {
		return false
	}
	for _, i := range a.others {
		if a.patterns[i].expression.MatchString(agent) {
			return true
		}
	}
	return a.literals.find(agent, func(found []int) bool {
		return slices.ContainsFunc(found, func(i int) bool {
			p := &a.patterns[i]
			return p.expression == nil || p.expression.MatchString(agent)
		})
	})
}

// Without returns the list without the patterns that match one of the given agents. The
// code of practice requires Without(GeneralPurpose()...) for a list of robots.
func (a *Agents) Without(agents ...string) *Agents {
	return newAgents(slices.DeleteFunc(slices.Clone(a.patterns), func(p pattern) bool {
		one := newAgents([]pattern{p})
		return slices.ContainsFunc(agents, one.Match)
	}))
}

// Patterns returns the patterns of the list.
func (a *Agents) Patterns() []string {
	list := make([]string, len(a.patterns))
	for i, p := range a.patterns {
		list[i] = p.text
	}
	return list
}

func readPattern(text string) (pattern, error) {
	expression, err := regexp.Compile("(?i)" + text)
	if err != nil {
		return pattern{}, err
	}
	tree, err := syntax.Parse(text, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return pattern{}, err
	}
	p := pattern{text, access.Literal(tree, lower), expression}
	if tree.Op == syntax.OpLiteral && p.literal != "" && tree.Flags&syntax.FoldCase != 0 {
		p.expression = nil
	}
	return p, nil
}

// lower is a literal in lower case; "" if the automaton cannot find it, which knows the case
// of ASCII only.
func lower(e *syntax.Regexp) string {
	for _, r := range e.Rune {
		if r >= utf8.RuneSelf && unicode.SimpleFold(r) != r {
			return ""
		}
	}
	return strings.ToLower(string(e.Rune))
}

//go:embed robots.txt
var robots string

// RobotsDate is the date of the list that [Robots] has.
const RobotsDate = "2024-04-22"

// Robots is the list of robots that is built in: the one that COUNTER publishes, of
// [RobotsDate], without general-purpose agents, as the code of practice asks for. To use
// a newer list:
//
//	robots, err := counter.ReadAgents(file)
//	opts.Robots = robots.Without(counter.GeneralPurpose()...)
func Robots() *Agents { return builtInRobots() }

//go:embed machines.txt
var machines string

// Machines returns the built-in list of programs.
func Machines() *Agents { return builtInMachines() }

//go:embed general.txt
var general string

// GeneralPurpose returns user agents of tools that researchers use, such as curl,
// Wget, Python and Java. The code of practice forbids them in a list of robots.
func GeneralPurpose() []string {
	return slices.DeleteFunc(strings.Split(general, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
}

var (
	builtInRobots   = sync.OnceValue(func() *Agents { return mustReadAgents(robots).Without(GeneralPurpose()...) })
	builtInMachines = sync.OnceValue(func() *Agents { return mustReadAgents(machines) })
)

func mustReadAgents(text string) *Agents {
	a, err := ReadAgents(strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	return a
}
