package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// send submits the report, and compares what is stored with it.
func (in *input) send(ctx context.Context, client *reports.Client, header reports.Header, datasets iter.Seq2[reports.Dataset, error], warned *warnings) (*reports.Receipt, error) {
	var broken error // what ended the datasets
	receipt, err := client.Submit(ctx, header, func(yield func(reports.Dataset, error) bool) {
		for d, err := range datasets {
			if err == nil {
				warned.doi = d.DatasetID[0].Value
			}
			if broken = err; !yield(d, err) {
				return
			}
		}
	}, &reports.SubmitOptions{
		ZeroDropped: in.zeroDropped, CompareOthers: in.compareOthers, RefuseLower: !in.allowLower,
		Warn: warned.add, Progress: in.meter.sending,
	})
	switch {
	case broken != nil:
		return nil, broken
	case err != nil:
		return nil, &serviceError{err}
	}
	if err := client.Verify(ctx, receipt); err != nil {
		return nil, &unverifiedError{err}
	}
	return receipt, nil
}

func (m *meter) sending(p reports.Progress) {
	switch p.Stage {
	case reports.Waiting:
		m.say("waiting until %s at the latest: %s", p.Until.Local().Format(time.TimeOnly), p.Reason)
	case reports.Sending:
		m.say("sent %d of %d subsets", p.Subsets, p.Total)
	}
}

// mostWarnings are shown.
const mostWarnings = 20

// warnings are of what DOI records will not show as it was counted.
type warnings struct {
	doi   string // of the dataset read last
	first []datacite.Finding
	all   int64
}

// add takes a warning. Nobody finds a dataset of logs by its number, so its DOI is named.
// That countries add up to less than the whole is not a warning here: not every address has one.
func (w *warnings) add(f datacite.Finding) {
	if _, field, ok := strings.Cut(f.Path, "]."); ok && strings.HasPrefix(f.Path, "report-datasets[") {
		if strings.HasSuffix(field, ".country-counts") {
			return
		}
		f.Path = w.doi + ": " + field
	}
	if w.all++; len(w.first) < mostWarnings {
		w.first = append(w.first, f)
	}
}

func (w *warnings) print(out io.Writer) {
	for _, f := range w.first {
		fmt.Fprintln(out, f)
	}
	if w.all > mostWarnings {
		fmt.Fprintf(out, "warnings: %s in all, of which %d are shown\n", thousands(w.all), mostWarnings)
	}
}
