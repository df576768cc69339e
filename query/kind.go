package query

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What a field holds decides what it can be asked for.
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
	return k == textField || k == unknownField
}

// refuses says why the service would refuse n in a field of that kind.
func (k fieldKind) refuses(n *Node) string {
	if k != yearField && k != dateField && k != countField {
		return ""
	}
	switch n.Kind {
	case KindPrefix, KindWildcard:
		return fmt.Sprintf("%s takes no wildcard; use a range such as %s", k, k.example())
	case KindFuzzy:
		return fmt.Sprintf("%s takes no ~", k)
	case KindTerm:
		return k.badValue(comparand(n.Text))
	case KindPhrase:
		return k.badValue(n.Text)
	case KindRange:
		for _, bound := range []string{n.Range.Low, n.Range.High} {
			if reason := k.badValue(bound); bound != "" && reason != "" {
				return reason
			}
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
		ok = year.MatchString(s) || dateMath.MatchString(s)
	case dateField:
		ok = date.MatchString(s) || dateMath.MatchString(s)
	case countField:
		_, err := strconv.ParseFloat(s, 64)
		ok = err == nil && strings.Trim(s, "0123456789.+-eE") == ""
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("%q is not %s; write one such as %s, or a range such as %s", s, k, k.value(), k.example())
}

var (
	year = regexp.MustCompile(`^\d{4}$`)
	// ISO 8601 from the year on, or milliseconds since 1970
	date     = regexp.MustCompile(`^(\d{4}(-\d{2}(-\d{2}(T(\d{2}(:\d{2}(:\d{2}([.,]\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?)?|-?\d{5,})$`)
	dateMath = regexp.MustCompile(`^(now|\d{4}(-\d{2}){0,2}(T[0-9:.]+Z?)?\|\|)([+-]\d+[yMwdhHms]|/[yMwdhHms])*$`)
)

func (k fieldKind) value() string {
	return map[fieldKind]string{yearField: "2015", dateField: "2015-06-30", countField: "10"}[k]
}

func (k fieldKind) example() string {
	return map[fieldKind]string{yearField: "[2010 TO 2015]", dateField: "[2015-01 TO 2015-06]", countField: "[10 TO *]"}[k]
}
