package record

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/kernel"
	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Writers write records in the formats of the deployed service besides JSON:
// lupo config/initializers/mime_types.rb, bolognese lib/bolognese/writers.
var Writers = map[string]func(records []*Record, list bool) ([]byte, error){
	"datacite":      joined("\n", func(w written) string { return string(w.XML) }),
	"bibtex":        joined("\n", written.bibtex),
	"ris":           joined("\n\n", written.ris),
	"jats":          joined("\n", written.jats),
	"citation":      joined("\n\n", written.citation),
	"csv":           joined("", written.csv, "doi,url,registered,state,resourceTypeGeneral,resourceType,title,author,publisher,publicationYear\n"),
	"citeproc":      inJSON(written.citeproc),
	"schema_org":    inJSON(written.schemaOrg),
	"codemeta":      inJSON(written.codemeta),
	"crosscite":     inJSON(func(w written) object { return w.crosscite(true) }),
	"datacite_json": inJSON(func(w written) object { return w.crosscite(false) }),
}

// written is a record to be written in another format.
type written struct {
	*Record
	object          // the members, as they are kept
	doi, url string // the name in upper case, and its address
}

func writtenOf(rec *Record) written {
	w := written{Record: rec, object: maps.Clone(rec.columns), doi: names.Upper(rec.DOI), url: "https://doi.org/" + rec.DOI}
	if w.object == nil {
		w.object = blank()
		maps.Copy(w.object, rec.Attributes)
	}
	w.object["container"] = rec.Attributes["container"]
	if w.object["container"] == nil {
		w.object["container"] = object{}
	}
	if name, ok := w.object["publisher"].(string); ok {
		w.object["publisher"] = object{"name": name}
	}
	return w
}

// errNoPublisher is the error for a record without a publisher, in most formats.
var errNoPublisher = wire.Fail(http.StatusBadRequest, "undefined method '[]' for nil")

// joined joins the texts of the records, after a header.
func joined(between string, write func(written) string, header ...string) func([]*Record, bool) ([]byte, error) {
	return func(records []*Record, _ bool) (body []byte, err error) {
		defer recoverNoPublisher(&err)
		var all []string
		for _, rec := range records {
			all = append(all, write(writtenOf(rec)))
		}
		return []byte(strings.Join(header, "") + strings.Join(all, between)), nil
	}
}

// inJSON is an object for a single record, or a list of objects.
func inJSON(write func(written) object) func([]*Record, bool) ([]byte, error) {
	return func(records []*Record, list bool) (body []byte, err error) {
		defer recoverNoPublisher(&err)
		all := []any{}
		for _, rec := range records {
			all = append(all, withoutNulls(write(writtenOf(rec))))
		}
		if !list {
			return indented(all[0]), nil
		}
		return indented(all), nil
	}
}

func recoverNoPublisher(err *error) {
	if recovered := recover(); recovered != nil {
		if recovered != errNoPublisher {
			panic(recovered)
		}
		*err = errNoPublisher
	}
}

func withoutNulls(o object) object {
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
	return o
}

func indented(v any) []byte {
	var out bytes.Buffer
	_ = json.Indent(&out, wire.Encode(v), "", "  ")
	return out.Bytes()
}

// all are the members of that name of the objects of a list, without nulls.
func (w written) all(list, name string) (out []any) {
	for _, v := range listed(w.object[list]) {
		if v = Member(v, name); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// one is the first value of all.
func (w written) one(list, name string) any {
	return unwrapped(w.all(list, name)[:min(1, len(w.all(list, name)))])
}

// unwrapped is null for an empty list, and the only item of a list of one.
func unwrapped(list []any) any {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

// of are the items of a list with one of the values in a member.
func (w written) of(list, name string, values ...string) (out []any) {
	for _, v := range listed(w.object[list]) {
		if slices.Contains(values, wire.String(Member(v, name))) {
			out = append(out, v)
		}
	}
	return out
}

func (w written) publisher() any {
	if w.object["publisher"] == nil {
		panic(errNoPublisher)
	}
	return Member(w.object["publisher"], "name")
}

func (w written) kind(name string) any { return Member(w.object["types"], name) }

func (w written) in(name string) any { return Member(w.object["container"], name) }

func (w written) date(kind string) any {
	for _, d := range w.of("dates", "dateType", kind) {
		return Member(d, "date")
	}
	return nil
}

func (w written) abstract() any {
	for _, d := range w.of("descriptions", "descriptionType", "Abstract") {
		return Member(d, "description")
	}
	return nil
}

func (w written) keywords() any {
	var out []string
	for _, v := range w.all("subjects", "subject") {
		out = append(out, textOf(v))
	}
	return orNull(strings.Join(out, ", "))
}

func (w written) pages() any {
	if !isPresent(w.in("firstPage")) {
		return nil
	}
	return strings.TrimSuffix(textOf(w.in("firstPage"))+"-"+textOf(w.in("lastPage")), "-")
}

// inverted is a name as "Family, Given", or as it is written.
func inverted(v any, whole string) string {
	if family := wire.String(Member(v, "familyName")); family != "" {
		return family + ", " + wire.String(Member(v, "givenName"))
	}
	return strings.ReplaceAll(whole, "NAME", wire.String(Member(v, "name")))
}

func (w written) authors() any {
	var out []string
	for _, v := range listed(w.object["creators"]) {
		out = append(out, inverted(v, "{NAME}"))
	}
	return orNull(strings.Join(out, " and "))
}

func (w written) bibtex() string {
	fields := []any{
		"doi", w.doi, "url", orNull(w.URL), "author", w.authors(), "keywords", w.keywords(), "language", w.object["language"],
		"title", w.one("titles", "title"), "journal", w.in("title"), "volume", w.in("volume"), "issue", w.in("issue"),
		"pages", w.pages(), "publisher", w.publisher(), "year", w.object["publicationYear"], "copyright", w.one("rightsList", "rights"),
	}
	var out strings.Builder
	out.WriteString("@" + cmp.Or(wire.String(w.kind("bibtex")), "misc") + "{" + w.url)
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] != nil {
			out.WriteString(",\n  " + fields[i].(string) + " = {" + textOf(fields[i+1]) + "}")
		}
	}
	return out.String() + "\n}\n"
}

func (w written) ris() string {
	var authors []any
	for _, v := range listed(w.object["creators"]) {
		authors = append(authors, inverted(v, "NAME"))
	}
	var serial any
	for _, r := range w.of("relatedIdentifiers", "relationType", "IsPartOf") {
		serial = Member(r, "relatedIdentifier")
		break
	}
	fields := []any{
		"TY", w.kind("ris"), "T1", w.one("titles", "title"), "T2", w.in("title"), "AU", unwrapped(authors), "DO", w.doi, "UR", orNull(w.URL),
		"AB", w.abstract(), "KW", unwrapped(w.all("subjects", "subject")), "PY", w.object["publicationYear"], "PB", w.publisher(),
		"LA", w.object["language"], "VL", w.in("volume"), "IS", w.in("issue"), "SP", w.in("firstPage"), "EP", w.in("lastPage"), "SN", serial,
	}
	var lines []string
	for i := 0; i < len(fields); i += 2 {
		for _, v := range listed(fields[i+1]) {
			lines = append(lines, fields[i].(string)+"  - "+textOf(v))
		}
	}
	return strings.Join(append(lines, "ER  - "), "\r\n")
}

func (w written) csv() string {
	day := ""
	if !w.Registered.IsZero() {
		day = w.Registered.Format(time.DateOnly)
	}
	var out strings.Builder
	c := csv.NewWriter(&out)
	_ = c.Write([]string{
		w.doi, w.URL, day, w.State, textOf(w.kind("resourceTypeGeneral")), textOf(w.kind("resourceType")), textOf(w.one("titles", "title")),
		textOf(w.authors()), textOf(w.publisher()), textOf(w.object["publicationYear"]),
	})
	c.Flush()
	return out.String()
}

// dateParts are year, month and day of a date.
func dateParts(date string) object {
	parts := []any{}
	for _, at := range [][2]int{{0, 4}, {5, 7}, {8, 10}} {
		if at[0] >= len(date) {
			break
		}
		if n, _ := wholeNumber(date[at[0]:min(at[1], len(date))]).(float64); n != 0 {
			parts = append(parts, n)
		}
	}
	return object{"date-parts": []any{parts}}
}

func named(people []any) any {
	out := []any{}
	for _, v := range people {
		p := object{"family": Member(v, "familyName"), "given": Member(v, "givenName"), "lang": Member(v, "lang")}
		if !isPresent(p["family"]) {
			p["literal"] = Member(v, "name")
		}
		out = append(out, withoutNulls(p))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (w written) citeproc() object {
	kind := w.kind("citeproc")
	if w.kind("resourceTypeGeneral") == "Software" && isPresent(w.object["version"]) {
		kind = "book"
	}
	issued := wire.String(w.date("Issued"))
	container := w.in("title")
	if !isPresent(w.object["container"]) && w.kind("citeproc") == "article-journal" {
		container = w.publisher()
	}
	var categories any
	if subjects := w.all("subjects", "subject"); len(subjects) > 0 {
		categories = subjects
	}
	return object{
		"type": kind, "id": w.url, "categories": categories, "language": w.object["language"],
		"author": named(listed(w.object["creators"])), "contributor": named(listed(w.object["contributors"])),
		"editor":     named(w.of("contributors", "contributorType", "Editor")),
		"translator": named(w.of("contributors", "contributorType", "Translator")),
		"issued":     dateParts(cmp.Or(issued, YearText(w.object["publicationYear"]))), "abstract": w.one("descriptions", "description"),
		"container-title": container, "DOI": w.doi, "volume": w.in("volume"), "issue": w.in("issue"), "number": w.in("number"),
		"chapter-number": w.in("chapterNumber"), "edition": w.in("edition"), "page": w.pages(), "page-first": w.in("firstPage"),
		"publisher": w.publisher(), "title": w.one("titles", "title"), "URL": orNull(w.URL), "copyright": w.one("rightsList", "rights"),
		"version": w.object["version"],
	}
}

// crosscite is the record as Crosscite JSON, or as DataCite JSON, which has other names.
func (w written) crosscite(underscores bool) object {
	o := object{"id": w.url, "doi": w.doi, "url": orNull(w.URL), "agency": "datacite", "state": w.State}
	spelled := func(name string) string {
		if underscores {
			return names.Underscored(name)
		}
		return name
	}
	for _, p := range kernel.Properties {
		if p.Name != "" && !slices.Contains([]string{"url", "contentUrl", "landingPage"}, p.Name) {
			o[spelled(p.Name)] = w.object[p.Name]
		}
	}
	o[spelled("providerId")], o[spelled("clientId")] = strings.ToLower(w.Provider), strings.ToLower(w.Client)
	return o
}

func (w written) propertyValues() any {
	var out []any
	for _, id := range listed(w.object["identifiers"]) {
		out = append(out, object{"@type": "PropertyValue", "propertyID": Member(id, "identifierType"), "value": Member(id, "identifier")})
	}
	return unwrapped(out)
}

func (w written) codemeta() object {
	var tags any
	if subjects := w.all("subjects", "subject"); len(subjects) > 0 {
		tags = subjects
	}
	return object{
		"@context": "https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld",
		"@type":    w.kind("schemaOrg"), "@id": w.url, "identifier": w.propertyValues(), "codeRepository": orNull(w.URL),
		"name": w.one("titles", "title"), "authors": w.object["creators"], "description": w.one("descriptions", "description"),
		"version": w.object["version"], "tags": tags, "datePublished": cmp.Or(w.date("Issued"), w.object["publicationYear"]),
		"dateModified": w.date("Updated"), "publisher": w.publisher(), "license": unwrapped(w.all("rightsList", "rightsUri")),
	}
}

// agents are people in the form of schema.org.
func agents(people []any) any {
	var out []any
	for _, v := range people {
		p, ok := v.(object)
		if !ok {
			continue
		}
		p = maps.Clone(p)
		var places []any
		for _, a := range listed(p["affiliation"]) {
			name := Member(a, "name")
			if text, ok := a.(string); ok {
				name = text
			}
			places = append(places, withoutNulls(object{"@type": "Organization", "@id": Member(a, "affiliationIdentifier"), "name": name}))
		}
		p["affiliation"] = unwrapped(places)
		if kind := wire.String(p["nameType"]); kind != "" {
			p["@type"] = strings.TrimSuffix(kind, "al")
		}
		for _, id := range listed(p["nameIdentifiers"]) {
			p["@id"] = Member(id, "nameIdentifier")
			break
		}
		if family := wire.String(p["familyName"]); family != "" {
			p["name"] = wire.String(p["givenName"]) + " " + family
		}
		delete(p, "nameIdentifiers")
		delete(p, "nameType")
		out = append(out, withoutNulls(p))
	}
	return unwrapped(out)
}

func (w written) related(relations ...string) any {
	var out []any
	for _, r := range w.of("relatedIdentifiers", "relationType", relations...) {
		id := wire.String(Member(r, "relatedIdentifier"))
		if Member(r, "relatedIdentifierType") == "ISSN" && Member(r, "relationType") == "IsPartOf" {
			out = append(out, object{"@type": "Periodical", "issn": id})
			continue
		}
		kind := cmp.Or(ofGeneralType[wire.String(Member(r, "resourceTypeGeneral"))].schemaOrg, "CreativeWork")
		out = append(out, withoutNulls(object{"@id": webAddress(id), "@type": kind}))
	}
	return unwrapped(out)
}

// reverse are the works that relate to this one.
func (w written) reverse() any {
	o := object{}
	for relation, name := range map[string]string{"IsReferencedBy": "citation", "IsSupplementTo": "isBasedOn"} {
		var out []any
		for _, r := range w.of("relatedIdentifiers", "relationType", relation) {
			work := object{"@type": cmp.Or(Member(r, "resourceTypeGeneral"), any("ScholarlyArticle"))}
			if doi, ok := names.Validate(wire.String(Member(r, "relatedIdentifier"))); ok {
				work["@id"] = "https://doi.org/" + doi
			}
			if Member(r, "relatedIdentifierType") != "DOI" {
				work["identifier"] = object{
					"@type": "PropertyValue", "propertyID": Member(r, "relatedIdentifierType"), "value": Member(r, "relatedIdentifier"),
				}
			}
			out = append(out, work)
		}
		if works := unwrapped(out); works != nil {
			o[name] = works
		}
	}
	if len(o) == 0 {
		return nil
	}
	return o
}

// spatial are the places, one for each point, box, polygon or lone name.
func (w written) spatial() any {
	var out []any
	place := func(geo object) { out = append(out, object{"@type": "Place", "geo": geo}) }
	for _, v := range listed(w.object["geoLocations"]) {
		name := Member(v, "geoLocationPlace")
		point, box, polygon := Member(v, "geoLocationPoint"), Member(v, "geoLocationBox"), Member(v, "geoLocationPolygon")
		if point != nil {
			place(object{
				"@type": "GeoCoordinates", "address": name,
				"latitude": Member(point, "pointLatitude"), "longitude": Member(point, "pointLongitude"),
			})
		}
		if box != nil {
			var sides []string
			for _, side := range []string{"southBoundLatitude", "westBoundLongitude", "northBoundLatitude", "eastBoundLongitude"} {
				sides = append(sides, textOf(Member(box, side)))
			}
			place(withoutNulls(object{"@type": "GeoShape", "address": name, "box": orNull(strings.TrimSpace(strings.Join(sides, " ")))}))
		}
		if polygon != nil {
			points := []any{}
			for _, p := range listed(polygon) {
				if p = Member(p, "polygonPoint"); p != nil {
					points = append(points, []any{[]any{Member(p, "pointLongitude"), Member(p, "pointLatitude")}})
				}
			}
			place(object{"@type": "GeoShape", "address": name, "polygon": points})
		}
		if name != nil && point == nil && box == nil && polygon == nil {
			place(object{"@type": "GeoCoordinates", "address": name})
		}
	}
	return unwrapped(out)
}

func (w written) schemaOrg() object {
	o := object{
		"@context": "http://schema.org", "@type": w.kind("schemaOrg"), "@id": w.url, "identifier": w.propertyValues(), "url": orNull(w.URL),
		"additionalType": w.kind("resourceType"), "name": w.one("titles", "title"), "author": agents(listed(w.object["creators"])),
		"editor": agents(listed(w.object["contributors"])), "translator": agents(w.of("contributors", "contributorType", "Translator")),
		"description": w.abstract(), "license": unwrapped(w.all("rightsList", "rightsUri")), "version": w.object["version"],
		"keywords": w.keywords(), "inLanguage": w.object["language"], "contentSize": unwrapped(listed(w.object["sizes"])),
		"encodingFormat": unwrapped(listed(w.object["formats"])), "dateCreated": w.date("Created"),
		"datePublished": cmp.Or(w.date("Issued"), w.object["publicationYear"]), "dateModified": w.date("Updated"),
		"temporalCoverage": w.date("Coverage"), "pageStart": w.in("firstPage"), "pageEnd": w.in("lastPage"), "spatialCoverage": w.spatial(),
		"@reverse": w.reverse(), "contentUrl": unwrapped(listed(w.object["contentUrl"])), "schemaVersion": w.object["schemaVersion"],
		"provider": object{"@type": "Organization", "name": "datacite"},
	}
	for name, relations := range map[string][]string{
		"sameAs": {"IsIdenticalTo"}, "isPartOf": {"IsPartOf"}, "hasPart": {"HasPart"}, "predecessor_of": {"IsPreviousVersionOf"},
		"successor_of": {"IsNewVersionOf"}, "citation": {"References", "Cites", "Documents"}, "workTranslation": {"HasTranslation"},
		"translationOfWork": {"IsTranslationOf"},
	} {
		o[name] = w.related(relations...)
	}
	if p := w.object["publisher"]; p != nil {
		o["publisher"] = withoutNulls(object{"@type": "Organization", "@id": Member(p, "publisherIdentifier"), "name": Member(p, "name")})
	}
	var funders []any
	for _, f := range listed(w.object["fundingReferences"]) {
		funders = append(funders, withoutNulls(object{
			"@id": Member(f, "funderIdentifier"), "@type": "Organization", "name": Member(f, "funderName"),
		}))
	}
	o["funder"] = unwrapped(funders)
	container, _ := w.object["container"].(object)
	switch {
	case len(container) == 0:
	case w.kind("schemaOrg") == "Dataset":
		o["includedInDataCatalog"] = withoutNulls(object{"@id": container["identifier"], "@type": "DataCatalog", "name": container["title"]})
	default:
		periodical := maps.Clone(container)
		periodical["@type"], periodical["name"] = container["type"], container["title"]
		delete(periodical, "type")
		delete(periodical, "title")
		o["periodical"] = withoutNulls(periodical)
	}
	return o
}

// citationTypes are the publication types of JATS, by free-text type, and
// by that of schema.org.
var (
	jatsOfOwnType = map[string]string{
		"Proceedings": "working-paper", "ReferenceBook": "book", "JournalIssue": "journal", "ProceedingsArticle": "working-paper",
		"Dataset": "data", "EditedBook": "book", "JournalArticle": "journal", "Journal": "journal", "Report": "report", "BookSeries": "book",
		"ReportSeries": "report", "BookTrack": "book", "Standard": "standard", "BookSection": "chapter", "BookPart": "chapter", "Book": "book",
		"BookChapter": "chapter", "StandardSeries": "standard", "Monograph": "book", "JournalVolume": "journal", "BookSet": "book",
	}
	jatsOfSchemaOrg = map[string]string{
		"Article": "journal", "Book": "book", "DataCatalog": "data", "Dataset": "data", "PublicationIssue": "journal",
		"ScholarlyArticle": "journal", "SoftwareSourceCode": "software", "WebSite": "website",
	}
)

func (w written) jats() string {
	kind := cmp.Or(jatsOfOwnType[wire.String(w.kind("resourceType"))], jatsOfSchemaOrg[wire.String(w.kind("schemaOrg"))])
	title, source := w.one("titles", "title"), w.in("title")
	people := func(role, list string) *element {
		return filledWrapper("person-group", w.object[list], func(v any) *element {
			return tagged("name", nil, ifPresent("surname", Member(v, "familyName")), ifPresent("given-names", Member(v, "givenName")))
		}).with("person-group-type", role)
	}
	var named *element
	if name := map[string]string{"data": "data-title", "journal": "article-title", "chapter": "chapter-title"}[kind]; name != "" {
		named = tagged(name, title)
	}
	switch {
	case kind != "journal" && kind != "data" && kind != "chapter":
		source = title
	case kind == "chapter", source == nil:
		source = w.publisher()
	}
	var publisher *element
	if p := w.object["publisher"]; p != nil && kind != "data" {
		publisher = tagged("publisher-name", Member(p, "name")).with("xml:lang", Member(p, "lang"))
	}
	issued := textOf(w.date("Issued"))
	date := dateParts(issued)["date-parts"].([]any)[0].([]any)
	part := func(i int, tag, format string) *element {
		if i >= len(date) {
			return nil
		}
		return tagged(tag, fmt.Sprintf(format, int(date[i].(float64))))
	}
	var number any
	if len(date) > 0 {
		number = textOf(date[0])
	}
	root := tagged("element-citation", nil, people("author", "creators"), people("editor", "contributors"), named, tagged("source", source), publisher,
		tagged("year", number).with("iso-8601-date", issued), part(1, "month", "%02d"), part(2, "day", "%02d"),
		ifPresent("volume", w.in("volume")), ifPresent("issue", w.in("issue")), ifPresent("fpage", w.in("firstPage")), ifPresent("lpage", w.in("lastPage")),
		ifPresent("version", w.object["version"]), tagged("pub-id", w.doi).with("pub-id-type", "doi"))
	return string((&Document{top: []*element{root.with("publication-type", orNull(kind))}}).bytes()) + "\n"
}

// citation is the record in one style, that of the APA in English, whatever style and locale
// are requested.
func (w written) citation() string {
	publisher := textOf(w.publisher())
	var authors []string
	for _, v := range listed(w.object["creators"]) {
		name := wire.String(Member(v, "name"))
		if family := wire.String(Member(v, "familyName")); family != "" {
			name = family + ","
			for given := range strings.FieldsSeq(wire.String(Member(v, "givenName"))) {
				name += " " + string([]rune(given)[:1]) + "."
			}
		}
		authors = append(authors, name)
	}
	if n := len(authors); n > 1 {
		authors[n-1] = "& " + authors[n-1]
	}
	title := "<i>" + textOf(w.one("titles", "title")) + "</i>"
	if version := textOf(w.object["version"]); version != "" {
		title += " (Version " + version + ")"
	}
	if kind := map[string]string{"Dataset": " [Data set]", "Software": " [Computer software]"}[wire.String(w.kind("resourceTypeGeneral"))]; kind != "" {
		title += kind
	}
	by := strings.Join(authors, ", ")
	if by != "" && !strings.HasSuffix(by, ".") {
		by += "."
	}
	return strings.TrimSpace(by + " (" + YearText(w.object["publicationYear"]) + "). " + title + ". " + publisher + ". https://doi.org/" + w.doi)
}
