package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/deepcopy"
	"github.com/datacite-go/datacite-go/metadata"
)

// An Adapter changes what is desired by what was found, such as by adding what its source cannot
// say, or by choosing the state. found is nil if the DOI does not exist. The Desired is a copy for this call
// alone. A record is stored in two forms, as XML and as JSON, and the Adapter is called for each of them,
// with its metadata in found, which it must not change.
type Adapter func(d *Desired, found *dois.Record) error

// A comparison is a request beside what was found.
type comparison struct {
	*request
	Desired              // as adapted to the JSON
	found   *dois.Record // nil if the DOI does not exist
	changes []metadata.Change
	unseen  []metadata.Change // those of them that remove what only the stored XML has

	xml         *metadata.Record // what the stored XML says; nil if there is none that can be read
	unreadable  error            // why it cannot be read
	asJSON      *metadata.Record // what the record should be, with what the JSON says else
	asXML       *metadata.Record // the same, with what the XML says else
	isFromXML   bool             // the source is XML
	isOldSchema bool             // what is stored
}

// compare compares a request with what was found.
func (r *request) compare(found *dois.Record, adapt Adapter) (c *comparison, err error) {
	c = &comparison{request: r, found: found}
	if c.Desired, err = r.adapted(found, adapt); err != nil || found == nil {
		return c, err
	}
	c.isFromXML, c.isOldSchema = len(c.XML) > 0, oldSchema(found)
	c.compareAttributes()
	if c.Metadata == nil && len(c.Clear) == 0 {
		return c, nil
	}
	c.asJSON = c.over(&found.Record)
	if c.isFromXML {
		c.readXML()
		c.changes = append(c.changes, c.compareXML()...)
		return c, nil
	}
	changes := metadata.Diff(c.shown(c.asJSON), c.shown(&found.Record))
	emptied := c.emptied()
	invisible := hasInvisible(found.MetadataXML)
	// What the JSON does not show.
	inXML := c.Metadata != nil && needsXML(pick(c.Metadata, refusedInJSON), datacite.CodeJSON)
	if len(changes) == 0 && !invisible && emptied == nil && !inXML {
		return c, nil
	}
	if err := c.adaptXML(adapt); err != nil {
		return c, err
	}
	if c.xml != nil {
		for _, name := range propertyNames {
			if !sameJSON(field(c.asJSON, name), field(normal(&found.Record), name)) {
				keepItems(name, c.asXML, &found.Record, c.xml)
			}
		}
	}
	if inXML && c.xml != nil {
		onlyXML := metadata.DiffXML(pick(c.asXML, refusedInJSON), pick(c.xml, refusedInJSON))
		c.changes = append(c.changes, slices.DeleteFunc(onlyXML, func(change metadata.Change) bool {
			return change.Desired == "" || concerns(changes, propertyOf(change.Path))
		})...)
	}
	for _, change := range changes {
		name := propertyOf(change.Path)
		if c.xml == nil || !sameJSON(field(c.asXML, name), field(normal(c.xml), name)) &&
			!sameJSON(field(c.asJSON, name), field(normal(&found.Record), name)) ||
			slices.Contains(sticky, name) && isEmpty(field(c.asJSON, name)) {
			c.changes = append(c.changes, change)
		}
	}
	if invisible && c.xml != nil {
		c.changes = append(c.changes, c.invisible()...)
	}
	for _, name := range emptied {
		if c.asXML == nil || isEmpty(field(c.asXML, name)) {
			c.changes = append(c.changes, c.removal(name, c.changes)...)
		}
	}
	for _, name := range c.metadataChanges() {
		c.unseen = append(c.unseen, c.unseenIn(name)...)
	}
	c.changes = append(c.changes, c.unseen...)
	return c, nil
}

// refusedInJSON are the properties with values that the service refuses as JSON: findings with the code json.
var refusedInJSON = []string{"publicationYear", "language", "geoLocations"}

// emptied are the properties that are to be empty, and of which the JSON has something, or may have less than the XML.
func (c *comparison) emptied() (names []string) {
	for _, name := range propertyNames {
		isList := field(c.asJSON, name).Kind() == reflect.Slice
		if isEmpty(field(c.asJSON, name)) && (!isEmpty(field(normal(&c.found.Record), name)) ||
			isList && slices.Contains(c.Clear, name)) {
			names = append(names, name)
		}
	}
	return names
}

// removal are the changes that leave nothing of a property in either form, beside the changes that are known: of values
// that are only in the XML, and of empty ones.
func (c *comparison) removal(name string, known []metadata.Change) []metadata.Change {
	if concerns(known, name) {
		return nil
	}
	stored := normal(cmpRecord(c.xml))
	if changes := metadata.DiffXML(&metadata.Record{}, pick(stored, []string{name})); len(changes) > 0 {
		return changes
	}
	for _, r := range []*metadata.Record{stored, normal(&c.found.Record)} {
		if value := field(r, name); hasBlanks(value) {
			return []metadata.Change{{Path: name, Found: fmt.Sprintf("%q", value)}}
		}
	}
	return nil
}

// hasBlanks reports whether a list has nothing but items without a value.
func hasBlanks(list reflect.Value) bool {
	if list.Kind() != reflect.Slice {
		return false
	}
	for i := range list.Len() {
		if !list.Index(i).IsZero() {
			return false
		}
	}
	return list.Len() > 0
}

// isInvisible finds characters such as a zero-width space.
func isInvisible(r rune) bool { return r > unicode.MaxASCII && unicode.Is(unicode.Cf, r) }

// visible is a text without its invisible characters.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, text)
}

func hasInvisible(text []byte) bool {
	for i, c := range text {
		if c > unicode.MaxASCII {
			return bytes.ContainsFunc(text[i:], isInvisible)
		}
	}
	return false
}

// invisible are the changes that remove invisible characters, which only the stored XML has: the service shows
// the identifiers without them.
func (c *comparison) invisible() []metadata.Change {
	return slices.DeleteFunc(metadata.DiffXML(c.asXML, normal(c.xml)), func(change metadata.Change) bool {
		return !strings.ContainsFunc(change.Found, isInvisible) || strings.ContainsFunc(change.Desired, isInvisible) ||
			slices.Contains(c.changes, change)
	})
}

// adapted is what is desired beside a record.
func (r *request) adapted(found *dois.Record, adapt Adapter) (Desired, error) {
	plain := r.Desired
	plain.Audited = nil
	if adapt == nil {
		return plain, nil
	}
	d := deepcopy.Of(&plain)
	return *d, adapt(d, found)
}

func (c *comparison) compareAttributes() {
	add := func(path, desired, found string) {
		c.changes = append(c.changes, metadata.Change{Path: path, Desired: desired, Found: found})
	}
	if c.URL != "" && c.URL != c.found.URL {
		add("url", c.URL, c.found.URL)
	}
	if c.State != "" && c.State != c.found.State {
		add("state", string(c.State), string(c.found.State))
	}
	if c.ContentURL != nil && !slices.Equal(c.ContentURL, c.found.ContentURL) {
		add("contentUrl", strings.Join(c.ContentURL, " "), strings.Join(c.found.ContentURL, " "))
	}
	if c.Container != nil && !reflect.DeepEqual(*c.Container, c.found.Container) {
		add("container", c.Container.Title, c.found.Container.Title)
	}
}

// shown is a record without the URL among its names: the service does not show it.
func (c *comparison) shown(r *metadata.Record) *metadata.Record {
	r = normal(r)
	r.AlternateIdentifiers = slices.DeleteFunc(slices.Clone(r.AlternateIdentifiers),
		func(id metadata.AlternateIdentifier) bool {
			return id.AlternateIdentifier == c.found.URL
		})
	return r
}

// readXML reads the stored XML.
func (c *comparison) readXML() {
	if c.xml == nil && len(c.found.MetadataXML) > 0 {
		c.xml, c.unreadable = metadata.ParseXML(bytes.NewReader(c.found.MetadataXML))
	}
}

// adaptXML finds what the record should be, with what the stored XML says else.
func (c *comparison) adaptXML(adapt Adapter) error {
	c.readXML()
	if c.xml == nil {
		return nil
	}
	inXML := *c.found
	inXML.Record = *c.xml
	d, err := c.adapted(&inXML, adapt)
	if err == nil {
		c.asXML = d.over(c.xml)
	}
	return err
}

// sticky are the properties that the service keeps in its JSON when XML without them is stored.
var sticky = []string{"language", "version"}

// compareXML compares XML with the stored XML, and with what the JSON has beside it.
func (c *comparison) compareXML() []metadata.Change {
	changes := metadata.DiffXML(normal(c.Metadata), normal(cmpRecord(c.xml)))
	for _, name := range propertyNames {
		if isEmpty(field(c.Metadata, name)) {
			changes = append(changes, c.removal(name, changes)...)
		}
	}
	for _, name := range sticky {
		said, stored := field(c.Metadata, name).String(), field(&c.found.Record, name).String()
		if said == "" && stored != "" && !concerns(changes, name) {
			changes = append(changes, metadata.Change{Path: name, Found: stored})
		}
	}
	return changes
}

// cmpRecord is an empty record for none.
func cmpRecord(r *metadata.Record) *metadata.Record {
	if r == nil {
		return &metadata.Record{}
	}
	return r
}

// sameJSON compares properties in their JSON form, in which an empty list is one that is missing.
func sameJSON(a, b reflect.Value) bool {
	if isEmpty(a) || isEmpty(b) {
		return isEmpty(a) && isEmpty(b)
	}
	x, bad := json.Marshal(a.Interface())
	y, err := json.Marshal(b.Interface())
	return bad == nil && err == nil && bytes.Equal(x, y)
}

func isEmpty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

// metadataChanges are the names of the properties of the metadata that change.
func (c *comparison) metadataChanges() (names []string) {
	for _, change := range c.changes {
		if name := propertyOf(change.Path); !slices.Contains(names, name) {
			if _, isMetadata := properties[name]; isMetadata {
				names = append(names, name)
			}
		}
	}
	return names
}

// has reports whether an attribute or a property changes.
func (c *comparison) has(name string) bool { return concerns(c.changes, name) }

func concerns(changes []metadata.Change, name string) bool {
	return slices.ContainsFunc(changes, func(change metadata.Change) bool { return propertyOf(change.Path) == name })
}

// oldSchema reports whether a record names a schema version before 4. A record that was
// written as JSON may name none.
func oldSchema(r *dois.Record) bool {
	version := r.SchemaVersion
	version = version[strings.LastIndexByte(version, '-')+1:]
	return strings.HasPrefix(version, "2") || strings.HasPrefix(version, "3")
}
