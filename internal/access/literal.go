package access

import "regexp/syntax"

// Literal returns the longest text that is in everything that an expression matches; "" if
// there is none. To look for it takes a fraction of the time. Of a literal in the expression,
// text returns what has to be looked for, or "".
func Literal(e *syntax.Regexp, text func(literal *syntax.Regexp) string) (longest string) {
	switch e.Op {
	case syntax.OpLiteral:
		return text(e)
	case syntax.OpCapture, syntax.OpPlus:
		return Literal(e.Sub[0], text)
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			if found := Literal(sub, text); len(found) > len(longest) {
				longest = found
			}
		}
	}
	return longest
}
