package display

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Resolve returns the DOI that the service reads in an identifier, and the DOI of the record
// that displays its counts. Both are in lower case, unusual characters of the first are
// percent-encoded, and they are "" if there is none (rules 13 to 15).
func Resolve(id string) (name, record string) {
	rest, address := strings.CutPrefix(id, "https://")
	if !address {
		rest, address = strings.CutPrefix(id, "http://")
	}
	if address {
		rest = strings.TrimPrefix(rest, "dx.")
		if len(rest) < 8 || rest[:3] != "doi" || rest[4:8] != "org/" { // the service accepts any byte as the dot
			return "", ""
		}
		rest = rest[8:]
	}
	rest = strings.TrimPrefix(rest, "doi:")
	if !readable(rest) || strings.Contains(rest, "\n") {
		return "", ""
	}
	name = strings.ToLower(strings.ReplaceAll(rest, "\u200b", ""))
	end := 0
	for end < len(name) && plain[name[end]] {
		end++
	}
	if end == len(name) {
		return name, name
	}
	record = name[:end]
	if c := name[end]; c != '#' && c != '?' || strings.HasSuffix(record, "/") && strings.Count(record, "/") == 1 {
		record = ""
	}
	return percentEncoded(name), record
}

// AsWritten reports whether an identifier is a bare DOI whose record displays its counts, as
// most are. It is faster than Resolve.
func AsWritten(id string) bool {
	if !readable(id) {
		return false
	}
	for i := range len(id) {
		if !plain[id[i]] {
			return false
		}
	}
	return true
}

// Readable returns the identifiers of a dataset so that the service finds the DOI: first, and
// bare if the service does not read its spelling. It returns ids itself if no change is needed,
// or none would help. Fields has the type and the value of an identifier.
func Readable[ID any](ids []ID, fields func(*ID) (kind, value *string)) (readable []ID, changed bool) {
	for at := range ids {
		kind, value := fields(&ids[at])
		if !strings.EqualFold(*kind, "doi") {
			continue
		}
		if at == 0 && AsWritten(*value) {
			return ids, false
		}
		name, err := doi.Parse(*value)
		want, record := Resolve(name)
		got, _ := Resolve(*value)
		if err != nil || record == "" || at == 0 && got == want {
			return ids, false
		}
		first := ids[at]
		if got != want {
			_, value = fields(&first)
			*value = name
		}
		return slices.Insert(slices.Delete(slices.Clone(ids), at, at+1), 0, first), true
	}
	return ids, false
}

// readable reports whether a text begins with "10.", four or five digits, a slash, and more
// text.
func readable(text string) bool {
	digits, ok := strings.CutPrefix(text, "10.")
	at := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	return ok && (at == 4 || at == 5) && digits[at] == '/' && len(digits) > at+1
}

// plain are the characters of a DOI that the service does not percent-encode.
var plain = func() (plain [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/" {
		plain[c] = true
	}
	return plain
}()

func percentEncoded(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; plain[c] || c == '#' || c == '?' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

var day = lazy.Regexp(`^([0-9]{4})-([0-9]{1,2})-[0-9]{1,2}`)

// Month is the month under which the counts of a report are displayed, such as "2026-10": that
// of its begin date in UTC (rule 5). It is "" if that is no date.
func Month(begin string) string {
	for _, layout := range []string{"2006-1-2T15:04:05Z07:00", "2006-1-2"} {
		if t, err := time.Parse(layout, begin); err == nil {
			return t.UTC().Format("2006-01")
		}
		begin = day().FindString(begin)
	}
	return ""
}

// WrittenMonth is the month that a date names, whatever its time zone.
func WrittenMonth(date string) string {
	parts := day().FindStringSubmatch(date)
	switch {
	case parts == nil:
		return date[:min(len(date), len("2006-01"))]
	case len(parts[2]) == 1:
		return parts[1] + "-0" + parts[2]
	}
	return parts[1] + "-" + parts[2]
}
