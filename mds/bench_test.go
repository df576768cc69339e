package mds_test

import (
	"testing"

	"github.com/datacite-go/datacite-go/mds"
)

func BenchmarkRegister(b *testing.B) {
	srv := newServer(b, nil)
	doc := record("Glacier length")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := srv.MDS().Register(b.Context(), name, address, doc, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRegisterUnchanged(b *testing.B) {
	srv := newServer(b, nil)
	doc := record("Glacier length")
	if _, err := srv.MDS().Register(b.Context(), name, address, doc, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		done, err := srv.MDS().Register(b.Context(), name, address, doc, nil)
		if err != nil || done.Change != mds.Unchanged {
			b.Fatal(done, err)
		}
	}
}
