package main

import (
	"context"
	"log"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

func main() {
	cfg, err := datacite.FromEnvironment() // DATACITE_SERVICE, DATACITE_TOKEN
	if err != nil {
		log.Fatal(err)
	}
	client, err := reports.NewClient(cfg)
	if err != nil {
		log.Fatal(err)
	}
	month := reports.Month(2026, time.October)
	header := reports.NewHeader("Example Repository", reports.Day(time.Now()), month)
	counts := reports.Source([]reports.Dataset{{ // or an iterator over millions, from a database or a file
		Title: "Glacier length", Platform: "Example", Publisher: "Example Repository", DataType: reports.DataTypeDataset,
		DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/glacier-1"}},
		Performance: []reports.Performance{{Period: month, Instance: []reports.Instance{
			{Count: 12, MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular}, // shown as views
		}}},
	}})
	receipt, err := client.Submit(context.Background(), header, counts, nil)
	if err != nil {
		log.Fatal(err) // tells how much of the report is stored
	}
	log.Println(receipt.Datasets, "datasets stored as report", receipt.ReportID)
}
