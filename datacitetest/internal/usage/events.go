// Package usage plays what becomes of a usage report: workers of the deployed service read
// it and make events of it, and the record of a DOI shows sums of events. The rules, with
// their evidence, are those of deployed-usage.md.
package usage

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
)

// An Event is what a report says of a DOI and a metric.
type Event struct {
	Report string // URL
	Object string // the DOI as a URL
	Target string // DOI of the record that shows the event; "" if none does
	Views  bool   // else downloads
	Count  int64
	At     time.Time // begin-date of the report, in UTC
}

// YearMonth is the month of an event as records show it.
func (e *Event) YearMonth() string { return e.At.Format("2006-01") }

// Events are the events of all reports. The zero value has none.
type Events struct {
	all   map[key]*Event
	shown map[string][]*Event // by target, in the order in which they were made
}

// key is the unique index of the events, which has the beginnings of URLs.
type key struct {
	report, object string
	views          bool
}

func keyOf(report, object string, views bool) key {
	begin := func(url string) string { return url[:min(191, len(url))] }
	return key{begin(names.Lower(report)), begin(object), views}
}

// Import makes events of a report that was fetched from a URL, and returns the DOIs whose
// numbers may have changed.
func (e *Events) Import(url string, report Report, now time.Time) []string {
	if e.all == nil {
		e.all, e.shown = map[key]*Event{}, map[string][]*Event{}
	}
	touched := map[string]bool{}
	_ = read(url, report, func(messages []message) { // nobody is told why a worker stops
		for _, m := range messages {
			if event := e.take(m, now); event != nil && event.Target != "" {
				touched[event.Target] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(touched))
}

// take makes an event of a message, or changes the one that there is.
func (e *Events) take(m message, now time.Time) *Event {
	total, given, inRange := count(m.count)
	if m.object == "" || !inRange {
		return nil
	}
	key := keyOf(m.report, m.object, m.views)
	event := e.all[key]
	switch {
	case event == nil:
		event = &Event{Report: m.report, Object: m.object, Views: m.views, Count: 1, At: now}
		e.all[key] = event
	case event.Object != m.object:
		return nil // the index refuses a second one
	}
	if given {
		event.Count = total
	}
	if at, ok := begin(m.begin); ok {
		event.At = at
	}
	if m.exact && event.Target == "" {
		e.show(event)
	}
	return event
}

// show gives an event its target: the DOI without what follows the path of a URL.
func (e *Events) show(event *Event) {
	event.Target = strings.TrimPrefix(event.Object, doiOrg)
	if end := strings.IndexAny(event.Target, "?#"); end >= 0 {
		event.Target = event.Target[:end]
	}
	at := names.Collate(event.Target)
	e.shown[at] = append(e.shown[at], event)
}

var leadingInteger = regexp.MustCompile(`^\s*[-+]?[0-9]+(?:_[0-9]+)*`)

// count is a count as the column of the database takes it. What is not there is not given,
// and neither is false or a blank text.
func count(v any) (n int64, given, inRange bool) {
	switch v := v.(type) {
	case bool:
		return 1, v, true
	case float64:
		v = math.Trunc(v)
		return int64(v), true, math.MinInt32 <= v && v <= math.MaxInt32
	case string:
		if strings.TrimSpace(v) == "" {
			return 0, false, true
		}
		n, err := strconv.ParseInt(strings.TrimSpace(strings.ReplaceAll(leadingInteger.FindString(v), "_", "")), 10, 32)
		return n, true, !errors.Is(err, strconv.ErrRange)
	}
	return 0, false, true
}

var dayForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}`)

// begin reads a begin-date. Whatever follows the day and is no time does not count.
func begin(v any) (at time.Time, ok bool) {
	text, _ := v.(string)
	for _, layout := range []string{"2006-1-2", "2006-1-2T15:04:05Z07:00", "2006-1-2T15:04:05Z0700", "2006-1-2 15:04:05Z07:00", "2006-1-2 15:04:05 -0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	if day := dayForm.FindString(text); day != text {
		return begin(day)
	}
	return at, false
}

// Of are the numbers of a DOI as its record shows them, nil if no event is about it.
func (e *Events) Of(doi string) map[string]any {
	events := slices.Clone(e.shown[names.Collate(doi)])
	if len(events) == 0 {
		return nil
	}
	slices.SortStableFunc(events, func(a, b *Event) int { return cmp.Compare(a.YearMonth(), b.YearMonth()) })
	total, overTime := map[bool]int{}, map[bool][]any{true: {}, false: {}}
	for _, event := range events {
		total[event.Views] += int(event.Count)
		overTime[event.Views] = append(overTime[event.Views], object{"yearMonth": event.YearMonth(), "total": float64(event.Count)})
	}
	return object{
		"viewCount": total[true], "viewsOverTime": overTime[true],
		"downloadCount": total[false], "downloadsOverTime": overTime[false],
	}
}

// Remove removes the events of a DOI, whose record is removed.
func (e *Events) Remove(doi string) {
	at := names.Collate(doi)
	for _, event := range e.shown[at] {
		delete(e.all, keyOf(event.Report, event.Object, event.Views))
	}
	delete(e.shown, at)
}

// All are the events, those of one DOI and metric in the order in which they were made.
func (e *Events) All() (all []Event) {
	for _, target := range slices.Sorted(maps.Keys(e.shown)) {
		for _, event := range e.shown[target] {
			all = append(all, *event)
		}
	}
	return all
}

// Restore adds events, in place of those there are of the same key.
func (e *Events) Restore(all []Event) {
	e.Import("", Report{}, time.Time{})
	for _, event := range all {
		key := keyOf(event.Report, event.Object, event.Views)
		if old := e.all[key]; old != nil {
			*old = event
			continue
		}
		e.all[key] = &event
		e.show(&event)
	}
}
