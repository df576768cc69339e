package metadata

import "strings"

// person shows the fields that creators and contributors share, of resources
// and of related items. Those of related items have no identifiers and
// affiliations.
type person struct {
	name, lang, givenName, familyName *string
	nameType                          *NameType
	nameIdentifiers                   *List[NameIdentifier]
	affiliation                       *List[Affiliation]
}

func (c *Creator) person() person {
	return person{&c.Name, &c.Lang, &c.GivenName, &c.FamilyName, &c.NameType, &c.NameIdentifiers, &c.Affiliation}
}

func (c *Contributor) person() person {
	return person{&c.Name, &c.Lang, &c.GivenName, &c.FamilyName, &c.NameType, &c.NameIdentifiers, &c.Affiliation}
}

func (c *RelatedItemCreator) person() person {
	return person{&c.Name, &c.Lang, &c.GivenName, &c.FamilyName, &c.NameType, nil, nil}
}

func (c *RelatedItemContributor) person() person {
	return person{&c.Name, &c.Lang, &c.GivenName, &c.FamilyName, &c.NameType, nil, nil}
}

func (p *parser) geoLocations(r *Record) {
	for name := range p.children() {
		if name == "geoLocation" {
			r.GeoLocations = p.geoLocation(r.GeoLocations)
		}
	}
}

// geoLocation adds one element to list, as several items when it holds more than
// one place, point or box.
func (p *parser) geoLocation(list List[GeoLocation]) List[GeoLocation] {
	list = append(list, GeoLocation{})
	last := &list[len(list)-1]
	another := func(taken bool) {
		if taken {
			list = append(list, GeoLocation{})
			last = &list[len(list)-1]
		}
	}
	for name := range p.children() {
		switch name {
		case "geoLocationPlace":
			another(last.Place != "")
			last.Place = p.value()
		case "geoLocationPoint":
			another(last.Point != (Point{}))
			last.Point = p.point()
		case "geoLocationBox":
			another(last.Box != (Box{}))
			last.Box = p.box()
		case "geoLocationPolygon":
			last.Polygons = append(last.Polygons, p.polygon())
		}
	}
	return list
}

func (p *parser) point() (pt Point) {
	for name := range p.children() {
		switch name {
		case "pointLongitude":
			pt.Longitude = Coordinate(p.value())
		case "pointLatitude":
			pt.Latitude = Coordinate(p.value())
		}
	}
	if v := strings.Fields(p.loose); len(v) == 2 && pt == (Point{}) { // kernel 3
		pt = Point{Latitude: Coordinate(v[0]), Longitude: Coordinate(v[1])}
	}
	return pt
}

func (p *parser) box() (b Box) {
	for name := range p.children() {
		switch name {
		case "westBoundLongitude":
			b.West = Coordinate(p.value())
		case "eastBoundLongitude":
			b.East = Coordinate(p.value())
		case "southBoundLatitude":
			b.South = Coordinate(p.value())
		case "northBoundLatitude":
			b.North = Coordinate(p.value())
		}
	}
	if v := strings.Fields(p.loose); len(v) == 4 && b == (Box{}) { // kernel 3
		b = Box{South: Coordinate(v[0]), West: Coordinate(v[1]), North: Coordinate(v[2]), East: Coordinate(v[3])}
	}
	return b
}

func (p *parser) polygon() (polygon Polygon) {
	for name := range p.children() {
		switch name {
		case "polygonPoint":
			polygon.Points = append(polygon.Points, p.point())
		case "inPolygonPoint":
			polygon.InPoint = p.point()
		}
	}
	return polygon
}

func (p *parser) fundingReference() (f FundingReference) {
	for name := range p.children() {
		switch name {
		case "funderName":
			f.FunderName = p.filled()
		case "funderIdentifier":
			f.FunderIdentifierType = FunderIdentifierType(p.attr("funderIdentifierType"))
			f.SchemeURI = p.attr("schemeURI")
			f.FunderIdentifier = p.value()
		case "awardNumber":
			f.AwardURI = p.attr("awardURI")
			f.AwardNumber = p.value()
		case "awardTitle":
			f.AwardTitle = p.value()
		}
	}
	return f
}

func (p *parser) relatedItem() (item RelatedItem) {
	item.RelatedItemType = ResourceTypeGeneral(p.attr("relatedItemType"))
	item.RelationType = RelationType(p.attr("relationType"))
	item.RelationTypeInformation = p.attr("relationTypeInformation")
	for name := range p.children() {
		switch name {
		case "relatedItemIdentifier":
			item.RelatedItemIdentifier = p.relatedItemIdentifier()
		case "creators":
			items(p, &item.Creators, "creator", (*parser).relatedItemCreator)
		case "titles":
			items(p, &item.Titles, "title", (*parser).title)
		case "publicationYear":
			item.PublicationYear = p.value()
		case "volume":
			item.Volume = p.value()
		case "issue":
			item.Issue = p.value()
		case "number":
			item.NumberType = NumberType(p.attr("numberType"))
			item.Number = p.value()
		case "firstPage":
			item.FirstPage = p.value()
		case "lastPage":
			item.LastPage = p.value()
		case "publisher":
			item.Publisher = p.value()
		case "edition":
			item.Edition = p.value()
		case "contributors":
			items(p, &item.Contributors, "contributor", (*parser).relatedItemContributor)
		}
	}
	return item
}

func (p *parser) relatedItemIdentifier() RelatedItemIdentifier {
	return RelatedItemIdentifier{
		RelatedItemIdentifierType: RelatedIdentifierType(p.attr("relatedItemIdentifierType")),
		RelatedMetadataScheme:     p.attr("relatedMetadataScheme"),
		SchemeURI:                 p.attr("schemeURI"),
		SchemeType:                p.attr("schemeType"),
		RelatedItemIdentifier:     p.value(),
	}
}

func (p *parser) relatedItemCreator() (c RelatedItemCreator) {
	p.person(c.person())
	return c
}

func (p *parser) relatedItemContributor() (c RelatedItemContributor) {
	c.ContributorType = ContributorType(p.attr("contributorType"))
	p.person(c.person())
	return c
}
