package datacite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Code is the kind of a [Finding], for programs. The text of a Reason may change between
// versions, codes do not.
//
// Of any input:
//
//   - missing: a required value is absent, empty or nil
//   - value: a value that is not allowed, for a reason without a code of its own
//   - vocabulary: not in the list of allowed values
//   - account: the record stays with another repository account
//   - changed: an attribute that was to stay as it was
//   - conflict: values that exclude or contradict each other
//   - limit: too many, too long, too large, or out of range
//   - repeated: occurs more than once
//   - order: not in the required order
//   - used: can be read only once
//   - doi: not a DOI name, or not one that may be registered
//   - date: not a date, a time or a period, or not an allowed one
//   - uri: not a URL or URI; as a warning: a relative one
//   - encoding: not UTF-8, or characters that the format cannot hold
//   - syntax: malformed JSON, XML, table, query or other text
//   - query: a part of a query that the service would refuse or misread
//   - refused: a fault that the service found; Reason quotes its message
//
// Of logs:
//
//   - address: no IP address where one is required
//   - handle: the dataset has a handle, and usage is reported of DOIs only
//   - no-dataset: an access to a dataset that the line, or the table of paths, does not name
//
// Of metadata:
//
//   - namespace: XML that is not a record of kernel 4
//   - element: an XML element that is unknown, in the wrong place, or occurs too often
//   - attribute: an XML attribute that is unknown
//   - identifier: XML with an empty identifier, which is harmless if the request names the DOI
//   - year: not four digits
//   - language: not a language tag
//   - coordinate: not a number of degrees
//   - polygon: too few points; as warnings: not closed, several polygons
//   - scheme: an identifier without a scheme, or one that its scheme does not allow
//   - lossy: the service drops or changes the value
//   - invisible: an invisible character where it has no purpose
//   - json: the service refuses or drops the value in JSON, and accepts it in XML
//   - not-in-json: of a record sent as JSON, the service ignores the value
//   - not-in-xml: of a record sent as JSON, the service leaves the value out of its XML
//   - ambiguous: the service's JSON does not tell which text was given
//   - shape: JSON of another kind than the property has, which is left out
//   - loss: a write would change another value than is desired
//   - escaped: the service may have stored a text with its own escapes
//
// Of reports, as warnings:
//
//   - zero: a count of 0, which is needed only to remove an earlier number
//   - incomplete: the counts by country add up to less than the whole count
//   - inconsistent: counts that contradict each other; Submit refuses them unless
//     AllowInconsistent is set
//   - corrected: an identifier that is sent in another form, which the service can read
//
// Of reports, as warnings of counts that DOI records show changed or not at all:
//
//   - later-performance: not in the first performance of the dataset
//   - too-many-instances: the performance has more than 8 instances
//   - later-identifier: the DOI is not the first identifier
//   - spelling: the service does not read the DOI in this spelling
//   - characters: the service does not find a DOI with such characters
//   - other-doi: the service reads another DOI, which ends before # or ?
//   - other-month: the report begins in another month in UTC
//   - not-unique: only totals, or only counts by machines
//   - several-counts: several counts for one number
//   - no-count: the number has no count
//   - too-large: more than 32 bits
//   - left: an earlier number, which the records still show
//   - reported-twice: other reports have the number, too, and the service adds them up
//
// Of differences between reports and records, beside those:
//
//   - not-processed: the report is younger than Options.Lag
//   - lost: the report is older than Options.Lag, and its count is not shown
//   - no-record: the DOI is not registered, or not visible to the account
//   - unreported: none of the compared reports has the number
//   - not-regular: the report has only machine counts; the number is an old one
//   - not-a-doi: the identifier of the dataset is not a DOI
type Code string

// A Finding is a fault or a warning about input: arguments, options, metadata, reports,
// tables, archives, logs.
type Finding struct {
	File string // name of the file, or of a file in an archive; "" if the input is not in a file

	// Line and Column count from 1; 0 means unknown. Column counts the characters of the
	// line or, in a table, the cells of the row.
	Line, Column int

	Path    string // parameter, option, element or member, such as creators[2].name; "" for the input as a whole
	Code    Code   // what kind of fault it is
	Value   string // the value at fault; "" where Reason quotes it
	Reason  string // what is wrong and, after a semicolon, what would be right
	Warning bool   // the input is accepted; false means a fault, for which the input is refused
	Err     error  `json:"-"` // a condition such as ErrInvalidDOI, or a parser's error; may be nil
}

// String returns file, line, column, path and reason, as far as they are known. A warning
// begins with "warning: ".
func (f Finding) String() string {
	place := []string{f.File}
	if f.Line > 0 {
		place = append(place, fmt.Sprint("line ", f.Line))
	}
	if f.Column > 0 {
		place = append(place, fmt.Sprint("column ", f.Column))
	}
	parts := []string{strings.TrimPrefix(strings.Join(place, ", "), ", "), f.Path, f.Reason}
	if f.Warning {
		parts = slices.Insert(parts, 0, "warning")
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// A ValidationError is input that was refused before anything was sent or stored. It
// matches [ErrInvalid], and the Err of each finding.
type ValidationError struct {
	Findings []Finding // the faults, at least one
}

// Invalid returns the faults among the findings as a [*ValidationError], and nil if all are
// warnings.
func Invalid(findings ...Finding) error {
	faults := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Warning })
	if len(faults) == 0 {
		return nil
	}
	return &ValidationError{faults}
}

// Findings returns all faults in err: those of each [ValidationError], and the Details of
// each [Error].
func Findings(err error) []Finding {
	switch e := err.(type) {
	case *ValidationError:
		return slices.Clone(e.Findings)
	case *Error:
		return append(slices.Clone(e.Details), Findings(e.Err)...)
	case interface{ Unwrap() error }:
		return Findings(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []Finding
		for _, err := range e.Unwrap() {
			all = append(all, Findings(err)...)
		}
		return all
	}
	if e, ok := errors.AsType[*ValidationError](err); ok {
		return e.Findings
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return Findings(e)
	}
	return nil
}

// Error returns the first 30 faults, each on a line, and the number of the others.
func (e *ValidationError) Error() string {
	const most = 30
	if len(e.Findings) == 1 {
		return "datacite: " + e.Findings[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "datacite: %d faults:", len(e.Findings))
	for _, f := range e.Findings[:min(len(e.Findings), most)] {
		b.WriteString("\n\t" + f.String())
	}
	if more := len(e.Findings) - most; more > 0 {
		fmt.Fprintf(&b, "\n\tand %d more", more)
	}
	return b.String()
}

// Is matches [ErrInvalid].
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid }

// Unwrap returns the Err of each finding that has one.
func (e *ValidationError) Unwrap() (all []error) {
	for _, f := range e.Findings {
		if f.Err != nil {
			all = append(all, f.Err)
		}
	}
	return all
}

// Except returns the error without the findings of these codes, and nil if none are left.
// Use it with "identifier" for XML whose DOI is in the path of the request, and with
// "vocabulary" for values that are newer than this package.
func (e *ValidationError) Except(codes ...Code) error {
	return Invalid(slices.DeleteFunc(slices.Clone(e.Findings), func(f Finding) bool {
		return slices.Contains(codes, f.Code)
	})...)
}
