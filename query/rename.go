package query

import "strings"

// The deployed service edits the text of a query before it parses it: it replaces names
// of attributes by the names of its index, even in values, and puts a backslash before
// every slash. To keep such a name in a value, a backslash is written before one of its
// characters, the pivot: the service no longer finds the name, and the parser drops the
// backslash.

// renames are the names that the service replaces, cut at the pivot.
var renames = [...]struct{ before, from, to string }{
	{"publication", "Year", "publication_year"},
	{"related", "Identifiers", "related_identifiers"},
	{"related", "Items", "related_items"},
	{"rights", "List", "rights_list"},
	{"funding", "References", "funding_references"},
	{"geo", "Locations", "geo_locations"},
	{"version", ":", "version_info:"},
	{"landing", "Page", "landing_page"},
	{"content", "Url", "content_url"},
	{"citation", "Count", "citation_count"},
	{"view", "Count", "view_count"},
	{"download", "Count", "download_count"},
	{"publisher", ".name", "publisher_obj.name"},
	{"publisher", ".publisherIdentifier", "publisher_obj.publisherIdentifier"},
	{"publisher", ".schemeUri", "publisher_obj.schemeUri"},
	{"publisher", ".lang", "publisher_obj.lang"},
	{"schema", "Version", "schema_version"},
}

// pivots are the characters that can be a pivot.
var pivots = func() (t [256]bool) {
	for _, r := range renames {
		t[r.from[0]] = true
	}
	return t
}()

// renamed reports whether s[i] is the pivot of a name that the service
// replaces, and where that name begins and ends.
func renamed(s string, i int) (start, end int, ok bool) {
	for _, r := range renames {
		if strings.HasPrefix(s[i:], r.from) && strings.HasSuffix(s[:i], r.before) {
			return i - len(r.before), i + len(r.from), true
		}
	}
	return 0, 0, false
}

// renameFields and withSlashes are the two edits of the deployed service.
func renameFields(text string) string {
	for _, r := range renames {
		text = strings.ReplaceAll(text, r.before+r.from, r.to)
	}
	return text
}

func withSlashes(text string) string { return strings.ReplaceAll(text, "/", `\/`) }
