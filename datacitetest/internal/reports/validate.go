package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// checker reads JSON. It stops at the first error.
type checker struct {
	*jsonlex.Lexer
	depth int // of skip
}

// check reads a value from a stream of JSON in UTF-8.
func check(r io.Reader, value func(c *checker)) error {
	c := &checker{Lexer: jsonlex.New(&inUTF8{Reader: transform.NewReader(r, encoding.UTF8Validator)}).Tolerate(true)}
	value(c)
	if c.End(); errors.Is(c.Err(), jsonlex.ErrTooLarge) {
		return wire.ErrTooMuch
	}
	return c.Err()
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

func (c *checker) refuse(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

// mustBe refuses a value that a schema does not allow.
func (c *checker) mustBe(s *schema, v any, path string) {
	if found := s.faults(v, path, true, nil); len(found) > 0 && c.Err() == nil {
		c.refuse("%s: %s", found[0].path, found[0].text)
	}
}

// starts says whether a value of a kind comes next, by its first byte.
func (c *checker) starts(with byte, wanted string) bool {
	found := c.Kind()
	if found == 0 {
		c.Fail(io.ErrUnexpectedEOF)
	}
	if found != with {
		c.refuse("%s expected at byte %d, not %q", wanted, c.Offset(), found)
	}
	return c.Err() == nil
}

// object reads an object. member reads the value of each name, whose bytes are valid only
// until then.
func (c *checker) object(member func(name []byte)) {
	if !c.starts('{', "an object") {
		return
	}
	for name := range c.Members() {
		member(name)
	}
}

// value reads a value of so many pieces at most and decodes it, with numbers as written: 3.0
// is not an integer.
func (c *checker) value(limit int) (v any) {
	c.Hold()
	c.skip()
	held := c.Held()
	if wire.Pieces(held) > limit {
		c.Fail(wire.ErrTooMuch)
	}
	if c.Err() == nil {
		v = decoded(held)
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

// skip reads a value, at most 100 levels deep.
func (c *checker) skip() {
	c.depth++
	switch kind := c.Kind(); {
	case c.depth > 100:
		c.refuse("values nested too deep at byte %d", c.Offset())
	case kind == '{':
		c.object(func([]byte) { c.skip() })
	case kind == '[':
		c.List()
		for i := 0; c.Element(i); i++ {
			c.skip()
		}
	default:
		c.Skip()
	}
	c.depth--
}

// content is what a report says of itself.
type content struct {
	id     string
	header object
}

// readReport reads a report body in one pass, with at most so many datasets, and checks
// it against specification §2.1, or not at all: seeded reports may be as irregular as real ones.
func readReport(r io.Reader, checked bool, most int) (read content, err error) {
	seen := map[string]bool{}
	err = check(r, func(c *checker) {
		c.object(func(name []byte) {
			member := string(name)
			if seen[member] {
				c.refuse("%s given twice", member)
			}
			seen[member] = true
			switch member {
			case "id":
				read.id = wire.String(c.value(wire.MaxPieces))
			case "report-header":
				v := c.value(wire.MaxPieces)
				if read.header, _ = v.(object); read.header == nil {
					c.refuse("report-header: an object expected")
				}
				if checked {
					c.mustBe(reportHeader, v, "report-header")
				}
			case "report-datasets":
				c.datasets(checked, most)
			default:
				c.skip() // other members of a GET
			}
		})
	})
	for _, member := range []string{"report-header", "report-datasets"} {
		if err == nil && !seen[member] {
			err = errors.New(member + " is missing")
		}
	}
	return read, err
}

func (c *checker) datasets(checked bool, most int) {
	if !c.starts('[', "report-datasets: an array") {
		return
	}
	c.List()
	for i := 0; c.Element(i); i++ {
		if i == most {
			c.refuse("more than %d datasets", most)
		}
		if !checked {
			c.skip()
		} else {
			c.mustBe(reportDatasets.element, c.value(wire.MaxPieces), fmt.Sprintf("report-datasets/%d", i))
		}
	}
}
