package record

import (
	"maps"
	"time"
)

// indexNames are members that the deployed service's index has under another
// name than the record, and that it does not rename in queries.
var indexNames = map[string]string{
	"referenceCount": "reference_count", "partCount": "part_count", "partOfCount": "part_of_count",
	"versionCount": "version_count", "versionOfCount": "version_of_count", "metadataVersion": "metadata_version",
}

// Indexed is a searchable record with the names of the deployed service's
// index. What the index does not have is found by no query.
func Indexed(o object) object {
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

// IndexedAt is the record as the search index has it at a moment: an older one,
// or nil, while the index lags behind.
func (rec *Record) IndexedAt(now time.Time) *Record {
	for rec != nil && rec.shows.After(now) {
		rec = rec.before
	}
	if rec == nil || rec.Gone {
		return nil
	}
	return rec
}

// Lagging puts the record into the index after a while; the old one, which may
// be nil, is there until then.
func (rec *Record) Lagging(old *Record, now time.Time, lag time.Duration) *Record {
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
