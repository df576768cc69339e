package reports

import (
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/internal/arena"
	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Stored reports come from many senders. The decoder takes what occurs in them
// beside the types of the specification: numbers as texts, texts as numbers,
// null for anything, one value for a list of one, names in another case.

// A decoder makes values of this package of JSON. Texts and lists are cut from
// larger blocks, so that a dataset costs a fraction of an allocation; keeping
// one dataset keeps at most one block of each kind.
type decoder struct {
	reuse  bool            // lists are valid until the next dataset only
	budget *jsonlex.Budget // renewed for each dataset unless they are kept; nil: no limit
	kept   bool            // all datasets are

	// Names remember the order of members, so each decoder has its own.
	dataset, performance, period, instance, typed *jsonlex.Names
	header, nameValue, exception                  *jsonlex.Names

	texts        arena.Texts
	values       arena.Lists[TypedValue]
	performances arena.Lists[Performance]
	instances    arena.Lists[Instance]
	counts       arena.Lists[CountryCount]

	platform, dataType, publisher, begin, end lastText

	access AccessMethod // of the dataset, written once for all its instances
	origin origin       // of the header read last
}

func newDecoder() *decoder {
	return &decoder{
		dataset: names(datasetMembers), performance: names(performanceMembers), period: names(periodMembers),
		instance: jsonlex.NewNames("count", "metric-type", "access-method", "country-counts"), typed: jsonlex.NewNames("type", "value"),
		header: names(headerMembers), nameValue: names(nameValueMembers), exception: names(exceptionMembers),
	}
}

var decoders = sync.Pool{New: func() any { return newDecoder() }}

// unmarshal decodes one value from a whole JSON text.
func unmarshal[T any](data []byte, v *T, read func(*decoder, *jsonlex.Lexer, *T)) error {
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	l := jsonlex.OfBytes(data)
	*v = *new(T)
	read(d, l, v)
	l.End()
	return l.Err()
}

// A member of an object is read into a T.
type member[T any] struct {
	name string
	read func(*decoder, *jsonlex.Lexer, *T)
}

func names[T any](members []member[T]) *jsonlex.Names { return jsonlex.NewNames(namesOf(members)...) }

func namesOf[T any](members []member[T]) (list []string) {
	for _, m := range members {
		list = append(list, m.name)
	}
	return list
}

// readObject reads an object. Members that are not known are passed over.
func readObject[T any](d *decoder, l *jsonlex.Lexer, names *jsonlex.Names, members []member[T], v *T) {
	for m := l.Object(names); m != jsonlex.End; m = l.Member(names, m) {
		if m == jsonlex.Unknown {
			l.Skip()
			continue
		}
		members[m].read(d, l, v)
	}
}

var datasetMembers = []member[Dataset]{
	{"dataset-title", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.Title = d.text(l) }},
	{"yop", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.YOP = d.text(l) }},
	{"uri", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.URI = d.text(l) }},
	{"platform", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.Platform = d.same(l, &d.platform) }},
	{"data-type", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.DataType = d.same(l, &d.dataType) }},
	{"publisher", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.Publisher = d.same(l, &d.publisher) }},
	{"publisher-id", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.PublisherID = d.typedValues(l) }},
	{"dataset-id", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.DatasetID = d.typedValues(l) }},
	{"dataset-dates", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.Dates = d.typedValues(l) }},
	{"dataset-contributors", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.Contributors = d.typedValues(l) }},
	{"dataset-attributes", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { v.Attributes = d.typedValues(l) }},
	{"performance", func(d *decoder, l *jsonlex.Lexer, v *Dataset) {
		v.Performance = readList(d, l, &d.performances, (*decoder).readPerformance)
	}},
	{"access-method", func(d *decoder, l *jsonlex.Lexer, v *Dataset) { d.access = AccessMethod(d.word(l)) }},
}

// readDataset reads a dataset entry of at most jsonlex.MaxValue bytes.
func (d *decoder) readDataset(l *jsonlex.Lexer, v *Dataset) {
	*v = Dataset{}
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
	d.access = ""
	l.Mark()
	readObject(d, l, d.dataset, datasetMembers, v)
	l.Unmark()
	if d.access != "" {
		v.setAccess(d.access)
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
	return readList(d, l, &d.values, (*decoder).readTyped)
}

// readList reads a list. What is no list is its one element, and null is nil.
func readList[T any](d *decoder, l *jsonlex.Lexer, list *arena.Lists[T], element func(*decoder, *jsonlex.Lexer, *T)) []T {
	list.Begin()
	switch l.Kind() {
	case 'n':
		l.Skip()
		return nil
	case '[':
		l.List()
		for i := 0; l.Element(i); i++ {
			element(d, l, next(l, list))
		}
	default:
		element(d, l, next(l, list))
	}
	return list.List()
}

// readTyped is a switch, as readInstance is: they read most of a dataset.
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

var performanceMembers = []member[Performance]{
	{"period", func(d *decoder, l *jsonlex.Lexer, p *Performance) { d.readPeriod(l, &p.Period) }},
	{"instance", func(d *decoder, l *jsonlex.Lexer, p *Performance) {
		p.Instance = readList(d, l, &d.instances, (*decoder).readInstance)
	}},
	{"instances", func(d *decoder, l *jsonlex.Lexer, p *Performance) {
		p.Instance = readList(d, l, &d.instances, (*decoder).readInstance)
	}},
}

func (d *decoder) readPerformance(l *jsonlex.Lexer, p *Performance) {
	if !l.Null() {
		readObject(d, l, d.performance, performanceMembers, p)
	}
}

var periodMembers = []member[Period]{
	{"begin-date", func(d *decoder, l *jsonlex.Lexer, p *Period) { p.BeginDate = Date(d.same(l, &d.begin)) }},
	{"end-date", func(d *decoder, l *jsonlex.Lexer, p *Period) { p.EndDate = Date(d.same(l, &d.end)) }},
}

func (d *decoder) readPeriod(l *jsonlex.Lexer, p *Period) {
	*p = Period{}
	if l.Kind() != '{' {
		l.Skip()
		return
	}
	readObject(d, l, d.period, periodMembers, p)
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
			d.readCounts(l, &n.CountryCounts)
		default:
			l.Skip()
		}
	}
}

func (d *decoder) readCounts(l *jsonlex.Lexer, counts *CountryCounts) {
	if l.Kind() != '{' {
		l.Skip()
		return
	}
	d.counts.Begin()
	sorted, last := true, ""
	l.Begin()
	for i := 0; ; i++ {
		name, ok := l.Key(i)
		if !ok {
			break
		}
		code := d.country(l, name)
		n := next(l, &d.counts)
		n.Country, n.Count = code, count(l)
		sorted = sorted && (i == 0 || last < code)
		last = code
	}
	*counts = d.counts.List()
	if !sorted {
		*counts = counts.sorted()
	}
}

// sorted sorts the list in place. Of two counts for one country the later one
// holds, as in any JSON object.
func (c CountryCounts) sorted() CountryCounts {
	slices.Reverse(c)
	slices.SortStableFunc(c, byCountry)
	return slices.CompactFunc(c, func(a, b CountryCount) bool { return a.Country == b.Country })
}

func (d *decoder) country(l *jsonlex.Lexer, name []byte) string {
	if code, ok := country.Code(name); ok {
		return code
	}
	return d.copy(l, name)
}

// An origin is what the service adds to the header of a stored report: who sent
// it, and the month by which the service finds it.
type origin struct{ Account, Year, Month string }

var headerMembers = []member[Header]{
	{"report-name", func(d *decoder, l *jsonlex.Lexer, h *Header) { h.ReportName = d.text(l) }},
	{"report-id", func(d *decoder, l *jsonlex.Lexer, h *Header) { h.ReportID = d.text(l) }},
	{"release", func(d *decoder, l *jsonlex.Lexer, h *Header) { h.Release = d.text(l) }},
	{"created-by", func(d *decoder, l *jsonlex.Lexer, h *Header) { h.CreatedBy = d.text(l) }},
	{"created", func(d *decoder, l *jsonlex.Lexer, h *Header) { h.Created = Date(d.text(l)) }},
	{"reporting-period", func(d *decoder, l *jsonlex.Lexer, h *Header) { d.readPeriod(l, &h.ReportingPeriod) }},
	{"report-filters", func(d *decoder, l *jsonlex.Lexer, h *Header) {
		h.ReportFilters = shortList(d, l, (*decoder).readNameValue)
	}},
	{"report-attributes", func(d *decoder, l *jsonlex.Lexer, h *Header) {
		h.ReportAttributes = shortList(d, l, (*decoder).readNameValue)
	}},
	{"exceptions", func(d *decoder, l *jsonlex.Lexer, h *Header) {
		h.Exceptions = shortList(d, l, (*decoder).readException)
	}},
	// What follows is added by the service, in reports shown alone.
	{"client-id", func(d *decoder, l *jsonlex.Lexer, _ *Header) { d.origin.Account = d.text(l) }},
	{"year", func(d *decoder, l *jsonlex.Lexer, _ *Header) { d.origin.Year = d.text(l) }},
	{"month", func(d *decoder, l *jsonlex.Lexer, _ *Header) { d.origin.Month = d.text(l) }},
}

// readHeader reads a header. What the service adds to it becomes the origin.
func (d *decoder) readHeader(l *jsonlex.Lexer, h *Header) {
	*h = Header{}
	if l.Null() {
		return
	}
	l.Mark()
	readObject(d, l, d.header, headerMembers, h)
	l.Unmark()
}

// shortList reads a list in memory of its own.
func shortList[T any](d *decoder, l *jsonlex.Lexer, element func(*decoder, *jsonlex.Lexer, *T)) []T {
	return readList(d, l, &arena.Lists[T]{Least: 1}, element)
}

var nameValueMembers = []member[NameValue]{
	{"name", func(d *decoder, l *jsonlex.Lexer, v *NameValue) { v.Name = d.text(l) }},
	{"value", func(d *decoder, l *jsonlex.Lexer, v *NameValue) { v.Value = d.text(l) }},
}

// readNameValue reads a filter or attribute that is an object or a bare text.
func (d *decoder) readNameValue(l *jsonlex.Lexer, v *NameValue) {
	if l.Kind() != '{' {
		v.Value = d.text(l)
		return
	}
	readObject(d, l, d.nameValue, nameValueMembers, v)
}

var exceptionMembers = []member[Exception]{
	{"code", func(d *decoder, l *jsonlex.Lexer, e *Exception) {
		code, _ := wholeNumber(string(scalar(l))) // a malformed code is no reason to fail
		e.Code = int(code)
	}},
	{"severity", func(d *decoder, l *jsonlex.Lexer, e *Exception) { e.Severity = d.text(l) }},
	{"message", func(d *decoder, l *jsonlex.Lexer, e *Exception) { e.Message = d.text(l) }},
	{"help-url", func(d *decoder, l *jsonlex.Lexer, e *Exception) { e.HelpURL = d.text(l) }},
	{"data", func(d *decoder, l *jsonlex.Lexer, e *Exception) { e.Data = d.text(l) }},
}

func (d *decoder) readException(l *jsonlex.Lexer, e *Exception) {
	if l.Kind() != '{' {
		e.Message = d.text(l)
		return
	}
	readObject(d, l, d.exception, exceptionMembers, e)
}

// scalar reads a text, and a number or boolean as a text. Anything else is "".
func scalar(l *jsonlex.Lexer) []byte {
	switch l.Kind() {
	case '"':
		return l.Text()
	case 'n', '{', '[':
		l.Skip()
		return nil
	case 't', 'f':
		return l.Bool()
	}
	return l.Number()
}

func (d *decoder) text(l *jsonlex.Lexer) string { return d.copy(l, scalar(l)) }

func (d *decoder) copy(l *jsonlex.Lexer, b []byte) string {
	l.Spend(len(b))
	return d.texts.Copy(b)
}

// next adds an element to a list.
func next[T any](l *jsonlex.Lexer, list *arena.Lists[T]) *T {
	if cost := list.Cost(); cost > 0 {
		if l.Spend(cost); l.Err() != nil {
			return new(T)
		}
	}
	return list.Next()
}

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// count reads a number, or a text that holds one.
func count(l *jsonlex.Lexer) int64 {
	if n, ok := l.Count(); ok {
		return n
	}
	var digits string
	switch l.Kind() {
	case 'n':
		l.Skip()
	case '"':
		digits = strings.TrimSpace(string(l.Text()))
	default:
		digits = string(l.Number())
	}
	if digits == "" {
		return 0
	}
	n, err := wholeNumber(digits)
	if err != nil {
		l.Fail(err)
	}
	return n
}

func wholeNumber(digits string) (int64, error) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, nil
	}
	if decimal.MatchString(digits) {
		// Exact, unlike a float: 9007199254740993.0 is odd.
		if n, ok := new(big.Rat).SetString(digits); ok && n.IsInt() && n.Num().IsInt64() {
			return n.Num().Int64(), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a count", digits)
}

// decimal is a number as JSON writes it, of an exponent that a count can have.
var decimal = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

// A lastText remembers a text that is mostly the same from one dataset to the next.
type lastText struct {
	text   string
	quoted string // as JSON; "" if that takes escapes
}

func (d *decoder) same(l *jsonlex.Lexer, c *lastText) string {
	if c.quoted != "" && l.Match(c.quoted) {
		return c.text
	}
	if b := scalar(l); string(b) != c.text {
		c.text, c.quoted = d.copy(l, b), ""
		if isPlain(b) {
			c.quoted = `"` + c.text + `"`
		}
	}
	return c.text
}

// isPlain tells whether a text is written in JSON as it is.
func isPlain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
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
func (d *Dataset) UnmarshalJSON(data []byte) error { return unmarshal(data, d, (*decoder).readDataset) }

// UnmarshalJSON reads what was counted in one period.
func (p *Performance) UnmarshalJSON(data []byte) error {
	return unmarshal(data, p, (*decoder).readPerformance)
}

// UnmarshalJSON reads a period, with dates or timestamps.
func (p *Period) UnmarshalJSON(data []byte) error { return unmarshal(data, p, (*decoder).readPeriod) }

// UnmarshalJSON reads an instance, with a count that is a number or a text.
func (i *Instance) UnmarshalJSON(data []byte) error {
	return unmarshal(data, i, (*decoder).readInstance)
}

// UnmarshalJSON reads a JSON object. Stored reports also hold null or an empty
// list here, and numbers as texts.
func (c *CountryCounts) UnmarshalJSON(data []byte) error {
	return unmarshal(data, c, (*decoder).readCounts)
}

// UnmarshalJSON reads a typed value whose members may be of other types.
func (v *TypedValue) UnmarshalJSON(data []byte) error {
	return unmarshal(data, v, (*decoder).readTyped)
}

// UnmarshalJSON reads a header. Members that the service adds are left out.
func (h *Header) UnmarshalJSON(data []byte) error { return unmarshal(data, h, (*decoder).readHeader) }

// UnmarshalJSON reads an exception, with a code that is a number or a text.
func (e *Exception) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, (*decoder).readException)
}

// UnmarshalJSON reads a filter or attribute that is an object or a bare text.
func (n *NameValue) UnmarshalJSON(data []byte) error {
	return unmarshal(data, n, (*decoder).readNameValue)
}
