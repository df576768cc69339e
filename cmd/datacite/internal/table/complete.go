package table

import (
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/spelling"
	"github.com/datacite-go/datacite-go/metadata"
)

// Complete applies a row to an existing record: it returns the existing record with the values of the row's
// cells. [metadata.Diff] of the result and the existing record lists exactly the changes that the table makes.
//
// Properties with an empty cell or without a column, such as contributors, keep their values. A list in a cell
// replaces the whole list, except the date of issue, which the service makes; title and abstract replace one of
// several titles and descriptions. An existing element is corrected if the cell has an element with the same
// identifier or kind of date, or with the same or nearly the same name; otherwise it is replaced. A corrected
// element keeps values that a cell cannot express, such as the language of a title, and values that the cell
// leaves out, such as the ORCID of a creator whom the row only names.
//
// Values that the reader derives are for new records, and do not change an existing one: the kind of a name and
// its parts, schemes of identifiers and their addresses, the details of a licence. There is one exception: a
// kind of name that differs from the record's.
func Complete(row, existing *metadata.Record) *metadata.Record {
	switch {
	case row == nil:
		return existing
	case existing == nil:
		return row
	}
	whole := *existing
	for _, c := range columns {
		if c.complete != nil {
			c.complete(row, &whole)
		}
	}
	return &whole
}

func completeTitle(said, r *metadata.Record) {
	if len(said.Titles) == 0 {
		return
	}
	i := mainTitle(r.Titles)
	if i < 0 {
		r.Titles = slices.Clone(said.Titles)
		return
	}
	if r.Titles = slices.Clone(r.Titles); !sameWords(said.Titles[0].Title, r.Titles[i].Title) {
		r.Titles[i].Title = said.Titles[0].Title
	}
}

func completeDescription(said, r *metadata.Record) {
	if len(said.Descriptions) == 0 {
		return
	}
	i := abstract(r.Descriptions)
	if i < 0 {
		r.Descriptions = append(slices.Clip(r.Descriptions), said.Descriptions[0])
		return
	}
	r.Descriptions = slices.Clone(r.Descriptions)
	if d := &r.Descriptions[i]; inCell(d.Description) != said.Descriptions[0].Description {
		d.Description, d.Breaks = said.Descriptions[0].Description, nil
	}
}

func completeYear(said, r *metadata.Record) {
	if said.PublicationYear != "" {
		r.PublicationYear = said.PublicationYear
	}
}

func completeLanguage(said, r *metadata.Record) {
	if said.Language != "" {
		r.Language = said.Language
	}
}

func completeType(said, r *metadata.Record) {
	if s := said.Types; s.ResourceTypeGeneral != "" {
		if r.Types.ResourceTypeGeneral != "" && r.Types.ResourceTypeGeneral != s.ResourceTypeGeneral {
			r.Types = metadata.Types{} // the words were for another type
		}
		r.Types.ResourceTypeGeneral = s.ResourceTypeGeneral
	}
	if words := said.Types.ResourceType; words != "" {
		r.Types.ResourceType = words
	}
}

func completePublisher(said, r *metadata.Record) {
	s, p := said.Publisher, &r.Publisher
	if s.Name == "" {
		return
	}
	if !near(s.Name, p.Name) && !sameEnd(s.PublisherIdentifier, p.PublisherIdentifier) {
		*p = metadata.Publisher{Lang: p.Lang} // another organization
	}
	if !sameWords(s.Name, p.Name) {
		p.Name = s.Name
	}
	if s.PublisherIdentifier != "" && (!sameEnd(s.PublisherIdentifier, p.PublisherIdentifier) || otherScheme(s.PublisherIdentifierScheme, p.PublisherIdentifierScheme)) {
		p.PublisherIdentifier, p.PublisherIdentifierScheme, p.SchemeURI = s.PublisherIdentifier, s.PublisherIdentifierScheme, s.SchemeURI
	}
}

func completeCreators(said, r *metadata.Record) {
	r.Creators = corrected(said.Creators, r.Creators, creatorLikeness, correctedCreator)
}

func completeSubjects(said, r *metadata.Record) {
	r.Subjects = corrected(said.Subjects, r.Subjects, subjectLikeness, correctedSubject)
}

func completeRights(said, r *metadata.Record) {
	r.RightsList = corrected(said.RightsList, r.RightsList, rightsLikeness, correctedRights)
}

func completeRelated(said, r *metadata.Record) {
	r.RelatedIdentifiers = corrected(said.RelatedIdentifiers, r.RelatedIdentifiers, relatedLikeness, correctedRelated)
}

// completeDates keeps dates of issue that the cell does not say: the service makes one from the
// year.
func completeDates(said, r *metadata.Record) {
	if len(said.Dates) == 0 {
		return
	}
	isIssued := func(d metadata.Date) bool { return d.DateType == metadata.DateIssued }
	dates := corrected(said.Dates, r.Dates, dateLikeness, correctedDate)
	if !slices.ContainsFunc(said.Dates, isIssued) {
		for _, d := range r.Dates {
			if isIssued(d) {
				dates = append(dates, d)
			}
		}
	}
	r.Dates = dates
}

// likeness is how sure it is that what a cell says is about an existing element.
type likeness int

const (
	unlike   likeness = iota
	similar           // it may be the element with a fault corrected
	sameOne           // another detail of the same element
	sameSaid          // the element says the same
)

// corrected is a list of a cell with what the existing list says more. The pairs that are
// most alike come first, of equal ones those in the same place.
func corrected[E any](said, existing metadata.List[E], like func(said, found E) likeness, correct func(said, found E) E) metadata.List[E] {
	if len(said) == 0 {
		return existing
	}
	const reach = 50 // places around, which bounds the time for lists of thousands
	all, done, taken := slices.Clone(said), make([]bool, len(said)), make([]bool, len(existing))
	pair := func(i, j int, least likeness) {
		if j < len(existing) && !done[i] && !taken[j] && like(said[i], existing[j]) >= least {
			all[i], done[i], taken[j] = correct(said[i], existing[j]), true, true
		}
	}
	for least := sameSaid; least > unlike; least-- {
		for i := range said {
			pair(i, i, least)
		}
		for i := range said {
			for j := max(0, i-reach); j < min(len(existing), i+reach) && !done[i]; j++ {
				pair(i, j, least)
			}
		}
	}
	for i := range said { // what is repeated is the same element: the service's JSON leaves out repeats
		for k := max(0, i-reach); k < i && !done[i]; k++ {
			if done[k] && reflect.DeepEqual(said[i], said[k]) {
				all[i], done[i] = all[k], true
			}
		}
	}
	return all
}

func creatorLikeness(said, found metadata.Creator) likeness {
	shares := slices.ContainsFunc(said.NameIdentifiers, func(id metadata.NameIdentifier) bool { return identifierIn(id, found) >= 0 })
	switch named := sameCreatorName(said, found); {
	case named && (shares || len(said.NameIdentifiers) == 0):
		return sameSaid
	case named, shares:
		return sameOne
	case slices.ContainsFunc(said.NameIdentifiers, func(id metadata.NameIdentifier) bool { return ofScheme(id, found) >= 0 }):
		return unlike // two persons with an identifier each
	case near(said.Name, found.Name), sameInitials(said, found):
		return similar
	}
	return unlike
}

// identifierIn is the place of an identifier of a cell in an existing creator, or -1.
func identifierIn(said metadata.NameIdentifier, found metadata.Creator) int {
	return slices.IndexFunc(found.NameIdentifiers, func(id metadata.NameIdentifier) bool {
		return sameEnd(said.NameIdentifier, id.NameIdentifier)
	})
}

// ofScheme is the place of an identifier with the same scheme, or -1.
func ofScheme(said metadata.NameIdentifier, found metadata.Creator) int {
	return slices.IndexFunc(found.NameIdentifiers, func(id metadata.NameIdentifier) bool {
		return plain(id.NameIdentifierScheme) == plain(said.NameIdentifierScheme)
	})
}

// sameCreatorName compares a name "Family, Given" with one that may be written in another
// way.
func sameCreatorName(said, found metadata.Creator) bool {
	if sameWords(said.Name, found.Name) {
		return true
	}
	if found.FamilyName != "" && found.GivenName != "" {
		return sameWords(said.Name, found.FamilyName+", "+found.GivenName)
	}
	return said.GivenName != "" && sameWords(said.GivenName+" "+said.FamilyName, found.Name)
}

// sameInitials reports whether two persons have the same family name and given names that
// may be initials of each other.
func sameInitials(said, found metadata.Creator) bool {
	family, given, isPerson := strings.Cut(found.Name, ",")
	if !isPerson || said.GivenName == "" || !strings.EqualFold(said.FamilyName, strings.TrimSpace(family)) {
		return false
	}
	words := func(names string) []string {
		return strings.FieldsFunc(strings.ToLower(names), func(r rune) bool { return strings.ContainsRune(" .-", r) })
	}
	x, y := words(said.GivenName), words(given)
	for i := range min(len(x), len(y)) {
		short, long := x[i], y[i]
		if len(short) > len(long) {
			short, long = long, short
		}
		if short != long && !(len([]rune(short)) == 1 && strings.HasPrefix(long, short)) {
			return false
		}
	}
	return len(x) > 0 && len(y) > 0
}

func correctedCreator(said, found metadata.Creator) metadata.Creator {
	c, renamed := found, !sameCreatorName(said, found)
	if renamed {
		c.Name = said.Name
	}
	retyped := c.NameType != "" && said.NameType != "" && c.NameType != said.NameType
	if retyped {
		c.NameType = said.NameType
	}
	if retyped || renamed && c.FamilyName+c.GivenName != "" {
		c.FamilyName, c.GivenName = said.FamilyName, said.GivenName
	}
	c.NameIdentifiers = slices.Clone(c.NameIdentifiers)
	for _, id := range said.NameIdentifiers {
		if i := identifierIn(id, c); i >= 0 {
			if s := &c.NameIdentifiers[i]; otherScheme(id.NameIdentifierScheme, s.NameIdentifierScheme) {
				s.NameIdentifierScheme, s.SchemeURI = id.NameIdentifierScheme, id.SchemeURI
			}
			continue
		}
		if i := ofScheme(id, c); i >= 0 {
			c.NameIdentifiers[i] = id
		} else {
			c.NameIdentifiers = append(c.NameIdentifiers, id)
		}
	}
	c.Affiliation = corrected(said.Affiliation, c.Affiliation, affiliationLikeness, correctedAffiliation)
	return c
}

// otherScheme reports whether a cell says another scheme than the existing one. None is not
// another one: the reader derives some.
func otherScheme(said, found string) bool {
	return said != "" && found != "" && plain(said) != plain(found)
}

func affiliationLikeness(said, found metadata.Affiliation) likeness {
	named, shares := sameWords(said.Name, found.Name), sameEnd(said.AffiliationIdentifier, found.AffiliationIdentifier)
	switch {
	case named && (shares || said.AffiliationIdentifier == ""):
		return sameSaid
	case named, shares:
		return sameOne
	case near(said.Name, found.Name) && (said.AffiliationIdentifier == "" || found.AffiliationIdentifier == ""):
		return similar
	}
	return unlike
}

func correctedAffiliation(said, found metadata.Affiliation) metadata.Affiliation {
	a := found
	if !sameWords(said.Name, found.Name) {
		a.Name = said.Name
	}
	if said.AffiliationIdentifier != "" && (!sameEnd(said.AffiliationIdentifier, found.AffiliationIdentifier) || otherScheme(said.AffiliationIdentifierScheme, found.AffiliationIdentifierScheme)) {
		a.AffiliationIdentifier, a.AffiliationIdentifierScheme, a.SchemeURI = said.AffiliationIdentifier, said.AffiliationIdentifierScheme, said.SchemeURI
	}
	return a
}

func subjectLikeness(said, found metadata.Subject) likeness {
	schemed := said.SubjectScheme == "" || sameWords(said.SubjectScheme, found.SubjectScheme)
	switch same := sameWords(said.Subject, found.Subject); {
	case same && schemed:
		return sameSaid
	case same:
		return sameOne
	case schemed && (near(said.Subject, found.Subject) || found.ValueURI+found.ClassificationCode == "" && oneSign(said.Subject, found.Subject)):
		return similar
	}
	return unlike
}

func correctedSubject(said, found metadata.Subject) metadata.Subject {
	s := found
	if !sameWords(said.Subject, found.Subject) {
		s.Subject = said.Subject
	}
	if said.SubjectScheme != "" && !sameWords(said.SubjectScheme, found.SubjectScheme) {
		if found.SubjectScheme != "" { // what is said of the other scheme goes with it
			s.SchemeURI, s.ValueURI, s.ClassificationCode = "", "", ""
		}
		s.SubjectScheme = said.SubjectScheme
	}
	return s
}

func rightsLikeness(said, found metadata.Rights) likeness {
	if said.RightsIdentifier != "" { // the rest is derived
		for _, id := range []string{found.RightsIdentifier, found.Rights} {
			if plain(said.RightsIdentifier) == plain(id) || sameWords(said.Rights, id) {
				return sameSaid
			}
		}
		if sameAddress(said.RightsURI, found.RightsURI) || sameAddress(said.RightsURI, found.Rights) {
			return sameSaid
		}
		return unlike
	}
	worded, addressed := sameWords(said.Rights, found.Rights), sameAddress(said.RightsURI, found.RightsURI)
	switch {
	case (worded || said.Rights == "") && (addressed || said.RightsURI == ""):
		return sameSaid
	case worded, addressed:
		return sameOne
	case said.Rights != "" && near(said.Rights, found.Rights) && (said.RightsURI == "" || found.RightsURI == ""):
		return similar
	}
	return unlike
}

func correctedRights(said, found metadata.Rights) metadata.Rights {
	if rightsLikeness(said, found) == sameSaid {
		return found
	}
	r := found
	if said.Rights != "" {
		r.Rights = said.Rights
	}
	if said.RightsURI != "" && !sameAddress(said.RightsURI, found.RightsURI) {
		if found.RightsURI != "" { // the identifier is that of the other licence
			r.RightsIdentifier, r.RightsIdentifierScheme, r.SchemeURI = "", "", ""
		}
		r.RightsURI = said.RightsURI
	}
	return r
}

func relatedLikeness(said, found metadata.RelatedIdentifier) likeness {
	kind := said.RelationType == found.RelationType && said.RelatedIdentifierType == found.RelatedIdentifierType
	switch same := sameAddress(said.RelatedIdentifier, found.RelatedIdentifier); {
	case same && kind:
		return sameSaid
	case same:
		return sameOne
	case kind && near(core(said.RelatedIdentifier), core(found.RelatedIdentifier)):
		return similar
	}
	return unlike
}

func correctedRelated(said, found metadata.RelatedIdentifier) metadata.RelatedIdentifier {
	r := found
	r.RelationType, r.RelatedIdentifierType = said.RelationType, said.RelatedIdentifierType
	if said.RelatedIdentifierType != metadata.IdentifierDOI || !sameAddress(said.RelatedIdentifier, found.RelatedIdentifier) {
		r.RelatedIdentifier = said.RelatedIdentifier
	}
	return r
}

func dateLikeness(said, found metadata.Date) likeness {
	noted := said.DateInformation == "" || sameWords(said.DateInformation, found.DateInformation)
	switch same := sameWords(said.Date, found.Date); {
	case said.DateType != found.DateType:
		return unlike
	case same && noted:
		return sameSaid
	case same:
		return sameOne
	}
	return similar
}

func correctedDate(said, found metadata.Date) metadata.Date {
	d := found
	d.Date = said.Date
	if said.DateInformation != "" {
		d.DateInformation = said.DateInformation
	}
	return d
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// sameWords ignores white space.
func sameWords(a, b string) bool { return a == b || words(a) == words(b) }

// near reports whether one text may be the other with a fault corrected: one sign in six may
// differ, and the case of all.
func near(a, b string) bool {
	a, b = strings.ToLower(words(a)), strings.ToLower(words(b))
	limit := max(len(a), len(b))/6 + 1
	return a != "" && b != "" && (a == b || spelling.Distance(a, b, limit) < limit)
}

// oneSign reports whether one sign of a short word may be the fault that was corrected.
func oneSign(a, b string) bool {
	const shortest, limit = 3, 2
	a, b = strings.ToLower(words(a)), strings.ToLower(words(b))
	return min(len(a), len(b)) >= shortest && spelling.Distance(a, b, limit) < limit
}

// inCell is a text as it is read from a cell that has it.
func inCell(text string) string {
	return strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
}

// sameEnd compares identifiers without their addresses. Empty ones are not the same.
func sameEnd(a, b string) bool {
	end := func(id string) string {
		if id = strings.ToLower(words(id)); strings.Contains(id, "://") || isROR(id) || strings.HasPrefix(id, "orcid.org/") {
			id = strings.TrimSuffix(id, "/")
			id = id[strings.LastIndexByte(id, '/')+1:]
		}
		return id
	}
	return a != "" && end(a) == end(b)
}

// sameAddress compares addresses, and DOIs with and without one, but not empty ones.
func sameAddress(a, b string) bool { return a != "" && core(a) == core(b) }

// core is the part of an address that tells it from others.
func core(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, start := range []string{"https://", "http://", "www.", "dx.", "doi.org/", "doi:"} {
		text = strings.TrimPrefix(text, start)
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(text, "/"), "legalcode"), "/")
}
