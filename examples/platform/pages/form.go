package pages

import (
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// A Field of a form, with what was typed and what is wrong with it.
type Field struct {
	ID       string // and name
	Label    string
	Value    string
	Type     string   // "" means text
	Options  []string // of a select, or suggestions
	Hint     string
	Fault    string
	Complete string // how browsers fill it in
	Required bool
}

// Described are the ids of what explains a field.
func (f Field) Described() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.ID+"-hint")
	}
	if f.Fault != "" {
		ids = append(ids, f.ID+"-fault")
	}
	return strings.Join(ids, " ")
}

// A group of fields belongs to one creator or funder.
type group struct {
	Legend string
	Fields []Field
}

const (
	person       = "Person"
	organisation = "Organisation"
)

// renderForm shows the form of a version with what was typed, so that nothing is lost.
func (p *Pages) renderForm(w http.ResponseWriter, r *http.Request, status int, d *dataset.Dataset, a dataset.About, faults []dataset.Fault, notice string) error {
	byField := map[string]string{}
	for _, f := range faults {
		byField[f.Field] = f.Message
	}
	field := func(f Field) Field {
		f.Fault = byField[f.ID]
		if f.Label == "" {
			f.Label = dataset.Label(f.ID)
		}
		return f
	}
	creators, funders := max(len(a.Creators), 1), max(len(a.Funders), 1) // there is a field to begin with
	switch r.PostFormValue("more") {
	case "creators":
		creators = len(a.Creators) + 1
	case "funders":
		funders = len(a.Funders) + 1
	}
	data := map[string]any{
		"Faults": faults, "Notice": notice, "Dataset": d, "Creators": creatorGroups(a.Creators, creators, field), "Funders": funderGroups(a.Funders, funders, field),
		"Fields": []Field{
			field(Field{ID: "title", Value: a.Title, Required: true}),
			field(Field{ID: "description", Value: a.Description, Type: "textarea", Hint: "An empty line begins a paragraph."}),
			field(Field{ID: "year", Value: a.Year, Required: true}),
			field(Field{ID: "license", Value: a.License, Required: true, Options: dataset.Licenses, Hint: "An identifier of the SPDX list, such as CC-BY-4.0."}),
			field(Field{ID: "embargo", Value: a.Embargo, Type: "date", Hint: "Leave it empty, and the files are public as soon as the dataset is. The description of the dataset is public in any case."}),
		},
	}
	title := "New dataset"
	if d.ID != 0 {
		title = "Edit the dataset"
	}
	return p.render(w, r, status, "form", title, data)
}

func creatorGroups(people []dataset.Creator, count int, field func(Field) Field) (groups []group) {
	for i := range count {
		var c dataset.Creator
		if i < len(people) {
			c = people[i]
		}
		kind := person
		if c.Organisation {
			kind = organisation
		}
		id := func(name string) string { return fmt.Sprint(name, i) }
		groups = append(groups, group{fmt.Sprintf("Creator %d", i+1), []Field{
			field(Field{ID: id("kind"), Label: "Person or organisation", Type: "select", Value: kind, Options: []string{person, organisation}}),
			field(Field{ID: id("family"), Label: "Family name, or name of the organisation", Value: c.Family}),
			field(Field{ID: id("given"), Label: "Given name", Value: c.Given}),
			field(Field{ID: id("orcid"), Label: "ORCID", Value: c.ORCID, Hint: "Such as 0000-0001-5727-2427."}),
			field(Field{ID: id("affiliation"), Label: "Affiliation", Value: c.Affiliation}),
			field(Field{ID: id("ror"), Label: "ROR of the affiliation or organisation", Value: c.ROR, Hint: "Such as 04wxnsj81."}),
		}})
	}
	return groups
}

func funderGroups(funders []dataset.Funder, count int, field func(Field) Field) (groups []group) {
	for i := range count {
		var f dataset.Funder
		if i < len(funders) {
			f = funders[i]
		}
		id := func(name string) string { return fmt.Sprint(name, i) }
		groups = append(groups, group{fmt.Sprintf("Funder %d", i+1), []Field{
			field(Field{ID: id("funder"), Label: "Name", Value: f.Name}),
			field(Field{ID: id("funderror"), Label: "ROR", Value: f.ROR}),
			field(Field{ID: id("award"), Label: "Number of the award", Value: f.Award}),
			field(Field{ID: id("awardtitle"), Label: "Title of the award", Value: f.AwardTitle}),
		}})
	}
	return groups
}

// maxGroups is the most creators and the most funders of a form: a form is read before it is
// known who sends it, and the page that shows it again is a hundred times as large.
const maxGroups = 500

// readForm returns what was typed. Groups without anything in them are left out.
func readForm(r *http.Request) (a dataset.About, err error) {
	value := func(name string) string {
		return strings.TrimSpace(strings.ReplaceAll(r.PostFormValue(name), "\r\n", "\n"))
	}
	line := func(name string) string { return strings.Join(strings.FieldsFunc(value(name), unicode.IsSpace), " ") }
	a = dataset.About{Title: line("title"), Description: value("description"), Year: line("year"), License: line("license"), Embargo: line("embargo")}
	has := func(name string, i int) bool { return r.PostForm.Has(fmt.Sprint(name, i)) }
	if has("family", maxGroups) || has("funder", maxGroups) {
		return a, &http.MaxBytesError{Limit: maxForm}
	}
	for i := 0; has("family", i) || has("funder", i); i++ { // as many as fit into a form
		of := func(name string) string { return line(fmt.Sprint(name, i)) }
		c := dataset.Creator{Family: of("family"), Given: of("given"), ORCID: of("orcid"), Affiliation: of("affiliation"), ROR: of("ror")}
		if c != (dataset.Creator{}) {
			c.Organisation = of("kind") == organisation
			a.Creators = append(a.Creators, c)
		}
		if f := (dataset.Funder{Name: of("funder"), ROR: of("funderror"), Award: of("award"), AwardTitle: of("awardtitle")}); f != (dataset.Funder{}) {
			a.Funders = append(a.Funders, f)
		}
	}
	a.Bare()
	return a, nil
}
