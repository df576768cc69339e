package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// checker reads JSON and checks it by rules. It stops at the first error.
type checker struct {
	*jsonlex.Lexer
	path  []string // to the value with the error, from the inside out
	depth int      // of anyValue

	begin, end string // of the period that is read
}

// check reads a stream of JSON by a rule. Errors begin with the path of the
// value, as in "report-datasets/0/yop: a string expected".
func check(r io.Reader, value rule) error {
	c := &checker{Lexer: jsonlex.New(&inUTF8{Reader: transform.NewReader(r, encoding.UTF8Validator)})}
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

// inUTF8 gives the text before a character that is not UTF-8, then the error.
type inUTF8 struct {
	io.Reader
	err error
}

func (u *inUTF8) Read(p []byte) (n int, err error) {
	if u.err == nil {
		n, u.err = u.Reader.Read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, u.err
}

// rule reads one value and checks it.
type rule func(c *checker)

// in reads the value of a member.
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

// object reads an object. member is called with each name, whose bytes are valid only
// during the call, and returns the rule for the value.
func (c *checker) object(member func(name []byte) rule) {
	if !c.starts('{', "an object") || !c.Begin() {
		return
	}
	for i := 0; ; i++ {
		name, ok := c.Key(i)
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

// text reads a string. The bytes are valid until the next call.
func (c *checker) text() []byte {
	c.starts('"', "a string")
	return c.Text()
}

// raw reads a value by the rule and returns its bytes, which are valid until the next
// call, of so many pieces at most.
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

// value reads a value by the rule and decodes it, with numbers as written: 3.0 is not an
// integer.
func (c *checker) value(take rule, limit int) (v any) {
	if raw := c.raw(take, limit); c.Err() == nil {
		v = decoded(raw)
	}
	return v
}

// decoded decodes JSON that was checked before, nil if empty.
func decoded(data []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	_ = dec.Decode(&v)
	return v
}

// anyValue reads values that the service does not check, and seeded reports, which may
// be as irregular as real ones, at most 100 levels deep.
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
	}
	c.depth--
}

// content describes the body of a report. The datasets stay in the body: start and end
// are the offsets of their elements in the uncompressed body.
type content struct {
	id         string
	header     object
	start, end int64
	datasets   int
}

// readReport reads a report body in one pass and checks it against
// specification §2.1, header and datasets by the given rules, with at most so
// many datasets.
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
				take = anyValue // other members of a GET
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
