package metadata_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/metadata"
)

// The benchmarks compare this package with encoding/xml and struct tags on the
// same record, with a value in every field. The tagged structs are filled
// already, so encoding/xml is spared the way from a Record to them and back.

func fullRecord(tb testing.TB) (rec *metadata.Record, document []byte) {
	tb.Helper()
	rec = newGenerator(1).record()
	document, err := rec.XML()
	require.NoError(tb, err)
	return rec, document
}

func taggedRecord(tb testing.TB, document []byte) *taggedResource {
	tb.Helper()
	tagged := &taggedResource{}
	require.NoError(tb, xml.Unmarshal(document, tagged))
	tagged.XMLName = xml.Name{Local: "resource"}
	tagged.Xmlns = metadata.Namespace
	tagged.XSI = "http://www.w3.org/2001/XMLSchema-instance"
	return tagged
}

// Both sides of the benchmarks do the same work: what encoding/xml writes has
// the same elements, attributes and texts.
func TestBenchmarksDoTheSameWork(t *testing.T) {
	_, document := fullRecord(t)
	tagged, err := xml.MarshalIndent(taggedRecord(t, document), "", "  ")
	require.NoError(t, err)
	want := contents(t, document)
	for key := range want {
		if bytes.Contains([]byte(key), []byte("description/br")) {
			delete(want, key)
		}
	}
	require.Equal(t, len(want), len(contents(t, tagged)))
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
		tagged := taggedRecord(b, document)
		b.SetBytes(int64(len(document)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := xml.MarshalIndent(tagged, "", "  "); err != nil {
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
			if err := xml.Unmarshal(document, &taggedResource{}); err != nil {
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
