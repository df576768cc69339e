package metadata

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first needed. Compiling all of
// them takes a millisecond, which programs that check no record would spend at their start.
type pattern func() *regexp.Regexp

func compiled(expr string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
