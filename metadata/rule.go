package metadata

import (
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// A fault is a [datacite.Finding] without its place.
type fault struct {
	warning bool
	code    datacite.Code
	reason  string
}

func (f *fault) at(p *path, value string) datacite.Finding {
	return datacite.Finding{Warning: f.warning, Code: f.code, Path: p.String(), Value: value, Reason: f.reason}
}

// A rule checks a single value; nil means that it is right. Records and documents have the
// same rules.
type rule func(value string) *fault

func newFault(code datacite.Code, format string, args ...any) *fault {
	return &fault{false, code, fmt.Sprintf(format, args...)}
}

// warning returns a warning, nil without a reason.
func warning(code datacite.Code, reason string) *fault {
	if reason == "" {
		return nil
	}
	return &fault{true, code, reason}
}

var (
	anyText       = datatype{}
	anyWord       = datatype{word: true}
	unescapedText = datatype{warning: referenceWarning}
	languageTag   = datatype{fault: languageRule, warning: paddedLanguage, word: true}
	year          = datatype{fault: yearRule, word: true}
	uri           = datatype{fault: uriRule, warning: relativeURI}
	schemeAddress = datatype{fault: uriRule, warning: relativeURI, word: true}
	// the schema means a URI, but by a slip takes any text
	untypedURI = datatype{warning: untypedURIWarning, word: true}
)

// required refuses a blank value.
func required(what string) rule {
	return func(value string) *fault {
		if strings.TrimSpace(value) != "" {
			return nil
		}
		return newFault(datacite.CodeMissing,
			"%s is mandatory; where it is not known, write :unkn, or :unav when it is not available", what)
	}
}

func yearRule(value string) *fault {
	value = xmlscan.Trim(value)
	switch {
	case value == "":
		return newFault(datacite.CodeMissing,
			"the year of publication is mandatory; where there is none, repositories write 0000 or 9999")
	case !isYear(value):
		return newFault(datacite.CodeYear, "a year of publication is four digits")
	}
	return nil
}

var languagePattern = lazy.Regexp(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)

func languageRule(value string) *fault {
	value = xmlscan.Trim(value)
	if languagePattern().MatchString(value) {
		return nil
	}
	if fixed := strings.ReplaceAll(value, "_", "-"); languagePattern().MatchString(fixed) {
		return newFault(datacite.CodeLanguage, "language tags have a hyphen: %s", fixed)
	}
	return newFault(datacite.CodeLanguage, "a language tag looks like en or pt-BR")
}

func paddedLanguage(value string) *fault {
	if xmlscan.Trim(value) == value {
		return nil
	}
	return warning(datacite.CodeJSON,
		"if the record is sent as JSON, the service drops a language with white space around it")
}

// langRule is that of xml:lang, which may be empty.
func langRule(value string) *fault {
	if value == "" {
		return nil
	}
	return languageRule(value)
}

func uriRule(value string) *fault {
	if isAnyURI(value) {
		return nil
	}
	return newFault(datacite.CodeURI,
		"this is not a URI: write %% as %%25, [ as %%5B and ] as %%5D, with at most one #, and no colon before the first "+
			"slash except after the scheme")
}

func relativeURI(value string) *fault {
	if isAbsoluteURI(xmlscan.Trim(value)) {
		return nil
	}
	return warning(datacite.CodeURI, "a URI should be absolute, such as https://orcid.org")
}

func untypedURIWarning(value string) *fault {
	if isAnyURI(value) && isAbsoluteURI(value) {
		return nil
	}
	return warning(datacite.CodeURI, "a URI should be absolute, such as https://orcid.org")
}
