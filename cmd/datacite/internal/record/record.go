// Package record reads records in DataCite JSON, as all commands do that take them from files.
package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A Source is what a record of a file says.
type Source struct {
	*dois.Record // its State is the wanted one, by the members state and event

	// Prefix is what the record wants a new name below, if it has none.
	Prefix string

	// Clear are the properties of the metadata that the record has without a value (null, "" and the like), by the
	// names of the service: they are to be empty, and so are those with an empty list. A property that it does not have is
	// not spoken of, nor is a list of empty items: the service shows places like that which only its XML has.
	Clear []string

	// Left are warnings about what the service has no place for, or cannot be read.
	Left []datacite.Finding
}

// Read reads what a record says beside its metadata. An error is about what only looks like a record, or
// contradicts itself.
func Read(r *dois.Record) (*Source, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	var members map[string]any
	if err := json.Unmarshal(r.Raw, &members); err != nil {
		return nil, err
	}
	if err := checkName(r, members["identifiers"]); err != nil {
		return nil, err
	}
	s := &Source{Record: r}
	if err := s.obey(members["event"]); err != nil {
		return nil, err
	}
	switch prefix, _, _ := strings.Cut(r.DOI, "/"); {
	case r.DOI == "":
		s.Prefix = r.Prefix
	case r.Prefix != "" && r.Prefix != prefix && doi.CheckPrefix(prefix) == nil:
		return nil, fmt.Errorf("prefix: is %q, and the record is %s; leave one of them out", r.Prefix, r.DOI)
	}
	s.compareLists(members)
	if list, ok := members["identifiers"]; ok && (members["alternateIdentifiers"] == nil || !isEmpty(list)) {
		members["alternateIdentifiers"] = list // the same under another name
	}
	s.clear(members)
	var strange []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !known()[name] && !isEmpty(members[name]) {
			strange = append(strange, name)
			s.Left = append(s.Left, datacite.Finding{Path: name, Code: datacite.CodeShape, Warning: true,
				Reason: "the value has no place in a record, and is left out"})
		}
	}
	if !r.Has("titles") && 2*len(strange) > len(members) { // such as CodeMeta and what Zenodo, InvenioRDM and CKAN write
		return nil, fmt.Errorf("this is not DataCite's JSON: most of its members have no place in a record, such as "+
			"%.300s; datacite get --json shows what a record looks like", strings.Join(strange, ", "))
	}
	s.Left = append(s.Left, r.Warnings...)
	return s, nil
}

// Desired is what the DOI of the record should be. A container that the service finds in the metadata is not
// compared with another one.
func (s *Source) Desired() reconcile.Desired {
	d := reconcile.Desired{DOI: s.DOI, URL: s.URL, State: s.State, Metadata: &s.Record.Record, Clear: s.Clear,
		ContentURL: s.ContentURL}
	if s.Has("contentUrl") && d.ContentURL == nil {
		d.ContentURL = []string{}
	}
	isSeries := len(s.RelatedItems) > 0 || slices.ContainsFunc(s.Descriptions, func(d metadata.Description) bool {
		return d.DescriptionType == metadata.DescriptionSeriesInformation
	})
	if s.Has("container") && !isSeries {
		d.Container = &s.Container
	}
	return d
}

// compareLists warns of alternate identifiers that only one of their two lists has: whoever changed the other one may
// have meant to remove them.
func (s *Source) compareLists(members map[string]any) {
	if isEmpty(members["identifiers"]) || isEmpty(members["alternateIdentifiers"]) {
		return
	}
	for _, name := range []string{"identifiers", "alternateIdentifiers"} {
		text, err := json.Marshal(map[string]any{"doi": s.DOI, name: members[name]})
		if err != nil {
			return // never: it was read from JSON
		}
		alone, err := metadata.ParseJSON(bytes.NewReader(text))
		if err == nil && len(alone.AlternateIdentifiers) > 0 &&
			!slices.Equal(alone.AlternateIdentifiers, s.AlternateIdentifiers) {
			s.Left = append(s.Left, datacite.Finding{Path: "identifiers", Code: datacite.CodeConflict, Warning: true,
				Reason: "is another list than alternateIdentifiers, and the record gets the names of both; leave one of them out"})
			return
		}
	}
}

// clear finds the properties without a value, and leaves nothing of them in the record.
func (s *Source) clear(members map[string]any) {
	for field, value := range reflect.ValueOf(&s.Record.Record).Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if given, ok := members[name]; ok && isEmpty(given) && !slices.Contains([]string{"doi", "schemaVersion"}, name) {
			value.SetZero()
			switch list, isList := given.([]any); {
			case !isList:
				s.Clear = append(s.Clear, name)
			case len(list) == 0 && value.Kind() == reflect.Slice: // as the service shows what only its XML has
				value.Set(reflect.MakeSlice(value.Type(), 0, 0))
			case slices.ContainsFunc(list, hasMembers):
				s.Left = append(s.Left, datacite.Finding{Path: name, Code: datacite.CodeShape, Warning: true,
					Reason: "the items have no value, and are left out; write [] to empty the list"})
			}
		}
	}
}

// hasMembers reports whether an item of a list is an object with members, which the service does not show for what only
// its XML has.
func hasMembers(item any) bool {
	object, _ := item.(map[string]any)
	return len(object) > 0
}

// checkName refuses a record with another DOI in its list of identifiers, where DataCite's schema has the name.
// The list may have more DOIs beside that.
func checkName(r *dois.Record, identifiers any) error {
	list, _ := identifiers.([]any)
	var err error
	for i, one := range list {
		one, _ := one.(map[string]any)
		name, parse := doi.Parse(fmt.Sprint(one["identifier"]))
		switch {
		case parse != nil || one["identifierType"] != string(metadata.IdentifierDOI):
		case doi.Same(name, r.DOI):
			return nil
		default:
			err = fmt.Errorf("identifiers[%d]: is %q, and the DOI of the record is %q; a record has one name", i, name, r.DOI)
		}
	}
	return err
}

// check is an error for an object that only looks like a record: what commands print with --json
// about a DOI has its name, its URL and the service, and Citeproc JSON writes DOI. Taken for records, they would
// be ones without metadata.
func check(r *dois.Record) error {
	what := ""
	switch {
	case r.Has("titles"):
	case r.Has("service"):
		what = "what a command printed with --json"
	case r.Has("DOI"):
		what = "Citeproc JSON"
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s: this is %s, not a record; datacite get --json and datacite harvest write records", r.DOI, what)
}

// obey makes an event, which the service's guide writes into records, the wanted state.
func (s *Source) obey(event any) error {
	if isEmpty(event) {
		return nil
	}
	name, _ := event.(string)
	state := map[dois.Event]datacite.State{
		dois.EventPublish: datacite.StateFindable, dois.EventRegister: datacite.StateRegistered,
		dois.EventHide: datacite.StateRegistered}[dois.Event(name)]
	switch {
	case state == "":
		return fmt.Errorf("event: is %.40q; it may be publish, register or hide", fmt.Sprint(event))
	case s.State != "" && s.State != state:
		return fmt.Errorf("event: is %q, and state is %q; leave one of them out", name, s.State)
	}
	s.State = state
	return nil
}

// known are the members that a record may have, and those that name it or say what becomes of it.
var known = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{"id": true, "identifiers": true, "event": true, "landingPage": true}
	var add func(reflect.Type)
	add = func(of reflect.Type) {
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if names[name] = true; field.Anonymous {
				add(field.Type)
			}
		}
	}
	add(reflect.TypeFor[dois.Record]())
	return names
})

// isEmpty reports whether a value of JSON says nothing.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(value) == ""
	case []any:
		return !slices.ContainsFunc(value, func(one any) bool { return !isEmpty(one) })
	case map[string]any:
		return isEmpty(slices.Collect(maps.Values(value)))
	}
	return false
}
