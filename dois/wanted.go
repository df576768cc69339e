package dois

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/metadata"
)

// draft is what has to be written so that the DOI becomes as wanted; found is nil if the
// DOI is unknown.
func (w *Wanted) draft(found *Record) (*Draft, error) {
	draft, was := &Draft{}, StateDraft
	if found == nil {
		found, draft.DOI = &Record{}, w.DOI
	} else {
		was = found.State
	}
	var changes []metadata.Change // of the metadata
	for _, c := range w.changes(found) {
		switch c.Path {
		case "url":
			draft.URL = w.URL
		case "contentUrl":
			draft.ContentURL = w.ContentURL
		case "container":
			draft.Container = w.Container
		case "state":
			if draft.Event = eventTo(was, w.State); draft.Event == "" && w.State != was {
				return nil, fmt.Errorf("%w: %s is %.100s and cannot become %s", ErrNotAsWanted, w.DOI, was, w.State)
			}
		default:
			changes = append(changes, c)
		}
	}
	isOther := found.oldSchema() || len(changes) > 0
	switch {
	case isOther && len(w.MetadataXML) > 0:
		draft.MetadataXML = w.MetadataXML
		return draft, nil
	case found.oldSchema():
		draft.SchemaVersion = metadata.Namespace // the service writes new XML from the whole record
	}
	if err := draft.properties(changes, w.Metadata); err != nil {
		return nil, err
	}
	if draft.writesMetadata() {
		if err := draft.keepTexts(found); err != nil {
			return nil, err
		}
	}
	attributes, err := draft.attributes()
	if err == nil && len(attributes) == 0 {
		err = fmt.Errorf("%w: %s: nothing that is wanted differs from what is stored", ErrNotAsWanted, w.DOI)
	}
	if err != nil {
		return nil, err
	}
	return draft, nil
}

// keepTexts adds the properties that the service may show otherwise than it stores them. It
// writes the XML from what it shows, which would change them.
func (d *Draft) keepTexts(found *Record) error {
	if len(found.Raw) == 0 {
		return nil // a new DOI
	}
	if err := found.doubtful(); err != nil {
		return err
	}
	stored, err := members(found.Record)
	if err != nil {
		return err
	}
	sent, err := members(d.Record)
	if err != nil {
		return err
	}
	var kept []metadata.Change
	for _, name := range unescapedProperties {
		if !taken(sent, name) && !slices.Contains(d.Clear, name) && hasMarkup(stored[name]) {
			kept = append(kept, metadata.Change{Path: name})
		}
	}
	return d.properties(kept, &found.Record)
}

// hasMarkup finds the characters of markup in JSON, as [json.Marshal] writes them.
func hasMarkup(value any) bool {
	data, _ := value.(json.RawMessage)
	return bytes.Contains(data, []byte(`\u0026`)) || bytes.Contains(data, []byte(`\u003c`)) || bytes.Contains(data, []byte(`\u003e`))
}

// unescapedProperties are those that metadata.Unescape changes.
var unescapedProperties = strings.Fields("titles subjects descriptions sizes formats relatedItems creators contributors geoLocations fundingReferences")

// properties copies the properties that changed from the wanted record.
func (d *Draft) properties(changes []metadata.Change, wanted *metadata.Record) error {
	if wanted == nil {
		return nil
	}
	whole := *wanted
	whole.AlternateIdentifiers, whole.Identifiers = wanted.Alternates(), nil
	whole.Types = metadata.Types{ResourceTypeGeneral: wanted.Types.ResourceTypeGeneral, ResourceType: wanted.Types.ResourceType}
	all, err := members(whole)
	if err != nil {
		return err
	}
	chosen := map[string]any{}
	for _, c := range changes {
		name := property(c.Path)
		switch value, there := all[name]; {
		case there && string(value.(json.RawMessage)) != "[]":
			chosen[name] = value
		case !slices.Contains(d.Clear, name):
			d.Clear = append(d.Clear, name)
		}
	}
	data, err := json.Marshal(chosen)
	if err != nil {
		return err
	}
	version := d.SchemaVersion
	err = json.Unmarshal(data, &d.Record)
	d.SchemaVersion = version
	return err
}
