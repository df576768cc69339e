package metadata

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code names the rule a [Finding] is about. Codes stay the same from version to
// version; messages do not.
type Code string

// The codes that errors have, some of them warnings too.
const (
	CodeSyntax     Code = "syntax"     // XML: not well formed
	CodeNamespace  Code = "namespace"  // XML: not a record of kernel 4
	CodeElement    Code = "element"    // XML: unknown, in the wrong place, or too many
	CodeAttribute  Code = "attribute"  // XML: unknown
	CodeIdentifier Code = "identifier" // XML: the identifier is empty; harmless when the request names the DOI
	CodeRequired   Code = "required"   // a mandatory value is missing
	CodeVocabulary Code = "vocabulary" // not a value of the schema's list
	CodeYear       Code = "year"       // not four digits
	CodeLanguage   Code = "language"   // not a language tag
	CodeCoordinate Code = "coordinate" // not a number of degrees, or out of range
	CodePolygon    Code = "polygon"    // too few points; as warnings: not closed, more than one
	CodeURI        Code = "uri"        // not a URI; as a warning: not an absolute one
	CodeText       Code = "text"       // characters that XML cannot hold
	CodeLimit      Code = "limit"      // more or longer than the service takes
	CodeJSON       Code = "json"       // refused of package dois, which writes JSON, and taken as XML
)

// The codes that warnings have.
const (
	CodeDate     Code = "date"     // the service does not read it as a date
	CodeScheme   Code = "scheme"   // an identifier that does not fit its scheme: its form, its check digits, not on the SPDX list
	CodeConflict Code = "conflict" // two values that do not go together, such as a given name of an organization
	CodeLossy    Code = "lossy"    // the service drops or changes it in its JSON
)

// Finding is one thing that is wrong with a record.
type Finding struct {
	Warning bool // false is an error: the service refuses it, or the schema makes it mandatory
	Code    Code
	Path    string // where, in the JSON form: creators[2].nameIdentifiers[0].nameIdentifier
	Value   string // what is there
	Message string // what is wrong and how to put it right, in one sentence

	// XPath, Line and Column say where in the document; only [CheckXML] and
	// [ValidateXML] know. Lines and columns count from 1.
	XPath        string
	Line, Column int
}

// String returns the place, with the line in a document, and the message. That of a
// warning begins with "warning: ".
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

// ErrInvalid is what every [*ValidationError] matches.
var ErrInvalid = errors.New("metadata: record is not valid")

// ValidationError holds all the faults for which the service would refuse a
// record. It matches [ErrInvalid].
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

// Except returns the error without the findings of the given codes, and nil
// when that leaves none. With [CodeIdentifier] it lets a document pass that
// leaves its DOI to the path of the request.
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
