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

func BenchmarkWrite(b *testing.B) {
	rec, document := fullRecord(b)
	b.Run("metadata", func(b *testing.B) {
		b.SetBytes(int64(len(document)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := rec.XML(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-xml", func(b *testing.B) {
		var tree treeElement
		require.NoError(b, xml.Unmarshal(document, &tree))
		b.SetBytes(int64(len(document)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := xml.Marshal(&tree); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	_, document := fullRecord(b)
	b.Run("metadata", func(b *testing.B) {
		b.SetBytes(int64(len(document)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := metadata.ParseXML(bytes.NewReader(document)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-xml", func(b *testing.B) {
		b.SetBytes(int64(len(document)))
		b.ReportAllocs()
		for b.Loop() {
			if err := xml.Unmarshal(document, &treeElement{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	rec, document := fullRecord(b)
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = rec.Validate()
		}
	})
	b.Run("document", func(b *testing.B) {
		b.SetBytes(int64(len(document)))
		b.ReportAllocs()
		for b.Loop() {
			_ = metadata.ValidateXML(bytes.NewReader(document))
		}
	})
}

func BenchmarkReadJSON(b *testing.B) {
	rec, _ := fullRecord(b)
	data, err := json.Marshal(rec)
	require.NoError(b, err)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := json.Unmarshal(data, &metadata.Record{}); err != nil {
			b.Fatal(err)
		}
	}
}
