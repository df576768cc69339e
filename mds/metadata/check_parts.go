package metadata

import (
	"regexp"
	"slices"
	"strings"
)

const maxPeople = 10_000 // the service is known to take that many

// record checks the properties in the schema's order.
func (c *checker) record(r *Record) {
	c.creators(r.Creators)
	if len(r.Titles) == 0 {
		c.fault(CodeRequired, at("titles"), "", "a record needs a title; where there is none, write :unav")
	}
	each(c, at("titles"), r.Titles, (*checker).title)
	c.publisher(at("publisher"), &r.Publisher)
	c.check(at("publicationYear"), string(r.PublicationYear), yearRule)
	c.check(at("types").dot("resourceTypeGeneral"), string(r.Types.ResourceTypeGeneral), resourceTypeRule)
	each(c, at("subjects"), r.Subjects, (*checker).subject)
	c.contributors(r.Contributors)
	each(c, at("dates"), r.Dates, (*checker).date)
	c.check(at("language"), string(r.Language), optional(languageRule))
	c.alternates(r)
	each(c, at("relatedIdentifiers"), r.RelatedIdentifiers, (*checker).relatedIdentifier)
	each(c, at("rightsList"), r.RightsList, (*checker).rights)
	each(c, at("descriptions"), r.Descriptions, (*checker).description)
	each(c, at("geoLocations"), r.GeoLocations, (*checker).geoLocation)
	each(c, at("fundingReferences"), r.FundingReferences, (*checker).fundingReference)
	each(c, at("relatedItems"), r.RelatedItems, (*checker).relatedItem)
}

func each[T any](c *checker, p *path, list []T, check func(*checker, *path, *T)) {
	for i := range list {
		check(c, p.item(i), &list[i])
	}
}

func (c *checker) creators(list []Creator) {
	p := at("creators")
	if len(list) == 0 {
		c.fault(CodeRequired, p, "", "a record needs a creator; where nobody can be named, write the name :unkn")
	}
	c.crowd(p, len(list))
	for i := range list {
		c.check(p.item(i).dot("name"), list[i].Name, creatorNameRule)
		c.person(p.item(i), list[i].person())
	}
}

func (c *checker) contributors(list []Contributor) {
	p := at("contributors")
	c.crowd(p, len(list))
	for i := range list {
		c.check(p.item(i).dot("name"), list[i].Name, contributorNameRule)
		c.check(p.item(i).dot("contributorType"), string(list[i].ContributorType), contributorTypeRule)
		c.person(p.item(i), list[i].person())
	}
}

func (c *checker) crowd(p *path, n int) {
	if n > maxPeople {
		c.warn(CodeName, p, "", "the service is known to take %d people, these are %d", maxPeople, n)
	}
}

func (c *checker) person(p *path, who person) {
	name, given, family := *who.name, *who.givenName, *who.familyName
	c.check(p.dot("nameType"), string(*who.nameType), optional(nameTypeRule))
	c.check(p.dot("lang"), *who.lang, optional(languageRule))
	if *who.lang != "" {
		c.warn(CodeLossy, p.dot("lang"), *who.lang, "the service keeps the language of a name in its XML only")
	}
	switch {
	case *who.nameType == NamePersonal && !strings.Contains(name, ",") && given == "" && family == "" && !isStandIn(name):
		c.warn(CodeName, p.dot("name"), name, "the name of a person is written Family, Given, or has a given and a family name beside it")
	case *who.nameType == NameOrganizational && (given != "" || family != ""):
		c.warn(CodeName, p.dot("nameType"), string(*who.nameType), "an organization has neither given nor family name")
	}
	if who.nameIdentifiers == nil {
		return
	}
	each(c, p.dot("nameIdentifiers"), *who.nameIdentifiers, (*checker).nameIdentifier)
	each(c, p.dot("affiliation"), *who.affiliation, (*checker).affiliationOf)
}

func (c *checker) nameIdentifier(p *path, n *NameIdentifier) {
	c.agent(p.dot("nameIdentifier"), n.NameIdentifier, p.dot("nameIdentifierScheme"), n.NameIdentifierScheme)
	c.looseURI(p.dot("schemeUri"), n.SchemeURI)
}

func (c *checker) affiliationOf(p *path, a *Affiliation) {
	if trim(a.Name) == "" {
		c.warn(CodeRequired, p.dot("name"), a.Name, "the service drops affiliations without a name")
	}
	c.agent(p.dot("affiliationIdentifier"), a.AffiliationIdentifier, p.dot("affiliationIdentifierScheme"), a.AffiliationIdentifierScheme)
	c.looseURI(p.dot("schemeUri"), a.SchemeURI)
}

// looseURI checks a URI that the schema means to be one, but by a slip takes as
// any text.
func (c *checker) looseURI(p *path, value string) {
	if value != "" && (!isAnyURI(value) || !isAbsoluteURI(value)) {
		c.warn(CodeURI, p, value, "a URI should be absolute, such as https://orcid.org")
	}
}

// agent checks the identifier of a person or organization.
func (c *checker) agent(p *path, value string, schemePath *path, scheme string) {
	switch {
	case value != "" && scheme == "":
		c.warn(CodeScheme, schemePath, "", "an identifier needs its scheme, such as ORCID or ROR")
	case value != "":
		if s, ok := agentSchemes[fold(scheme)]; ok {
			c.scheme(p, value, s)
		}
	}
}

func (c *checker) title(p *path, t *Title) {
	c.check(p.dot("title"), t.Title, titleRule)
	c.check(p.dot("titleType"), string(t.TitleType), optional(titleTypeRule))
	c.check(p.dot("lang"), t.Lang, optional(languageRule))
	c.markup(p.dot("title"), t.Title)
}

// keptTags are the HTML elements the service leaves in texts.
var keptTags = []string{"strong", "em", "b", "i", "code", "pre", "sub", "sup", "br"}

var tagPattern = regexp.MustCompile(`</?([A-Za-z][A-Za-z0-9]*)[^<>]*>`)

func (c *checker) markup(p *path, text string) {
	for _, m := range tagPattern.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(keptTags, strings.ToLower(m[1])) {
			c.warn(CodeLossy, p, text, "the service takes HTML elements out of its JSON, <%s> among them", m[1])
			return
		}
	}
}

func (c *checker) publisher(p *path, pub *Publisher) {
	c.check(p, pub.Name, publisherRule)
	c.agent(p.dot("publisherIdentifier"), pub.PublisherIdentifier, p.dot("publisherIdentifierScheme"), pub.PublisherIdentifierScheme)
	c.uri(p.dot("schemeUri"), pub.SchemeURI)
	c.check(p.dot("lang"), pub.Lang, optional(languageRule))
}

func (c *checker) subject(p *path, s *Subject) {
	c.markup(p.dot("subject"), s.Subject)
	c.uri(p.dot("schemeUri"), s.SchemeURI)
	c.uri(p.dot("valueUri"), s.ValueURI)
	c.check(p.dot("classificationCode"), s.ClassificationCode, uriRule) // a code, but the schema has it as a URI
	c.check(p.dot("lang"), s.Lang, optional(languageRule))
}

func (c *checker) date(p *path, d *Date) {
	c.check(p.dot("dateType"), string(d.DateType), dateTypeRule)
	if message := dateFault(trim(d.Date)); message != "" {
		c.warn(CodeDate, p.dot("date"), d.Date, "%s", message)
	}
}

func (c *checker) alternates(r *Record) {
	each(c, at("alternateIdentifiers"), r.Alternates(), (*checker).alternateIdentifier)
	if r.AlternateIdentifiers == nil || r.Identifiers == nil {
		return
	}
	if other := (&Record{DOI: r.DOI, Identifiers: r.Identifiers}).Alternates(); !slices.Equal(other, r.AlternateIdentifiers) {
		c.warn(CodeLossy, at("identifiers"), "", "these differ from alternateIdentifiers, and only one of the lists is kept; leave the other empty")
	}
}

func (c *checker) alternateIdentifier(p *path, a *AlternateIdentifier) {
	c.check(p.dot("alternateIdentifierType"), a.AlternateIdentifierType, alternateTypeRule)
	switch {
	case trim(a.AlternateIdentifier) == "":
		c.warn(CodeLossy, p.dot("alternateIdentifier"), a.AlternateIdentifier, "the service drops empty alternate identifiers")
	case strings.EqualFold(a.AlternateIdentifierType, "DOI"):
		c.warn(CodeLossy, p.dot("alternateIdentifierType"), a.AlternateIdentifierType,
			"the service drops DOIs from the alternate identifiers; relate them with IsIdenticalTo")
	}
}

func (c *checker) relatedIdentifier(p *path, r *RelatedIdentifier) {
	c.check(p.dot("relatedIdentifierType"), string(r.RelatedIdentifierType), relatedIDTypeRule)
	c.relation(p, r.RelationType, r.RelationTypeInformation)
	c.check(p.dot("resourceTypeGeneral"), string(r.ResourceTypeGeneral), optional(resourceTypeRule))
	c.uri(p.dot("schemeUri"), r.SchemeURI)
	c.related(p.dot("relatedIdentifier"), r.RelatedIdentifier, r.RelatedIdentifierType)
	metadata := r.RelationType == RelationHasMetadata || r.RelationType == RelationIsMetadataFor
	if !metadata && (r.RelatedMetadataScheme != "" || r.SchemeURI != "" || r.SchemeType != "") {
		c.warn(CodeMetadataScheme, p.dot("relatedMetadataScheme"), r.RelatedMetadataScheme,
			"a metadata scheme, with its address and type, goes with HasMetadata and IsMetadataFor only")
	}
}

// relation checks how a resource is related.
func (c *checker) relation(p *path, t RelationType, information string) {
	c.check(p.dot("relationType"), string(t), relationTypeRule)
	if t == RelationOther && information == "" {
		c.warn(CodeRelationOther, p.dot("relationTypeInformation"), "", "the relation Other needs a word on what it is")
	}
}

// related checks the identifier of a related resource by its type.
func (c *checker) related(p *path, value string, t RelatedIdentifierType) {
	if trim(value) == "" {
		c.warn(CodeRequired, p, value, "the related identifier is empty")
	} else if s, ok := relatedSchemes[t]; ok {
		c.scheme(p, value, s)
	}
}

func (c *checker) rights(p *path, r *Rights) {
	c.check(p.dot("rights"), r.Rights, rightsRule)
	c.uri(p.dot("rightsUri"), r.RightsURI)
	if fold(r.RightsIdentifierScheme) == "spdx" {
		c.spdx(p.dot("rightsIdentifier"), r.RightsIdentifier)
	}
	c.uri(p.dot("schemeUri"), r.SchemeURI)
	c.check(p.dot("lang"), r.Lang, optional(languageRule))
}

func (c *checker) description(p *path, d *Description) {
	c.check(p.dot("descriptionType"), string(d.DescriptionType), descriptionTypeRule)
	c.check(p.dot("lang"), d.Lang, optional(languageRule))
	c.markup(p.dot("description"), d.Description)
	if len(d.Breaks) > 0 {
		c.warn(CodeLossy, p.dot("description"), d.Description, "the service joins the words around a <br/> element in its JSON; a line feed stays")
	}
}

func (c *checker) geoLocation(p *path, g *GeoLocation) {
	if g.Point != (Point{}) {
		c.point(p.dot("geoLocationPoint"), g.Point)
	}
	if g.Box != (Box{}) {
		c.box(p.dot("geoLocationBox"), g.Box)
	}
	p = p.dot("geoLocationPolygon")
	if len(g.Polygons) == 1 {
		c.polygon(p, g.Polygons[0])
		return
	}
	for i, polygon := range g.Polygons {
		c.polygon(p.item(i), polygon)
	}
	if len(g.Polygons) > 1 {
		c.warn(CodePolygon, p, "", "the service keeps none of several polygons in its JSON; give each a geoLocation")
	}
}

func (c *checker) point(p *path, pt Point) {
	c.check(p.dot("pointLongitude"), string(pt.Longitude), longitudeRule)
	c.check(p.dot("pointLatitude"), string(pt.Latitude), latitudeRule)
}

func (c *checker) box(p *path, b Box) {
	c.check(p.dot("westBoundLongitude"), string(b.West), longitudeRule)
	c.check(p.dot("eastBoundLongitude"), string(b.East), longitudeRule)
	c.check(p.dot("southBoundLatitude"), string(b.South), latitudeRule)
	c.check(p.dot("northBoundLatitude"), string(b.North), latitudeRule)
	south, southErr := b.South.Degrees()
	north, northErr := b.North.Degrees()
	if southErr == nil && northErr == nil && south > north {
		c.warn(CodeCoordinate, p.dot("southBoundLatitude"), string(b.South), "the south of the box is north of its north")
	}
}

const minPolygonPoints = 4

func (c *checker) polygon(p *path, polygon Polygon) {
	points := polygon.Points
	for i, pt := range points {
		c.point(p.item(i).dot("polygonPoint"), pt)
	}
	if polygon.InPoint != (Point{}) {
		c.point(p.item(len(points)).dot("inPolygonPoint"), polygon.InPoint)
	}
	switch {
	case len(points) < minPolygonPoints:
		c.fault(CodePolygon, p, "", "a polygon has at least %d points, the last of which repeats the first", minPolygonPoints)
	case points[0] != points[len(points)-1]:
		c.warn(CodePolygon, p, "", "the last point of a polygon should repeat the first")
	}
}

func (c *checker) fundingReference(p *path, f *FundingReference) {
	c.check(p.dot("funderName"), f.FunderName, funderNameRule)
	if f.FunderIdentifier != "" || f.FunderIdentifierType != "" || f.SchemeURI != "" {
		c.check(p.dot("funderIdentifierType"), string(f.FunderIdentifierType), funderIDTypeRule)
		if s, ok := agentSchemes[fold(string(f.FunderIdentifierType))]; ok && f.FunderIdentifier != "" {
			c.scheme(p.dot("funderIdentifier"), f.FunderIdentifier, s)
		}
	}
	c.uri(p.dot("schemeUri"), f.SchemeURI)
	c.uri(p.dot("awardUri"), f.AwardURI)
}

func (c *checker) relatedItem(p *path, item *RelatedItem) {
	c.check(p.dot("relatedItemType"), string(item.RelatedItemType), resourceTypeRule)
	c.relation(p, item.RelationType, item.RelationTypeInformation)
	c.relatedItemIdentifier(p.dot("relatedItemIdentifier"), &item.RelatedItemIdentifier)
	for i := range item.Creators {
		c.check(p.dot("creators").item(i).dot("name"), item.Creators[i].Name, creatorNameRule)
		c.person(p.dot("creators").item(i), item.Creators[i].person())
	}
	if len(item.Titles) == 0 {
		c.warn(CodeRequired, p.dot("titles"), "", "a related item needs a title")
	}
	each(c, p.dot("titles"), item.Titles, (*checker).title)
	c.check(p.dot("publicationYear"), item.PublicationYear, optional(yearRule))
	c.check(p.dot("numberType"), string(item.NumberType), optional(numberTypeRule))
	for i := range item.Contributors {
		q := p.dot("contributors").item(i)
		c.check(q.dot("name"), item.Contributors[i].Name, contributorNameRule)
		c.check(q.dot("contributorType"), string(item.Contributors[i].ContributorType), contributorTypeRule)
		c.person(q, item.Contributors[i].person())
	}
}

func (c *checker) relatedItemIdentifier(p *path, id *RelatedItemIdentifier) {
	if *id == (RelatedItemIdentifier{}) {
		return
	}
	c.check(p.dot("relatedItemIdentifierType"), string(id.RelatedItemIdentifierType), optional(relatedIDTypeRule))
	c.uri(p.dot("schemeURI"), id.SchemeURI)
	if id.RelatedItemIdentifier != "" && id.RelatedItemIdentifierType == "" {
		c.warn(CodeScheme, p.dot("relatedItemIdentifierType"), "", "an identifier needs its type, such as DOI or ISSN")
	}
	c.related(p.dot("relatedItemIdentifier"), id.RelatedItemIdentifier, id.RelatedItemIdentifierType)
}
