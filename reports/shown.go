package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/usage"
)

// How the deployed service counts a stored report: workers read each dataset, make an
// event of each count (levriero), store the events (events), and a DOI record shows the
// sums of its events (lupo). The sender is told nothing of this. The numbers of the rules
// are those of datacitetest/deployed-usage.md, which has the evidence.

// Shown is what DOI records will show of one dataset of a report.
type Shown struct {
	Name  string // the DOI as the service reads it: in lower case, unusual characters percent-encoded; "" if it finds none
	DOI   string // of the record that shows the numbers, in lower case: Name up to "#" or "?"; "" if no record can show them
	Month string // under which they are shown, such as "2026-10"

	Views     Number // unique investigations by people
	Downloads Number // unique requests by people

	Why []datacite.Finding // why these differ from the numbers of the report
}

// A Number is a count that a record will show.
type Number struct {
	Reported int64   // by the report
	Values   []int64 // what may be shown, in ascending order; several if the order of the service's queues decides
	Kept     bool    // an earlier number may stay; a new report has none

	wide    bool // Values are only the least and the greatest
	missing bool // the report has the number without a count
}

// Certain reports whether the record will show exactly what was reported.
func (n Number) Certain() bool {
	if n.Reported == 0 && len(n.Values) == 0 {
		return true
	}
	return !n.Kept && len(n.Values) == 1 && n.Values[0] == n.Reported
}

// String returns the number in words, such as "12", "12 or 15" or "unchanged".
func (n Number) String() string {
	var words []string
	for _, v := range n.Values {
		words = append(words, fmt.Sprint(v))
	}
	if n.Kept || len(words) == 0 {
		words = append(words, "unchanged")
	}
	return strings.Join(words, " or ")
}

// ShownBy predicts what DOI records will show of a report, per DOI that the report names,
// in the order of first occurrence. For a corrected report, numbers that are not in
// the report stay, even those of DOIs that it does not name: see [Display].
//
// The service reports none of this, and counts some time after it has stored the report.
// ShownBy assumes that the records exist.
func ShownBy(h Header, datasets []Dataset) []Shown {
	shown := shownBy(h, datasets)
	for i := range shown {
		for _, n := range [...]*Number{&shown[i].Views, &shown[i].Downloads} {
			n.Kept = n.Kept || n.missing
		}
	}
	return shown
}

// shownBy is ShownBy, for which an earlier number does not stay where a count is missing.
func shownBy(h Header, datasets []Dataset) []Shown {
	var shown []Shown
	at := map[string]int{} // of each name
	month := shownMonth(h)
	for i := range datasets {
		one := shownOf(i, &datasets[i], month)
		before, again := at[one.Name]
		switch {
		case one.Name == "":
			shown = append(shown, one)
		case !again:
			at[one.Name] = len(shown)
			shown = append(shown, one)
		default:
			shown[before].again(one, i)
		}
	}
	crowded(shown)
	return shown
}

// again adds a further dataset of the same name: of two counts for the same metric, the
// one that is processed last is shown (rule 11).
func (s *Shown) again(t Shown, number int) {
	for _, n := range [...]struct{ to, from *Number }{{&s.Views, &t.Views}, {&s.Downloads, &t.Downloads}} {
		if len(n.to.Values) > 0 && len(n.from.Values) > 0 {
			s.Why = append(s.Why, datacite.Finding{Path: fmt.Sprintf("report-datasets[%d].dataset-id", number), Code: "several-counts", Reason: fmt.Sprintf("is %.100q again; its record shows only one of the counts", s.Name), Warning: true})
		}
		n.to.add(n.from)
	}
	s.Why = append(s.Why, t.Why...)
}

// add adds another count for the same event. A missing one is 1 for a new event, and
// changes no other (rule 8).
func (n *Number) add(m *Number) {
	n.Reported += m.Reported
	switch {
	case len(m.Values) == 0 || m.missing && len(n.Values) > 0:
	case n.missing:
		n.Values, n.missing = m.Values, m.missing
	default:
		n.Values, n.missing = usage.Union(n.Values, m.Values), m.missing
	}
	n.Kept = len(n.Values) == 0
}

// crowded finds names that are equal to the index of events: only the first event is
// stored.
func crowded(shown []Shown) {
	first := map[string]int{}
	for i := range shown {
		begin, whole := usage.IndexedName(shown[i].Name)
		if whole {
			continue
		}
		at, again := first[begin]
		if !again {
			first[begin] = i
			continue
		}
		for _, s := range []*Shown{&shown[at], &shown[i]} {
			s.Views.Kept, s.Downloads.Kept = true, true
			s.Why = append(s.Why, datacite.Finding{Path: "report-datasets", Code: "long-doi", Reason: fmt.Sprintf("has several DOIs that begin with %.40q and are alike in %d characters; the service keeps the counts of one of them", s.Name, len(begin)), Warning: true})
		}
	}
}

// shownMonth is the month under which the counts of a report are shown.
func shownMonth(h Header) string { return usage.Month(string(h.ReportingPeriod.BeginDate)) }

// shownOf predicts what a record shows of dataset i alone.
func shownOf(i int, d *Dataset, month string) Shown {
	s := Shown{Month: month}
	v := validator{warn: func(f datacite.Finding) { s.Why = append(s.Why, f) }, month: month, stored: true}
	v.place = place{dataset: i, performance: -1, instance: -1}
	if len(d.DatasetID) > 0 {
		s.Name, s.DOI = shownUnder(d.DatasetID[0].Value)
	}
	v.shown(d)
	readable := s.DOI != "" && len(d.Performance) > 0 && len(d.Performance[0].Instance) <= mostInstances
	for j := range d.Performance {
		for k := range d.Performance[j].Instance {
			n := &d.Performance[j].Instance[k]
			to := s.number(n)
			if to == nil {
				continue
			}
			one := Number{Reported: n.Count}
			switch {
			case !readable || j > 0:
			case n.NoCount:
				one.Values, one.missing = []int64{1}, true
			case n.Count >= math.MinInt32 && n.Count <= math.MaxInt32:
				one.Values = []int64{n.Count}
			}
			to.add(&one)
		}
	}
	s.Views.Kept, s.Downloads.Kept = len(s.Views.Values) == 0, len(s.Downloads.Values) == 0
	return s
}

// number is the number that shows the count of an instance, or nil (rule 4).
func (s *Shown) number(n *Instance) *Number {
	switch {
	case n.AccessMethod != Regular:
		return nil
	case n.MetricType == UniqueDatasetInvestigations:
		return &s.Views
	case n.MetricType == UniqueDatasetRequests:
		return &s.Downloads
	}
	return nil
}

// mostInstances is how many instances a performance may have: with more, the job that
// reads the dataset dies (rule 2).
const mostInstances = 8

// shown warns of counts of a dataset that no record would show unchanged. It allocates
// only if there are any.
func (v *validator) shown(d *Dataset) {
	v.place.performance, v.place.instance = -1, -1
	regular := false // a count by people
	for j := range d.Performance {
		for k := range d.Performance[j].Instance {
			regular = regular || shownMetric(&d.Performance[j].Instance[k])
		}
	}
	if !regular {
		v.unseen(d)
		return
	}
	v.shownName(d)
	first := &d.Performance[0]
	if len(d.Performance) > 1 {
		v.warning("performance", "later-performance", fmt.Sprintf("has %d entries; records show the counts of the first only", len(d.Performance)))
	}
	v.place.performance = 0
	if n := len(first.Instance); n > mostInstances {
		v.warning("instance", "too-many-instances", fmt.Sprintf("has %d entries; with more than %d, records show no count of the dataset", n, mostInstances))
		return
	}
	if begin := string(first.Period.BeginDate); v.month != "" && begin != "" && usage.WrittenMonth(begin) != v.month {
		v.warning("period.begin-date", "other-month", fmt.Sprintf("is %s; records show the counts under the month of the report, %s", begin, v.month))
	}
	for k := range first.Instance {
		n := &first.Instance[k]
		v.place.instance = k
		if !shownMetric(n) {
			continue
		}
		if n.NoCount && v.stored {
			v.warning("count", "no-count", "is missing; records show 1 for it, or keep an earlier number")
		}
		if n.Count > math.MaxInt32 || n.Count < math.MinInt32 {
			v.warning("count", "too-large", fmt.Sprintf("is %d; records show no count above %d or below %d", n.Count, math.MaxInt32, math.MinInt32))
		}
		if slices.ContainsFunc(first.Instance[:k], func(m Instance) bool {
			return m.MetricType == n.MetricType && m.AccessMethod == n.AccessMethod
		}) {
			v.warning("count", "several-counts", fmt.Sprintf("is another one of %s (%s); records show one of the two, not their sum", n.MetricType, n.AccessMethod))
		}
	}
	v.place.performance, v.place.instance = -1, -1
}

func shownMetric(n *Instance) bool { return new(Shown).number(n) != nil }

// unseen warns if a dataset was used by people, and records show none of it (rule 4).
func (v *validator) unseen(d *Dataset) {
	for j := range d.Performance {
		for k := range d.Performance[j].Instance {
			if n := &d.Performance[j].Instance[k]; n.AccessMethod == Regular && n.Count > 0 {
				v.warning("performance", "not-unique", fmt.Sprintf("has no %s or %s (%s); records show no other counts", UniqueDatasetInvestigations, UniqueDatasetRequests, Regular))
				return
			}
		}
	}
}

// shownName warns if the DOI of a dataset is read as another one, or as none.
func (v *validator) shownName(d *Dataset) {
	ids := d.DatasetID
	if len(ids) == 0 {
		return // a fault
	}
	if !v.stored {
		var changed bool
		if ids, changed = readableIDs(ids); changed {
			v.warning("dataset-id[0].value", "corrected", fmt.Sprintf("is %.100q, in which the service does not find the DOI; Submit, Create and Put send %.100q first", d.DatasetID[0].Value, ids[0].Value))
		}
	}
	first := ids[0].Value
	name, record := shownUnder(first)
	switch {
	case name == "" && len(ids) > 1:
		v.warning("dataset-id[0].value", "later-identifier", fmt.Sprintf("is %.100q, in which the service finds no DOI; it reads only the first one, so no record shows the counts", first))
	case name == "":
		v.warning("dataset-id[0].value", "spelling", fmt.Sprintf("is %.100q, in which the service finds no DOI, so no record shows the counts", first))
	case record == "":
		v.warning("dataset-id[0].value", "characters", fmt.Sprintf("is %.100q; the service does not find the record of a DOI with such characters, so no record shows the counts", first))
	case record != name || strings.IndexFunc(first, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0:
		v.warning("dataset-id[0].value", "other-doi", fmt.Sprintf("is %.100q; the counts are added to those of %s", first, record))
	}
}

// readableIDs returns the identifiers of a dataset so that the service finds the DOI:
// first, and bare if the service does not read its spelling. It returns ids itself if no
// change is needed, or none would help.
func readableIDs(ids []TypedValue) (readable []TypedValue, changed bool) {
	at := slices.IndexFunc(ids, func(id TypedValue) bool { return strings.EqualFold(id.Type, TypeDOI) })
	if at < 0 || at == 0 && shownAsWritten(ids[0].Value) {
		return ids, false
	}
	name, err := doi.Parse(ids[at].Value)
	if err != nil {
		return ids, false
	}
	want, record := shownUnder(name)
	got, _ := shownUnder(ids[at].Value)
	if record == "" || at == 0 && got == want {
		return ids, false
	}
	first := ids[at]
	if got != want {
		first.Value = name
	}
	return slices.Insert(slices.Delete(slices.Clone(ids), at, at+1), 0, first), true
}

// shownAsWritten reports whether an identifier is a bare DOI whose record shows its
// counts, as for most. It is faster than shownUnder.
func shownAsWritten(id string) bool {
	if !shownPrefix(id) {
		return false
	}
	for i := range len(id) {
		if !plainASCII[id[i]] {
			return false
		}
	}
	return true
}

// shownUnder returns the DOI that the service reads in an identifier, and the DOI of the
// record that shows its counts. They are in lower case, and "" if there is none
// (rules 13 to 15).
func shownUnder(id string) (name, record string) {
	rest, address := strings.CutPrefix(id, "https://")
	if !address {
		rest, address = strings.CutPrefix(id, "http://")
	}
	if address {
		rest = strings.TrimPrefix(rest, "dx.")
		if len(rest) < 8 || rest[:3] != "doi" || rest[4:8] != "org/" { // the service accepts any byte as the dot
			return "", ""
		}
		rest = rest[8:]
	}
	rest = strings.TrimPrefix(rest, "doi:")
	if !shownPrefix(rest) || strings.Contains(rest, "\n") {
		return "", ""
	}
	name = strings.ToLower(strings.ReplaceAll(rest, "\u200b", ""))
	end := 0
	for end < len(name) && plainASCII[name[end]] {
		end++
	}
	if end == len(name) {
		return name, name
	}
	record = name[:end]
	if c := name[end]; c != '#' && c != '?' || strings.HasSuffix(record, "/") && strings.Count(record, "/") == 1 {
		record = ""
	}
	return percentEncoded(name), record
}

// shownPrefix reports whether a text begins with "10.", four or five digits, a slash, and
// more text.
func shownPrefix(text string) bool {
	digits, ok := strings.CutPrefix(text, "10.")
	at := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	return ok && (at == 4 || at == 5) && digits[at] == '/' && len(digits) > at+1
}

// plainASCII are the characters of a DOI that the service does not percent-encode.
var plainASCII = func() (plain [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/" {
		plain[c] = true
	}
	return plain
}()

func percentEncoded(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; plainASCII[c] || c == '#' || c == '?' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}
