package datacite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Code is the kind of a [Finding], for programs. The text of a Reason may change between
// versions, a code does not. The package documentation lists all codes.
type Code string

// A Finding is a fault or a warning about input: arguments, options, metadata, reports,
// tables, archives, logs. A fault stops the call; a warning does not.
type Finding struct {
	File         string // the file, or the member of an archive; "" if the input is not in a file
	Line, Column int    // in the file or text; both count from 1, and 0 means unknown; see below
	Path         string // parameter, option, element or member, such as creators[2].name; "" for the input as a whole
	Code         Code
	Value        string // the value that is wrong, where Reason does not quote it
	Reason       string // what is wrong and, after a semicolon, what would be right
	Warning      bool   // the input is accepted, but probably not as intended
	Err          error  // a condition such as ErrInvalidDOI, or the error of a parser; may be nil
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

// Findings returns all faults that err names: those of each [ValidationError] in it, and
// the Details of each [Error].
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

// Error names all faults up to a number that a person reads, each on a line.
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
