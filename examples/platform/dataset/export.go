package dataset

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/doi"
)

// Citation is the text to cite a version with.
func (v *Version) Citation(by Repository) string {
	title := strings.TrimSuffix(v.About.Title, ".")
	return fmt.Sprintf("%s (%s): %s. Version %d. %s. %s", v.names("; "), v.About.Year, title, v.Number, by.Name, v.Address())
}

func (v *Version) names(between string) string {
	var names []string
	for _, c := range v.About.Creators {
		names = append(names, c.Name())
	}
	return strings.Join(names, between)
}

var (
	notKey = regexp.MustCompile(`[^A-Za-z0-9]+`)
	bibtex = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `%`, `\%`, `&`, `\&`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
		`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, "\n", " ", "\r", " ")
)

// BibTeX is the entry to cite a version with.
func (v *Version) BibTeX(by Repository) string {
	names := make([]string, 0, len(v.About.Creators))
	for _, c := range v.About.Creators {
		name := bibtex.Replace(c.Name())
		if c.Organisation {
			name = "{" + name + "}" // or BibTeX would part it into given and family names
		}
		names = append(names, name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "@misc{%s,\n", notKey.ReplaceAllString(v.DOI, "-"))
	for _, line := range [][2]string{
		{"author", strings.Join(names, " and ")}, {"title", "{" + bibtex.Replace(v.About.Title) + "}"}, {"year", bibtex.Replace(v.About.Year)},
		{"publisher", bibtex.Replace(by.Name)}, {"version", fmt.Sprint(v.Number)}, {"doi", v.DOI}, {"url", v.Address()},
	} {
		fmt.Fprintf(&b, "  %s = {%s},\n", line[0], line[1])
	}
	return b.String() + "}\n"
}

// SchemaOrg describes a version to search engines.
func (d *Dataset) SchemaOrg(v *Version, by Repository) map[string]any {
	a, address := v.About, by.Public+v.Path()
	m := map[string]any{
		"@context": "https://schema.org", "@type": "Dataset", "@id": v.Address(), "identifier": v.Address(), "url": address,
		"name": a.Title, "description": a.Description, "datePublished": a.Year, "version": fmt.Sprint(v.Number),
		"license": "https://spdx.org/licenses/" + a.License, "isAccessibleForFree": true,
		"publisher": organisation(by.Name, ""),
		"isPartOf":  map[string]any{"@type": "Dataset", "@id": doi.Address(d.DOI)},
	}
	var creators, funders, files []any
	for _, c := range a.Creators {
		creators = append(creators, c.schemaOrg())
	}
	for _, f := range a.Funders {
		funders = append(funders, organisation(f.Name, f.ROR))
	}
	for _, f := range v.Open(time.Now()) {
		files = append(files, map[string]any{"@type": "DataDownload", "name": f.Name, "contentUrl": address + "/files/" + url.PathEscape(f.Name), "contentSize": fmt.Sprint(f.Size), "sha256": f.SHA256})
	}
	for name, list := range map[string][]any{"creator": creators, "funder": funders, "distribution": files} {
		if len(list) > 0 {
			m[name] = list
		}
	}
	return m
}

func (c Creator) schemaOrg() map[string]any {
	if c.Organisation {
		return organisation(c.Family, c.ROR)
	}
	person := map[string]any{"@type": "Person", "familyName": c.Family, "name": strings.TrimSpace(c.Given + " " + c.Family)}
	if c.Given != "" {
		person["givenName"] = c.Given
	}
	if c.ORCID != "" {
		person["@id"] = "https://orcid.org/" + c.ORCID
	}
	if c.Affiliation != "" {
		person["affiliation"] = organisation(c.Affiliation, c.ROR)
	}
	return person
}

func organisation(name, ror string) map[string]any {
	m := map[string]any{"@type": "Organization", "name": name}
	if ror != "" {
		m["@id"] = "https://ror.org/" + ror
	}
	return m
}

var emptyLines = regexp.MustCompile(`\n\s*\n`)

// Paragraphs are those of the description.
func (a About) Paragraphs() []string {
	text := strings.TrimSpace(a.Description)
	if text == "" {
		return nil
	}
	return emptyLines.Split(text, -1)
}
