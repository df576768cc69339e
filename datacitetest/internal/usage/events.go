// Package usage makes events like the deployed services. Workers read usage reports, and the
// related identifiers of records, and the record of a DOI shows sums of events and the DOIs
// that it is related to. The rules and their evidence are in deployed-usage.md.
package usage

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// An Event is the count of a report for a DOI and a metric.
type Event struct {
	Report string // URL
	Object string // the DOI as a URL
	Target string // DOI of the record that shows the event; "" if none does
	Views  bool   // else downloads
	Count  int64
	At     time.Time // begin-date of the report, in UTC
}

// YearMonth is the month of an event in the form of records.
func (e *Event) YearMonth() string { return e.At.Format("2006-01") }

// Events are the events of all reports. The zero value has none.
type Events struct {
	all   map[key]*Event
	shown map[string][]*Event // by target, in the order in which they were made

	relations []*Relation             // in the order in which they were made
	known     map[[3]string]*Relation // by subject, object and type
	related   map[string][]*Relation  // by each of their DOIs
}

// key is the unique index of the events.
type key struct {
	report, object string
	views          bool
}

func keyOf(report, object string, views bool) key {
	return key{names.Lower(report), object, views}
}

// Import makes events of a report fetched from a URL, and returns the DOIs whose numbers
// may have changed.
func (e *Events) Import(url string, report Report, now time.Time) []string {
	if e.all == nil {
		e.all, e.shown = map[key]*Event{}, map[string][]*Event{}
	}
	touched := map[string]bool{}
	_ = read(url, report, func(messages []message) { // the worker's error is not reported to anyone
		for _, m := range messages {
			if event := e.take(m, now); event != nil && event.Target != "" {
				touched[event.Target] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(touched))
}

// take makes an event of a message, or changes the existing one.
func (e *Events) take(m message, now time.Time) *Event {
	total, given, inRange := count(m.count)
	if m.object == "" || !inRange {
		return nil
	}
	key := keyOf(m.report, m.object, m.views)
	event := e.all[key]
	if event == nil {
		event = &Event{Report: m.report, Object: m.object, Views: m.views, Count: 1, At: now}
		e.all[key] = event
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

// show sets the target of an event: the DOI without the query and fragment of its URL.
func (e *Events) show(event *Event) {
	event.Target = pathOf(event.Object)
	at := names.Collate(event.Target)
	e.shown[at] = append(e.shown[at], event)
}

var leadingInteger = lazy.Regexp(`^\s*[-+]?[0-9]+(?:_[0-9]+)*`)

// count is a count as the database column stores it. A missing value, false and an empty
// string count as not given.
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
		n, err := strconv.ParseInt(strings.TrimSpace(strings.ReplaceAll(leadingInteger().FindString(v), "_", "")), 10, 32)
		return n, true, !errors.Is(err, strconv.ErrRange)
	}
	return 0, false, true
}

var dayForm = lazy.Regexp(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}`)

// begin reads a begin-date. Text after the day that is not a time is ignored.
func begin(v any) (at time.Time, ok bool) {
	text, _ := v.(string)
	for _, layout := range []string{"2006-1-2", "2006-1-2T15:04:05Z07:00", "2006-1-2T15:04:05Z0700",
		"2006-1-2 15:04:05Z07:00", "2006-1-2 15:04:05 -0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	if day := dayForm().FindString(text); day != text {
		return begin(day)
	}
	return at, false
}

// Of are the views and downloads of a DOI in the form of its record, nil without events.
func (e *Events) Of(doi string) map[string]any {
	events := slices.Clone(e.shown[names.Collate(doi)])
	if len(events) == 0 {
		return nil
	}
	slices.SortStableFunc(events, func(a, b *Event) int { return cmp.Compare(a.YearMonth(), b.YearMonth()) })
	total, overTime := map[bool]int{}, map[bool][]any{true: {}, false: {}}
	for _, event := range events {
		total[event.Views] += int(event.Count)
		overTime[event.Views] = append(overTime[event.Views],
			object{"yearMonth": event.YearMonth(), "total": float64(event.Count)})
	}
	return object{
		"viewCount": total[true], "viewsOverTime": overTime[true],
		"downloadCount": total[false], "downloadsOverTime": overTime[false],
	}
}

// Remove removes the events of a DOI with its record, and returns the DOIs that were related to
// it.
func (e *Events) Remove(doi string) []string {
	at := names.Collate(doi)
	for _, event := range e.shown[at] {
		delete(e.all, keyOf(event.Report, event.Object, event.Views))
	}
	delete(e.shown, at)
	return e.unrelate(doi)
}

// All are all events, those of one DOI and metric in the order of creation.
func (e *Events) All() (all []Event) {
	for _, target := range slices.Sorted(maps.Keys(e.shown)) {
		for _, event := range e.shown[target] {
			all = append(all, *event)
		}
	}
	return all
}

// Restore adds events, replacing those with the same key.
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
