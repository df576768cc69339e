package sandbox

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// renames are the words of a query that the deployed service replaces before
// its search engine sees them, in this order and wherever they stand.
var renames = []struct{ from, to string }{
	{"publicationYear", "publication_year"}, {"relatedIdentifiers", "related_identifiers"}, {"relatedItems", "related_items"},
	{"rightsList", "rights_list"}, {"fundingReferences", "funding_references"}, {"geoLocations", "geo_locations"},
	{"version:", "version_info:"}, {"landingPage", "landing_page"}, {"contentUrl", "content_url"},
	{"citationCount", "citation_count"}, {"viewCount", "view_count"}, {"downloadCount", "download_count"},
}

var publisherPart = regexp.MustCompile(`publisher\.(name|publisherIdentifier|publisherIdentifierScheme|schemeUri|lang)`)

// rewritten is a query as the deployed service's search engine gets it.
func rewritten(query string) string {
	for _, r := range renames {
		query = strings.ReplaceAll(query, r.from, r.to)
	}
	query = publisherPart.ReplaceAllString(query, "publisher_obj.$1")
	query = strings.ReplaceAll(query, "schemaVersion", "schema_version")
	query = strings.ReplaceAll(query, "/", `\/`)
	// Not part of the service: its index has identifiers of names, but not among
	// the fields that words are looked for in, so ours keeps them aside too.
	query = strings.ReplaceAll(query, "nameIdentifiers.", "name_identifiers.")
	return loosePhrases(query)
}

// loosePhrases lets the words of a phrase stand one place apart, as the
// deployed service does where a query does not say how far.
func loosePhrases(query string) string {
	var out strings.Builder
	quoted, ranged := false, false
	for i := 0; i < len(query); i++ {
		c := query[i]
		out.WriteByte(c)
		switch {
		case c == '\\' && i+1 < len(query):
			i++
			out.WriteByte(query[i])
		case !quoted && (c == '[' || c == '{'):
			ranged = true
		case !quoted && (c == ']' || c == '}'):
			ranged = false
		case c == '"' && !quoted:
			quoted = true
		case c == '"':
			quoted = false
			if rest := query[i+1:]; !ranged && !strings.HasPrefix(rest, "~") && !strings.HasPrefix(rest, "^") && !strings.HasPrefix(rest, ":") {
				out.WriteString("~1")
			}
		}
	}
	return out.String()
}

// indexNames are members that the deployed service's index has under another
// name than the record, and that it does not rename in queries.
var indexNames = map[string]string{
	"referenceCount": "reference_count", "partCount": "part_count", "partOfCount": "part_of_count",
	"versionCount": "version_count", "versionOfCount": "version_of_count", "metadataVersion": "metadata_version",
}

// indexed is a searchable record with the names of the deployed service's
// index. What the index does not have is found by no query.
func indexed(o object) object {
	o = maps.Clone(o)
	delete(o, "isActive")
	for name, as := range indexNames {
		o[as] = o[name]
		delete(o, name)
	}
	for _, name := range []string{"creators", "contributors"} {
		o[name] = aside(o[name])
	}
	return o
}

func aside(people any) any {
	list, ok := people.([]any)
	if !ok {
		return people
	}
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = p
		if person, ok := p.(object); ok && person["nameIdentifiers"] != nil {
			person = maps.Clone(person)
			person["name_identifiers"] = person["nameIdentifiers"]
			delete(person, "nameIdentifiers")
			out[i] = person
		}
	}
	return out
}

// anyFilter makes one filter of several.
func anyFilter(some []filter) filter {
	return func(rec *record) bool {
		return slices.ContainsFunc(some, func(f filter) bool { return f(rec) })
	}
}

// compositeMembers are left out of lists with the parameter composite.
var compositeMembers = []string{"contributors", "fundingReferences", "relatedIdentifiers", "geoLocations", "subjects"}

// indexedAt is the record as the search index has it at a moment: an older one,
// or nil, while the index lags behind.
func (rec *record) indexedAt(now time.Time) *record {
	for rec != nil && rec.shows.After(now) {
		rec = rec.before
	}
	if rec == nil || rec.gone {
		return nil
	}
	return rec
}

// lagging puts the record into the index after a while; the old one, which may
// be nil, is there until then.
func (rec *record) lagging(old *record, now time.Time, lag time.Duration) *record {
	rec.before, rec.shows = nil, time.Time{}
	if lag <= 0 {
		return rec
	}
	rec.before, rec.shows = old, now.Add(lag)
	if old != nil && !old.shows.After(now) {
		settled := *old
		settled.before = nil // nobody sees what was before
		rec.before = &settled
	}
	return rec
}
