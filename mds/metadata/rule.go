package metadata

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A fault is what a rule finds in a value: a [Finding] without its place.
type fault struct {
	level   Level
	code    Code
	message string
}

// A rule judges a single value; nil means that nothing is wrong. [Record.Check]
// and [CheckXML] share the rules, so they cannot disagree about a value.
type rule func(opts *CheckOptions, value string) *fault

func newFault(code Code, format string, args ...any) *fault {
	return &fault{LevelError, code, fmt.Sprintf(format, args...)}
}

// required refuses a value of nothing but blanks.
func required(what string) rule {
	return func(_ *CheckOptions, value string) *fault {
		if strings.TrimSpace(value) != "" {
			return nil
		}
		return newFault(CodeRequired, "%s is mandatory; where it is not known, write :unkn, or :unav when it is not available", what)
	}
}

// term asks for a value of a vocabulary. An empty one is missing.
func term(v vocabulary, what string) rule {
	return func(opts *CheckOptions, value string) *fault {
		since := v.since(value)
		switch {
		case value == "":
			return newFault(CodeRequired, "the %s is mandatory", what)
		case since != "" && opts.Version != "" && later(since, opts.Version):
			return newFault(CodeVocabulary, "the %s %s came with version %s of the schema, later than %s", what, value, since, opts.Version)
		case since != "":
			return nil
		}
		f := newFault(CodeVocabulary, "the schema has no %s %q%s", what, value, v.hint(value))
		if opts.UnknownTerms != "" {
			f.level = opts.UnknownTerms
		}
		return f
	}
}

func (v vocabulary) hint(value string) string {
	if fold(value) == "funder" && v.since("Sponsor") != "" {
		return "; a funder goes into fundingReferences"
	}
	if nearest := v.nearest(value); nearest != "" {
		return fmt.Sprintf("; did you mean %s?", nearest)
	}
	return ""
}

// later compares versions of kernel 4.
func later(a, b string) bool {
	minor := func(version string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(version, "4."))
		return n
	}
	return minor(a) > minor(b)
}

func yearRule(_ *CheckOptions, value string) *fault {
	value = trim(value)
	switch {
	case value == "":
		return newFault(CodeRequired, "the year of publication is mandatory; where there is none, repositories write 0000 or 9999")
	case !isYear(value):
		return newFault(CodeYear, "a year of publication is four digits")
	}
	return nil
}

var languagePattern = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)

func languageRule(_ *CheckOptions, value string) *fault {
	value = trim(value)
	if languagePattern.MatchString(value) {
		return nil
	}
	if fixed := strings.ReplaceAll(value, "_", "-"); languagePattern.MatchString(fixed) {
		return newFault(CodeLanguage, "language tags have a hyphen: %s", fixed)
	}
	return newFault(CodeLanguage, "a language tag looks like en or pt-BR")
}

func uriRule(_ *CheckOptions, value string) *fault {
	if isAnyURI(value) {
		return nil
	}
	return newFault(CodeURI, "this is not a URI: write %% as %%25, [ as %%5B and ] as %%5D, and have one # at most and no colon before the first slash but that of the scheme")
}

var decimalPattern = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)

// degrees asks for a number between -most and most. The schema has numbers of
// single precision, so 90.0000001 is 90.
func degrees(most float32) rule {
	return func(_ *CheckOptions, value string) *fault {
		value = trim(value)
		if value == "" {
			return newFault(CodeCoordinate, "the coordinate is missing; points have two and boxes have four")
		}
		if !decimalPattern.MatchString(value) {
			return newFault(CodeCoordinate, "a coordinate is a decimal number of degrees such as -71.032")
		}
		n, _ := strconv.ParseFloat(value, 32) // out of range is infinite
		if math.Abs(n) > float64(most) {
			return newFault(CodeCoordinate, "the coordinate is not between -%g and %g", most, most)
		}
		return nil
	}
}

var (
	longitudeRule = degrees(180)
	latitudeRule  = degrees(90)
)

const maxRights = 2000

func rightsRule(_ *CheckOptions, value string) *fault {
	if n := utf8.RuneCountInString(value); n > maxRights {
		return newFault(CodeText, "the statement of rights is %d characters long, the service takes %d; write it shorter and give its address", n, maxRights)
	}
	return nil
}

// optional applies a rule to values that are there.
func optional(r rule) rule {
	return func(opts *CheckOptions, value string) *fault {
		if value == "" {
			return nil
		}
		return r(opts, value)
	}
}

var (
	creatorNameRule     = required("the name of a creator")
	contributorNameRule = required("the name of a contributor")
	titleRule           = required("the title")
	publisherRule       = required("the publisher")
	funderNameRule      = required("the name of the funder")
	alternateTypeRule   = required("the type of an alternate identifier")

	resourceTypeRule    = term(resourceTypes, "general resource type")
	contributorTypeRule = term(contributorTypes, "contributor type")
	dateTypeRule        = term(dateTypes, "date type")
	descriptionTypeRule = term(descriptionTypes, "description type")
	titleTypeRule       = term(titleTypes, "title type")
	nameTypeRule        = term(nameTypes, "name type")
	numberTypeRule      = term(numberTypes, "number type")
	funderIDTypeRule    = term(funderIdentifierTypes, "funder identifier type")
	relatedIDTypeRule   = term(relatedIdentifierTypes, "related identifier type")
	relationTypeRule    = term(relationTypes, "relation type")
)
