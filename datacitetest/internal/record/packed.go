package record

import (
	"bytes"
	"encoding/json"

	"github.com/klauspost/compress/s2"
)

// The metadata of a stored record are compressed, since they are a tenth of the size then: the members
// as JSON, and in the next line the XML.

// Packed is the record with its metadata compressed. Nothing but [Record.Unpacked] reads them then.
func (rec *Record) Packed() *Record {
	if rec.packed != nil {
		return rec
	}
	text, err := json.Marshal(rec.members())
	if err != nil {
		panic(err) // all values came from JSON
	}
	if rec.XML != nil {
		text = append(append(text, '\n'), rec.XML...)
	}
	p := *rec
	for _, o := range p.members() {
		*o = nil
	}
	p.packed, p.XML = bytes.Clone(s2.Encode(nil, text)), nil
	return &p
}

// Unpacked is the record with its metadata.
func (rec *Record) Unpacked() *Record {
	if rec.packed == nil {
		return rec
	}
	text, err := s2.Decode(nil, rec.packed)
	u := *rec
	u.packed = nil
	members, xml, given := bytes.Cut(text, []byte("\n"))
	if given {
		u.XML = xml
	}
	into := u.members()
	if err == nil {
		err = json.Unmarshal(members, &into)
	}
	if err != nil {
		panic(err) // Packed wrote it
	}
	return &u
}

// members are the parts of the record that are JSON.
func (rec *Record) members() [4]*map[string]any {
	return [...]*map[string]any{&rec.Attributes, &rec.Columns, &rec.Repository, &rec.Member}
}

// stored is a record as JSON has it.
type stored Record

// MarshalJSON writes the record with its metadata.
func (rec *Record) MarshalJSON() ([]byte, error) { return json.Marshal((*stored)(rec.Unpacked())) }
