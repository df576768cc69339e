package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// MaxDatasets is the largest number of datasets in one request (specification §8). Submit
// sends larger reports in subsets.
const MaxDatasets = 50_000

// Validate checks the report against the rules of specification §2.1 and §8 and of the
// deployed service. It returns nil, or all faults with their places as a
// [*datacite.ValidationError]. The service reports some of these faults late or never, and may
// have replaced the stored report by then.
//
// A country that is not in ISO 3166-1, such as xk or eu, is a fault unless the header
// has exception 69: the service refuses it only in an uncompressed report. For
// [Client.Submit], which always compresses, it is a warning. A reporting period must not
// begin after today in UTC+14, the earliest time zone.
func (r *Report) Validate() error {
	v := validator{most: -1}
	v.report(r)
	return v.err()
}

// Findings returns the faults of [Report.Validate], and warnings: a reporting period whose
// last day is not over even in UTC+14, counts of zero, counts by country that do not add up
// to the whole, countries that do not exist, DOIs that occur twice, and counts that DOI
// records will show changed or not at all.
func (r *Report) Findings() []datacite.Finding {
	var warnings []datacite.Finding
	v := validator{most: -1, warn: func(f datacite.Finding) { warnings = append(warnings, f) }}
	if v.report(r); r != nil {
		warnings = append(warnings, repeatedIn(r.Datasets)...)
	}
	return slices.Concat(v.faults, warnings)
}

// A validator collects faults and passes warnings on.
type validator struct {
	faults []datacite.Finding
	most   int // how many faults are kept; -1 means all
	warn   func(datacite.Finding)

	compressed bool // the header says so
	strict     bool // inconsistent counts are faults, not warnings
	place      place
	checked    Period // the last period found to be right; most datasets share it
	month      string // under which records show the counts
	outlined   display.Dataset
}

// A place is where in a report the validator looks. It becomes text only when
// something is found there.
type place struct{ dataset, performance, instance int }

func (p place) path(field string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "report-datasets[%d]", p.dataset)
	if p.performance >= 0 {
		fmt.Fprintf(&b, ".performance[%d]", p.performance)
	}
	if p.instance >= 0 {
		fmt.Fprintf(&b, ".instance[%d]", p.instance)
	}
	return b.String() + "." + field
}

func (v *validator) add(path string, code datacite.Code, reason string) {
	if v.most < 0 || len(v.faults) < v.most {
		v.faults = append(v.faults, datacite.Finding{Path: path, Code: code, Reason: reason})
	}
}

func (v *validator) err() error { return datacite.Invalid(v.faults...) }

func (v *validator) report(r *Report) {
	if r == nil {
		v.add("report", datacite.CodeMissing, "is nil")
		return
	}
	if r.ID != "" && !isUUID(r.ID) {
		v.add("id", datacite.CodeSyntax, "is not a UUID")
	}
	v.header(&r.Header)
	switch n := len(r.Datasets); {
	case n == 0:
		v.add("report-datasets", datacite.CodeMissing, "is empty; the service accepts no report without datasets")
	case n > MaxDatasets:
		v.add("report-datasets", datacite.CodeLimit,
			fmt.Sprintf("has %d entries, more than the %d that one request may carry; Submit sends them in subsets", n,
				MaxDatasets))
	}
	var entry []byte
	for i := range r.Datasets {
		d := &r.Datasets[i]
		v.dataset(i, d)
		entry = v.encode(entry[:0], i, d)
		// encoding/json makes six bytes of some characters
		if most := jsonlex.MaxValue; len(entry) > most/6 && len(entry) <= most {
			data, _ := json.Marshal(d)
			v.size(i, len(data))
		}
	}
}

// encode appends the JSON of dataset i. It is a fault if that cannot be sent, or not
// be read back.
func (v *validator) encode(dst []byte, i int, d *Dataset) []byte {
	entry, err := appendDataset(dst, d)
	if err != nil {
		v.utf8(i, d)
		return dst
	}
	v.size(i, len(entry)-len(dst))
	if bytes.Contains(entry[len(dst):], []byte(lostText)) {
		v.utf8(i, d)
	}
	return entry
}

func (v *validator) size(i, size int) {
	if size > jsonlex.MaxValue {
		v.add(fmt.Sprintf("report-datasets[%d]", i), datacite.CodeLimit,
			fmt.Sprintf("takes %d bytes of JSON; more than %d cannot be read back", size, jsonlex.MaxValue))
	}
}

func (v *validator) header(h *Header) {
	const at = "report-header."
	v.compressed = h.compressed()
	for _, f := range []struct {
		name, value string
		required    bool
	}{
		{"report-name", h.ReportName, false}, {"report-id", h.ReportID, true}, {"created-by", h.CreatedBy, true},
		{"created", string(h.Created), true}, {"release", h.Release, true},
	} {
		if f.required && strings.TrimSpace(f.value) == "" {
			v.add(at+f.name, datacite.CodeMissing, "is empty")
		}
		const column = 255
		if n := utf8.RuneCountInString(f.value); n > column {
			v.add(at+f.name, datacite.CodeLimit, fmt.Sprintf("has %d characters; the service stores %d", n, column))
		}
		v.text(at+f.name, f.value)
	}
	if h.Release != "" && h.Release != ReleaseRD1 {
		v.add(at+"release", datacite.CodeVocabulary, fmt.Sprintf("is %q; the service accepts %q only", h.Release, ReleaseRD1))
	}
	if name := h.CreatedBy; name != "" && !creatorEnd(name[len(name)-1]) {
		v.add(at+"created-by", datacite.CodeEncoding,
			fmt.Sprintf("%q ends with a character that the service refuses there; let it end with a letter or a digit", name))
	}
	if _, err := h.Created.Time(); h.Created != "" && err != nil {
		v.add(at+"created", datacite.CodeDate, fmt.Sprintf("is %q, not a date YYYY-MM-DD", h.Created))
	}
	v.pairs(at+"report-filters", h.ReportFilters)
	v.pairs(at+"report-attributes", h.ReportAttributes)
	v.oneMonth(at+"reporting-period", h.ReportingPeriod)
	v.month = h.shownMonth()
	if begin := string(h.ReportingPeriod.BeginDate); v.warn != nil && v.month != "" &&
		display.WrittenMonth(begin) != v.month {
		v.warn(datacite.Finding{Path: at + "reporting-period.begin-date", Code: datacite.CodeOtherMonth,
			Reason: fmt.Sprintf("is %s; records show the counts under its month in UTC, %s", begin, v.month), Warning: true})
	}
}

func (v *validator) pairs(path string, list []NameValue) {
	for i, p := range list {
		v.text(fmt.Sprintf("%s[%d].name", path, i), p.Name)
		v.text(fmt.Sprintf("%s[%d].value", path, i), p.Value)
	}
}

// text refuses text that JSON cannot represent, and warns of text that was damaged before.
func (v *validator) text(path, value string) {
	switch {
	case !utf8.ValidString(value):
		v.add(path, datacite.CodeEncoding, "is not valid UTF-8")
	case v.warn != nil && strings.Contains(value, lostText):
		v.warn(datacite.Finding{Path: path, Code: datacite.CodeEncoding,
			Reason: "has the character U+FFFD, which stands where a program lost what was written", Warning: true})
	}
}

// creatorEnd reports whether the deployed service accepts c at the end of a creator's name.
func creatorEnd(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("-._;()/:*~$=", c) >= 0
}

func (v *validator) oneMonth(path string, p Period) {
	begin, end, ok := v.days(p, func(date string) string { return path + "." + date })
	now := time.Now().UTC().Add(14 * time.Hour) // UTC+14, the earliest time zone
	switch {
	case !ok:
	case begin.Year() != end.Year() || begin.Month() != end.Month():
		v.add(path, datacite.CodeDate, fmt.Sprintf(
			"from %s to %s is not within one month, which the service asks of a report", p.BeginDate, p.EndDate))
	case begin.After(now):
		v.add(path+".begin-date", datacite.CodeDate, fmt.Sprintf("is %s, in the future", p.BeginDate))
	case v.warn != nil && end.AddDate(0, 0, 1).After(now):
		v.warn(datacite.Finding{Path: path + ".end-date", Code: datacite.CodeDate,
			Reason: fmt.Sprintf("is %s, which is not over yet", p.EndDate), Warning: true})
	}
}

// days are the first and the last day of a period, if it is right. Path gives the
// places of the dates.
func (v *validator) days(p Period, path func(date string) string) (begin, end time.Time, ok bool) {
	begin, err := p.BeginDate.Time()
	if ok = err == nil; !ok {
		v.add(path("begin-date"), datacite.CodeDate, fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.BeginDate))
	}
	if end, err = p.EndDate.Time(); err != nil {
		v.add(path("end-date"), datacite.CodeDate, fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.EndDate))
	} else if end.Before(begin) {
		v.add(path("end-date"), datacite.CodeDate, fmt.Sprintf("%s is before begin-date %s", p.EndDate, p.BeginDate))
	}
	return begin, end, ok && err == nil && !end.Before(begin)
}

// A typedList is a list of a dataset, and the types that the service accepts in it.
type typedList struct {
	field  string
	values []TypedValue
	types  []string
}

var (
	datasetIDTypes   = []string{"doi", "DOI", "proprietary", "uri"}
	publisherIDTypes = []string{"isni", "orcid", "grid", "urn", "client-id"}
	dateTypes        = []string{"pub-date", "first-accessed-online", "proprietary"}
	contributorTypes = []string{"name", "orcid", "isni"}
	attributeTypes   = []string{"dataset-version", "dataset_type", "proprietary"}
)

func (d *Dataset) lists() [5]typedList {
	return [...]typedList{
		{"dataset-id", d.DatasetID, datasetIDTypes},
		{"publisher-id", d.PublisherID, publisherIDTypes},
		{"dataset-dates", d.Dates, dateTypes},
		{"dataset-contributors", d.Contributors, contributorTypes},
		{"dataset-attributes", d.Attributes, attributeTypes},
	}
}

// dataset checks the dataset with number i. It allocates only when it finds
// something.
func (v *validator) dataset(i int, d *Dataset) {
	v.place = place{dataset: i, performance: -1, instance: -1}
	if d.DataType != DataTypeDataset {
		v.fault("data-type", datacite.CodeVocabulary,
			fmt.Sprintf("is %q; the service accepts %q", d.DataType, DataTypeDataset))
	}
	if len(d.DatasetID) == 0 {
		v.fault("dataset-id", datacite.CodeMissing, "is empty; counts need an identifier")
	}
	for j := range d.DatasetID {
		if strings.TrimSpace(d.DatasetID[j].Value) == "" {
			v.fault(fmt.Sprintf("dataset-id[%d].value", j), datacite.CodeMissing, "is empty")
		}
	}
	for _, list := range d.lists() {
		for j := range list.values {
			if kind := list.values[j].Type; !slices.Contains(list.types, kind) {
				reason := fmt.Sprintf("is %q; the service accepts %s", kind, strings.Join(list.types, ", "))
				if list.field != "dataset-id" {
					reason += "; the list may be empty"
				}
				v.fault(fmt.Sprintf("%s[%d].type", list.field, j), datacite.CodeVocabulary, reason)
			}
		}
	}
	for j := range d.Performance {
		v.place.performance = j
		v.performance(&d.Performance[j])
		v.inconsistent(d, d.Performance[j].Instance)
	}
	if v.warn != nil {
		v.displayed(d)
	}
}

func (v *validator) fault(field string, code datacite.Code, reason string) {
	v.add(v.place.path(field), code, reason)
}

func (v *validator) warning(field string, code datacite.Code, reason string) {
	v.warn(datacite.Finding{Path: v.place.path(field), Code: code, Reason: reason, Warning: true})
}

// lostText stands where a program lost what was written.
const lostText = "\ufffd"

// utf8 names the texts of dataset i that are not UTF-8, or were damaged before. The texts that it does not
// look at have been compared with lists of ASCII words.
func (v *validator) utf8(i int, d *Dataset) {
	v.place = place{dataset: i, performance: -1, instance: -1}
	for _, text := range [...]struct{ field, value string }{
		{"dataset-title", d.Title}, {"platform", d.Platform}, {"publisher", d.Publisher}, {"uri", d.URI}, {"yop", d.YOP},
	} {
		v.text(v.place.path(text.field), text.value)
	}
	for _, list := range d.lists() {
		for j := range list.values {
			v.text(v.place.path(fmt.Sprintf("%s[%d].value", list.field, j)), list.values[j].Value)
		}
	}
}

func (v *validator) performance(p *Performance) {
	v.place.instance = -1
	if p.Period != v.checked {
		if _, _, ok := v.days(p.Period, func(date string) string { return v.place.path("period." + date) }); ok {
			v.checked = p.Period
		}
	}
	for i := range p.Instance {
		v.place.instance = i
		v.instance(&p.Instance[i])
	}
}

func (v *validator) instance(n *Instance) {
	if !n.MetricType.known() {
		v.fault("metric-type", datacite.CodeVocabulary,
			fmt.Sprintf("is %q; the service knows %s", n.MetricType, knownMetrics))
	}
	if !n.AccessMethod.known() {
		v.fault("access-method", datacite.CodeVocabulary,
			fmt.Sprintf("is %q; the service knows %s", n.AccessMethod, knownAccess))
	}
	if n.Count < 0 {
		v.fault("count", datacite.CodeLimit, fmt.Sprintf("is %d", n.Count))
	}
	if n.NoCount {
		v.fault("count", datacite.CodeMissing, "is missing; the service would take it as 1, or keep an earlier number")
	} else if n.Count == 0 && v.warn != nil {
		v.warning("count", datacite.CodeZero, "is 0, which is needed only to remove an earlier number")
	}
	v.countries(n)
}

const (
	knownMetrics = MetricTotalDatasetRequests + ", " + MetricUniqueDatasetRequests + ", " +
		MetricTotalDatasetInvestigations + " and " + MetricUniqueDatasetInvestigations
	knownAccess = AccessRegular + " and " + AccessMachine
)

func (m MetricType) known() bool {
	switch m {
	case MetricTotalDatasetRequests, MetricUniqueDatasetRequests, MetricTotalDatasetInvestigations,
		MetricUniqueDatasetInvestigations:
		return true
	}
	return false
}

func (m AccessMethod) known() bool { return m == AccessRegular || m == AccessMachine }

func (v *validator) countries(n *Instance) {
	var sum int64
	rising, last := true, 0
	for i := range n.CountryCounts {
		c := &n.CountryCounts[i]
		sum += c.Count
		pair := country.Pair(c.Country)
		if pair == 0 {
			v.fault(countryField(c.Country), datacite.CodeVocabulary, "is not a lowercase two-letter country code")
		} else if (v.warn != nil || !v.compressed) && !country.Known(pair) {
			report := v.fault
			if v.compressed {
				report = v.warning
			}
			report(countryField(c.Country), datacite.CodeVocabulary,
				"is not a country code of ISO 3166-1; an uncompressed report with it is refused")
		}
		if c.Count < 0 {
			v.fault(countryField(c.Country), datacite.CodeLimit, fmt.Sprintf("is %d", c.Count))
		}
		rising = rising && pair > last
		last = pair
	}
	if !rising {
		v.countriesOnce(n.CountryCounts)
	}
	switch {
	case len(n.CountryCounts) == 0:
	case sum > n.Count && v.strict:
		v.fault("country-counts", datacite.CodeInconsistent,
			fmt.Sprintf("are inconsistent: they add up to %d, and the count is %d", sum, n.Count))
	case sum > n.Count && v.warn != nil:
		v.warning("country-counts", datacite.CodeInconsistent, fmt.Sprintf("add up to %d, and the count is %d", sum, n.Count))
	case sum != n.Count && v.warn != nil:
		v.warning("country-counts", datacite.CodeIncomplete, fmt.Sprintf("add up to %d, and the count is %d", sum, n.Count))
	}
}

func countryField(code string) string { return fmt.Sprintf("country-counts[%q]", code) }

// countriesOnce looks for countries that occur twice, which a list in ascending order
// cannot have.
func (v *validator) countriesOnce(counts CountryCounts) {
	seen := make(map[string]bool, len(counts))
	for _, c := range counts {
		if seen[c.Country] {
			v.fault(countryField(c.Country), datacite.CodeRepeated, "occurs twice")
		}
		seen[c.Country] = true
	}
}

// maxFaults bounds the list of faults of a source of any length.
const maxFaults = 100

// bounded has the metrics, each one before those that bound it.
var bounded = []MetricType{MetricUniqueDatasetRequests, MetricTotalDatasetRequests, MetricUniqueDatasetInvestigations,
	MetricTotalDatasetInvestigations}

// inconsistent calls report for inconsistent counts of a month: for one access method,
// more unique than total ones, or more requests than investigations. A metric that is
// not there bounds nothing.
func inconsistent(instances []Instance, report func(reason string)) {
	type sum struct {
		count int64
		there bool
	}
	var sums [2][4]sum
	for i := range instances {
		n := &instances[i]
		access, metric := slices.Index(accessMethods, n.AccessMethod), slices.Index(bounded, n.MetricType)
		if access >= 0 && metric >= 0 {
			s := &sums[access][metric]
			s.count, s.there = s.count+n.Count, true
		}
	}
	for access, s := range sums {
		for _, pair := range [...][2]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}} {
			less, more := s[pair[0]], s[pair[1]]
			if less.there && more.there && less.count > more.count {
				report(fmt.Sprintf("are inconsistent: %s (%s) is %d, more than %s, which is %d",
					bounded[pair[0]], accessMethods[access], less.count, bounded[pair[1]], more.count))
			}
		}
	}
}

// inconsistent looks at the counts of a dataset and a month.
func (v *validator) inconsistent(d *Dataset, instances []Instance) {
	report := v.fault
	switch {
	case v.strict:
	case v.warn != nil:
		report = v.warning
	default:
		return
	}
	v.place.instance = -1
	inconsistent(instances, func(reason string) {
		var name string
		if len(d.DatasetID) > 0 {
			name = d.DatasetID[0].Value
		}
		report("instance", datacite.CodeInconsistent, fmt.Sprintf("of %.100q %s", name, reason))
	})
}

var accessMethods = []AccessMethod{AccessRegular, AccessMachine}

// What DOI records display of a report is decided by package display. Its rules say of which
// counts Submit, Create, Put and Group warn.

// outline writes what the rules of display ask of a dataset into to, whose memory it reuses.
func (d *Dataset) outline(to *display.Dataset) {
	*to = display.Dataset{IDs: len(d.DatasetID), Performances: len(d.Performance), Counts: to.Counts[:0]}
	if to.IDs > 0 {
		to.ID = d.DatasetID[0].Value
	}
	if to.Performances > 0 {
		to.Begin = string(d.Performance[0].Period.BeginDate)
	}
	for i := range d.Performance {
		for j := range d.Performance[i].Instance {
			n := &d.Performance[i].Instance[j]
			to.Counts = append(to.Counts, display.Count{Performance: i, Metric: string(n.MetricType),
				Access: string(n.AccessMethod), N: n.Count, Missing: n.NoCount})
		}
	}
}

// displayed warns of counts of a dataset that no record would display unchanged.
func (v *validator) displayed(d *Dataset) {
	sent := *d
	if ids, changed := readableIDs(d.DatasetID); changed {
		v.place.performance, v.place.instance = -1, -1
		v.warning("dataset-id[0].value", datacite.CodeCorrected,
			fmt.Sprintf("is %.100q, in which the service does not find the DOI; Submit, Create and Put send %.100q first",
				d.DatasetID[0].Value, ids[0].Value))
		sent.DatasetID = ids
	}
	sent.outline(&v.outlined)
	for _, h := range v.outlined.Check(v.month) {
		if h.Code != datacite.CodeNoCount { // a fault
			v.warn(datacite.Finding{Path: fmt.Sprintf("report-datasets[%d].%s", v.place.dataset, h.Path), Code: h.Code,
				Reason: h.Reason, Warning: true})
		}
	}
}

// shownMonth is the month under which records display the counts of a report.
func (h *Header) shownMonth() string { return display.Month(string(h.ReportingPeriod.BeginDate)) }

// readableIDs returns the identifiers of a dataset so that the service finds the DOI, and whether
// they had to be changed.
func readableIDs(ids []TypedValue) ([]TypedValue, bool) {
	return display.Readable(ids, func(id *TypedValue) (kind, value *string) { return &id.Type, &id.Value })
}

// repeated returns the fault of an entry that has the DOI of an earlier one.
func repeated(first, again int) datacite.Finding {
	return datacite.Finding{Path: fmt.Sprintf("report-datasets[%d].dataset-id", again), Code: datacite.CodeRepeated,
		Reason: fmt.Sprintf("is that of report-datasets[%d]; the service would keep one of them", first), Err: ErrRepeated}
}

// repeatedIn finds repeated DOIs in a report that is held in memory.
func repeatedIn(datasets []Dataset) []datacite.Finding {
	first := map[string]int{}
	var findings []datacite.Finding
	var name []byte
	for i := range datasets {
		name = appendDOI(name[:0], &datasets[i])
		if at, ok := first[string(name)]; ok && len(name) > 0 {
			f := repeated(at, i)
			f.Warning = true
			findings = append(findings, f)
		} else {
			first[string(name)] = i
		}
	}
	return findings
}

// appendDOI appends the dataset's DOI, if it has one, in a form that all spellings share:
// without address or scheme, its ASCII letters in lower case.
func appendDOI(dst []byte, d *Dataset) []byte {
	for i := range d.DatasetID {
		if id := &d.DatasetID[i]; strings.EqualFold(id.Type, TypeDOI) {
			name := strings.TrimSpace(id.Value)
			for _, before := range [...]string{"", "https://doi.org/", "doi:"} { // for speed: Parse knows them too
				if rest, ok := strings.CutPrefix(name, before); ok && strings.HasPrefix(rest, "10.") &&
					!strings.ContainsAny(rest, "%?#") {
					return jsonlex.AppendLower(dst, rest)
				}
			}
			if parsed, err := doi.Parse(name); err == nil {
				name = parsed
			}
			return jsonlex.AppendLower(dst, name)
		}
	}
	return dst
}

// ofDataset is the error of a dataset that LeaveOut decides about.
func ofDataset(doi string, faults []datacite.Finding) error {
	err := datacite.Invalid(faults...)
	if doi == "" {
		return err
	}
	return fmt.Errorf("dataset %s: %w", doi, err)
}
