package search

import (
	"math"
	"strconv"
	"strings"
)

func (p *parser) leaf(field string) (node, error) {
	t := p.peek()
	switch t.kind {
	case tokenRangeOpen:
		return p.rangeLeaf(field)
	case tokenWord, tokenLone, tokenStar, tokenPrefix, tokenPattern, tokenQuoted:
	default:
		return nil, p.unexpected()
	}
	p.at++
	by, tilde, err := p.suffix()
	if err != nil {
		return nil, err
	}
	n, err := p.textLeaf(field, t, tilde)
	return boosted(n, by), err
}

// suffix reads a boost and a ~ in either order. The tilde is "" when there is
// none.
func (p *parser) suffix() (by float64, tilde string, err error) {
	early := p.kind(0) == tokenBoost
	by, err = p.boost()
	t, _ := p.take(tokenTilde)
	if !early {
		by, err = p.boost()
	}
	return by, t.text, err
}

// textLeaf makes the leaf of one token and the ~ that may follow it.
func (p *parser) textLeaf(field string, t token, tilde string) (node, error) {
	raw := t.text
	if t.kind == tokenQuoted {
		raw = raw[1 : len(raw)-1]
	}
	text, err := unescape(raw)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case tokenQuoted:
		slop, err := slopOf(tilde, p.opts.Slop)
		if err != nil {
			return nil, err
		}
		return p.add(field, leaf{op: opPhrase, text: text, slop: slop})
	case tokenStar:
		return p.star(field)
	case tokenPrefix:
		start := []rune(strings.TrimSuffix(text, "*"))
		return p.add(field, leaf{op: opPattern, pattern: append(start, anyRunes), prefix: true})
	case tokenPattern:
		return p.add(field, leaf{op: opPattern, pattern: pattern(raw)})
	}
	if tilde != "" {
		edits, err := editsOf(tilde, text)
		if err != nil {
			return nil, err
		}
		return p.add(field, leaf{op: opFuzzy, text: text, edits: edits})
	}
	return p.word(field, raw)
}

// star is *:* for every record, field:* for records with the field.
func (p *parser) star(field string) (node, error) {
	if field == "*" {
		return everything{}, p.count(1)
	}
	return p.add(field, leaf{op: opExists})
}

// word makes the leaf of an unquoted text, which may be a comparison. The sign
// counts even if it is escaped, since search servers unescape before they look.
func (p *parser) word(field, raw string) (node, error) {
	text, err := unescape(raw)
	if err != nil {
		return nil, err
	}
	if field != "" && len(text) > 1 && field != existsField {
		if l, ok := comparison(text); ok {
			return p.add(field, l)
		}
	}
	return p.add(field, leaf{op: opWord, text: text})
}

func comparison(text string) (leaf, bool) {
	l := leaf{op: opRange}
	sign, bound := text[:1], text[1:]
	if inclusive, ok := strings.CutPrefix(bound, "="); ok && inclusive != "" {
		l.withLow, l.withHigh = true, true
		bound = inclusive
	}
	switch sign {
	case ">":
		l.low, l.withHigh = openOr(bound), true
	case "<":
		l.high, l.withLow = openOr(bound), true
	default:
		return leaf{}, false
	}
	return l, true
}

func (p *parser) rangeLeaf(field string) (node, error) {
	open, _ := p.take(tokenRangeOpen)
	low, err := p.bound()
	if err != nil {
		return nil, err
	}
	if _, ok := p.take(tokenRangeTo); !ok {
		return nil, p.unexpected()
	}
	high, err := p.bound()
	if err != nil {
		return nil, err
	}
	closing, ok := p.take(tokenRangeClose)
	if !ok {
		return nil, p.unexpected()
	}
	by, err := p.boost()
	if err != nil {
		return nil, err
	}
	n, err := p.add(field, leaf{op: opRange, low: low, high: high, withLow: open.text == "[", withHigh: closing.text == "]"})
	return boosted(n, by), err
}

// bound reads one end of a range; nil is an open one.
func (p *parser) bound() (*string, error) {
	t := p.peek()
	raw := t.text
	switch t.kind {
	case tokenQuotedBound:
		raw = raw[1 : len(raw)-1]
	case tokenBound, tokenRangeTo:
	default:
		return nil, p.unexpected()
	}
	p.at++
	text, err := unescape(raw)
	if err != nil {
		return nil, err
	}
	return openOr(text), nil
}

// openOr is nil, an open end, for a star. Search servers treat a quoted or
// escaped star here like a bare one.
func openOr(bound string) *string {
	if bound == "*" {
		return nil
	}
	return &bound
}

// slopOf reads how far apart the words of a phrase may be. Anything but a number is
// ignored.
func slopOf(tilde string, otherwise int) (int, error) {
	n, err := strconv.ParseFloat(strings.TrimPrefix(tilde, "~"), 64)
	switch {
	case err != nil:
		return otherwise, nil
	case n != n:
		return 0, nil
	}
	if n <= -1 {
		return 0, refuse("slop must be >= 0, found %q", tilde)
	}
	return int(min(n, 1<<31-1)), nil
}

// editsOf reads how many characters of a fuzzy word may differ: at most two, and
// without a number 0, 1 or 2 depending on the length of the word.
func editsOf(tilde, text string) (int, error) {
	s := strings.TrimPrefix(tilde, "~")
	if s == "" || strings.EqualFold(s, "AUTO") {
		switch n := len([]rune(text)); {
		case n < 3:
			return 0, nil
		case n < 6:
			return 1, nil
		}
		return 2, nil
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && !math.IsInf(n, 0) || n != n:
		return 0, refuse("failed to create query: For input string: %q", s)
	case n <= -1:
		return 0, refuse("failed to create query: Valid edit distances are [0, 1, 2] but was [%s]", s)
	}
	return int(min(n, 2)), nil
}
