package search

import (
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// precision is a form of dates, and the span that it covers.
type precision struct {
	layout              string
	years, months, days int
	span                time.Duration
}

var precisions = []precision{
	{layout: "2006-01-02T15:04:05", span: time.Second},
	{layout: "2006-01-02", days: 1},
	{layout: "2006", years: 1},
	{layout: "2006-01", months: 1},
	{layout: "2006-01-02T15:04", span: time.Minute},
	{layout: "2006-01-02T15", span: time.Hour},
}

// span is the first and the last millisecond that a date covers.
type span struct{ first, last int64 }

// dateSpan reads a date with any number of its parts left out at the end, or
// milliseconds.
func dateSpan(s string) (span, bool) {
	for _, p := range precisions {
		layouts := []string{p.layout}
		switch {
		case p.span > 0 && len(s) > len(p.layout):
			layouts = []string{p.layout + "Z07:00", p.layout, p.layout + "Z0700"}
		case len(s) != len(p.layout):
			continue
		}
		for _, layout := range layouts {
			t, err := time.Parse(layout, s)
			if err != nil {
				continue
			}
			if strings.ContainsAny(s, ".,") {
				return span{t.UnixMilli(), t.UnixMilli()}, true
			}
			end := t.AddDate(p.years, p.months, p.days).Add(p.span)
			return span{t.UnixMilli(), end.UnixMilli() - 1}, true
		}
	}
	ms, err := strconv.ParseInt(s, 10, 64)
	return span{ms, ms}, err == nil // since 1970
}

// onTime tests the leaf against dates or years.
func (l leaf) onTime(years bool) (func(string) bool, error) {
	l = l.asRange()
	from, err := moment(l.low, l.withLow, years)
	if err != nil {
		return nil, err
	}
	to, err := moment(l.high, !l.withHigh, years)
	if err != nil {
		return nil, err
	}
	return func(s string) bool {
		at, ok := dateSpan(s)
		return ok && within(at.first, from, to, l.withLow, l.withHigh)
	}, nil
}

// moment is the first or the last millisecond of a bound.
func moment(bound *string, first, years bool) (*int64, error) {
	if bound == nil {
		return nil, nil
	}
	s, err := boundSpan(*bound, years)
	if first {
		return &s.first, err
	}
	return &s.last, err
}

// boundSpan reads a date of a query.
func boundSpan(s string, years bool) (span, error) {
	if strings.HasPrefix(s, "now") || strings.Contains(s, "||") {
		return span{}, wire.QueryDates.Refusal(s)
	}
	at, ok := dateSpan(s)
	switch {
	case years && (!ok || len(s) != len("2006")):
		return span{}, refuse("failed to parse date field [%s] with format [yyyy]", s)
	case !ok:
		return span{}, refuse("failed to parse date field [%s]", s)
	}
	return at, nil
}
