package metadata

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// The tables below say how the members of the service's JSON are read. Members may
// be of any type; see [Record]. What a bare text stands for is a table's Bare.

type (
	member[T any] = jsonlex.Member[T]
	decoder       = jsonlex.Decoder
)

// readers are the readers of lists, by the type of their elements.
var readers = map[reflect.Type]any{}

func listMember[T, E any](name string, field func(*T) *List[E], item func(*decoder, *E) bool) member[T] {
	element := reflect.TypeFor[E]()
	if readers[element] == nil {
		readers[element] = jsonlex.ListReader[List[E]](item)
	}
	read := readers[element].(func(*decoder, *List[E]))
	return member[T]{Name: name, Read: func(d *decoder, v *T) { read(d, field(v)) }}
}

// object makes the table of a type of which a bare text is the first member.
func object[T any](members ...member[T]) *jsonlex.Object[T] {
	o := jsonlex.NewObject(members...)
	o.Bare = members[0].Read
	return o
}

func init() {
	jsonlex.Share(recordJSON) // package dois reads records of its own that hold one
	jsonlex.Share(identifierJSON)
}

var recordJSON = jsonlex.NewObject(
	jsonlex.Text("doi", func(r *Record) *string { return &r.DOI }),
	listMember("identifiers", func(r *Record) *List[Identifier] { return &r.Identifiers }, identifierJSON.Item),
	listMember("creators", func(r *Record) *List[Creator] { return &r.Creators }, creatorJSON.Item),
	listMember("titles", func(r *Record) *List[Title] { return &r.Titles }, titleJSON.Item),
	jsonlex.Of("publisher", func(r *Record) *Publisher { return &r.Publisher }, publisherJSON),
	member[Record]{Name: "publicationYear", Read: func(d *decoder, r *Record) { readYear(d, &r.PublicationYear) }},
	listMember("subjects", func(r *Record) *List[Subject] { return &r.Subjects }, subjectJSON.Item),
	listMember("contributors", func(r *Record) *List[Contributor] { return &r.Contributors }, contributorJSON.Item),
	listMember("dates", func(r *Record) *List[Date] { return &r.Dates }, dateJSON.Item),
	jsonlex.Word("language", func(r *Record) *Text { return &r.Language }),
	jsonlex.Of("types", func(r *Record) *Types { return &r.Types }, typesJSON),
	listMember("relatedIdentifiers", func(r *Record) *List[RelatedIdentifier] { return &r.RelatedIdentifiers }, relatedIdentifierJSON.Item),
	listMember("relatedItems", func(r *Record) *List[RelatedItem] { return &r.RelatedItems }, relatedItemJSON.Item),
	listMember("sizes", func(r *Record) *List[string] { return &r.Sizes }, jsonlex.TextItem),
	listMember("formats", func(r *Record) *List[string] { return &r.Formats }, jsonlex.TextItem),
	jsonlex.Word("version", func(r *Record) *Text { return &r.Version }),
	listMember("rightsList", func(r *Record) *List[Rights] { return &r.RightsList }, rightsJSON.Item),
	listMember("descriptions", func(r *Record) *List[Description] { return &r.Descriptions }, descriptionJSON.Item),
	listMember("geoLocations", func(r *Record) *List[GeoLocation] { return &r.GeoLocations }, geoLocationJSON.Item),
	listMember("fundingReferences", func(r *Record) *List[FundingReference] { return &r.FundingReferences }, fundingJSON.Item),
	jsonlex.Word("schemaVersion", func(r *Record) *Text { return &r.SchemaVersion }),
	listMember("alternateIdentifiers", func(r *Record) *List[AlternateIdentifier] { return &r.AlternateIdentifiers }, alternateJSON.Item),
)

var creatorJSON = object(
	jsonlex.Text("name", func(c *Creator) *string { return &c.Name }),
	jsonlex.Word("nameType", func(c *Creator) *NameType { return &c.NameType }),
	jsonlex.Text("givenName", func(c *Creator) *string { return &c.GivenName }),
	jsonlex.Text("familyName", func(c *Creator) *string { return &c.FamilyName }),
	listMember("affiliation", func(c *Creator) *List[Affiliation] { return &c.Affiliation }, affiliationJSON.Item),
	listMember("nameIdentifiers", func(c *Creator) *List[NameIdentifier] { return &c.NameIdentifiers }, nameIdentifierJSON.Item),
	jsonlex.Word("lang", func(c *Creator) *string { return &c.Lang }),
)

var contributorJSON = object(
	jsonlex.Text("name", func(c *Contributor) *string { return &c.Name }),
	jsonlex.Word("nameType", func(c *Contributor) *NameType { return &c.NameType }),
	jsonlex.Text("givenName", func(c *Contributor) *string { return &c.GivenName }),
	jsonlex.Text("familyName", func(c *Contributor) *string { return &c.FamilyName }),
	listMember("affiliation", func(c *Contributor) *List[Affiliation] { return &c.Affiliation }, affiliationJSON.Item),
	jsonlex.Word("contributorType", func(c *Contributor) *ContributorType { return &c.ContributorType }),
	listMember("nameIdentifiers", func(c *Contributor) *List[NameIdentifier] { return &c.NameIdentifiers }, nameIdentifierJSON.Item),
	jsonlex.Word("lang", func(c *Contributor) *string { return &c.Lang }),
)

var nameIdentifierJSON = object(
	jsonlex.Text("nameIdentifier", func(n *NameIdentifier) *string { return &n.NameIdentifier }),
	jsonlex.Word("nameIdentifierScheme", func(n *NameIdentifier) *string { return &n.NameIdentifierScheme }),
	jsonlex.Word("schemeUri", func(n *NameIdentifier) *string { return &n.SchemeURI }),
)

var affiliationJSON = object(
	jsonlex.Text("name", func(a *Affiliation) *string { return &a.Name }),
	jsonlex.Word("schemeUri", func(a *Affiliation) *string { return &a.SchemeURI }),
	jsonlex.Text("affiliationIdentifier", func(a *Affiliation) *string { return &a.AffiliationIdentifier }),
	jsonlex.Word("affiliationIdentifierScheme", func(a *Affiliation) *string { return &a.AffiliationIdentifierScheme }),
)

var titleJSON = object(
	jsonlex.Text("title", func(t *Title) *string { return &t.Title }),
	jsonlex.Word("titleType", func(t *Title) *TitleType { return &t.TitleType }),
	jsonlex.Word("lang", func(t *Title) *string { return &t.Lang }),
)

var publisherJSON = object(
	jsonlex.Word("name", func(p *Publisher) *string { return &p.Name }),
	jsonlex.Word("schemeUri", func(p *Publisher) *string { return &p.SchemeURI }),
	jsonlex.Word("publisherIdentifier", func(p *Publisher) *string { return &p.PublisherIdentifier }),
	jsonlex.Word("publisherIdentifierScheme", func(p *Publisher) *string { return &p.PublisherIdentifierScheme }),
	jsonlex.Word("lang", func(p *Publisher) *string { return &p.Lang }),
)

var typesJSON = jsonlex.NewObject(
	jsonlex.Word("ris", func(t *Types) *string { return &t.RIS }),
	jsonlex.Word("bibtex", func(t *Types) *string { return &t.BibTeX }),
	jsonlex.Word("citeproc", func(t *Types) *string { return &t.Citeproc }),
	jsonlex.Word("schemaOrg", func(t *Types) *string { return &t.SchemaOrg }),
	jsonlex.Word("resourceType", func(t *Types) *string { return &t.ResourceType }),
	jsonlex.Word("resourceTypeGeneral", func(t *Types) *ResourceTypeGeneral { return &t.ResourceTypeGeneral }),
)

var subjectJSON = object(
	jsonlex.Text("subject", func(s *Subject) *string { return &s.Subject }),
	jsonlex.Word("subjectScheme", func(s *Subject) *string { return &s.SubjectScheme }),
	jsonlex.Word("schemeUri", func(s *Subject) *string { return &s.SchemeURI }),
	jsonlex.Text("valueUri", func(s *Subject) *string { return &s.ValueURI }),
	jsonlex.Word("classificationCode", func(s *Subject) *string { return &s.ClassificationCode }),
	jsonlex.Word("lang", func(s *Subject) *string { return &s.Lang }),
)

var dateJSON = object(
	jsonlex.Text("date", func(v *Date) *string { return &v.Date }),
	jsonlex.Word("dateType", func(v *Date) *DateType { return &v.DateType }),
	jsonlex.Text("dateInformation", func(v *Date) *string { return &v.DateInformation }),
)

var alternateJSON = object(
	jsonlex.Text("alternateIdentifier", func(a *AlternateIdentifier) *string { return &a.AlternateIdentifier }),
	jsonlex.Word("alternateIdentifierType", func(a *AlternateIdentifier) *string { return &a.AlternateIdentifierType }),
)

var identifierJSON = object(
	jsonlex.Text("identifier", func(i *Identifier) *string { return &i.Identifier }),
	jsonlex.Word("identifierType", func(i *Identifier) *string { return &i.IdentifierType }),
)

var relatedIdentifierJSON = object(
	jsonlex.Text("relatedIdentifier", func(r *RelatedIdentifier) *string { return &r.RelatedIdentifier }),
	jsonlex.Word("relationType", func(r *RelatedIdentifier) *RelationType { return &r.RelationType }),
	jsonlex.Word("resourceTypeGeneral", func(r *RelatedIdentifier) *ResourceTypeGeneral { return &r.ResourceTypeGeneral }),
	jsonlex.Word("relatedIdentifierType", func(r *RelatedIdentifier) *RelatedIdentifierType { return &r.RelatedIdentifierType }),
	jsonlex.Word("relatedMetadataScheme", func(r *RelatedIdentifier) *string { return &r.RelatedMetadataScheme }),
	jsonlex.Word("schemeUri", func(r *RelatedIdentifier) *string { return &r.SchemeURI }),
	jsonlex.Word("schemeType", func(r *RelatedIdentifier) *string { return &r.SchemeType }),
	jsonlex.Text("relationTypeInformation", func(r *RelatedIdentifier) *string { return &r.RelationTypeInformation }),
)

var rightsJSON = object(
	jsonlex.Word("rights", func(r *Rights) *string { return &r.Rights }),
	jsonlex.Word("rightsUri", func(r *Rights) *string { return &r.RightsURI }),
	jsonlex.Word("schemeUri", func(r *Rights) *string { return &r.SchemeURI }),
	jsonlex.Word("rightsIdentifier", func(r *Rights) *string { return &r.RightsIdentifier }),
	jsonlex.Word("rightsIdentifierScheme", func(r *Rights) *string { return &r.RightsIdentifierScheme }),
	jsonlex.Word("lang", func(r *Rights) *string { return &r.Lang }),
)

var descriptionJSON = object(
	jsonlex.Text("description", func(v *Description) *string { return &v.Description }),
	jsonlex.Word("descriptionType", func(v *Description) *DescriptionType { return &v.DescriptionType }),
	jsonlex.Word("lang", func(v *Description) *string { return &v.Lang }),
)

var geoLocationJSON = object(
	jsonlex.Text("geoLocationPlace", func(g *GeoLocation) *string { return &g.Place }),
	jsonlex.Of("geoLocationPoint", func(g *GeoLocation) *Point { return &g.Point }, pointJSON),
	jsonlex.Of("geoLocationBox", func(g *GeoLocation) *Box { return &g.Box }, boxJSON),
	member[GeoLocation]{Name: "geoLocationPolygon", Read: func(d *decoder, g *GeoLocation) { g.Polygons.read(d) }},
)

var pointJSON = jsonlex.NewObject(
	jsonlex.Text("pointLatitude", func(p *Point) *Coordinate { return &p.Latitude }),
	jsonlex.Text("pointLongitude", func(p *Point) *Coordinate { return &p.Longitude }),
)

var boxJSON = jsonlex.NewObject(
	jsonlex.Text("eastBoundLongitude", func(b *Box) *Coordinate { return &b.East }),
	jsonlex.Text("northBoundLatitude", func(b *Box) *Coordinate { return &b.North }),
	jsonlex.Text("southBoundLatitude", func(b *Box) *Coordinate { return &b.South }),
	jsonlex.Text("westBoundLongitude", func(b *Box) *Coordinate { return &b.West }),
)

// A polygon in JSON is an array of such entries. In records of old, one entry holds
// all the points.
var polygonJSON = jsonlex.NewObject(
	jsonlex.List("polygonPoint", func(p *Polygon) *[]Point { return &p.Points }, pointJSON.Item),
	jsonlex.Of("inPolygonPoint", func(p *Polygon) *Point { return &p.InPoint }, pointJSON),
)

var fundingJSON = object(
	jsonlex.Text("funderName", func(f *FundingReference) *string { return &f.FunderName }),
	jsonlex.Word("funderIdentifier", func(f *FundingReference) *string { return &f.FunderIdentifier }),
	jsonlex.Word("funderIdentifierType", func(f *FundingReference) *FunderIdentifierType { return &f.FunderIdentifierType }),
	jsonlex.Text("awardNumber", func(f *FundingReference) *string { return &f.AwardNumber }),
	jsonlex.Text("awardUri", func(f *FundingReference) *string { return &f.AwardURI }),
	jsonlex.Text("awardTitle", func(f *FundingReference) *string { return &f.AwardTitle }),
	jsonlex.Word("schemeUri", func(f *FundingReference) *string { return &f.SchemeURI }),
)

var relatedItemJSON = jsonlex.NewObject(
	jsonlex.Word("relatedItemType", func(r *RelatedItem) *ResourceTypeGeneral { return &r.RelatedItemType }),
	jsonlex.Word("relationType", func(r *RelatedItem) *RelationType { return &r.RelationType }),
	jsonlex.Text("relationTypeInformation", func(r *RelatedItem) *string { return &r.RelationTypeInformation }),
	jsonlex.Of("relatedItemIdentifier", func(r *RelatedItem) *RelatedItemIdentifier { return &r.RelatedItemIdentifier }, relatedItemIdentifierJSON),
	listMember("creators", func(r *RelatedItem) *List[RelatedItemCreator] { return &r.Creators }, relatedItemCreatorJSON.Item),
	listMember("titles", func(r *RelatedItem) *List[Title] { return &r.Titles }, titleJSON.Item),
	jsonlex.Word("publicationYear", func(r *RelatedItem) *string { return &r.PublicationYear }),
	jsonlex.Text("volume", func(r *RelatedItem) *string { return &r.Volume }),
	jsonlex.Text("issue", func(r *RelatedItem) *string { return &r.Issue }),
	jsonlex.Text("number", func(r *RelatedItem) *string { return &r.Number }),
	jsonlex.Word("numberType", func(r *RelatedItem) *NumberType { return &r.NumberType }),
	jsonlex.Text("firstPage", func(r *RelatedItem) *string { return &r.FirstPage }),
	jsonlex.Text("lastPage", func(r *RelatedItem) *string { return &r.LastPage }),
	jsonlex.Text("publisher", func(r *RelatedItem) *string { return &r.Publisher }),
	jsonlex.Text("edition", func(r *RelatedItem) *string { return &r.Edition }),
	listMember("contributors", func(r *RelatedItem) *List[RelatedItemContributor] { return &r.Contributors }, relatedItemContributorJSON.Item),
)

var relatedItemIdentifierJSON = object(
	jsonlex.Text("relatedItemIdentifier", func(r *RelatedItemIdentifier) *string { return &r.RelatedItemIdentifier }),
	jsonlex.Word("relatedItemIdentifierType", func(r *RelatedItemIdentifier) *RelatedIdentifierType { return &r.RelatedItemIdentifierType }),
	jsonlex.Word("relatedMetadataScheme", func(r *RelatedItemIdentifier) *string { return &r.RelatedMetadataScheme }),
	jsonlex.Word("schemeURI", func(r *RelatedItemIdentifier) *string { return &r.SchemeURI }),
	jsonlex.Word("schemeType", func(r *RelatedItemIdentifier) *string { return &r.SchemeType }),
)

var relatedItemCreatorJSON = object(
	jsonlex.Text("name", func(c *RelatedItemCreator) *string { return &c.Name }),
	jsonlex.Word("nameType", func(c *RelatedItemCreator) *NameType { return &c.NameType }),
	jsonlex.Text("givenName", func(c *RelatedItemCreator) *string { return &c.GivenName }),
	jsonlex.Text("familyName", func(c *RelatedItemCreator) *string { return &c.FamilyName }),
	jsonlex.Word("lang", func(c *RelatedItemCreator) *string { return &c.Lang }),
)

var relatedItemContributorJSON = object(
	jsonlex.Text("name", func(c *RelatedItemContributor) *string { return &c.Name }),
	jsonlex.Word("nameType", func(c *RelatedItemContributor) *NameType { return &c.NameType }),
	jsonlex.Text("givenName", func(c *RelatedItemContributor) *string { return &c.GivenName }),
	jsonlex.Text("familyName", func(c *RelatedItemContributor) *string { return &c.FamilyName }),
	jsonlex.Word("contributorType", func(c *RelatedItemContributor) *ContributorType { return &c.ContributorType }),
	jsonlex.Word("lang", func(c *RelatedItemContributor) *string { return &c.Lang }),
)

// readJSON replaces v with what read makes of a JSON text.
func readJSON[T any](data []byte, v *T, read func(*decoder, *T)) error {
	*v = *new(T)
	err := jsonlex.Unmarshal(data, func(d *decoder) error {
		read(d, v)
		return nil
	})
	if err != nil {
		return fmt.Errorf("metadata: not JSON: %w", err)
	}
	return nil
}

func readText[S ~string](d *decoder, v *S) { *v = S(d.Text()) }

// UnmarshalJSON reads an array, null, or a single item. It replaces what the
// list held, and fails only when data is not JSON.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	if read, ok := readers[reflect.TypeFor[T]()]; ok {
		return readJSON(data, l, read.(func(*decoder, *List[T])))
	}
	return json.Unmarshal(data, (*[]T)(l)) // of a type that no record has
}

// UnmarshalJSON reads a string, a number, true, false or null.
func (t *Text) UnmarshalJSON(data []byte) error { return readJSON(data, t, readText) }

// UnmarshalJSON reads an object, or a string as the name.
func (p *Publisher) UnmarshalJSON(data []byte) error { return readJSON(data, p, publisherJSON.Read) }

// UnmarshalJSON reads an object, or a string as the name.
func (a *Affiliation) UnmarshalJSON(data []byte) error {
	return readJSON(data, a, affiliationJSON.Read)
}

// UnmarshalJSON reads an object; any other value leaves t empty.
func (t *Types) UnmarshalJSON(data []byte) error { return readJSON(data, t, typesJSON.Read) }

// UnmarshalJSON reads a number or a string.
func (c *Coordinate) UnmarshalJSON(data []byte) error { return readJSON(data, c, readText) }

// UnmarshalJSON reads a number or a string. A number of fewer than four digits is
// filled up with zeros, since JSON cannot write them.
func (y *Year) UnmarshalJSON(data []byte) error { return readJSON(data, y, readYear) }

func readYear(d *decoder, y *Year) {
	number := d.Kind() != '"'
	text := d.Text()
	if n, err := strconv.ParseUint(text, 10, 32); number && err == nil && n < 1000 {
		text = fmt.Sprintf("%04d", n)
	}
	*y = Year(text)
}

// UnmarshalJSON reads one polygon or several, also in the older form of an
// object whose member polygonPoint is a list.
func (p *Polygons) UnmarshalJSON(data []byte) error {
	return readJSON(data, p, func(d *decoder, p *Polygons) { p.read(d) })
}

// UnmarshalJSON reads what [Polygons] reads, and keeps the first of several.
func (p *Polygon) UnmarshalJSON(data []byte) error {
	var all Polygons
	err := all.UnmarshalJSON(data)
	*p = Polygon{}
	if len(all) > 0 {
		*p = all[0]
	}
	return err
}

func (p *Polygons) read(d *decoder) {
	*p = nil
	switch d.Kind() {
	case '[':
		*p = Polygons{}
		p.readArray(d)
	case '{':
		p.add(d).join(polygonEntryOf(d))
	default:
		d.Skip()
	}
}

func (p *Polygons) add(d *decoder) *Polygon {
	d.Spend(2 * int(reflect.TypeFor[Polygon]().Size()))
	*p = append(*p, Polygon{})
	return &(*p)[len(*p)-1]
}

// readArray reads the points of one polygon, or several polygons. Points side by
// side belong together.
func (p *Polygons) readArray(d *decoder) {
	var current *Polygon
	d.Each(func() {
		switch d.Kind() {
		case '[':
			current = nil
			nested := p.add(d)
			d.Each(func() { nested.join(polygonEntryOf(d)) })
		case '{':
			next := polygonEntryOf(d)
			if current == nil || len(next.Points) > 1 {
				current = p.add(d)
			}
			current.join(next)
		default:
			d.Skip()
		}
	})
}

func polygonEntryOf(d *decoder) (entry Polygon) {
	polygonJSON.Read(d, &entry)
	return entry
}

func (p *Polygon) join(next Polygon) {
	p.Points = append(p.Points, next.Points...)
	if next.InPoint != (Point{}) {
		p.InPoint = next.InPoint
	}
}
