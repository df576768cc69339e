package dois_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// exampleService is the service in memory with three records about glaciers.
func exampleService() *datacitetest.Server {
	srv := datacitetest.NewServer(nil)
	for _, record := range []string{
		`{"doi":"10.5072/length","created":"2020-01-01","citationCount":3,"titles":[{"title":"Glacier length"}],
			"types":{"resourceTypeGeneral":"Dataset"},"publisher":{"name":"Ice Archive","publisherIdentifier":"https://ror.org/04z8jg394"},
			"viewsOverTime":[{"yearMonth":"2020-11","total":2},{"yearMonth":"2021-01","total":5}]}`,
		`{"doi":"10.5072/area","created":"2021-01-01","citationCount":8,"titles":[{"title":"Glacier area"}],
			"types":{"resourceTypeGeneral":"Dataset"}}`,
		`{"doi":"10.5072/viewer","created":"2022-01-01","titles":[{"title":"Glacier viewer"}],
			"types":{"resourceTypeGeneral":"Software"}}`,
	} {
		if err := srv.PutRecordJSON([]byte(record)); err != nil {
			log.Fatal(err)
		}
	}
	return srv
}

func Example() {
	srv := exampleService() // a program says dois.NewClient(datacite.Config{Service: datacite.Production})
	defer srv.Close()
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}})
	if err != nil {
		log.Fatal(err)
	}

	opts := &dois.ListOptions{Query: query.FieldTitle.Is("glacier"), ResourceTypeID: []string{"dataset"}}
	for record, err := range client.All(context.Background(), opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(record.DOI, record.Title())
	}
	// Output:
	// 10.5072/length Glacier length
	// 10.5072/area Glacier area
}

func ExampleClient_List() {
	srv := exampleService()
	defer srv.Close()

	found, err := srv.DOIs().List(context.Background(), &dois.ListOptions{
		Query:  query.Or(query.Term("area"), query.Term("length")),
		Sort:   query.ByCitationCount.Desc(),
		Page:   query.Page{Size: 1},
		Fields: []string{"doi", "citationCount"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Total, "records")
	fmt.Println(found.Records[0].DOI, "is cited", found.Records[0].CitationCount, "times")
	fmt.Println("more:", found.More)
	// Output:
	// 2 records
	// 10.5072/area is cited 8 times
	// more: true
}

func ExampleClient_Walk() {
	srv := exampleService()
	defer srv.Close()
	ctx, opts := context.Background(), &dois.ListOptions{}

	walk := srv.DOIs().Walk(opts)
	for record, err := range walk.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(record.DOI)
		break
	}

	opts.From = walk.Position() // may be kept as JSON until tomorrow
	for record, err := range srv.DOIs().Walk(opts).All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("then", record.DOI)
	}
	// Output:
	// 10.5072/length
	// then 10.5072/area
	// then 10.5072/viewer
}

func ExampleClient_Get() {
	srv := exampleService()
	defer srv.Close()

	record, err := srv.DOIs().Get(context.Background(), "https://doi.org/10.5072/length", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Title())
	fmt.Println(record.Publisher.Name, record.Publisher.PublisherIdentifier)

	_, err = srv.DOIs().Get(context.Background(), "10.5072/unknown", nil)
	fmt.Println(errors.Is(err, datacite.ErrNotFound))
	// Output:
	// Glacier length
	// Ice Archive https://ror.org/04z8jg394
	// true
}

func ExampleClient_Create() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()

	record, err := srv.DOIs().Create(context.Background(), &dois.Draft{
		DOI:   "10.5072/ice-cores",
		URL:   "https://repository.example.org/ice-cores",
		Event: dois.Publish,
		Record: metadata.Record{
			Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}},
			Titles:          []metadata.Title{{Title: "Ice cores"}},
			Publisher:       metadata.Publisher{Name: "Ice Archive"},
			PublicationYear: "2026",
			Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.DOI, record.State)
	// Output: 10.5072/ice-cores findable
}

func ExampleClient_Update() {
	srv := exampleService()
	defer srv.Close()
	ctx, client := context.Background(), srv.DOIs()

	record, err := client.Get(ctx, "10.5072/length", nil)
	if err != nil {
		log.Fatal(err)
	}
	draft, err := record.Draft() // what was read, ready to be written again
	if err != nil {
		log.Fatal(err)
	}
	draft.Titles[0].Title = "Glacier length, revised"
	draft.Creators = []metadata.Creator{{Name: "Lovelace, Ada"}}
	draft.PublicationYear = "2020"
	draft.URL = "https://repository.example.org/length"
	record, err = client.Update(ctx, record.DOI, draft)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Title())
	fmt.Println(record.Publisher.PublisherIdentifier)
	// Output:
	// Glacier length, revised
	// https://ror.org/04z8jg394
}

func ExampleClient_EnsureAll() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	wanted := func(yield func(dois.Wanted, error) bool) { // from a database, a file, a slice
		record := &metadata.Record{
			Creators: []metadata.Creator{metadata.Person("Lovelace", "Ada")}, Titles: []metadata.Title{{Title: "Glacier length"}},
			Publisher: metadata.Publisher{Name: "Ice Archive"}, PublicationYear: "2026", Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
		}
		for _, suffix := range []string{"one", "two", "th ree"} {
			if !yield(dois.Wanted{DOI: "10.5072/" + suffix, URL: "https://example.org/" + suffix[:2], State: dois.StateFindable, Metadata: record}, nil) {
				return
			}
		}
	}
	findable := 0
	for done, err := range srv.DOIs().EnsureAll(context.Background(), wanted, nil) {
		if err != nil {
			log.Fatal(err) // the run ended; run it again to continue
		}
		if done.Err != nil {
			fmt.Println(done.Wanted.DOI, "failed, badly named:", errors.Is(done.Err, datacite.ErrInvalidDOI))
			continue
		}
		findable++
	}
	fmt.Println(findable, "are findable")
	// Output:
	// 10.5072/th ree failed, badly named: true
	// 2 are findable
}

// A repository compares its own list with the service, and mends what differs.
func ExampleClient_Audit() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.DOIs() // a program says dois.NewClient, with the credentials of the repository
	for _, record := range []string{
		`{"doi":"10.5072/area","state":"draft","url":"https://example.org/area","titles":[{"title":"Glacier area"}]}`,
		`{"doi":"10.5072/viewer","state":"draft"}`,
	} {
		if err := srv.PutRecordJSON([]byte(record)); err != nil {
			log.Fatal(err)
		}
	}
	wanted := func(yield func(dois.Wanted, error) bool) {
		area := &metadata.Record{Titles: []metadata.Title{{Title: "Area of glaciers"}}}
		_ = yield(dois.Wanted{DOI: "10.5072/mass", URL: "https://example.org/mass"}, nil) &&
			yield(dois.Wanted{DOI: "10.5072/area", URL: "https://example.org/area", Metadata: area}, nil)
	}
	opts := &dois.AuditOptions{Prefix: []string{"10.5072"}}
	for d, err := range client.Audit(ctx, wanted, opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d)
	}
	for r, err := range client.Repair(ctx, client.Audit(ctx, wanted, opts), &dois.RepairOptions{Workers: 1}) {
		switch {
		case err != nil:
			log.Fatal(err)
		case r.Err != nil:
			fmt.Println(r.Err)
		case r.Changed:
			fmt.Println(r.DOI, "is as it should be")
		}
	}
	// Output:
	// 10.5072/area: changed
	// 	titles[0].title: "Area of glaciers" is wanted, and "Glacier area" was found
	// 10.5072/mass: missing
	// 10.5072/viewer: extra
	// 10.5072/area is as it should be
	// 10.5072/mass is as it should be
	// dois: not as wanted: 10.5072/viewer is not wanted; hide or delete it yourself, or add it to what is wanted
}

func ExampleSeries_ByYear() {
	srv := exampleService()
	defer srv.Close()

	record, err := srv.DOIs().Get(context.Background(), "10.5072/length", &dois.GetOptions{Detail: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, year := range record.ViewsOverTime.ByYear() {
		fmt.Println(year.Year, year.Total)
	}
	// Output:
	// 2020 2
	// 2021 5
}
