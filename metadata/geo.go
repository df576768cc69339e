package metadata

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// GeoLocation is a place that the data come from or are about.
type GeoLocation struct {
	Place    string   `json:"geoLocationPlace,omitempty"`
	Point    Point    `json:"geoLocationPoint,omitzero"`
	Box      Box      `json:"geoLocationBox,omitzero"`
	Polygons Polygons `json:"geoLocationPolygon,omitzero"` // the service keeps at most one; write a GeoLocation for each
}

// Point is a place in decimal degrees, WGS 84.
type Point struct {
	Longitude Coordinate `json:"pointLongitude,omitempty"` // -180 to 180
	Latitude  Coordinate `json:"pointLatitude,omitempty"`  // -90 to 90
}

// Box is an area between two meridians and two parallels, in decimal degrees.
type Box struct {
	West  Coordinate `json:"westBoundLongitude,omitempty"`
	East  Coordinate `json:"eastBoundLongitude,omitempty"`
	South Coordinate `json:"southBoundLatitude,omitempty"`
	North Coordinate `json:"northBoundLatitude,omitempty"`
}

// Polygon is an area with at least four points, the last of which repeats the first.
// InPoint is any point inside, for an area larger than half the earth.
type Polygon struct {
	Points  []Point
	InPoint Point
}

// Polygons are the areas of one [GeoLocation]. In JSON one polygon is an array of points,
// and several are an array of such arrays.
type Polygons []Polygon

// Coordinate is a longitude or latitude in decimal degrees, as text so that no digit is
// lost. JSON is read from a number or a string.
type Coordinate string

var geoLocationElement = sync.OnceValue(func() *element[GeoLocation] {
	return newElement("geoLocation", anyOrder,
		inside(repeated, newElement("geoLocationPlace", untyped,
			text("geoLocationPlace", unescapedText, func(g *GeoLocation) *string { return &g.Place }))),
		object("geoLocationPoint", repeated, pointElement("geoLocationPoint"),
			func(g *GeoLocation) *Point { return &g.Point }),
		object("geoLocationBox", repeated, boxElement(), func(g *GeoLocation) *Box { return &g.Box }),
		polygonsPart(),
	)
})

// geoLocations splits an element that has more than one place, point or box into
// several items.
func geoLocations() part[Record] {
	e := geoLocationElement()
	p := list("geoLocations", e, func(r *Record) *List[GeoLocation] { return &r.GeoLocations })
	p.element.read = func(x *parser, r *Record) {
		for name := range x.children() {
			if name != e.name {
				continue
			}
			r.GeoLocations = append(r.GeoLocations, GeoLocation{})
			for name := range x.children() {
				at := e.find(name, 0)
				if at == len(e.elements) {
					continue
				}
				inside := &e.elements[at]
				if name != "geoLocationPolygon" && inside.present(&r.GeoLocations[len(r.GeoLocations)-1]) {
					r.GeoLocations = append(r.GeoLocations, GeoLocation{})
				}
				inside.read(x, &r.GeoLocations[len(r.GeoLocations)-1])
			}
		}
	}
	return p
}

func pointElement(name string) *element[Point] {
	return newElement(name, anyOrder,
		coordinate("pointLongitude", longitude, func(p *Point) *Coordinate { return &p.Longitude }),
		coordinate("pointLatitude", latitude, func(p *Point) *Coordinate { return &p.Latitude }),
		kernel3(func(p *Point, values []string) {
			if len(values) == 2 {
				*p = Point{Latitude: Coordinate(values[0]), Longitude: Coordinate(values[1])}
			}
		}),
	)
}

var boxElement = sync.OnceValue(func() *element[Box] {
	return newElement("geoLocationBox", anyOrder,
		coordinate("westBoundLongitude", longitude, func(b *Box) *Coordinate { return &b.West }),
		coordinate("eastBoundLongitude", longitude, func(b *Box) *Coordinate { return &b.East }),
		coordinate("southBoundLatitude", latitude, func(b *Box) *Coordinate { return &b.South }),
		coordinate("northBoundLatitude", latitude, func(b *Box) *Coordinate { return &b.North }),
		also(func(c *checker, p *path, b *Box) {
			south, southErr := b.South.Degrees()
			north, northErr := b.North.Degrees()
			if southErr == nil && northErr == nil && south > north {
				c.warn(datacite.CodeCoordinate, p.dot("southBoundLatitude"), string(b.South),
					"the southern latitude of the box is greater than the northern one")
			}
		}),
		kernel3(func(b *Box, values []string) {
			if len(values) == 4 {
				*b = Box{South: Coordinate(values[0]), West: Coordinate(values[1]), North: Coordinate(values[2]),
					East: Coordinate(values[3])}
			}
		}),
	)
})

func coordinate[T any](name string, d datatype, field func(*T) *Coordinate) part[T] {
	p := textElement(name, once, d, field)
	p.bare = nil // a text is no point
	return p
}

var longitude, latitude = datatype{fault: degrees(180)}, datatype{fault: degrees(90)}

var decimalPattern = lazy.Regexp(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)

// degrees requires a number between -most and most. The schema has single precision, so
// 90.0000001 is 90.
func degrees(most float32) rule {
	return func(value string) *fault {
		value = xmlscan.Trim(value)
		if value == "" {
			return newFault(datacite.CodeCoordinate, "the coordinate is missing: a point has two, a box has four")
		}
		if !decimalPattern().MatchString(value) {
			return newFault(datacite.CodeCoordinate, "a coordinate is a decimal number of degrees such as -71.032")
		}
		n, _ := strconv.ParseFloat(value, 32) // out of range is infinite
		if math.Abs(n) > float64(most) {
			return newFault(datacite.CodeCoordinate, "the coordinate is not between -%g and %g", most, most)
		}
		return nil
	}
}

const minPolygonPoints = 4

// polygonsPart has its own paths: JSON has a list of points for one polygon, and a list of
// such lists for several.
func polygonsPart() part[GeoLocation] {
	p := elements("geoLocationPolygon", polygonElement(), func(g *GeoLocation) *List[Polygon] {
		return (*List[Polygon])(&g.Polygons)
	})
	p.element.step = step{member: "geoLocationPolygon"}
	p.element.values = func(g *GeoLocation, out []value) []value { return append(out, g.Polygons.value()) }
	p.members = []member[GeoLocation]{{Name: "geoLocationPolygon", Read: func(d *decoder, g *GeoLocation) {
		g.Polygons.read(d)
	}}}
	p.check = func(c *checker, p *path, g *GeoLocation) {
		p = p.dot("geoLocationPolygon")
		if len(g.Polygons) == 1 {
			c.polygon(p, &g.Polygons[0])
			return
		}
		for i := range g.Polygons {
			c.polygon(p.item(i), &g.Polygons[i])
		}
		if len(g.Polygons) > 1 {
			c.warn(datacite.CodeJSON, p, "",
				"as JSON, the service refuses several polygons in one geoLocation; write a geoLocation for each")
			c.warn(datacite.CodePolygon, p, "",
				"in its JSON, the service drops several polygons in one geoLocation; write a geoLocation for each")
		}
	}
	return p
}

// In JSON a polygon is an array of objects with these members. In old records,
// one object has all the points.
var polygonElement = sync.OnceValue(newPolygonElement)

func newPolygonElement() *element[Polygon] {
	points := elements("polygonPoint", corner(), func(p *Polygon) *List[Point] { return (*List[Point])(&p.Points) })
	points.element.step, points.element.least = step{item: true, tail: "polygonPoint"}, minPolygonPoints
	inPoint := object("inPolygonPoint", optional, pointElement("inPolygonPoint"), func(p *Polygon) *Point {
		return &p.InPoint
	})
	inPoint.element.step = step{item: true, tail: "inPolygonPoint"}
	return newElement("geoLocationPolygon", inOrder, points, inPoint)
}

var corner = sync.OnceValue(func() *element[Point] { return pointElement("polygonPoint") })

func (c *checker) polygon(p *path, polygon *Polygon) {
	points := polygon.Points
	for i := range points {
		corner().check(c, p.item(i).dot("polygonPoint"), &points[i])
	}
	if polygon.InPoint != (Point{}) {
		corner().check(c, p.item(len(points)).dot("inPolygonPoint"), &polygon.InPoint)
	}
	switch {
	case len(points) < minPolygonPoints:
		c.fault(datacite.CodePolygon, p, "", "a polygon has at least %d points, the last of which repeats the first",
			minPolygonPoints)
	case points[0] != points[len(points)-1]:
		c.warn(datacite.CodePolygon, p, "", "the last point of a polygon should repeat the first")
	}
}

// value is the list of JSON: the points of one polygon, or such lists.
func (p Polygons) value() value {
	all := value{member: "geoLocationPolygon", kind: listOf}
	for i := range p {
		points := p[i].values()
		if len(p) > 1 {
			points = []value{{kind: objectValue, inside: []value{{kind: listOf, inside: points}}}}
		}
		all.inside = append(all.inside, points...)
	}
	return all
}

func (p *Polygon) values() (points []value) {
	add := func(name string, point *Point) {
		at := value{member: name, kind: objectValue, inside: corner().values(point, nil)}
		points = append(points, value{kind: objectValue, inside: []value{at}})
	}
	for i := range p.Points {
		add("polygonPoint", &p.Points[i])
	}
	if p.InPoint != (Point{}) {
		add("inPolygonPoint", &p.InPoint)
	}
	return points
}

// Degrees returns the coordinate as a number. The error is that of
// [strconv.ParseFloat].
func (c Coordinate) Degrees() (float64, error) {
	degrees, err := strconv.ParseFloat(strings.TrimSpace(string(c)), 64)
	return degrees, input.Invalid(err, datacite.Finding{Path: "coordinate", Code: datacite.CodeCoordinate})
}

// MarshalJSON writes a number if that has exactly the digits of c, and otherwise a string, such as for
// 41.090, 1e1 or +1: of a number, the service would store other digits.
func (c Coordinate) MarshalJSON() ([]byte, error) {
	degrees, err := strconv.ParseFloat(string(c), 64)
	if err == nil && json.Valid([]byte(c)) && strconv.FormatFloat(degrees, 'f', -1, 64) == string(c) {
		return []byte(c), nil
	}
	return json.Marshal(string(c))
}

// UnmarshalJSON reads a number or a string.
func (c *Coordinate) UnmarshalJSON(data []byte) error {
	return input.JSON(data, c, func(d *decoder, c *Coordinate) { *c = Coordinate(d.Text()) })
}

// polygonEntry is one entry of a polygon in JSON.
type polygonEntry struct {
	Point   *Point `json:"polygonPoint,omitempty"`
	InPoint *Point `json:"inPolygonPoint,omitempty"`
}

// MarshalJSON writes an array of objects with a polygonPoint or inPolygonPoint each.
func (p Polygon) MarshalJSON() ([]byte, error) {
	entries := make([]polygonEntry, 0, len(p.Points)+1)
	for i := range p.Points {
		entries = append(entries, polygonEntry{Point: &p.Points[i]})
	}
	if p.InPoint != (Point{}) {
		entries = append(entries, polygonEntry{InPoint: &p.InPoint})
	}
	return json.Marshal(entries)
}

// MarshalJSON writes one polygon as an array of points, and several as an array of arrays.
func (p Polygons) MarshalJSON() ([]byte, error) {
	if len(p) == 1 && (len(p[0].Points) > 0 || p[0].InPoint != (Point{})) {
		return json.Marshal(p[0])
	}
	return json.Marshal([]Polygon(p))
}

// UnmarshalJSON reads one polygon or several, also in the older form of an object whose
// polygonPoint is a list.
func (p *Polygons) UnmarshalJSON(data []byte) error {
	return input.JSON(data, p, func(d *decoder, p *Polygons) { p.read(d) })
}

// UnmarshalJSON reads what [Polygons] reads, and keeps the first polygon.
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
		p.add(d).join(d, polygonEntryOf(d))
	case 'n':
		d.Skip()
	default:
		d.SkipOdd()
	}
}

func (p *Polygons) add(d *decoder) *Polygon {
	if len(*p) == cap(*p) {
		room := max(4, 2*len(*p))
		if d.Spend(room * int(reflect.TypeFor[Polygon]().Size())); d.Err() != nil {
			return &Polygon{}
		}
		*p = append(make(Polygons, 0, room), *p...)
	}
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
			d.Each(func() { nested.join(d, polygonEntryOf(d)) })
		case '{':
			next := polygonEntryOf(d)
			if current == nil || len(next.Points) > 1 {
				current = p.add(d)
			}
			current.join(d, next)
		case 'n':
			d.Skip()
		default:
			d.SkipOdd()
		}
	})
}

func polygonEntryOf(d *decoder) (entry Polygon) {
	polygonElement().jsonObject().Read(d, &entry)
	return entry
}

func (p *Polygon) join(d *decoder, next Polygon) {
	d.Spend(2 * len(next.Points) * int(reflect.TypeFor[Point]().Size())) // a list that grows is there twice
	p.Points = append(p.Points, next.Points...)
	if next.InPoint != (Point{}) {
		p.InPoint = next.InPoint
	}
}
