package reports

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Stored reports come from many senders. The tables below read what occurs in them
// beside the types of the specification: numbers as texts, texts as numbers, null for
// anything, one value for a list of one, names in another case.

type decoder = jsonlex.Decoder

// A datasetDecoder reads datasets from several lexers in turn. Texts and lists are cut from
// larger blocks, so that a dataset costs a fraction of an allocation; keeping one
// dataset keeps at most one block of each kind.
type datasetDecoder struct {
	decoder
	reuse  bool            // lists are valid until the next dataset only
	budget *jsonlex.Budget // renewed for each dataset unless they are kept; nil: no limit
	kept   bool            // all datasets are
	entry  datasetEntry
}

func (d *datasetDecoder) text(l *jsonlex.Lexer) string {
	d.Lexer = l
	return d.Text()
}

// readDataset reads a dataset entry of at most jsonlex.MaxValue bytes.
func (d *datasetDecoder) readDataset(l *jsonlex.Lexer, v *Dataset) {
	if d.Lexer = l; d.reuse {
		d.Reuse()
	}
	if d.budget != nil && !d.kept {
		d.budget.Renew()
	}
	l.Mark()
	d.entry.read(&d.decoder, v)
	l.Unmark()
}

// A datasetEntry is a dataset while it is being read.
type datasetEntry struct {
	*Dataset
	access AccessMethod // that some senders write once for all instances
}

func (e *datasetEntry) read(d *decoder, v *Dataset) {
	*v = Dataset{}
	*e = datasetEntry{Dataset: v}
	if datasetJSON.Read(d, e); e.access == "" {
		return
	}
	for i := range v.Performance {
		for j := range v.Performance[i].Instance {
			if n := &v.Performance[i].Instance[j]; n.AccessMethod == "" {
				n.AccessMethod = e.access
			}
		}
	}
}

var datasetJSON = jsonlex.NewObject(
	jsonlex.Field("dataset-title", func(d *decoder, e *datasetEntry) { e.Title = d.Text() }),
	jsonlex.Field("yop", func(d *decoder, e *datasetEntry) { e.YOP = d.Text() }),
	jsonlex.Field("uri", func(d *decoder, e *datasetEntry) { e.URI = d.Text() }),
	jsonlex.Field("platform", func(d *decoder, e *datasetEntry) { e.Platform = d.Word() }),
	jsonlex.Field("data-type", func(d *decoder, e *datasetEntry) { e.DataType = d.Word() }),
	jsonlex.Field("publisher", func(d *decoder, e *datasetEntry) { e.Publisher = d.Word() }),
	jsonlex.Field("publisher-id", func(d *decoder, e *datasetEntry) { e.PublisherID = readTyped(d) }),
	jsonlex.Field("dataset-id", func(d *decoder, e *datasetEntry) { e.DatasetID = readTyped(d) }),
	jsonlex.Field("dataset-dates", func(d *decoder, e *datasetEntry) { e.Dates = readTyped(d) }),
	jsonlex.Field("dataset-contributors", func(d *decoder, e *datasetEntry) { e.Contributors = readTyped(d) }),
	jsonlex.Field("dataset-attributes", func(d *decoder, e *datasetEntry) { e.Attributes = readTyped(d) }),
	jsonlex.Field("performance", func(d *decoder, e *datasetEntry) { e.Performance = readPerformances(d) }),
	jsonlex.Field("access-method", func(d *decoder, e *datasetEntry) { e.access = AccessMethod(d.Word()) }),
).Or(refuse)

var (
	readTyped        = listOf(typedJSON)
	readPerformances = listOf(performanceJSON)
	readInstances    = jsonlex.List[[]Instance](func(d *decoder, n *Instance) bool {
		readInstance(d, n)
		return true
	})
	readNameValues = listOf(nameValueJSON)
	readExceptions = listOf(exceptionJSON)
)

// listOf makes a reader of lists. Unlike elsewhere, null is an element, too.
func listOf[T any](o *jsonlex.Object[T]) func(*decoder) []T {
	return jsonlex.List[[]T](func(d *decoder, v *T) bool {
		o.Read(d, v)
		return true
	})
}

// refuse fails at what cannot stand instead of an object.
func refuse[T any](d *decoder, _ *T) { d.Object(nil) }

var typedJSON = jsonlex.NewObject(
	jsonlex.Field("type", func(d *decoder, v *TypedValue) { v.Type = d.Word() }),
	jsonlex.Field("value", func(d *decoder, v *TypedValue) { v.Value = d.Text() }),
).Or(func(d *decoder, v *TypedValue) { v.Value = d.Text() })

var performanceJSON = jsonlex.NewObject(
	jsonlex.Of("period", func(p *Performance) *Period { return &p.Period }, periodJSON),
	jsonlex.Field("instance", func(d *decoder, p *Performance) { p.Instance = readInstances(d) }),
	jsonlex.Field("instances", func(d *decoder, p *Performance) { p.Instance = readInstances(d) }),
).Or(refuse)

var periodJSON = jsonlex.NewObject(
	jsonlex.Field("begin-date", func(d *decoder, p *Period) { p.BeginDate = Date(d.Word()) }),
	jsonlex.Field("end-date", func(d *decoder, p *Period) { p.EndDate = Date(d.Word()) }),
)

var instanceJSON = jsonlex.NewObject(
	jsonlex.Field("count", func(d *decoder, n *Instance) { n.Count, n.NoCount = count(d.Lexer) }),
	jsonlex.Field("metric-type", func(d *decoder, n *Instance) { n.MetricType = MetricType(d.Word()) }),
	jsonlex.Field("access-method", func(d *decoder, n *Instance) { n.AccessMethod = AccessMethod(d.Word()) }),
	jsonlex.Field("country-counts", func(d *decoder, n *Instance) { readCounts(d, &n.CountryCounts) }),
).Or(refuse)

var readCountryCounts = jsonlex.Map[CountryCounts](func(d *decoder, name []byte, n *CountryCount) {
	code, ok := country.Code(name)
	if !ok {
		code = d.Copy(name)
	}
	n.Country = code
	n.Count, _ = count(d.Lexer) // a country without a count has none
})

// readInstance reads an instance, which has no count until there is one.
func readInstance(d *decoder, n *Instance) {
	n.NoCount = true
	instanceJSON.Read(d, n)
}

func readCounts(d *decoder, counts *CountryCounts) {
	*counts = readCountryCounts(d)
	for i := 1; i < len(*counts); i++ {
		if (*counts)[i-1].Country >= (*counts)[i].Country {
			*counts = counts.sorted()
			return
		}
	}
}

// sorted sorts the list in place. Of two counts for one country the later one
// holds, as in any JSON object.
func (c CountryCounts) sorted() CountryCounts {
	slices.Reverse(c)
	slices.SortStableFunc(c, byCountry)
	return slices.CompactFunc(c, func(a, b CountryCount) bool { return a.Country == b.Country })
}

// A storedHeader is a header with what the service adds to it in a report shown alone.
type storedHeader struct {
	Header
	origin
}

// An origin is who sent a report, and the month by which the service finds it.
type origin struct{ Account, Year, Month string }

// readHeader reads a header of at most jsonlex.MaxValue bytes.
func readHeader(d *decoder, h *storedHeader) {
	*h = storedHeader{}
	d.Mark()
	headerJSON.Read(d, h)
	d.Unmark()
}

var headerJSON = jsonlex.NewObject(
	jsonlex.Field("report-name", func(d *decoder, h *storedHeader) { h.ReportName = d.Text() }),
	jsonlex.Field("report-id", func(d *decoder, h *storedHeader) { h.ReportID = d.Text() }),
	jsonlex.Field("release", func(d *decoder, h *storedHeader) { h.Release = d.Text() }),
	jsonlex.Field("created-by", func(d *decoder, h *storedHeader) { h.CreatedBy = d.Text() }),
	jsonlex.Field("created", func(d *decoder, h *storedHeader) { h.Created = Date(d.Text()) }),
	jsonlex.Of("reporting-period", func(h *storedHeader) *Period { return &h.ReportingPeriod }, periodJSON),
	jsonlex.Field("report-filters", func(d *decoder, h *storedHeader) { h.ReportFilters = readNameValues(d) }),
	jsonlex.Field("report-attributes", func(d *decoder, h *storedHeader) { h.ReportAttributes = readNameValues(d) }),
	jsonlex.Field("exceptions", func(d *decoder, h *storedHeader) { h.Exceptions = readExceptions(d) }),
	jsonlex.Field("client-id", func(d *decoder, h *storedHeader) { h.Account = d.Text() }),
	jsonlex.Field("year", func(d *decoder, h *storedHeader) { h.Year = d.Text() }),
	jsonlex.Field("month", func(d *decoder, h *storedHeader) { h.Month = d.Text() }),
).Or(refuse)

var nameValueJSON = jsonlex.NewObject(
	jsonlex.Field("name", func(d *decoder, v *NameValue) { v.Name = d.Text() }),
	jsonlex.Field("value", func(d *decoder, v *NameValue) { v.Value = d.Text() }),
).Or(func(d *decoder, v *NameValue) { v.Value = d.Text() })

var exceptionJSON = jsonlex.NewObject(
	jsonlex.Field("code", func(d *decoder, e *Exception) { e.Code = d.Int() }), // a malformed code is no reason to fail
	jsonlex.Field("severity", func(d *decoder, e *Exception) { e.Severity = d.Text() }),
	jsonlex.Field("message", func(d *decoder, e *Exception) { e.Message = d.Text() }),
	jsonlex.Field("help-url", func(d *decoder, e *Exception) { e.HelpURL = d.Text() }),
	jsonlex.Field("data", func(d *decoder, e *Exception) { e.Data = d.Text() }),
).Or(func(d *decoder, e *Exception) { e.Message = d.Text() })

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// count reads a number, or a text that holds one.
func count(l *jsonlex.Lexer) (n int64, none bool) {
	if n, ok := l.Count(); ok {
		return n, false
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
		return 0, true
	}
	n, err := wholeNumber(digits)
	if err != nil {
		l.Fail(err)
	}
	return n, false
}

func wholeNumber(digits string) (int64, error) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, nil
	}
	if decimal().MatchString(digits) {
		// Exact, unlike a float: 9007199254740993.0 is odd.
		if n, ok := new(big.Rat).SetString(digits); ok && n.IsInt() && n.Num().IsInt64() {
			return n.Num().Int64(), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a count", digits)
}

// decimal is a number as JSON writes it, of an exponent that a count can have.
var decimal = lazy.Regexp(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

// UnmarshalJSON reads a dataset entry as the service stores it.
func (d *Dataset) UnmarshalJSON(data []byte) error {
	return input.JSON(data, d, new(datasetEntry).read)
}

// UnmarshalJSON reads the counts of one period.
func (p *Performance) UnmarshalJSON(data []byte) error {
	return input.JSON(data, p, performanceJSON.Read)
}

// UnmarshalJSON reads a period, with dates or timestamps.
func (p *Period) UnmarshalJSON(data []byte) error {
	return input.JSON(data, p, periodJSON.Read)
}

// UnmarshalJSON reads an instance, with a count that is a number or a text.
func (i *Instance) UnmarshalJSON(data []byte) error {
	return input.JSON(data, i, readInstance)
}

// UnmarshalJSON reads a JSON object. Stored reports also hold null or an empty
// list here, and numbers as texts.
func (c *CountryCounts) UnmarshalJSON(data []byte) error {
	return input.JSON(data, c, readCounts)
}

// UnmarshalJSON reads a typed value whose members may be of other types.
func (v *TypedValue) UnmarshalJSON(data []byte) error {
	return input.JSON(data, v, typedJSON.Read)
}

// UnmarshalJSON reads a header. Members that the service adds are left out.
func (h *Header) UnmarshalJSON(data []byte) error {
	var stored storedHeader
	err := input.JSON(data, &stored, readHeader)
	*h = stored.Header
	return err
}

// UnmarshalJSON reads an exception, with a code that is a number or a text.
func (e *Exception) UnmarshalJSON(data []byte) error {
	return input.JSON(data, e, exceptionJSON.Read)
}

// UnmarshalJSON reads a filter or attribute that is an object or a bare text.
func (n *NameValue) UnmarshalJSON(data []byte) error {
	return input.JSON(data, n, nameValueJSON.Read)
}
