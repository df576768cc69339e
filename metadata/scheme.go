package metadata

import (
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Forms of identifiers without their address.
var (
	orcidPattern  = lazy.Regexp(`^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$`)
	isniPattern   = lazy.Regexp(`^\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{3}[\dX]$`)
	rorPattern    = lazy.Regexp(`^0[a-hj-km-np-tv-z0-9]{6}\d\d$`)
	gridPattern   = lazy.Regexp(`^grid\.\d+\.[0-9a-f]+$`)
	doiPattern    = lazy.Regexp(`^10\.\d{4,9}(?:\.\d+)*/\S+$`)
	funderPattern = lazy.Regexp(`^10\.13039/\d+$`)
	issnPattern   = lazy.Regexp(`^\d{4}-?\d{3}[\dXx]$`)
	arxivPattern  = lazy.Regexp(`^(?i:arxiv:)?(?:\d{4}\.\d{4,5}|[a-zA-Z.-]+/\d{7})(?:v\d+)?$`)
	swhidPattern  = lazy.Regexp(`^swh:1:(?:cnt|dir|rev|rel|snp):[0-9a-f]{40}(?:;.*)?$`)
)

// A schemeRule checks the identifiers of a scheme.
type schemeRule struct {
	prefix lazy.Pattern // addresses that the identifier may have; nil if none
	valid  func(bare string) string
}

func address(hosts string) lazy.Pattern {
	return lazy.Regexp(`^(?i:https?://(?:www\.)?(?:` + hosts + `)/)`)
}

// bare returns an identifier without its address.
func (s schemeRule) bare(value string) string {
	if s.prefix == nil {
		return value
	}
	return s.prefix().ReplaceAllString(value, "")
}

// fault is what is wrong with an identifier, "" if nothing is.
func (s schemeRule) reason(value string) string { return s.valid(s.bare(value)) }

var (
	orcidRule = schemeRule{address(`orcid\.org`),
		checked(orcidPattern, "an ORCID looks like https://orcid.org/0000-0001-5727-2427; the service drops the identifier "+
			"otherwise", "ORCID", hasCheckDigit)}
	isniRule = schemeRule{address(`isni\.org(?:/isni)?|isni-url\.oclc\.nl/isni`),
		checked(isniPattern, "an ISNI has 16 digits, such as 0000 0001 2103 2683", "ISNI", hasCheckDigit)}
	rorRule    = schemeRule{lazy.Regexp(`^(?i:(?:https?://)?ror\.org/)`), rorFault}
	gridRule   = schemeRule{address(`grid\.ac/institutes`), form(gridPattern, "a GRID looks like grid.5335.0")}
	funderRule = schemeRule{doiAddress,
		form(funderPattern, "a Crossref funder identifier looks like https://doi.org/10.13039/501100000780")}
	doiRule = schemeRule{doiAddress,
		form(doiPattern, "a DOI looks like 10.5438/0012; the service drops the identifier otherwise")}
	arxivRule = schemeRule{address(`arxiv\.org/abs`), form(arxivPattern, "an arXiv identifier looks like arXiv:0706.0001")}
	swhidRule = schemeRule{address(`archive\.softwareheritage\.org`),
		form(swhidPattern, "a SWHID looks like swh:1:rev:, then 40 hexadecimal digits")}
	issnRule = schemeRule{address(`portal\.issn\.org/resource/ISSN`),
		checked(issnPattern, "an ISSN looks like 2049-3630", "ISSN",
			func(digits string) bool { return weighted(digits, 8, 11) })}
	isbnRule = schemeRule{lazy.Regexp(`^(?i:urn:isbn:|isbn:? ?)`), isbnFault}
	urlRule  = schemeRule{nil, urlFault}

	doiAddress = lazy.Regexp(`^(?i:(?:https?://(?:dx\.)?doi\.org/)|doi:)`)
)

// agentSchemes are the schemes of people and organizations, by folded name.
var agentSchemes = map[string]schemeRule{
	"orcid": orcidRule, "isni": isniRule, "ror": rorRule, "grid": gridRule, "crossreffunderid": funderRule,
}

var relatedSchemes = map[RelatedIdentifierType]schemeRule{
	IdentifierDOI: doiRule, IdentifierArXiv: arxivRule, IdentifierSWHID: swhidRule, IdentifierISBN: isbnRule,
	IdentifierISSN: issnRule, IdentifierEISSN: issnRule, IdentifierLISSN: issnRule, IdentifierURL: urlRule,
}

func form(form lazy.Pattern, message string) func(string) string {
	return func(bare string) string {
		if form().MatchString(bare) {
			return ""
		}
		return message
	}
}

// checked requires a form, and check digits of the text without hyphens and blanks.
func checked(form lazy.Pattern, message, scheme string, fits func(digits string) bool) func(string) string {
	return func(bare string) string {
		switch {
		case !form().MatchString(bare):
			return message
		case !fits(digitsOf(bare)):
			return misfit(scheme)
		}
		return ""
	}
}

func digitsOf(text string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(text))
}

func misfit(scheme string) string {
	return "the check digit of this " + scheme + " does not match its other digits: at least one digit is wrong"
}

// hasCheckDigit looks at 16 digits, the last of which may be X.
func hasCheckDigit(digits string) bool { return digits[15] == doi.Mod11(digits[:15]) }

func rorFault(bare string) string {
	bare = strings.ToLower(bare)
	if !rorPattern().MatchString(bare) {
		return "a ROR looks like https://ror.org/04wxnsj81"
	}
	number := uint64(0)
	for _, c := range bare[1:7] {
		number = number<<5 | uint64(strings.IndexRune("0123456789abcdefghjkmnpqrstvwxyz", c))
	}
	if check, _ := strconv.ParseUint(bare[7:], 10, 8); check != doi.Mod97(number) {
		return "the check digits of this ROR do not match its other characters: at least one character is wrong"
	}
	return ""
}

func isbnFault(bare string) string {
	digits := digitsOf(bare)
	body := strings.TrimSuffix(digits, "X")
	switch {
	case strings.Trim(body, "0123456789") != "", len(digits) != 10 && (len(digits) != 13 || body != digits):
		return "an ISBN has 10 or 13 digits, such as 978-0-306-40615-7"
	case len(digits) == 10 && !weighted(digits, 10, 11), len(digits) == 13 && !ean(digits):
		return misfit("ISBN")
	}
	return ""
}

// weighted checks digits whose weights go down from top to 1; X is ten.
func weighted(digits string, top, modulus int) bool {
	total := 0
	for i, c := range digits {
		value := int(c - '0')
		if c == 'X' {
			value = 10
		}
		total += value * (top - i)
	}
	return total%modulus == 0
}

// ean checks the digits of an EAN-13, whose weights are 1 and 3 in turn.
func ean(digits string) bool {
	total := 0
	for i, c := range digits {
		total += int(c-'0') * (1 + i%2*2)
	}
	return total%10 == 0
}

func urlFault(bare string) string {
	if isAbsoluteURI(bare) || strings.HasPrefix(bare, "ftp://") {
		return ""
	}
	return "an address starts with https://"
}
