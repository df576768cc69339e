package reports

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDatasets is the most datasets that one request may carry (specification
// §8). Submit sends larger reports in subsets.
const MaxDatasets = 50_000

// A Finding is something about a report that is wrong, or looks wrong.
type Finding struct {
	Path    string // such as "report-datasets[3].performance[0].instance[1].metric-type"
	Reason  string // what is wrong and what would be right
	Warning bool   // the service takes it; errors are what it refuses, or drops without a word
}

// String names the place and the reason.
func (f Finding) String() string { return f.Path + " " + f.Reason }

// Validate checks the report against the rules of specification §2.1 and §8
// and those of the deployed service, and returns every fault, each with its
// place, as a [*ValidationError], or nil. The service tells some of these
// faults late or never, and may have replaced the stored report by then.
func (r *Report) Validate() error {
	v := validator{most: -1}
	v.report(r)
	return v.err()
}

// Findings returns what [Report.Validate] finds, and warnings beside: counts of
// zero, counts by country that do not add up to the whole, countries that do
// not exist, and DOIs that occur twice.
func (r *Report) Findings() []Finding {
	var warnings []Finding
	v := validator{most: -1, warn: func(f Finding) { warnings = append(warnings, f) }}
	v.report(r)
	findings := make([]Finding, 0, len(v.faults)+len(warnings))
	for _, f := range v.faults {
		findings = append(findings, Finding{Path: f.Path, Reason: f.Reason})
	}
	findings = append(findings, warnings...)
	return append(findings, repeatedIn(r.Datasets)...)
}

// A validator collects faults and hands warnings on.
type validator struct {
	faults []*FieldError
	most   int // how many faults are kept; -1 means all
	warn   func(Finding)

	place   place
	checked Period // the last period found to be right; most datasets share it
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

func (v *validator) add(path, reason string) {
	if v.most < 0 || len(v.faults) < v.most {
		v.faults = append(v.faults, &FieldError{path, reason})
	}
}

func (v *validator) err() error {
	if len(v.faults) == 0 {
		return nil
	}
	return &ValidationError{v.faults}
}

func (v *validator) report(r *Report) {
	if r.ID != "" && !uuidForm.MatchString(r.ID) {
		v.add("id", "is not a UUID")
	}
	v.header(&r.Header)
	switch n := len(r.Datasets); {
	case n == 0:
		v.add("report-datasets", "is empty; the service takes no report without datasets")
	case n > MaxDatasets:
		v.add("report-datasets", fmt.Sprintf("has %d entries, more than the %d that one request may carry; Submit sends them in subsets", n, MaxDatasets))
	}
	for i := range r.Datasets {
		v.dataset(i, &r.Datasets[i])
		v.encoding(&r.Datasets[i])
	}
}

func (v *validator) header(h *Header) {
	const at = "report-header."
	for _, f := range []struct{ name, value string }{
		{"report-id", h.ReportID}, {"created-by", h.CreatedBy}, {"created", string(h.Created)}, {"release", h.Release},
	} {
		if strings.TrimSpace(f.value) == "" {
			v.add(at+f.name, "is empty")
		}
	}
	if h.Release != "" && h.Release != ReleaseRD1 {
		v.add(at+"release", fmt.Sprintf("is %q; the service accepts %q only", h.Release, ReleaseRD1))
	}
	if name := h.CreatedBy; name != "" && !creatorEnd(name[len(name)-1]) {
		v.add(at+"created-by", fmt.Sprintf("%q ends with a character that the service refuses there; let it end with a letter or a digit", name))
	}
	if _, err := h.Created.Time(); h.Created != "" && err != nil {
		v.add(at+"created", fmt.Sprintf("is %q, not a date YYYY-MM-DD", h.Created))
	}
	v.headerText(at+"report-name", h.ReportName)
	v.headerText(at+"created-by", h.CreatedBy)
	v.headerText(at+"report-id", h.ReportID)
	for i, f := range h.ReportFilters {
		v.headerText(fmt.Sprintf("%sreport-filters[%d]", at, i), f.Name+f.Value)
	}
	for i, a := range h.ReportAttributes {
		v.headerText(fmt.Sprintf("%sreport-attributes[%d]", at, i), a.Name+a.Value)
	}
	v.month(at+"reporting-period", h.ReportingPeriod)
}

// creatorEnd is what the deployed service wants a creator's name to end with.
func creatorEnd(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._;()/:*~$=", c) >= 0
}

// headerText refuses what the service cannot store in a column of its own.
func (v *validator) headerText(path, value string) {
	const longest = 255
	if !utf8.ValidString(value) {
		v.add(path, "is not valid UTF-8")
	}
	if n := utf8.RuneCountInString(value); n > longest {
		v.add(path, fmt.Sprintf("has %d characters; the service stores %d", n, longest))
	}
}

func (v *validator) month(path string, p Period) {
	begin, errBegin := p.BeginDate.Time()
	end, errEnd := p.EndDate.Time()
	if errBegin != nil {
		v.add(path+".begin-date", fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.BeginDate))
	}
	if errEnd != nil {
		v.add(path+".end-date", fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.EndDate))
	}
	if errBegin != nil || errEnd != nil {
		return
	}
	switch {
	case end.Before(begin):
		v.add(path+".end-date", fmt.Sprintf("%s is before begin-date %s", p.EndDate, p.BeginDate))
	case begin.Year() != end.Year() || begin.Month() != end.Month():
		v.add(path, fmt.Sprintf("from %s to %s is not within one month, which the service asks of a report", p.BeginDate, p.EndDate))
	}
}

// Types of typed values that the service accepts, by member.
var (
	datasetIDTypes   = []string{"doi", "DOI", "proprietary", "uri"}
	publisherIDTypes = []string{"isni", "orcid", "grid", "urn", "client-id"}
	dateTypes        = []string{"pub-date", "first-accessed-online", "proprietary"}
	contributorTypes = []string{"name", "orcid", "isni"}
	attributeTypes   = []string{"dataset-version", "dataset_type", "proprietary"}
)

// dataset checks the dataset with number i. It allocates only when it finds
// something.
func (v *validator) dataset(i int, d *Dataset) {
	v.place = place{dataset: i, performance: -1, instance: -1}
	if d.DataType != DataTypeDataset {
		v.fault("data-type", fmt.Sprintf("is %q; the service accepts %q", d.DataType, DataTypeDataset))
	}
	if len(d.DatasetID) == 0 {
		v.fault("dataset-id", "is empty; without an identifier the counts belong to nothing")
	}
	for j := range d.DatasetID {
		if strings.TrimSpace(d.DatasetID[j].Value) == "" {
			v.fault(fmt.Sprintf("dataset-id[%d].value", j), "is empty")
		}
	}
	v.types("dataset-id", d.DatasetID, datasetIDTypes)
	v.types("publisher-id", d.PublisherID, publisherIDTypes)
	v.types("dataset-dates", d.Dates, dateTypes)
	v.types("dataset-contributors", d.Contributors, contributorTypes)
	v.types("dataset-attributes", d.Attributes, attributeTypes)
	for j := range d.Performance {
		v.place.performance = j
		v.performance(&d.Performance[j])
	}
}

func (v *validator) fault(field, reason string) { v.add(v.place.path(field), reason) }

func (v *validator) warning(field, reason string) {
	v.warn(Finding{Path: v.place.path(field), Reason: reason, Warning: true})
}

// encoding names the texts of the dataset that dataset was called for which JSON
// cannot carry unchanged. Others that dataset finds no fault with are ASCII.
func (v *validator) encoding(d *Dataset) {
	text := func(field, value string) {
		if !utf8.ValidString(value) {
			v.fault(field, "is not valid UTF-8")
		}
	}
	v.place.performance, v.place.instance = -1, -1
	text("dataset-title", d.Title)
	text("platform", d.Platform)
	text("publisher", d.Publisher)
	text("uri", d.URI)
	text("yop", d.YOP)
	for _, list := range []struct {
		field  string
		values []TypedValue
	}{
		{"dataset-id", d.DatasetID}, {"publisher-id", d.PublisherID}, {"dataset-dates", d.Dates},
		{"dataset-contributors", d.Contributors}, {"dataset-attributes", d.Attributes},
	} {
		for i := range list.values {
			if !utf8.ValidString(list.values[i].Value) {
				v.fault(fmt.Sprintf("%s[%d].value", list.field, i), "is not valid UTF-8")
			}
		}
	}
}

func (v *validator) types(field string, values []TypedValue, allowed []string) {
	for i := range values {
		if !contains(allowed, values[i].Type) {
			v.fault(fmt.Sprintf("%s[%d].type", field, i), fmt.Sprintf("is %q; the service accepts %s", values[i].Type, strings.Join(allowed, ", ")))
		}
	}
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

func (v *validator) performance(p *Performance) {
	v.place.instance = -1
	if p.Period != v.checked {
		v.period(p.Period)
	}
	for i := range p.Instance {
		v.place.instance = i
		v.instance(&p.Instance[i])
	}
}

func (v *validator) period(p Period) {
	begin, errBegin := p.BeginDate.Time()
	end, errEnd := p.EndDate.Time()
	switch {
	case errBegin != nil:
		v.fault("period.begin-date", fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.BeginDate))
	case errEnd != nil:
		v.fault("period.end-date", fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.EndDate))
	case end.Before(begin):
		v.fault("period.end-date", fmt.Sprintf("%s is before begin-date %s", p.EndDate, p.BeginDate))
	default:
		v.checked = p
	}
}

func (v *validator) instance(n *Instance) {
	switch n.MetricType {
	case TotalDatasetRequests, UniqueDatasetRequests, TotalDatasetInvestigations, UniqueDatasetInvestigations:
	default:
		v.fault("metric-type", fmt.Sprintf("is %q; the service knows %s, %s, %s and %s", n.MetricType,
			TotalDatasetRequests, UniqueDatasetRequests, TotalDatasetInvestigations, UniqueDatasetInvestigations))
	}
	switch n.AccessMethod {
	case Regular, Machine:
	default:
		v.fault("access-method", fmt.Sprintf("is %q; the service knows %s and %s", n.AccessMethod, Regular, Machine))
	}
	if n.Count < 0 {
		v.fault("count", fmt.Sprintf("is %d", n.Count))
	}
	if n.Count == 0 && v.warn != nil {
		v.warning("count", "is 0; what was not used need not be reported")
	}
	v.countries(n)
}

func (v *validator) countries(n *Instance) {
	var sum int64
	rising, last := true, 0
	for i := range n.CountryCounts {
		c := &n.CountryCounts[i]
		sum += c.Count
		pair := letterPair(c.Country)
		if pair == 0 {
			v.fault(countryField(c.Country), "is not a lowercase two-letter country code")
		} else if v.warn != nil && !knownCountry(c.Country) {
			v.warning(countryField(c.Country), "is not a country code of ISO 3166-1; an uncompressed report with it is refused")
		}
		if c.Count < 0 {
			v.fault(countryField(c.Country), fmt.Sprintf("is %d", c.Count))
		}
		rising = rising && pair > last
		last = pair
	}
	if !rising {
		v.countriesOnce(n.CountryCounts)
	}
	if sum != n.Count && len(n.CountryCounts) > 0 && v.warn != nil {
		v.warning("country-counts", fmt.Sprintf("add up to %d, and the count is %d", sum, n.Count))
	}
}

func countryField(code string) string { return fmt.Sprintf("country-counts[%q]", code) }

// countriesOnce looks for countries that occur twice. A list whose codes rise, as
// they should, needs no such look.
func (v *validator) countriesOnce(counts CountryCounts) {
	seen := make(map[string]bool, len(counts))
	for _, c := range counts {
		if seen[c.Country] {
			v.fault(countryField(c.Country), "occurs twice")
		}
		seen[c.Country] = true
	}
}

// letterPair is a number for two lowercase letters, larger for later ones, or 0
// for anything else.
func letterPair(s string) int {
	if len(s) != 2 || s[0]-'a' >= 26 || s[1]-'a' >= 26 {
		return 0
	}
	return int(s[0])<<8 | int(s[1])
}

// isoCountries are the 249 codes of ISO 3166-1 alpha-2, side by side.
const isoCountries = "adaeafagaialamaoaqarasatauawaxaz" +
	"babbbdbebfbgbhbibjblbmbnbobqbrbsbtbvbwbybz" +
	"cacccdcfcgchcickclcmcncocrcucvcwcxcycz" +
	"dedjdkdmdodz" + "eceeegeheresetfifjfkfmfofr" +
	"gagbgdgegfggghgiglgmgngpgqgrgsgtgugwgy" + "hkhmhnhrhthu" +
	"idieiliminioiqirisit" + "jejmjojp" + "kekgkhkikmknkpkrkwkykz" +
	"lalblclilklrlsltlulvly" +
	"mamcmdmemfmgmhmkmlmmmnmompmqmrmsmtmumvmwmxmymz" +
	"nancnenfngninlnonpnrnunz" + "om" + "papepfpgphpkplpmpnprpsptpwpy" + "qa" +
	"rerorsrurw" + "sasbscsdsesgshsisjskslsmsnsosrssstsvsxsysz" +
	"tctdtftgthtjtktltmtntotrtttvtwtz" + "uaugumusuyuz" + "vavcvevgvivnvu" + "wfws" + "yeyt" + "zazmzw"

func knownCountry(code string) bool {
	for i := 0; i+1 < len(isoCountries); i += 2 {
		if isoCountries[i:i+2] == code {
			return true
		}
	}
	return false
}
