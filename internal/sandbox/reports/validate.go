package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// checker reads JSON, and holds it against rules. After the first error it reads no
// more.
type checker struct {
	*jsonlex.Lexer
	encoding *utf8Reader
	path     []string // to the value with the error, from the inside out
}

// check reads a stream of JSON that a rule is for. Errors begin with the path of the
// value, as in "report-datasets/0/yop: a string expected".
func check(r io.Reader, value rule) error {
	source := &utf8Reader{Reader: r, bad: math.MaxInt64}
	c := &checker{Lexer: jsonlex.New(source), encoding: source}
	value(c)
	c.End()
	err := c.Err()
	switch {
	case errors.Is(err, jsonlex.ErrTooLarge):
		return wire.ErrTooMuch
	case err == nil, len(c.path) == 0:
		return err
	}
	slices.Reverse(c.path)
	return fmt.Errorf("%s: %w", strings.Join(c.path, "/"), err)
}

var errEncoding = errors.New("invalid UTF-8")

// utf8Reader notes where a stream ceases to be UTF-8, which the lexer lets pass.
type utf8Reader struct {
	io.Reader
	rest []byte // of a character that is not whole yet
	read int64
	bad  int64 // where the first byte stands that is none
}

func (u *utf8Reader) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if start := u.read - int64(len(u.rest)); u.bad > start && (len(u.rest) > 0 || !utf8.Valid(p[:n])) {
		u.rest = append(u.rest, p[:n]...)
		for at := start; utf8.FullRune(u.rest); {
			r, size := utf8.DecodeRune(u.rest)
			if r == utf8.RuneError && size == 1 {
				u.bad, u.rest = at, nil
				break
			}
			at, u.rest = at+int64(size), u.rest[size:]
		}
	}
	u.read += int64(n)
	return n, err
}

// sound refuses a text, which has just been read, that is not UTF-8.
func (c *checker) sound() {
	if c.encoding.bad < c.Offset() {
		c.Fail(errEncoding)
	}
}

// rule takes one value and checks it.
type rule func(c *checker)

// in takes the value that stands in a member, or under a number.
func (c *checker) in(place any, value rule) {
	value(c)
	if c.Err() != nil {
		c.path = append(c.path, fmt.Sprint(place))
	}
}

func (c *checker) refuse(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

func (c *checker) unexpected(wanted string) {
	found := c.Kind()
	if found == 0 {
		c.Fail(io.ErrUnexpectedEOF)
	}
	c.refuse("%s expected at byte %d, not %q", wanted, c.Offset(), found)
}

// starts says whether a value of a kind comes next, by its first byte.
func (c *checker) starts(with byte, wanted string) bool {
	if c.Kind() != with {
		c.unexpected(wanted)
	}
	return c.Err() == nil
}

// object takes an object. member is called with each name, whose bytes are good
// during the call only, and returns what takes the value.
func (c *checker) object(member func(name []byte) rule) {
	if !c.starts('{', "an object") || !c.Begin() {
		return
	}
	for i := 0; ; i++ {
		name, ok := c.Key(i)
		c.sound()
		if !ok {
			return
		}
		if value := member(name); c.Err() == nil {
			value(c)
		}
	}
}

func (c *checker) array(element rule) {
	if !c.starts('[', "an array") {
		return
	}
	c.List()
	for i := 0; c.Element(i); i++ {
		c.in(i, element)
	}
}

// text takes a string. The bytes are good until the next call.
func (c *checker) text() []byte {
	c.starts('"', "a string")
	defer c.sound()
	return c.Text()
}

// raw takes a value with the rule and returns its bytes, which are good until the
// next call, of so many pieces at most.
func (c *checker) raw(value rule, limit int) []byte {
	c.Hold()
	value(c)
	held := c.Held()
	if wire.Pieces(held) > limit {
		c.Fail(wire.ErrTooMuch)
		return nil
	}
	return held
}

// anyValue takes what the service does not look at, and seeded reports, which may be
// as odd as real ones are.
func anyValue(c *checker) { c.nested(100) }

// nested takes a value of any kind, at most depth levels deep.
func (c *checker) nested(depth int) {
	inside := func(c *checker) { c.nested(depth - 1) }
	switch kind := c.Kind(); {
	case depth == 0:
		c.refuse("values nested too deep at byte %d", c.Offset())
	case kind == '{':
		c.object(func([]byte) rule { return inside })
	case kind == '[':
		c.array(inside)
	default:
		c.Skip()
		c.sound()
	}
}

// content is what the body of a report holds. The datasets stay where they
// are: start and end say where in the (uncompressed) body their elements stand.
type content struct {
	header     object
	start, end int64
	datasets   int
}

// readReport reads a report body in one pass and checks it against
// specification §2.1, header and datasets as the given rules say, of which there may
// be so many.
func readReport(r io.Reader, header, dataset rule, most int) (content, error) {
	var read content
	seen := map[string]bool{}
	err := check(r, func(c *checker) {
		c.object(func(name []byte) rule {
			member := string(name)
			if seen[member] {
				c.refuse("%s given twice", member)
			}
			seen[member] = true
			return func(c *checker) { c.in(member, read.member(member, header, dataset, most)) }
		})
	})
	switch {
	case err != nil:
		return read, err
	case read.header == nil:
		return read, errors.New("report-header is missing")
	case !seen["report-datasets"]:
		return read, errors.New("report-datasets is missing")
	}
	return read, nil
}

func (read *content) member(name string, header, dataset rule, most int) rule {
	switch name {
	case "report-header":
		return func(c *checker) {
			raw := c.raw(header, wire.MaxPieces)
			if c.Err() == nil && json.Unmarshal(raw, &read.header) != nil {
				c.refuse("an object expected")
			}
		}
	case "report-datasets":
		return func(c *checker) {
			c.Kind()
			read.start = c.Offset() + 1
			c.array(func(c *checker) {
				if read.datasets++; read.datasets > most {
					c.refuse("more than %d datasets", most)
				}
				dataset(c)
			})
			read.end = c.Offset() - 1
		}
	}
	return anyValue // an id, or what a GET answers besides
}

// member is a member that an object may have.
type member struct {
	name     string
	check    rule
	required bool
}

func need(name string, check rule) member { return member{name, check, true} }
func may(name string, check rule) member  { return member{name, check, false} }

// members is an object with these members and no others.
func members(all ...member) rule {
	for i, m := range all {
		all[i].check = func(c *checker) { c.in(m.name, m.check) }
	}
	return func(c *checker) {
		var seen uint64
		next := 0 // the member that mostly comes
		c.object(func(name []byte) rule {
			for range all {
				i := next % len(all)
				next++
				if string(name) != all[i].name {
					continue
				}
				if seen&(1<<i) != 0 {
					c.refuse("%s given twice", name)
				}
				seen |= 1 << i
				return all[i].check
			}
			c.refuse("found unpermitted parameter: :%s", name)
			return nil
		})
		for i, m := range all {
			if m.required && seen&(1<<i) == 0 {
				c.refuse("%s is missing", m.name)
			}
		}
	}
}

func arrayOf(element rule) rule { return func(c *checker) { c.array(element) } }

// either takes strings with one rule and everything else with the other.
func either(text, other rule) rule {
	return func(c *checker) {
		if c.Kind() == '"' {
			text(c)
		} else {
			other(c)
		}
	}
}

func anyText(c *checker) { c.text() }

func filledText(c *checker) {
	if len(c.text()) == 0 {
		c.refuse("can't be blank")
	}
}

func oneOf(values ...string) rule {
	return func(c *checker) {
		if text := c.text(); !slices.Contains(values, string(text)) {
			c.refuse("%q is not one of %q", text, values)
		}
	}
}

func integer(c *checker) {
	if first := c.Kind(); first != '-' && (first < '0' || first > '9') {
		c.unexpected("an integer")
	}
	word := c.Number()
	if _, err := strconv.ParseInt(string(word), 10, 64); err != nil {
		c.refuse("an integer expected, not %s", word)
	}
}

// date takes a day, YYYY-MM-DD.
func date(c *checker) { c.date() }

func (c *checker) date() string {
	day := string(c.text())
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		c.refuse("%q is not a date, YYYY-MM-DD", day)
	}
	return day
}

// period is an object of two dates that do not go backwards.
func period(c *checker) {
	var begin, end string
	members(
		need("begin-date", func(c *checker) { begin = c.date() }),
		need("end-date", func(c *checker) { end = c.date() }),
	)(c)
	if end < begin {
		c.refuse("end-date %s is before begin-date %s", end, begin)
	}
}

func countryCounts(c *checker) {
	c.object(func(name []byte) rule {
		if len(name) != 2 || name[0] < 'a' || name[0] > 'z' || name[1] < 'a' || name[1] > 'z' {
			c.refuse("%q is not a lowercase two-letter country code", name)
		}
		return integer
	})
}

// typed is an array of {type, value}.
func typed(types ...string) rule {
	kind := rule(filledText)
	if len(types) > 0 {
		kind = oneOf(types...)
	}
	return arrayOf(members(need("type", kind), need("value", anyText)))
}

// reportHeader is the header of specification §2.1. Which members are
// required the specification leaves open; these are what the servers require.
var reportHeader = members(
	may("report-name", anyText),
	need("report-id", filledText),
	need("release", filledText),
	need("created-by", filledText),
	need("created", date),
	need("reporting-period", period),
	may("report-filters", namedValues),
	may("report-attributes", namedValues),
	may("exceptions", arrayOf(members(
		may("code", integer), may("severity", anyText), may("message", anyText), may("help-url", anyText), may("data", anyText),
	))),
)

var namedValues = arrayOf(either(anyText, members(need("name", anyText), need("value", anyText))))

// reportDataset is a dataset entry of specification §2.1. The types of
// identifiers, contributors and dates are those the servers take.
var reportDataset = members(
	may("uri", anyText),
	may("yop", anyText),
	need("platform", anyText),
	need("data-type", oneOf("dataset")),
	need("publisher", anyText),
	may("dataset-id", typed("doi", "DOI", "proprietary", "uri")),
	need("performance", arrayOf(members(need("period", period), need("instance", arrayOf(reportInstance))))),
	need("publisher-id", typed()),
	may("dataset-dates", typed("pub-date", "first-accessed-online", "proprietary")),
	need("dataset-title", anyText),
	may("dataset-contributors", typed("name", "orcid", "isni")),
	may("dataset-attributes", typed("dataset-version", "dataset_type", "proprietary")),
)

var reportInstance = members(
	need("count", integer),
	need("metric-type", oneOf(
		"total-dataset-requests", "unique-dataset-requests", "total-dataset-investigations", "unique-dataset-investigations",
	)),
	need("access-method", oneOf("regular", "machine")),
	may("country-counts", countryCounts),
)
