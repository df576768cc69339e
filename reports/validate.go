package reports

import (
	"fmt"
	"strings"
)

// MaxDatasets is the most datasets that one request may carry (specification
// §8). Submit sends larger reports in subsets.
const MaxDatasets = 50_000

// Validate checks the report against the rules of specification §2.1 and §8
// and those of the deployed service, and returns every fault, each with its
// place, as a [*ValidationError], or nil. The service tells some of these
// faults late or never, and may have replaced the stored report by then.
func (r *Report) Validate() error {
	v := &validator{}
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
	}
	return v.err()
}

// A validator collects faults.
type validator struct{ faults []*FieldError }

func (v *validator) add(path, reason string) {
	v.faults = append(v.faults, &FieldError{path, reason})
}

func (v *validator) err() error {
	if len(v.faults) == 0 {
		return nil
	}
	return &ValidationError{v.faults}
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
	v.text(at+"report-name", h.ReportName)
	v.text(at+"created-by", h.CreatedBy)
	v.text(at+"report-id", h.ReportID)
	v.month(at+"reporting-period", h.ReportingPeriod)
}

// creatorEnd is what the deployed service wants a creator's name to end with.
func creatorEnd(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._;()/:*~$=", c) >= 0
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

// text refuses what JSON cannot carry unchanged.
func (v *validator) text(path, value string) {
	if !strings.Contains(value, "\ufffd") && strings.ToValidUTF8(value, "\ufffd") != value {
		v.add(path, "is not valid UTF-8")
	}
}

func (v *validator) dataset(i int, d *Dataset) {
	at := func(field string) string { return fmt.Sprintf("report-datasets[%d].%s", i, field) }
	if d.DataType != DataTypeDataset {
		v.add(at("data-type"), fmt.Sprintf("is %q; the service accepts %q", d.DataType, DataTypeDataset))
	}
	if len(d.DatasetID) == 0 {
		v.add(at("dataset-id"), "is empty; without an identifier the counts belong to nothing")
	}
	for j, id := range d.DatasetID {
		if strings.TrimSpace(id.Value) == "" {
			v.add(at(fmt.Sprintf("dataset-id[%d].value", j)), "is empty")
		}
	}
	v.types(at("dataset-id"), d.DatasetID, "doi", "DOI", "proprietary", "uri")
	v.types(at("publisher-id"), d.PublisherID, "isni", "orcid", "grid", "urn", "client-id")
	v.types(at("dataset-dates"), d.Dates, "pub-date", "first-accessed-online", "proprietary")
	v.types(at("dataset-contributors"), d.Contributors, "name", "orcid", "isni")
	for _, f := range []struct{ name, value string }{
		{"dataset-title", d.Title}, {"platform", d.Platform}, {"publisher", d.Publisher}, {"uri", d.URI}, {"yop", d.YOP},
	} {
		v.text(at(f.name), f.value)
	}
	for j := range d.Performance {
		v.performance(at(fmt.Sprintf("performance[%d]", j)), &d.Performance[j])
	}
}

func (v *validator) types(path string, values []TypedValue, allowed ...string) {
next:
	for i, value := range values {
		v.text(fmt.Sprintf("%s[%d].value", path, i), value.Value)
		for _, a := range allowed {
			if value.Type == a {
				continue next
			}
		}
		v.add(fmt.Sprintf("%s[%d].type", path, i), fmt.Sprintf("is %q; the service accepts %s", value.Type, strings.Join(allowed, ", ")))
	}
}

func (v *validator) performance(path string, p *Performance) {
	begin, errBegin := p.Period.BeginDate.Time()
	end, errEnd := p.Period.EndDate.Time()
	switch {
	case errBegin != nil:
		v.add(path+".period.begin-date", fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.Period.BeginDate))
	case errEnd != nil:
		v.add(path+".period.end-date", fmt.Sprintf("is %q, not a date YYYY-MM-DD", p.Period.EndDate))
	case end.Before(begin):
		v.add(path+".period.end-date", fmt.Sprintf("%s is before begin-date %s", p.Period.EndDate, p.Period.BeginDate))
	}
	for i := range p.Instance {
		v.instance(fmt.Sprintf("%s.instance[%d]", path, i), &p.Instance[i])
	}
}

func (v *validator) instance(path string, n *Instance) {
	switch n.MetricType {
	case TotalDatasetRequests, UniqueDatasetRequests, TotalDatasetInvestigations, UniqueDatasetInvestigations:
	default:
		v.add(path+".metric-type", fmt.Sprintf("is %q; the service knows %s, %s, %s and %s", n.MetricType,
			TotalDatasetRequests, UniqueDatasetRequests, TotalDatasetInvestigations, UniqueDatasetInvestigations))
	}
	switch n.AccessMethod {
	case Regular, Machine:
	default:
		v.add(path+".access-method", fmt.Sprintf("is %q; the service knows %s and %s", n.AccessMethod, Regular, Machine))
	}
	if n.Count < 0 {
		v.add(path+".count", fmt.Sprintf("is %d", n.Count))
	}
	previous := ""
	for i, c := range n.CountryCounts {
		at := func() string { return fmt.Sprintf("%s.country-counts[%q]", path, c.Country) }
		if len(c.Country) != 2 || c.Country[0] < 'a' || c.Country[0] > 'z' || c.Country[1] < 'a' || c.Country[1] > 'z' {
			v.add(at(), "is not a lowercase two-letter country code")
		}
		if i > 0 && c.Country == previous {
			v.add(at(), "occurs twice")
		}
		if c.Count < 0 {
			v.add(at(), fmt.Sprintf("is %d", c.Count))
		}
		previous = c.Country
	}
}
