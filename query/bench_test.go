package query_test

import (
	"testing"

	"github.com/datacite-go/datacite-go/query"
)

// tenClauses is a query as a platform builds it.
func tenClauses() query.Expr {
	return query.And(
		query.FieldClientID.Is("cern.zenodo"),
		query.FieldTitle.Is("climate change"),
		query.FieldCreatorName.Is("Garza, Kristian"),
		query.FieldResourceTypeGeneral.Is("Dataset"),
		query.FieldPublicationYear.Between("2010", "2015"),
		query.FieldDOI.StartsWith("10.5438/"),
		query.FieldSubject.Exists(),
		query.FieldLanguage.Is("en"),
		query.FieldViewCount.Between("10", ""),
		query.Not(query.FieldPublisher.Is("Zenodo")),
	)
}

var text string

func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		tenClauses()
	}
}

func BenchmarkBuildAndPrint(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		text = tenClauses().String()
	}
}

func BenchmarkPrint(b *testing.B) {
	e := tenClauses()
	b.ReportAllocs()
	for b.Loop() {
		text = e.String()
	}
}

func BenchmarkParse(b *testing.B) {
	s := tenClauses().String()
	b.ReportAllocs()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if _, err := query.Parse(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	e := tenClauses()
	b.ReportAllocs()
	for b.Loop() {
		if err := query.Check(e); err != nil {
			b.Fatal(err)
		}
	}
}
