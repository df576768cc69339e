package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/datacite-go/datacite-go/reports"
)

func (d *demo) report(ctx context.Context) error {
	lastMonth := time.Now().UTC().AddDate(0, 0, -time.Now().UTC().Day())
	header := reports.NewHeader(d.creator, reports.Day(time.Now().UTC()),
		reports.Month(lastMonth.Year(), lastMonth.Month()))
	receipt, err := d.reports.Submit(ctx, header, d.datasetsOf(header.ReportingPeriod), &reports.SubmitOptions{
		HelpURL: "https://support.datacite.org/docs/usage-reports-api-guide",
		Progress: func(p reports.Progress) {
			switch p.Stage {
			case reports.StageWaiting: // only when something went wrong, such as a lost response
				d.say("waiting until %s: %s", p.Until.Local().Format(time.TimeOnly), p.Reason)
			case reports.StageSending:
				d.say("sent %d of %d subsets: %d datasets, %.1f MB compressed", p.Subsets, p.Total, p.Datasets,
					float64(p.Bytes)/1e6)
			}
		},
	})
	if err != nil {
		return err
	}
	d.say("report %s holds %d datasets in %s", receipt.ReportID, receipt.Datasets, plural(len(receipt.Subsets), "subset"))

	stored, err := d.reports.Open(ctx, receipt.ReportID)
	if err != nil {
		return err
	}
	defer stored.Close()
	arrived, requests := int64(0), int64(0)
	for dataset, err := range stored.All() {
		if err != nil {
			return err
		}
		arrived++
		requests += dataset.Performance[0].Instance[0].Count
	}
	d.say("read back: %d datasets with %d requests, reported by %q", arrived, requests, stored.Header.CreatedBy)
	if arrived != receipt.Datasets {
		return fmt.Errorf("%d datasets sent, %d arrived", receipt.Datasets, arrived)
	}
	return nil
}

// datasetsOf stands for your database: it yields one dataset after the other,
// so that no list of them all is ever needed.
func (d *demo) datasetsOf(period reports.Period) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for i := range d.datasets {
			if !yield(d.dataset(i, period), nil) {
				return
			}
		}
	}
}

func (d *demo) dataset(i int, period reports.Period) reports.Dataset {
	name := fmt.Sprintf("%s/usage-%06d", d.prefix, i)
	return reports.Dataset{
		Title:        fmt.Sprintf("Table %d", i),
		YOP:          "2024",
		URI:          d.url,
		Platform:     "quickstart",
		DataType:     reports.DataTypeDataset,
		Publisher:    "Quick Start Repository",
		PublisherID:  []reports.TypedValue{{Type: "grid", Value: "grid.0000.0"}},
		DatasetID:    []reports.TypedValue{{Type: reports.TypeDOI, Value: name}},
		Dates:        []reports.TypedValue{{Type: reports.TypePubDate, Value: "2024-05-17"}},
		Contributors: []reports.TypedValue{{Type: reports.TypeName, Value: "Lovelace, Ada"}},
		Performance: []reports.Performance{{
			Period: period,
			Instance: []reports.Instance{{
				Count:         int64(1 + i%7),
				MetricType:    reports.MetricTotalDatasetRequests,
				AccessMethod:  reports.AccessRegular,
				CountryCounts: reports.CountryCounts{{Country: "de", Count: int64(1 + i%7)}},
			}},
		}},
	}
}
