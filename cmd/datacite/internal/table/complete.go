package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// Complete applies a row to the record that is stored for its DOI, in one of the two forms that the service keeps:
// that of its JSON or that of its XML. It returns found.Record with the corrections of the row:
//
//   - Empty cells and missing columns change nothing. Neither does a cell with the text that a Writer would write for
//     what is stored.
//   - An element of a list is the stored one with the same identifier or the same text; white space and case do not
//     matter. It keeps what the cell does not say.
//   - Any other element of a cell is new, and has only what the cell says.
//   - Stored elements that a cell no longer has are removed. The date Issued that the service makes of the year stays.
//
// Title, abstract, publisher and type are lists of one element: the main title, the abstract. The findings are
// warnings about identifiers, languages and polygons that are stored and not in the result, with their
// paths in the stored record. A nil found is a new DOI: the result is the row.
func Complete(row *metadata.Record, found *dois.Record) (*metadata.Record, []datacite.Finding) {
	switch {
	case found == nil:
		return row, nil
	case row == nil:
		return &found.Record, nil
	}
	whole, changed, stored := found.Record, false, Stored(found)
	inWords := inForm(row, &found.Record, stored)
	for _, c := range columns {
		said := c.cell(&Row{Record: row})
		if c.complete == nil || said == "" || said == c.again(&found.Record) || said == c.again(stored) {
			continue
		}
		c.complete(inWords, &whole)
		changed = true
	}
	if !changed {
		return &whole, nil
	}
	return &whole, removed(&found.Record, &whole)
}

// inForm returns a row with the elements of the form that was found, where a cell has the text that the
// other form has for them: the service's JSON shows some names and licences in other words than its XML.
func inForm(row, found, stored *metadata.Record) *metadata.Record {
	whole := *row
	whole.Creators = shownAs(row.Creators, found.Creators, stored.Creators, creatorCell)
	whole.Contributors = shownAs(row.Contributors, found.Contributors, stored.Contributors, contributorCell)
	whole.RightsList = shownAs(row.RightsList, found.RightsList, stored.RightsList, rightsCell)
	whole.FundingReferences = shownAs(row.FundingReferences, found.FundingReferences, stored.FundingReferences,
		fundingCell)
	return &whole
}

func shownAs[E any](said, found, stored metadata.List[E], cell func(E) string) metadata.List[E] {
	if len(found) != len(stored) {
		return said
	}
	said = slices.Clone(said)
	for i, e := range said {
		if j := slices.IndexFunc(stored, func(s E) bool { return cell(s) == cell(e) }); j >= 0 {
			said[i] = found[j]
		}
	}
	return said
}

// again is the cell of a record after it was written and read; "" if it cannot be read.
func (c *column) again(r *metadata.Record) string {
	read := &Row{Record: &metadata.Record{}}
	if text := c.cell(&Row{Record: r}); text == "" || c.read(text, read) != nil {
		return ""
	}
	return c.cell(read)
}

// carried are members of elements that go with a removed one.
var carried = []string{
	"nameIdentifier", "affiliationIdentifier", "publisherIdentifier", "rightsIdentifier", "valueUri", "classificationCode",
	"funderIdentifier", "awardNumber", "awardUri", "awardTitle",
	"dateInformation", "lang",
}

var inLists = lazy.Regexp(`\[\d+\]`)

// removed warns of identifiers, languages and polygons that the record before has, and the one after lacks.
func removed(before, after *metadata.Record) (all []datacite.Finding) {
	left := map[string]int{}
	eachCarried("", members(after), func(_, key, _ string) { left[key]++ })
	eachCarried("", members(before), func(path, key, value string) {
		if left[key]--; left[key] < 0 {
			all = append(all, datacite.Finding{Path: path, Code: "removed", Value: value, Warning: true,
				Reason: fmt.Sprintf("%q is removed: the table has other values in place of the one that it belongs to", value)})
		}
	})
	return all
}

func eachCarried(path string, in any, do func(path, key, value string)) {
	switch in := in.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(in)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			if value, isText := in[name].(string); isText && slices.Contains(carried, name) {
				do(at, inLists().ReplaceAllString(at, " ")+value, value)
			} else if name == "geoLocationPolygon" {
				do(at, inLists().ReplaceAllString(at, " ")+fmt.Sprint(in[name]), "polygon")
			}
			eachCarried(at, in[name], do)
		}
	case []any:
		for i := range in {
			eachCarried(fmt.Sprintf("%s[%d]", path, i), in[i], do)
		}
	}
}

// names are what an element is known by: its text in a cell, then its identifiers, and then its words.
type names [][]string

// corrected is the list of a cell. An element that has a name of a stored one is merged with it; the text in the cell
// goes before identifiers, and these before words.
func corrected[E any](said, stored metadata.List[E], names func(E) names,
	merge func(said, stored E) E) metadata.List[E] {
	if len(said) == 0 {
		return stored
	}
	all, done, taken := slices.Clone(said), make([]bool, len(said)), make([]bool, len(stored))
	for level := range len(names(said[0])) {
		places := map[string][]int{}
		for j, e := range stored {
			for _, name := range names(e)[level] {
				if strings.TrimSpace(name) != "" { // empty names are equal to nothing
					places[name] = append(places[name], j)
				}
			}
		}
		for i, e := range said {
			for _, name := range names(e)[level] {
				for len(places[name]) > 0 && !done[i] {
					j := places[name][0]
					places[name] = places[name][1:]
					switch {
					case taken[j]:
					case level == 0:
						all[i], done[i], taken[j] = stored[j], true, true
					default:
						all[i], done[i], taken[j] = merge(e, stored[j]), true, true
					}
				}
			}
		}
	}
	first := map[string]int{}
	for i, e := range said { // the service's JSON leaves out repeats
		name := names(e)[0][0]
		if j, repeated := first[name]; repeated && !done[i] {
			all[i] = all[j]
		} else if !repeated {
			first[name] = i
		}
	}
	return all
}

func completeTitle(said, r *metadata.Record) {
	i := max(mainTitle(r.Titles), 0)
	if r.Titles = slices.Clone(r.Titles); len(r.Titles) == 0 {
		r.Titles = said.Titles
	} else if t := &r.Titles[i]; fold(t.Title) == fold(said.Titles[0].Title) {
		reword(&t.Title, said.Titles[0].Title)
	} else {
		*t = said.Titles[0]
	}
}

func completeDescription(said, r *metadata.Record) {
	i := abstract(r.Descriptions)
	if r.Descriptions = slices.Clone(r.Descriptions); i < 0 {
		r.Descriptions = append(r.Descriptions, said.Descriptions[0])
		return
	}
	text, d := said.Descriptions[0], &r.Descriptions[i]
	if fold(d.Description) == fold(text.Description) {
		text.Lang = d.Lang
	}
	*d = text
}

func completeYear(said, r *metadata.Record) { r.PublicationYear = said.PublicationYear }

func completeType(said, r *metadata.Record) {
	if s := said.Types; s.ResourceTypeGeneral != "" && s.ResourceTypeGeneral != r.Types.ResourceTypeGeneral {
		r.Types = s
	} else {
		reword(&r.Types.ResourceType, s.ResourceType)
	}
}

func completePublisher(said, r *metadata.Record) {
	type list = metadata.List[metadata.Publisher]
	r.Publisher = corrected(list{said.Publisher}, list{r.Publisher}, func(p metadata.Publisher) names {
		return names{{publisherCell(p)}, {end(p.PublisherIdentifier)}, {fold(p.Name)}}
	}, func(said, p metadata.Publisher) metadata.Publisher {
		reword(&p.Name, said.Name)
		identify(&p.PublisherIdentifier, &p.PublisherIdentifierScheme, &p.SchemeURI,
			said.PublisherIdentifier, said.PublisherIdentifierScheme, said.SchemeURI)
		return p
	})[0]
}

// reword gives a stored element what a cell says of a text, if it says something else.
func reword(stored *string, said string) {
	if said != "" && strings.Join(strings.Fields(said), " ") != strings.Join(strings.Fields(*stored), " ") {
		*stored = said
	}
}

// identify does so with an identifier. The reader derives the scheme of a ROR and the addresses of schemes.
func identify(id, scheme, schemeURI *string, said, saidScheme, saidURI string) {
	isSame := end(said) == end(*id) && (fold(saidScheme) == fold(*scheme) || *scheme == "" && isROR(said))
	if said+saidScheme != "" && !isSame {
		*id, *scheme, *schemeURI = said, saidScheme, saidURI
	}
}

func completeCreators(said, r *metadata.Record) {
	r.Creators = corrected(said.Creators, r.Creators, func(c metadata.Creator) names {
		ids, words := namesOfPerson(c)
		return names{{creatorCell(c)}, ids, words}
	}, mergePerson)
}

func completeContributors(said, r *metadata.Record) {
	r.Contributors = corrected(said.Contributors, r.Contributors, func(c metadata.Contributor) names {
		ids, words := namesOfPerson(c.Creator)
		role := string(c.ContributorType) + ": "
		return names{{contributorCell(c)}, prefixed(role, ids), prefixed(role, words), ids, words}
	}, func(said, c metadata.Contributor) metadata.Contributor {
		return metadata.Contributor{Creator: mergePerson(said.Creator, c.Creator), ContributorType: said.ContributorType}
	})
}

func prefixed(with string, texts []string) (all []string) {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, with+text)
		}
	}
	return all
}

func namesOfPerson(c metadata.Creator) (ids, words []string) {
	for _, id := range c.NameIdentifiers {
		ids = append(ids, end(id.NameIdentifier))
	}
	return ids, []string{fold(c.Name), composed(c)}
}

// composed is the name of a person in the order that the service's JSON does not have; "" without its parts.
func composed(c metadata.Creator) string {
	if c.GivenName == "" || c.FamilyName == "" {
		return ""
	}
	return fold(c.GivenName + " " + c.FamilyName)
}

func mergePerson(said, c metadata.Creator) metadata.Creator {
	if nameOf(&said) != nameOf(&c) && fold(said.Name) != composed(c) {
		c.Name, c.NameType, c.FamilyName, c.GivenName = said.Name, said.NameType, said.FamilyName, said.GivenName
	}
	kept := slices.DeleteFunc(slices.Clone(c.NameIdentifiers), func(id metadata.NameIdentifier) bool {
		return slices.ContainsFunc(said.NameIdentifiers, func(said metadata.NameIdentifier) bool {
			return end(said.NameIdentifier) == end(id.NameIdentifier) ||
				fold(said.NameIdentifierScheme) == fold(id.NameIdentifierScheme)
		})
	})
	c.NameIdentifiers = corrected(said.NameIdentifiers, c.NameIdentifiers, func(id metadata.NameIdentifier) names {
		return names{{identifierCell(id, false)}, {end(id.NameIdentifier)}}
	}, func(said, id metadata.NameIdentifier) metadata.NameIdentifier {
		identify(&id.NameIdentifier, &id.NameIdentifierScheme, &id.SchemeURI,
			said.NameIdentifier, said.NameIdentifierScheme, said.SchemeURI)
		return id
	})
	if len(said.NameIdentifiers) > 0 { // those of other schemes
		c.NameIdentifiers = append(c.NameIdentifiers, kept...)
	}
	c.Affiliation = corrected(said.Affiliation, c.Affiliation, func(a metadata.Affiliation) names {
		return names{{affiliationCell(a)}, {end(a.AffiliationIdentifier)}, {fold(a.Name)}}
	}, func(said, a metadata.Affiliation) metadata.Affiliation {
		reword(&a.Name, said.Name)
		identify(&a.AffiliationIdentifier, &a.AffiliationIdentifierScheme, &a.SchemeURI,
			said.AffiliationIdentifier, said.AffiliationIdentifierScheme, said.SchemeURI)
		return a
	})
	return c
}

func completeFunding(said, r *metadata.Record) {
	r.FundingReferences = corrected(said.FundingReferences, r.FundingReferences, func(f metadata.FundingReference) names {
		award := prefixed(fold(f.AwardNumber)+" ", []string{end(f.FunderIdentifier), fold(f.FunderName)})
		return names{{fundingCell(f)}, award, {end(f.FunderIdentifier)}, {fold(f.FunderName)}}
	}, func(said, f metadata.FundingReference) metadata.FundingReference {
		if said.AwardNumber != "" && f.AwardNumber != "" && fold(said.AwardNumber) != fold(f.AwardNumber) {
			return said // another grant
		}
		reword(&f.FunderName, said.FunderName)
		kind := string(f.FunderIdentifierType)
		identify(&f.FunderIdentifier, &kind, &f.SchemeURI,
			said.FunderIdentifier, string(said.FunderIdentifierType), said.SchemeURI)
		f.FunderIdentifierType = metadata.FunderIdentifierType(kind)
		reword(&f.AwardNumber, said.AwardNumber)
		reword(&f.AwardTitle, said.AwardTitle)
		reword(&f.AwardURI, said.AwardURI)
		return f
	})
}

// completePlaces keeps what no cell can say: places that are nothing but polygons.
func completePlaces(said, r *metadata.Record) {
	places := corrected(said.GeoLocations, r.GeoLocations, func(g metadata.GeoLocation) names {
		return names{{placeCell(g)}, {pointCell(g.Point), boxCell(g.Box)}, {fold(g.Place)}}
	}, func(said, g metadata.GeoLocation) metadata.GeoLocation {
		reword(&g.Place, said.Place)
		g.Point, g.Box = cmp.Or(said.Point, g.Point), cmp.Or(said.Box, g.Box)
		return g
	})
	for _, g := range r.GeoLocations {
		if len(g.Polygons) > 0 && placeCell(g) == "" {
			places = append(places, g)
		}
	}
	r.GeoLocations = places
}

func completeAlternates(said, r *metadata.Record) {
	r.AlternateIdentifiers = corrected(said.AlternateIdentifiers, r.AlternateIdentifiers,
		func(a metadata.AlternateIdentifier) names {
			return names{{alternateCell(a)}, {fold(a.AlternateIdentifier)}}
		}, func(said, a metadata.AlternateIdentifier) metadata.AlternateIdentifier {
			reword(&a.AlternateIdentifier, said.AlternateIdentifier)
			reword(&a.AlternateIdentifierType, said.AlternateIdentifierType)
			return a
		})
}

func completeSubjects(said, r *metadata.Record) {
	r.Subjects = corrected(said.Subjects, r.Subjects, func(s metadata.Subject) names {
		return names{{subjectCell(s)}, nil, {fold(s.Subject)}}
	}, func(said, s metadata.Subject) metadata.Subject {
		if said.SubjectScheme != "" && s.SubjectScheme != "" && fold(said.SubjectScheme) != fold(s.SubjectScheme) {
			return said // of another thesaurus
		}
		reword(&s.Subject, said.Subject)
		reword(&s.SubjectScheme, said.SubjectScheme)
		return s
	})
}

func completeRights(said, r *metadata.Record) {
	r.RightsList = corrected(said.RightsList, r.RightsList, func(r metadata.Rights) names {
		return names{{rightsCell(r)}, {fold(r.RightsIdentifier), core(r.RightsURI)}, {fold(r.Rights)}}
	}, func(said, r metadata.Rights) metadata.Rights {
		isOther := said.RightsIdentifier != "" ||
			r.RightsURI != "" && said.RightsURI != "" && core(said.RightsURI) != core(r.RightsURI)
		switch {
		case said.RightsIdentifier != "" && fold(said.RightsIdentifier) == fold(r.RightsIdentifier):
			return r // the rest is derived
		case isOther:
			return said
		}
		reword(&r.Rights, said.Rights)
		reword(&r.RightsURI, said.RightsURI)
		return r
	})
}

func completeRelated(said, r *metadata.Record) {
	r.RelatedIdentifiers = corrected(said.RelatedIdentifiers, r.RelatedIdentifiers,
		func(r metadata.RelatedIdentifier) names {
			return names{{relatedCell(r)}, {string(r.RelationType) + " " + core(r.RelatedIdentifier)},
				{core(r.RelatedIdentifier)}}
		}, func(said, r metadata.RelatedIdentifier) metadata.RelatedIdentifier {
			r.RelationType, r.RelatedIdentifierType = said.RelationType, said.RelatedIdentifierType
			if said.RelatedIdentifierType != metadata.IdentifierDOI { // others may tell case apart
				r.RelatedIdentifier = said.RelatedIdentifier
			}
			return r
		})
}

func completeDates(said, r *metadata.Record) {
	dates := corrected(said.Dates, r.Dates, func(d metadata.Date) names {
		return names{{dateCell(d)}, nil, {string(d.DateType) + " " + fold(d.Date)}}
	}, func(said, d metadata.Date) metadata.Date {
		reword(&d.DateInformation, said.DateInformation)
		return d
	})
	isIssued := func(d metadata.Date) bool { return d.DateType == metadata.DateIssued }
	if !slices.ContainsFunc(said.Dates, isIssued) {
		for _, d := range r.Dates {
			if isIssued(d) && len(d.Date) == len("2026") && d.DateInformation == "" {
				dates = append(dates, d)
			}
		}
	}
	r.Dates = dates
}

// fold is a text for comparing, without differences in white space and case.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// end is an identifier of a person or an organization for comparing, without its address.
func end(id string) string {
	if id = fold(id); strings.Contains(id, "://") || isROR(id) || strings.HasPrefix(id, "orcid.org/") {
		id = strings.TrimSuffix(id, "/")
		id = id[strings.LastIndexByte(id, '/')+1:]
	}
	return id
}

// core is the part of an address that tells it from others.
func core(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, start := range []string{"https://", "http://", "www.", "dx.", "doi.org/", "doi:"} {
		text = strings.TrimPrefix(text, start)
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(text, "/"), "legalcode"), "/")
}
