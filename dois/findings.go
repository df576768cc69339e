package dois

import (
	"bytes"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

const maxWarnings = 100

// warned adds what is known to be wrong with the metadata of a draft to the response.
func (d *Draft) warned(r *Record, err error) (*Record, error) {
	if err == nil {
		r.Warnings = append(d.warnings(), d.Record.OwnNames(r.DOI, r.URL)...)
		if inXML, bad := metadata.ParseXML(bytes.NewReader(d.MetadataXML)); bad == nil { // without XML, it is bad
			r.Warnings = append(r.Warnings, inXML.OwnNames(r.DOI, r.URL)...)
		}
	}
	return r, err
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
