package metadata

import "strings"

// Allowed tells of each path in the table of allowances whether it is one for all
// values; those for some are false.
func Allowed() map[string]bool {
	all := map[string]bool{}
	for _, a := range allowances {
		for path := range strings.FieldsSeq(a.paths) {
			all[path] = all[path] || a.same == nil
		}
	}
	return all
}

// Ordered are the lists whose order says something.
var Ordered = ordered
