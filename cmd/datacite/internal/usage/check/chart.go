package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// A chart has two bars for each month: reported and shown. Its horizontal positions are
// percentages, so that it fits any width without scaling its letters.
type chart struct {
	Title  string
	Bars   []bar
	Ticks  []tick
	Labels []label
	Height int
	Base   int // of the bars
}

type bar struct {
	X, Width float64 // percent
	Y        float64
	Height   float64
	Kind     string
	Tip      string
}

type tick struct {
	Y    float64
	Text string
}

type label struct {
	X     float64 // percent
	Month string
	Year  string // at the first month and each January
}

const (
	chartTop  = 12  // room above the bars
	chartBars = 160 // height of the highest bar
	mostBars  = 36  // months
)

func newChart(title string, months []shown.Month, downloads bool) chart {
	months = months[max(0, len(months)-mostBars):]
	c := chart{Title: title, Base: chartTop + chartBars, Height: chartTop + chartBars + 36}
	of := func(m shown.Month) shown.Total {
		if downloads {
			return m.Downloads
		}
		return m.Views
	}
	most := int64(1)
	for _, m := range months {
		most = max(most, of(m).Reported, of(m).Shown)
	}
	top := ceiling(most)
	height := func(n int64) float64 { return chartBars * float64(max(n, 0)) / float64(top) }
	for i := range int64(3) {
		if n := top * i / 2; i != 1 || top%2 == 0 {
			c.Ticks = append(c.Ticks, tick{float64(c.Base) - height(n), shell.Number(n)})
		}
	}
	const fewest = 6 // the width is that of so many months at least, so that a few do not have huge bars
	slot := 100 / float64(max(len(months), fewest))
	each := (len(months) + 11) / 12
	for i, m := range months {
		left := slot * float64(i)
		total := of(m)
		for k, part := range []struct {
			kind string
			n    int64
		}{{"reported", total.Reported}, {"shown", total.Shown}} {
			kind := part.kind
			if k == 1 && 100*off(total.Reported, total.Shown) > total.Reported {
				kind += " off"
			}
			c.Bars = append(c.Bars, bar{
				X: left + slot*(0.12+0.38*float64(k)), Width: slot * 0.36, Y: float64(c.Base) - height(part.n),
				Height: height(part.n),
				Kind:   kind, Tip: fmt.Sprintf("%s: %s %s", m.Month, shell.Number(part.n), part.kind),
			})
		}
		if i%max(each, 1) != 0 {
			continue
		}
		l := label{X: left + slot/2, Month: m.Month}
		if at, err := time.Parse("2006-01", m.Month); err == nil {
			l.Month = at.Format("Jan")
			if year := at.Format("2006"); len(c.Labels) == 0 || !slices.ContainsFunc(c.Labels, func(o label) bool {
				return o.Year == year
			}) {
				l.Year = year
			}
		}
		c.Labels = append(c.Labels, l)
	}
	return c
}

// ceiling is the next of 1, 2, 4, 5, 6, 8 and 10 times a power of ten.
func ceiling(n int64) int64 {
	for power := int64(1); ; power *= 10 {
		for _, k := range []int64{1, 2, 4, 5, 6, 8, 10} {
			if k*power >= n || power >= 1e17 {
				return k * power
			}
		}
	}
}
