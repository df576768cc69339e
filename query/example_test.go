package query_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/query"
)

// Datasets about climate change from six years, except those of one publisher.
func Example() {
	q := query.And(
		query.FieldTitle.Is("climate change"),
		query.FieldResourceTypeGeneral.Is("Dataset"),
		query.FieldPublicationYear.Between("2010", "2015"),
		query.Not(query.FieldPublisher.Is("Zenodo")),
	)
	fmt.Println(q)
	// Output:
	// titles.title:"climate change"~0 AND types.resourceTypeGeneral:Dataset AND publicationYear:[2010 TO 2015] AND NOT publisher:Zenodo
}

// Whatever a value holds, it stays a value.
func ExampleTerm() {
	fmt.Println(query.Term("climate"))
	fmt.Println(query.Term(`a") OR *:* OR ("b`))
	fmt.Println(query.Term("publicationYear"))
	// Output:
	// climate
	// "a\") OR *:* OR (\"b"~0
	// "publication\Year"
}

func ExampleBool() {
	fmt.Println(query.Bool(query.Must(query.Term("climate")), query.MustNot(query.Term("ice")), query.Term("alps")))
	fmt.Println(query.And(query.Term("climate"), query.Or(query.Term("alps"), query.All()), query.Not(query.Term("ice"))))
	// Output:
	// +climate -ice alps
	// climate AND (alps OR *:*) AND NOT ice
}

func ExampleNot() {
	fmt.Println(query.Not(query.Term("ice")))
	fmt.Println(query.And(query.Term("climate"), query.Not(query.Term("ice"))))
	fmt.Println(query.Or(query.Term("climate"), query.Not(query.Term("ice"))))
	// Output:
	// *:* AND NOT ice
	// climate AND NOT ice
	// climate OR (*:* AND NOT ice)
}

// A search form has types to choose from, a name that is being typed, words near each other, and a box for "with
// a licence".
func ExampleField_form() {
	fmt.Println(query.FieldResourceTypeGeneral.In("Dataset", "Collection"))
	fmt.Println(query.FieldCreatorName.StartsWith("Lovel"))
	fmt.Println(query.FieldTitle.Near("glacier length", 3))
	fmt.Println(query.FieldRightsIdentifier.Exists())
	// Output:
	// types.resourceTypeGeneral:(Dataset OR Collection)
	// creators.name:Lovel*
	// titles.title:"glacier length"~3
	// rightsList.rightsIdentifier:*
}

// A query that was tried elsewhere is sent as it is, and stays whole inside another.
func ExampleRaw() {
	tried := query.Raw("ice OR snow^2")
	fmt.Println(tried)
	fmt.Println(query.And(query.FieldPublicationYear.Is("2026"), tried))
	// Output:
	// ice OR snow^2
	// publicationYear:2026 AND (ice OR snow^2)
}

func ExampleField_Between() {
	fmt.Println(query.FieldPublicationYear.Between("2010", ""))
	fmt.Println(query.Check(query.FieldPublicationYear.Between("*", "2015")))
	// Output:
	// publicationYear:[2010 TO *]
	// datacite: query: publicationYear: a literal * cannot be the bound of a range; "" leaves the range open
}

func ExampleField_BetweenTimes() {
	since := time.Date(2025, 6, 1, 9, 30, 0, 0, time.UTC)
	fmt.Println(query.FieldUpdated.BetweenTimes(since, time.Time{}))
	fmt.Println(query.FieldCreated.BetweenTimes(since, since.AddDate(0, 1, 0)))
	// Output:
	// updated:[2025-06-01T09:30:00Z TO *]
	// created:[2025-06-01T09:30:00Z TO 2025-07-01T09:30:00Z]
}

func ExampleField_IsORCID() {
	fmt.Println(query.FieldCreatorNameIdentifier.IsORCID("0000-0002-1825-0097"))
	// Output:
	// creators.nameIdentifiers.nameIdentifier:("0000-0002-1825-0097" OR "https://orcid.org/0000-0002-1825-0097")
}

// A platform restricts what its users search to its own records.
func ExampleParse() {
	theirs, err := query.Parse("climate OR ice")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(query.And(query.FieldClientID.Is("cern.zenodo"), theirs))

	_, err = query.Parse(`climate) OR (ice`)
	fmt.Println(err)
	if e, ok := errors.AsType[*query.SyntaxError](err); ok {
		fmt.Println("at", e.Offset)
	}
	// Output:
	// client_id:"cern.zenodo" AND (climate OR ice)
	// query: at offset 7: this bracket closes nothing, or there is nothing in it
	// at 7
}

// The same text on a server as specified and on the deployed one.
func ExampleExplicit() {
	e, err := query.Parse("climate +ice alps")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(query.Explicit(e, query.OperatorOr))
	fmt.Println(query.Explicit(e, query.OperatorAnd))
	// Output:
	// (climate OR alps OR *:*) AND ice
	// climate AND ice AND alps
}

func ExampleCheck() {
	err := query.Check(query.And(query.FieldTitle.Is("climate"), query.FieldPublicationYear.Like("20*")))
	fmt.Println(err)
	fmt.Println(errors.Is(err, datacite.ErrInvalid))
	// Output:
	// datacite: query: publicationYear:20*: a year takes no wildcard; use a range such as [2010 TO 2015]
	// true
}

func ExampleAdvise() {
	e, err := query.Parse("title:ice OR climate AND alps")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range query.Advise(e) {
		fmt.Println(a)
	}
	// Output:
	// title:ice OR climate AND alps: AND does not come before OR: each decides about the clauses beside it; write (title:ice OR *:*) AND climate AND alps
	// title:ice: the service knows no field of that name and finds nothing in it; write titles.title:ice
}

func ExampleCheckList() {
	err := query.CheckList(query.All(), query.ByTitle, query.Page{Size: 1000, Number: 11}, query.Sample{})
	fmt.Println(err)
	fmt.Println(query.CheckList(query.All(), query.ByCreated, query.Page{Size: 1000, Cursor: "1"}, query.Sample{}))
	// Output:
	// datacite: page: number 11 of 1000 records is beyond the first 10000 records, and the service would return another page again; use a cursor
	// <nil>
}
