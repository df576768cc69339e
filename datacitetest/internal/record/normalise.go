package record

import (
	_ "embed"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// How the deployed service reads DataCite XML, and normalises some members of any
// record when it stores them.

// readKernel is the record in a document, as the service reads it:
// bolognese lib/bolognese/readers/datacite_reader.rb. Members that the document
// lacks are absent, but lists are there, empty.
func readKernel(doc *Document) (o object, err error) {
	if written := string(doc.bytes()); contentTags().Replace(written) != written {
		if doc, err = parseXML([]byte(contentTags().Replace(written))); err != nil { // some markup has been escaped
			return nil, wire.BrokenXML.Refusal(err.Error())
		}
	}
	o = object{}
	for place := range doc.Root.child("geoLocations").each("geoLocation") {
		for _, name := range single {
			if len(slices.Collect(place.each(name))) > 1 {
				return nil, errSeveral
			}
		}
	}
	if doc.Root.name.local == "resource" {
		o = membersOf(doc.Root, false)
	}
	for name, item := range readers {
		kept := []any{}
		for _, v := range listed(o[name]) {
			if v = item(v); v != nil {
				kept = append(kept, v)
			}
		}
		o[name] = kept
	}
	if year := doc.Root.child("publicationYear").words(); year != "" {
		o["publicationYear"] = strings.TrimSpace(year)
		if !slices.ContainsFunc(o["dates"].([]any), func(d any) bool { return Member(d, "dateType") == "Issued" }) {
			o["dates"] = append(o["dates"].([]any), object{"date": year, "dateType": "Issued"})
		}
	}
	if p, ok := o["publisher"].(object); ok {
		p["name"] = stripped(p["name"])
		if p["publisherIdentifierScheme"] == "ROR" {
			p["publisherIdentifier"] = rorAddress(wire.String(p["publisherIdentifier"]))
		}
	}
	if types, ok := o["types"].(object); ok {
		o["types"] = typesOf(types)
	}
	o["language"] = stripped(o["language"])
	o["schemaVersion"] = doc.namespace()
	compact(o)
	return o, nil
}

// single are elements of a place of which the service takes one. Several, or a list in JSON, break it.
var single = []string{"geoLocationPoint", "geoLocationBox"}

var errSeveral = wire.Crashed("no implicit conversion of String into Integer")

// stripped is a text without ASCII white space and NUL around it, null if it is empty.
func stripped(v any) any { return orNull(strings.Trim(wire.String(v), "\x00\t\n\v\f\r ")) }

// compact removes null members, also from objects in v.
func compact(v any) any {
	switch v := v.(type) {
	case object:
		for name, inside := range v {
			if compact(inside) == nil {
				delete(v, name)
			}
		}
	case []any:
		for _, inside := range v {
			compact(inside)
		}
	}
	return v
}

// readers convert the items of a list; nil drops an item.
var readers = map[string]func(any) any{
	"creators": readPerson, "contributors": readPerson,
	"titles":             readText("title"),
	"subjects":           readText("subject"),
	"descriptions":       readDescription,
	"dates":              readDate,
	"sizes":              squished,
	"formats":            squished,
	"rightsList":         readRights,
	"identifiers":        readIdentifier,
	"relatedIdentifiers": readRelated("relatedIdentifier"),
	"relatedItems":       readRelatedItem,
	"fundingReferences":  readFunding,
	"geoLocations":       readPlace,
}

func readText(name string) func(any) any {
	return func(v any) any {
		o := v.(object)
		if len(o) == 0 {
			return nil
		}
		if text, ok := o[name].(string); ok {
			o[name] = squish(sanitised(text))
		}
		return o
	}
}

func readDescription(v any) any {
	o := v.(object)
	if text, ok := o["description"].(string); ok {
		text, _ = stripped(severalBlanks().ReplaceAllString(sanitised(text), " ")).(string)
		o["description"] = text
	}
	return o
}

var severalBlanks = lazy.Regexp(`[ \t]+`)

func squish(text string) string { return strings.Join(strings.Fields(text), " ") }

func squished(v any) any { return orNull(squish(sanitised(textOf(v)))) }

var htmlTag = lazy.Regexp(`(?s)<!--(?:.*?-->|.*)|<\?(?:[^>]*>)?|<(/?)([a-zA-Z][\w:.-]*)[^>]*>?|</`)

// sanitised is a text as HTML that keeps a few tags, each of them closed. An unterminated
// comment or tag extends to the end of the text.
func sanitised(text string) string {
	if !strings.ContainsAny(text, "<>&") {
		return text
	}
	var out strings.Builder
	var open []string
	closeFrom := func(from int) {
		for _, name := range slices.Backward(open[from:]) {
			out.WriteString("</" + name + ">")
		}
		open = open[:from]
	}
	at := 0
	escape := func(to int) { out.WriteString(htmlEscapes.Replace(html.UnescapeString(text[at:to]))) }
	for _, m := range htmlTag().FindAllStringSubmatchIndex(text, -1) {
		escape(m[0])
		tag, name := text[m[0]:m[1]], ""
		if at = m[1]; m[4] >= 0 {
			name = strings.ToLower(text[m[4]:m[5]])
		}
		switch {
		case !slices.Contains(keptTags, name):
		case m[2] == m[3]:
			out.WriteString(strings.TrimRight(tag, "/> ") + ">")
			if open = append(open, name); name == "br" {
				open = open[:len(open)-1]
			} else if strings.HasSuffix(tag, "/>") {
				closeFrom(len(open) - 1)
			}
		case slices.Contains(open, name):
			last := len(open) - 1
			for open[last] != name {
				last--
			}
			closeFrom(last)
		}
	}
	escape(len(text))
	closeFrom(0)
	return out.String()
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

var keptTags = []string{"strong", "em", "b", "i", "code", "pre", "sub", "sup", "br"}

// readPerson keeps names as they are written.
func readPerson(v any) any {
	o := v.(object)
	delete(o, "lang")
	for _, id := range listed(o["nameIdentifiers"]) {
		readNameIdentifier(id.(object))
	}
	for _, a := range listed(o["affiliation"]) {
		readAffiliation(a.(object))
	}
	maps.DeleteFunc(o, func(_ string, v any) bool { list, ok := v.([]any); return ok && len(list) == 0 })
	return o
}

func readNameIdentifier(o object) {
	o["nameIdentifier"] = stripped(o["nameIdentifier"])
	id := wire.String(o["nameIdentifier"])
	switch o["nameIdentifierScheme"] {
	case "ORCID":
		o["nameIdentifier"], o["schemeUri"] = orcidAddress(id), "https://orcid.org"
	case "ROR":
		o["nameIdentifier"], o["schemeUri"] = rorAddress(id), "https://ror.org"
	}
}

var (
	orcidForm = lazy.Regexp(`\A(?:https?://(?:(?:www|sandbox)?\.)?orcid\.org/)?(\d{4}[\s-]\d{4}[\s-]\d{4}[\s-]\d{3}` +
		`[0-9X]+)/?\z`)
	rorForm    = lazy.Regexp(`^(?:(?:https?://)?ror\.org/)?(0\w{6}\d{2})/?$`)
	funderForm = lazy.Regexp(`\A(?:https?://?(?:dx\.)?(?:doi.org|handle.stage.datacite.org|handle.test.datacite.org)/)?(?:doi:)?(?:10\.13039/)?([1-9]\d+)\z`)
	webForm    = lazy.Regexp(`\A(https?)://([^/?#]+)([^?#]*)(\?[^#]*)?`)
)

// orcidAddress is an ORCID iD as a URL, null for other texts. Check digits are not checked.
func orcidAddress(text string) any {
	if m := orcidForm().FindStringSubmatch(text); m != nil {
		return "https://orcid.org/" + strings.Join(strings.Fields(m[1]), "-")
	}
	return nil
}

func rorAddress(text string) any {
	if m := rorForm().FindStringSubmatch(text); m != nil {
		return "https://ror.org/" + m[1]
	}
	return nil
}

// webAddress is a DOI as a URL, or a URL without a slash at the end.
func webAddress(text string) any {
	if name, ok := names.Validate(text); ok {
		return "https://doi.org/" + name
	}
	m := webForm().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return m[1] + "://" + strings.ToLower(m[2]) + strings.TrimSuffix(m[3], "/") + m[4]
}

func readAffiliation(o object) {
	o["name"] = orNull(squish(wire.String(o["name"])))
	id := wire.String(o["affiliationIdentifier"])
	if id == "" {
		return
	}
	scheme := wire.String(o["schemeUri"])
	address := webAddress(id)
	if !strings.HasPrefix(id, "https://") && scheme != "" {
		address = webAddress(strings.TrimSuffix(scheme, "/") + "/" + id)
	}
	switch {
	case address != nil:
		o["affiliationIdentifier"] = address
	case o["affiliationIdentifierScheme"] == "ROR":
		o["affiliationIdentifier"], o["schemeUri"] = rorAddress(id), "https://ror.org"
	}
}

// standIns are codes that may replace a date.
var standIns = strings.Fields(":unac :unal :unap :unas :unav :unkn :none :null :tba :etal")

func readDate(v any) any {
	o := v.(object)
	date := squish(wire.String(o["date"]))
	if !isDate(date) && !slices.Contains(standIns, date) {
		return nil
	}
	o["date"] = date
	return o
}

var dateForm = lazy.Regexp(`\A(?:-?\d{4}|y-?\d{5,}|\d{3}[ux]|\d{2}(?:uu|xx)|\d{4}-(?:0[1-9]|1[0-2]|2[1-4]|uu)|\d{4}` +
	`-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)?)?)[~?%]?\z`)

// isDate says whether a text is a date in the extended format, or a range of two.
func isDate(text string) bool {
	from, to, isRange := strings.Cut(text, "/")
	if isRange {
		if strings.HasPrefix(from, "-") && strings.HasPrefix(to, "-") {
			from, to = to, from // years before 0 may be in descending order
		}
		return isDate(from) && isDate(to) && !strings.ContainsAny(from+to, "/T") && from <= to
	}
	if !dateForm().MatchString(text) {
		return false
	}
	if len(text) >= len("2006-01-02") && text[4] == '-' && text[7] == '-' {
		_, err := time.Parse(time.DateOnly, text[:len("2006-01-02")])
		return err == nil
	}
	return true
}

func readRights(v any) any {
	o := v.(object)
	if len(o) == 0 {
		return nil
	}
	r := object{"rights": o["rights"], "rightsURI": o["rightsUri"]}
	for _, name := range []string{"rightsIdentifier", "rightsIdentifierScheme", "lang"} {
		r[name] = o[name] // the schema's URI is lost
	}
	return keptRights(r)
}

//go:embed licences.txt
var licenceList string

type licence struct{ id, name, address string }

// licences are part of the service's list, in its order.
var licences = sync.OnceValue(func() (all []licence) {
	for line := range strings.Lines(licenceList) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		all = append(all, licence{f[0], f[1], f[2]})
	}
	return all
})

// licenceAddress is a URL in the list's spelling, "" for other texts.
func licenceAddress(v any) string {
	m := addressForm().FindStringSubmatch(wire.String(v))
	if m == nil {
		return ""
	}
	address := "https://" + m[1] + strings.TrimSuffix(m[2], "/") + m[3]
	if creativeCommons().MatchString(address) {
		address += "/legalcode"
	}
	return address
}

var addressForm = lazy.Regexp(`\A(?:https?|ftp)://([^/?#]+)([^?#]*)(.*)\z`)

var creativeCommons = lazy.Regexp(`\Ahttps://creativecommons\.org/(?:licenses/by(?:-nc|-nd|-sa|-nc-sa|-nc-nd|-nd-nc)?/[1-4]\.[05]|publicdomain/zero/1\.0)\z`)

// keptRights are rights as the service stores them: a licence recognised by
// identifier, name or URL gets all members that the list has for it.
func keptRights(o object) any {
	name, id := wire.String(o["rights"]), wire.String(o["rightsIdentifier"])
	uri, text := licenceAddress(o["rightsURI"]), licenceAddress(name)
	for _, l := range licences() {
		if strings.EqualFold(l.id, id) || l.name == name || uri != "" && l.address == uri || text != "" && l.address == text {
			return compact(object{
				"rights": l.name, "rightsUri": l.address, "rightsIdentifier": strings.ToLower(l.id),
				"rightsIdentifierScheme": "SPDX", "schemeUri": "https://spdx.org/licenses/", "lang": o["lang"],
			})
		}
	}
	kept := object{"rightsIdentifier": orNull(strings.ToLower(id)), "rightsUri": wire.First(o, "rightsURI", "rightsUri")}
	for _, member := range []string{"rights", "rightsIdentifierScheme", "schemeUri", "lang"} {
		kept[member] = o[member]
	}
	return compact(kept)
}

// identifierTypes are the types that get this spelling in any case.
var identifierTypes = strings.Fields(
	`ARK arXiv bibcode DOI EAN13 EISSN Handle IGSN ISBN ISSN ISTC LISSN LSID PMID PURL UPC URL
	URN md5 minid dataguid CSTR RRID`)

func readIdentifier(v any) any {
	o := v.(object)
	if wire.IsBlank(wire.String(o["identifier"])) {
		return nil
	}
	for _, known := range identifierTypes {
		if strings.EqualFold(known, wire.String(o["identifierType"])) {
			o["identifierType"] = known
		}
	}
	return o
}

// readRelated drops related identifiers of type DOI that are not DOIs.
func readRelated(name string) func(any) any {
	return func(v any) any {
		o := v.(object)
		if o[name+"Type"] == "DOI" {
			doi, _ := names.Validate(strings.ToLower(wire.String(o[name])))
			o[name] = orNull(doi)
		}
		return o
	}
}

func readRelatedItem(v any) any {
	o := v.(object)
	if id, ok := o["relatedItemIdentifier"].(object); ok {
		readRelated("relatedItemIdentifier")(id)
		id["relationTypeInformation"] = o["relationTypeInformation"]
	}
	delete(o, "relationTypeInformation") // the service takes it for a member of the identifier
	for _, list := range []string{"creators", "contributors"} {
		for _, p := range listed(o[list]) {
			readPerson(p)
		}
	}
	for _, t := range listed(o["titles"]) {
		readText("title")(t)
	}
	return o
}

func readFunding(v any) any {
	o := v.(object)
	for _, name := range []string{"funderName", "awardTitle"} {
		if text, ok := o[name].(string); ok && wire.IsBlank(text) {
			o[name] = object{"__content__": text} // as its parser has it
		}
	}
	id, _ := o["funderIdentifier"].(string)
	switch o["funderIdentifierType"] {
	case "Crossref Funder ID":
		o["funderIdentifier"] = nil
		if m := funderForm().FindStringSubmatch(id); m != nil {
			o["funderIdentifier"] = "https://doi.org/10.13039/" + m[1]
		}
	case "ROR":
		o["funderIdentifier"], o["schemeUri"] = rorAddress(id), "https://ror.org"
	default:
		if address := webAddress(id); address != nil {
			o["funderIdentifier"] = address
		}
	}
	return o
}

// readPlace drops polygons if there is more than one, and places whose point or box is
// one string, as in older schemas.
func readPlace(v any) any {
	o := v.(object)
	if len(o) == 0 {
		return nil
	}
	for _, name := range single {
		switch c := o[name].(type) {
		case string:
			return nil
		case object:
			if len(c) == 0 {
				delete(o, name)
			}
		}
	}
	o["geoLocationPlace"] = stripped(o["geoLocationPlace"])
	if polygons, _ := o["geoLocationPolygon"].([]any); len(polygons) > 0 {
		if _, several := polygons[0].([]any); several {
			o["geoLocationPolygon"] = nil
		}
	}
	return o
}

//go:embed languages.txt
var languageList string

// languages are two-letter codes by other codes and by name.
var languages = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(languageList) {
		code, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		codes, name, _ := strings.Cut(rest, " ")
		all[code], all[name] = code, code
		for other := range strings.SplitSeq(codes, ",") {
			all[other] = code
		}
	}
	return all
})

// keptLanguage is a language as the service stores it: lupo app/models/doi.rb (update_language).
func keptLanguage(text string) any {
	if text == "" {
		return text
	}
	lang, _, _ := strings.Cut(text, "-")
	for _, name := range []string{lang, strings.ToUpper(lang[:min(len(lang), 1)]) + lang[min(len(lang), 1):]} {
		if code := languages()[name]; code != "" && name != "" {
			return code
		}
	}
	if languageForm().MatchString(text) {
		return text
	}
	return nil
}

var decimal = lazy.Regexp(`\A\s*[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?\.?\s*\z`)

// keptPlace turns coordinates that are strings into numbers: lupo app/models/doi.rb (update_geo_locations).
func keptPlace(v any) any {
	switch v := v.(type) {
	case object:
		o := object{}
		for name, inside := range v {
			if o[name] = keptPlace(inside); strings.HasSuffix(name, "itude") {
				o[name] = keptCoordinate(inside)
			}
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i, inside := range v {
			list[i] = keptPlace(inside)
		}
		return list
	}
	return v
}

var wholeForm = lazy.Regexp(`[-+]?\d+`)

func keptCoordinate(v any) any {
	if text := wire.String(v); decimal().MatchString(text) {
		if !strings.Contains(text, ".") {
			text = wholeForm().FindString(text) // an exponent without a point is lost
		}
		if n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "."), 64); err == nil {
			return n
		}
	}
	return v
}
