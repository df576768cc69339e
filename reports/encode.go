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
	start := len(dst)
	e := encoder{json: dst}
	e.dataset(d)
	if e.beyondASCII&highs != 0 && !utf8.Valid(e.json[start:]) {
		return dst, errNotUTF8
	}
	return e.json, nil
}

// An encoder appends JSON.
type encoder struct {
	json        []byte
	beyondASCII uint64 // has the highest bit of some byte if there was such a text
}

func (e *encoder) raw(s string) { e.json = append(e.json, s...) }

func (e *encoder) dataset(d *Dataset) {
	e.raw(`{`)
	e.optionalList(`"dataset-contributors":[`, d.Contributors)
	e.optionalText(`"yop":"`, d.YOP)
	e.raw(`"data-type":"`)
	e.text(d.DataType)
	e.raw(`",`)
	e.optionalList(`"dataset-dates":[`, d.Dates)
	e.raw(`"dataset-title":"`)
	e.text(d.Title)
	e.raw(`","publisher-id":[`)
	e.list(d.PublisherID)
	e.raw(`],"dataset-id":[`)
	e.list(d.DatasetID)
	e.raw(`],"publisher":"`)
	e.text(d.Publisher)
	e.raw(`",`)
	e.optionalText(`"uri":"`, d.URI)
	e.optionalList(`"dataset-attributes":[`, d.Attributes)
	e.raw(`"performance":[`)
	for i := range d.Performance {
		if i > 0 {
			e.raw(`,`)
		}
		e.performance(&d.Performance[i])
	}
	e.raw(`],"platform":"`)
	e.text(d.Platform)
	e.raw(`"}`)
}

func (e *encoder) optionalText(name, value string) {
	if value != "" {
		e.raw(name)
		e.text(value)
		e.raw(`",`)
	}
}

func (e *encoder) optionalList(name string, values []TypedValue) {
	if len(values) > 0 {
		e.raw(name)
		e.list(values)
		e.raw(`],`)
	}
}

func (e *encoder) list(values []TypedValue) {
	for i := range values {
		if i > 0 {
			e.raw(`,`)
		}
		e.raw(`{"type":"`)
		e.text(values[i].Type)
		e.raw(`","value":"`)
		e.text(values[i].Value)
		e.raw(`"}`)
	}
}

func (e *encoder) performance(p *Performance) {
	e.raw(`{"period":{"begin-date":"`)
	e.text(string(p.Period.BeginDate))
	e.raw(`","end-date":"`)
	e.text(string(p.Period.EndDate))
	e.raw(`"},"instance":[`)
	for i := range p.Instance {
		if i > 0 {
			e.raw(`,`)
		}
		e.instance(&p.Instance[i])
	}
	e.raw(`]}`)
}

func (e *encoder) instance(n *Instance) {
	e.raw(`{"metric-type":"`)
	e.text(string(n.MetricType))
	e.raw(`","access-method":"`)
	e.text(string(n.AccessMethod))
	if len(n.CountryCounts) > 0 {
		e.raw(`","country-counts":{`)
		e.counts(n.CountryCounts)
		e.raw(`},"count":`)
	} else {
		e.raw(`","count":`)
	}
	e.json = strconv.AppendInt(e.json, n.Count, 10)
	e.raw(`}`)
}

func (e *encoder) counts(counts CountryCounts) {
	b := e.json
	for i := range counts {
		c := &counts[i]
		if i > 0 {
			b = append(b, ',')
		}
		if letterPair(c.Country) != 0 {
			b = append(b, '"', c.Country[0], c.Country[1], '"', ':')
		} else {
			e.json = append(b, '"')
			e.text(c.Country)
			b = append(e.json, '"', ':')
		}
		switch n := c.Count; {
		case 0 <= n && n < 10:
			b = append(b, '0'+byte(n))
		case 0 <= n && n < 100:
			b = append(b, '0'+byte(n/10), '0'+byte(n%10))
		default:
			b = strconv.AppendInt(b, n, 10)
		}
	}
	e.json = b
}

// text appends what stands between the quotes of a JSON text. Nearly all text is
// its own JSON.
func (e *encoder) text(s string) {
	special, all := inspect(s)
	e.beyondASCII |= all
	if special&highs != 0 {
		e.json = appendEscaped(e.json, s)
		return
	}
	e.json = append(e.json, s...)
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
