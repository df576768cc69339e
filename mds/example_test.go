package mds_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// glacier is a small complete record.
func glacier() mds.Document {
	doc, err := mds.NewDocument(&metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}},
		Titles:          []metadata.Title{{Title: "Glacier length"}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "2026",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
	})
	if err != nil {
		log.Fatal(err)
	}
	return doc
}

func Example() {
	srv := datacitetest.NewServer(nil) // the service in memory; mds.Test in real life
	defer srv.Close()
	client, err := mds.NewClient(datacite.Config{Service: datacite.Service{MDS: srv.URL}, Username: datacitetest.Username, Password: datacitetest.Password})
	if err != nil {
		log.Fatal(err)
	}
	done, err := client.Register(context.Background(), "10.5072/glacier-7", "https://repo.example.org/glacier/7", glacier(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(doi.URL(done.DOI), done.Change, done.State)
	// Output: https://doi.org/10.5072/glacier-7 created findable
}

func ExampleClient_Register() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.MDS()

	for _, address := range []string{"https://repo.example.org/old", "https://repo.example.org/new", "https://repo.example.org/new"} {
		done, err := client.Register(ctx, "10.5072/glacier-7", address, glacier(), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(done.Change, done.URL)
	}
	// Output:
	// created https://repo.example.org/old
	// updated https://repo.example.org/new
	// unchanged https://repo.example.org/new
}

func ExampleClient_Mint() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.MDS()

	doi, err := client.Mint(ctx, "10.5072", glacier())
	if err != nil {
		log.Fatal(err)
	}
	prefix, suffix, _ := strings.Cut(doi, "/")
	fmt.Println(prefix, len(suffix), srv.State(doi))
	// Output: 10.5072 9 draft
}

func ExampleClient_PutURL() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.MDS()

	_, err := client.PutURL(ctx, "10.5072/glacier-7", "https://repo.example.org/glacier/7")
	fmt.Println(errors.Is(err, mds.ErrMetadataMissing))

	if _, err := client.PutMetadata(ctx, "10.5072/glacier-7", glacier()); err != nil {
		log.Fatal(err)
	}
	status, err := client.PutURL(ctx, "10.5072/glacier-7", "https://repo.example.org/glacier/7")
	fmt.Println(status, err)
	// Output:
	// true
	// OK <nil>
}

func ExampleClient_Hide() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.MDS()

	if _, err := client.Register(ctx, "10.5072/glacier-7", "https://repo.example.org/glacier/7", glacier(), nil); err != nil {
		log.Fatal(err)
	}
	if err := client.Hide(ctx, "10.5072/glacier-7"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.State("10.5072/glacier-7"))
	if err := client.Show(ctx, "10.5072/glacier-7"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.State("10.5072/glacier-7"))
	// Output:
	// registered
	// findable
}

func ExampleClient_DeleteDraft() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.MDS()

	doi, err := client.Mint(ctx, "10.5072", glacier())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.DeleteDraft(ctx, doi))
	fmt.Println(errors.Is(client.DeleteDraft(ctx, doi), datacite.ErrNotFound))
	// Output:
	// <nil>
	// true
}

func ExampleClient_Metadata() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.MDS()

	if _, err := client.PutMetadata(ctx, "10.5072/glacier-7", glacier()); err != nil {
		log.Fatal(err)
	}
	doc, err := client.Metadata(ctx, "10.5072/glacier-7")
	if err != nil {
		log.Fatal(err)
	}
	record, err := metadata.ParseXML(strings.NewReader(string(doc.Data)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Title())
	// Output: Glacier length
}

func ExampleClient_CheckAccess() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.MDS()

	fmt.Println(client.CheckAccess(ctx, "10.5072", "https://repo.example.org/"))
	fmt.Println(client.CheckAccess(ctx, "10.70000", "https://repo.example.org/") != nil)
	// Output:
	// <nil>
	// true
}

func ExampleNewClient_limiter() {
	// The limit that DataCite documents for accounts.
	cfg := datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO", Password: "secret", Limiter: rate.NewLimiter(rate.Every(5*time.Minute/3000), 1)}
	_, err := mds.NewClient(cfg)
	fmt.Println(err)
	// Output: <nil>
}

// What a form collected is checked before anything is sent: all faults at once, and what would be stored otherwise.
func ExampleNewDocument() {
	record := &metadata.Record{
		Creators: []metadata.Creator{metadata.Person("Lovelace", "Ada")}, Publisher: metadata.Publisher{Name: "Ice Archive"},
		PublicationYear: "26", Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
	}
	_, err := mds.NewDocument(record)
	for _, f := range datacite.Findings(err) {
		fmt.Println(f)
	}

	record.Titles, record.PublicationYear = []metadata.Title{{Title: "Ice <cores>"}}, "2026"
	doc, err := mds.NewDocument(record)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range doc.Findings() {
		fmt.Println(f)
	}
	// Output:
	// titles: a record needs a title; where there is none, write :unav
	// publicationYear: a year of publication is four digits
	// warning: titles[0].title: the service reads this text as HTML and changes "<cores>"
}

// Metadata that a repository keeps as XML are sent as they are.
func ExampleXML() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, doc := context.Background(), mds.XML([]byte(`<resource xmlns="http://datacite.org/schema/kernel-4">
<identifier identifierType="DOI">10.5072/ice-cores</identifier>
<creators><creator><creatorName>Ice Group</creatorName></creator></creators>
<titles><title>Ice cores</title></titles><publisher>Ice Archive</publisher><publicationYear>2026</publicationYear>
<resourceType resourceTypeGeneral="Dataset"/></resource>`))

	_, err := srv.MDS().PutMetadata(ctx, "10.5072/other", doc)
	fmt.Println(err)
	fmt.Println(srv.MDS().PutMetadata(ctx, "10.5072/ice-cores", doc))
	// Output:
	// datacite: doc.Data: names 10.5072/ice-cores, another DOI than 10.5072/other; AllowOtherDOI permits that
	// OK <nil>
}
