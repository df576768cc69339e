// Package lazy makes regular expressions when they are first used. To compile all of those of a
// program takes milliseconds, which it would spend before main.
package lazy

import (
	"regexp"
	"sync"
)

// A Pattern is a regular expression that is compiled when it is first called.
type Pattern func() *regexp.Regexp

// Regexp makes the Pattern of an expression. An expression with an error panics at the first call.
func Regexp(expr string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
