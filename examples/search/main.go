package main

import (
	"context"
	"fmt"
	"log"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

func main() {
	cfg, err := datacite.FromEnvironment() // DATACITE_SERVICE
	if err != nil {
		log.Fatal(err)
	}
	client, err := dois.NewClient(cfg)
	if err != nil {
		log.Fatal(err)
	}
	glaciers := query.And(query.FieldTitle.Is("glacier"), query.FieldPublicationYear.Between("2020", "2026"))
	for record, err := range client.All(context.Background(), &dois.ListOptions{Query: glaciers}) {
		if err != nil {
			log.Fatal(err) // a loop without an error has returned all records
		}
		fmt.Println(record.DOI, record.Title())
	}
}
