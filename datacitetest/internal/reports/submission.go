package reports

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// submission is a report sent to the deployed service.
type submission struct {
	coding      string // gzip, or none
	body        []byte // as sent
	unread      bool   // of a type the service does not read
	header      object // names with hyphens; nil if there is none
	datasets    any    // as sent; nil when the body is gzip
	year, month string // of the begin-date
}

func (sub *submission) coded() bool { return sub.coding != "" }

var (
	errNoDig    = noMethod("dig")
	errNoToken  = noMethod("uid")
	errOneMonth = wire.Fail(http.StatusUnprocessableEntity,
		"Reports are monthly, reporting dates need to be within the same month")
	errNoRelease = wire.Fail(http.StatusUnprocessableEntity, "param is missing or the value is empty: release")
	errProtocol  = wire.Fail(http.StatusUnprocessableEntity, "Report protocol is incorrect")
)

// readSubmission reads a body as its headers say.
func readSubmission(q *wire.Request) (*submission, error) {
	body, err := wire.ReadWhole(q.Body)
	if err != nil {
		return nil, err
	}
	kind, err := q.SentType()
	if err != nil {
		return nil, err
	}
	sub := &submission{body: body, coding: q.Header.Get("Content-Encoding")}
	isJSON := kind == "application/json" || kind == "application/gzip"
	switch {
	case sub.coding != "" && (sub.coding != "gzip" || !isJSON), kind == "application/vnd.api+json":
		return nil, wire.ReportBody.Refusal(kind, sub.coding)
	case sub.coding == "" && (len(body) == 0 || !isJSON):
		sub.unread = true
		return sub, nil
	}
	return sub, sub.open(q)
}

// open reads the JSON.
func (sub *submission) open(q *wire.Request) error {
	r, err := withoutCoding(sub.coding, sub.body)
	if err == nil {
		err = sub.parse(r)
	}
	switch {
	case err == nil && sub.coded() && sub.header["release"] == "drl":
		return wire.ReportValue.Refusal("release drl, a report of resolutions")
	case err == nil:
		return nil
	case errors.Is(err, wire.ErrTooMuch):
		return wire.ErrTooMuch
	case errors.Is(err, encoding.ErrInvalidUTF8):
		return wire.Crashed("Invalid request parameters: Invalid encoding for parameter: " + encoding.ErrInvalidUTF8.Error())
	case wire.AsFailure(err).Status == http.StatusNotImplemented:
		return err
	case sub.coded() && !errors.Is(err, wire.ErrParams):
		return wire.Outside(q, http.StatusInternalServerError)
	default:
		return wire.ErrParams
	}
}

// withoutCoding reads a body without its coding. Only the first gzip member is read.
func withoutCoding(coding string, body []byte) (io.Reader, error) {
	plain := bytes.NewReader(body)
	if coding == "" {
		return plain, nil
	}
	z, err := gzip.NewReader(plain)
	if err != nil {
		return nil, fmt.Errorf("the body is not gzip: %w", err)
	}
	z.Multistream(false)
	return wire.Inflated(z), nil
}

// parse reads the header and, of a plain report, the datasets.
func (sub *submission) parse(r io.Reader) error {
	err := check(r, func(c *checker) {
		c.object(func(name []byte) {
			switch member := string(name); {
			case member == "report-header":
				sub.readHeader(c)
			case member == "report-datasets" && !sub.coded():
				sub.datasets = wire.Compacted(c.value(wire.MaxValues))
			case isOdd(member):
				c.Fail(wire.ReportValue.Refusal(member))
			default:
				c.skip()
			}
		})
	})
	if err == nil && sub.header == nil {
		err = wire.ErrParams
	}
	return err
}

// isOdd reports whether the name of a member is not spelled like those of reports. The
// service reads some of these, too.
func isOdd(name string) bool { return strings.ToLower(name) != name || strings.ContainsAny(name, "_ ") }

// oddName is the first odd name in a value, "" without one.
func oddName(v any) string {
	switch v := v.(type) {
	case object:
		for name := range sorted(v) {
			if isOdd(name) {
				return name
			}
			if odd := oddName(v[name]); odd != "" {
				return odd
			}
		}
	case []any:
		for _, e := range v {
			if odd := oddName(e); odd != "" {
				return odd
			}
		}
	}
	return ""
}

func (sub *submission) readHeader(c *checker) {
	header, ok := wire.Compacted(c.value(wire.MaxPieces)).(object)
	if !ok {
		c.refuse("report-header: an object expected")
		return
	}
	if odd := oddName(header); odd != "" {
		c.Fail(wire.ReportValue.Refusal("report-header", odd))
	}
	sub.header = header
}

// dateForm is a date at the start of a text.
var dateForm = lazy.Regexp(`^([+-]?[0-9]+)-([0-9]{1,2})-([0-9]{1,2})`)

// datePeriod finds year and month of the report. The service compares only
// the numbers of the months, not the years.
func (sub *submission) datePeriod() error {
	if sub.unread {
		return errNoDig
	}
	begin, err := sub.monthOf("begin-date")
	if err != nil {
		return err
	}
	end, err := sub.monthOf("end-date")
	if err != nil {
		return err
	}
	sub.year, sub.month = begin[0], begin[1]
	if sub.month != end[1] {
		return errOneMonth
	}
	return nil
}

// monthOf reads year and month of a date, both without leading zeros.
func (sub *submission) monthOf(name string) (yearMonth [2]string, err error) {
	period, ok := sub.header["reporting-period"].(object)
	value, is := period[name].(string)
	switch {
	case !ok && sub.header["reporting-period"] != nil, !is && period[name] != nil:
		return yearMonth, wire.ReportValue.Refusal("reporting-period")
	case !is:
		return yearMonth, errNilText
	}
	parts := dateForm().FindStringSubmatch(value)
	if parts == nil {
		return yearMonth, wire.Crashed("invalid date")
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(parts[i+1])
	}
	if day := time.Date(n[0], time.Month(n[1]), n[2], 0, 0, 0, 0, time.UTC); int(day.Month()) != n[1] ||
		day.Day() != n[2] {
		return yearMonth, wire.Crashed("invalid date")
	}
	return [2]string{strconv.Itoa(n[0]), strconv.Itoa(n[1])}, nil
}

// inspect writes a value of a text column like Ruby's inspect.
func inspect(v any) string {
	if v == nil {
		return "nil"
	}
	return string(wire.Encode(v))
}

// textColumns are the columns of a header that hold texts of up to 255 characters; the
// others hold JSON.
var textColumns = []string{"report-name", "report-id", "release", "created", "created-by"}

var jsonColumns = []string{"reporting-period", "report-filters", "report-attributes", "exceptions"}

// columns are further columns of the database, which the header of a compressed report
// might name.
var columns = []string{
	"id", "uid", "year", "month", "user-id", "created-at", "updated-at", "report-datasets", "report-subsets", "compressed",
	"attachment", "attachment-file-name", "attachment-content-type", "attachment-file-size", "attachment-updated-at",
}

// permitted are the parameters that the service accepts (ReportsController#safe_params):
// the members of the header, of any name if the body is gzip. From the datasets of a
// plain report it removes what the service drops silently.
func (sub *submission) permitted() (members object, err error) {
	release, given := sub.header["release"]
	switch {
	case !given:
		return nil, errNoRelease
	case sub.coding == "gzip" && release == "rd1":
		return sub.header, nil
	case sub.coding == "gzip" || release != "rd1" || wire.IsAbsent(sub.datasets):
		return nil, errProtocol
	}
	members = maps.Clone(sub.header)
	members["report-datasets"] = sub.datasets
	switch odd := sentReport.permit(members, underscored); len(odd) {
	case 0:
	case 1:
		return nil, wire.Unpermitted(odd[0])
	default: // the service names those of one object
		return nil, wire.ReportValue.Refusal("unknown names in several objects")
	}
	sub.datasets = members["report-datasets"]
	delete(members, "report-datasets")
	return members, nil
}

// assign gives a report the members and the data that were sent. Other members stay.
func (r *stored) assign(sub *submission, members object, owner string) error {
	for name := range sorted(members) {
		switch {
		case slices.Contains(textColumns, name):
			if text, ok := members[name].(string); !ok && members[name] != nil {
				return wire.ReportValue.Refusal("report-header", name)
			} else if ok {
				r.Header[name] = text
			} else {
				r.Header[name] = nil
			}
		case slices.Contains(jsonColumns, name):
			r.Header[name] = members[name]
		case slices.Contains(columns, name):
			return wire.ReportValue.Refusal("report-header", name)
		default:
			return wire.Fail(http.StatusBadRequest, "unknown attribute '%s' for Report.", underscored(name))
		}
	}
	r.Owner = owner
	if sub.coding == "gzip" {
		r.Compressed = sub.body
	} else {
		r.Datasets, sub.datasets = wire.Encode(sub.datasets), nil
	}
	return nil
}

// isCompressed depends on the exceptions: one of them has the code 69 (Report#compressed_report?).
func (r *stored) isCompressed() (bool, error) {
	noted, err := compressionNotes(r.Header["exceptions"])
	release := cmp.Or(wire.String(r.Header["release"]), "rd1")
	return slices.Contains(noted, true) && (release == "rd1" || release == "RD1"), err
}

// compressionNotes says of each exception whether it has the code 69.
func compressionNotes(exceptions any) (noted []bool, err error) {
	list, ok := exceptions.([]any)
	if !ok && !wire.IsAbsent(exceptions) {
		return nil, wire.ReportValue.Refusal("exceptions")
	}
	for _, exception := range list {
		e, ok := exception.(object)
		if !ok {
			return nil, wire.ReportValue.Refusal("exceptions")
		}
		code, _ := e["code"].(json.Number)
		n, err := code.Float64()
		noted = append(noted, err == nil && n == 69)
	}
	return noted, nil
}

// creatorEnd is the only check of created-by: its last character.
var creatorEnd = lazy.Regexp(`[-._;()/:a-zA-Z0-9*~$=]$`)

// faults are the reasons why a report is invalid, by attribute. The datasets of a
// compressed report are not checked.
func (r *stored) faults(creating bool) (object, error) {
	all := object{}
	add := func(name string, fault any) {
		before, _ := all[name].([]any)
		all[name] = append(before, fault)
	}
	missing := func(name string, v any) {
		if wire.IsAbsent(v) {
			add(name, "can't be blank")
		}
	}
	for _, name := range []string{"report-id", "created-by", "created", "reporting-period"} {
		missing(underscored(name), r.Header[name])
	}
	missing("user_id", r.Owner)
	compressed, err := r.isCompressed()
	if err != nil {
		return nil, err
	}
	if !compressed {
		datasets := decoded(r.Datasets)
		missing("report_datasets", datasets)
		sent := maps.Clone(r.Header)
		sent["report-datasets"] = datasets
		var found []object
		for _, f := range sentReport.faults(sent, "#", false, nil) {
			found = append(found, f.worded())
		}
		switch {
		case len(found) > wire.MaxFaults:
			return nil, wire.ErrTooMuch
		case len(found) > 0:
			add("base", found)
		}
	}
	if creating && !creatorEnd().MatchString(wire.String(r.Header["created-by"])) {
		add("created_by", "is invalid")
	}
	return all, nil
}

// fits says whether the strings and bytes of a report fit their columns. Columns that
// are written only once are checked only then.
func (r *stored) fits(creating bool) error {
	for _, name := range textColumns {
		written := creating || !slices.Contains(readOnly, name)
		if written && utf8.RuneCountInString(wire.String(r.Header[name])) > 255 {
			return tooLong(underscored(name))
		}
	}
	switch {
	case creating && utf8.RuneCountInString(r.Owner) > 255:
		return tooLong("user_id")
	case len(r.Compressed) > maxColumn:
		return tooLong("compressed")
	}
	return nil
}

// worded is a fault in the words of the service. The name of the schema ends with "#", except in
// messages about the type of a top-level value.
func (f fault) worded() object {
	schema := "7757177d-ae02-5888-8cdf-d748b3fb8616"
	if strings.Count(f.path, "/") > 1 || strings.HasPrefix(f.text, "did not contain") {
		schema += "#"
	}
	return object{f.path: fmt.Sprintf("The property '%s' %s in schema %s", f.path, f.text, schema)}
}
