package counter

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
)

// Agents is a list of patterns for user agents: regular expressions that ignore case and
// match anywhere in the text. An expression is tried only if the text has what it must
// contain, and one pass finds that for all of them, so long lists cost little more than short
// ones. The zero value matches nothing.
type Agents struct {
	patterns []pattern
	others   []int           // patterns without a literal of two bytes
	byPair   [][]int         // patterns by the first two bytes of their literals; of the pair 0, none
	pairs    *[1 << 14]int16 // numbers of the pairs of ASCII
}

// A pattern matches only where its literal is.
type pattern struct {
	text, literal string // the literal is in lower case, and may be empty
	isLiteral     bool   // it matches wherever its literal is in a text of ASCII
	beyondASCII   bool   // it matches no text of ASCII
	expression    *regexp.Regexp
}

// matches tells whether the pattern matches a text that has its literal.
func (p *pattern) matches(t *agentText) bool {
	if t.isASCII && (p.isLiteral || p.beyondASCII) {
		return p.isLiteral
	}
	return p.expression.MatchString(t.text)
}

// An agentText is a user agent as patterns need it.
type agentText struct {
	text, lower string
	isASCII     bool
}

func readAgent(agent string) *agentText {
	for i := range len(agent) {
		// of three letters that are one without case, such as K, k and the Kelvin sign, this makes one
		if agent[i] >= utf8.RuneSelf {
			return &agentText{agent, strings.ToLower(strings.ToUpper(agent)), false}
		}
	}
	return &agentText{agent, strings.ToLower(agent), true}
}

func newAgents(patterns []pattern) *Agents {
	a := &Agents{patterns: patterns, byPair: [][]int{nil}, pairs: new([1 << 14]int16)}
	for i, p := range patterns {
		if len(p.literal) < 2 {
			a.others = append(a.others, i)
			continue
		}
		number := &a.pairs[pairOf(p.literal)]
		if *number == 0 {
			*number = int16(len(a.byPair))
			a.byPair = append(a.byPair, nil)
		}
		a.byPair[*number] = append(a.byPair[*number], i)
	}
	return a
}

// pairOf are the first two bytes of a text, both ASCII.
func pairOf(text string) int { return int(text[0])<<7 | int(text[1]) }

// NewAgents makes a list of patterns. A pattern that is not a regular expression is a
// [*datacite.ValidationError].
func NewAgents(patterns ...string) (*Agents, error) {
	list := make([]pattern, len(patterns))
	for i, text := range patterns {
		var err error
		if list[i], err = readPattern(text); err != nil {
			return nil, datacite.Invalidf(fmt.Sprintf("pattern %d", i+1), datacite.CodeSyntax, "%v", err)
		}
	}
	return newAgents(list), nil
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
		return nil, datacite.Invalidf("user agents", datacite.CodeEncoding, "are not valid UTF-8")
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
			return nil, datacite.Invalidf(fmt.Sprintf("line %d", number), datacite.CodeSyntax, "%v", err)
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
		return nil, datacite.Invalidf("user agents", datacite.CodeSyntax,
			"are not an array of objects with a pattern: %v", err)
	}
	patterns := make([]string, len(list))
	for i, entry := range list {
		if patterns[i] = entry.Pattern; entry.Pattern == "" {
			return nil, datacite.Invalidf(fmt.Sprintf("[%d].pattern", i), datacite.CodeMissing, "is missing")
		}
	}
	return NewAgents(patterns...)
}

// Match reports whether a pattern matches a user agent.
func (a *Agents) Match(agent string) bool { return a.match(readAgent(agent)) }

func (a *Agents) match(t *agentText) bool {
	for range a.matching(t) {
		return true
	}
	return false
}

// matching are the numbers of the patterns that match a user agent.
func (a *Agents) matching(t *agentText) iter.Seq[int] {
	return func(yield func(int) bool) {
		var tried []int
		for at := 1; at < len(t.lower) && a.pairs != nil; at++ {
			rest := t.lower[at-1:]
			if rest[0]|rest[1] >= utf8.RuneSelf {
				continue
			}
			for _, i := range a.byPair[a.pairs[pairOf(rest)]] {
				p := &a.patterns[i]
				if !strings.HasPrefix(rest, p.literal) || slices.Contains(tried, i) {
					continue
				}
				if p.matches(t) && !yield(i) {
					return
				}
				tried = append(tried, i)
			}
		}
		for _, i := range a.others {
			if p := &a.patterns[i]; strings.Contains(t.lower, p.literal) && p.matches(t) && !yield(i) {
				return
			}
		}
	}
}

// Without returns the list without the patterns that match one of the given agents. The
// code of practice requires Without(GeneralPurpose()...) for a list of robots.
func (a *Agents) Without(agents ...string) *Agents {
	out := map[int]bool{}
	for _, agent := range agents {
		for i := range a.matching(readAgent(agent)) {
			out[i] = true
		}
	}
	var list []pattern
	for i, p := range a.patterns {
		if !out[i] {
			list = append(list, p)
		}
	}
	return newAgents(list)
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
	tree, err := syntax.Parse("(?i)"+text, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	expression := regexp.MustCompile("(?i)" + text) // it was parsed
	isLiteral := tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase != 0 && literal(tree) != ""
	return pattern{text, literal(tree), isLiteral, beyondASCII(tree), expression}, nil
}

// beyondASCII tells whether all that an expression matches has a character beyond ASCII, as far as is known.
func beyondASCII(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(e.Rune, func(r rune) bool { return r >= utf8.RuneSelf })
	case syntax.OpConcat:
		return slices.ContainsFunc(e.Sub, beyondASCII)
	}
	return false
}

// literal returns the longest text, in lower case, that is in all that an expression matches; "" if
// none is found.
func literal(e *syntax.Regexp) (longest string) {
	switch e.Op {
	case syntax.OpLiteral:
		if !slices.ContainsFunc(e.Rune, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return strings.ToLower(string(e.Rune))
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literal(e.Sub[0])
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			if found := literal(sub); len(found) > len(longest) {
				longest = found
			}
		}
	}
	return longest
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
