package dois

import (
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/metadata"
)

// A MonthCount is what was counted in one month, such as "2021-07".
type MonthCount struct {
	YearMonth string `json:"yearMonth"`
	Total     int    `json:"total"`
}

// A YearCount is what was counted in one year, such as "2021".
type YearCount struct {
	Year  metadata.Text `json:"year"`
	Total int           `json:"total"`
}

// A Series is what was counted over time, oldest first, each period once.
type Series []Count

// A Count is what was counted in one period: the month or the year that begins
// at Start, in UTC.
type Count struct {
	Start time.Time
	Total int
}

// Views returns the views of the record, month by month. The service sends some
// months in several parts; here they are added up. Months in an unreadable form
// are left out; ViewsOverTime has them.
func (r *Record) Views() Series { return monthly(r.ViewsOverTime) }

// Downloads returns the downloads of the record, in the way of Views.
func (r *Record) Downloads() Series { return monthly(r.DownloadsOverTime) }

// CitedBy returns the citations of the record, year by year, in the way of Views.
func (r *Record) CitedBy() Series {
	var s Series
	for _, c := range r.CitationsOverTime {
		s = s.add("2006", string(c.Year), c.Total)
	}
	return s.merged()
}

func monthly(counts []MonthCount) Series {
	var s Series
	for _, c := range counts {
		s = s.add("2006-01", c.YearMonth, c.Total)
	}
	return s.merged()
}

func (s Series) add(layout, period string, total int) Series {
	start, err := time.Parse(layout, period)
	if err != nil {
		return s
	}
	return append(s, Count{start, total})
}

// merged sorts the series and adds up what belongs to one period.
func (s Series) merged() Series {
	slices.SortStableFunc(s, func(a, b Count) int { return a.Start.Compare(b.Start) })
	var out Series
	for _, c := range s {
		if n := len(out); n > 0 && out[n-1].Start.Equal(c.Start) {
			out[n-1].Total += c.Total
			continue
		}
		out = append(out, c)
	}
	return out
}

// Yearly returns the series by year.
func (s Series) Yearly() Series {
	out := make(Series, len(s))
	for i, c := range s {
		out[i] = Count{time.Date(c.Start.Year(), 1, 1, 0, 0, 0, 0, time.UTC), c.Total}
	}
	return out.merged()
}

// Total returns the sum of all periods.
func (s Series) Total() int {
	sum := 0
	for _, c := range s {
		sum += c.Total
	}
	return sum
}
