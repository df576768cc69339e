package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/doi"
)

// IsDOI looks for a DOI name, given bare, with doi: or as an address of the resolver. In
// [FieldDOI] it looks for the name; in other fields, such as [FieldRelatedIdentifier], for
// the name or its address, since records hold both. [Check] refuses anything that is not a
// DOI name.
func (f Field) IsDOI(name string) Expr {
	name, err := doi.Parse(name)
	if err != nil {
		return fromNode(invalid(f, err.Error()))
	}
	name = strings.ToLower(name)
	switch f {
	case FieldDOI, "uid", "id":
		return f.Is(name)
	}
	return f.In(name, "https://doi.org/"+name)
}

// IsORCID looks for an ORCID iD, given bare or as an address, in both forms
// that records hold. The field is [FieldCreatorNameIdentifier] or
// [FieldContributorNameIdentifier]. An iD whose check digit is wrong is
// refused by [Check].
func (f Field) IsORCID(id string) Expr {
	bare, ok := orcid(id)
	if !ok {
		return fromNode(invalid(f, fmt.Sprintf("%q is not an ORCID iD, or a digit of it is wrong", id)))
	}
	return f.In(bare, "https://orcid.org/"+bare)
}

// orcid returns the iD in the form 0000-0002-1825-0097.
func orcid(id string) (string, bool) {
	s := strings.ToUpper(strings.TrimSpace(id))
	for _, prefix := range []string{"HTTPS://", "HTTP://", "WWW.", "ORCID.ORG/", "ORCID:"} {
		s = strings.TrimPrefix(s, prefix)
	}
	s = strings.ReplaceAll(strings.TrimSpace(s), "-", "")
	if len(s) != 16 || !consistsOf(s[:15], "0123456789") || s[15] != doi.Mod11(s[:15]) {
		return "", false
	}
	return s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:], true
}

// BetweenTimes looks for times from one to another, both included; the zero time
// leaves that side open: updated:[2025-06-01T00:00:00Z TO *]. It suits [FieldCreated],
// [FieldUpdated] and [FieldRegistered].
//
// The service keeps whole seconds of UTC, so the bounds become the whole seconds that
// lie between them. [Check] refuses bounds without a whole second between them.
func (f Field) BetweenTimes(from, to time.Time) Expr {
	kind := kinds[f]
	if !from.IsZero() {
		from = from.Add(time.Second - 1) // to the next whole second, as it is written
	}
	switch {
	case f == "":
		return fromNode(invalid(f, "times are looked for in a field such as created"))
	case kind != dateField && kind != unknownField:
		return fromNode(invalid(f, fmt.Sprintf("the field is %s and holds no times", kind)))
	case !hasFourDigits(from) || !hasFourDigits(to):
		return fromNode(invalid(f, "a time has no year of four digits"))
	case !from.IsZero() && !to.IsZero() && from.Unix() > to.Unix():
		return fromNode(invalid(f, fmt.Sprintf("there is no whole second from %s to %s", timeText(from), timeText(to))))
	}
	return f.Between(timeText(from), timeText(to))
}

func hasFourDigits(t time.Time) bool {
	year := t.UTC().Year()
	return t.IsZero() || year >= 1000 && year <= 9999
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

func consistsOf(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }
