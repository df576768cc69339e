// Package usage has the rules by which the deployed service makes numbers of the counts in
// usage reports, as far as they need no report. Their numbers are those of
// datacitetest/deployed-usage.md.
package usage

import (
	"regexp"
	"slices"
	"time"
)

// indexed is how many characters of a DOI are in the unique index of events: 191 with
// https://doi.org/ before it.
const indexed = 191 - len("https://doi.org/")

// IndexedName is what the unique index of events has of a DOI: of several that are alike
// there, the service keeps the counts of only one (rule 24). Whole is true if that is all of
// the DOI, so that no other one is alike.
func IndexedName(name string) (begin string, whole bool) {
	begin = name[:min(len(name), indexed)]
	return begin, len(name) < indexed
}

var day = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-[0-9]{1,2}`)

// Month is the month under which the counts of a report are shown, such as "2026-10": that of
// its begin date in UTC (rule 5). It is "" if that is no date.
func Month(begin string) string {
	for _, layout := range []string{"2006-1-2T15:04:05Z07:00", "2006-1-2"} {
		if t, err := time.Parse(layout, begin); err == nil {
			return t.UTC().Format("2006-01")
		}
		begin = day.FindString(begin)
	}
	return ""
}

// WrittenMonth is the month that a date names, whatever its time zone.
func WrittenMonth(date string) string {
	parts := day.FindStringSubmatch(date)
	switch {
	case parts == nil:
		return date[:min(len(date), len("2006-01"))]
	case len(parts[2]) == 1:
		return parts[1] + "-0" + parts[2]
	}
	return parts[1] + "-" + parts[2]
}

// Union returns the values of two ascending lists, ascending and each once.
func Union(a, b []int64) []int64 {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// mostValues is the limit of possible sums.
const mostValues = 64

// Sums returns the sums of each value of one list with each of another, ascending. Of
// more than 64, and if the lists are wide, it keeps the least and the greatest: then the
// result is wide, too, and what lies between them is possible.
func Sums(a, b []int64, wide bool) (all []int64, isWide bool) {
	for _, x := range a {
		for _, y := range b {
			all = append(all, x+y)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if last := len(all) - 1; last > 0 && (wide || last >= mostValues) {
		return []int64{all[0], all[last]}, true
	}
	return all, wide
}
