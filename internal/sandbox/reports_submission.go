package sandbox

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// submission is a report on its way into the deployed service.
type submission struct {
	compressed  bool
	unread      bool // of a type the service does not read
	part        part
	header      object // names with hyphens; nil if there is none
	datasets    any    // of a plain report, as sent
	year, month string // of the begin-date
}

// maxBody is the most that the proxy lets through.
const maxBody = 20 << 20

var (
	errNoDig     = fail(http.StatusUnprocessableEntity, "undefined method `dig' for nil:NilClass")
	reportTypes  = []string{"application/json", "application/gzip", "gzip", "text/x-json"}
	formTypes    = []string{"", "application/x-www-form-urlencoded", "multipart/form-data"}
	errOneMonth  = fail(http.StatusUnprocessableEntity, "Reports are monthly, reporting dates need to be within the same month")
	errNoRelease = fail(http.StatusUnprocessableEntity, "param is missing or the value is empty: release")
	errProtocol  = fail(http.StatusUnprocessableEntity, "Report protocol is incorrect")
)

// readSubmission reads a body as its headers say.
func readSubmission(q *request) (*submission, error) {
	if q.ContentLength > maxBody {
		return nil, tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(q.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fail(http.StatusBadRequest, "reading the body: %v", err)
	case len(body) > maxBody:
		return nil, tooLarge()
	}
	kind := q.Header.Get("Content-Type")
	if parsed, _, err := mime.ParseMediaType(kind); err == nil {
		kind = parsed
	}
	compressed := q.Header.Get("Content-Encoding") == "gzip"
	sub := &submission{compressed: compressed, part: newPart(body, compressed)}
	switch {
	case compressed && slices.Contains(formTypes, kind):
		return nil, outside(q, http.StatusBadRequest)
	case kind != "" && kind != "gzip" && !strings.Contains(kind, "/"):
		return nil, outside(q, http.StatusInternalServerError)
	case !compressed && (len(body) == 0 || !slices.Contains(reportTypes, kind)):
		sub.unread = true
		return sub, nil
	}
	return sub, sub.open(q)
}

// open reads the JSON. Only the first member of a gzip body counts.
func (sub *submission) open(q *request) error {
	var r io.Reader = bytes.NewReader(sub.part.body)
	if sub.compressed {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return outside(q, http.StatusInternalServerError)
		}
		unzipped.Multistream(false)
		r = unzipped
	}
	switch err := sub.parse(r); {
	case err == nil:
		return nil
	case errors.Is(err, errEncoding):
		return crashed("Invalid request parameters: Invalid encoding for parameter: " + err.Error())
	case sub.compressed:
		return outside(q, http.StatusInternalServerError)
	default:
		return errParams
	}
}

// parse takes the header and, of a plain report, the datasets.
func (sub *submission) parse(r io.Reader) error {
	s := newScanner(r)
	err := s.object(func(name []byte) (rule, error) {
		member := string(name)
		return func(s *scanner) error {
			if member != "report-header" && (member != "report-datasets" || sub.compressed) {
				return anyValue(s)
			}
			raw, err := s.raw(anyValue)
			if err != nil {
				return err
			}
			if member == "report-header" {
				return sub.readHeader(raw)
			}
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.UseNumber() // 3.0 is no integer
			if err := dec.Decode(&sub.datasets); err != nil {
				return err
			}
			sub.datasets = respell(sub.datasets, hyphened)
			return nil
		}, nil
	})
	if err != nil {
		return err
	}
	return s.close()
}

func (sub *submission) readHeader(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	sub.header, _ = respell(v, hyphened).(object)
	return nil
}

// dateForm is a date at the start of a text.
var dateForm = regexp.MustCompile(`^([0-9]+)-([0-9]{1,2})-([0-9]{1,2})`)

// datePeriod finds year and month of the report. The service compares the
// numbers of the months, not the years.
func (sub *submission) datePeriod() error {
	switch {
	case sub.unread:
		return errNoDig
	case sub.header == nil:
		return errParams
	}
	period, _ := sub.header["reporting-period"].(object)
	begin, err := monthOf(period["begin-date"])
	if err != nil {
		return err
	}
	end, err := monthOf(period["end-date"])
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
func monthOf(v any) (yearMonth [2]string, err error) {
	value, ok := v.(string)
	if !ok {
		kind := map[bool]string{true: "nil", false: "Integer"}[v == nil]
		return yearMonth, crashed("no implicit conversion of " + kind + " into String")
	}
	parts := dateForm.FindStringSubmatch(value)
	if parts == nil {
		return yearMonth, crashed("invalid date")
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(parts[i+1])
	}
	if day := time.Date(n[0], time.Month(n[1]), n[2], 0, 0, 0, 0, time.UTC); int(day.Month()) != n[1] || day.Day() != n[2] {
		return yearMonth, crashed("invalid date")
	}
	return [2]string{strconv.Itoa(n[0]), strconv.Itoa(n[1])}, nil
}

// key is what the deployed service tells reports by.
func (sub *submission) key() reportKey {
	return reportKey{createdBy: text(sub.header["created-by"]), begin: sub.year + "-" + sub.month}
}

func (sub *submission) resolutions() bool { return sub.compressed && sub.header["release"] == "drl" }

// badRelease is what the service says to a release that it does not take.
func (sub *submission) badRelease() error {
	switch release := sub.header["release"]; {
	case release == nil || release == "":
		return errNoRelease
	case release != "rd1" && !sub.resolutions():
		return errProtocol
	}
	return nil
}

// checkProtocol is what the service looks at before it looks for the report.
func (sub *submission) checkProtocol() error {
	if err := sub.badRelease(); err != nil {
		return err
	}
	if e := sub.header["exceptions"]; e != nil {
		if _, ok := e.([]any); !ok {
			return crashed("no implicit conversion of String into Integer")
		}
	}
	if sub.compressed {
		return nil
	}
	if datasets, _ := sub.datasets.([]any); len(datasets) == 0 {
		return errProtocol
	}
	var odd []string
	odd = sentHeader.unpermitted(sub.header, "report-header", odd)
	odd = sentDatasets.unpermitted(sub.datasets, "report-datasets", odd)
	if len(odd) == 0 {
		return nil
	}
	plural := map[bool]string{true: "s"}[len(odd) > 1]
	return fail(http.StatusUnprocessableEntity, "found unpermitted parameter%s: :%s", plural, strings.Join(odd, ", :"))
}

// columns are names of the database that a compressed report's header may hold
// by accident.
var columns = []string{"id", "uid", "year", "month", "user-id", "created-at", "updated-at", "report-datasets", "report-subsets"}

// unknownAttribute is what the service says to members of a compressed report's
// header that it does not know.
func (sub *submission) unknownAttribute() error {
	if !sub.compressed {
		return nil
	}
	for name := range sorted(sub.header) {
		if _, ok := headerMembers[name]; !ok && !slices.Contains(columns, name) {
			return fail(http.StatusBadRequest, "unknown attribute '%s' for Report.", underscored(name))
		}
	}
	return nil
}

// creatorEnd is all that the service checks of created-by: its last character.
var creatorEnd = regexp.MustCompile(`[-._;()/:a-zA-Z0-9*~$=]$`)

// problems are the faults that make a report invalid, by attribute. Of a
// compressed report the datasets are not looked at.
func (sub *submission) problems(creating bool) object {
	errs := object{}
	for _, name := range []string{"report-id", "created-by", "created"} {
		if v := sub.header[name]; v == nil || v == "" {
			errs[underscored(name)] = []string{"can't be blank"}
		}
	}
	if by := text(sub.header["created-by"]); creating && by != "" && !creatorEnd.MatchString(by) {
		errs["created_by"] = []string{"is invalid"}
	}
	noted := notedCompressed(sub.header)
	if sub.resolutions() {
		exceptions, _ := sub.header["exceptions"].([]any)
		noted = len(exceptions) > 0 && notedCompressed(object{"exceptions": exceptions[:1]})
	}
	if sub.compressed && !noted {
		errs["report_datasets"] = []string{"can't be blank"}
	}
	if !sub.compressed && !noted {
		if found := sub.schemaFaults(); len(found) > 0 {
			errs["base"] = []any{found}
		}
	}
	return errs
}

func (sub *submission) schemaFaults() []object {
	var found []object
	for _, name := range []string{"report-id", "created-by", "created"} {
		found = textOnly.faults(sub.header[name], "#/"+name, found)
	}
	return sentDatasets.faults(sub.datasets, "#/report-datasets", found)
}

// schemaName is how messages name the schema.
const schemaName = "7757177d-1b5c-5fd5-a1a0-0d4cf4d0a3b6"

func schemaFault(path, format string, args ...any) object {
	return object{path: fmt.Sprintf("The property '%s' ", path) + fmt.Sprintf(format, args...) + " in schema " + schemaName + "#"}
}
