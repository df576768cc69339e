package query

import "strings"

// The tokens of Lucene's classic query parser. The longest one wins.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokBad           // no token begins here
	tokAnd
	tokOr
	tokNot
	tokPlus
	tokMinus
	tokBareOperator // + - or ! before a blank: a word
	tokOpen
	tokClose
	tokColon
	tokCaret
	tokTerm
	tokStar
	tokPrefix
	tokWildcard
	tokQuoted
	tokTilde // with what follows it directly
	tokRegexp
	tokRangeOpen  // [ or {
	tokRangeClose // ] or }
	tokRangeTo
	tokBound
	tokQuotedBound
	tokNumber
)

type token struct {
	kind       tokenKind
	start, end int
}

// A lexer cuts text into tokens. What a token may be depends on where it is:
// inside a range, directly after ^, or elsewhere.
type lexer struct {
	text    string
	pos     int
	inRange bool
}

// tokens returns all tokens of text, up to and including the first bad one or
// the end.
func tokens(text string) []token {
	l := lexer{text: text}
	toks := make([]token, 0, 8+len(text)/4)
	for {
		t := l.next()
		toks = append(toks, t)
		if t.kind == tokEnd || t.kind == tokBad {
			return toks
		}
		if t.kind == tokCaret {
			toks = append(toks, l.number())
		}
	}
}

func (l *lexer) next() token {
	if l.inRange {
		return l.nextInRange()
	}
	for l.pos < len(l.text) && blank(l.text[l.pos:]) > 0 {
		l.pos += blank(l.text[l.pos:])
	}
	if l.pos == len(l.text) {
		return token{tokEnd, l.pos, l.pos}
	}
	switch c := l.text[l.pos]; c {
	case '(':
		return l.take(tokOpen, 1)
	case ')':
		return l.take(tokClose, 1)
	case ':':
		return l.take(tokColon, 1)
	case '^':
		return l.take(tokCaret, 1)
	case '[', '{':
		l.inRange = true
		return l.take(tokRangeOpen, 1)
	case '+', '-', '!':
		return l.sign(c)
	case '"':
		return l.takeOrBad(tokQuoted, quotedLen(l.text[l.pos:]))
	case '~':
		n, _, _ := runLen(l.text[l.pos+1:], true)
		return l.take(tokTilde, 1+n)
	case '/':
		return l.takeOrBad(tokRegexp, delimitedLen(l.text[l.pos:], '/'))
	case ']', '}':
		return l.take(tokBad, 1)
	}
	return l.run()
}

// sign reads + - and !, which are words when a blank follows.
func (l *lexer) sign(c byte) token {
	if blank(l.text[l.pos+1:]) > 0 {
		return l.take(tokBareOperator, 1)
	}
	switch c {
	case '+':
		return l.take(tokPlus, 1)
	case '-':
		return l.take(tokMinus, 1)
	}
	return l.take(tokNot, 1)
}

// run reads a word, a pattern or a word that is an operator.
func (l *lexer) run() token {
	n, wildcards, last := runLen(l.text[l.pos:], false)
	if n == 0 {
		return l.take(tokBad, 1) // a backslash at the end
	}
	kind := tokWildcard
	switch image := l.text[l.pos : l.pos+n]; {
	case wildcards == 0:
		kind = wordKind(image)
	case image == "*":
		kind = tokStar
	case wildcards == 1 && last == '*':
		kind = tokPrefix
	}
	return l.take(kind, n)
}

func wordKind(image string) tokenKind {
	switch image {
	case "AND", "&&":
		return tokAnd
	case "OR", "||":
		return tokOr
	case "NOT":
		return tokNot
	}
	return tokTerm
}

// nextInRange reads between [ and ]. Every character of a bound is literal, even a tab.
func (l *lexer) nextInRange() token {
	for {
		if l.pos == len(l.text) {
			return token{tokEnd, l.pos, l.pos}
		}
		rest := l.text[l.pos:]
		if rest[0] == ']' || rest[0] == '}' {
			l.inRange = false
			return l.take(tokRangeClose, 1)
		}
		n := strings.IndexAny(rest, " ]}")
		if n < 0 {
			n = len(rest)
		}
		if b := blank(rest); b > 0 && b >= n {
			l.pos += b
			continue
		}
		if rest[:n] == "TO" {
			return l.take(tokRangeTo, n)
		}
		if q := boundLen(rest); q >= n {
			return l.take(tokQuotedBound, q)
		}
		return l.take(tokBound, n)
	}
}

// number reads what has to follow a ^ without a blank.
func (l *lexer) number() token {
	digits := func(i int) int {
		for i < len(l.text) && '0' <= l.text[i] && l.text[i] <= '9' {
			i++
		}
		return i
	}
	end := digits(l.pos)
	if end == l.pos {
		return token{tokBad, l.pos, l.pos}
	}
	if end < len(l.text) && l.text[end] == '.' && digits(end+1) > end+1 {
		end = digits(end + 1)
	}
	return l.take(tokNumber, end-l.pos)
}

func (l *lexer) take(kind tokenKind, n int) token {
	t := token{kind, l.pos, l.pos + n}
	l.pos += n
	return t
}

func (l *lexer) takeOrBad(kind tokenKind, n int) token {
	if n == 0 {
		return l.take(tokBad, 1)
	}
	return l.take(kind, n)
}

// blank returns the length of the blank that s begins with, or 0. No other
// character separates words, not even a no-break space.
func blank(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == ' ' || s[0] == '\t' || s[0] == '\n' || s[0] == '\r':
		return 1
	case strings.HasPrefix(s, "\u3000"):
		return len("\u3000")
	}
	return 0
}

// runLen returns the length of the characters of a word or pattern, the number
// of wildcards among them and the last character if it is a wildcard. After a
// ~ there are no wildcards.
func runLen(s string, tilde bool) (n, wildcards int, last byte) {
	for n < len(s) {
		c := s[n]
		if c == '\\' {
			if n+1 == len(s) {
				break
			}
			n, last = n+2, 0
			continue
		}
		if strings.IndexByte("!():^[]\"{}~/", c) >= 0 || blank(s[n:]) > 0 {
			break
		}
		last = 0
		if c == '*' || c == '?' {
			if tilde {
				break
			}
			wildcards, last = wildcards+1, c
		}
		n++
	}
	return n, wildcards, last
}

// quotedLen returns the length of the quoted text that s begins with, or 0.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// delimitedLen returns the length of the longest text that begins and ends
// with delim, has in between none but those after a backslash, or 0. A
// backslash before another backslash does not count as escaped itself.
func delimitedLen(s string, delim byte) int {
	end := 0
	for i := 1; i < len(s); i++ {
		if s[i] != delim {
			continue
		}
		end = i + 1
		if s[i-1] != '\\' {
			break
		}
	}
	return end
}

// boundLen is delimitedLen for a quoted bound, which cannot be empty.
func boundLen(s string) int {
	if s[0] != '"' || strings.HasPrefix(s, `""`) {
		return 0
	}
	return delimitedLen(s, '"')
}
