package reports

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// errNotUTF8: JSON cannot carry such text unchanged.
var errNotUTF8 = datacite.Invalidf("dataset", datacite.CodeEncoding, "has text that is not valid UTF-8")

// appendDataset appends the JSON of a dataset entry, without allocating, in an order of members
// that compresses a fiftieth better than that of the specification. It escapes nothing that JSON
// allows.
func appendDataset(dst []byte, d *Dataset) ([]byte, error) {
	var e encoder
	return e.valid(e.dataset(dst, d), len(dst))
}

// An encoder appends JSON. It remembers what it has seen, but not the bytes: they
// go from call to call, which takes less time than a field.
type encoder struct {
	beyondASCII uint64 // has the highest bit of some byte if there was such a text
}

// valid returns b, or b[:before] and an error.
func (e *encoder) valid(b []byte, before int) ([]byte, error) {
	if e.beyondASCII&jsonlex.Highs != 0 && !utf8.Valid(b[before:]) {
		return b[:before], errNotUTF8
	}
	return b, nil
}

func (e *encoder) dataset(b []byte, d *Dataset) []byte {
	b = append(b, '{')
	b = e.optionalList(b, `"dataset-contributors":[`, d.Contributors)
	b = e.optionalText(b, `"yop":"`, d.YOP)
	b = append(b, `"data-type":"`...)
	b = e.text(b, d.DataType)
	b = append(b, `",`...)
	b = e.optionalList(b, `"dataset-dates":[`, d.Dates)
	b = append(b, `"dataset-title":"`...)
	b = e.text(b, d.Title)
	b = append(b, `","publisher-id":[`...)
	b = e.list(b, d.PublisherID)
	b = append(b, `],"dataset-id":[`...)
	b = e.list(b, d.DatasetID)
	b = append(b, `],"publisher":"`...)
	b = e.text(b, d.Publisher)
	b = append(b, `",`...)
	b = e.optionalText(b, `"uri":"`, d.URI)
	b = e.optionalList(b, `"dataset-attributes":[`, d.Attributes)
	b = append(b, `"performance":[`...)
	for i := range d.Performance {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.performance(b, &d.Performance[i])
	}
	b = append(b, `],"platform":"`...)
	b = e.text(b, d.Platform)
	return append(b, `"}`...)
}

func (e *encoder) optionalText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, name...)
	b = e.text(b, value)
	return append(b, `",`...)
}

func (e *encoder) optionalList(b []byte, name string, values []TypedValue) []byte {
	if len(values) == 0 {
		return b
	}
	b = append(b, name...)
	b = e.list(b, values)
	return append(b, `],`...)
}

func (e *encoder) list(b []byte, values []TypedValue) []byte {
	for i := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"`...)
		b = e.text(b, values[i].Type)
		b = append(b, `","value":"`...)
		b = e.text(b, values[i].Value)
		b = append(b, `"}`...)
	}
	return b
}

func (e *encoder) performance(b []byte, p *Performance) []byte {
	b = append(b, `{"period":{"begin-date":"`...)
	b = e.text(b, string(p.Period.BeginDate))
	b = append(b, `","end-date":"`...)
	b = e.text(b, string(p.Period.EndDate))
	b = append(b, `"},"instance":[`...)
	for i := range p.Instance {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.instance(b, &p.Instance[i])
	}
	return append(b, `]}`...)
}

func (e *encoder) instance(b []byte, n *Instance) []byte {
	b = append(b, `{"metric-type":"`...)
	b = e.text(b, string(n.MetricType))
	b = append(b, `","access-method":"`...)
	b = e.text(b, string(n.AccessMethod))
	b = append(b, `",`...)
	if len(n.CountryCounts) > 0 {
		b = append(b, `"country-counts":{`...)
		b = e.counts(b, n.CountryCounts)
		b = append(b, `},`...)
	}
	if n.NoCount {
		return append(b, `"count":null}`...)
	}
	b = append(b, `"count":`...)
	return append(jsonlex.AppendCount(b, n.Count), '}')
}

func (e *encoder) counts(b []byte, counts CountryCounts) []byte {
	for i := range counts {
		c := &counts[i]
		if i > 0 {
			b = append(b, ',')
		}
		if country.Pair(c.Country) != 0 {
			b = append(b, '"', c.Country[0], c.Country[1], '"', ':')
		} else {
			b = append(b, '"')
			b = e.text(b, c.Country)
			b = append(b, '"', ':')
		}
		b = jsonlex.AppendCount(b, c.Count)
	}
	return b
}

// text appends what stands between the quotes of a JSON text.
func (e *encoder) text(b []byte, s string) []byte {
	b, all := jsonlex.AppendText(b, s)
	e.beyondASCII |= all
	return b
}

// MarshalJSON writes every member, and empty lists as []: the service keeps the old value
// of a missing member.
func (h Header) MarshalJSON() ([]byte, error) {
	type plain Header
	h.ReportFilters = orEmpty(h.ReportFilters)
	h.ReportAttributes = orEmpty(h.ReportAttributes)
	h.Exceptions = orEmpty(h.Exceptions)
	return json.Marshal(plain(h))
}

// MarshalJSON writes the lists that the service requires as [] when they are empty.
func (d Dataset) MarshalJSON() ([]byte, error) { return appendDataset(nil, &d) }

// MarshalJSON writes the list of instances as [] when it is empty, and a missing count as
// null.
func (p Performance) MarshalJSON() ([]byte, error) {
	var e encoder
	return e.valid(e.performance(nil, &p), 0)
}

// MarshalJSON writes a JSON object, in the order of the list.
func (c CountryCounts) MarshalJSON() ([]byte, error) {
	var e encoder
	return e.valid(append(e.counts([]byte{'{'}, c), '}'), 0)
}

// MarshalJSON writes the list of datasets as [] when it is empty.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	r.Datasets = orEmpty(r.Datasets)
	return json.Marshal(plain(r))
}

// MarshalJSON writes a bare text when there is no name.
func (n NameValue) MarshalJSON() ([]byte, error) {
	if n.Name == "" {
		return json.Marshal(n.Value)
	}
	type plain NameValue
	return json.Marshal(plain(n))
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
