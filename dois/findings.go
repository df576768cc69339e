package dois

import (
	"bytes"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

const maxWarnings = 100

// warned adds what is known to be wrong with the metadata of a draft to the response.
func (d *Draft) warned(r *Record, err error) (*Record, error) {
	if err == nil {
		r.Warnings = append(r.Warnings, append(d.warnings(), d.Record.OwnNames(r.DOI, r.URL)...)...)
		r.Warnings = append(r.Warnings, d.rewritten(r)...)
		if inXML, bad := metadata.ParseXML(bytes.NewReader(d.MetadataXML)); bad == nil { // without XML, it is bad
			r.Warnings = append(r.Warnings, inXML.OwnNames(r.DOI, r.URL)...)
		}
	}
	return r, err
}

// notMetadata are attributes after which the service does not write the XML anew.
var notMetadata = strings.Fields("doi prefix url event reason xml source")

// writesMetadata reports whether the service writes XML from its JSON.
func (d *Draft) writesMetadata() bool {
	attributes, _ := d.attributes() // body has returned the error
	for name := range attributes {
		if !slices.Contains(notMetadata, name) {
			return true
		}
	}
	return false
}

// rewritten finds what the service damaged in the XML of a record outside the properties that
// were sent: it writes the XML from its JSON, in which texts that came as XML are escaped, and
// leaves some values out.
func (d *Draft) rewritten(r *Record) []datacite.Finding {
	if len(r.MetadataXML) == 0 || !d.writesMetadata() {
		return nil
	}
	attributes, _ := d.attributes()
	var found []datacite.Finding
	for _, f := range metadata.Unescape(r.Record.Clone(), nil) {
		name := property(f.Path)
		if _, sent := attributes[name]; !sent && len(found) < maxWarnings {
			f.Code, f.Reason = "escaped", "the service wrote this into the XML, where it may have been without references; it writes the XML anew from its JSON, unless a draft has "+name+
				", as that of Record.Draft; send "+name+" as it is meant"
			found = append(found, f)
		}
	}
	for _, f := range r.Findings() {
		if _, sent := attributes[property(f.Path)]; f.Code == "not-in-xml" && !sent && len(found) < maxWarnings {
			found = append(found, f)
		}
	}
	return found
}

func (d *Draft) warnings() []datacite.Finding {
	found := d.findings()
	return slices.Clip(found[:min(len(found), maxWarnings)])
}

// findings are those of the metadata that are sent. What is not sent is not missing: an
// update leaves it as it is.
func (d *Draft) findings() []datacite.Finding {
	sent, _ := members(d.Record) // body has returned the error
	ofRecord := slices.DeleteFunc(d.Record.Findings(), func(f datacite.Finding) bool {
		return f.Code == "missing" && !taken(sent, property(f.Path))
	})
	if len(d.MetadataXML) == 0 {
		return ofRecord
	}
	inXML, _ := metadata.FindingsXML(bytes.NewReader(d.MetadataXML)) // the error is that of a reader
	return append(ofRecord, slices.DeleteFunc(inXML, func(f datacite.Finding) bool {
		return f.Code == "identifier" || taken(sent, property(f.Path)) // the record overrides it
	})...)
}

// checkJSON refuses what the service takes as XML only.
func (d *Draft) checkJSON() error {
	for _, f := range d.Record.Findings() {
		if f.Code == "json" {
			f.Path, f.Reason, f.Warning = "Draft."+f.Path, f.Reason+"; package mds sends XML", false
			return datacite.Invalid(f)
		}
	}
	return nil
}
