package main

import (
	"context"
	"log"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

func main() {
	cfg, err := datacite.FromEnvironment() // DATACITE_SERVICE, DATACITE_USERNAME, DATACITE_PASSWORD
	if err != nil {
		log.Fatal(err)
	}
	client, err := mds.NewClient(cfg)
	if err != nil {
		log.Fatal(err)
	}
	doc, err := mds.NewDocument(&metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}},
		Titles:          []metadata.Title{{Title: "Glacier length"}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "2026",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
	})
	if err != nil {
		log.Fatal(err) // lists all faults of the metadata
	}
	done, err := client.Register(context.Background(), "10.5072/glacier-1", "https://repository.example.org/1", doc, nil)
	if err != nil {
		log.Fatal(err)
	}
	log.Println(done.DOI, "is", done.State)
}
