package query

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/lazy"
)

// A fieldKind is what a field holds, which decides how it can be searched.
type fieldKind uint8

const (
	unknownField fieldKind = iota
	textField              // analysed into words
	keywordField           // one value, with its case
	foldedField            // one value, in any case
	yearField
	dateField
	countField
	objectField // has members, but no value
)

func (k fieldKind) String() string {
	return [...]string{"a field", "a text", "a keyword", "a keyword", "a year", "a date", "a count", "an object"}[k]
}

// isAnalysed reports whether a quoted value may become several words there.
func (f Field) isAnalysed() bool {
	k := kinds[f]
	return k == textField || k == unknownField || k == objectField
}

// fieldsLike returns the field f, or if there is a * in it, the fields whose names in the
// record or in the index of the service match it.
func fieldsLike(f Field) iter.Seq2[Field, fieldKind] {
	return func(yield func(Field, fieldKind) bool) {
		if !strings.Contains(string(f), "*") {
			yield(f, kinds[f])
			return
		}
		for _, k := range []fieldKind{yearField, dateField, countField} {
			for _, g := range fieldsOf[k] {
				record, _ := path.Match(string(f), string(g))
				index, _ := path.Match(string(f), renameFields(string(g)))
				if (record || index) && !yield(g, k) {
					return
				}
			}
		}
	}
}

// among names a field that the pattern matches; it is empty if there is no pattern.
func among(f, pattern Field) string {
	if f == pattern {
		return ""
	}
	return fmt.Sprintf("%s is among these fields: ", f)
}

// refuses says why the service would refuse n in a field of that kind.
func (k fieldKind) refuses(n *node) string {
	if k != yearField && k != dateField && k != countField {
		return ""
	}
	switch n.Kind {
	case kindPrefix, kindWildcard:
		return fmt.Sprintf("%s takes no wildcard; use a range such as %s", k, k.example())
	case kindFuzzy:
		return fmt.Sprintf("%s takes no ~", k)
	case kindTerm:
		return k.badValue(comparand(n.Text))
	case kindPhrase:
		return k.badValue(n.Text)
	case kindRange:
		for _, bound := range []string{n.Range.Low, n.Range.High} {
			if reason := k.badValue(bound); bound != "" && reason != "" {
				return reason
			}
		}
		if low, high := n.Range.Low, n.Range.High; consistsOf(low+high, "0123456789") && high != "" && low > high &&
			k != countField {
			return fmt.Sprintf("the years from %s to %s are in the wrong order", low, high)
		}
	}
	return ""
}

// comparand is what follows > >= < or <= in a bare word.
func comparand(s string) string {
	t := strings.TrimPrefix(strings.TrimPrefix(s, ">"), "<")
	if t == s || t == "" {
		return s
	}
	return strings.TrimPrefix(t, "=")
}

func (k fieldKind) badValue(s string) string {
	ok := false
	switch k {
	case yearField:
		ok = isTime(s, "2006")
	case dateField:
		ok = isTime(s, dateLayouts...)
	case countField:
		_, err := strconv.ParseFloat(s, 64)
		ok = err == nil && strings.Trim(s, "0123456789.+-eE") == ""
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("%q is not %s; write one such as %s, or a range such as %s", s, k, k.value(), k.example())
}

// dateLayouts are those of ISO 8601, from a year alone to seconds with a zone.
var dateLayouts = func() []string {
	out := []string{"2006", "2006-01", "2006-01-02"}
	for _, clock := range []string{"15", "15:04", "15:04:05"} {
		for _, zone := range []string{"", "Z07:00", "Z0700"} {
			out = append(out, "2006-01-02T"+clock+zone)
		}
	}
	return out
}()

// isTime accepts a time in one of the layouts, and date arithmetic such as now-1d/d and
// 2015-06||/M.
func isTime(s string, layouts ...string) bool {
	anchor, sum, found := strings.Cut(s, "||")
	if now, ok := strings.CutPrefix(s, "now"); ok && !found {
		return timeSum().MatchString(now)
	}
	return timeSum().MatchString(sum) && slices.ContainsFunc(layouts, func(layout string) bool {
		_, err := time.Parse(layout, anchor)
		return err == nil
	})
}

var timeSum = lazy.Regexp(`^([+-]\d*[yMwdhHms]|/[yMwdhHms])*$`)

func (k fieldKind) value() string {
	return [...]string{yearField: "2015", dateField: "2015-06-30", countField: "10"}[k]
}

func (k fieldKind) example() string {
	return [...]string{yearField: "[2010 TO 2015]", dateField: "[2015-01 TO 2015-06]", countField: "[10 TO *]"}[k]
}
