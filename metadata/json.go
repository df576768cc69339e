package metadata

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

type (
	member[T any] = jsonlex.Member[T]
	decoder       = jsonlex.Decoder
)

// List is a []T that reads the JSON forms that the service sends: an array, null, or a
// single item. Items that cannot be read are left out.
//
// A List[T] can be used as a []T, and a []T can be assigned to it.
type List[T any] []T

// Package dois reads a Record inside its own.
func init() { jsonlex.Share(func() []member[Record] { return resourceElement().members }) }

// A sent record is one with its XML, as the service sends it.
type sent struct {
	record Record
	xml    []byte
}

var sentJSON = sync.OnceValue(func() *jsonlex.Object[sent] {
	return jsonlex.NewObject(append(jsonlex.Inside(resourceElement().members, func(s *sent) *Record { return &s.record }),
		jsonlex.Field("xml", func(d *decoder, s *sent) { s.xml = d.Base64() }))...)
})

// ParseJSON reads a record in the form of the DOI query interface: the object of its
// attributes. A member of an unexpected type is not an error: where a property needs
// another type, a number is read as text, and a single value as a list of one; anything
// else is left out. Without the member doi, the one DOI among the identifiers is the record's, as in DataCite's own JSON
// schema. The service's escapes are undone, with the XML if there is the member xml
// (see [Unescape]); package dois also names the texts that it has to guess. Input that is not a JSON
// object in UTF-8, or takes more than 100 MiB of memory, is a [*datacite.ValidationError]. Any other
// error is that of the reader.
func ParseJSON(r io.Reader) (*Record, error) {
	if r == nil {
		return nil, datacite.Invalidf("r", datacite.CodeMissing, "is nil")
	}
	const memory = 100 << 20
	rec, watch := &sent{}, input.Watch{}
	err := jsonlex.Decode(watch.Reader(r), memory, func(d *decoder) error {
		if d.Kind() != '{' {
			d.Failf("a record is a JSON object")
		}
		sentJSON().Read(d, rec)
		return nil
	})
	switch {
	case err == nil:
		Unescape(&rec.record, rec.xml)
		return &rec.record, nil
	case watch.Failed():
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return nil, input.Invalid(err, datacite.Finding{Code: datacite.CodeSyntax})
}

// readers are the readers of lists, by the type of their elements.
var readers sync.Map

func listMember[T, E any](name string, field func(*T) *List[E], item func(*decoder, *E) bool) member[T] {
	reader, _ := readers.LoadOrStore(reflect.TypeFor[E](), jsonlex.List[List[E]](item))
	read := reader.(func(*decoder) List[E])
	return jsonlex.Field(name, func(d *decoder, v *T) { *field(v) = read(d) })
}

// UnmarshalJSON reads an array, null, or a single item, and replaces the list. It fails
// only if data is not JSON.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	resourceElement() // makes the readers
	if read, ok := readers.Load(reflect.TypeFor[T]()); ok {
		return input.JSON(data, l, func(d *decoder, l *List[T]) { *l = read.(func(*decoder) List[T])(d) })
	}
	// of a type that no record has
	return input.Invalid(json.Unmarshal(data, (*[]T)(l)), datacite.Finding{Code: datacite.CodeSyntax})
}

// YearOf is a year of publication, four digits. It is text, because records without a year
// have 0000 or other codes. In JSON it is a number if it does not start with a zero.
type Year string

// YearOf returns a year as the text of a record: Year(2026) is "2026".
func YearOf(year int) Year { return Year(fmt.Sprintf("%04d", year)) }

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
	*y = Year(d.Text())
	if n, err := strconv.ParseUint(string(*y), 10, 16); number && err == nil {
		*y = YearOf(int(n))
	}
}

func yearElement() part[Record] {
	p := textElement("publicationYear", once, year, func(r *Record) *Year { return &r.PublicationYear })
	p.members[0].Read = func(d *decoder, r *Record) { readYear(d, &r.PublicationYear) }
	check := p.check
	p.check = func(c *checker, at *path, r *Record) {
		check(c, at, r)
		year := xmlscan.Trim(string(r.PublicationYear))
		if year != string(r.PublicationYear) && isYear(year) {
			c.warn(datacite.CodeLossy, at.dot("publicationYear"), string(r.PublicationYear),
				"if the record is sent as XML, the service makes an Issued date with this white space of it; leave it out")
		}
		if isYear(year) && year[0] == '0' {
			c.warn(datacite.CodeJSON, at.dot("publicationYear"), year,
				"as JSON, the service refuses a year that starts with a zero; it accepts it as XML")
		}
	}
	return p
}
