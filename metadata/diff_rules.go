package metadata

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
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
	{"schemaVersion types.schemaOrg types.citeproc types.bibtex types.ris",
		"are the service's own", "lupo doi.rb (update_types), params_sanitizer.rb (add_schema_version)", nil},
	{"identifiers", "are alternateIdentifiers", "lupo datacite_doi_serializer.rb", nil},
	{"nameIdentifiers.extra affiliation.extra descriptions.breaks", "are in XML alone", "bolognese datacite_reader.rb, author_utils.rb", nil},
	{"*", "white space around a text and U+FEFF are taken away",
		"lupo params_sanitizer.rb (cleanse), bolognese datacite_reader.rb", sameTrimmed},
	{"doi", "the case of a DOI is the service's, and the path of a request may name it", "lupo doi.rb (doi=)", sameOwnDOI},
	{"titles.title subjects.subject sizes.* formats.*",
		"white space is one blank, and markup but a few tags is taken away", "bolognese utils.rb (sanitize)", sameMarkup},
	{"descriptions.description", "as titles, and line feeds that are elements are taken away", "bolognese datacite_reader.rb", sameDescription},
	{"dates.date affiliation.name", "white space is one blank", "bolognese datacite_reader.rb, author_utils.rb", sameSquished},
	{"subjects", "are kept once", "lupo doi.rb (update_field_of_science)", isRepeated},
	{"dates", "the year makes one, and texts that are no dates are dropped", "bolognese datacite_reader.rb", isDateOfService},
	{"language", "is two letters where there are such", "lupo doi.rb (update_language)", sameLanguage},
	{"creators.lang contributors.lang", "is in XML alone", "bolognese author_utils.rb", isLost},
	{"relatedItems.titles.lang", "is not taken from JSON", "lupo params_sanitizer.rb", isLost},
	{"creators.nameType contributors.nameType", "is told from the name", "bolognese author_utils.rb", isPerson},
	{"creators.name contributors.name", "is put together from its parts, or written Family, Given", "bolognese author_utils.rb", sameName},
	{"creators.givenName creators.familyName contributors.givenName contributors.familyName",
		"are told from the name where no family name is given", "bolognese author_utils.rb", sameParts},
	{"nameIdentifiers.nameIdentifier affiliation.affiliationIdentifier publisher.publisherIdentifier fundingReferences.funderIdentifier",
		"is an address, with that of its scheme before it; what is no ORCID, ROR or Crossref Funder ID is dropped",
		"bolognese author_utils.rb, datacite_reader.rb", sameAgent},
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
func bare(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\ufeff", "")) }

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

// said is a text without markup that the service takes out, and without the
// references that it makes of single characters.
func said(text string) string { return squish(unmarked(bare(text))) }

func unmarked(text string) string {
	var out strings.Builder
	at := 0
	for _, m := range markup.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(html.UnescapeString(text[at:m[0]]))
		if at = m[1]; m[2] >= 0 && slices.Contains(keptTags, strings.ToLower(text[m[2]:m[3]])) {
			out.WriteString("<" + strings.Trim(text[m[0]+1:m[3]], " ") + ">") // <br/> is <br>
		}
	}
	out.WriteString(html.UnescapeString(text[at:]))
	return out.String()
}

var markup = regexp.MustCompile(`<!--.*?-->|</?([A-Za-z][A-Za-z0-9]*)[^>]*>`) // a tag ends at the next ">", as in HTML

func sameMarkup(p pair) bool {
	w, f := p.texts()
	return said(w) == said(f)
}

func sameDescription(p pair) bool {
	w, f := p.texts()
	after := func(text string) string { return squish(oneLine.Replace(unmarked(bare(text)))) }
	return after(w) == after(f) || said(oneLine.Replace(w)) == said(oneLine.Replace(f))
}

var oneLine = strings.NewReplacer("\n", "", "\r", "")

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

// sameLanguage lets any two letters stand for what has none, a name or a code of
// three: the list of the service is not here.
func sameLanguage(p pair) bool {
	w, f := p.texts()
	primary, _, _ := strings.Cut(bare(w), "-")
	return strings.EqualFold(primary, f) || len(primary) != 2 && len(f) == 2 || f == "" && languageRule(nil, bare(w)) != nil
}

func isLost(p pair) bool { return p.found.get(p.member) == "" }

func isPerson(p pair) bool {
	w, f := p.texts()
	return w == "" && f == string(NamePersonal)
}

func sameName(p pair) bool {
	w, f := p.texts()
	if family, given := bare(p.wanted.get("familyName")), bare(p.wanted.get("givenName")); family != "" && given != "" {
		w = family + ", " + given
	}
	return nameWords(w) == nameWords(f)
}

// nameWords are the words of a name in any order, without particles such as "von",
// and without what comes after a second comma: of names in one text the service
// keeps no more.
func nameWords(name string) string {
	name = strings.ReplaceAll(name, " - ", "-")
	if parts := strings.SplitN(name, ",", 3); len(parts) == 3 {
		name = parts[0] + " " + parts[1]
	}
	words := strings.FieldsFunc(bare(name), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	particle := func(word string) bool { return unicode.IsLower([]rune(word)[0]) }
	slices.Sort(words)
	if slices.ContainsFunc(words, func(word string) bool { return !particle(word) }) {
		words = slices.DeleteFunc(words, particle)
	}
	return strings.Join(words, " ")
}

// sameParts lets parts be told from the name, and a given name alone be dropped.
func sameParts(p pair) bool {
	family, given := p.found.get("familyName"), p.found.get("givenName")
	together := p.found.get("name") == family+", "+given
	return bare(p.wanted.get("familyName")) == "" && (family == "" && given == "" || together)
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
		return s.fault(w) != ""
	case known && strings.EqualFold(agentDigits(s, w), agentDigits(s, f)):
		return true
	}
	lead := strings.TrimSuffix(p.wanted.get("schemeUri"), "/") + "/"
	return sameAddress(w, f) || sameAddress(lead+w, f) || sameAddress("https://doi.org/"+doiRule.bare(w), f)
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
	return strings.EqualFold(bare(w.get("rightsIdentifier")), f.get("rightsIdentifier")) || name != "" && name == f.get("rights") ||
		address != "" && (licenceAddress(bare(w.get("rightsUri"))) == licenceAddress(address) || licenceAddress(name) == licenceAddress(address))
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
