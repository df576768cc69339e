package metadata

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

type (
	member[T any] = jsonlex.Member[T]
	decoder       = jsonlex.Decoder
)

// List is a []T that reads JSON as the service has been seen to write it: an array, null,
// or a single item. Items that cannot be read are left out.
//
// A List[T] can be used as a []T, and a []T can be assigned to it.
type List[T any] []T

// JSONMembers tells package dois how to read a Record inside a T. The result is of
// an internal type: other programs embed a Record in a struct of their own, and read
// that with encoding/json.
func JSONMembers[T any](inside func(*T) *Record) []jsonlex.Member[T] {
	return jsonlex.Inside(resourceElement.members, inside)
}

// readers are the readers of lists, by the type of their elements.
var readers = map[reflect.Type]any{}

func listMember[T, E any](name string, field func(*T) *List[E], item func(*decoder, *E) bool) member[T] {
	element := reflect.TypeFor[E]()
	if readers[element] == nil {
		readers[element] = jsonlex.List[List[E]](item)
	}
	read := readers[element].(func(*decoder) List[E])
	return jsonlex.Field(name, func(d *decoder, v *T) { *field(v) = read(d) })
}

// UnmarshalJSON reads an array, null, or a single item, and replaces the list. It fails
// only if data is not JSON.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	if read, ok := readers[reflect.TypeFor[T]()]; ok {
		return input.JSON(data, l, func(d *decoder, l *List[T]) { *l = read.(func(*decoder) List[T])(d) })
	}
	return input.Fault(json.Unmarshal(data, (*[]T)(l)), datacite.Finding{Code: "syntax"}) // of a type that no record has
}

// Text is a string that may be a number in JSON.
type Text string

func readText[S ~string](d *decoder, v *S) { *v = S(d.Text()) }

// UnmarshalJSON reads a string, a number, true, false or null.
func (t *Text) UnmarshalJSON(data []byte) error { return input.JSON(data, t, readText) }

// Year is a year of publication, four digits. It is text, because records without a year
// have 0000 or other codes. In JSON it is a number if it does not start with a zero.
type Year string

// isYear reports whether s is four ASCII digits.
func isYear(s string) bool {
	return len(s) == 4 && strings.Trim(s, "0123456789") == ""
}

// MarshalJSON writes a number, or a string if y is not four digits or starts with a zero.
func (y Year) MarshalJSON() ([]byte, error) {
	if isYear(string(y)) && y[0] != '0' {
		return []byte(y), nil
	}
	return json.Marshal(string(y))
}

// UnmarshalJSON reads a number or a string, and adds leading zeros to a number of fewer
// than four digits.
func (y *Year) UnmarshalJSON(data []byte) error { return input.JSON(data, y, readYear) }

func readYear(d *decoder, y *Year) {
	number := d.Kind() != '"'
	text := d.Text()
	if n, err := strconv.ParseUint(text, 10, 32); number && err == nil && n < 1000 {
		text = fmt.Sprintf("%04d", n)
	}
	*y = Year(text)
}

func yearElement() part[Record] {
	p := textElement("publicationYear", once, year, func(r *Record) *Year { return &r.PublicationYear })
	p.members[0].Read = func(d *decoder, r *Record) { readYear(d, &r.PublicationYear) }
	check := p.check
	p.check = func(c *checker, at *path, r *Record) {
		check(c, at, r)
		if year := xmlscan.Trim(string(r.PublicationYear)); isYear(year) && year[0] == '0' {
			c.warn("json", at.dot("publicationYear"), year, "as JSON, the service refuses a year that starts with a zero; it accepts it as XML")
		}
	}
	return p
}
