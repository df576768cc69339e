package reconcile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/metadata"
)

// asSent are the properties that the XML of a record that came as JSON has as they were sent,
// until the next write as JSON: then as the JSON shows them.
var asSent = []string{"rightsList", "language", "subjects", "geoLocations"}

// sentAsXML tells which form was written last. Each write makes one form of the other, so the XML
// is either what the service writes from its JSON, or it was sent and the JSON was read from it. sent are
// the properties in which the XML is not what the service writes.
func (c *comparison) sentAsXML() (sent []string, asXML bool) {
	if c.xml == nil {
		return nil, false
	}
	made, err := c.written()
	if err != nil {
		return propertyNames, true
	}
	stored := normal(c.xml)
	for _, name := range propertyNames {
		if !sameJSON(field(made, name), field(stored, name)) || onlyInXML(c.xml, name) {
			sent = append(sent, name)
		}
	}
	others := slices.ContainsFunc(sent, func(name string) bool { return !slices.Contains(asSent, name) })
	return sent, others || len(sent) > 0 && !isService(c.found.MetadataXML)
}

// onlyInXML reports whether a property has what the service never writes.
func onlyInXML(r *metadata.Record, name string) bool {
	switch name {
	case "descriptions":
		return slices.ContainsFunc(r.Descriptions, func(d metadata.Description) bool { return d.Breaks != nil })
	case "creators":
		return slices.ContainsFunc(r.Creators, hasExtra)
	case "contributors":
		return slices.ContainsFunc(r.Contributors, func(c metadata.Contributor) bool { return hasExtra(c.Creator) })
	}
	return false
}

func hasExtra(c metadata.Creator) bool {
	return slices.ContainsFunc(c.NameIdentifiers, func(id metadata.NameIdentifier) bool { return id.Extra != nil }) ||
		slices.ContainsFunc(c.Affiliation, func(a metadata.Affiliation) bool { return a.Extra != nil })
}

// written is the record that the service writes into the XML of its JSON (bolognese,
// lib/bolognese/datacite_utils.rb at 02e99bb), as it is read from there.
func (c *comparison) written() (*metadata.Record, error) {
	var shown metadata.Record
	if err := json.Unmarshal(c.found.Raw, &shown); err != nil { // with the texts as they are sent
		return nil, err
	}
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
		id.RelatedMetadataScheme, id.SchemeURI, id.SchemeType, id.RelationTypeInformation = "", "", "", ""
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
