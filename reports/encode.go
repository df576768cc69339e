package reports

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// errNotUTF8: JSON cannot carry such text unchanged.
var errNotUTF8 = errors.New("reports: dataset holds text that is not valid UTF-8")

// appendDataset appends the JSON of a dataset entry, without allocating. It says
// the same as encoding/json does, in an order of members that compresses a
// fiftieth better than that of the specification, and escapes nothing that JSON
// allows.
func appendDataset(dst []byte, d *Dataset) ([]byte, error) {
	var e encoder
	entry := e.dataset(dst, d)
	if e.beyondASCII&highs != 0 && !utf8.Valid(entry[len(dst):]) {
		return dst, errNotUTF8
	}
	return entry, nil
}

// An encoder appends JSON. It remembers what it has seen, but not the bytes: they
// go from call to call, which takes less time than a field.
type encoder struct {
	beyondASCII uint64 // has the highest bit of some byte if there was such a text
}

func (e *encoder) dataset(b []byte, d *Dataset) []byte {
	b = append(b, '{')
	b = e.optionalList(b, `"dataset-contributors":[`, d.Contributors)
	b = e.optionalText(b, `"yop":"`, d.YOP)
	b = append(b, `"data-type":"`...)
	b = e.text(b, d.DataType)
	b = append(b, `",`...)
	b = e.optionalList(b, `"dataset-dates":[`, d.Dates)
	b = append(b, `"dataset-title":"`...)
	b = e.text(b, d.Title)
	b = append(b, `","publisher-id":[`...)
	b = e.list(b, d.PublisherID)
	b = append(b, `],"dataset-id":[`...)
	b = e.list(b, d.DatasetID)
	b = append(b, `],"publisher":"`...)
	b = e.text(b, d.Publisher)
	b = append(b, `",`...)
	b = e.optionalText(b, `"uri":"`, d.URI)
	b = e.optionalList(b, `"dataset-attributes":[`, d.Attributes)
	b = append(b, `"performance":[`...)
	for i := range d.Performance {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.performance(b, &d.Performance[i])
	}
	b = append(b, `],"platform":"`...)
	b = e.text(b, d.Platform)
	return append(b, `"}`...)
}

func (e *encoder) optionalText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, name...)
	b = e.text(b, value)
	return append(b, `",`...)
}

func (e *encoder) optionalList(b []byte, name string, values []TypedValue) []byte {
	if len(values) == 0 {
		return b
	}
	b = append(b, name...)
	b = e.list(b, values)
	return append(b, `],`...)
}

func (e *encoder) list(b []byte, values []TypedValue) []byte {
	for i := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"`...)
		b = e.text(b, values[i].Type)
		b = append(b, `","value":"`...)
		b = e.text(b, values[i].Value)
		b = append(b, `"}`...)
	}
	return b
}

func (e *encoder) performance(b []byte, p *Performance) []byte {
	b = append(b, `{"period":{"begin-date":"`...)
	b = e.text(b, string(p.Period.BeginDate))
	b = append(b, `","end-date":"`...)
	b = e.text(b, string(p.Period.EndDate))
	b = append(b, `"},"instance":[`...)
	for i := range p.Instance {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.instance(b, &p.Instance[i])
	}
	return append(b, `]}`...)
}

func (e *encoder) instance(b []byte, n *Instance) []byte {
	b = append(b, `{"metric-type":"`...)
	b = e.text(b, string(n.MetricType))
	b = append(b, `","access-method":"`...)
	b = e.text(b, string(n.AccessMethod))
	b = append(b, `",`...)
	if len(n.CountryCounts) > 0 {
		b = append(b, `"country-counts":{`...)
		b = e.counts(b, n.CountryCounts)
		b = append(b, `},`...)
	}
	b = append(b, `"count":`...)
	return append(appendCount(b, n.Count), '}')
}

func (e *encoder) counts(b []byte, counts CountryCounts) []byte {
	for i := range counts {
		c := &counts[i]
		if i > 0 {
			b = append(b, ',')
		}
		if letterPair(c.Country) != 0 {
			b = append(b, '"', c.Country[0], c.Country[1], '"', ':')
		} else {
			b = append(b, '"')
			b = e.text(b, c.Country)
			b = append(b, '"', ':')
		}
		b = appendCount(b, c.Count)
	}
	return b
}

// appendCount appends a number that is small more often than not.
func appendCount(b []byte, n int64) []byte {
	switch {
	case 0 <= n && n < 10:
		return append(b, '0'+byte(n))
	case 0 <= n && n < 100:
		return append(b, '0'+byte(n/10), '0'+byte(n%10))
	}
	return strconv.AppendInt(b, n, 10)
}

// text appends what stands between the quotes of a JSON text. Nearly all text is
// its own JSON.
func (e *encoder) text(b []byte, s string) []byte {
	special, all := inspect(s)
	e.beyondASCII |= all
	if special&highs != 0 {
		return appendEscaped(b, s)
	}
	return append(b, s...)
}

// inspect looks at a text eight bytes at a time. Of special, the highest bit of
// some byte is set if there are characters that JSON escapes; of all, if there are
// some beyond ASCII. The last step, and that of a short text, looks at some bytes
// twice.
func inspect(s string) (special, all uint64) {
	n := len(s)
	var last uint64
	switch {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			x := load64(s, i)
			special |= escapes(x)
			all |= x
		}
		last = load64(s, n-8)
	case n >= 4:
		last = load32(s, 0) | load32(s, n-4)<<32
	case n > 0:
		last = uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16 | blanks&^0xffffff
	default:
		return 0, 0
	}
	return special | escapes(last), all | last
}

func load64(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load32(s string, i int) uint64 {
	s = s[i : i+4]
	return uint64(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

const (
	ones   = 0x0101010101010101
	highs  = ones << 7
	blanks = ones * ' '
)

// escapes sets the highest bit of some byte of its result if one of eight bytes
// is below 0x20, a quote or a backslash. A byte from 0x80 on is none of these.
func escapes(x uint64) uint64 {
	control := x - ones*0x20
	quote := x ^ ones*'"'
	backslash := x ^ ones*'\\'
	return (control | (quote - ones) | (backslash - ones)) &^ x
}

func appendEscaped(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
