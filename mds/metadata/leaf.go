package metadata

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Text is a string that may come as a JSON number.
type Text string

// UnmarshalJSON reads a string, a number, true, false or null.
func (t *Text) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(t).Elem())
}

// UnmarshalJSON reads an object, or a string as the name.
func (p *Publisher) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(p).Elem())
}

// MarshalJSON writes a string when there is only a name, else an object.
func (p Publisher) MarshalJSON() ([]byte, error) {
	if p == (Publisher{Name: p.Name}) {
		return json.Marshal(p.Name)
	}
	type plain Publisher
	return json.Marshal(plain(p))
}

// UnmarshalJSON reads an object, or a string as the name.
func (a *Affiliation) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(a).Elem())
}

// UnmarshalJSON reads an object; any other value leaves t empty.
func (t *Types) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(t).Elem())
}

// Year is a year of publication as four digits. It is text, because records
// without a year carry 0000 or other stand-ins. In JSON a year is a number where
// four digits can be one, else a string.
type Year string

// UnmarshalJSON reads a number or a string. A number of fewer than four digits is
// filled up with zeros, since JSON cannot write them.
func (y *Year) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(y).Elem())
}

func (y *Year) readFrom(r *jsonReader) {
	number := r.peek() != '"'
	text := r.text()
	if n, err := strconv.ParseUint(text, 10, 32); number && err == nil && n < 1000 {
		text = fmt.Sprintf("%04d", n)
	}
	*y = Year(text)
}

// MarshalJSON writes a number, or a string when y is not four digits or starts
// with a zero.
func (y Year) MarshalJSON() ([]byte, error) {
	if isYear(string(y)) && y[0] != '0' {
		return []byte(y), nil
	}
	return json.Marshal(string(y))
}

// isYear reports whether s is four ASCII digits.
func isYear(s string) bool {
	return len(s) == 4 && strings.Trim(s, "0123456789") == ""
}

// Coordinate is a longitude or latitude in decimal degrees, kept as text so that
// no digit is lost. In JSON it is read from a number or a string.
type Coordinate string

// Degrees returns v as a Coordinate, with as many digits as it takes to tell v
// from every other number.
func Degrees(v float64) Coordinate {
	return Coordinate(strconv.FormatFloat(v, 'f', -1, 64))
}

// Degrees returns the coordinate as a number. The error is that of
// [strconv.ParseFloat].
func (c Coordinate) Degrees() (float64, error) {
	return strconv.ParseFloat(strings.TrimSpace(string(c)), 64)
}

// UnmarshalJSON reads a number or a string.
func (c *Coordinate) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(c).Elem())
}

// MarshalJSON writes a number, digit by digit as c has them, or a string when
// JSON has no such number, as for +1 or .5.
func (c Coordinate) MarshalJSON() ([]byte, error) {
	if isJSONNumber(string(c)) {
		return []byte(c), nil
	}
	return json.Marshal(string(c))
}

// isJSONNumber reports whether s is a JSON number with nothing around it.
func isJSONNumber(s string) bool {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	last := s[len(s)-1]
	return last >= '0' && last <= '9' && json.Valid([]byte(s))
}

// polygonEntry is one entry of a polygon in JSON.
type polygonEntry struct {
	Point   *Point `json:"polygonPoint,omitempty"`
	InPoint *Point `json:"inPolygonPoint,omitempty"`
}

// MarshalJSON writes an array of points, each in an object that says which kind
// of point it is.
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

// Polygons are the areas of one [GeoLocation]. In JSON a single polygon is an
// array of points, and several are an array of such arrays.
type Polygons []Polygon

// MarshalJSON writes one polygon flat and several nested.
func (p Polygons) MarshalJSON() ([]byte, error) {
	if len(p) == 1 && (len(p[0].Points) > 0 || p[0].InPoint != (Point{})) {
		return json.Marshal(p[0])
	}
	return json.Marshal([]Polygon(p))
}

// UnmarshalJSON reads one polygon or several, also in the older form of an
// object whose member polygonPoint is a list.
func (p *Polygons) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(p).Elem())
}

func (p *Polygons) readFrom(r *jsonReader) {
	*p = nil
	switch r.peek() {
	case '[':
		*p = Polygons{}
		p.readArray(r)
	case '{':
		p.add().join(readPolygonPoint(r))
	default:
		r.skip()
	}
}

func (p *Polygons) add() *Polygon {
	*p = append(*p, Polygon{})
	return &(*p)[len(*p)-1]
}

// readArray reads the points of one polygon, or several polygons. Points side by
// side belong together.
func (p *Polygons) readArray(r *jsonReader) {
	var current *Polygon
	r.array(func() {
		switch r.peek() {
		case '[':
			current = nil
			nested := p.add()
			r.array(func() { nested.join(readPolygonPoint(r)) })
		case '{':
			next := readPolygonPoint(r)
			if current == nil || len(next.Points) > 1 {
				current = p.add()
			}
			current.join(next)
		default:
			r.skip()
		}
	})
}

// readPolygonPoint reads one entry of a polygon. In records of old, one entry
// holds all the points.
func readPolygonPoint(r *jsonReader) Polygon {
	var entry struct {
		Points  List[Point] `json:"polygonPoint"`
		InPoint Point       `json:"inPolygonPoint"`
	}
	v := reflect.ValueOf(&entry).Elem()
	r.into(v, shapeOf(v.Type()))
	return Polygon{Points: entry.Points, InPoint: entry.InPoint}
}

func (p *Polygon) join(next Polygon) {
	p.Points = append(p.Points, next.Points...)
	if next.InPoint != (Point{}) {
		p.InPoint = next.InPoint
	}
}
