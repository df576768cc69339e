package dois

import (
	"slices"
	"strings"
	"time"
)

// A Series has the counts of several periods. The service sends some periods in several
// parts and in no fixed order; ByMonth and ByYear add the parts up.
type Series []Count

// A Count is the count, or a part of it, of one month or one year.
type Count struct {
	YearMonth string `json:"yearMonth,omitempty"` // such as "2021-07", for views and downloads
	Year      string `json:"year,omitempty"`      // such as "2021", for citations
	Total     int    `json:"total"`
}

// ByMonth returns each month once, with all its counts added up, the oldest first. Counts
// without a readable month are left out.
func (s Series) ByMonth() Series {
	return s.by("2006-01", func(c Count) Count { return Count{YearMonth: c.YearMonth} })
}

// ByYear returns each year once, with all its counts added up, the oldest first. Counts
// without a readable month or year are left out.
func (s Series) ByYear() Series {
	return s.by("2006", func(c Count) Count {
		if month, err := time.Parse("2006-01", c.YearMonth); err == nil {
			return Count{Year: month.Format("2006")}
		}
		return Count{Year: c.Year}
	})
}

// by adds up the counts of which period makes the same.
func (s Series) by(layout string, period func(Count) Count) (out Series) {
	totals := map[Count]int{}
	for _, c := range s {
		totals[period(c)] += c.Total
	}
	for c, total := range totals {
		if _, err := time.Parse(layout, c.period()); err == nil {
			c.Total = total
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Count) int { return strings.Compare(a.period(), b.period()) })
	return out
}

func (c Count) period() string { return c.YearMonth + c.Year }
