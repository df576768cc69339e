package logs

import (
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
)

// timeLayouts are the forms of ISO 8601 that logs have, as Dataverse writes it first.
var timeLayouts = []string{
	"2006-01-02T15:04:05Z0700", time.RFC3339, "2006-01-02T15:04:05Z07", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05Z0700",
}

// A zone is the offset of the last time.
type zone struct {
	text     string
	location *time.Location // nil if there is none
}

// read reads a time as Dataverse writes it, to the second, if its offset is the last one.
func (z *zone) read(text string) (t time.Time, ok bool) {
	const form = "2006-01-02T15:04:05"
	if len(text) < len(form) || text[len(form):] != z.text || z.location == nil {
		return t, false
	}
	if text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return t, false
	}
	century, year, month, day := twoDigits(text), twoDigits(text[2:]), twoDigits(text[5:]), twoDigits(text[8:])
	hour, minute, second := twoDigits(text[11:]), twoDigits(text[14:]), twoDigits(text[17:])
	return z.date(century, year, month, day, hour, minute, second)
}

// date puts a time together, unless there is no such time.
func (z *zone) date(century, year, month, day, hour, minute, second int) (t time.Time, ok bool) {
	if century > 99 || year > 99 || month > 12 || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	t = time.Date(century*100+year, time.Month(month), day, hour, minute, second, 0, z.location)
	return t, t.Day() == day && month > 0
}

// learn takes the offset of a time that was read from a text.
func (z *zone) learn(text string, t time.Time) {
	if t.Nanosecond() == 0 {
		*z = zone{strings.Clone(text[19:]), t.Location()}
	}
}

const noNumber = 100 // more than any of two digits, and than any month

// twoDigits reads a number; noNumber if it is none.
func twoDigits(text string) int {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return noNumber
	}
	return int(tens)*10 + int(ones)
}

// An isoClock reads times in ISO 8601, most likely in the form of the last one.
type isoClock struct {
	layout int // of the last time, in timeLayouts
	zone   zone
}

func (c *isoClock) read(text string) (time.Time, error) {
	if t, ok := c.zone.read(text); ok {
		return t, nil
	}
	for i := range timeLayouts {
		layout := (c.layout + i) % len(timeLayouts)
		if t, err := time.Parse(timeLayouts[layout], text); err == nil {
			c.layout = layout
			c.zone.learn(text, t)
			return t, nil
		}
	}
	reason := "event_time is %.100q, not a time such as 2026-10-31T23:59:59+01:00"
	if _, err := time.Parse("2006-01-02T15:04:05", strings.ReplaceAll(text, " ", "T")); err == nil {
		reason = "event_time is %.100q, without an offset such as Z or +01:00"
	}
	return time.Time{}, datacite.Invalidf("", datacite.CodeDate, reason, text)
}

// A webClock reads times such as 31/Oct/2026:23:59:59 +0100.
type webClock struct{ zone zone }

const webTime = "02/Jan/2006:15:04:05 -0700"

// readWeb reads a time as web servers write it, if its offset is the last one.
func (z *zone) readWeb(text string) (t time.Time, ok bool) {
	if len(text) != len(webTime) || text[20:] != z.text {
		return t, false
	}
	if text[2] != '/' || text[6] != '/' || text[11] != ':' || text[14] != ':' || text[17] != ':' {
		return t, false
	}
	day, month, century, year := twoDigits(text), monthNamed(text[3:6]), twoDigits(text[7:]), twoDigits(text[9:])
	hour, minute, second := twoDigits(text[12:]), twoDigits(text[15:]), twoDigits(text[18:])
	return z.date(century, year, month, day, hour, minute, second)
}

func (c *webClock) read(text string) (time.Time, error) {
	if t, ok := c.zone.readWeb(text); ok {
		return t, nil
	}
	t, err := time.Parse(webTime, text)
	if err != nil {
		return t, datacite.Invalidf("", datacite.CodeDate,
			"time is %.100q, not one such as 31/Oct/2026:23:59:59 +0100", text)
	}
	c.zone = zone{strings.Clone(text[20:]), t.Location()}
	return t, nil
}

// monthNamed returns the month of a name of three letters; noNumber if it is none.
func monthNamed(name string) int {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	if i := strings.Index(names, name); i%3 == 0 {
		return i/3 + 1
	}
	return noNumber
}

// epoch reads seconds since 1970, of which a unit has so many.
func epoch(text string, unit int64) (time.Time, error) {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err == nil && part != "" {
		var nanos int64
		if nanos, err = strconv.ParseInt((part + "000000000")[:9], 10, 64); err == nil && unit == 1 {
			return time.Unix(n, nanos).UTC(), nil
		}
	}
	if err != nil {
		return time.Time{}, datacite.Invalidf("", datacite.CodeDate,
			"time is %.100q, not a number of seconds since 1970", text)
	}
	return time.Unix(n/unit, n%unit*(1e9/unit)).UTC(), nil
}
