package reports

import (
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/internal/arena"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Stored reports come from many senders. The decoder takes what occurs in them
// beside the types of the specification: numbers as texts, texts as numbers,
// null for anything, one value for a list of one, names in another case.

// A decoder makes values of this package of JSON. Texts and lists are cut from
// larger blocks, so that a dataset costs a fraction of an allocation; keeping
// one dataset keeps at most one block of each kind.
type decoder struct {
	reuse  bool            // lists are valid until the next dataset only
	budget *jsonlex.Budget // renewed for each dataset unless they are kept; nil: none
	kept   bool            // all datasets are

	dataset, performance, period, instance, typed *jsonlex.Names
	header, nameValue, exception                  *jsonlex.Names

	texts        arena.Texts
	values       arena.Lists[TypedValue]
	performances arena.Lists[Performance]
	instances    arena.Lists[Instance]
	counts       arena.Lists[CountryCount]

	platform, dataType, publisher, begin, end column

	origin origin // of the header read last
}

func newDecoder() *decoder {
	return &decoder{
		dataset:     jsonlex.NewNames(datasetNames...),
		performance: jsonlex.NewNames("period", "instance", "instances"),
		period:      jsonlex.NewNames("begin-date", "end-date"),
		instance:    jsonlex.NewNames("count", "metric-type", "access-method", "country-counts"),
		typed:       jsonlex.NewNames("type", "value"),
		header:      jsonlex.NewNames(headerNames...),
		nameValue:   jsonlex.NewNames("name", "value"),
		exception:   jsonlex.NewNames("code", "severity", "message", "help-url", "data"),
	}
}

var decoders = sync.Pool{New: func() any { return newDecoder() }}

// unmarshal decodes one value from a whole JSON text.
func unmarshal(data []byte, decode func(*decoder, *jsonlex.Lexer)) error {
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	l := jsonlex.OfBytes(data)
	decode(d, l)
	l.End()
	return l.Err()
}

// scalar reads a text, and a number or boolean as a text. Anything else is "".
func scalar(l *jsonlex.Lexer) []byte {
	switch l.Kind() {
	case '"':
		return l.Text()
	case 'n', '{', '[':
		l.Skip()
		return nil
	case 't', 'f':
		return l.Bool()
	}
	return l.Number()
}

func (d *decoder) text(l *jsonlex.Lexer) string { return d.copy(l, scalar(l)) }

func (d *decoder) copy(l *jsonlex.Lexer, b []byte) string {
	l.Spend(len(b))
	return d.texts.Copy(b)
}

// next adds an element to a list.
func next[T any](l *jsonlex.Lexer, list *arena.Lists[T]) *T {
	if cost := list.Cost(); cost > 0 {
		if l.Spend(cost); l.Err() != nil {
			return new(T)
		}
	}
	return list.Next()
}

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// count reads a number, or a text that holds one.
func count(l *jsonlex.Lexer) int64 {
	if n, ok := l.Count(); ok {
		return n
	}
	var digits string
	switch l.Kind() {
	case 'n':
		l.Skip()
	case '"':
		digits = strings.TrimSpace(string(l.Text()))
	default:
		digits = string(l.Number())
	}
	if digits == "" {
		return 0
	}
	n, err := wholeNumber(digits)
	if err != nil {
		l.Fail(err)
	}
	return n
}

func wholeNumber(digits string) (int64, error) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, nil
	}
	if decimal.MatchString(digits) {
		// Exact, unlike a float: 9007199254740993.0 is odd.
		if n, ok := new(big.Rat).SetString(digits); ok && n.IsInt() && n.Num().IsInt64() {
			return n.Num().Int64(), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a count", digits)
}

// decimal is a number as JSON writes it, of an exponent that a count can have.
var decimal = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

// each reads the elements of a list. What is no list is its one element, and
// null is none.
func each(l *jsonlex.Lexer, element func()) (found bool) {
	switch l.Kind() {
	case 'n':
		l.Skip()
		return false
	case '[':
		l.List()
		for i := 0; l.Element(i); i++ {
			element()
		}
	default:
		element()
	}
	return true
}

// A column is a text that is mostly the same from one dataset to the next.
type column struct {
	last   string
	quoted string // as JSON; "" if that takes escapes
}

func (d *decoder) same(l *jsonlex.Lexer, c *column) string {
	if c.quoted != "" && l.Match(c.quoted) {
		return c.last
	}
	if b := scalar(l); string(b) != c.last {
		c.last, c.quoted = d.copy(l, b), ""
		if isPlain(b) {
			c.quoted = `"` + c.last + `"`
		}
	}
	return c.last
}

// isPlain tells whether a text is written in JSON as it is.
func isPlain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
