package search

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
		return exists{f}, nil
	}
	switch f.kind {
	case text:
		return l.inText(f, deployed)
	case exact:
		return l.inTerms(f), nil
	case folded:
		return l.folded().inTerms(f), nil
	}
	if err := l.refused(f); err != nil {
		return nil, err
	}
	if f.kind == number {
		test, err := l.onNumber()
		return inField{field: f, test: test}, err
	}
	test, err := l.onTime(f.kind == year)
	return inField{field: f, test: test}, err
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
	return refuse("failed to create query: Can only use %s queries on keyword, text and wildcard fields - not on [%s] "+
		"which is of type [%s]", what, f.name, f.kind)
}

// inText searches for the leaf word by word.
func (l leaf) inText(f field, deployed bool) (node, error) {
	if strings.ContainsFunc(l.text, isUnspaced) || slices.ContainsFunc(l.pattern, isUnspaced) {
		return nil, wire.QueryScript.Refusal(l.text)
	}
	l = l.folded()
	switch l.op {
	case opWord:
		var clauses []clause
		for w := range words(l.text) {
			o := should
			if deployed {
				o = must
			}
			clauses = appendClause(clauses, o, inField{field: f, is: w})
		}
		return newGroup(clauses), nil
	case opPhrase:
		ws := slices.Collect(words(l.text))
		switch len(ws) {
		case 0:
			return nil, nil
		case 1:
			return inField{field: f, is: ws[0]}, nil
		}
		return phrase{f, ws, l.slop}, nil
	}
	return l.inTerms(f), nil
}

// folded is the leaf in lower case.
func (l leaf) folded() leaf {
	l.text, l.pattern = strings.ToLower(l.text), slices.Clone(l.pattern)
	for i, r := range l.pattern {
		if r >= 0 {
			l.pattern[i] = unicode.ToLower(r)
		}
	}
	for _, bound := range []**string{&l.low, &l.high} {
		if *bound != nil {
			*bound = new(strings.ToLower(**bound))
		}
	}
	return l
}

// inTerms searches for the leaf among whole terms.
func (l leaf) inTerms(f field) node {
	switch l.op {
	case opPattern:
		return inField{field: f, test: func(s string) bool { return like(s, l.pattern) }}
	case opFuzzy:
		want := []rune(l.text)
		return inField{field: f, test: func(s string) bool { return near([]rune(s), want, l.edits) }}
	case opRange:
		return inField{field: f, test: func(s string) bool { return within(s, l.low, l.high, l.withLow, l.withHigh) }}
	}
	return inField{field: f, is: l.text}
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
func (l leaf) onNumber() (func(string) bool, error) {
	l = l.asRange()
	from, err := numberOf(l.low)
	if err != nil {
		return nil, err
	}
	to, err := numberOf(l.high)
	if err != nil {
		return nil, err
	}
	return func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		return err == nil && within(n, from, to, l.withLow, l.withHigh)
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
