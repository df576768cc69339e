package metadata

const prologue = `<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="` + Namespace + `" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="` +
	Namespace + ` https://schema.datacite.org/meta/kernel-4/metadata.xsd"`

func (w *writer) record(r *Record) {
	w.buf = append(w.buf, prologue...)
	w.fill()
	w.open("identifier")
	w.attr("identifierType", "DOI")
	w.text("identifier", r.DOI)
	wrap(w, "creators", r.Creators, (*writer).creator)
	wrap(w, "titles", r.Titles, (*writer).title)
	w.publisher(r.Publisher)
	w.element("publicationYear", string(r.PublicationYear))
	w.resourceType(r.Types)
	wrap(w, "subjects", r.Subjects, (*writer).subject)
	wrap(w, "contributors", r.Contributors, (*writer).contributor)
	wrap(w, "dates", r.Dates, (*writer).date)
	w.element("language", string(r.Language))
	wrap(w, "alternateIdentifiers", r.Alternates(), (*writer).alternateIdentifier)
	wrap(w, "relatedIdentifiers", r.RelatedIdentifiers, (*writer).relatedIdentifier)
	wrap(w, "sizes", r.Sizes, (*writer).size)
	wrap(w, "formats", r.Formats, (*writer).format)
	w.element("version", string(r.Version))
	wrap(w, "rightsList", r.RightsList, (*writer).rights)
	wrap(w, "descriptions", r.Descriptions, (*writer).description)
	wrap(w, "geoLocations", r.GeoLocations, (*writer).geoLocation)
	wrap(w, "fundingReferences", r.FundingReferences, (*writer).fundingReference)
	wrap(w, "relatedItems", r.RelatedItems, (*writer).relatedItem)
	w.close("resource")
	w.buf = append(w.buf, '\n')
}

func (w *writer) creator(c *Creator) {
	w.open("creator")
	w.fill()
	w.person("creatorName", c.person())
	w.close("creator")
}

func (w *writer) contributor(c *Contributor) {
	w.open("contributor")
	w.attr("contributorType", string(c.ContributorType))
	w.fill()
	w.person("contributorName", c.person())
	w.close("contributor")
}

func (w *writer) person(nameElement string, p person) {
	w.open(nameElement)
	w.attr("nameType", string(*p.nameType))
	w.attr("xml:lang", *p.lang)
	w.text(nameElement, *p.name)
	w.element("givenName", *p.givenName)
	w.element("familyName", *p.familyName)
	if p.nameIdentifiers == nil {
		return
	}
	for i := range *p.nameIdentifiers {
		w.nameIdentifier(&(*p.nameIdentifiers)[i])
	}
	for i := range *p.affiliation {
		w.affiliation(&(*p.affiliation)[i])
	}
}

func (w *writer) nameIdentifier(n *NameIdentifier) {
	w.open("nameIdentifier")
	w.attr("nameIdentifierScheme", n.NameIdentifierScheme)
	w.attr("schemeURI", n.SchemeURI)
	w.extra(n.Extra, nameIdentifierAttributes)
	w.text("nameIdentifier", n.NameIdentifier)
}

func (w *writer) affiliation(a *Affiliation) {
	w.open("affiliation")
	w.attr("affiliationIdentifier", a.AffiliationIdentifier)
	w.attr("affiliationIdentifierScheme", a.AffiliationIdentifierScheme)
	w.attr("schemeURI", a.SchemeURI)
	w.extra(a.Extra, affiliationAttributes)
	w.text("affiliation", a.Name)
}

// extra writes the attributes the schema does not name. Whoever fills them in
// answers for the names; those that would spoil the document stop the writing.
func (w *writer) extra(list []Attribute, known []string) {
	for i, a := range list {
		w.bad = w.bad || !canAdd(list[:i], known, a.Name)
		w.anyAttr(a.Name, a.Value)
	}
}

func (w *writer) title(t *Title) {
	w.open("title")
	w.attr("titleType", string(t.TitleType))
	w.attr("xml:lang", t.Lang)
	w.text("title", t.Title)
}

func (w *writer) publisher(p Publisher) {
	if p == (Publisher{}) {
		return
	}
	w.open("publisher")
	w.attr("publisherIdentifier", p.PublisherIdentifier)
	w.attr("publisherIdentifierScheme", p.PublisherIdentifierScheme)
	w.attr("schemeURI", p.SchemeURI)
	w.attr("xml:lang", p.Lang)
	w.text("publisher", p.Name)
}

func (w *writer) resourceType(t Types) {
	if t.ResourceTypeGeneral == "" && t.ResourceType == "" {
		return
	}
	w.open("resourceType")
	w.attr("resourceTypeGeneral", string(t.ResourceTypeGeneral))
	w.text("resourceType", t.ResourceType)
}

func (w *writer) subject(s *Subject) {
	w.open("subject")
	w.attr("subjectScheme", s.SubjectScheme)
	w.attr("schemeURI", s.SchemeURI)
	w.attr("valueURI", s.ValueURI)
	w.attr("classificationCode", s.ClassificationCode)
	w.attr("xml:lang", s.Lang)
	w.text("subject", s.Subject)
}

func (w *writer) date(d *Date) {
	w.open("date")
	w.attr("dateType", string(d.DateType))
	w.attr("dateInformation", d.DateInformation)
	w.text("date", d.Date)
}

func (w *writer) alternateIdentifier(a *AlternateIdentifier) {
	w.open("alternateIdentifier")
	w.anyAttr("alternateIdentifierType", a.AlternateIdentifierType) // mandatory, and the only such that may be empty
	w.text("alternateIdentifier", a.AlternateIdentifier)
}

func (w *writer) relatedIdentifier(r *RelatedIdentifier) {
	w.open("relatedIdentifier")
	w.attr("relatedIdentifierType", string(r.RelatedIdentifierType))
	w.attr("relationType", string(r.RelationType))
	w.attr("resourceTypeGeneral", string(r.ResourceTypeGeneral))
	w.attr("relatedMetadataScheme", r.RelatedMetadataScheme)
	w.attr("schemeURI", r.SchemeURI)
	w.attr("schemeType", r.SchemeType)
	w.attr("relationTypeInformation", r.RelationTypeInformation)
	w.text("relatedIdentifier", r.RelatedIdentifier)
}

func (w *writer) size(s *string) {
	w.open("size")
	w.text("size", *s)
}

func (w *writer) format(s *string) {
	w.open("format")
	w.text("format", *s)
}

func (w *writer) rights(r *Rights) {
	w.open("rights")
	w.attr("rightsURI", r.RightsURI)
	w.attr("rightsIdentifier", r.RightsIdentifier)
	w.attr("rightsIdentifierScheme", r.RightsIdentifierScheme)
	w.attr("schemeURI", r.SchemeURI)
	w.attr("xml:lang", r.Lang)
	w.text("rights", r.Rights)
}

// description writes a text with elements for its Breaks.
func (w *writer) description(d *Description) {
	w.open("description")
	w.attr("descriptionType", string(d.DescriptionType))
	w.attr("xml:lang", d.Lang)
	if len(d.Breaks) == 0 {
		w.text("description", d.Description)
		return
	}
	buf, done := append(w.buf, '>'), 0
	for i, at := range d.Breaks {
		if !d.isBreak(i) {
			w.bad = true
			return
		}
		buf = append(w.escape(buf, d.Description[done:at], &textEscapes), "<br/>"...)
		done = at + 1
	}
	w.buf = appendEndTag(w.escape(buf, d.Description[done:], &textEscapes), "description")
}

func (w *writer) geoLocation(g *GeoLocation) {
	w.open("geoLocation")
	if g.Place == "" && g.Point == (Point{}) && g.Box == (Box{}) && len(g.Polygons) == 0 {
		w.text("geoLocation", "")
		return
	}
	w.fill()
	w.element("geoLocationPlace", g.Place)
	if g.Point != (Point{}) {
		w.point("geoLocationPoint", g.Point)
	}
	w.box(g.Box)
	for _, polygon := range g.Polygons {
		w.polygon(polygon)
	}
	w.close("geoLocation")
}

func (w *writer) point(name string, p Point) {
	w.open(name)
	w.fill()
	w.element("pointLongitude", string(p.Longitude))
	w.element("pointLatitude", string(p.Latitude))
	w.close(name)
}

func (w *writer) box(b Box) {
	if b == (Box{}) {
		return
	}
	w.open("geoLocationBox")
	w.fill()
	w.element("westBoundLongitude", string(b.West))
	w.element("eastBoundLongitude", string(b.East))
	w.element("southBoundLatitude", string(b.South))
	w.element("northBoundLatitude", string(b.North))
	w.close("geoLocationBox")
}

func (w *writer) polygon(p Polygon) {
	w.open("geoLocationPolygon")
	w.fill()
	for _, pt := range p.Points {
		w.point("polygonPoint", pt)
	}
	if p.InPoint != (Point{}) {
		w.point("inPolygonPoint", p.InPoint)
	}
	w.close("geoLocationPolygon")
}

func (w *writer) fundingReference(f *FundingReference) {
	w.open("fundingReference")
	w.fill()
	w.element("funderName", f.FunderName)
	if f.FunderIdentifier != "" || f.FunderIdentifierType != "" || f.SchemeURI != "" {
		w.open("funderIdentifier")
		w.attr("funderIdentifierType", string(f.FunderIdentifierType))
		w.attr("schemeURI", f.SchemeURI)
		w.text("funderIdentifier", f.FunderIdentifier)
	}
	if f.AwardNumber != "" || f.AwardURI != "" {
		w.open("awardNumber")
		w.attr("awardURI", f.AwardURI)
		w.text("awardNumber", f.AwardNumber)
	}
	w.element("awardTitle", f.AwardTitle)
	w.close("fundingReference")
}

func (w *writer) relatedItem(r *RelatedItem) {
	w.open("relatedItem")
	w.attr("relatedItemType", string(r.RelatedItemType))
	w.attr("relationType", string(r.RelationType))
	w.attr("relationTypeInformation", r.RelationTypeInformation)
	w.fill()
	w.relatedItemIdentifier(r.RelatedItemIdentifier)
	wrap(w, "creators", r.Creators, (*writer).relatedItemCreator)
	wrap(w, "titles", r.Titles, (*writer).title)
	w.element("publicationYear", r.PublicationYear)
	w.element("volume", r.Volume)
	w.element("issue", r.Issue)
	if r.Number != "" || r.NumberType != "" {
		w.open("number")
		w.attr("numberType", string(r.NumberType))
		w.text("number", r.Number)
	}
	w.element("firstPage", r.FirstPage)
	w.element("lastPage", r.LastPage)
	w.element("publisher", r.Publisher)
	w.element("edition", r.Edition)
	wrap(w, "contributors", r.Contributors, (*writer).relatedItemContributor)
	w.close("relatedItem")
}

func (w *writer) relatedItemIdentifier(r RelatedItemIdentifier) {
	if r == (RelatedItemIdentifier{}) {
		return
	}
	w.open("relatedItemIdentifier")
	w.attr("relatedItemIdentifierType", string(r.RelatedItemIdentifierType))
	w.attr("relatedMetadataScheme", r.RelatedMetadataScheme)
	w.attr("schemeURI", r.SchemeURI)
	w.attr("schemeType", r.SchemeType)
	w.text("relatedItemIdentifier", r.RelatedItemIdentifier)
}

func (w *writer) relatedItemCreator(c *RelatedItemCreator) {
	w.open("creator")
	w.fill()
	w.person("creatorName", c.person())
	w.close("creator")
}

func (w *writer) relatedItemContributor(c *RelatedItemContributor) {
	w.open("contributor")
	w.attr("contributorType", string(c.ContributorType))
	w.fill()
	w.person("contributorName", c.person())
	w.close("contributor")
}
