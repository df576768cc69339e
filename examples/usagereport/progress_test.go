package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/reports"
)

// newMeter shows on out what it is told, elsewhere than on a terminal.
func newMeter(out *bytes.Buffer) *meter {
	return &meter{p: &program.Program{Name: "usagereport", Stderr: out}}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := newMeter(&out)
		for n := range int64(1001) { // a thousand things in a minute
			m.at("Building", float64(n)/1000, n, "datasets")
			time.Sleep(60 * time.Millisecond)
		}
		m.at("Reading", -1, 7, "rows")
		assert.Equal(t, "Building  50%  500 datasets  16/s  30s left\nBuilding 100%  1,000 datasets  16/s\n", out.String())
		assert.Equal(t, "Reading   7 rows", m.text(sample{time.Now(), -1, 7, "rows"}))
	})
}

// looks are the waits between looks of a run that waits until then at the latest.
func looks(m *meter, latest time.Duration, reason string, pauses ...time.Duration) {
	until := time.Now().Add(latest)
	for _, d := range pauses {
		m.wait(until, reason)
		time.Sleep(d)
	}
}

func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const s = time.Second
		var out bytes.Buffer
		m := newMeter(&out)
		m.at("Sending", 0.25, 1, "datasets")
		looks(m, 300*s, "the response to the last request was lost", 1*s)
		looks(m, 1800*s, "the service cannot read the report", 2*s, 4*s, 8*s, 5*s)
		m.at("Sending", 0.5, 2, "datasets")
		looks(m, 300*s, "the response to the last request was lost", s)
		assert.Equal(t, strings.Join([]string{
			"Waiting until 00:05:00 at the latest (5m0s): the response to the last request was lost",
			"Waiting until 00:30:01 at the latest (30m0s): the service cannot read the report",
			"Waiting until 00:05:20 at the latest (5m0s): the response to the last request was lost",
			"",
		}, "\n"), out.String())
	})
}

func TestWatcherShowsBothStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		d := reports.Dataset{DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/a"}}}
		w := &watcher{show: newMeter(&out), in: &input{datasets: reports.Source([]reports.Dataset{d, d, d}), isTable: true}}
		for _, err := range w.datasets() {
			require.NoError(t, err)
			time.Sleep(20 * time.Second)
		}
		w.progress(reports.Progress{Stage: reports.Building, Subsets: 2, Datasets: 3, Bytes: 400})
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 1, Datasets: 2, Bytes: 300})
		time.Sleep(31 * time.Second)
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 2, Datasets: 3, Bytes: 400})
		assert.Equal(t, "Building  3 datasets  0/s\nSending  100%  3 datasets  0/s\n", out.String())
	})
}
