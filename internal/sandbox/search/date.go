package search

import (
	"fmt"
	"strings"
	"time"
)

// precision is a way to write a date, and the span it stands for.
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

// span is the first and the last millisecond that a date stands for.
type span struct{ first, last int64 }

// dateSpan reads a date with any number of its parts left out at the end.
func dateSpan(s string) (span, bool) {
	for _, p := range precisions {
		layouts := []string{p.layout}
		if p.span > 0 {
			layouts = []string{p.layout + "Z07:00", p.layout, p.layout + "Z0700"}
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
	return span{}, false
}

// onTime looks for the leaf among dates or years.
func (l leaf) onTime(years bool, now time.Time) (test, error) {
	low, high, withLow, withHigh := l.low, l.high, l.withLow, l.withHigh
	if l.op != opRange {
		low, high, withLow, withHigh = &l.text, &l.text, true, true
	}
	var from, to *int64
	if low != nil {
		s, err := boundSpan(*low, years, now)
		if err != nil {
			return nil, err
		}
		from = &s.first
		if !withLow {
			from = &s.last
		}
	}
	if high != nil {
		s, err := boundSpan(*high, years, now)
		if err != nil {
			return nil, err
		}
		to = &s.last
		if !withHigh {
			to = &s.first
		}
	}
	return func(v any) bool {
		s, ok := scalar(v)
		if !ok {
			return false
		}
		at, ok := dateSpan(s)
		return ok && within(at.first, from, to, withLow, withHigh)
	}, nil
}

func boundSpan(s string, years bool, _ time.Time) (span, error) {
	if years && len(s) != len("2006") {
		return span{}, fmt.Errorf("failed to parse date field [%s] with format [yyyy]", s)
	}
	at, ok := dateSpan(s)
	if !ok {
		return span{}, fmt.Errorf("failed to parse date field [%s]", s)
	}
	return at, nil
}
