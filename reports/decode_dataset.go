package reports

import (
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Places of the members of a dataset entry.
const (
	datasetTitle = iota
	datasetYOP
	datasetURI
	datasetPlatform
	datasetDataType
	datasetPublisher
	datasetPublisherID
	datasetID
	datasetDates
	datasetContributors
	datasetAttributes
	datasetPerformance
	datasetAccessMethod
)

var datasetNames = []string{
	"dataset-title", "yop", "uri", "platform", "data-type", "publisher", "publisher-id", "dataset-id", "dataset-dates",
	"dataset-contributors", "dataset-attributes", "performance", "access-method",
}

// readDataset reads a dataset entry of at most jsonlex.MaxValue bytes.
func (d *decoder) readDataset(l *jsonlex.Lexer, out *Dataset) {
	*out = Dataset{}
	if d.reuse {
		d.values.Reset()
		d.performances.Reset()
		d.instances.Reset()
		d.counts.Reset()
	}
	if d.budget != nil && !d.kept {
		d.budget.Renew()
	}
	if l.Null() {
		return
	}
	var access AccessMethod
	l.Mark()
	for m := l.Object(d.dataset); m != jsonlex.End; m = l.Member(d.dataset, m) {
		switch m {
		case datasetTitle:
			out.Title = d.text(l)
		case datasetYOP:
			out.YOP = d.text(l)
		case datasetURI:
			out.URI = d.text(l)
		case datasetPlatform:
			out.Platform = d.same(l, &d.platform)
		case datasetDataType:
			out.DataType = d.same(l, &d.dataType)
		case datasetPublisher:
			out.Publisher = d.same(l, &d.publisher)
		case datasetPublisherID:
			out.PublisherID = d.typedValues(l)
		case datasetID:
			out.DatasetID = d.typedValues(l)
		case datasetDates:
			out.Dates = d.typedValues(l)
		case datasetContributors:
			out.Contributors = d.typedValues(l)
		case datasetAttributes:
			out.Attributes = d.typedValues(l)
		case datasetPerformance:
			out.Performance = d.readPerformances(l)
		case datasetAccessMethod:
			access = AccessMethod(d.word(l))
		default:
			l.Skip()
		}
	}
	l.Unmark()
	if access != "" {
		out.setAccess(access)
	}
}

// setAccess gives the access method that some senders write once for an entry to
// its instances.
func (d *Dataset) setAccess(method AccessMethod) {
	for i := range d.Performance {
		for j := range d.Performance[i].Instance {
			if n := &d.Performance[i].Instance[j]; n.AccessMethod == "" {
				n.AccessMethod = method
			}
		}
	}
}

func (d *decoder) typedValues(l *jsonlex.Lexer) []TypedValue {
	d.values.Begin()
	if !each(l, func() { d.readTyped(l, next(l, &d.values)) }) {
		return nil
	}
	return d.values.List()
}

func (d *decoder) readTyped(l *jsonlex.Lexer, v *TypedValue) {
	if l.Kind() != '{' {
		v.Value = d.text(l)
		return
	}
	for m := l.Object(d.typed); m != jsonlex.End; m = l.Member(d.typed, m) {
		switch m {
		case 0:
			v.Type = d.word(l)
		case 1:
			v.Value = d.text(l)
		default:
			l.Skip()
		}
	}
}

func (d *decoder) readPerformances(l *jsonlex.Lexer) []Performance {
	d.performances.Begin()
	if !each(l, func() { d.readPerformance(l, next(l, &d.performances)) }) {
		return nil
	}
	return d.performances.List()
}

func (d *decoder) readPerformance(l *jsonlex.Lexer, p *Performance) {
	if l.Null() {
		return
	}
	for m := l.Object(d.performance); m != jsonlex.End; m = l.Member(d.performance, m) {
		switch m {
		case 0:
			d.readPeriod(l, &p.Period)
		case 1, 2:
			p.Instance = d.readInstances(l)
		default:
			l.Skip()
		}
	}
}

func (d *decoder) readPeriod(l *jsonlex.Lexer, p *Period) {
	*p = Period{}
	if l.Kind() != '{' {
		l.Skip()
		return
	}
	for m := l.Object(d.period); m != jsonlex.End; m = l.Member(d.period, m) {
		switch m {
		case 0:
			p.BeginDate = Date(d.same(l, &d.begin))
		case 1:
			p.EndDate = Date(d.same(l, &d.end))
		default:
			l.Skip()
		}
	}
}

func (d *decoder) readInstances(l *jsonlex.Lexer) []Instance {
	d.instances.Begin()
	if !each(l, func() { d.readInstance(l, next(l, &d.instances)) }) {
		return nil
	}
	return d.instances.List()
}

func (d *decoder) readInstance(l *jsonlex.Lexer, n *Instance) {
	if l.Null() {
		return
	}
	for m := l.Object(d.instance); m != jsonlex.End; m = l.Member(d.instance, m) {
		switch m {
		case 0:
			n.Count = count(l)
		case 1:
			n.MetricType = MetricType(d.word(l))
		case 2:
			n.AccessMethod = AccessMethod(d.word(l))
		case 3:
			n.CountryCounts = d.readCounts(l)
		default:
			l.Skip()
		}
	}
}

// word reads a text of a small vocabulary.
func (d *decoder) word(l *jsonlex.Lexer) string {
	switch b := scalar(l); string(b) {
	case string(TotalDatasetRequests):
		return string(TotalDatasetRequests)
	case string(UniqueDatasetRequests):
		return string(UniqueDatasetRequests)
	case string(TotalDatasetInvestigations):
		return string(TotalDatasetInvestigations)
	case string(UniqueDatasetInvestigations):
		return string(UniqueDatasetInvestigations)
	case string(Regular):
		return string(Regular)
	case string(Machine):
		return string(Machine)
	case TypeDOI:
		return TypeDOI
	case TypeName:
		return TypeName
	case TypePubDate:
		return TypePubDate
	case "orcid":
		return "orcid"
	case "grid":
		return "grid"
	case "isni":
		return "isni"
	case "client-id":
		return "client-id"
	default:
		return d.copy(l, b)
	}
}

// UnmarshalJSON reads a dataset entry as the service stores it.
func (d *Dataset) UnmarshalJSON(data []byte) error {
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { dec.readDataset(l, d) })
}

// UnmarshalJSON reads what was counted in one period.
func (p *Performance) UnmarshalJSON(data []byte) error {
	*p = Performance{}
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { dec.readPerformance(l, p) })
}

// UnmarshalJSON reads a period, with dates or timestamps.
func (p *Period) UnmarshalJSON(data []byte) error {
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { dec.readPeriod(l, p) })
}

// UnmarshalJSON reads an instance, with a count that is a number or a text.
func (i *Instance) UnmarshalJSON(data []byte) error {
	*i = Instance{}
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { dec.readInstance(l, i) })
}

// UnmarshalJSON reads a typed value whose members may be of other types.
func (v *TypedValue) UnmarshalJSON(data []byte) error {
	*v = TypedValue{}
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { dec.readTyped(l, v) })
}
