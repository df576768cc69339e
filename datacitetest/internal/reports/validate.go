package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// checker reads JSON, and holds it against rules. After the first error it reads no
// more.
type checker struct {
	*jsonlex.Lexer
	encoding *utf8Reader
	path     []string // to the value with the error, from the inside out
	depth    int      // of anyValue

	begin, end string // of the period that is read
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
	bad  int64 // offset of the first byte that is not UTF-8
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

// in takes the value that stands in a member.
func (c *checker) in(member string, value rule) {
	value(c)
	if c.Err() != nil {
		c.path = append(c.path, member)
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
		if element(c); c.Err() != nil {
			c.path = append(c.path, strconv.Itoa(i))
		}
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

// value takes a value with the rule and reads it, numbers as they are written: 3.0 is no
// integer.
func (c *checker) value(take rule, limit int) (v any) {
	if raw := c.raw(take, limit); c.Err() == nil {
		v = decoded(raw)
	}
	return v
}

// decoded is JSON that was read before, or none.
func decoded(data []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	_ = dec.Decode(&v)
	return v
}

// anyValue takes what the service does not look at, and seeded reports, which may be
// as odd as real ones are, at most 100 levels deep.
func anyValue(c *checker) {
	c.depth++
	switch kind := c.Kind(); {
	case c.depth > 100:
		c.refuse("values nested too deep at byte %d", c.Offset())
	case kind == '{':
		c.object(func([]byte) rule { return anyValue })
	case kind == '[':
		c.array(anyValue)
	default:
		c.Skip()
		c.sound()
	}
	c.depth--
}

// content is what the body of a report holds. The datasets stay where they
// are: start and end say where in the (uncompressed) body their elements stand.
type content struct {
	id         string
	header     object
	start, end int64
	datasets   int
}

// readReport reads a report body in one pass and checks it against
// specification §2.1, header and datasets as the given rules say, of which there may
// be so many.
func readReport(r io.Reader, header, dataset rule, most int) (read content, err error) {
	takes := map[string]rule{
		"id": func(c *checker) { read.id = wire.String(c.value(anyValue, wire.MaxPieces)) },
		"report-header": func(c *checker) {
			v := c.value(header, wire.MaxPieces)
			if read.header, _ = v.(object); read.header == nil {
				c.refuse("an object expected")
			}
		},
		"report-datasets": func(c *checker) {
			c.Kind()
			read.start = c.Offset() + 1
			c.array(func(c *checker) {
				if read.datasets++; read.datasets > most {
					c.refuse("more than %d datasets", most)
				}
				dataset(c)
			})
			read.end = c.Offset() - 1
		},
	}
	seen := map[string]bool{}
	err = check(r, func(c *checker) {
		c.object(func(name []byte) rule {
			member := string(name)
			if seen[member] {
				c.refuse("%s given twice", member)
			}
			seen[member] = true
			take, known := takes[member]
			if !known {
				take = anyValue // what else a GET shows
			}
			return func(c *checker) { c.in(member, take) }
		})
	})
	for _, member := range []string{"report-header", "report-datasets"} {
		if err == nil && !seen[member] {
			err = errors.New(member + " is missing")
		}
	}
	return read, err
}
