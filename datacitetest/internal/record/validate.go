package record

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/datacite-go/datacite-go/datacitetest/internal/kernel"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// memberValue checks the type of an attribute and converts it to the record's
// form. A null clears the attribute.
func memberValue(name string, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch name {
	case "publisher":
		return asPublisher(v)
	case "publicationYear":
		return asYear(v)
	case "version":
		if n, ok := v.(float64); ok {
			return strconv.FormatFloat(n, 'f', -1, 64), nil
		}
		return asText(v)
	case "language", "schemaVersion":
		return asText(v)
	case "types":
		return asTypes(v)
	case "container":
		return asObject(v)
	case "sizes", "formats":
		return listOf(v, asText)
	case "contentUrl":
		return v, nil
	case "creators", "contributors":
		return listOf(v, asPerson)
	}
	return listOf(v, asObject)
}

func asText(v any) (any, error) {
	if _, ok := v.(string); !ok {
		return nil, errors.New("should be a string")
	}
	return v, nil
}

func asObject(v any) (any, error) {
	if _, ok := v.(object); !ok {
		return nil, fmt.Errorf("should be an object instead of %s", kindName(v))
	}
	return v, nil
}

func kindName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case nil:
		return "null"
	}
	return "an object"
}

func listOf(v any, item func(any) (any, error)) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("should be a list instead of %s", kindName(v))
	}
	out := make([]any, len(list))
	for i, v := range list {
		var err error
		if out[i], err = item(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func asPublisher(v any) (any, error) {
	if name, ok := v.(string); ok {
		return object{"name": name}, nil
	}
	return asObject(v)
}

func asYear(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return float64(n), nil
		}
	}
	return nil, errors.New("should be a year")
}

// asTypes adds what the service derives from the general type.
func asTypes(v any) (any, error) {
	types, ok := v.(object)
	if !ok {
		return asObject(v)
	}
	return typesOf(object{"resourceTypeGeneral": wire.String(types["resourceTypeGeneral"]), "resourceType": wire.String(types["resourceType"])}), nil
}

func asPerson(v any) (any, error) {
	person, ok := v.(object)
	if !ok {
		return asObject(v)
	}
	for _, name := range []string{"nameIdentifiers", "affiliation"} {
		switch person[name].(type) {
		case nil:
			person[name] = []any{}
		case []any:
		default:
			return nil, fmt.Errorf("%s should be a list instead of %s", name, kindName(person[name]))
		}
	}
	return person, nil
}

// Wrongs lists what is wrong with a record. A draft may be incomplete; a
// registered or findable DOI needs a URL and all mandatory properties.
func (rec *Record) Wrongs(account *Account) []Wrong {
	var all []Wrong
	if rec.URL != "" {
		if why := account.Refusal(rec.URL); why != "" {
			all = append(all, Wrong{"url", why})
		}
	}
	if rec.State == Draft {
		return all
	}
	if rec.URL == "" {
		all = append(all, Wrong{"url", "Can't be blank"})
	}
	for _, name := range Missing(rec.Attributes) {
		all = append(all, Wrong{name, "Can't be blank"})
	}
	return append(all, unlisted(rec.Attributes)...)
}

// Missing names the mandatory properties that a record lacks.
func Missing(o object) []string {
	var names []string
	for _, name := range []string{"creators", "titles"} {
		if items, _ := o[name].([]any); len(items) == 0 {
			names = append(names, name)
		}
	}
	publisher := nameOrObject(o["publisher"], false)
	types, _ := o["types"].(object)
	if wire.String(publisher) == "" {
		names = append(names, "publisher")
	}
	if o["publicationYear"] == nil {
		names = append(names, "publicationYear")
	}
	if wire.String(types["resourceTypeGeneral"]) == "" {
		names = append(names, "types")
	}
	return names
}

// unlisted finds values that are not in the controlled list of their member.
func unlisted(o object) []Wrong {
	var all []Wrong
	for _, name := range metadataMembers {
		inside(o[name], func(member, value string) {
			if value != "" && !kernel.IsListed(member, value) {
				all = append(all, Wrong{name, fmt.Sprintf("%s %q is not an element of the set", member, value)})
			}
		})
	}
	return all
}

// inside visits all strings that are members of objects in v.
func inside(v any, visit func(member, value string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			inside(item, visit)
		}
	case object:
		for member, value := range v {
			if s, ok := value.(string); ok {
				visit(member, s)
			}
			inside(value, visit)
		}
	}
}
