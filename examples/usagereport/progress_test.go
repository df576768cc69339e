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

// wait waits as Submit does: it is told the moment of the next look.
func wait(m *meter, d time.Duration, reason string) {
	m.wait(time.Now().Add(d), reason)
	time.Sleep(d)
}

// waits are those of a lost answer, each with the time that it takes.
func waits(m *meter) {
	const lost, unreadable = "the answer to the last request was lost", "the service cannot read the report"
	wait(m, time.Second, lost)
	for _, d := range []time.Duration{2, 4, 8, 16, 32} {
		wait(m, d*time.Second, unreadable)
	}
	wait(m, time.Millisecond, lost)
}

func TestWaitsInAMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := newMeter(&out)
		m.at("Sending", 0.25, 1, "datasets")
		waits(m)
		m.at("Sending", 0.5, 2, "datasets")
		wait(m, time.Second, "the answer to the last request was lost")
		m.at("Sending", 1, 4, "datasets")
		m.end()
		assert.Equal(t, strings.Join([]string{
			"Sending   25%  1 datasets",
			"Waiting until 00:00:01 (1s): the answer to the last request was lost",
			"Waiting until 00:00:03 (2s): the service cannot read the report",
			"Waiting until 00:00:31 (16s): the service cannot read the report",
			"Waiting until 00:01:03 (32s): the service cannot read the report",
			"Sending   50%  2 datasets",
			"Waiting until 00:01:04 (1s): the answer to the last request was lost",
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
			"Sending  [============            ]  50%  2 datasets\nWaiting: the answer to the last request was lost\n",
			"Waiting  until 00:00:01 (1s)",
			"Waiting: the service cannot read the report\n",
			"Waiting  until 00:00:03 (2s)",
			"Waiting  until 00:00:07 (4s)",
			"Waiting  until 00:00:15 (8s)",
			"Waiting  until 00:00:31 (16s)",
			"Waiting  until 00:01:03 (32s)",
			"",
			"Sending  [========================] 100%  4 datasets\n",
		}, strings.Split(out.String(), "\r\x1b[K"))
	})
}

func TestWatcherShowsBothStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		datasets := reports.Each(make([]reports.Dataset, 3))
		w := &watcher{show: newMeter(&out), in: &input{datasets: datasets, table: &table{total: 3}}}
		for _, err := range w.datasets() {
			require.NoError(t, err)
		}
		w.progress(reports.Progress{Stage: reports.Building, Subsets: 2, Datasets: 3, Bytes: 400})
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 1, Datasets: 2, Bytes: 300})
		time.Sleep(6 * time.Second)
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 2, Datasets: 3, Bytes: 400})
		w.show.end()
		assert.Equal(t, "Building 100%  3 datasets\nSending  100%  3 datasets  0/s\n", out.String())
	})
}
