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

func TestWatcherSaysWhyNothingMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := &watcher{show: newMeter(&out), settle: 5 * time.Minute}
		stop := w.start()
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 1, strings.Count(out.String(), "this may take 5m0s"))
	})
}

func TestWatcherShowsBothStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		datasets := reports.Each(make([]reports.Dataset, 3))
		w := &watcher{show: newMeter(&out), in: &input{datasets: datasets, table: &table{total: 3}}}
		stop := w.start()
		for _, err := range w.datasets() {
			require.NoError(t, err)
		}
		w.progress(reports.Progress{Stage: reports.Building, Subsets: 2, Datasets: 3, Bytes: 400})
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 1, Datasets: 2, Bytes: 300})
		time.Sleep(6 * time.Second)
		w.progress(reports.Progress{Stage: reports.Sending, Subsets: 2, Datasets: 3, Bytes: 400})
		w.show.end()
		stop()
		assert.Equal(t, "Building 100%  3 datasets\nSending  100%  3 datasets  0/s\n", out.String())
	})
}
