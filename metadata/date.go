package metadata

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Date is a date or period relevant to the resource: 2024, 2024-05, 2024-05-17,
// 2024-05-17T10:00:00Z, or two of these separated by a slash.
type Date struct {
	Date            string   `json:"date"`
	DateType        DateType `json:"dateType,omitempty"`
	DateInformation string   `json:"dateInformation,omitempty"`
}

var dateElement = sync.OnceValue(func() *element[Date] {
	return newElement("date", textOnly,
		text("date", datatype{warning: dateWarning}, func(d *Date) *string { return &d.Date }),
		mandatory("dateType", termOf(dateTypes, "date type"), func(d *Date) *DateType { return &d.DateType }),
		attribute("dateInformation", anyText, func(d *Date) *string { return &d.DateInformation }),
	)
})

func dateWarning(value string) *fault {
	return warning(datacite.CodeDate, dateFault(xmlscan.Trim(value)))
}

// DateType is the event of a date.
type DateType string

// Frequent values of [DateType]; write others as the schema has them. [Values] lists all.
const (
	DateAccepted  DateType = "Accepted"
	DateAvailable DateType = "Available"
	DateCollected DateType = "Collected"
	DateCreated   DateType = "Created"
	DateIssued    DateType = "Issued"
	DateOther     DateType = "Other" // since 4.1
	DateUpdated   DateType = "Updated"
	DateWithdrawn DateType = "Withdrawn" // since 4.2
)

var dateTypes = terms(DateAccepted, DateAvailable, DateCollected, "Copyrighted", DateCreated, DateIssued, "Submitted",
	DateUpdated,
	"Valid", DateOther, DateWithdrawn, "Coverage")

func (DateType) vocabulary() vocabulary { return dateTypes }

// standIns are the schema's codes for mandatory values that are not known.
var standIns = []string{":unac", ":unal", ":unap", ":unas", ":unav", ":unkn", ":none", ":null", ":tba", ":etal"}

func isStandIn(s string) bool {
	return slices.Contains(standIns, strings.Trim(s, "()"))
}

// datePattern is W3CDTF, with negative years and with the marks ~ ? % of EDTF for uncertain
// dates.
var datePattern = lazy.Regexp(
	`^(-?\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d))?(?:Z|[+-](\d\d):(\d\d)))?)?)?[~?%]?$`)

// dateFault is the reason why the service does not read a date, "" if it does.
func dateFault(s string) string {
	if isStandIn(s) {
		return ""
	}
	start, end, isRange := strings.Cut(s, "/")
	if !isRange {
		_, fault := parseDate(s)
		return fault
	}
	if start == "" || start == ".." || end == "" || end == ".." {
		return "some programs do not read a range without a start or an end; give both"
	}
	from, fault := parseDate(start)
	if fault != "" {
		return fault
	}
	to, fault := parseDate(end)
	if fault != "" {
		return fault
	}
	common := min(len(from), len(to), 3) // times may be of different zones
	if slices.Compare(to[:common], from[:common]) < 0 {
		return "the range ends before it starts"
	}
	return ""
}

// parseDate returns year, month and so on, as many as s has.
func parseDate(s string) (parts []int, fault string) {
	m := datePattern().FindStringSubmatch(s)
	if m == nil {
		return nil, "the service drops dates that are not YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DDThh:mm:ssZ or two of these " +
			"separated by a slash"
	}
	for _, digits := range m[1:] {
		if digits == "" {
			break
		}
		n, _ := strconv.Atoi(digits) // the pattern lets digits pass only
		parts = append(parts, n)
	}
	if len(parts) > 1 && (parts[1] < 1 || parts[1] > 12) {
		return nil, "the month does not exist"
	}
	if len(parts) > 2 {
		// Day 0 of the next month is the last one of this.
		last := time.Date(parts[0], time.Month(parts[1])+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if parts[2] < 1 || parts[2] > last {
			return nil, "the day does not exist"
		}
	}
	for i, most := range []int{23, 59, 60} {
		if len(parts) > i+3 && parts[i+3] > most {
			return nil, "the time does not exist"
		}
	}
	return parts, ""
}
