package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/metadata"
)

// A Field of a form, with what was typed and what is wrong with it.
type Field struct {
	ID       string // and name
	Label    string
	Value    string
	Type     string   // "" means text
	Options  []Option // of a select, or suggestions
	Hint     string
	Fault    string
	Complete string // how browsers fill it in
	Required bool
	Focus    bool // the cursor is here to begin with
}

// An Option is one of the values that a field may have, and how people read it.
type Option struct{ Value, Text string }

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

// A column is a field that each row of a list has. Forms are written and read by it, so
// that both agree.
type column[T any] struct {
	Field // its ID is without the number of a row
	get   func(T) string
	set   func(*T, string)
}

// text is a column for a text of a row.
func text[T any](f Field, of func(*T) *string) column[T] {
	return column[T]{f, func(row T) string { return *of(&row) }, func(row *T, text string) { *of(row) = text }}
}

// A list of a form has rows, each with the same fields.
type list struct {
	Name, Legend, Hint string
	Rows               [][]Field
}

// A wish is what a button of a list asks for: another row, that a row is removed, or that it changes places with the
// one above.
type wish struct {
	list, what string // "" for none; more, remove, up
	row        int
}

func wished(r *http.Request) (w wish) {
	for _, w.what = range []string{"more", "remove", "up"} {
		var row string
		if w.list, row, _ = strings.Cut(r.PostFormValue(w.what), " "); w.list != "" {
			if n, err := strconv.Atoi(row); err == nil {
				w.row = n
			} else {
				w.row = -1 // which no list has
			}
			break
		}
	}
	return w
}

// rows returns a list with what was typed, and a new row if it was asked for. The cursor is in the row of a wish.
func rows[T any](l list, columns []column[T], values []T, w wish) list {
	at := map[string]int{"more": len(values), "remove": w.row, "up": w.row - 1}[w.what]
	if w.list == l.Name && w.what == "more" || l.Name == "creator" && len(values) == 0 {
		values = append(slices.Clone(values), *new(T))
	}
	for i := range values {
		var row []Field
		for n, c := range columns {
			f := c.Field
			f.ID, f.Value = fmt.Sprint(f.ID, i), c.get(values[i])
			f.Focus = w.list == l.Name && n == 0 && i == min(at, len(values)-1)
			row = append(row, f)
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// read returns what was typed in a list, after what a button asked for. Rows in which nothing was typed are left out.
func read[T any](name string, columns []column[T], r *http.Request) (all []T) {
	w := wished(r)
	for i := 0; slices.ContainsFunc(columns, func(c column[T]) bool { return r.PostForm.Has(fmt.Sprint(c.ID, i)) }); i++ {
		var row T
		typed := false
		for _, c := range columns {
			text := value(r, fmt.Sprint(c.ID, i))
			if c.Type != "textarea" {
				text = line(r, fmt.Sprint(c.ID, i))
			}
			if text == "" && c.Type == "select" {
				text = c.Options[0].Value // what a browser would have sent
			}
			c.set(&row, text)
			typed = typed || text != "" && c.Type != "select"
		}
		if !typed || w == (wish{name, "remove", i}) {
			continue
		}
		all = append(all, row)
		if last := len(all) - 1; last > 0 && w == (wish{name, "up", i}) {
			all[last-1], all[last] = all[last], all[last-1]
		}
	}
	return all
}

// terms are those of a vocabulary, as options. The first one may be none.
func terms[T ~string](none string, all []T) (options []Option) {
	if none != "" {
		options = []Option{{"", none}}
	}
	for _, term := range all {
		options = append(options, Option{string(term), dataset.Words(string(term))})
	}
	return options
}

func suggestions(values ...string) (options []Option) {
	for _, value := range values {
		options = append(options, Option{value, value})
	}
	return options
}

const (
	person       = "Person"
	organisation = "Organisation"
)

// lastROR is a ROR at the end of a line, or what looks like an address of one.
var lastROR = regexp.MustCompile(`(?i)(?:^| )(?:https?://\S+|(?:ror\.org/)?0[a-hj-km-np-tv-z0-9]{6}[0-9]{2})$`)

// people are the columns of creators, and of contributors, whose names begin with co.
func people[T any](co string, of func(*T) *dataset.Creator) []column[T] {
	at := func(id, label, hint string, field func(*dataset.Creator) *string) column[T] {
		return text(Field{ID: co + id, Label: label, Hint: hint}, func(row *T) *string { return field(of(row)) })
	}
	return []column[T]{
		{
			Field{ID: co + "kind", Label: "Person or organisation", Type: "select", Options: suggestions(person, organisation)},
			func(row T) string {
				if of(&row).Organisation {
					return organisation
				}
				return person
			},
			func(row *T, text string) { of(row).Organisation = text == organisation },
		},
		at("family", "Family name, or name of the organisation", "", func(c *dataset.Creator) *string { return &c.Family }),
		at("given", "Given name", "", func(c *dataset.Creator) *string { return &c.Given }),
		at("orcid", "ORCID", "Such as 0000-0001-5727-2427.", func(c *dataset.Creator) *string { return &c.ORCID }),
		at("ror", "ROR of the organisation", "Such as 04wxnsj81.", func(c *dataset.Creator) *string { return &c.ROR }),
		{
			Field{ID: co + "affiliation", Label: "Affiliations", Type: "textarea",
				Hint: "One on each line, with its ROR at the end: DataCite 04wxnsj81."},
			func(row T) string {
				var lines []string
				for _, in := range of(&row).Affiliations {
					lines = append(lines, strings.TrimSpace(in.Name+" "+in.ROR))
				}
				return strings.Join(lines, "\n")
			},
			func(row *T, text string) {
				for line := range strings.Lines(text) {
					if line = strings.Join(strings.Fields(line), " "); line != "" {
						ror := lastROR.FindString(line)
						name := strings.TrimSpace(strings.TrimSuffix(line, ror))
						of(row).Affiliations = append(of(row).Affiliations, dataset.Affiliation{Name: name, ROR: strings.TrimSpace(ror)})
					}
				}
			},
		},
	}
}

var (
	creators     = people("", func(c *dataset.Creator) *dataset.Creator { return c })
	contributors = append([]column[dataset.Contributor]{
		text(Field{ID: "role", Label: "Role", Type: "select",
			Options: terms("", metadata.Values[metadata.ContributorType]())}, func(c *dataset.Contributor) *string {
			return &c.Role
		}),
	}, people("co", func(c *dataset.Contributor) *dataset.Creator { return &c.Creator })...)
	subjects = []column[dataset.Subject]{
		text(Field{ID: "term", Label: "Term"}, func(s *dataset.Subject) *string { return &s.Term }),
		text(Field{ID: "scheme", Label: "Classification",
			Options: suggestions("AGROVOC", "DDC", "Fields of Science and Technology (FOS)", "GND", "LCSH", "MeSH",
				"UDC")}, func(s *dataset.Subject) *string { return &s.Scheme }),
		text(Field{ID: "termuri", Label: "Address of the term", Type: "url"},
			func(s *dataset.Subject) *string { return &s.URI }),
	}
	works = []column[dataset.Related]{
		text(Field{ID: "relation", Label: "This dataset", Type: "select", Options: terms("", relations)},
			func(r *dataset.Related) *string { return &r.Relation }),
		text(Field{ID: "related", Label: "DOI or address of the work", Hint: "Such as 10.5072/abc."},
			func(r *dataset.Related) *string { return &r.ID }),
		text(Field{ID: "relatedtype", Label: "The work is", Type: "select",
			Options: terms("not said", metadata.Values[metadata.ResourceTypeGeneral]())}, func(r *dataset.Related) *string {
			return &r.Type
		}),
	}
	funders = []column[dataset.Funder]{
		text(Field{ID: "funder", Label: "Name"}, func(f *dataset.Funder) *string { return &f.Name }),
		text(Field{ID: "funderror", Label: "ROR", Hint: "Such as 04wxnsj81."},
			func(f *dataset.Funder) *string { return &f.ROR }),
		text(Field{ID: "award", Label: "Number of the award"}, func(f *dataset.Funder) *string { return &f.Award }),
		text(Field{ID: "awardtitle", Label: "Title of the award"}, func(f *dataset.Funder) *string { return &f.AwardTitle }),
	}
	// relations are those that curators choose; the relations between versions come by themselves.
	relations = []metadata.RelationType{
		metadata.RelationIsSupplementTo, metadata.RelationIsDescribedBy, metadata.RelationIsDocumentedBy,
		metadata.RelationIsCitedBy, metadata.RelationIsReferencedBy,
		metadata.RelationCites, metadata.RelationReferences, metadata.RelationIsDerivedFrom, metadata.RelationIsSourceOf, metadata.RelationIsPartOf, metadata.RelationHasPart,
		metadata.RelationRequires, metadata.RelationIsRequiredBy, metadata.RelationIsReviewedBy,
	}
)

// A section of the form has fields, or a list.
type section struct {
	Title  string
	Fields []Field
	List   list
}

// sections are the form of a version with what was typed, so that nothing is lost.
func sections(a dataset.About, w wish) []section {
	return []section{
		{Title: "The data", Fields: []Field{
			{ID: "title", Label: "Title", Value: a.Title, Required: true},
			{ID: "description", Label: "Description", Value: a.Description, Type: "textarea",
				Hint: "An empty line begins a paragraph."},
			{ID: "methods", Label: "Methods", Value: a.Methods, Type: "textarea",
				Hint: "How the data were collected or computed."},
			{ID: "keywords", Label: "Keywords", Value: strings.Join(a.Keywords, "\n"), Type: "textarea",
				Hint: "One on each line."},
			{ID: "type", Label: "Type", Value: cmp.Or(a.Type, string(dataset.Types[0])), Type: "select",
				Options: terms("", dataset.Types)},
			{ID: "language", Label: "Language", Value: a.Language,
				Hint: "Of the data: a code such as en or de. Empty for numbers and pictures."},
		}},
		{List: rows(list{Name: "subject", Legend: "Term of a classification"}, subjects, a.Subjects, w)},
		{Title: "People", List: rows(list{Name: "creator", Legend: "Creator"}, creators, a.Creators, w)},
		{List: rows(list{Name: "contributor", Legend: "Contributor"}, contributors, a.Contributors, w)},
		{Title: "Other works, and funding", List: rows(list{Name: "work", Legend: "Related work"}, works, a.Related, w)},
		{List: rows(list{Name: "funder", Legend: "Funder"}, funders, a.Funders, w)},
		{Title: "Publication", Fields: []Field{
			{ID: "license", Label: "Licence", Value: a.License, Required: true, Options: suggestions(dataset.Licenses...),
				Hint: "An identifier of the SPDX list, such as CC-BY-4.0."},
			{ID: "embargo", Label: "Files are public from", Value: a.Embargo, Type: "date",
				Hint: "Leave it empty, and the files are public as soon as the dataset is. The description of the dataset is " +
					"public in any case."},
			{ID: "year", Label: "Year of an earlier publication", Value: a.Year,
				Hint: "Leave it empty unless the data were published elsewhere before."},
		}},
	}
}

// renderForm shows the form of a version. Faults are in the order of the fields, and each
// is beside its own.
func (p *Pages) renderForm(w http.ResponseWriter, r *http.Request, status int, d *dataset.Dataset, v *dataset.Version,
	faults []dataset.Fault, notice string) error {
	byField := map[string]string{}
	var listed []dataset.Fault // with labels
	for _, f := range faults {
		byField[f.Field] = f.Message
		if f.Field == "" {
			listed = append(listed, f)
		}
	}
	note := func(fields []Field, of string) {
		for i := range fields {
			f := &fields[i]
			if f.Fault = byField[f.ID]; f.Fault != "" {
				listed = append(listed, dataset.Fault{Field: f.ID, Label: of + f.Label, Message: f.Fault})
			}
		}
	}
	form := sections(v.About, wished(r))
	for _, s := range form {
		note(s.Fields, "")
		for i, row := range s.List.Rows {
			note(row, fmt.Sprintf("%s %d, ", s.List.Legend, i+1))
		}
	}
	title, action := "New dataset", "/new"
	if d.ID != 0 {
		title, action = "Edit the dataset", v.Path()+"/edit"
	}
	return p.render(w, r, status, "form", title, map[string]any{
		"Faults": listed, "Notice": notice, "Action": action, "Key": r.FormValue("form"), "Dataset": d, "Version": v,
		"Sections": form, "Public": d.ID != 0 && v.State != dataset.Draft,
	})
}

// value is what was typed in a field, with line feeds as in Unix; line has none.
func value(r *http.Request, name string) string {
	return strings.TrimSpace(strings.ReplaceAll(r.PostFormValue(name), "\r\n", "\n"))
}

func line(r *http.Request, name string) string {
	return strings.Join(strings.FieldsFunc(r.PostFormValue(name), unicode.IsSpace), " ")
}

// maxRows is the most rows of a list: a form is read before it is known who sends it, and
// the page that shows it again is a hundred times as large.
const maxRows = 50

// readForm returns what was typed.
func readForm(r *http.Request) (a dataset.About, err error) {
	if err := r.ParseForm(); err != nil {
		return a, err
	}
	for name := range r.PostForm {
		if n, err := strconv.Atoi(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz")); err == nil && n >= maxRows {
			return a, &http.MaxBytesError{Limit: maxForm}
		}
	}
	a = dataset.About{
		Title: line(r, "title"), Description: value(r, "description"), Methods: value(r, "methods"), Type: line(r, "type"),
		Language: line(r, "language"),
		Subjects: read("subject", subjects,
			r), Creators: read("creator", creators,
			r), Contributors: read("contributor", contributors,
			r), Related: read("work", works, r), Funders: read("funder", funders, r),
		Year: line(r, "year"), License: line(r, "license"), Embargo: line(r, "embargo"),
	}
	for keyword := range strings.Lines(value(r, "keywords")) {
		if keyword = strings.Join(strings.Fields(keyword), " "); keyword != "" && !slices.Contains(a.Keywords, keyword) {
			a.Keywords = append(a.Keywords, keyword)
		}
	}
	a.Bare()
	return a, nil
}
