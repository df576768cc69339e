package metadata

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Level says how bad a [Finding] is.
type Level string

// The levels of a finding.
const (
	LevelError   Level = "error"   // the service refuses it, or the schema makes it mandatory
	LevelWarning Level = "warning" // the service takes it, but drops or changes it, or it is against the schema's prose
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
	CodeText       Code = "text"       // characters XML cannot hold, or too many of them
	CodeJSON       Code = "json"       // refused of package dois, which writes JSON, and taken as XML
)

// The codes that warnings have.
const (
	CodeDate           Code = "date"            // not a date the service reads
	CodeScheme         Code = "scheme"          // an identifier without its scheme
	CodeORCID          Code = "orcid"           // form or check digit
	CodeISNI           Code = "isni"            // form or check digit
	CodeROR            Code = "ror"             // form or check digits
	CodeGRID           Code = "grid"            // form
	CodeFunderID       Code = "funder-id"       // not a Crossref funder identifier
	CodeDOI            Code = "doi"             // not a DOI
	CodeISSN           Code = "issn"            // form or check digit
	CodeISBN           Code = "isbn"            // form or check digit
	CodeArXiv          Code = "arxiv"           // form
	CodeSWHID          Code = "swhid"           // form
	CodeURL            Code = "url"             // not an absolute address
	CodeMetadataScheme Code = "metadata-scheme" // scheme of metadata with a relation that has none
	CodeRelationOther  Code = "relation-other"  // relation Other without relationTypeInformation
	CodeSPDX           Code = "spdx"            // not an identifier of the SPDX list
	CodeLossy          Code = "lossy"           // the service drops it from its JSON
	CodeName           Code = "name"            // name and name type do not fit
)

// Finding is one thing that is wrong with a record.
type Finding struct {
	Level   Level
	Code    Code
	Path    string // where, in the JSON form: creators[2].nameIdentifiers[0].nameIdentifier
	Value   string // what is there
	Message string // what is wrong and how to put it right, in one sentence

	// XPath, Line and Column say where in the document; only [CheckXML] and
	// [ValidateXML] know. Lines and columns count from 1.
	XPath        string
	Line, Column int
}

// String returns the place, in a document with its line, and the message.
func (f Finding) String() string {
	place := f.Path
	if f.Line > 0 {
		place = fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.XPath)
	}
	if place == "" {
		return f.Message
	}
	return place + ": " + f.Message
}

// ErrInvalid is what every [*ValidationError] matches.
var ErrInvalid = errors.New("metadata: record is not valid")

// ValidationError holds all the faults for which the service would refuse a
// record. It matches [ErrInvalid].
type ValidationError struct {
	Findings []Finding // all of [LevelError], never none
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
		if f.Level == LevelError {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &ValidationError{Findings: found}
}

// CheckOptions say how strict a check is.
type CheckOptions struct {
	// Version is the version of the schema the record must keep to, such as
	// "4.4": values of later versions are errors. "" means the newest.
	Version string

	// UnknownTerms is the level of values that are on none of the schema's lists;
	// "" means LevelError. With LevelWarning, values newer than this package pass.
	UnknownTerms Level
}
