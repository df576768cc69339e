package main

import (
	"encoding/binary"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// A packer gathers records by where they go, and emits those of one place as a block.
type packer struct{ blocks [][]byte }

// blockSize is the most bytes of a block before it is compressed, but for its last record.
const blockSize = 64 << 10

// reset forgets all records: those of a bundle that failed are read again.
func (p *packer) reset(places int) { p.blocks = make([][]byte, places) }

// add lets a function append a record to the block of a place.
func (p *packer) add(place int, record func(dst []byte) []byte, emit func(int, []byte)) {
	p.blocks[place] = record(p.blocks[place])
	if len(p.blocks[place]) >= blockSize {
		p.emit(place, emit)
	}
}

func (p *packer) emit(place int, emit func(int, []byte)) {
	emit(place, s2.Encode(nil, p.blocks[place]))
	p.blocks[place] = p.blocks[place][:0]
}

// flush emits what is left.
func (p *packer) flush(emit func(int, []byte)) {
	for place, block := range p.blocks {
		if len(block) > 0 {
			p.emit(place, emit)
		}
	}
}

// unpacked calls a function for each record of blocks, which reads it. Strings that it reads are parts of one.
func unpacked(next func(*[]byte) bool, record func(*block) bool) error {
	var packed []byte
	for next(&packed) {
		if len(packed) == 0 {
			continue
		}
		data, err := s2.Decode(nil, packed)
		if err != nil {
			return err
		}
		for b := (&block{data: data, texts: string(data)}); b.at < len(b.data); {
			if !record(b) {
				return nil
			}
		}
	}
	return nil
}

// A block is records that are read one after the other.
type block struct {
	data  []byte
	texts string // data
	at    int
}

func (b *block) number() int64 {
	n, size := binary.Varint(b.data[b.at:])
	b.at += size
	return n
}

func (b *block) text() string {
	size := int(b.number())
	b.at += size
	return b.texts[b.at-size : b.at]
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendVarint(dst, int64(len(text))), text...)
}

func appendTime(dst []byte, t time.Time) []byte {
	return binary.AppendVarint(binary.AppendVarint(dst, t.Unix()), int64(t.Nanosecond()))
}

func (b *block) time() time.Time {
	sec := b.number()
	return time.Unix(sec, b.number()).UTC()
}

// userFields are the fields that tell users apart, the first that an event has before the others.
func userFields(e *counter.Event) [4]*string {
	return [...]*string{&e.User, &e.Cookie, &e.Session, &e.Address}
}

// kindOf is the index of the field that tells the user of an event from others.
func kindOf(e *counter.Event) int {
	fields := userFields(e)
	kind := 0
	for kind < len(fields)-1 && *fields[kind] == "" {
		kind++
	}
	return kind
}

// appendEvent appends an event. What [counter.Key] makes of it stands for its user, and its access method is known.
func appendEvent(dst []byte, e *counter.Event, key string) []byte {
	flags := int64(kindOf(e)) << 2
	if e.Request {
		flags |= 1
	}
	if e.Access == reports.AccessMachine {
		flags |= 2
	}
	dst = appendText(binary.AppendVarint(appendTime(dst, e.Time), flags), key)
	return appendText(appendText(appendText(dst, e.DOI), e.URL), e.Country)
}

func (b *block) event() (e counter.Event) {
	e.Time = b.time()
	flags := b.number()
	*userFields(&e)[flags>>2] = b.text()
	e.DOI, e.URL, e.Country = b.text(), b.text(), b.text()
	e.Request, e.Access = flags&1 != 0, reports.AccessRegular
	if flags&2 != 0 {
		e.Access = reports.AccessMachine
	}
	return e
}

func appendRow(dst []byte, r *reports.Row) []byte {
	dst = appendText(appendText(dst, r.DOI), string(r.Date))
	dst = appendText(appendText(appendText(dst, string(r.Metric)), string(r.Access)), r.Country)
	return binary.AppendVarint(dst, r.Count)
}

func (b *block) row() reports.Row {
	return reports.Row{
		DOI: b.text(), Date: reports.Date(b.text()),
		Metric: reports.MetricType(b.text()), Access: reports.AccessMethod(b.text()), Country: b.text(), Count: b.number(),
	}
}

func appendDescription(dst []byte, d *logs.Description) []byte {
	return appendTime(appendText(appendText(dst, d.DOI), d.Fields), d.Time)
}

func (b *block) description() logs.Description {
	return logs.Description{DOI: b.text(), Fields: b.text(), Time: b.time()}
}
