package reconcile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/document"
	"github.com/datacite-go/datacite-go/metadata"
)

// asSent are the properties that the XML of a record that came as JSON has as they were sent,
// until the next write as JSON: then as the JSON shows them.
var asSent = []string{"rightsList", "language", "subjects", "geoLocations"}

// sentAsXML tells which form was written last. Each write makes one form of the other, so the XML
// is either what the service writes from its JSON, or it was sent and the JSON was read from it: then it has no
// mark of the service, or values that the service would not write. words are the
// properties that the XML still has in the words in which they were sent as JSON.
func (c *comparison) sentAsXML() (words []string, asXML bool) {
	if c.xml == nil {
		return nil, false
	}
	if !document.IsOfService(c.found.MetadataXML) {
		return nil, true
	}
	made, err := c.written()
	if err != nil {
		return nil, true
	}
	stored := normal(c.xml).Clone()
	for i := range stored.Creators {
		stored.Creators[i].Name = strings.TrimSuffix(stored.Creators[i].Name, ",") // of an empty given name
	}
	for i := range stored.Contributors {
		stored.Contributors[i].Name = strings.TrimSuffix(stored.Contributors[i].Name, ",")
	}
	for _, change := range metadata.DiffXML(stored, made) {
		if change.Desired != "" && !slices.Contains(asSent, propertyOf(change.Path)) {
			return nil, true
		}
	}
	for _, name := range asSent {
		if !sameJSON(field(made, name), field(stored, name)) {
			words = append(words, name)
		}
	}
	return words, false
}

// written is the record that the service writes into the XML of its JSON (bolognese,
// lib/bolognese/datacite_utils.rb at 02e99bb), as it is read from there.
func (c *comparison) written() (*metadata.Record, error) {
	var shown metadata.Record
	if err := json.Unmarshal(c.found.Raw, &shown); err != nil { // with the texts as they are sent
		return nil, err
	}
	shown.AlternateIdentifiers = c.found.AlternateIdentifiers // from either of their members
	r := normal(&shown).Clone()
	for i := range r.Creators {
		writtenPerson(&r.Creators[i])
	}
	for i := range r.Contributors {
		writtenPerson(&r.Contributors[i].Creator)
	}
	for i := range r.Dates {
		if r.Dates[i].DateType == "" {
			r.Dates[i].DateType = metadata.DateIssued
		}
	}
	for i := range r.Descriptions {
		if r.Descriptions[i].DescriptionType == "" {
			r.Descriptions[i].DescriptionType = metadata.DescriptionAbstract
		}
	}
	for i := range r.FundingReferences {
		f := &r.FundingReferences[i]
		if f.SchemeURI = ""; f.FunderIdentifier == "" {
			f.FunderIdentifierType = ""
		}
	}
	for i := range r.RelatedIdentifiers {
		id := &r.RelatedIdentifiers[i]
		id.RelatedMetadataScheme, id.SchemeURI, id.SchemeType = "", "", ""
	}
	r.AlternateIdentifiers = slices.DeleteFunc(r.AlternateIdentifiers, func(id metadata.AlternateIdentifier) bool {
		return id.AlternateIdentifierType == string(metadata.IdentifierDOI)
	})
	return r, nil
}

func writtenPerson(p *metadata.Creator) {
	if p.Lang = ""; p.FamilyName != "" {
		p.Name = strings.TrimSuffix(p.FamilyName+", "+p.GivenName, ", ")
	}
}
