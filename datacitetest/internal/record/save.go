package record

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// How the deployed DOI service stores a record: lupo
// app/controllers/datacite_dois_controller.rb, app/lib/params_sanitizer.rb and
// app/models/doi.rb, in their order.

// commands are the members of a request that are not properties of a record.
var commands = strings.Fields("doi prefix xml event mode reason source regenerate should_validate")

// permitted are the members of an object that are accepted; others are dropped silently, and so
// are texts in a list of objects, and objects where a text belongs: Rails strong_parameters.rb
// (permitted_scalar_filter, each_element). Of the record itself, and of numbers and the like in
// place of texts, the effect depends on the column: those are refused.
func permitted(of []*Property, o object, path string) (object, error) {
	out := object{}
	for _, p := range of {
		v, sent := o[p.Name]
		if !sent || p.Is("read") || !isPermitted(p, v, path == "") {
			continue
		}
		v, err := permittedValue(p, v, path+p.Name)
		if err != nil {
			return nil, err
		}
		out[p.Name] = v
	}
	return out, nil
}

// isPermitted says whether a value has a form that its member may have. A member of the record
// itself may always be a text.
func isPermitted(p *Property, v any, outermost bool) bool {
	switch v := v.(type) {
	case object:
		return p.Inside != nil
	case []any:
		return p.Inside != nil || p.List && !slices.ContainsFunc(v, isNested)
	}
	return v == nil || outermost || p.Inside == nil
}

func isNested(v any) bool {
	switch v.(type) {
	case object, []any:
		return true
	}
	return false
}

func permittedValue(p *Property, v any, path string) (any, error) {
	list, isList := v.([]any)
	switch {
	case v == nil:
		return nil, nil
	case isList && slices.Contains(single, p.Name):
		return nil, errSeveral
	case !isList || !p.List:
		return permittedItem(p, v, path)
	}
	out := []any{}
	for _, item := range list {
		if _, isObject := item.(object); p.Inside != nil && !isObject {
			continue
		}
		kept, err := permittedItem(p, item, path)
		if err != nil {
			return nil, err
		}
		out = append(out, kept)
	}
	return out, nil
}

// numeric are the members that may be numbers.
var numeric = strings.Fields("publicationYear version pointLatitude pointLongitude westBoundLongitude " +
	"eastBoundLongitude southBoundLatitude northBoundLatitude")

func permittedItem(p *Property, v any, path string) (any, error) {
	switch v := v.(type) {
	case object:
		return permitted(p.Inside, v, path+".")
	case string:
		if p.Inside == nil || path == "publisher" {
			return v, nil
		}
	case float64:
		if slices.Contains(numeric, p.Name) || strings.HasPrefix(path, "landingPage.") {
			return v, nil
		}
	case bool:
		if strings.HasPrefix(path, "landingPage.") {
			return v, nil
		}
	}
	return nil, wire.ValueKind.Refusal(path)
}

// Sent is what a request sends for a record: the accepted members, and the
// XML sent with them.
type Sent struct {
	object
	xml        []byte
	regenerate bool // the XML is rewritten from the members
}

// columns are the stored members, which may also come from XML.
var columns = sync.OnceValue(func() (names []string) {
	for _, p := range Properties() {
		if p.Name != "" && p.Name != "version" && p.Name != "landingPage" {
			names = append(names, p.Name)
		}
	}
	return names
})

const lastSchema = kernelNamespace

// Take reads what was sent: the XML, in whatever format, and the members, which win.
func Take(o object) (Sent, error) {
	o, err := withAlias(o)
	if err != nil {
		return Sent{}, err
	}
	s := Sent{}
	if s.object, err = permitted(Properties(), o, ""); err != nil {
		return s, err
	}
	for _, name := range commands {
		if v, sent := o[name]; sent {
			s.object[name] = v
		}
	}
	body, err := base64.StdEncoding.DecodeString(wire.String(s.object["xml"]))
	_, numeric := s.object["doi"].(float64)
	switch {
	case numeric:
		return s, wire.ValueKind.Refusal("doi")
	case err != nil:
		return s, wire.ValueKind.Refusal("xml is not base64")
	case !utf8.Valid(body):
		return s, wire.BrokenXML.Refusal("it is not UTF-8")
	}
	if wire.Pieces(body) > wire.MaxPieces {
		return s, wire.ErrTooMuch
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(body), string(wire.ByteOrderMark), ""))
	doc, read, err := readSent(text, s.object["doi"])
	if err != nil {
		return s, err
	}
	hasMembers := isPresent(s.object["schemaVersion"]) || s.has("version") ||
		slices.ContainsFunc(columns(), func(name string) bool {
			return s.has(name) && name != "url" && name != "schemaVersion"
		})
	if text != "" {
		s.xml = []byte(text)
	}
	switch {
	case doc != nil && !hasMembers:
		if doc.rename(cmp.Or(wire.String(s.object["doi"]), doc.doi())) {
			s.xml = doc.bytes()
		}
	case text != "" || hasMembers:
		s.regenerate = true
	}
	for _, name := range columns() {
		v, inXML := read[name]
		if sent, given := s.object[name]; inXML && (!given || sent == nil || sent == false) {
			s.object[name] = v
		}
	}
	if s.object["version"] == nil && isPresent(read["version"]) {
		s.object["version"] = read["version"]
	}
	s.regenerate = s.regenerate || isPresent(s.object["regenerate"])
	return s, nil
}

// withAlias reads alternateIdentifiers as identifiers, if those are not sent.
// Each must be complete.
func withAlias(o object) (object, error) {
	others, sent := o["alternateIdentifiers"]
	if _, both := o["identifiers"]; !sent || both {
		return o, nil
	}
	o = maps.Clone(o)
	o["identifiers"] = nil
	if others == nil {
		return o, nil
	}
	list := listed(others)
	for _, item := range list {
		for _, name := range []string{"alternateIdentifier", "alternateIdentifierType"} {
			if id, ok := item.(object); ok && !hasMember(id, name) {
				return nil, wire.Fail(http.StatusUnprocessableEntity, "param is missing or the value is empty or invalid: %s", name)
			}
		}
	}
	o["identifiers"] = renamed(list, "alternateIdentifier", "identifier")
	return o, nil
}

func hasMember(o object, name string) bool {
	_, there := o[name]
	return there
}

func (s Sent) has(name string) bool { return hasMember(s.object, name) }

// readSent reads metadata. doc is not nil for DataCite XML, which must contain a DOI unless
// one is sent with it; so must some other formats.
func readSent(text string, sent any) (doc *Document, read object, err error) {
	if text == "" {
		return nil, nil, nil
	}
	f, doc, err := recognise(text)
	switch {
	case err != nil:
		return nil, nil, err
	case f == Kernel:
		if _, named := names.Validate(wire.String(sent)); !named && (sent != nil || doc.doi() == "") {
			return nil, nil, errNotThere
		}
		read, err = readKernel(doc)
		return doc, read, err
	}
	o := objectIn(text)
	if version := schemaOf(o); f == "" || f == crossref || f == crosscite && version == "" &&
		!isPresent(o["publication_year"]) {
		return nil, nil, wire.UnreadMetadata.Refusal()
	}
	b, err := readForeign(f, text)
	if b.unnamed {
		return nil, nil, errNotThere
	}
	read = b.columns()
	read["schemaVersion"] = lastSchema
	if f == crosscite {
		read["schemaVersion"] = schemaOf(o)
	}
	return nil, read, err
}

// rename puts another DOI into the identifier. Without one the document stays as it was sent.
func (doc *Document) rename(doi string) bool {
	if id := doc.identifier(); doi != "" && id != nil {
		id.children = []*element{{text: strings.ToUpper(doi), isText: true}}
	}
	return doi != ""
}

// doi is the DOI that a document gives for itself.
func (doc *Document) doi() string {
	name, _ := names.Validate(doc.Root.ChildText("identifier"))
	return name
}

// Assign stores what was sent, normalised as the service does.
func (rec *Record) Assign(s Sent, existed bool) {
	c := maps.Clone(rec.Columns)
	unwritten := c == nil && rec.XML == nil && rec.HasMetadata() // the service has XML for all metadata
	if c == nil {                                                // the record was seeded
		c = maps.Clone(rec.Attributes)
		bothIdentifiers(c)
		if c["publisher"] != nil {
			c["publisher"] = publisherColumn(c["publisher"])
		}
	}
	for _, name := range columns() {
		v, sent := s.object[name]
		if !sent || name == "publisher" && v == nil { // a publisher that was never written is null to the service
			continue
		}
		switch {
		case Find(name).List && !Find(name).Is("assent"):
			v = listed(v)
		case v == nil && (name == "types" || name == "container"):
			v = object{}
		}
		c[name] = v
	}
	if v := s.object["publisher"]; v != nil {
		c["publisher"] = publisherColumn(v)
	}
	if v, sent := s.object["publicationYear"]; sent {
		c["publicationYear"] = wholeNumber(v)
	}
	for _, name := range []string{"version", "reason", "source"} {
		if v, sent := s.object[name]; sent {
			if c[name] = v; v != nil {
				c[name] = textOf(v)
			}
		}
	}
	if isPresent(s.object["landingPage"]) {
		c["landingPage"] = s.object["landingPage"]
	}
	if existed && !isPresent(c["schemaVersion"]) {
		c["schemaVersion"] = lastSchema
	}
	if source := wire.String(c["source"]); source != "" && s.has("source") {
		rec.Source = source
	}
	delete(c, "source")
	if s.has("url") {
		rec.URL = wire.String(s.object["url"])
	}
	delete(c, "url")
	if s.has("xml") || s.xml != nil {
		rec.XML = s.xml
	}
	rec.State = AfterEvent(rec.State, wire.String(s.object["event"]))
	if s.regenerate || unwritten {
		withContainer := maps.Clone(c)
		withContainer["container"] = cmp.Or[any](containerOf(c), c["container"])
		rec.XML = kernelXML(withContainer, names.Upper(rec.DOI))
	}
	rec.Columns = c
	rec.keep()
}

// publisherColumn is null for an object without any value.
func publisherColumn(v any) any {
	switch v := v.(type) {
	case string:
		return object{"name": v}
	case object:
		if v = compact(maps.Clone(v)).(object); len(v) > 0 {
			return v
		}
	}
	return nil
}

// wholeNumber is a number, or that at the start of a text, as an integer column has it.
func wholeNumber(v any) any {
	text := strings.TrimSpace(textOf(v))
	if text == "" {
		return nil
	}
	return float64(wire.Leading(text))
}

// keep normalises members for storing, and derives the attributes that responses show.
func (rec *Record) keep() {
	c := rec.Columns
	each := func(name string, item func(any) any) {
		if c[name] == nil {
			return
		}
		kept := []any{}
		for _, v := range listed(c[name]) {
			if v = item(v); v != nil {
				kept = append(kept, v)
			}
		}
		c[name] = kept
	}
	c["subjects"], c["identifiers"] = listed(c["subjects"]), listed(c["identifiers"])
	each("subjects", keptSubject)
	c["subjects"] = unlike(c["subjects"].([]any))
	if language, ok := c["language"].(string); ok {
		c["language"] = keptLanguage(language)
	}
	each("rightsList", func(v any) any {
		if o, _ := v.(object); isPresent(v) {
			return keptRights(o)
		}
		return nil
	})
	each("identifiers", func(v any) any {
		if Member(v, "identifierType") == "DOI" {
			return nil
		}
		return v
	})
	if types, ok := c["types"].(object); ok {
		c["types"] = typesOf(types)
	}
	each("geoLocations", keptPlace)
	rec.Attributes = rec.shownColumns()
}

// unlike removes repeated items from a list.
func unlike(list []any) []any {
	out, seen := []any{}, map[string]bool{}
	for _, v := range list {
		if text := string(wire.Encode(v)); !seen[text] {
			seen[text] = true
			out = append(out, v)
		}
	}
	return out
}

func keptSubject(v any) any {
	o, _ := v.(object)
	o = maps.Clone(o)
	if text, ok := o["subject"].(string); ok {
		o["subject"] = squish(sanitised(text))
	}
	return compact(o)
}

// shownColumns are the members as responses show them.
func (rec *Record) shownColumns() object {
	o := maps.Clone(rec.Columns)
	for name, v := range blank() {
		if _, isList := v.([]any); isList {
			o[name] = listed(o[name])
		}
	}
	for _, name := range []string{"creators", "contributors"} {
		people := []any{}
		for _, p := range o[name].([]any) {
			if person, ok := p.(object); ok {
				person = maps.Clone(person)
				person["affiliation"], person["nameIdentifiers"] = listed(person["affiliation"]), listed(person["nameIdentifiers"])
				p = person
			}
			people = append(people, p)
		}
		o[name] = people
	}
	shown := []any{}
	for _, id := range o["identifiers"].([]any) {
		if v := Member(id, "identifier"); v != names.Upper(rec.DOI) && (rec.URL == "" || v != rec.URL) {
			shown = append(shown, id)
		}
	}
	o["identifiers"] = shown
	delete(o, "alternateIdentifiers")
	if container := containerOf(o); container != nil {
		o["container"] = container
	}
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
	return o
}

// deployedName and deployedURL are the forms that the service requires.
var (
	deployedName = lazy.Regexp(`\A10\.\d{4,5}/[-._;()/:a-zA-Z0-9*~$=]+\z`)
	deployedURL  = lazy.Regexp(`\A(ftp|http|https)://\S+\z`)
)

// Faults are the errors that the service reports for a new or an existing record, one for
// each source.
func (rec *Record) Faults(s Sent, existed, taken bool, client *Account) []Wrong {
	var all []Wrong
	fault := func(source, title string) {
		if !slices.ContainsFunc(all, func(w Wrong) bool { return w[0] == source }) {
			all = append(all, Wrong{source, title})
		}
	}
	public := rec.State != Draft
	if public && strings.TrimSpace(rec.URL) == "" {
		fault("url", "Can't be blank")
	}
	if !existed && !deployedName().MatchString(rec.DOI) {
		fault("doi", "Is invalid")
	}
	if strings.TrimSpace(rec.URL) != "" && !deployedURL().MatchString(rec.URL) {
		fault("url", "URL is not valid")
	}
	if taken {
		fault("doi", "This DOI has already been taken")
	}
	if public || isPresent(s.object["should_validate"]) {
		rec.checkXML(fault)
	}
	if public && strings.TrimSpace(rec.URL) != "" && client.Refusal(rec.URL) == NoDomain {
		fault("url", fmt.Sprintf("URL %s is not allowed by repository %s domain settings.", rec.URL,
			strings.ToLower(client.ClientID)))
	}
	rec.checkMembers(fault)
	return all
}

// checkXML checks the XML against the schema that the record names. The service
// knows few names, and new records in JSON name none.
func (rec *Record) checkXML(fault func(source, title string)) {
	version := wire.String(rec.Columns["schemaVersion"])
	number := strings.TrimPrefix(version, kernelSpaces+"-")
	if len(rec.XML) == 0 {
		fault("xml", "Can't be blank")
	}
	switch {
	case slices.Contains(oldSchemas, number):
		fault("xml", fmt.Sprintf("DOI %s: Schema %s is no longer supported", rec.DOI, version))
	case !slices.Contains(checkedSchemas, number):
	case len(rec.XML) == 0:
		fault("The document has no document element", fmt.Sprintf("DOI %s:  at line -1, column 0", rec.DOI))
	default:
		for _, v := range rec.violations() {
			fault(cmp.Or(columnNames[v.source], v.source), v.title(rec.DOI))
		}
	}
}

// columnNames are how faults name some elements.
var columnNames = map[string]string{
	"date": "dates", "publicationYear": "publication_year", "alternateIdentifiers": "identifiers",
	"relatedIdentifiers": "related_identifiers", "relatedItems": "related_items", "geoLocations": "geo_locations",
	"rightsList": "rights_list", "fundingReferences": "funding_references", "version": "version_info", "resource": "xml",
}

func (rec *Record) checkMembers(fault func(source, title string)) {
	for _, v := range listed(rec.Columns["rightsList"]) {
		if len([]rune(wire.String(Member(v, "rights")))) > 2000 {
			fault("rights_list", "Rights should not have a length of more than 2000 characters.")
		}
	}
	if rec.Columns["schemaVersion"] != kernelNamespace {
		return // contributor types are checked if the record names its schema
	}
	for _, v := range listed(rec.Columns["contributors"]) {
		switch kind := wire.String(Member(v, "contributorType")); {
		case wire.IsBlank(kind):
			fault("contributors", fmt.Sprintf("Contributor '%s' is missing a required element: contributor type.",
				wire.Encode(v)))
		case !IsListed("contributorType", kind):
			fault("contributors", fmt.Sprintf("Contributor '%s' has a contributor type that is not supported in schema 4: '%s'.",
				wire.Encode(v), kind))
		}
	}
}

// widths are how long the texts in columns of the service's database may be: lupo db/schema.rb.
var widths = []struct {
	member, column string
	most           int // characters; of a URL, bytes
}{
	{"language", "language", 191}, {"reason", "reason", 255}, {"schemaVersion", "schema_version", 191},
	{"version", "version_info", 191},
}

const (
	doiWidth    = 255
	sourceWidth = 191
	urlWidth    = 1<<16 - 1
)

// TooLong is the service's response to a record of which a text does not fit its database.
func (rec *Record) TooLong() error {
	column := ""
	for _, w := range widths {
		if len([]rune(wire.String(rec.Columns[w.member]))) > w.most {
			column = w.column
		}
	}
	switch {
	case len([]rune(rec.DOI)) > doiWidth:
		column = "doi"
	case len([]rune(rec.Source)) > sourceWidth:
		column = "source"
	case len(rec.URL) > urlWidth:
		column = "url"
	}
	if column == "" {
		return nil
	}
	return wire.Crashed("Mysql2::Error: Data too long for column '" + column + "' at row 1")
}

// Kept finishes a valid change: the metadata get a new version if their XML has
// changed.
func (rec *Record) Kept(before []byte, now time.Time, delay time.Duration) error {
	if len(rec.XML) > 0 && !bytes.Equal(rec.XML, before) {
		if !rec.keeps() {
			return Invalid(rec.DOI, Wrong{"metadata", "Is invalid"})
		}
		rec.Version++
	}
	rec.Settle(now, delay)
	return nil
}

// Wants is a string that was sent.
func (s Sent) Wants(name string) string { return wire.String(s.object[name]) }

// ErrNoMembers is the response to a body without attributes.
var ErrNoMembers = wire.Fail(http.StatusUnprocessableEntity,
	"param is missing or the value is empty or invalid: attributes")
