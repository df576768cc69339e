package dataset

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
)

// A Fault is a mistake in a form.
type Fault struct {
	Field   string // id of the form's field; "" if it is not about one
	Label   string // of the field
	Message string
}

// Faults returns what must be corrected before a version can be stored: what the service would
// refuse, identifiers with wrong check digits, and the rules of the form itself. Each field has
// one fault at most.
func (d *Dataset) Faults(v *Version, by Repository) []Fault {
	var all faults
	all.about(v.About)
	for i, r := range v.About.Related {
		if name := r.DOI(); name != "" && (doi.Same(name, d.DOI) || doi.Same(name, v.DOI)) {
			all.add("related"+strconv.Itoa(i), "This is the DOI of the dataset itself.")
		}
	}
	if day := v.About.Embargo; day != "" && v.State != Withdrawn && day < cmp.Or(v.Published,
		time.Now().UTC().Format(time.DateOnly)) {
		all.add("embargo", "This day is over. Leave the field empty, and the files are public as soon as the dataset is.")
	}
	if year := v.About.Year; year > v.Available()[:4] {
		all.add("year", "It cannot be after "+v.Available()[:4]+".")
	}
	for _, f := range d.Record(v, by).Findings() {
		if f.Warning && f.Code != datacite.CodeScheme && f.Code != datacite.CodeDate && f.Code != datacite.CodeURI {
			continue
		}
		all.add(field(f.Path, v.About), Sentence(f.Reason))
	}
	return all
}

// Sentence is a text with a capital letter and a full stop.
func Sentence(text string) string {
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
	*all = append(*all, Fault{Field: field, Message: message})
}

func (all *faults) about(a About) {
	if a.Title == "" {
		all.add("title", "Give the dataset a title.")
	}
	if len(a.Creators) == 0 {
		all.add("family0", "Name at least one creator.")
	}
	if a.Year != "" && !year.MatchString(a.Year) {
		all.add("year", "Write the year with four digits.")
	}
	if _, err := language.Parse(a.Language); a.Language != "" && err != nil {
		all.add("language", "There is no such language. Use a code such as en or de.")
	}
	if _, err := time.Parse(time.DateOnly, a.Embargo); a.Embargo != "" && err != nil {
		all.add("embargo", "Write the day as 2026-12-31.")
	}
	for i, s := range a.Subjects {
		n := strconv.Itoa(i)
		switch {
		case s.Term == "":
			all.add("term"+n, "Write the term.")
		case s.Scheme == "":
			all.add("scheme"+n, "Name the classification. A keyword without one belongs to the keywords above.")
		case s.URI != "" && !onTheWeb(s.URI):
			all.add("termuri"+n, "Give an address that begins with https://.")
		}
	}
	for i, c := range a.Creators {
		all.person(c, "", strconv.Itoa(i))
	}
	for i, c := range a.Contributors {
		all.person(c.Creator, "co", strconv.Itoa(i))
	}
	for i, r := range a.Related {
		if r.DOI() == "" && !onTheWeb(r.ID) {
			all.add("related"+strconv.Itoa(i), "Give a DOI such as 10.5072/abc, or an address that begins with https://.")
		}
	}
	for i, f := range a.Funders {
		if f.Name == "" {
			all.add("funder"+strconv.Itoa(i), "Name the funder.")
		}
	}
}

var year = regexp.MustCompile(`^\d{4}$`)

func onTheWeb(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// person checks a creator, or a contributor, whose fields have names with co.
func (all *faults) person(c Creator, co, n string) {
	switch {
	case c.Family == "":
		all.add(co+"family"+n, "A person needs a family name; an organisation has its name here.")
	case c.Organisation && c.Given != "":
		all.add(co+"given"+n, "An organisation has no given name.")
	case c.Organisation && c.ORCID != "":
		all.add(co+"orcid"+n, "ORCIDs are for persons; an organisation has a ROR.")
	case c.Organisation && len(c.Affiliations) > 0:
		all.add(co+"affiliation"+n, "An organisation has no affiliation; write its name in the first field.")
	case !c.Organisation && c.ROR != "":
		all.add(co+"ror"+n, "A person has no ROR. Write that of an affiliation behind its name.")
	case slices.ContainsFunc(c.Affiliations, func(in Affiliation) bool { return in.Name == "" }):
		all.add(co+"affiliation"+n, "Name the organisation that has this ROR.")
	}
}

// places map the paths of findings to fields of the form.
var places = []struct {
	path  *regexp.Regexp
	field string
}{
	{regexp.MustCompile(`^titles`), "title"},
	{regexp.MustCompile(`^language`), "language"},
	{regexp.MustCompile(`^types`), "type"},
	{regexp.MustCompile(`^publicationYear`), "year"},
	{regexp.MustCompile(`^rightsList`), "license"},
	{regexp.MustCompile(`^dates`), "embargo"},
	{regexp.MustCompile(`^descriptions\[(\d+)\]`), "description"},
	{regexp.MustCompile(`^subjects\[(\d+)\]\.valueUri`), "termuri"},
	{regexp.MustCompile(`^subjects\[(\d+)\]\.subjectScheme`), "scheme"},
	{regexp.MustCompile(`^subjects\[(\d+)\]`), "term"},
	{regexp.MustCompile(`^(?:creators|contributors)\[(\d+)\]\.nameIdentifiers`), "orcid"},
	{regexp.MustCompile(`^(?:creators|contributors)\[(\d+)\]\.affiliation`), "affiliation"},
	{regexp.MustCompile(`^(?:creators|contributors)\[(\d+)\]\.givenName`), "given"},
	{regexp.MustCompile(`^contributors\[(\d+)\]\.contributorType`), "role"},
	{regexp.MustCompile(`^(?:creators|contributors)\[(\d+)\]`), "family"},
	{regexp.MustCompile(`^creators`), "family0"},
	{regexp.MustCompile(`^relatedIdentifiers\[(\d+)\]\.relationType`), "relation"},
	{regexp.MustCompile(`^relatedIdentifiers\[(\d+)\]\.resourceTypeGeneral`), "relatedtype"},
	{regexp.MustCompile(`^relatedIdentifiers\[(\d+)\]`), "related"},
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
		i, _ := strconv.Atoi(m[1])
		switch member, _, _ := strings.Cut(path, "["); {
		case member == "descriptions" && (i == 1 || a.Description == ""):
			return "methods"
		case member == "descriptions":
			return p.field
		case member == "subjects" && i < len(a.Keywords):
			return "keywords"
		case member == "subjects":
			return p.field + strconv.Itoa(i-len(a.Keywords))
		case member == "creators" && p.field == "orcid" && a.Creators[i].Organisation:
			return "ror" + m[1]
		case member == "contributors" && p.field == "orcid" && a.Contributors[i].Organisation:
			return "coror" + m[1]
		case member == "contributors" && p.field != "role":
			return "co" + p.field + m[1]
		}
		return p.field + m[1]
	}
	return ""
}
