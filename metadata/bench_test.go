package metadata_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/metadata"
)

// The benchmarks compare this package with encoding/xml, which reads the same record, with
// a value in every field, into a tree of elements, and writes it again.

func fullRecord(tb testing.TB) (rec *metadata.Record, document []byte) {
	tb.Helper()
	rec = newGenerator(1).record()
	document, err := rec.XML()
	require.NoError(tb, err)
	return rec, document
}

type treeElement struct {
	XMLName  xml.Name
	Attrs    []xml.Attr    `xml:",any,attr"`
	Text     string        `xml:",chardata"`
	Elements []treeElement `xml:",any"`
}

func Benchmark(b *testing.B) {
	rec, document := fullRecord(b)
	data, err := json.Marshal(rec)
	require.NoError(b, err)
	var tree treeElement
	require.NoError(b, xml.Unmarshal(document, &tree))
	for _, bb := range []struct {
		name string
		size int
		do   func() error
	}{
		{"Write/metadata", len(document), func() error { _, err := rec.XML(); return err }},
		{"Write/encoding-xml", len(document), func() error { _, err := xml.Marshal(&tree); return err }},
		{"Read/metadata", len(document), func() error { _, err := metadata.ParseXML(bytes.NewReader(document)); return err }},
		{"Read/encoding-xml", len(document), func() error { return xml.Unmarshal(document, &treeElement{}) }},
		{"Validate/record", len(document), rec.Validate},
		{"Validate/document", len(document), func() error { return metadata.ValidateXML(bytes.NewReader(document)) }},
		{"ReadJSON", len(data), func() error { return json.Unmarshal(data, &metadata.Record{}) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(bb.size))
			b.ReportAllocs()
			for b.Loop() {
				if err := bb.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
