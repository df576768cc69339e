package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

type kind uint8

const (
	exact  kind = iota // compared as a whole
	folded             // as a whole, ignoring case
	text               // word by word, ignoring case
	number
	date
	year
)

func (k kind) String() string {
	return [...]string{"keyword", "keyword", "text", "integer", "date", "date"}[k]
}

// field is a place of values in a record.
type field struct {
	name  string
	kind  kind
	path  []string // leads through arrays
	boost float64
}

const existsField = "_exists_"

// mapping is what the deployed service's index can look into: the properties of a record,
// and what is made of them. Nothing else is found by any query.
var mapping = sync.OnceValue(func() map[string]field {
	fields := mapped(map[kind]string{
		exact: `- identifier client_id provider_id consortium_id resource_type_id person_id affiliation_id organization_id funder_rors
				resource_type_id_and_name is_active aasm_state metadata_version agency source prefix suffix reference_ids citation_ids part_ids
				part_of_ids version_ids version_of_ids publisher.keyword
			primary_title title.keyword titleType lang
			client id symbol provider_id name.keyword language client_type is_active
				url.keyword subjects.subjectScheme subjects.subject subjects.schemeUri subjects.valueUri subjects.lang subjects.classificationCode
			provider id symbol name.keyword display_name.keyword region member_type ror_id`,
		folded: `- id uid doi
			primary_title title.raw
			client,provider uid name.raw`,
		text: `- creator_names publisher reason
			primary_title title
			client name alternate_name description url domains
			provider name display_name description`,
		number: `- view_count download_count reference_count citation_count part_count part_of_count version_count version_of_count
			client year`,
		date: `- registered published created updated
			client created updated`,
	})
	addProperties(fields, "", record.Properties())
	addProperties(fields, "creators_and_contributors.", record.Find("contributors").Inside)
	name := "creators_and_contributors.affiliation.name"
	fields[name] = newField(name, exact) // only in the index
	return fields
})

// unsupported are further fields of that index.
var unsupported = sync.OnceValue(func() []string {
	return strings.Fields(`fair_affiliation_id fair_affiliation_id_and_name fair_organization_id related_dmp_organization_id funder_parent_rors
	affiliation_countries affiliation_id_and_name client_id_and_name provider_id_and_name fields_of_science fields_of_science_repository
	fields_of_science_combined has_enrichments client.re3data_id client.opendoar_id client.repository_type client.certificate`)
})

// kinds are the kinds of fields by their name in the table of properties.
var kinds = map[string]kind{"keyword": exact, "lower": folded, "text": text, "text+": text, "number": number,
	"date": date, "year": year}

func addProperties(fields map[string]field, before string, of []*record.Property) {
	for _, p := range of {
		name := before + p.Name
		switch {
		case name == "publisher":
			name = "publisher_obj"
		case name == "version":
			name = "version_info"
		case before == "":
			name = names.Underscored(name)
		}
		if p.Index != "" {
			fields[name] = newField(name, kinds[p.Index])
		}
		if p.Index == "text+" {
			fields[name+".keyword"] = newField(name+".keyword", exact)
		}
		addProperties(fields, name+".", p.Inside)
	}
}

// beyond are the fields that only the specification's queries search, because they follow
// the structure of the JSON record. They also search unknown names.
var beyond = sync.OnceValue(func() map[string]field {
	return mapped(map[kind]string{
		exact: `- state version isActive
		alternateIdentifiers alternateIdentifierType`,
		folded: `alternateIdentifiers alternateIdentifier`,
		number: `- metadataVersion`,
	})
})

// mapped reads lines of objects and their members; "-" is the record itself. An
// indented line continues the one before.
func mapped(lists map[kind]string) map[string]field {
	fields := map[string]field{}
	for k, list := range lists {
		var objects []string
		for line := range strings.Lines(list) {
			words := strings.Fields(line)
			if !strings.HasPrefix(line, "\t\t\t\t") {
				objects, words = strings.Split(words[0], ","), words[1:]
			}
			for _, object := range objects {
				for _, name := range words {
					f := newField(strings.TrimPrefix(object+"."+name, "-."), k)
					fields[f.name] = f
				}
			}
		}
	}
	return fields
}

// newField makes a field. A text may also be indexed as a whole, as another field.
func newField(name string, k kind) field {
	path := strings.Split(name, ".")
	if last := path[len(path)-1]; last == "keyword" || last == "raw" {
		path = path[:len(path)-1]
	}
	return field{name: name, kind: k, path: path, boost: 1}
}

// The fields that a clause without a field searches: those of specification
// §4.2.1(2), and those of the deployed service, except creators.id, which its
// index lacks.
var (
	commonFields = sync.OnceValue(func() []field {
		return some("uid", 1, "titles.title", 1, "creators.name", 1, "creators.nameIdentifiers.nameIdentifier", 1,
			"publisher", 1,
			"descriptions.description", 1, "subjects.subject", 1, "related_identifiers.relatedIdentifier", 1)
	})
	indexFields = sync.OnceValue(func() []field {
		return some("uid", 50, "related_identifiers.relatedIdentifier", 3, "titles.title", 3, "creator_names", 3, "publisher",
			3,
			"descriptions.description", 3, "subjects.subject", 3)
	})
)

func some(namesAndBoosts ...any) (fields []field) {
	for pair := range slices.Chunk(namesAndBoosts, 2) {
		f := mapping()[pair[0].(string)]
		f.boost = float64(pair[1].(int))
		fields = append(fields, f)
	}
	return fields
}

// fieldsOf are the fields of a name in a query, the common ones without a name.
func fieldsOf(name string, deployed bool) ([]field, error) {
	switch {
	case name == "" && deployed:
		return indexFields(), nil
	case name == "":
		return commonFields(), nil
	case strings.Contains(name, "*"):
		return nil, wire.QueryFields.Refusal(name)
	case slices.Contains(unsupported(), name):
		return nil, wire.QueryField.Refusal(name)
	}
	return fieldNamed(name, deployed), nil
}

func fieldNamed(name string, deployed bool) []field {
	f, known := mapping()[name]
	if !deployed && !known {
		as := spelled(name)
		if f, known = mapping()[as]; !known {
			if f, known = beyond()[as]; !known {
				f, known = newField(as, exact), true
			}
		}
	}
	if !known {
		return nil
	}
	f.name = name
	return []field{f}
}

// isObject says whether a name is that of an object of the index.
func isObject(name string) bool {
	for known := range mapping() {
		if strings.HasPrefix(known, name+".") {
			return true
		}
	}
	return false
}

// spelled is a name in the record as the index has it: publicationYear is
// publication_year there.
func spelled(name string) string {
	if _, as := beyond()[name]; as {
		return name
	}
	object, rest, inside := strings.Cut(name, ".")
	object = names.Underscored(object)
	switch {
	case !inside:
		return object
	case object == "publisher":
		object = "publisher_obj"
	case rest == "affiliation":
		rest = "affiliation.name" // a record may have plain strings there
	}
	return object + "." + rest
}

// First is the first value that a record has in a field of the index.
func First(record map[string]any, name string) (value string, found bool) {
	f := mapping()[name]
	found = reach(record, f.path, func(v any) (ok bool) {
		value, ok = scalar(v)
		return ok
	})
	if f.kind == folded {
		value = strings.ToLower(value)
	}
	return value, found
}

// reach follows a path through objects and arrays and tests the values at its
// end, which may be objects.
func reach(v any, path []string, t func(any) bool) bool {
	switch v := v.(type) {
	case nil:
		return false
	case []any:
		for _, item := range v {
			if reach(item, path, t) {
				return true
			}
		}
		return false
	case map[string]any:
		if len(path) > 0 {
			return reach(v[path[0]], path[1:], t)
		}
	}
	return len(path) == 0 && t(v)
}

// hasValue says whether v contains anything but null.
func hasValue(v any) bool {
	object, ok := v.(map[string]any)
	if !ok {
		return true
	}
	for _, member := range object {
		if reach(member, nil, hasValue) {
			return true
		}
	}
	return false
}

// scalar is a value as text, "" for objects.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case map[string]any:
		return "", false
	}
	return fmt.Sprint(v), true
}
