package dataset

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Fault is something to put right, in words of the form.
type Fault struct {
	Field   string // id of the form's field; "" if it is not about one
	Label   string // such as: ORCID of the second creator
	Message string
}

// Faults returns what has to be put right before a version can be stored: everything
// that the service would refuse, what only the check digits of identifiers tell, and
// what the form asks for by itself. Each field has one fault at most.
func (d *Dataset) Faults(v *Version, by Repository) []Fault {
	var all faults
	all.about(v.About)
	for _, f := range d.Record(v, by).Findings() {
		if f.Warning && f.Code != "scheme" && f.Code != "date" {
			continue
		}
		all.add(field(f.Path, v.About), sentence(f.Reason))
	}
	slices.SortStableFunc(all, func(a, b Fault) int { return cmp.Compare(place(a.Field), place(b.Field)) })
	return all
}

func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

type faults []Fault

func (all *faults) add(field, message string) {
	for _, f := range *all {
		if f.Field == field && (field != "" || f.Message == message) {
			return
		}
	}
	*all = append(*all, Fault{field, Label(field), message})
}

func (all *faults) about(a About) {
	if a.Title == "" {
		all.add("title", "Give the dataset a title.")
	}
	if len(a.Creators) == 0 {
		all.add("family0", "Name at least one creator.")
	}
	if _, err := time.Parse(time.DateOnly, a.Embargo); a.Embargo != "" && err != nil {
		all.add("embargo", "Write the day as 2026-12-31.")
	}
	for i, c := range a.Creators {
		n := strconv.Itoa(i)
		switch {
		case c.Family == "":
			all.add("family"+n, "A creator needs a family name; an organisation has its name here.")
		case c.Organisation && c.Given != "":
			all.add("given"+n, "An organisation has no given name.")
		case c.Organisation && c.ORCID != "":
			all.add("orcid"+n, "ORCIDs are for persons; an organisation has a ROR.")
		case c.Organisation && c.Affiliation != "":
			all.add("affiliation"+n, "An organisation has no affiliation; write its name in the first field.")
		case !c.Organisation && c.Affiliation == "" && c.ROR != "":
			all.add("affiliation"+n, "Name the organisation that has this ROR.")
		}
	}
	for i, f := range a.Funders {
		if f.Name == "" {
			all.add("funder"+strconv.Itoa(i), "Name the funder.")
		}
	}
}

// places lead from the paths of findings to fields of the form.
var places = []struct {
	path  *regexp.Regexp
	field string
}{
	{regexp.MustCompile(`^titles`), "title"},
	{regexp.MustCompile(`^descriptions`), "description"},
	{regexp.MustCompile(`^publicationYear`), "year"},
	{regexp.MustCompile(`^rightsList`), "license"},
	{regexp.MustCompile(`^dates`), "embargo"},
	{regexp.MustCompile(`^creators\[(\d+)\]\.nameIdentifiers`), "orcid"},
	{regexp.MustCompile(`^creators\[(\d+)\]\.affiliation.*Identifier`), "ror"},
	{regexp.MustCompile(`^creators\[(\d+)\]\.affiliation`), "affiliation"},
	{regexp.MustCompile(`^creators\[(\d+)\]\.givenName`), "given"},
	{regexp.MustCompile(`^creators\[(\d+)\]`), "family"},
	{regexp.MustCompile(`^creators`), "family0"},
	{regexp.MustCompile(`^fundingReferences\[(\d+)\]\.funderIdentifier`), "funderror"},
	{regexp.MustCompile(`^fundingReferences\[(\d+)\]\.awardNumber`), "award"},
	{regexp.MustCompile(`^fundingReferences\[(\d+)\]\.awardTitle`), "awardtitle"},
	{regexp.MustCompile(`^fundingReferences\[(\d+)\]`), "funder"},
}

func field(path string, a About) string {
	for _, p := range places {
		m := p.path.FindStringSubmatch(path)
		switch {
		case m == nil:
			continue
		case len(m) == 1:
			return p.field
		}
		if i, _ := strconv.Atoi(m[1]); p.field == "orcid" && a.Creators[i].Organisation {
			return "ror" + m[1]
		}
		return p.field + m[1]
	}
	return ""
}

// place is where a field is in the form, from top to bottom.
func place(field string) int {
	m := numbered.FindStringSubmatch(field)
	if m == nil {
		return slices.Index([]string{"", "title", "description", "year", "license", "embargo"}, field)
	}
	i, _ := strconv.Atoi(m[2])
	if ofFunder(m[1]) {
		return 10_000 + i
	}
	return 10 + i
}

func ofFunder(field string) bool {
	return strings.HasPrefix(field, "fund") || strings.HasPrefix(field, "award")
}

var (
	words = map[string]string{
		"title": "Title", "description": "Description", "year": "Year of publication", "license": "Licence", "embargo": "Files are public from",
		"family": "Family name", "given": "Given name", "orcid": "ORCID", "affiliation": "Affiliation", "ror": "ROR",
		"funder": "Name", "funderror": "ROR", "award": "Number of the award", "awardtitle": "Title of the award",
	}
	ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	numbered = regexp.MustCompile(`^([a-z]+)(\d+)$`)
)

// Label names a field of the form.
func Label(field string) string {
	m := numbered.FindStringSubmatch(field)
	if m == nil {
		return words[field]
	}
	i, _ := strconv.Atoi(m[2])
	ordinal := fmt.Sprintf("%dth", i+1)
	if i < len(ordinals) {
		ordinal = ordinals[i]
	}
	of := "creator"
	if ofFunder(m[1]) {
		of = "funder"
	}
	return words[m[1]] + " of the " + ordinal + " " + of
}
