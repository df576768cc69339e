package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/input"
)

// A Report is a usage report: a header and the counts of each dataset (specification §2.1).
// Its JSON is that of the service.
type Report struct {
	ID       string    `json:"id,omitempty"` // a UUID; chosen by the service on Create, by the caller on Put
	Header   Header    `json:"report-header"`
	Datasets []Dataset `json:"report-datasets"` // at most 50,000 in one request; Source makes an iterator of them
}

// A Header describes a report (specification §2.1, report-header).
// CreatedBy and the begin date of ReportingPeriod identify a report: the service
// holds one for each such pair.
type Header struct {
	ReportName string `json:"report-name"` // for people, such as "Dataset Report"
	ReportID   string `json:"report-id"`   // short code of the report type, such as "dsr"
	// Release: release of the code of practice; the service accepts ReleaseRD1
	Release   string `json:"release"`
	CreatedBy string `json:"created-by"` // name of the platform or repository
	// Created: the day the report was made; best that on which it is first sent, as the service shows
	// no other time
	Created          Date        `json:"created"`
	ReportingPeriod  Period      `json:"reporting-period"`  // one month
	ReportFilters    []NameValue `json:"report-filters"`    // may be empty
	ReportAttributes []NameValue `json:"report-attributes"` // may be empty
	Exceptions       []Exception `json:"exceptions"`        // may be empty
}

// ReleaseRD1 is the release of the code of practice that reports follow.
const ReleaseRD1 = "rd1"

// A Date is a day as YYYY-MM-DD. Stored reports may have timestamps instead, which are kept
// unchanged.
type Date string

// Day returns the Date of t in t's own time zone.
func Day(t time.Time) Date { return Date(t.Format(time.DateOnly)) }

// Time returns midnight UTC of the day. A timestamp counts as its day.
func (d Date) Time() (time.Time, error) {
	layout := time.RFC3339
	if len(d) <= len(time.DateOnly) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, string(d))
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0,
		time.UTC), input.Invalid(err, datacite.Finding{Code: datacite.CodeDate})
}

// A Period is a range of days: the first and the last day.
type Period struct {
	BeginDate Date `json:"begin-date"`
	EndDate   Date `json:"end-date"`
}

// Month returns the period of a whole calendar month, as the service expects it in a
// report. For a month or year that does not exist, such as month 13 or year 10000, the
// dates are invalid, such as "2026-13-01", and [Report.Validate] refuses them.
func Month(year int, month time.Month) Period {
	if year < 1 || month < time.January || month > time.December {
		none := Date(fmt.Sprintf("%d-%02d-01", year, month))
		return Period{BeginDate: none, EndDate: none}
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	return Period{BeginDate: Day(first), EndDate: Day(first.AddDate(0, 1, -1))}
}

// yearMonth are year and month of the first day, as the service shows them.
func (p Period) yearMonth() (year, month string) {
	begin, _ := p.BeginDate.Time()
	return strconv.Itoa(begin.Year()), strconv.Itoa(int(begin.Month()))
}

// ExceptionPartial is the code of the exception for a report without all days of its month (code
// of practice, appendix B).
const ExceptionPartial = 3040

// EndOn ends the reporting period with the last day that was counted, such as yesterday in a
// month that is not over. Unless it is the last day of the month, it adds exception 3040
// (code of practice, 6.3.6). A day of another month changes nothing and is an error.
//
// The service shows the counts of a partial report as those of the month, until a later
// report of the month replaces them.
func (h *Header) EndOn(last Date) error {
	month, err := h.ReportingPeriod.month()
	if err != nil {
		return datacite.Invalidf("report-header.reporting-period.begin-date", datacite.CodeDate,
			"is %q, not a date YYYY-MM-DD", h.ReportingPeriod.BeginDate)
	}
	day, err := last.Time()
	if err != nil || Day(day) < month.BeginDate || Day(day) > month.EndDate {
		return datacite.Invalidf("last", datacite.CodeDate,
			"is %q, not a day from %s to %s", last, month.BeginDate, month.EndDate)
	}
	h.ReportingPeriod.EndDate = Day(day)
	h.Exceptions = slices.DeleteFunc(slices.Clone(h.Exceptions), func(e Exception) bool {
		return e.Code == ExceptionPartial
	})
	if Day(day) != month.EndDate {
		h.Exceptions = append(h.Exceptions, Exception{
			Code: ExceptionPartial, Severity: "warning", Message: "Partial Data Returned",
			Data: fmt.Sprintf("usage from %s to %s is available only to %s", month.BeginDate, month.EndDate, Day(day)),
		})
	}
	return nil
}

// month is the whole month of the first day.
func (p Period) month() (Period, error) {
	day, err := p.BeginDate.Time()
	return Month(day.Year(), day.Month()), err
}

// A NameValue is a filter or an attribute of a report. Without a name it is written as a
// plain string.
type NameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Exception is a note about the whole report (specification §2.1).
type Exception struct {
	Code     int    `json:"code"`
	Severity string `json:"severity"` // such as "warning"
	Message  string `json:"message"`
	HelpURL  string `json:"help-url"`
	Data     string `json:"data"`
}

// ExceptionCompressed is the code of the exception of a compressed report (specification §4.1,
// Large reports, 5). The client adds it if and only if it compresses the request.
const ExceptionCompressed = 69

// compressed reports whether the header says that the body is compressed.
func (h *Header) compressed() bool {
	return slices.ContainsFunc(h.Exceptions, func(e Exception) bool { return e.Code == ExceptionCompressed })
}

// withCompressed adds the exception that a compressed report carries, unless the header
// has it already (specification §4.1, Large reports, 5).
func (h Header) withCompressed(helpURL string) Header {
	if h.compressed() {
		return h
	}
	h.Exceptions = append(slices.Clone(h.Exceptions), Exception{
		Code:     ExceptionCompressed,
		Severity: "warning",
		Message:  "Report is compressed using gzip",
		HelpURL:  helpURL,
		Data:     "usage data needs to be uncompressed",
	})
	return h
}

// A Dataset is a dataset and its counts (specification §2.1).
type Dataset struct {
	Title        string        `json:"dataset-title"`
	YOP          string        `json:"yop,omitempty"` // year of publication
	URI          string        `json:"uri,omitempty"` // where the dataset is shown
	Platform     string        `json:"platform"`
	DataType     string        `json:"data-type"` // DataTypeDataset
	Publisher    string        `json:"publisher"`
	PublisherID  []TypedValue  `json:"publisher-id"`                   // types: isni, orcid, grid, urn, client-id
	DatasetID    []TypedValue  `json:"dataset-id"`                     // type doi
	Dates        []TypedValue  `json:"dataset-dates,omitempty"`        // type pub-date
	Contributors []TypedValue  `json:"dataset-contributors,omitempty"` // type name
	Attributes   []TypedValue  `json:"dataset-attributes,omitempty"`   // accepted by the service, not in the specification
	Performance  []Performance `json:"performance"`
}

// DataTypeDataset is the only data type in use. Reports on other data types need an
// agreement with the operator of the service.
const DataTypeDataset = "dataset"

// A TypedValue is an identifier, a date or a name, with its type.
type TypedValue struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Types of a [TypedValue] that the specification names (§2.1).
const (
	TypeDOI     = "doi"      // in Dataset.DatasetID
	TypePubDate = "pub-date" // in Dataset.Dates
	TypeName    = "name"     // in Dataset.Contributors
)

// A Performance has the counts of one period.
type Performance struct {
	Period   Period     `json:"period"`
	Instance []Instance `json:"instance"`
}

// An Instance is a count of one metric and access method, with its parts by country.
type Instance struct {
	Count         int64         `json:"count"`
	MetricType    MetricType    `json:"metric-type"`
	AccessMethod  AccessMethod  `json:"access-method"`
	CountryCounts CountryCounts `json:"country-counts,omitempty"`

	// NoCount says that the instance was read without a count, or with null. This differs
	// from 0: DOI records show 1, or an earlier number. Validate refuses it. Performance
	// writes it as null.
	NoCount bool `json:"-"`
}

// CountryCounts are counts by country, sorted by country. In JSON they are an object whose
// keys are lowercase two-letter country codes.
type CountryCounts []CountryCount

// A CountryCount is the count of one country.
type CountryCount struct {
	Country string // lowercase ISO 3166-1 alpha-2 code, such as "de"
	Count   int64
}

// newCountryCounts sorts counts by country.
func newCountryCounts(counts map[string]int64) CountryCounts {
	list := make(CountryCounts, 0, len(counts))
	for country, count := range counts {
		list = append(list, CountryCount{country, count})
	}
	slices.SortFunc(list, byCountry)
	return list
}

func byCountry(a, b CountryCount) int { return cmp.Compare(a.Country, b.Country) }

// A Subset is one compressed part of a report.
type Subset struct {
	Checksum string // SHA-256 of the compressed bytes, in hexadecimal digits, as the service computes it
	Datasets int    // 0 if not known, for a part that another program compressed
	Bytes    int64  // compressed
}

// A MetricType says what an [Instance] counts. Values unknown to this package
// are kept when a report is read; Validate refuses them before one is sent.
type MetricType string

// The metric types of specification §2.1.
const (
	MetricTotalDatasetRequests        MetricType = "total-dataset-requests"
	MetricUniqueDatasetRequests       MetricType = "unique-dataset-requests"
	MetricTotalDatasetInvestigations  MetricType = "total-dataset-investigations"
	MetricUniqueDatasetInvestigations MetricType = "unique-dataset-investigations"
)

// An AccessMethod says whether an [Instance] counts use by people or by programs.
type AccessMethod string

// The access methods of specification §2.1.
const (
	AccessRegular AccessMethod = "regular"
	AccessMachine AccessMethod = "machine"
)

func isUUID(id string) bool { return len(id) == 36 && uuid.Validate(id) == nil }

func checkUUID(path, id string) error {
	if !isUUID(id) {
		return datacite.Invalidf(path, datacite.CodeSyntax,
			"%q is not a UUID such as 0148536f-bfbc-4775-b93c-524e91d0b9f6", id)
	}
	return nil
}

// idSpace is the name space of the ids that this package derives.
var idSpace = uuid.MustParse("5b1f3c52-9e0d-4e6a-8c2b-71940ad366e1")

// DeriveID returns the id that [Client.Submit] gives to a new report by default: a UUID
// (version 5) of the creator and the begin date, so that every run for that month uses the
// same report.
func DeriveID(h Header) string {
	begin := string(h.ReportingPeriod.BeginDate)
	name := h.CreatedBy + "\n" + begin[:min(len(begin), len(time.DateOnly))]
	return uuid.NewSHA1(idSpace, []byte(name)).String()
}

// NewHeader returns the header of a dataset report of one month (specification §2.1): with
// the name "Dataset Report", the report-id "dsr" and the release [ReleaseRD1]. createdBy is
// the name of the platform or repository, and created the day on which the report is made,
// such as Day(time.Now()). Together, createdBy and the first day of the period identify the
// report. NewHeader checks nothing; [Report.Validate] and the methods that send do.
func NewHeader(createdBy string, created Date, period Period) Header {
	return Header{
		ReportName: "Dataset Report", ReportID: "dsr", Release: ReleaseRD1,
		CreatedBy: createdBy, Created: created, ReportingPeriod: period,
	}
}
