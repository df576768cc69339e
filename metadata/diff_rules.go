package metadata

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// An allowance is what the deployed service makes of a record, so that it is no
// difference. Without same, nothing of it is compared.
type allowance struct {
	paths    string // as they end, without the places in lists; * is any
	what     string
	evidence string
	same     func(pair) bool
}

// A pair is two objects whose member differs. Where a path names a list, it is an
// item without a fellow: one of the two is nil.
type pair struct {
	member        string
	wanted, found *value
	differ        *differ // of the whole records
}

func (p pair) texts() (wanted, found string) { return p.wanted.get(p.member), p.found.get(p.member) }

// allowances are read from the source of the deployed service: "lupo" is
// https://github.com/datacite/lupo at 05afac4, "bolognese" is
// https://github.com/datacite/bolognese at 02e99bb.
var allowances = []allowance{
	{"relatedItems.creators.nameIdentifiers relatedItems.creators.affiliation relatedItems.contributors.nameIdentifiers relatedItems.contributors.affiliation",
		"are not in the schema, and not taken from JSON", "lupo params_sanitizer.rb", nil},
	{"schemaVersion types.schemaOrg types.citeproc types.bibtex types.ris",
		"are the service's own", "lupo doi.rb (update_types), params_sanitizer.rb (add_schema_version)", nil},
	{"identifiers", "are alternateIdentifiers", "lupo datacite_doi_serializer.rb", nil},
	{"nameIdentifiers.extra affiliation.extra descriptions.breaks", "are in XML alone", "bolognese datacite_reader.rb, author_utils.rb", nil},
	{"*", "white space around a text and U+FEFF are taken away, and CR is LF",
		"lupo params_sanitizer.rb (cleanse), bolognese datacite_reader.rb", sameTrimmed},
	{"doi", "the case of a DOI is the service's, and the path of a request may name it", "lupo doi.rb (doi=)", sameOwnDOI},
	{"titles.title subjects.subject sizes.* formats.*",
		"white space is one blank; as HTML it loses comments, most tags, and what is not closed, and gets end tags",
		"bolognese utils.rb (sanitize), whitelist_scrubber.rb", sameMarkup},
	{"descriptions.description", "as titles, and line feeds that are elements are taken away", "bolognese datacite_reader.rb", sameDescription},
	{"dates.date affiliation.name", "white space is one blank", "bolognese datacite_reader.rb, author_utils.rb", sameSquished},
	{"subjects", "are kept once", "lupo doi.rb (update_field_of_science)", isRepeated},
	{"dates", "the year makes one, and texts that are no dates are dropped", "bolognese datacite_reader.rb", isDateOfService},
	{"language", "is two letters where there are such", "lupo doi.rb (update_language)", sameLanguage},
	{"creators.lang contributors.lang", "is in XML alone", "bolognese author_utils.rb", isLost},
	{"relatedItems.titles.lang", "is not taken from JSON", "lupo params_sanitizer.rb", isLost},
	{"relatedItems.relationTypeInformation", "is kept elsewhere, or not at all, from XML", "bolognese datacite_reader.rb (read_datacite)", isLost},
	{"relatedItems.volume relatedItems.issue relatedItems.firstPage relatedItems.lastPage relatedItems.publisher relatedItems.edition " +
		"geoLocations.geoLocationPlace fundingReferences.awardNumber",
		"&amp; and the like are what they stand for", "bolognese utils.rb (parse_attributes)", sameUnescaped},
	{"creators.nameType contributors.nameType", "is told from the name", "bolognese author_utils.rb", isPerson},
	{"creators.name contributors.name", "is put together from its parts; of a person it is split into them; &amp; is &",
		"bolognese author_utils.rb, utils.rb (parse_attributes)", sameName},
	{"creators.givenName creators.familyName contributors.givenName contributors.familyName",
		"are told from the name of a person where no family name is given; &amp; is &", "bolognese author_utils.rb, utils.rb (parse_attributes)", sameParts},
	{"nameIdentifiers.nameIdentifier affiliation.affiliationIdentifier publisher.publisherIdentifier fundingReferences.funderIdentifier",
		"is an address, with that of its scheme before it and odd characters as escapes; what is no ORCID, ROR or Crossref Funder ID is dropped",
		"bolognese author_utils.rb, datacite_reader.rb, utils.rb (normalize_id), doi_utils.rb", sameAgent},
	{"nameIdentifiers.schemeUri affiliation.schemeUri fundingReferences.schemeUri",
		"of ORCID and ROR is the service's", "bolognese author_utils.rb, datacite_reader.rb", isOwnScheme},
	{"relatedIdentifiers.relatedIdentifier relatedItemIdentifier.relatedItemIdentifier",
		"a DOI is bare and in lower case; anything else in its place is dropped", "bolognese datacite_reader.rb", sameRelated},
	{"alternateIdentifiers.alternateIdentifierType rightsList.rightsIdentifier",
		"have the case of a list, or the lower one", "bolognese datacite_reader.rb, utils.rb (hsh_to_spdx)", sameFolded},
	{"alternateIdentifiers", "DOIs and empty ones are dropped",
		"lupo doi.rb (update_identifiers), bolognese datacite_reader.rb", isNoAlternate},
	{"rightsList.rights rightsList.rightsUri rightsList.rightsIdentifier rightsList.rightsIdentifierScheme rightsList.schemeUri",
		"all of a licence is from a list", "bolognese utils.rb (hsh_to_spdx)", sameLicence},
	{"rightsList.schemeUri", "is not taken from XML", "bolognese datacite_reader.rb", isLost},
	{"geoLocationPoint.* geoLocationBox.* polygonPoint.* inPolygonPoint.*",
		"coordinates are numbers; a whole one ends before its exponent", "lupo doi.rb (update_geo_locations)", sameCoordinate},
	{"geoLocationPolygon", "several in one place are dropped", "bolognese datacite_reader.rb", isOneOfSeveral},
}

// filled are the members that the service fills where nothing is wanted. Nothing else
// that was found without being wanted is allowed.
var filled = []string{
	"doi", "nameType", "name", "givenName", "familyName", "schemeUri",
	"rights", "rightsUri", "rightsIdentifier", "rightsIdentifierScheme",
}

// allowanceOf has the allowances by the last two names of their paths.
var allowanceOf = func() map[[2]string][]allowance {
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
}()

// covers tells whether a path of three names, which was found by the last two, is that
// of a place.
func (a *allowance) covers(at *path) bool {
	if strings.Count(a.paths, ".") < 2 {
		return true
	}
	return strings.HasSuffix(inLists.ReplaceAllString(at.String(), ""), a.paths)
}

var inLists = regexp.MustCompile(`\[\d+\]`)

func squish(text string) string { return strings.Join(strings.Fields(text), " ") }

// bare is a text without what the service takes away around and in it.
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

// said is a text as the service shows it, with white space as one blank.
func said(text string) string {
	kept, _ := shown(bare(text))
	return squish(kept)
}

func sameMarkup(p pair) bool {
	w, f := p.texts()
	return said(w) == said(f)
}

func sameDescription(p pair) bool {
	w, f := p.texts()
	after := func(text string) string {
		kept, _ := shown(bare(text))
		return squish(strings.ReplaceAll(kept, "\n", ""))
	}
	return after(w) == after(f) || after(strings.ReplaceAll(bare(w), "\n", "")) == after(f)
}

func isRepeated(p pair) bool { return p.wanted != nil && p.differ.subjects()[said(p.wanted.String())] }

// subjects are what the found ones say.
func (d *differ) subjects() map[string]bool {
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
	return p.found.get("dateType") == string(DateIssued) && p.found.get("date") == p.differ.found.get("publicationYear")
}

func isLost(p pair) bool { return p.found.get(p.member) == "" }

// isPerson tells whether the service could make a person of a name without type.
func isPerson(p pair) bool {
	w, f := p.texts()
	if w != "" || f != string(NamePersonal) || p.wanted.get("familyName") != "" {
		return false
	}
	hasORCID := slices.ContainsFunc(p.wanted.of("nameIdentifiers").inside, func(id value) bool { return agentScheme(&id) == "orcid" })
	return hasORCID || strings.Contains(p.wanted.get("name"), ",") || p.found.get("familyName")+p.found.get("givenName") != ""
}

// sameName compares names in one text as they are, but for references, for the comma
// before initials, and for blanks around hyphens. That of a person may be put together
// from its parts, or split into them.
func sameName(p pair) bool {
	w, f := p.texts()
	family, given := p.wanted.get("familyName"), p.wanted.get("givenName")
	if bare(family) != "" && bare(given) != "" && either(family+", "+given, f, tidyName) {
		return true
	}
	return either(w, f, tidyName) || isSplit(p, tidyName(unescapedXML(w)))
}

// either tells whether texts are the same in a form, or would be if the service had
// taken references for what they stand for.
func either(w, f string, form func(string) string) bool {
	return form(w) == form(f) || form(unescapedXML(w)) == form(f)
}

func sameUnescaped(p pair) bool {
	w, f := p.texts()
	return either(w, f, bare)
}

var initials = regexp.MustCompile(`\s((?:[A-Z]\.)?-?[A-Z]\.)$`)

func tidyName(name string) string {
	if !strings.Contains(name, ",") {
		name = initials.ReplaceAllString(name, ", $1")
	}
	return squish(strings.ReplaceAll(bare(name), " - ", "-"))
}

// isSplit tells whether found has the parts of a name without parts: what is before
// and after its first comma, or else the given name and then that of the family.
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

// nameWords are the words of a name, but for those of which the service makes no part.
func nameWords(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return strings.Join(slices.DeleteFunc(words, notInName.MatchString), " ")
}

var notInName = regexp.MustCompile(`^(?:(?:JR|Jr|jr|SR|Sr|sr|[IVX]{2,})\.?|(?i:(?:dr|prof|mrs?|ms|herr|frau|miss|sir)\.?))$`)

// sameParts lets parts be told from a name without a family, and a given name alone be
// dropped.
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

// agentScheme is the scheme of an identifier, which is a member beside it.
func agentScheme(v *value) string {
	return fold(cmp.Or(v.get("nameIdentifierScheme"), v.get("affiliationIdentifierScheme"), v.get("publisherIdentifierScheme"), v.get("funderIdentifierType")))
}

func sameAgent(p pair) bool {
	w, f := p.texts()
	s, known := agentSchemes[agentScheme(p.wanted)]
	switch w, f = bare(w), bare(f); {
	case known && f == "":
		form := keptForms[agentScheme(p.wanted)]
		return form != nil && !form.MatchString(w)
	case known && strings.EqualFold(agentDigits(s, w), agentDigits(s, f)):
		return true
	}
	lead := strings.TrimSuffix(p.wanted.get("schemeUri"), "/") + "/"
	return sameAddress(w, f) || sameAddress(lead+w, f) || sameAddress("https://doi.org/"+doiRule.bare(w), f)
}

// keptForms are the forms of which the service keeps an identifier of a scheme.
var keptForms = map[string]*regexp.Regexp{
	"orcid":            regexp.MustCompile(`^(?:https?://(?:(?:www|sandbox)?\.)?orcid\.org/)?(?:\d{4}[\s-]){3}\d{3}[0-9X]+/?$`),
	"ror":              regexp.MustCompile(`(?m)^(?:(?:https?://)?ror\.org/)?0\w{6}\d{2}/?$`),
	"crossreffunderid": regexp.MustCompile(`^(?:https?://?(?:dx\.)?doi.org/)?(?:doi:)?(?:10\.13039/)?[1-9]\d+$`),
}

// agentDigits is an identifier without address, and without the prefix that all
// Crossref funders have.
func agentDigits(s schemeRule, id string) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSuffix(s.bare(id), "/"), "10.13039/")), "-")
}

// sameAddress compares addresses but for the case of the host, a slash at the end
// and the fragment.
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
	return own != "" && p.found.get("schemeUri") == own
}

func sameRelated(p pair) bool {
	w, f := p.texts()
	if p.wanted.get(p.member+"Type") != string(IdentifierDOI) {
		return false
	}
	w, f = doiRule.bare(bare(w)), doiRule.bare(bare(f))
	return strings.EqualFold(w, f) || f == "" && !doiPattern.MatchString(w)
}

func isNoAlternate(p pair) bool {
	return p.wanted != nil && (bare(p.wanted.get("alternateIdentifier")) == "" ||
		strings.EqualFold(p.wanted.get("alternateIdentifierType"), string(IdentifierDOI)))
}

// sameLicence tells whether found is a licence of the list that wanted names by its
// identifier, name or address: then all of it is the list's.
func sameLicence(p pair) bool {
	w, f := p.wanted, p.found
	if f.get("rightsIdentifierScheme") != "SPDX" || f.get("schemeUri") != spdxURI {
		return false
	}
	address, name := f.get("rightsUri"), bare(w.get("rights"))
	return licenceTwin(bare(w.get("rightsIdentifier"))) == licenceTwin(f.get("rightsIdentifier")) || name != "" && name == f.get("rights") ||
		address != "" && (licenceAddress(bare(w.get("rightsUri"))) == licenceAddress(address) || licenceAddress(name) == licenceAddress(address))
}

// licenceTwin is the older identifier of a licence that has two of one name: the service
// takes the first of that name.
func licenceTwin(id string) string {
	id = strings.TrimSuffix(strings.ToLower(id), "-only")
	if older, ok := strings.CutSuffix(id, "-or-later"); ok {
		return older + "+"
	}
	return id
}

// licenceAddress is an address without what those of one licence differ in.
func licenceAddress(text string) string {
	_, rest, ok := strings.Cut(addressOf(text), "://")
	if !ok {
		return text
	}
	return strings.TrimSuffix(rest, "/legalcode")
}

func sameCoordinate(p pair) bool {
	w, f := p.texts()
	return sameNumber(w, f) || !strings.Contains(w, ".") && sameNumber(strings.SplitN(strings.ToLower(w), "e", 2)[0], f)
}

func sameNumber(a, b string) bool {
	x, errX := Coordinate(a).Degrees()
	y, errY := Coordinate(b).Degrees()
	return errX == nil && errY == nil && x == y
}

func isOneOfSeveral(p pair) bool { return p.wanted != nil && p.wanted.inside[0].kind == listOf }
