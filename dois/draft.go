package dois

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/deepcopy"
	"github.com/datacite-go/datacite-go/internal/document"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

// A Draft is what [Client.Create] and [Client.Update] send. Fields with zero values are not
// sent, and an update leaves their properties unchanged. An empty list that is not nil
// clears its property; Clear can clear any property. A property that is sent replaces the
// stored property as a whole.
type Draft struct {
	DOI    string // the name; leave it empty to use Prefix
	Prefix string // for Create without DOI: the service chooses a suffix under this prefix
	URL    string // required for a registered or findable DOI
	Event  Event  // "" leaves the state as it is; a new DOI becomes a draft
	Reason string // why the DOI is hidden, with EventHide; EventPublish removes it

	metadata.Record        // the metadata; its DOI must be that of the Draft or empty
	MetadataXML     []byte // well-formed metadata XML with this DOI or none; properties of Record override it
	// AllowOtherDOI permits metadata with another DOI, which the service replaces; refused otherwise, as such
	// metadata nearly always belong to the other DOI
	AllowOtherDOI bool
	ContentURL    []string   // where the content itself is
	Container     *Container // the series, journal or collection that the resource is in

	// Clear: attributes to remove, such as "version"; a container that the service derives from other
	// attributes stays
	Clear []string
	Extra map[string]any // other attributes, sent unchanged; only attributes without a field here
	// ClientID: the repository account of a new DOI, if the login is not a repository's; Transfer
	// moves existing ones
	ClientID string

	Response *GetOptions // which parts of the record are returned

	read metadata.Types // as Record.Draft read them
}

// checkedFields are attributes of which not every value may be sent: some are ignored, and
// some lead the write to another DOI.
var checkedFields = map[string]string{"doi": "DOI", "prefix": "Prefix", "event": "Event", "xml": "MetadataXML"}

// clearable are the attributes that the service removes. It ignores null for others.
var clearable = strings.Fields(`url reason contentUrl container creators contributors titles publisher publicationYear types subjects dates
	language identifiers alternateIdentifiers relatedIdentifiers relatedItems sizes formats version rightsList descriptions
	geoLocations fundingReferences`)

// An Event changes the state of a DOI. In a [Draft], the service ignores an event that the
// current state does not allow; [Client.ChangeState] reports it.
type Event string

// The events. EventPublish has the same effect as mds.Register.
const (
	EventPublish  Event = "publish"  // from draft or registered to findable
	EventRegister Event = "register" // from draft to registered: the DOI resolves, but searching does not find it
	EventHide     Event = "hide"     // from findable to registered
)

// transitions are where the events lead, and from which states.
var transitions = map[Event]struct {
	to   datacite.State
	from []datacite.State
}{
	EventPublish:  {datacite.StateFindable, []datacite.State{datacite.StateDraft, datacite.StateRegistered}},
	EventRegister: {datacite.StateRegistered, []datacite.State{datacite.StateDraft}},
	EventHide:     {datacite.StateRegistered, []datacite.State{datacite.StateFindable}},
}

func (e Event) check(path string) error {
	if _, known := transitions[e]; known {
		return nil
	}
	return datacite.Invalidf(path, datacite.CodeVocabulary, "%q is not an event: publish, register or hide", string(e))
}

// Draft returns a copy of the record to change and to give to [Client.Update]: its metadata,
// URL, ContentURL and Container.
//
// An update writes the record's XML from its JSON. If the record was read with its XML, and that has
// values which the JSON does not have, the error is a [*datacite.ValidationError] that lists them (code
// loss); package reconcile corrects such records.
//
// The record must have been read with Get, or listed with Affiliation and Publisher;
// otherwise the error is a [*datacite.ValidationError], because writing it back would remove the
// identifiers that were not read. So it is if Warnings has ambiguous texts, which might be
// written back as others: read the record with GetOptions.Detail or ListOptions.Detail. So it is
// if Warnings names values that were left out or are not UTF-8 (codes shape and encoding): make a
// Draft of what is to change.
func (r *Record) Draft() (*Draft, error) {
	if r == nil {
		return nil, datacite.Invalidf("Record", datacite.CodeMissing, "is nil")
	}
	plain := slices.DeleteFunc([]string{"creators", "contributors", "publisher"}, func(name string) bool {
		raw := r.member(name)
		return !(len(raw) > 0 && raw[0] == '"') && !r.plainAffiliations(name)
	})
	if len(plain) > 0 {
		return nil, datacite.Invalidf("Record", datacite.CodeValue,
			"has no identifiers in %s, and writing it would remove them; read it with Get, or list it with "+
				"Affiliation and Publisher", strings.Join(plain, ", "))
	}
	if err := r.doubtful(); err != nil {
		return nil, err
	}
	d := &Draft{DOI: r.DOI, URL: r.URL, ContentURL: slices.Clone(r.ContentURL), Record: *r.Record.Clone()}
	d.read = r.Types
	d.keepWords(r)
	if c := r.Container; c.Title != "" || c.Identifier != "" || c.Type != "" {
		d.Container = deepcopy.Of(&c)
	}
	return d, nil
}

// doubtful is the error for values of which it is not known how they are stored, or that were not read.
func (r *Record) doubtful() error {
	remedies := map[datacite.Code]string{
		datacite.CodeAmbiguous: ", which GetOptions.Detail and ListOptions.Detail read",
		datacite.CodeEncoding:  "; writing it back would store that",
		datacite.CodeShape:     "; writing the record back would remove it",
	}
	var faults []datacite.Finding
	for _, f := range r.Warnings {
		remedy := remedies[f.Code]
		if remedy == "" || f.Code != datacite.CodeAmbiguous && f.Path != "" && !slices.Contains(clearable, property(f.Path)) {
			continue
		}
		f.Path, f.Warning = strings.TrimSuffix("Record."+f.Path, "."), false
		f.Reason += remedy
		faults = append(faults, f)
	}
	return datacite.Invalid(append(faults, r.onlyInXML()...)...)
}

// onlyInXML are the values that the record's XML would lose, since an update writes it from the JSON.
func (r *Record) onlyInXML() (lost []datacite.Finding) {
	inXML, err := metadata.ParseXML(bytes.NewReader(r.MetadataXML))
	if err != nil {
		return nil // there is none
	}
	inXML.DOI = ""
	inXML.AlternateIdentifiers = slices.DeleteFunc(inXML.AlternateIdentifiers, func(a metadata.AlternateIdentifier) bool {
		return a.AlternateIdentifier == r.URL || doi.Equal(a.AlternateIdentifier, r.DOI) // the service does not show them
	})
	for _, change := range metadata.DiffXML(inXML, &r.Record) {
		if change.Desired != "" {
			lost = append(lost, datacite.Finding{Path: "Record." + change.Path, Code: datacite.CodeLoss, Value: change.Desired,
				Reason: "is in the record's XML, and writing the record as JSON would lose it there; package reconcile keeps it"})
		}
	}
	return lost
}

// keepWords takes the values that the XML of a record of JSON has in the words in which they were sent. The service
// shows them in other words, and would write those.
func (d *Draft) keepWords(r *Record) {
	inXML, err := metadata.ParseXML(bytes.NewReader(r.MetadataXML))
	if err != nil || !document.IsOfService(r.MetadataXML) {
		return
	}
	other := map[string]bool{}
	for _, change := range metadata.Diff(inXML, &r.Record) {
		other[property(change.Path)] = true
	}
	if !other["language"] {
		d.Language = inXML.Language
	}
	if !other["rightsList"] {
		d.RightsList = inXML.RightsList
	}
	if !other["subjects"] {
		d.Subjects = inXML.Subjects
	}
	if !other["geoLocations"] {
		d.GeoLocations = inXML.GeoLocations
	}
}

// types are those to send. The service derives the members beside the general type and its text, and would keep stale
// ones.
func (d *Draft) types() metadata.Types {
	types, read := d.Types, d.read
	if types.ResourceTypeGeneral == read.ResourceTypeGeneral && types.ResourceType == read.ResourceType {
		return types
	}
	derived := types
	derived.ResourceTypeGeneral, derived.ResourceType = read.ResourceTypeGeneral, read.ResourceType
	if derived == read {
		return metadata.Types{ResourceTypeGeneral: types.ResourceTypeGeneral, ResourceType: types.ResourceType}
	}
	return types
}

// plainAffiliations reports whether people in a list came with affiliations that are only
// names.
func (r *Record) plainAffiliations(list string) bool {
	var people []struct {
		Affiliation json.RawMessage `json:"affiliation"`
	}
	if _, err := r.Decode(list, &people); err != nil {
		return false
	}
	for _, p := range people {
		var names []any
		_ = json.Unmarshal(p.Affiliation, &names)
		for _, name := range names {
			if _, plain := name.(string); plain {
				return true
			}
		}
	}
	return false
}

// checked returns a copy of the draft that has the name to create in DOI, or the reason why
// it cannot be created.
func (d *Draft) checked() (*Draft, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	out := *d
	switch out.DOI = cmp.Or(d.DOI, d.Record.DOI); {
	case d.Prefix != "" && d.DOI != "":
		return nil, datacite.Invalidf("Draft", datacite.CodeConflict, "has both DOI and Prefix; give one")
	case d.Prefix != "" && out.DOI != "":
		return nil, datacite.Invalidf("Draft.Record.DOI", datacite.CodeConflict,
			"is set beside Prefix, for which the service chooses a name")
	case d.Prefix != "":
		return &out, doi.At("Draft.Prefix", doi.CheckPrefix(d.Prefix))
	case out.DOI == "":
		return nil, datacite.Invalidf("Draft", datacite.CodeMissing, "has neither DOI nor Prefix")
	}
	name, err := parseName("Draft.DOI", out.DOI)
	if err != nil {
		return nil, err
	}
	out.DOI = name
	if err := d.checkName(name); err != nil {
		return nil, err
	}
	err = doi.CheckNew(name)
	if err == nil {
		err = doi.API.CheckWritable(name) // else it could not be changed later
	}
	return &out, doi.At("Draft.DOI", err)
}

func (d *Draft) check() error {
	if d == nil {
		return datacite.Invalidf("Draft", datacite.CodeMissing, "is nil")
	}
	if d.Event != "" {
		if err := d.Event.check("Draft.Event"); err != nil {
			return err
		}
	}
	for path, text := range map[string]string{"URL": d.URL, "Reason": d.Reason,
		"ContentURL": strings.Join(d.ContentURL, " ")} {
		if err := checkUTF8("Draft."+path, text); err != nil {
			return err
		}
	}
	if d.Response != nil {
		if err := d.Response.check("Draft.Response"); err != nil {
			return err
		}
	}
	return d.checkJSON()
}

// checkName refuses a draft that names another DOI.
func (d *Draft) checkName(name string) error {
	for path, text := range map[string]string{"Draft.DOI": d.DOI, "Draft.Record.DOI": d.Record.DOI} {
		if text == "" || path != "Draft.DOI" && d.AllowOtherDOI {
			continue
		}
		other, err := parseName(path, text)
		if err != nil {
			return err
		}
		if !doi.Equal(other, name) {
			return datacite.Invalidf(path, datacite.CodeConflict, "is %q, another DOI than %q", other, name)
		}
	}
	return nil
}

// body is the draft as the service reads it, or the reason why it would not read it so.
func (d *Draft) body(isNew bool) ([]byte, error) {
	attributes, err := d.attributes()
	if err == nil {
		err = d.checkRecord(attributes, isNew)
	}
	if err != nil {
		return nil, err
	}
	resource := map[string]any{"type": "dois", "attributes": attributes}
	if d.ClientID != "" {
		resource["relationships"] = clientLink(d.ClientID)
	}
	return json.Marshal(map[string]any{"data": resource})
}

func (d *Draft) attributes() (map[string]any, error) {
	record := d.Record
	record.Types = d.types()
	attributes := members(&record)
	delete(attributes, "doi")
	for name, text := range map[string]string{
		"doi": d.DOI, "prefix": d.Prefix, "url": d.URL, "event": string(d.Event), "reason": d.Reason,
		"xml": base64.StdEncoding.EncodeToString(d.MetadataXML),
	} {
		if text != "" {
			attributes[name] = text
		}
	}
	if d.ContentURL != nil {
		attributes["contentUrl"] = d.ContentURL
	}
	if d.Container != nil {
		attributes["container"] = d.Container
	}
	if err := checkUTF8("Draft.Container", d.Container); err != nil {
		return nil, err
	}
	for name, value := range d.Extra {
		if err := checkUTF8("Draft.Extra["+strconv.Quote(name)+"]", map[string]any{name: value}); err != nil {
			return nil, err
		}
		if field := checkedFields[name]; field != "" {
			return nil, datacite.Invalidf("Draft.Extra", datacite.CodeValue,
				"has %q, which is the field %s", name, field)
		}
		if taken(attributes, name) {
			return nil, datacite.Invalidf("Draft.Extra", datacite.CodeRepeated, "repeats the attribute %q", name)
		}
		attributes[name] = value
	}
	inXML, err := d.inXML()
	if err != nil {
		return nil, err
	}
	for _, name := range d.Clear {
		if taken(attributes, name) || taken(inXML, name) {
			return nil, datacite.Invalidf("Draft.Clear", datacite.CodeConflict,
				"removes the attribute %q, which is given a value as well", name)
		}
		if !slices.Contains(clearable, name) {
			return nil, datacite.Invalidf("Draft.Clear", datacite.CodeVocabulary,
				"has %q; the service removes %s", name, strings.Join(clearable, ", "))
		}
		if attributes[name] = nil; name == "publisher" {
			attributes[name] = struct{}{} // the service ignores null
		}
	}
	return attributes, nil
}

// inXML are the attributes in the XML. The XML must name a DOI where the draft does not:
// otherwise the service does not find the DOI that it is to create.
func (d *Draft) inXML() (map[string]any, error) {
	const path = "Draft.MetadataXML"
	if len(d.MetadataXML) == 0 {
		return nil, nil
	}
	if !document.IsXML(d.MetadataXML) {
		return nil, datacite.Invalidf(path, datacite.CodeSyntax, "is not XML; package mds writes other formats")
	}
	if err := document.Check(path, d.MetadataXML); err != nil {
		return nil, err
	}
	r, err := metadata.ParseXML(bytes.NewReader(d.MetadataXML))
	switch {
	case err != nil:
		return nil, datacite.Invalidf(path, datacite.CodeSyntax, "is not a DataCite record: %w", err)
	case d.DOI == "" && document.Name(d.MetadataXML) == "":
		return nil, datacite.Invalidf(path, datacite.CodeMissing,
			"names no DOI, which the service requires where Draft has only a Prefix; write any DOI under the "+
				"prefix into its identifier: the service replaces it")
	case d.DOI != "" && !d.AllowOtherDOI:
		err = document.CheckName(path, d.MetadataXML, d.DOI)
	}
	if err != nil {
		return nil, err
	}
	return members(r), nil
}

// checkRecord refuses what package mds refuses of a record: texts that XML cannot contain
// and, if the DOI is to be registered, all that is wrong. Of a new DOI, whose record
// nothing stored completes, that includes what is missing.
func (d *Draft) checkRecord(attributes map[string]any, isNew bool) error {
	registers, whole := d.Event == EventPublish || d.Event == EventRegister, isNew && len(d.MetadataXML) == 0
	var faults []datacite.Finding
	for _, f := range d.Record.Findings() {
		_, sent := attributes[property(f.Path)]
		_, elsewhere := d.Extra[property(f.Path)]
		if f.Code == datacite.CodeEncoding || registers && (sent || whole) && !elsewhere {
			f.Path = "Draft." + f.Path
			faults = append(faults, f)
		}
	}
	return datacite.Invalid(faults...)
}

// property is the attribute of a record in which a path begins.
func property(path string) string {
	name, _, _ := strings.Cut(path, "[")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// taken reports whether an attribute is present. The alternate identifiers have two names,
// and the service drops one of them.
func taken(attributes map[string]any, name string) bool {
	_, there := attributes[name]
	_, other := attributes[map[string]string{"identifiers": "alternateIdentifiers",
		"alternateIdentifiers": "identifiers"}[name]]
	return there || other
}

// members are the members of the JSON object of a record.
func members(r *metadata.Record) map[string]any {
	data, _ := json.Marshal(r) // of texts and numbers
	var raw map[string]json.RawMessage
	_ = json.Unmarshal(data, &raw) // an object
	out := make(map[string]any, len(raw))
	for name, value := range raw {
		out[name] = value
	}
	return out
}

// checkUTF8 refuses a value with a text that JSON cannot hold. The output of encoding/json
// does not tell: since Go 1.27, bytes that are not UTF-8 are written as U+FFFD is.
func checkUTF8(path string, value any) error {
	if _, err := json.Marshal(value); err != nil {
		return datacite.Invalidf(path, datacite.CodeSyntax, "cannot be written as JSON: %w", err)
	}
	if !isUTF8(reflect.ValueOf(value)) {
		return datacite.Invalidf(path, datacite.CodeEncoding, "is not UTF-8; JSON would have U+FFFD instead")
	}
	return nil
}

// isUTF8 goes through the texts that encoding/json writes of a value that it can write.
func isUTF8(v reflect.Value) bool {
	if text, ok := written(v); ok {
		return utf8.Valid(text)
	}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || isUTF8(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !isUTF8(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if !isUTF8(key) || !isUTF8(value) {
				return false
			}
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if (field.IsExported() || field.Anonymous) && field.Tag.Get("json") != "-" && !isUTF8(value) {
				return false
			}
		}
	}
	return true
}

// written is what a value writes of itself. An error is encoding/json's to report.
func written(v reflect.Value) (text []byte, ok bool) {
	if !v.IsValid() || !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, false
	}
	switch value := v.Interface().(type) {
	case json.Marshaler:
		text, _ = value.MarshalJSON()
	case encoding.TextMarshaler:
		text, _ = value.MarshalText()
	case []byte: // in base64
	default:
		return nil, false
	}
	return text, true
}
