package search

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

type op uint8

const (
	opWord op = iota
	opPhrase
	opPattern
	opFuzzy
	opRange
	opExists
)

// leaf is what one clause searches for, in a field of any kind.
type leaf struct {
	op      op
	text    string // of a word, phrase or fuzzy word
	slop    int    // of a phrase: how far apart its words may be
	edits   int    // of a fuzzy word: how many characters may differ
	pattern []rune
	prefix  bool // the pattern is a prefix; for the error text

	low, high         *string // of a range; nil is open
	withLow, withHigh bool
}

// test tests one value of a field.
type test func(value any) bool

// size is how many clauses the leaf counts for.
func (l leaf) size() int {
	n := 0
	if l.op == opWord {
		for range words(l.text) {
			n++
		}
	}
	return max(n, 1)
}

// in makes the node that searches a field for the leaf. It returns nil if there
// is nothing to search for, and an error if the field cannot have such values.
func (l leaf) in(f field, deployed bool) (node, error) {
	if l.op == opExists {
		return inField{f, hasValue}, nil
	}
	switch f.kind {
	case text:
		return l.inText(f, deployed)
	case exact:
		return inField{f, onString(l.onWhole(asIs))}, nil
	case folded:
		return inField{f, onString(l.onWhole(strings.ToLower))}, nil
	}
	if err := l.refused(f); err != nil {
		return nil, err
	}
	if f.kind == number {
		t, err := l.onNumber()
		return inField{f, t}, err
	}
	t, err := l.onTime(f.kind == year)
	return inField{f, t}, err
}

// refused is the error for a pattern on a field without text.
func (l leaf) refused(f field) error {
	what := ""
	switch {
	case l.op == opPattern && l.prefix:
		what = "prefix"
	case l.op == opPattern:
		what = "wildcard"
	case l.op == opFuzzy:
		what = "fuzzy"
	default:
		return nil
	}
	return refuse("failed to create query: Can only use %s queries on keyword, text and wildcard fields - not on [%s] which is of type [%s]", what, f.name, f.kind)
}

// inText searches for the leaf word by word.
func (l leaf) inText(f field, deployed bool) (node, error) {
	if strings.ContainsFunc(l.text, isUnspaced) || slices.ContainsFunc(l.pattern, isUnspaced) {
		return nil, wire.QueryScript.Refusal(l.text)
	}
	switch l.op {
	case opWord:
		var clauses []clause
		for w := range words(strings.ToLower(l.text)) {
			o := should
			if deployed {
				o = must
			}
			clauses = appendClause(clauses, o, inField{f, onWord(w)})
		}
		return newGroup(clauses), nil
	case opPhrase:
		ws := slices.Collect(words(strings.ToLower(l.text)))
		switch len(ws) {
		case 0:
			return nil, nil
		case 1:
			return inField{f, onWord(ws[0])}, nil
		}
		return inField{f, onString(func(s string) bool { return isPhrase(s, ws, l.slop) })}, nil
	}
	return inField{f, onWords(l.onWhole(strings.ToLower))}, nil
}

func asIs(s string) string { return s }

// onWhole compares the leaf with a whole text, both folded.
func (l leaf) onWhole(fold func(string) string) func(string) bool {
	switch l.op {
	case opPattern:
		p := slices.Clone(l.pattern)
		for i, r := range p {
			if r >= 0 {
				p[i] = []rune(fold(string(r)))[0]
			}
		}
		return func(s string) bool { return like(fold(s), p) }
	case opFuzzy:
		want := []rune(fold(l.text))
		return func(s string) bool { return near([]rune(fold(s)), want, l.edits) }
	case opRange:
		low, high := foldBound(l.low, fold), foldBound(l.high, fold)
		return func(s string) bool { return within(fold(s), low, high, l.withLow, l.withHigh) }
	}
	want := fold(l.text)
	return func(s string) bool { return fold(s) == want }
}

func foldBound(bound *string, fold func(string) string) *string {
	if bound == nil {
		return nil
	}
	return new(fold(*bound))
}

func within[T string | float64 | int64](v T, low, high *T, withLow, withHigh bool) bool {
	if low != nil && (v < *low || v == *low && !withLow) {
		return false
	}
	return high == nil || v < *high || v == *high && withHigh
}

// asRange is a single value as a range that begins and ends with it.
func (l leaf) asRange() leaf {
	if l.op != opRange {
		l.low, l.high, l.withLow, l.withHigh = &l.text, &l.text, true, true
	}
	return l
}

// onNumber tests the leaf against numbers.
func (l leaf) onNumber() (test, error) {
	l = l.asRange()
	from, err := numberOf(l.low)
	if err != nil {
		return nil, err
	}
	to, err := numberOf(l.high)
	if err != nil {
		return nil, err
	}
	return func(v any) bool {
		n, ok := v.(float64)
		if s, isScalar := scalar(v); !ok && isScalar {
			var err error
			n, err = strconv.ParseFloat(s, 64)
			ok = err == nil
		}
		return ok && within(n, from, to, l.withLow, l.withHigh)
	}, nil
}

func numberOf(bound *string) (*float64, error) {
	if bound == nil {
		return nil, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(*bound), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, refuse("failed to create query: For input string: %q", *bound)
	}
	return &n, nil
}

func onString(match func(string) bool) test {
	return func(v any) bool {
		s, ok := scalar(v)
		return ok && match(s)
	}
}

func onWord(want string) test {
	return onWords(func(word string) bool { return isWord(word, want) })
}

func onWords(match func(string) bool) test {
	return onString(func(s string) bool {
		for w := range words(s) {
			if match(w) {
				return true
			}
		}
		return false
	})
}
