package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
)

// work does a thousand things in half a minute.
func work(m *meter) {
	for n := range int64(1001) {
		m.at("Building", float64(n)/1000, n, "datasets")
		time.Sleep(30 * time.Millisecond)
	}
	m.end()
}

func TestLinesEveryFewSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		work(newMeter(&out))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, 6, "one each five seconds of thirty, and the last state")
		assert.Equal(t, "Building  17%  167 datasets  33/s  25s left", lines[0])
		assert.Equal(t, "Building 100%  1,000 datasets  33/s", lines[5])
		assert.NotContains(t, out.String(), "\r")
	})
}

func TestBarOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := &meter{out: &out, bar: true, pause: barPause}
		work(m)
		m.say("Done.")
		pictures := strings.Split(out.String(), "\r\x1b[K")
		assert.Greater(t, len(pictures), 200)
		assert.Contains(t, pictures, "Building [============            ]  50%  500 datasets  33/s  15s left")
		assert.Equal(t, "Building [========================] 100%  1,000 datasets  33/s\n", pictures[len(pictures)-2])
		assert.Equal(t, "Done.\n", pictures[len(pictures)-1])
	})
}

func TestTheBarIsForTerminalsOnly(t *testing.T) {
	file, err := os.Create(inFile(t, "log", ""))
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, newMeter(file).bar)
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer device.Close()
	assert.True(t, newMeter(device).bar, "a character device counts as a terminal")
}

func TestUnknownSizeHasNoPercent(t *testing.T) {
	var out bytes.Buffer
	m := newMeter(&out)
	m.at("Building", -1, 7, "datasets")
	m.end()
	assert.Equal(t, "Building  7 datasets\n", out.String())
}

// looks are the waits between looks of a run that waits until then at the latest.
func looks(m *meter, latest time.Duration, reason string, pauses ...time.Duration) {
	until := time.Now().Add(latest)
	for _, d := range pauses {
		m.wait(until, reason)
		time.Sleep(d)
	}
}

// waits are those of a lost answer.
func waits(m *meter) {
	const s = time.Second
	looks(m, 300*s, "the response to the last request was lost", 1*s)
	looks(m, 1800*s, "the service cannot read the report", 2*s, 4*s, 8*s, 16*s)
}

func TestWaitsInAMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := newMeter(&out)
		m.at("Sending", 0.25, 1, "datasets")
		waits(m)
		m.at("Sending", 0.5, 2, "datasets")
		looks(m, 300*time.Second, "the response to the last request was lost", time.Second)
		m.at("Sending", 1, 4, "datasets")
		m.end()
		assert.Equal(t, strings.Join([]string{
			"Sending   25%  1 datasets",
			"Waiting until 00:05:00 at the latest (5m0s): the response to the last request was lost",
			"Waiting until 00:30:01 at the latest (30m0s): the service cannot read the report",
			"Sending   50%  2 datasets",
			"Waiting until 00:05:31 at the latest (5m0s): the response to the last request was lost",
			"Sending  100%  4 datasets",
			"",
		}, "\n"), out.String())
	})
}

func TestWaitsOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := &meter{out: &out, bar: true, pause: barPause}
		m.at("Sending", 0.5, 2, "datasets")
		waits(m)
		m.at("Sending", 1, 4, "datasets")
		m.end()
		assert.Equal(t, []string{
			"",
			"Sending  [============            ]  50%  2 datasets\nWaiting: the response to the last request was lost\n",
			"Waiting  until 00:05:00 at the latest (5m0s)",
			"Waiting: the service cannot read the report\n",
			"Waiting  until 00:30:01 at the latest (30m0s)",
			"Waiting  until 00:30:01 at the latest (29m58s)",
			"Waiting  until 00:30:01 at the latest (29m54s)",
			"Waiting  until 00:30:01 at the latest (29m46s)",
			"",
			"Sending  [========================] 100%  4 datasets\n",
		}, strings.Split(out.String(), "\r\x1b[K"))
	})
}

func TestWatcherShowsBothStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		d := reports.Dataset{DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/a"}}}
		w := &watcher{show: newMeter(&out), in: &input{datasets: reports.Source([]reports.Dataset{d, d, d}), isTable: true}}
		for _, err := range w.datasets() {
			require.NoError(t, err)
		}
		w.progress(reports.Progress{Stage: reports.Building, Subsets: 2, Datasets: 3, Bytes: 400})
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 1, Datasets: 2, Bytes: 300})
		time.Sleep(6 * time.Second)
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 2, Datasets: 3, Bytes: 400})
		w.show.end()
		assert.Equal(t, "Building  3 datasets\nSending  100%  3 datasets  0/s\n", out.String())
	})
}
