package search

import (
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenStar    // * alone
	tokenPrefix  // word*
	tokenPattern // any other run with * or ?
	tokenLone    // + - ! before a space: a word of that one character
	tokenQuoted
	tokenTilde // ~ and what follows
	tokenBoost // the number after ^
	tokenAnd
	tokenOr
	tokenNot
	tokenPlus
	tokenMinus
	tokenColon
	tokenOpen
	tokenClose
	tokenRangeOpen
	tokenRangeClose
	tokenRangeTo
	tokenBound
	tokenQuotedBound
)

// token is a piece of the query text as it was written, escapes and all.
type token struct {
	kind tokenKind
	text string
	at   int // byte offset
}

// The characters that end a word. White space is the query language's own, so a
// no-break space is part of a word, and so is a slash.
const (
	blanks   = " \t\r\n"
	wordEnds = blanks + `!():^[]"{}~`
)

type lexer struct {
	text   string
	at     int
	tokens []token
}

func lex(text string) ([]token, error) {
	l := lexer{text: text}
	for l.skipBlanks(); l.at < len(text); l.skipBlanks() {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	l.emit(tokenEnd, l.at)
	return l.tokens, nil
}

func (l *lexer) emit(kind tokenKind, end int) {
	l.tokens = append(l.tokens, token{kind, l.text[l.at:end], l.at})
	l.at = end
}

func (l *lexer) skipBlanks() {
	for l.at < len(l.text) && isBlank(l.text[l.at]) {
		l.at++
	}
}

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

var singles = map[byte]tokenKind{'(': tokenOpen, ')': tokenClose, ':': tokenColon}
var modifiers = map[byte]tokenKind{'+': tokenPlus, '-': tokenMinus, '!': tokenNot}

func (l *lexer) next() error {
	c := l.text[l.at]
	if kind, ok := singles[c]; ok {
		l.emit(kind, l.at+1)
		return nil
	}
	if kind, ok := modifiers[c]; ok {
		l.modifier(kind)
		return nil
	}
	switch c {
	case '"':
		return l.quoted()
	case '^':
		return l.boost()
	case '[', '{':
		l.emit(tokenRangeOpen, l.at+1)
		return l.ranged()
	case '~':
		end, _, err := l.run(l.at+1, false)
		if err != nil {
			return err
		}
		l.emit(tokenTilde, end)
		return nil
	case ']', '}':
		return lexicalError(l.text, l.at)
	}
	return l.word()
}

func (l *lexer) modifier(kind tokenKind) {
	if l.at+1 < len(l.text) && isBlank(l.text[l.at+1]) {
		kind = tokenLone
	}
	l.emit(kind, l.at+1)
}

func (l *lexer) quoted() error {
	for i := l.at + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '"':
			l.emit(tokenQuoted, i+1)
			return nil
		}
	}
	return refuse("Lexical error: the quotation mark at column %d is not closed", column(l.text, l.at))
}

func (l *lexer) boost() error {
	digits := func(i int) int {
		for i < len(l.text) && '0' <= l.text[i] && l.text[i] <= '9' {
			i++
		}
		return i
	}
	l.at++
	end := digits(l.at)
	if end == l.at {
		return lexicalError(l.text, l.at)
	}
	if end < len(l.text) && l.text[end] == '.' {
		if more := digits(end + 1); more > end+1 {
			end = more
		}
	}
	l.emit(tokenBoost, end)
	return nil
}

func (l *lexer) word() error {
	end, wild, err := l.run(l.at, true)
	if err != nil {
		return err
	}
	l.emit(wordKind(l.text[l.at:end], wild), end)
	return nil
}

// wordKind is the kind of a run, given where its first wildcard is (-1: none).
func wordKind(run string, wild int) tokenKind {
	switch {
	case run == "AND" || run == "&&":
		return tokenAnd
	case run == "OR" || run == "||":
		return tokenOr
	case run == "NOT":
		return tokenNot
	case run == "*":
		return tokenStar
	case wild < 0:
		return tokenWord
	case wild == len(run)-1 && run[wild] == '*':
		return tokenPrefix
	}
	return tokenPattern
}

// run finds the end of a run of word characters that starts at from, and the
// place of its first wildcard in the run. Without wildcards allowed, one ends
// the run.
func (l *lexer) run(from int, wildcards bool) (end, wild int, err error) {
	wild = -1
	for i := from; i < len(l.text); i++ {
		c := l.text[i]
		switch {
		case c == '\\':
			if i++; i == len(l.text) {
				return 0, 0, lexicalError(l.text, i)
			}
		case c == '*' || c == '?':
			if !wildcards {
				return i, wild, nil
			}
			if wild < 0 {
				wild = i - from
			}
		case strings.IndexByte(wordEnds, c) >= 0:
			return i, wild, nil
		}
	}
	return len(l.text), wild, nil
}

// ranged reads a range up to and including its closing bracket. Only spaces, TO
// and quotation marks are special there.
func (l *lexer) ranged() error {
	for l.at < len(l.text) {
		switch l.text[l.at] {
		case ' ':
			l.at++
			continue
		case ']', '}':
			l.emit(tokenRangeClose, l.at+1)
			return nil
		}
		end := len(l.text)
		if n := strings.IndexAny(l.text[l.at:], " ]}"); n >= 0 {
			end = l.at + n
		}
		run := l.text[l.at:end]
		switch {
		case run[0] == '"':
			close := l.at + 1 + strings.IndexByte(l.text[l.at+1:], '"')
			if close == l.at || l.text[close-1] == '\\' {
				return wire.QueryEscape.Refusal(run)
			}
			l.emit(tokenQuotedBound, close+1)
		case strings.Trim(run, blanks) == "":
			l.at = end
		case run == "TO":
			l.emit(tokenRangeTo, end)
		default:
			l.emit(tokenBound, end)
		}
	}
	return nil
}

func lexicalError(text string, at int) error {
	if at >= len(text) {
		return refuse("Lexical error at column %d: the text ends too early", column(text, at))
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return refuse("Lexical error at column %d: %q has no place here", column(text, at), r)
}

// column counts characters from 1.
func column(text string, at int) int {
	return utf8.RuneCountInString(text[:at]) + 1
}
