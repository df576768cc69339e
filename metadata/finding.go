package metadata

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code is the kind of a [Finding], for programs. Messages may change between versions,
// codes do not.
type Code string

// Codes of errors; some are codes of warnings, too.
const (
	CodeSyntax     Code = "syntax"     // XML that is not well formed, a cell of a table that cannot be read
	CodeNamespace  Code = "namespace"  // XML: not a record of kernel 4
	CodeElement    Code = "element"    // XML: unknown, in the wrong place, or too many
	CodeAttribute  Code = "attribute"  // XML: unknown
	CodeIdentifier Code = "identifier" // XML: the identifier is empty; harmless if the request names the DOI
	CodeRequired   Code = "required"   // a mandatory value is missing
	CodeVocabulary Code = "vocabulary" // not a value of the schema's vocabulary
	CodeYear       Code = "year"       // not four digits
	CodeLanguage   Code = "language"   // not a language tag
	CodeCoordinate Code = "coordinate" // not a number of degrees, or out of range
	CodePolygon    Code = "polygon"    // too few points; as warnings: not closed, more than one
	CodeURI        Code = "uri"        // not a URI; as a warning: a relative one
	CodeText       Code = "text"       // characters that XML cannot contain
	CodeLimit      Code = "limit"      // too many or too long
)

// Codes of warnings.
const (
	CodeDate     Code = "date"     // not a date that the service reads
	CodeScheme   Code = "scheme"   // an identifier without a scheme, or one whose form, check digits or list it does not fit
	CodeConflict Code = "conflict" // values that do not go together, such as an organization with a given name
	CodeLossy    Code = "lossy"    // the service drops or changes it
	CodeJSON     Code = "json"     // refused or dropped as JSON, and accepted as XML; package dois refuses it
)

// A Finding is one fault of a record.
type Finding struct {
	Warning bool // the service accepts it; false means that it is refused, or missing and mandatory
	Code    Code
	Path    string // in the JSON form: creators[2].nameIdentifiers[0].nameIdentifier
	Value   string // what the record has there
	Message string // what is wrong and how to correct it, in one sentence

	// XPath, Line and Column are the place in a document, for [FindingsXML] and
	// [ValidateXML]. Lines and columns count from 1.
	XPath        string
	Line, Column int
}

// String returns the place and the message. A warning begins with "warning: ".
func (f Finding) String() string {
	text, place := f.Message, f.Path
	if f.Line > 0 {
		place = fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.XPath)
	}
	if place != "" {
		text = place + ": " + text
	}
	if f.Warning {
		text = "warning: " + text
	}
	return text
}

// ErrInvalid is matched by every [*ValidationError].
var ErrInvalid = errors.New("metadata: record is not valid")

// ValidationError has all the faults for which the service would refuse a record. It
// matches [ErrInvalid].
type ValidationError struct {
	Findings []Finding // errors only, at least one
}

const shownFindings = 10 // in the text of an error

// Error lists the first ten faults, one on each line.
func (e *ValidationError) Error() string {
	var b strings.Builder
	if len(e.Findings) == 1 {
		b.WriteString("metadata: record is not valid: ")
		b.WriteString(e.Findings[0].String())
		return b.String()
	}
	fmt.Fprintf(&b, "metadata: record is not valid, %d faults:", len(e.Findings))
	for _, f := range e.Findings[:min(len(e.Findings), shownFindings)] {
		b.WriteString("\n\t" + f.String())
	}
	if more := len(e.Findings) - shownFindings; more > 0 {
		fmt.Fprintf(&b, "\n\tand %d more", more)
	}
	return b.String()
}

// Is reports whether target is [ErrInvalid].
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid }

// Except returns the error without the findings of these codes, and nil if none are left.
// Use it with [CodeIdentifier] for a document whose DOI is in the path of the request, and
// with [CodeVocabulary] for values that are newer than this package.
func (e *ValidationError) Except(codes ...Code) error {
	return faults(slices.DeleteFunc(slices.Clone(e.Findings), func(f Finding) bool {
		return slices.Contains(codes, f.Code)
	}))
}

// faults returns the errors among findings as an error, nil when there are none.
func faults(findings []Finding) error {
	var found []Finding
	for _, f := range findings {
		if !f.Warning {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &ValidationError{Findings: found}
}
