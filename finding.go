package datacite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Code is the kind of a [Finding], for programs. The text of a Reason may change between
// versions, codes do not.
type Code string

// Codes of any input.
const (
	CodeMissing    Code = "missing"    // a required value is absent, empty or nil
	CodeValue      Code = "value"      // a value that is not allowed, for a reason without a code of its own
	CodeVocabulary Code = "vocabulary" // not in the list of allowed values
	CodeAccount    Code = "account"    // the record stays with another repository account
	CodeChanged    Code = "changed"    // an attribute that was to stay as it was
	CodeConflict   Code = "conflict"   // values that exclude or contradict each other
	CodeLimit      Code = "limit"      // too many, too long, too large, or out of range
	CodeRepeated   Code = "repeated"   // occurs more than once
	CodeOrder      Code = "order"      // not in the required order
	CodeUsed       Code = "used"       // can be read only once
	CodeDOI        Code = "doi"        // not a DOI name, or not one that may be registered
	CodeDate       Code = "date"       // not a date, a time or a period, or not an allowed one
	CodeURI        Code = "uri"        // not a URL or URI; as a warning: a relative one
	CodeEncoding   Code = "encoding"   // not UTF-8, or characters that the format cannot hold
	CodeSyntax     Code = "syntax"     // malformed JSON, XML, table, query or other text
	CodeQuery      Code = "query"      // a part of a query that the service would refuse or misread
	CodeRefused    Code = "refused"    // a fault that the service found; Reason quotes its message
)

// Codes of logs.
const (
	CodeAddress   Code = "address"    // no IP address where one is required
	CodeHandle    Code = "handle"     // the dataset has a handle, and usage is reported of DOIs only
	CodeNoDataset Code = "no-dataset" // an access to a dataset that the line, or the table of paths, does not name
)

// Codes of metadata.
const (
	CodeNamespace  Code = "namespace"   // XML that is not a record of kernel 4
	CodeElement    Code = "element"     // an XML element that is unknown, in the wrong place, or occurs too often
	CodeAttribute  Code = "attribute"   // an XML attribute that is unknown
	CodeIdentifier Code = "identifier"  // XML with an empty identifier, which is harmless if the request names the DOI
	CodeYear       Code = "year"        // not four digits
	CodeLanguage   Code = "language"    // not a language tag
	CodeCoordinate Code = "coordinate"  // not a number of degrees
	CodePolygon    Code = "polygon"     // too few points; as warnings: not closed, several polygons
	CodeScheme     Code = "scheme"      // an identifier without a scheme, or one that its scheme does not allow
	CodeLossy      Code = "lossy"       // the service drops or changes the value
	CodeInvisible  Code = "invisible"   // an invisible character where it has no purpose
	CodeJSON       Code = "json"        // the service refuses or drops the value in JSON, and accepts it in XML
	CodeNotInJSON  Code = "not-in-json" // of a record sent as JSON, the service ignores the value
	CodeNotInXML   Code = "not-in-xml"  // of a record sent as JSON, the service leaves the value out of its XML
	CodeAmbiguous  Code = "ambiguous"   // the service's JSON does not tell which text was given
	CodeShape      Code = "shape"       // JSON of another kind than the property has, which is left out
	CodeLoss       Code = "loss"        // a write would change another value than is desired
	CodeEscaped    Code = "escaped"     // the service may have stored a text with its own escapes
)

// Codes of reports, as warnings.
const (
	CodeZero       Code = "zero"       // a count of 0, which is needed only to remove an earlier number
	CodeIncomplete Code = "incomplete" // the counts by country add up to less than the whole count
	// CodeInconsistent: counts that contradict each other; Submit refuses them unless
	// AllowInconsistent is set
	CodeInconsistent Code = "inconsistent"
	CodeCorrected    Code = "corrected" // an identifier that is sent in another form, which the service can read
)

// Codes of reports, as warnings of counts that DOI records show changed or not at all.
const (
	CodeLaterPerformance Code = "later-performance"  // not in the first performance of the dataset
	CodeTooManyInstances Code = "too-many-instances" // the performance has more than 8 instances
	CodeLaterIdentifier  Code = "later-identifier"   // the DOI is not the first identifier
	CodeSpelling         Code = "spelling"           // the service does not read the DOI in this spelling
	CodeCharacters       Code = "characters"         // the service does not find a DOI with such characters
	CodeOtherDOI         Code = "other-doi"          // the service reads another DOI, which ends before # or ?
	CodeOtherMonth       Code = "other-month"        // the report begins in another month in UTC
	CodeNotUnique        Code = "not-unique"         // only totals, or only counts by machines
	CodeSeveralCounts    Code = "several-counts"     // several counts for one number
	CodeNoCount          Code = "no-count"           // the number has no count
	CodeTooLarge         Code = "too-large"          // more than 32 bits
	CodeLeft             Code = "left"               // an earlier number, which the records still show
	CodeReportedTwice    Code = "reported-twice"     // other reports have the number, too, and the service adds them up
)

// Codes of differences between reports and records, beside those.
const (
	CodeNotProcessed Code = "not-processed" // the report is younger than Options.Lag
	CodeLost         Code = "lost"          // the report is older than Options.Lag, and its count is not shown
	CodeNoRecord     Code = "no-record"     // the DOI is not registered, or not visible to the account
	CodeUnreported   Code = "unreported"    // none of the compared reports has the number
	CodeNotRegular   Code = "not-regular"   // the report has only machine counts; the number is an old one
	CodeNotADOI      Code = "not-a-doi"     // the identifier of the dataset is not a DOI
)

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

// Invalidf returns a [*ValidationError] of one fault, whose Reason is the text that [fmt.Errorf]
// makes. An error given with %w is the finding's Err.
func Invalidf(path string, code Code, format string, args ...any) error {
	reason := fmt.Errorf(format, args...)
	f := Finding{Path: path, Code: code, Reason: reason.Error(), Err: errors.Unwrap(reason)}
	if _, several := reason.(interface{ Unwrap() []error }); several {
		f.Err = reason
	}
	return Invalid(f)
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
