package reports

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/usage"
)

// A Display predicts what DOI records show after a history of reports: the zero value
// shows nothing. It holds all numbers in memory, about 200 bytes for each DOI, month and
// report.
type Display struct {
	events map[eventKey]*event
	owners map[eventKey]string // the name whose event is in the unique index, by indexed name; "" if it may be one of several
}

// An eventKey identifies an event to the service (rule 6): the report, the DOI as it
// was read, and whether it counts views or downloads.
type eventKey struct {
	report, name string
	downloads    bool
}

// An event is a number that a report gave to a DOI.
type event struct {
	doi, month string
	number     Number
	why        []datacite.Finding
}

// Store tells the display that a report was stored under an id, in place of the report
// that had it before. It returns what records show of this report, like [ShownBy].
// Counts that the report no longer has stay.
func (d *Display) Store(id string, h Header, datasets []Dataset) []Shown {
	if d.events == nil {
		d.events, d.owners = map[eventKey]*event{}, map[eventKey]string{}
	}
	id = strings.ToLower(id)
	for key, e := range d.events {
		if key.report == id {
			e.number.Reported, e.why = 0, nil
		}
	}
	shown := shownBy(h, datasets)
	for i := range shown {
		d.store(eventKey{id, shown[i].Name, false}, &shown[i], &shown[i].Views)
		d.store(eventKey{id, shown[i].Name, true}, &shown[i], &shown[i].Downloads)
	}
	return shown
}

func (d *Display) store(key eventKey, s *Shown, n *Number) {
	if s.DOI == "" || len(n.Values) == 0 && n.Reported == 0 {
		return
	}
	e := d.events[key]
	if e == nil {
		e = &event{doi: s.DOI, month: s.Month, number: Number{Kept: true}}
		d.events[key] = e
	}
	switch {
	case !n.missing || len(e.number.Values) == 0:
	case e.number.Kept:
		n.Values = usage.Union(e.number.Values, n.Values)
	default:
		n.Values = e.number.Values // rule 8
	}
	begin, _ := usage.IndexedName(key.name)
	index := eventKey{key.report, begin, key.downloads}
	switch owner, taken := d.owners[index]; {
	case len(n.Values) == 0:
	case taken && owner == key.name:
		n.Kept = false
	case taken && owner != "":
		n.Values, n.Kept = nil, true // refused by the unique index
	case taken:
		n.Kept = true
	case n.Kept:
		d.owners[index] = ""
	default:
		d.owners[index] = key.name
	}
	e.number.Reported, e.why = n.Reported, s.Why
	switch {
	case len(n.Values) == 0:
		return
	case n.Kept:
		e.number.Values = usage.Union(e.number.Values, n.Values)
	default:
		e.number.Values, e.number.Kept = n.Values, false
	}
	e.month = s.Month
}

// Shown returns an iterator over what the records show, by DOI and month. Numbers of
// several reports are added up (rule 7). Of more than 64 possible values a Number has the
// least and the greatest. Name is "".
func (d *Display) Shown() iter.Seq[Shown] {
	type place struct{ doi, month string }
	sums := map[place]*Shown{}
	for _, key := range slices.SortedFunc(maps.Keys(d.events), func(a, b eventKey) int {
		return cmp.Or(cmp.Compare(a.report, b.report), cmp.Compare(a.name, b.name))
	}) {
		e := d.events[key]
		at := place{e.doi, e.month}
		s := sums[at]
		if s == nil {
			s = &Shown{DOI: e.doi, Month: e.month, Views: Number{Values: []int64{0}}, Downloads: Number{Values: []int64{0}}}
			sums[at] = s
		}
		to := &s.Views
		if key.downloads {
			to = &s.Downloads
		}
		to.plus(e.number)
		for _, f := range e.why {
			if !slices.Contains(s.Why, f) {
				s.Why = append(s.Why, f)
			}
		}
	}
	return func(yield func(Shown) bool) {
		for _, at := range slices.SortedFunc(maps.Keys(sums), func(a, b place) int {
			return cmp.Or(cmp.Compare(a.doi, b.doi), cmp.Compare(a.month, b.month))
		}) {
			if !yield(*sums[at]) {
				return
			}
		}
	}
}

// plus adds the number of another event.
func (n *Number) plus(m Number) {
	n.Reported += m.Reported
	values := m.Values
	if m.Kept {
		values = usage.Union(values, []int64{0})
	}
	n.Values, n.wide = usage.Sums(n.Values, values, n.wide || m.wide)
}
