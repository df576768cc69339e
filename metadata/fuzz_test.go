package metadata_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

// Whatever ParseXML takes is well formed, comes out of XML as it went in, and
// whatever it refuses it refuses with a place in the document.
func FuzzParseXML(f *testing.F) {
	f.Add([]byte(minimal))
	for seed := range uint64(8) {
		g := newGenerator(seed)
		g.gaps = 0.6
		document, err := g.record().XML()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document)
	}
	for _, document := range malformed {
		f.Add([]byte(document.xml))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		_ = metadata.ValidateXML(bytes.NewReader(document))
		rec, err := metadata.ParseXML(bytes.NewReader(document))
		if err != nil {
			if e := datacite.Findings(err); len(e) != 1 || e[0].Line < 1 || e[0].Column < 1 {
				t.Fatalf("no place: %v", err)
			}
			return
		}
		wellFormed(t, document)
		written, err := rec.XML()
		if err != nil {
			t.Fatalf("parsed but not writable: %v", err)
		}
		again, err := metadata.ParseXML(bytes.NewReader(written))
		if err != nil {
			t.Fatalf("written but not readable: %v\n%s", err, written)
		}
		rec.SchemaVersion = metadata.Namespace
		if !reflect.DeepEqual(rec, again) {
			t.Fatalf("changed on the way:\n%+v\n%+v", rec, again)
		}
	})
}

// wellFormed fails the test when encoding/xml finds fault with a document.
func wellFormed(t *testing.T, document []byte) {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(document, []byte("\ufeff"))))
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		_, err := decoder.Token()
		if err == io.EOF {
			return
		}
		if err != nil && !strings.Contains(err.Error(), "unsupported version") &&
			!strings.Contains(err.Error(), "invalid XML name") {
			t.Fatalf("encoding/xml: %v", err)
		}
		if err != nil {
			return
		}
	}
}

// Reading JSON never fails, and what has been read is written and read again
// without a change.
func FuzzRecordJSON(f *testing.F) {
	record := reflect.ValueOf(newGenerator(1).record()).Elem()
	for _, field := range record.Fields() {
		data, err := json.Marshal(field.Interface())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`[{"geoLocationPlace":5,"geoLocationPolygon":[[{"polygonPoint":[{}]}],{}]},null,"x",[1],{"name":{"a":"}` +
		`"}}]`))
	f.Add([]byte(`[[{"polygonPoint":{"pointLongitude":"1e","pointLatitude":-0}}],{"polygonPoint":[{},{}]},` +
		`{"inPolygonPoint":{}}]`))
	f.Add([]byte(`{"name":"x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var rec struct {
			Creators     metadata.List[metadata.Creator]
			Titles       metadata.List[metadata.Title]
			Publisher    metadata.Publisher
			Year         metadata.Year
			Types        metadata.Types
			Sizes        metadata.List[string]
			GeoLocations metadata.List[metadata.GeoLocation]
			Polygons     metadata.Polygons
			Coordinate   metadata.Coordinate
			Affiliation  metadata.Affiliation
			Related      metadata.List[metadata.RelatedItem]
		}
		v := reflect.ValueOf(&rec).Elem()
		for _, field := range v.Fields() {
			leaf := field.Addr().Interface()
			if !json.Valid(data) {
				_ = leaf.(json.Unmarshaler).UnmarshalJSON(data) // may be called directly, with anything
				continue
			}
			err := json.Unmarshal(data, leaf)
			if err != nil {
				t.Fatalf("%T does not read %s: %v", leaf, data, err)
			}
			written, err := json.Marshal(leaf)
			if err != nil {
				t.Fatalf("%T cannot be written: %v", leaf, err)
			}
			again := reflect.New(field.Type())
			if err := json.Unmarshal(written, again.Interface()); err != nil {
				t.Fatalf("%T does not read its own %s: %v", leaf, written, err)
			}
			if !reflect.DeepEqual(leaf, again.Interface()) {
				t.Fatalf("%T changed on the way:\n%s\n%+v\n%+v", leaf, written, leaf, again.Interface())
			}
		}
	})
}
