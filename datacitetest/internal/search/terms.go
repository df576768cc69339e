package search

import (
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
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
		slop := 0
		switch {
		case tilde == "" && p.deployed:
			slop = 1
		case tilde != "":
			if slop, err = distance(tilde); err != nil {
				return nil, err
			}
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
		edits, err := distance(tilde)
		if err != nil {
			return nil, err
		}
		return p.add(field, leaf{op: opFuzzy, text: text, edits: min(edits, 2)})
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
	n, err := p.add(field, leaf{op: opRange, low: low, high: high, withLow: open.text == "[",
		withHigh: closing.text == "]"})
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

// distance reads the number after ~: how far apart the words of a phrase may be, or how many
// characters of a fuzzy word may differ, at most two.
func distance(tilde string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(tilde, "~"), 10, 31)
	if err != nil {
		return 0, wire.QueryDistance.Refusal(tilde)
	}
	return int(n), nil
}
