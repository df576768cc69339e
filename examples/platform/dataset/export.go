package dataset

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

// Citation is the recommended citation. The template cite is the same with isolated names and
// title, which may be written from right to left.
func (v *Version) Citation(by Repository) string {
	var names []string
	for _, c := range v.About.Creators {
		names = append(names, c.Name())
	}
	return fmt.Sprintf("%s (%s): %s. Version %d. %s. %s", strings.Join(names, "; "), v.Year(), v.CitedTitle(), v.Number,
		by.Name, v.Address())
}

// CitedTitle is the title without a full stop at the end.
func (v *Version) CitedTitle() string { return strings.TrimSuffix(v.About.Title, ".") }

var (
	notKey = regexp.MustCompile(`[^A-Za-z0-9]+`)
	bibtex = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\textbraceleft{}`, `}`, `\textbraceright{}`, `%`, `\%`,
		`&`, `\&`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
		`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, "\n", " ", "\r", " ")
)

// BibTeX is the entry to cite a version with.
func (v *Version) BibTeX(by Repository) string {
	names := make([]string, 0, len(v.About.Creators))
	for _, c := range v.About.Creators {
		name := bibtexName(c.Family, c.Organisation)
		if c.Given != "" {
			name += ", " + bibtexName(c.Given, false)
		}
		names = append(names, name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "@misc{%s,\n", notKey.ReplaceAllString(v.DOI, "-"))
	for _, line := range [][2]string{
		{"author", strings.Join(names, " and ")}, {"title", "{" + bibtex.Replace(v.About.Title) + "}"},
		{"year", bibtex.Replace(v.Year())},
		{"publisher", bibtex.Replace(by.Name)}, {"version", fmt.Sprint(v.Number)}, {"doi", v.DOI}, {"url", v.Address()},
	} {
		fmt.Fprintf(&b, "  %s = {%s},\n", line[0], line[1])
	}
	return b.String() + "}\n"
}

// bibtexName is a name, or a part of one, in braces if BibTeX would divide it.
func bibtexName(text string, whole bool) string {
	if text = bibtex.Replace(text); whole || strings.Contains(text, ",") ||
		slices.Contains(strings.Fields(strings.ToLower(text)), "and") {
		return "{" + text + "}"
	}
	return text
}

// RIS is the entry for programs that keep references. Its lines end as in Windows.
func (v *Version) RIS(by Repository) string {
	a := v.Says()
	lines := [][2]string{{"TY", "DATA"}, {"TI", a.Title}}
	for _, c := range a.Creators {
		lines = append(lines, [2]string{"AU", c.Name()})
	}
	lines = append(lines, [][2]string{{"PY", v.Year()}, {"PB", by.Name}, {"ET", fmt.Sprint(v.Number)}, {"LA", a.Language},
		{"DO", v.DOI}, {"UR", v.Address()}, {"AB", a.Description}}...)
	for _, keyword := range a.Keywords {
		lines = append(lines, [2]string{"KW", keyword})
	}
	var b strings.Builder
	for _, line := range lines {
		if text := strings.Join(strings.Fields(line[1]), " "); text != "" {
			fmt.Fprintf(&b, "%s  - %s\r\n", line[0], text)
		}
	}
	return b.String() + "ER  - \r\n"
}

// A Tag is one of those in the head of a landing page that search engines for literature and programs for
// references read.
type Tag struct{ Name, Content string }

// Tags are those of a version.
func (v *Version) Tags(by Repository) []Tag {
	a := v.Says()
	tags := []Tag{{"citation_title", a.Title}}
	for _, c := range a.Creators {
		tags = append(tags, Tag{"citation_author", c.Name()})
	}
	return append(tags, Tag{"citation_publication_date", strings.ReplaceAll(v.Issued(), "-", "/")},
		Tag{"citation_publisher", by.Name}, Tag{"citation_doi", v.DOI},
		Tag{"citation_language", a.Language}, Tag{"citation_keywords",
			strings.Join(a.Keywords, "; ")}, Tag{"citation_abstract_html_url", by.Public + v.Path()})
}

// SchemaOrg describes a version to search engines.
func (d *Dataset) SchemaOrg(v *Version, by Repository) map[string]any {
	a, address, now := v.Says(), by.Public+v.Path(), time.Now()
	var creators, contributors, funders, keywords, files []any
	for _, c := range a.Creators {
		creators = append(creators, c.schemaOrg())
	}
	for _, c := range a.Contributors {
		contributors = append(contributors, c.schemaOrg())
	}
	for _, f := range a.Funders {
		funders = append(funders, organisation(f.Name, f.ROR))
	}
	for _, keyword := range a.Keywords {
		keywords = append(keywords, keyword)
	}
	for _, s := range a.Subjects {
		keywords = append(keywords, dropEmpty(map[string]any{"@type": "DefinedTerm", "name": s.Term,
			"inDefinedTermSet": s.Scheme, "url": s.URI}))
	}
	for _, f := range v.Open(now) {
		files = append(files, map[string]any{"@type": "DataDownload", "name": f.Name,
			"contentUrl": address + "/files/" + url.PathEscape(f.Name), "contentSize": fmt.Sprint(f.Size), "sha256": f.SHA256})
	}
	m := map[string]any{
		// schema.org has no term for the day from which the files are public.
		"@context": []any{"https://schema.org", map[string]any{"dcterms": "http://purl.org/dc/terms/"}},
		"@type":    v.SchemaType(), "@id": v.Address(), "identifier": v.Address(), "url": address,
		"name": a.Title, "description": a.Description, "measurementTechnique": a.Methods, "inLanguage": a.Language, "version": fmt.Sprint(v.Number),
		"datePublished": v.Issued(), "dcterms:available": v.Available(),
		"license": "https://spdx.org/licenses/" +
			a.License, "conditionsOfAccess": v.Access(now), "isAccessibleForFree": v.State == Published && !v.Embargoed(now),
		"publisher": organisation(by.Name, ""), "isPartOf": map[string]any{"@type": "Dataset", "@id": doi.URL(d.DOI)},
		"creator": creators, "contributor": contributors, "funder": funders, "keywords": keywords, "distribution": files,
	}
	for _, r := range a.Related {
		if property := properties[metadata.RelationType(r.Relation)]; property != "" {
			works, _ := m[property].([]any)
			m[property] = append(works, map[string]any{"@type": "CreativeWork", "@id": r.Address()})
		}
	}
	return dropEmpty(m)
}

// properties are those of schema.org for relations to other works.
var properties = map[metadata.RelationType]string{
	metadata.RelationIsSupplementTo: "subjectOf", metadata.RelationIsDescribedBy: "subjectOf",
	metadata.RelationIsDocumentedBy: "subjectOf",
	metadata.RelationIsCitedBy:      "subjectOf", metadata.RelationIsReferencedBy: "subjectOf", metadata.RelationCites: "citation", metadata.RelationReferences: "citation",
	metadata.RelationIsDerivedFrom: "isBasedOn", metadata.RelationHasPart: "hasPart",
}

// Types are offered by the form. Their types of schema.org are the same as DataCite derives;
// types that are not in the map are a CreativeWork.
var (
	Types = []metadata.ResourceTypeGeneral{
		metadata.ResourceTypeDataset, metadata.ResourceTypeAudiovisual, metadata.ResourceTypeCollection,
		metadata.ResourceTypeComputationalNotebook, metadata.ResourceTypeImage,
		metadata.ResourceTypeInteractiveResource, metadata.ResourceTypeModel, metadata.ResourceTypeSoftware, metadata.ResourceTypeSound, metadata.ResourceTypeWorkflow, metadata.ResourceTypeOther,
	}
	schemaOrgTypes = map[metadata.ResourceTypeGeneral]string{
		metadata.ResourceTypeDataset: "Dataset", metadata.ResourceTypeAudiovisual: "MediaObject",
		metadata.ResourceTypeCollection:            "Collection",
		metadata.ResourceTypeComputationalNotebook: "SoftwareSourceCode", metadata.ResourceTypeImage: "ImageObject", metadata.ResourceTypeSoftware: "SoftwareSourceCode",
		metadata.ResourceTypeSound: "AudioObject",
	}
)

// SchemaType is the type of schema.org.
func (v *Version) SchemaType() string {
	return cmp.Or(schemaOrgTypes[v.About.general()], "CreativeWork")
}

func dropEmpty(m map[string]any) map[string]any {
	for name, value := range m {
		if list, isList := value.([]any); isList && len(list) == 0 || value == "" {
			delete(m, name)
		}
	}
	return m
}

func (c Creator) schemaOrg() map[string]any {
	if c.Organisation {
		return organisation(c.Family, c.ROR)
	}
	person := map[string]any{
		"@type": "Person", "@id": c.Address(), "familyName": c.Family, "givenName": c.Given,
		"name": strings.TrimSpace(c.Given + " " + c.Family),
	}
	var in []any
	for _, of := range c.Affiliations {
		in = append(in, organisation(of.Name, of.ROR))
	}
	person["affiliation"] = in
	return dropEmpty(person)
}

func organisation(name, ror string) map[string]any {
	m := map[string]any{"@type": "Organization", "name": name}
	if ror != "" {
		m["@id"] = "https://ror.org/" + ror
	}
	return m
}

var emptyLines = regexp.MustCompile(`\n\s*\n`)

// Paragraphs are those of a text.
func Paragraphs(text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	return emptyLines.Split(text, -1)
}
