package search

import (
	"cmp"
	"strconv"
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
func (l leaf) onTime(years bool, now time.Time) (test, error) {
	l = l.asRange()
	from, err := moment(l.low, l.withLow, years, now)
	if err != nil {
		return nil, err
	}
	to, err := moment(l.high, !l.withHigh, years, now)
	if err != nil {
		return nil, err
	}
	return func(v any) bool {
		s, ok := scalar(v)
		if !ok {
			return false
		}
		at, ok := dateSpan(s)
		return ok && within(at.first, from, to, l.withLow, l.withHigh)
	}, nil
}

// moment is the first or the last millisecond of a bound.
func moment(bound *string, first, years bool, now time.Time) (*int64, error) {
	if bound == nil {
		return nil, nil
	}
	s, err := boundSpan(*bound, years, now)
	if first {
		return &s.first, err
	}
	return &s.last, err
}

// boundSpan reads a date of a query, which may be relative to now or to a date
// before "||": now-1d/d, 2014-11-18||+1M.
func boundSpan(s string, years bool, now time.Time) (span, error) {
	anchor, steps, reckoned := strings.Cut(s, "||")
	if rest, ok := strings.CutPrefix(s, "now"); ok {
		return reckonedSpan(now.UTC(), rest)
	}
	at, ok := dateSpan(anchor)
	switch {
	case years && (!ok || len(anchor) != len("2006")):
		return span{}, refuse("failed to parse date field [%s] with format [yyyy]", s)
	case !ok:
		return span{}, refuse("failed to parse date field [%s]", s)
	case reckoned:
		return reckonedSpan(time.UnixMilli(at.first).UTC(), steps)
	}
	return at, nil
}

// reckonedSpan applies steps such as +1M-2d/y to a date. Rounding by / spans
// the whole unit.
func reckonedSpan(from time.Time, steps string) (span, error) {
	first, last := from, from
	for rest := steps; rest != ""; {
		sign := rest[0]
		digits := len(rest) - 1 - len(strings.TrimLeft(rest[1:], "0123456789"))
		n, err := strconv.ParseInt(cmp.Or(rest[1:1+digits], "1"), 10, 32)
		if !strings.ContainsRune("+-/", rune(sign)) || err != nil || 1+digits == len(rest) || sign == '/' && digits > 0 {
			return span{}, refuse("failed to parse date math [%s]", steps)
		}
		u, ok := units[rest[1+digits]]
		if !ok {
			return span{}, refuse("unit [%c] not supported for date math [%s]", rest[1+digits], steps)
		}
		switch sign {
		case '/':
			first, last = u.floor(first), u.add(u.floor(last), 1).Add(-time.Millisecond)
		case '-':
			first, last = u.add(first, -n), u.add(last, -n)
		default:
			first, last = u.add(first, n), u.add(last, n)
		}
		rest = rest[2+digits:]
	}
	return span{first.UnixMilli(), last.UnixMilli()}, nil
}

// unit is a step of the calendar or of the clock.
type unit struct {
	months int
	millis int64
}

var units = map[byte]unit{
	'y': {months: 12},
	'M': {months: 1},
	'w': {millis: 7 * 24 * time.Hour.Milliseconds()},
	'd': {millis: 24 * time.Hour.Milliseconds()},
	'h': {millis: time.Hour.Milliseconds()},
	'H': {millis: time.Hour.Milliseconds()},
	'm': {millis: time.Minute.Milliseconds()},
	's': {millis: time.Second.Milliseconds()},
}

// add keeps the day of the month if the new month has it, and else uses the
// last day.
func (u unit) add(t time.Time, n int64) time.Time {
	if u.months == 0 {
		return time.UnixMilli(t.UnixMilli() + n*u.millis).UTC()
	}
	first := t.AddDate(0, 0, 1-t.Day()).AddDate(0, u.months*int(n), 0)
	return first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1)
}

func (u unit) floor(t time.Time) time.Time {
	switch u.months {
	case 12:
		return time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	case 1:
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	// Truncate counts from a Monday, so that weeks begin where they should.
	return t.Truncate(time.Duration(u.millis) * time.Millisecond)
}
