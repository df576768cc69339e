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

func Benchmark(b *testing.B) {
	e := tenClauses()
	text := e.String()
	for name, do := range map[string]func(){
		"Build":         func() { tenClauses() },
		"BuildAndPrint": func() { _ = tenClauses().String() },
		"Print":         func() { _ = e.String() },
		"Parse":         func() { _, _ = query.Parse(text) },
		"Check":         func() { _ = query.Check(e) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}
