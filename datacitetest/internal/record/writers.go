package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Writers write a record in the formats of the deployed service other than JSON:
// lupo config/initializers/mime_types.rb, bolognese lib/bolognese/writers.
var Writers = map[string]writer{
	"datacite":      texted(func(w written) string { return string(w.XML) }),
	"bibtex":        withPublisher(texted(written.bibtex)),
	"citation":      withPublisher(texted(written.citation)),
	"citeproc":      withPublisher(inJSON(written.citeproc)),
	"datacite_json": inJSON(written.dataciteJSON),
	"codemeta":      notWritten,
	"crosscite":     notWritten,
	"csv":           notWritten,
	"jats":          notWritten,
	"ris":           notWritten,
	"schema_org":    notWritten,
}

type writer = func(*Record) ([]byte, error)

func notWritten(*Record) ([]byte, error) { return nil, wire.OutputFormat.Refusal() }

// withPublisher refuses a record without a publisher, as the deployed service does.
func withPublisher(write writer) writer {
	return func(rec *Record) ([]byte, error) {
		if writtenOf(rec).object["publisher"] == nil {
			return nil, wire.Fail(http.StatusBadRequest, "undefined method '[]' for nil")
		}
		return write(rec)
	}
}

func texted(write func(written) string) writer {
	return func(rec *Record) ([]byte, error) { return []byte(write(writtenOf(rec))), nil }
}

func inJSON(write func(written) object) writer {
	return func(rec *Record) ([]byte, error) { return indented(withoutNulls(write(writtenOf(rec)))), nil }
}

// written is a record to be written in another format.
type written struct {
	*Record
	object          // the members, as they are kept
	doi, url string // the name in upper case, and its address
}

func writtenOf(rec *Record) written {
	w := written{Record: rec, object: maps.Clone(rec.Columns), doi: names.Upper(rec.DOI),
		url: "https://doi.org/" + rec.DOI}
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

func (w written) authors() any {
	var out []string
	for _, v := range listed(w.object["creators"]) {
		name := "{" + wire.String(Member(v, "name")) + "}"
		if family := wire.String(Member(v, "familyName")); family != "" {
			name = family + ", " + wire.String(Member(v, "givenName"))
		}
		out = append(out, name)
	}
	return orNull(strings.Join(out, " and "))
}

func (w written) bibtex() string {
	fields := []any{
		"doi", w.doi, "url", orNull(w.URL), "author", w.authors(), "keywords", w.keywords(), "language", w.object["language"],
		"title", w.one("titles", "title"), "journal", w.in("title"), "volume", w.in("volume"), "issue", w.in("issue"),
		"pages", w.pages(), "publisher", w.publisher(), "year", w.object["publicationYear"], "copyright", w.one("rightsList",
			"rights"),
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
		"issued":     dateParts(cmp.Or(issued, YearText(w.object["publicationYear"]))), "abstract": w.one("descriptions",
			"description"),
		"container-title": container, "DOI": w.doi, "volume": w.in("volume"), "issue": w.in("issue"), "number": w.in("number"),
		"chapter-number": w.in("chapterNumber"), "edition": w.in("edition"), "page": w.pages(), "page-first": w.in("firstPage"),
		"publisher": w.publisher(), "title": w.one("titles",
			"title"), "URL": orNull(w.URL), "copyright": w.one("rightsList", "rights"),
		"version": w.object["version"],
	}
}

func (w written) dataciteJSON() object {
	o := object{
		"id": w.url, "doi": w.doi, "url": orNull(w.URL), "agency": "datacite", "state": w.State,
		"providerId": strings.ToLower(w.Provider), "clientId": strings.ToLower(w.Client),
	}
	for _, p := range Properties() {
		if p.Name != "" && !slices.Contains([]string{"url", "contentUrl", "landingPage"}, p.Name) {
			o[p.Name] = w.object[p.Name]
		}
	}
	return o
}

// citation is the record in the style of the APA in English.
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
	if kind := map[string]string{"Dataset": " [Data set]",
		"Software": " [Computer software]"}[wire.String(w.kind("resourceTypeGeneral"))]; kind != "" {
		title += kind
	}
	by := strings.Join(authors, ", ")
	if by != "" && !strings.HasSuffix(by, ".") {
		by += "."
	}
	return strings.TrimSpace(by + " (" + YearText(w.object["publicationYear"]) + "). " + title + ". " + publisher +
		". https://doi.org/" + w.doi)
}
