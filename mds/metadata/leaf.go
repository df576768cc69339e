package metadata

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Text is a string that may come as a JSON number.
type Text string

// MarshalJSON writes a string when there is only a name, else an object.
func (p Publisher) MarshalJSON() ([]byte, error) {
	if p == (Publisher{Name: p.Name}) {
		return json.Marshal(p.Name)
	}
	type plain Publisher
	return json.Marshal(plain(p))
}

// Year is a year of publication as four digits. It is text, because records
// without a year carry 0000 or other stand-ins. In JSON a year is a number where
// four digits can be one, else a string.
type Year string

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
