package reports

import (
	"encoding/binary"
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
	e := encoder{dst}
	e.dataset(d)
	if !utf8.Valid(e.json[start:]) {
		return dst, errNotUTF8
	}
	return e.json, nil
}

// An encoder appends JSON.
type encoder struct{ json []byte }

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
		for i := range n.CountryCounts {
			if i > 0 {
				e.raw(`,`)
			}
			e.raw(`"`)
			e.text(n.CountryCounts[i].Country)
			e.raw(`":`)
			e.json = strconv.AppendInt(e.json, n.CountryCounts[i].Count, 10)
		}
		e.raw(`},"count":`)
	} else {
		e.raw(`","count":`)
	}
	e.json = strconv.AppendInt(e.json, n.Count, 10)
	e.raw(`}`)
}

// text appends what stands between the quotes of a JSON text. Nearly all text is
// its own JSON, so it is copied first and looked at afterwards. Something stands
// before it always: the name of the member.
func (e *encoder) text(s string) {
	start := len(e.json)
	e.json = append(e.json, s...)
	if needsEscape(e.json, len(s)) {
		e.json = appendEscaped(e.json[:start], s)
	}
}

// needsEscape looks for control characters, quotes and backslashes in the last n
// bytes of b, eight at a time. At least eight bytes stand before them.
func needsEscape(b []byte, n int) bool {
	at := len(b) - n
	for ; n >= 8; n -= 8 {
		if escapes(binary.LittleEndian.Uint64(b[at:])) {
			return true
		}
		at += 8
	}
	if n == 0 {
		return false
	}
	// The last few bytes, with blanks in the place of what stands before them.
	last := binary.LittleEndian.Uint64(b[len(b)-8:])
	const blanks = 0x2020202020202020
	return escapes(last>>(8*(8-n)) | blanks<<(8*n))
}

// escapes tells whether one of eight bytes is below 0x20, a quote or a
// backslash. A byte from 0x80 on is none of these.
func escapes(x uint64) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	control := x - ones*0x20
	quote := x ^ ones*'"'
	backslash := x ^ ones*'\\'
	return (control|(quote-ones)|(backslash-ones))&^x&highs != 0
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
