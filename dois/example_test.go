package dois_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

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
			"types":{"resourceTypeGeneral":"Software"},"creators":[{"name":"Lovelace, Ada"}],"publisher":{"name":"Ice Archive"},
			"publicationYear":2022,"url":"https://repository.example.org/viewer"}`,
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
		Event: dois.EventPublish,
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

// A record is hidden from searches, with a reason; its DOI goes on resolving.
func ExampleClient_ChangeState() {
	srv := exampleService()
	defer srv.Close()

	record, err := srv.DOIs().ChangeState(context.Background(), "10.5072/viewer", dois.EventHide, &dois.EventOptions{Reason: "withdrawn"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.State, record.Reason)
	// Output: registered withdrawn
}

// Drafts can be deleted, and nothing else can.
func ExampleClient_Delete() {
	srv := exampleService()
	defer srv.Close()
	ctx, client := context.Background(), srv.DOIs()

	draft, err := client.Create(ctx, &dois.Draft{Prefix: "10.5072"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(draft.State, client.Delete(ctx, draft.DOI))
	fmt.Println(client.Exists(ctx, draft.DOI))
	err = client.Delete(ctx, "10.5072/area")
	fmt.Println(errors.Is(err, datacite.ErrNotAllowed))
	// Output:
	// draft <nil>
	// false <nil>
	// true
}

// A member moves a DOI to another repository of its own; the link and the metadata stay.
func ExampleClient_Transfer() {
	srv := datacitetest.NewServer(&datacitetest.Options{Accounts: []datacitetest.Account{
		{}, {Username: "EXAMPLE.NEW"}, {Username: "EXAMPLE", Role: "provider_admin"},
	}})
	defer srv.Close()
	ctx, member := context.Background(), srv.As("EXAMPLE").DOIs() // in operation: a client with the member's login
	if _, err := srv.DOIs().Create(ctx, &dois.Draft{DOI: "10.5072/ice-cores"}); err != nil {
		log.Fatal(err)
	}

	record, err := member.Transfer(ctx, "10.5072/ice-cores", "EXAMPLE.NEW", &dois.TransferOptions{From: "EXAMPLE.REPO"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.DOI, "belongs to", record.Client)
	_, err = member.Transfer(ctx, "10.5072/ice-cores", "EXAMPLE.REPO", &dois.TransferOptions{From: "EXAMPLE.REPO"})
	fmt.Println("not from there:", errors.Is(err, datacite.ErrConflict))
	// Output:
	// 10.5072/ice-cores belongs to example.new
	// not from there: true
}

// A database takes the records a page at a time, each in a transaction.
func ExampleClient_Pages() {
	srv := exampleService()
	defer srv.Close()

	opts := &dois.ListOptions{Page: query.Page{Size: 2}}
	for page, err := range srv.DOIs().Pages(context.Background(), opts) {
		if err != nil {
			log.Fatal(err)
		}
		for _, record := range page.Records {
			fmt.Println(record.DOI)
		}
		fmt.Println("of", page.Total, "more:", page.More)
	}
	// Output:
	// 10.5072/length
	// 10.5072/area
	// of 3 more: true
	// 10.5072/viewer
	// of 3 more: false
}

// A landing page says how to cite the dataset.
func ExampleClient_Citation() {
	srv := exampleService()
	defer srv.Close()
	ctx, client := context.Background(), srv.DOIs()

	text, err := client.Citation(ctx, "10.5072/viewer", nil) // in APA style
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output:
	// Lovelace, Ada. (2022). <i>Glacier viewer</i> [Computer software]. Ice Archive. https://doi.org/10.5072/VIEWER
}

func ExampleClient_Open() {
	srv := exampleService()
	defer srv.Close()

	file, err := srv.DOIs().Open(context.Background(), "10.5072/viewer", dois.FormatBibTeX)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if _, err := io.Copy(os.Stdout, file); err != nil {
		log.Fatal(err)
	}
	// Output:
	// @misc{https://doi.org/10.5072/viewer,
	//   doi = {10.5072/VIEWER},
	//   url = {https://repository.example.org/viewer},
	//   author = {{Lovelace, Ada}},
	//   title = {Glacier viewer},
	//   publisher = {Ice Archive},
	//   year = {2022}
	// }
}

// The service lists the DOIs of an account that resolve, for which the package has no method.
func ExampleClient_Do() {
	srv := exampleService()
	defer srv.Close()

	response, err := srv.DOIs().Do(context.Background(), &datacite.Request{Method: "GET", Path: "/dois/get-dois"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, string(response.Body))
	// Output:
	// 200 {"dois":["10.5072/AREA","10.5072/LENGTH","10.5072/VIEWER"]}
}
