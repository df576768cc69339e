package reconcile_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

func ExampleNewClient() {
	srv := datacitetest.NewServer(nil) // in operation: datacite.Production, and the login of the repository
	defer srv.Close()
	client, err := reconcile.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL},
		Username: datacitetest.Username, Password: datacitetest.Password})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		desired := reconcile.Desired{DOI: "10.5072/a", URL: "https://example.org/a"}
		done, err := client.Ensure(context.Background(), desired, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s %q\n", done.Record.DOI, done.Record.State, done.Road) // "": nothing was to be written
	}
	// Output:
	// 10.5072/a draft "json"
	// 10.5072/a draft ""
}

func ExampleClient_EnsureAll() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	desired := func(yield func(reconcile.Desired, error) bool) { // from a database, a file, a slice
		record := &metadata.Record{
			Creators: []metadata.Creator{metadata.Person("Lovelace", "Ada")}, Titles: []metadata.Title{{Title: "Glacier length"}},
			Publisher: metadata.Publisher{Name: "Ice Archive"}, PublicationYear: "2026", Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
		}
		for _, suffix := range []string{"one", "two", "th ree"} {
			desired := reconcile.Desired{DOI: "10.5072/" + suffix, URL: "https://example.org/" + suffix[:2],
				State: datacite.StateFindable, Metadata: record}
			if !yield(desired, nil) {
				return
			}
		}
	}
	findable := 0
	for done, err := range srv.Reconcile().EnsureAll(context.Background(), desired, nil) {
		if err != nil {
			log.Fatal(err) // the run ended; run it again to continue
		}
		if done.Err != nil {
			fmt.Println(done.Desired.DOI, "failed, badly named:", errors.Is(done.Err, datacite.ErrInvalidDOI))
			continue
		}
		findable++
	}
	fmt.Println(findable, "are findable")
	// Output:
	// 10.5072/th ree failed, badly named: true
	// 2 are findable
}

// A repository compares its own list with the service, and corrects what differs.
func ExampleClient_Audit() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.Reconcile() // a program calls reconcile.NewClient, with the credentials of the repository
	for _, record := range []string{
		`{"doi":"10.5072/area","state":"draft","url":"https://example.org/area","titles":[{"title":"Glacier area"}],"version":"2"}`,
		`{"doi":"10.5072/viewer","state":"draft"}`,
	} {
		if err := srv.PutRecordJSON([]byte(record)); err != nil {
			log.Fatal(err)
		}
	}
	list := func(yield func(reconcile.Desired, error) bool) { // a title alone: the version stays
		area := &metadata.Record{Titles: []metadata.Title{{Title: "Area of glaciers"}}}
		_ = yield(reconcile.Desired{DOI: "10.5072/mass", URL: "https://example.org/mass"}, nil) &&
			yield(reconcile.Desired{DOI: "10.5072/area", URL: "https://example.org/area", Metadata: area}, nil)
	}
	opts := &reconcile.AuditOptions{Prefix: []string{"10.5072"}}
	for d, err := range client.Audit(ctx, list, opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d)
	}
	found := reconcile.Corrections(client.Audit(ctx, list, opts))
	for done, err := range client.EnsureAll(ctx, found, &reconcile.Options{Workers: 1}) {
		if err = cmp.Or(err, done.Err); err != nil {
			log.Fatal(err)
		}
		fmt.Println(done.Desired.DOI, "is as it should be, version", done.Record.Version)
	}
	// Output:
	// 10.5072/area: changed
	// 	titles[0].title: "Area of glaciers" is wanted, and "Glacier area" was found
	// 10.5072/mass: missing
	// 10.5072/viewer: extra
	// 10.5072/area is as it should be, version 2
	// 10.5072/mass is as it should be, version
}

// The record that was corrected is stored as XML, which holds more than the service's JSON: the rest of it stays.
func ExampleClient_Ensure() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx := context.Background()
	stored := mds.XML([]byte(`<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">10.5072/a</identifier>
<creators><creator><creatorName xml:lang="en">Ice Group</creatorName></creator></creators><titles><title>Glacier lenght</title></titles>
<publisher>Ice Archive</publisher><publicationYear>2026</publicationYear><resourceType resourceTypeGeneral="Dataset"/>
<dates><date dateType="Collected">c. 1850</date></dates></resource>`))
	if _, err := srv.MDS().Register(ctx, "10.5072/a", "https://example.org/a", stored, nil); err != nil {
		log.Fatal(err)
	}
	titles := &metadata.Record{Titles: []metadata.Title{{Title: "Glacier length"}}}
	done, err := srv.Reconcile().Ensure(ctx, reconcile.Desired{DOI: "10.5072/a", Metadata: titles}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Road)
	fmt.Println(bytes.Contains(done.Record.MetadataXML, []byte("c. 1850")))
	// Output:
	// xml
	// true
}
