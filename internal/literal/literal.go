// Package literal finds the texts without which a regular expression does not match: to look
// for a text takes a fraction of the time.
package literal

import "regexp/syntax"

// Longest returns the longest text that is in everything that an expression matches; "" if
// there is none. Of a literal in the expression, text returns what has to be looked for, or
// "".
func Longest(e *syntax.Regexp, text func(literal *syntax.Regexp) string) (longest string) {
	switch e.Op {
	case syntax.OpLiteral:
		return text(e)
	case syntax.OpCapture, syntax.OpPlus:
		return Longest(e.Sub[0], text)
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			if found := Longest(sub, text); len(found) > len(longest) {
				longest = found
			}
		}
	}
	return longest
}
