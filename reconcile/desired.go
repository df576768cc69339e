package reconcile

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

// Desired is a DOI as it should be. What it does not say stays as it is, and is not compared.
type Desired struct {
	DOI   string         // in any spelling
	URL   string         // "" leaves it as it is
	State datacite.State // "" leaves it as it is; a new DOI becomes a draft

	// Metadata are properties as they should be. A property without a value stays as it is, and an
	// empty list that is not nil removes one. A list takes the place of the stored one; what only the stored XML had of
	// it is in Outcome.Changes, and after the write in the warnings of Outcome.Record. The DOI must be the same or empty.
	Metadata *metadata.Record

	// Clear names properties to remove, as in JSON, such as "version": an empty list in Metadata removes
	// what the service shows in its JSON, and Clear also what only the stored XML has, such as several
	// polygons of one place.
	Clear []string

	// Whole says that Metadata is the whole record: properties without a value are removed.
	Whole bool

	// XML is the whole record as XML, in place of Metadata, Clear and Whole. It is compared with the stored XML,
	// and written as it is.
	XML []byte

	ContentURL []string // where the content itself is; nil leaves it as it is
	// Container: an empty one removes it; leave it nil where the service derives it from series
	// information or related items
	Container *dois.Container

	// New: the name was made now, and nobody can have it, so Ensure does not look for it before it
	// creates the DOI.
	New bool

	// Audited is the record with which this was compared: [Difference].Found. If the DOI has changed since, and is
	// still not as desired, it is left unchanged: [datacite.ErrConflict].
	Audited *dois.Record `json:"-"`

	Place string // place in the source for messages, such as "line 3"; "" means its number
}

// properties are the places of the properties in [metadata.Record], by their names in JSON.
var properties, propertyNames = func() (map[string]int, []string) {
	all, names := map[string]int{}, []string{}
	for field := range reflect.TypeFor[metadata.Record]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !slices.Contains([]string{"doi", "schemaVersion"}, name) {
			all[name], names = field.Index[0], append(names, name)
		}
	}
	return all, names
}()

// propertyOf is the property in which a path begins.
func propertyOf(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		path = path[:end]
	}
	if path == "identifiers" { // the other name in JSON
		return "alternateIdentifiers"
	}
	return path
}

// field is a property of a record.
func field(r *metadata.Record, name string) reflect.Value {
	return reflect.ValueOf(r).Elem().Field(properties[name])
}

// A request is a Desired that was checked, on its way to be compared.
type request struct {
	Desired
	name   string // of the DOI, normalized
	number int    // in the source
}

func (r *request) place() string { return cmp.Or(r.Place, fmt.Sprintf("desired[%d]", r.number)) }

// path names a field.
func (r *request) path(field string) string {
	if r.Place == "" {
		return r.place() + "." + field
	}
	return r.place() + ", " + field
}

// newRequest checks a Desired. The number is that in the source.
func newRequest(d Desired, number int) (*request, error) {
	r := &request{Desired: d, number: number}
	name, err := parseName(r.path("DOI"), d.DOI)
	if err != nil {
		return r, err
	}
	r.name = doi.Normal(name)
	if len(d.XML) > 0 {
		if d.Metadata != nil || d.Clear != nil || d.Whole {
			return r, datacite.Invalidf(r.path("XML"), datacite.CodeConflict,
				"is the whole record, and Metadata, Clear or Whole are set as well")
		}
		if r.Metadata, err = metadata.ParseXML(bytes.NewReader(d.XML)); err != nil {
			return r, datacite.Invalidf(r.path("XML"), datacite.CodeSyntax, "is not a DataCite record: %w", err)
		}
		r.Whole = true
	}
	if r.Metadata != nil && r.Metadata.DOI != "" && !doi.Equal(r.Metadata.DOI, name) {
		return r, datacite.Invalidf(r.path("DOI"), datacite.CodeConflict,
			"is %q, but its metadata have %q", name, r.Metadata.DOI)
	}
	for _, property := range d.Clear {
		if _, known := properties[property]; !known {
			return r, datacite.Invalidf(r.path("Clear"), datacite.CodeVocabulary,
				"has %q; the properties are %s", property, strings.Join(propertyNames, ", "))
		}
		if d.Metadata != nil && !field(normal(d.Metadata), property).IsZero() {
			return r, datacite.Invalidf(r.path("Clear"), datacite.CodeConflict,
				"removes %s, of which Metadata has a value", property)
		}
	}
	switch d.State {
	case "", datacite.StateDraft, datacite.StateRegistered, datacite.StateFindable:
		return r, nil
	}
	return r, datacite.Invalidf(r.path("State"), datacite.CodeVocabulary,
		"is %q; the states are draft, registered and findable", string(d.State))
}

func parseName(path, text string) (string, error) {
	name, err := doi.Parse(text)
	return name, doi.At(path, err)
}

// normal returns a record without what no correction is about.
func normal(r *metadata.Record) *metadata.Record {
	whole := *r
	whole.Types = metadata.Types{ResourceTypeGeneral: r.Types.ResourceTypeGeneral, ResourceType: r.Types.ResourceType}
	whole.DOI, whole.SchemaVersion = "", ""
	return &whole
}

// says reports whether something is said of a property.
func (d *Desired) says(name string) bool {
	if d.Whole || slices.Contains(d.Clear, name) {
		return true
	}
	return !field(d.Metadata, name).IsZero()
}

// over returns what the record should be: the stored one, with the properties of which
// something is said.
func (d *Desired) over(stored *metadata.Record) *metadata.Record {
	whole := normal(stored)
	if d.Metadata == nil {
		d = &Desired{Clear: d.Clear, Metadata: &metadata.Record{}}
	}
	said := normal(d.Metadata)
	for name := range properties {
		if d.says(name) {
			field(whole, name).Set(field(said, name))
		}
	}
	return whole
}
