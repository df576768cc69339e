package metadata

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// An allowance is a change that the deployed service makes, and that is not a difference.
// Without same, the values are not compared.
type allowance struct {
	paths    string // ends of paths, without indexes; * is any member
	what     string
	evidence string
	same     func(pair) bool
}

// A pair is two objects whose member differs. If the path is that of a list, it is an item
// that only one list has, and the other is nil.
type pair struct {
	member        string
	wanted, found *value
	records       *comparing // whole
}

// same reports whether the texts are the same in a form.
func (p pair) same(name string, form func(string) string) bool {
	w, f := p.texts()
	return p.records.form(name, w, form) == p.records.form(name, f, form)
}

func (p pair) texts() (wanted, found string) { return p.wanted.get(p.member), p.found.get(p.member) }

// allowances are read from the source of the deployed service: "lupo" is
// https://github.com/datacite/lupo at 05afac4, "bolognese" is
// https://github.com/datacite/bolognese at 02e99bb.
var allowances = []allowance{
	{"relatedItems.creators.nameIdentifiers relatedItems.creators.affiliation relatedItems.contributors.nameIdentifiers " +
		"relatedItems.contributors.affiliation",
		"are not in the schema, and ignored in JSON", "lupo params_sanitizer.rb", nil},
	{"schemaVersion types.schemaOrg types.citeproc types.bibtex types.ris",
		"are set by the service", "lupo doi.rb (update_types), params_sanitizer.rb (add_schema_version)", nil},
	{"nameIdentifiers.extra affiliation.extra descriptions.breaks", "are in XML only",
		"bolognese datacite_reader.rb, author_utils.rb", nil},
	{"*", "white space around a text and U+FEFF are removed, and CR becomes LF; the year is a number",
		"lupo params_sanitizer.rb (cleanse), schema.rb (publication_year), bolognese datacite_reader.rb", sameTrimmed},
	{"doi", "a DOI is in lower case, and may be in the path of the request only", "lupo doi.rb (doi=)", sameOwnDOI},
	{"titles.title subjects.subject sizes.* formats.*",
		"white space becomes one blank; comments, most tags and unclosed markup are removed, and end tags are added",
		"bolognese utils.rb (sanitize), whitelist_scrubber.rb", sameMarkup},
	{"descriptions.description", "as titles, and <br/> elements are removed", "bolognese datacite_reader.rb",
		sameDescription},
	{"dates.date affiliation.name", "white space becomes one blank", "bolognese datacite_reader.rb, author_utils.rb",
		sameSquished},
	{"subjects", "repeats are removed", "lupo doi.rb (update_field_of_science)", isRepeated},
	{"dates", "one is made from the year, and what is not a date is dropped", "bolognese datacite_reader.rb",
		isDateOfService},
	{"language", "becomes two letters where there is such a code", "lupo doi.rb (update_language)", sameLanguage},
	{"creators.lang contributors.lang", "is in XML only", "bolognese author_utils.rb", isLost},
	{"relatedItems.titles.lang", "is ignored in JSON", "lupo params_sanitizer.rb", isLost},
	{"relatedItems.relationTypeInformation",
		"of XML, moves into relatedItemIdentifier, or is lost without one; JSON keeps " +
			"it", "bolognese datacite_reader.rb (read_datacite)", isLost},
	{"relatedItems.volume relatedItems.issue relatedItems.firstPage relatedItems.lastPage relatedItems.publisher " +
		"relatedItems.edition " +
		"geoLocations.geoLocationPlace fundingReferences.awardNumber",
		"references such as &amp; are resolved", "bolognese utils.rb (parse_attributes)", sameUnescaped},
	{"creators.nameType contributors.nameType", "is derived from the name", "bolognese author_utils.rb", isPerson},
	{"creators.name contributors.name", "is composed of its parts, or split into them; references are resolved",
		"bolognese author_utils.rb, utils.rb (parse_attributes)", sameName},
	{"creators.givenName creators.familyName contributors.givenName contributors.familyName",
		"are derived from the name of a person without a family name; references are " +
			"resolved", "bolognese author_utils.rb, utils.rb (parse_attributes)", sameParts},
	{"nameIdentifiers.nameIdentifier affiliation.affiliationIdentifier publisher.publisherIdentifier " +
		"fundingReferences.funderIdentifier",
		"becomes a URL below that of its scheme, with escapes; an invalid ORCID, ROR or Crossref Funder ID is dropped",
		"bolognese author_utils.rb, datacite_reader.rb, utils.rb (normalize_id), doi_utils.rb", sameAgent},
	{"nameIdentifiers.schemeUri affiliation.schemeUri fundingReferences.schemeUri",
		"of ORCID and ROR is set by the service", "bolognese author_utils.rb, datacite_reader.rb", isOwnScheme},
	{"relatedIdentifiers.relatedIdentifier relatedItemIdentifier.relatedItemIdentifier",
		"a DOI loses its address and becomes lower case; an invalid one is " +
			"dropped", "bolognese datacite_reader.rb", sameRelated},
	{"alternateIdentifiers.alternateIdentifierType rightsList.rightsIdentifier",
		"have the case of a list, or lower case", "bolognese datacite_reader.rb, utils.rb (hsh_to_spdx)", sameFolded},
	{"alternateIdentifiers", "DOIs and empty ones are dropped",
		"lupo doi.rb (update_identifiers), bolognese datacite_reader.rb", isNoAlternate},
	{"rightsList.rights rightsList.rightsUri rightsList.rightsIdentifier rightsList.rightsIdentifierScheme " +
		"rightsList.schemeUri",
		"the details of a known licence come from a list", "bolognese utils.rb (hsh_to_spdx)", sameLicence},
	{"rightsList.schemeUri", "is ignored in XML", "bolognese datacite_reader.rb", isLost},
	{"geoLocationPoint.* geoLocationBox.* polygonPoint.* inPolygonPoint.*",
		"coordinates become numbers; a whole number loses its " +
			"exponent", "lupo doi.rb (update_geo_locations)", sameCoordinate},
	{"geoLocationPolygon", "several in one place are dropped", "bolognese datacite_reader.rb", isOneOfSeveral},
}

// filled are the members that the service fills in. No other value may be found that is not
// wanted.
var filled = []string{
	"doi", "nameType", "name", "givenName", "familyName", "schemeUri",
	"rights", "rightsUri", "rightsIdentifier", "rightsIdentifierScheme",
}

// allowanceOf has the allowances by the last two names of a path.
var allowanceOf = sync.OnceValue(func() map[[2]string][]allowance {
	all := map[[2]string][]allowance{}
	for _, a := range allowances {
		if a.same == nil {
			continue
		}
		for path := range strings.FieldsSeq(a.paths) {
			names := append([]string{"", ""}, strings.Split(path, ".")...)
			key := [2]string(names[len(names)-2:])
			all[key] = append(all[key], allowance{path, a.what, a.evidence, a.same})
		}
	}
	return all
})

// covers compares the third name from the end of a path, if the allowance has one.
func (a *allowance) covers(at *path) bool {
	if strings.Count(a.paths, ".") < 2 {
		return true
	}
	return strings.HasSuffix(inLists().ReplaceAllString(at.String(), ""), a.paths)
}

var inLists = lazy.Regexp(`\[\d+\]`)

func squish(text string) string { return strings.Join(strings.Fields(text), " ") }

// bare is a text without what the service removes from every text.
func bare(text string) string {
	return strings.TrimSpace(xmlscan.Newlines(strings.ReplaceAll(text, "\ufeff", "")))
}

func sameTrimmed(p pair) bool {
	w, f := p.texts()
	return bare(w) == bare(f)
}

func sameOwnDOI(p pair) bool {
	w, f := p.texts()
	return w == "" || strings.EqualFold(doiRule.bare(bare(w)), doiRule.bare(bare(f)))
}

func sameSquished(p pair) bool {
	w, f := p.texts()
	return squish(bare(w)) == squish(bare(f))
}

func sameFolded(p pair) bool {
	w, f := p.texts()
	return strings.EqualFold(bare(w), bare(f))
}

// said is a text as the service shows it, with references resolved and white space as one
// blank.
func said(text string) string {
	kept, _ := served(bare(text))
	return squish(plain(kept))
}

// saidOfJSON is the same for a text that came as JSON, of which U+FEFF is not removed
// before it is read as HTML: it may part a "<" from what would be a tag.
func saidOfJSON(text string) string {
	kept, _ := served(text)
	return squish(bare(plain(kept)))
}

// sameMarkup is false where the found text is more escaped than the wanted one: it was
// written back as the service showed it.
func sameMarkup(p pair) bool {
	w, f := p.texts()
	return (p.same("said", said) || p.same("said of JSON", saidOfJSON)) && !isMoreEscaped(f, w)
}

// isMoreEscaped compares the numbers of references.
func isMoreEscaped(a, b string) bool {
	return len(references().FindAllString(a, -1)) > len(references().FindAllString(b, -1))
}

func sameDescription(p pair) bool {
	w, f := p.texts()
	same := p.same("description", describedAs) || p.same("said of JSON", saidOfJSON) ||
		strings.Contains(w, "\n") && describedAs(strings.ReplaceAll(bare(w), "\n", "")) == p.records.form("description", f,
			describedAs)
	return same && !isMoreEscaped(f, w)
}

// describedAs is a description as the service shows it.
func describedAs(text string) string {
	kept, _ := served(bare(text))
	return squish(strings.ReplaceAll(plain(kept), "\n", ""))
}

func isRepeated(p pair) bool { return p.wanted != nil && p.records.subjects()[said(p.wanted.String())] }

// subjects are the texts of the found subjects.
func (d *comparing) subjects() map[string]bool {
	if d.said == nil {
		d.said = map[string]bool{}
		for _, f := range d.found.of("subjects").inside {
			d.said[said(f.String())] = true
		}
	}
	return d.said
}

func isDateOfService(p pair) bool {
	if p.wanted != nil {
		return dateFault(squish(p.wanted.get("date"))) != ""
	}
	return p.found.get("dateType") == string(DateIssued) &&
		bare(p.found.get("date")) == p.records.found.get("publicationYear")
}

func isLost(p pair) bool { return p.found.get(p.member) == "" }

// isPerson reports whether the service could take a name without type for that of a person.
func isPerson(p pair) bool {
	w, f := p.texts()
	if w != "" || f != string(NamePersonal) || p.wanted.get("familyName") != "" {
		return false
	}
	hasORCID := slices.ContainsFunc(p.wanted.of("nameIdentifiers").inside, func(id value) bool {
		return agentScheme(&id) == "orcid"
	})
	return hasORCID || strings.Contains(p.wanted.get("name"), ",") ||
		p.found.get("familyName")+p.found.get("givenName") != ""
}

// sameName ignores references, the comma before initials, and blanks around hyphens. The
// service may also compose a name of its parts, or split it into them.
func sameName(p pair) bool {
	w, f := p.texts()
	tidy := func(name string) string { return p.records.form("tidy", name, tidyName) }
	plain := p.records.form("unescaped", w, unescapedXML)
	family, given := p.wanted.get("familyName"), p.wanted.get("givenName")
	if bare(family) != "" && bare(given) != "" && either(family+", "+given, f, tidy) {
		return true
	}
	return tidy(w) == tidy(f) || tidy(plain) == tidy(f) || isSplit(p, tidy(plain))
}

// either reports whether texts are the same in a form, with or without references resolved.
func either(w, f string, form func(string) string) bool {
	return form(w) == form(f) || form(unescapedXML(w)) == form(f)
}

func sameUnescaped(p pair) bool {
	w, f := p.texts()
	return either(w, f, bare)
}

var initials = lazy.Regexp(`\s((?:[A-Z]\.)?-?[A-Z]\.)$`)

func tidyName(name string) string {
	if !strings.Contains(name, ",") {
		name = initials().ReplaceAllString(name, ", $1")
	}
	return squish(strings.ReplaceAll(bare(name), " - ", "-"))
}

// isSplit reports whether found has the parts of a name: those around its first comma, or
// without a comma the given name and then the family name.
func isSplit(p pair, name string) bool {
	family, given := p.found.get("familyName"), p.found.get("givenName")
	switch {
	case p.found.get("nameType") != string(NamePersonal), p.wanted.get("nameType") == string(NameOrganizational),
		p.wanted.get("familyName") != "", p.found.get("name") != family+", "+given:
		return false
	}
	if before, after, ok := strings.Cut(name, ","); ok {
		return nameWords(before) == nameWords(family) && nameWords(after) == nameWords(given)
	}
	return nameWords(name) == nameWords(given+" "+family)
}

// nameWords are the words of a name without titles such as Dr, which the service leaves out.
func nameWords(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return strings.Join(slices.DeleteFunc(words, notInName().MatchString), " ")
}

var notInName = lazy.Regexp(`^(?:(?:JR|Jr|jr|SR|Sr|sr|[IVX]{2,})\.?|(?i:(?:dr|prof|mrs?|ms|herr|frau|miss|sir)\.?))$`)

// sameParts allows parts that are derived from the name, and a given name without a family
// name that is dropped.
func sameParts(p pair) bool {
	family, given := p.found.get("familyName"), p.found.get("givenName")
	switch {
	case sameUnescaped(p):
		return true
	case bare(p.wanted.get("familyName")) != "":
		return false
	case family == "" && given == "":
		return true
	}
	return isSplit(p, tidyName(unescapedXML(p.wanted.get("name"))))
}

// agentScheme is the scheme of the identifier of a person or organization.
func agentScheme(v *value) string {
	return fold(cmp.Or(v.get("nameIdentifierScheme"), v.get("affiliationIdentifierScheme"),
		v.get("publisherIdentifierScheme"), v.get("funderIdentifierType")))
}

func sameAgent(p pair) bool {
	w, f := p.texts()
	s, known := agentSchemes[agentScheme(p.wanted)]
	switch w, f = bare(w), bare(f); {
	case known && f == "":
		form := keptForms[agentScheme(p.wanted)]
		return form != nil && !form().MatchString(w)
	case known && strings.EqualFold(agentDigits(s, w), agentDigits(s, f)):
		return true
	}
	lead := strings.TrimSuffix(p.wanted.get("schemeUri"), "/") + "/"
	return sameAddress(w, f) || sameAddress(lead+w, f) || sameAddress("https://doi.org/"+doiRule.bare(w), f)
}

// keptForms are the forms of identifiers that the service does not drop.
var keptForms = map[string]lazy.Pattern{
	"orcid":            lazy.Regexp(`^(?:https?://(?:(?:www|sandbox)?\.)?orcid\.org/)?(?:\d{4}[\s-]){3}\d{3}[0-9X]+/?$`),
	"ror":              lazy.Regexp(`(?m)^(?:(?:https?://)?ror\.org/)?0\w{6}\d{2}/?$`),
	"crossreffunderid": lazy.Regexp(`^(?:https?://?(?:dx\.)?doi.org/)?(?:doi:)?(?:10\.13039/)?[1-9]\d+$`),
}

// agentDigits is an identifier without its address and the prefix of Crossref funders.
func agentDigits(s schemeRule, id string) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSuffix(s.bare(id), "/"), "10.13039/")), "-")
}

// sameAddress ignores the case of the host, a slash at the end, and the fragment.
func sameAddress(a, b string) bool { return addressOf(a) == addressOf(b) }

func addressOf(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	rest, _, _ = strings.Cut(rest, "#")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = squish(plain)
	}
	end := strings.IndexAny(rest+"/", "/?")
	return scheme + "://" + strings.ToLower(rest[:end]) + strings.TrimSuffix(rest[end:], "/")
}

func isOwnScheme(p pair) bool {
	own := map[string]string{"orcid": orcidURI, "ror": rorURI}[agentScheme(p.wanted)]
	w, f := p.texts()
	return own != "" && (f == own || f == "" && bare(w) == own)
}

func sameRelated(p pair) bool {
	w, f := p.texts()
	if p.wanted.get(p.member+"Type") != string(IdentifierDOI) {
		return false
	}
	w, f = doiRule.bare(bare(w)), doiRule.bare(bare(f))
	return strings.EqualFold(w, f) || f == "" && !doiPattern().MatchString(w)
}

func isNoAlternate(p pair) bool {
	return p.wanted != nil && (bare(p.wanted.get("alternateIdentifier")) == "" ||
		strings.EqualFold(p.wanted.get("alternateIdentifierType"), string(IdentifierDOI)))
}

// sameLicence reports whether found is the licence of the list that wanted has the
// identifier, name or address of.
func sameLicence(p pair) bool {
	w, f := p.wanted, p.found
	if f.get("rightsIdentifierScheme") != "SPDX" || f.get("schemeUri") != spdxURI || f.get("rightsIdentifier") == "" {
		return false
	}
	address, name := f.get("rightsUri"), bare(w.get("rights"))
	return licenceTwin(bare(w.get("rightsIdentifier"))) == licenceTwin(f.get("rightsIdentifier")) ||
		name != "" && name == f.get("rights") ||
		address != "" && (licenceAddress(bare(w.get("rightsUri"))) == licenceAddress(address) ||
			licenceAddress(name) == licenceAddress(address))
}

// licenceTwin is the older identifier of a licence that has two. The service uses the
// first one of the same name.
func licenceTwin(id string) string {
	id = strings.TrimSuffix(strings.ToLower(id), "-only")
	if older, ok := strings.CutSuffix(id, "-or-later"); ok {
		return older + "+"
	}
	return id
}

// licenceAddress is an address without the parts in which those of one licence differ.
func licenceAddress(text string) string {
	if _, rest, ok := strings.Cut(addressOf(text), "://"); ok {
		text = rest
	}
	return strings.TrimSuffix(text, "/legalcode")
}

func sameCoordinate(p pair) bool {
	w, f := p.texts()
	whole, _, _ := strings.Cut(strings.ToLower(w), "e")
	return sameNumber(w, f) || !strings.Contains(w, ".") && sameNumber(whole, f)
}

func sameNumber(a, b string) bool {
	x, errX := Coordinate(a).Degrees()
	y, errY := Coordinate(b).Degrees()
	return errX == nil && errY == nil && x == y
}

func isOneOfSeveral(p pair) bool { return p.wanted != nil && p.wanted.inside[0].kind == listOf }
