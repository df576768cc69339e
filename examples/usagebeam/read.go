package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// A source is a log.
type source struct {
	Path  string
	Size  int64
	Whole bool // one worker reads it
}

// A findFn finds out which logs can be read in ranges: texts, where files can be read from the middle. Of a
// compressed log nobody knows where lines begin.
type findFn struct{}

func (f *findFn) ProcessElement(ctx context.Context, file fileio.FileMetadata, emit func(source)) error {
	content, err := open(ctx, file.Path)
	if err != nil {
		return err
	}
	defer content.Close()
	_, seeks := content.ReadCloser.(io.Seeker)
	begin := make([]byte, 512)
	n, err := io.ReadFull(content, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	isText := !bytes.ContainsFunc(begin[:n], func(r rune) bool { return r < '\t' })
	emit(source{Path: file.Path, Size: file.Size, Whole: !seeks || !isText})
	return nil
}

// A readFn reads ranges of logs. The unit of ranges is a block of bytes, which has the lines that begin in it.
type readFn struct {
	Rules         rules
	Parts, Shards int
	Block         int64

	format   logs.Format
	reading  *logs.Options
	counting *counter.Options
	kinds    map[string]kind // of user agents
	accesses packer          // by part
	about    packer          // by shard
	space    []byte
}

// A kind is what a user agent is.
type kind byte

const (
	person kind = iota
	machine
	robot
)

// atOnce is how many blocks a range has before the engine splits it.
const atOnce = 64

func (f *readFn) CreateInitialRestriction(s source) offsetrange.Restriction {
	blocks := (s.Size + f.Block - 1) / f.Block
	if s.Whole || blocks == 0 {
		blocks = 1
	}
	return offsetrange.Restriction{End: blocks}
}

func (f *readFn) SplitRestriction(_ source, r offsetrange.Restriction) []offsetrange.Restriction {
	return r.SizedSplits(atOnce)
}

func (f *readFn) RestrictionSize(s source, r offsetrange.Restriction) float64 {
	if s.Whole {
		return float64(s.Size)
	}
	return r.Size() * float64(f.Block)
}

func (f *readFn) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

func (f *readFn) Setup(ctx context.Context) (err error) {
	f.kinds = map[string]kind{}
	if f.counting, err = f.Rules.options(); err != nil {
		return err
	}
	f.format, f.reading, err = f.Rules.reading(ctx)
	return err
}

func (f *readFn) StartBundle(_ context.Context, _, _ func(int, []byte), _ func([]byte)) {
	f.accesses.reset(f.Parts)
	f.about.reset(f.Shards)
}

// A part is what was found in a range of a log.
type part struct {
	Name  string
	Begin int64 // first block
	Lines logs.Stats
}

func (f *readFn) ProcessElement(ctx context.Context, claims *sdf.LockRTracker, s source,
	access, describe func(int, []byte), summary func([]byte)) error {
	found := part{Name: s.Path, Begin: claims.GetRestriction().(offsetrange.Restriction).Start}
	about := &logs.Descriptions{}
	defer about.Close() // it has been read, or the reading has failed
	opts := *f.reading
	opts.Stats, opts.Descriptions = &found.Lines, about
	opts.Tolerance = logs.Tolerance{Share: 1, DOIs: 1} // checkFn decides, when it knows all logs
	from := logs.Log{Name: s.Path, Open: func() (io.ReadCloser, error) { return f.open(ctx, claims, s) }}
	outcome := counter.Tally{}
	for e, err := range logs.Read([]logs.Log{from}, f.format, &opts) {
		if err != nil {
			return err
		}
		f.access(&e, &outcome, access)
	}
	if claims.GetRestriction().(offsetrange.Restriction).End == found.Begin {
		return nil // the engine has given all of it to another worker
	}
	for d, err := range about.All() {
		if err != nil {
			return err
		}
		shard := placeOf([]byte(doi.Key(d.DOI)), f.Shards)
		f.about.add(shard, func(dst []byte) []byte { return appendDescription(dst, &d) }, describe)
	}
	if found.Begin > 0 { // the line before it
		found.Lines.Comments--
		found.Lines.Files[0].Comments--
	}
	tell(ctx, outcomes(outcome))
	data, err := json.Marshal(found)
	if err == nil {
		summary(data)
	}
	return err
}

func (f *readFn) FinishBundle(_ context.Context, access, describe func(int, []byte), _ func([]byte)) {
	f.accesses.flush(access)
	f.about.flush(describe)
}

// access sends an event to the part in which its user is counted, unless it is not counted in any case.
func (f *readFn) access(e *counter.Event, left *counter.Tally, emit func(int, []byte)) {
	kind := f.kind(e.Agent)
	if kind == robot {
		if f.counts(e.Time) {
			left.Robots++
		} else {
			left.OtherMonths++
		}
		return
	}
	if e.Access == "" {
		e.Access = reports.AccessRegular
		if kind == machine {
			e.Access = reports.AccessMachine
		}
	}
	key := counter.Key(*e)
	f.space = append(f.space[:0], key...)
	if userFields(e)[kindOf(e)] == &e.Address { // whose sessions end with the hour, so that days are counted apart
		f.space = binary.AppendVarint(f.space, int64(e.Time.In(f.counting.Location).YearDay()))
	}
	f.accesses.add(placeOf(f.space, f.Parts), func(dst []byte) []byte { return appendEvent(dst, e, key) }, emit)
}

// counts tells whether a time is one of the month, or at most 30 seconds after it.
func (f *readFn) counts(t time.Time) bool {
	p := f.counting.Period
	return slices.ContainsFunc([]time.Time{t, t.Add(-30 * time.Second)}, func(t time.Time) bool {
		day := reports.Day(t.In(f.counting.Location))
		return p.BeginDate <= day && day <= p.EndDate
	})
}

func (f *readFn) kind(agent string) kind {
	found, known := f.kinds[agent]
	if known {
		return found
	}
	switch {
	case counter.Robots().Match(agent):
		found = robot
	case agent == "" || counter.Machines().Match(agent):
		found = machine
	}
	const most = 1 << 16
	if len(f.kinds) == most {
		clear(f.kinds)
	}
	f.kinds[strings.Clone(agent)] = found
	return found
}

// placeOf is one of some places, the same on all machines.
func placeOf(key []byte, places int) int { return int(crc32.ChecksumIEEE(key) % uint32(places)) }

// open opens a range of a log.
func (f *readFn) open(ctx context.Context, claims *sdf.LockRTracker, s source) (io.ReadCloser, error) {
	content, err := open(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	end := func() { claims.TryClaim(claims.GetRestriction().(offsetrange.Restriction).End) }
	begin := claims.GetRestriction().(offsetrange.Restriction).Start
	if s.Whole {
		if !claims.TryClaim(begin) {
			return io.NopCloser(strings.NewReader("")), content.Close()
		}
		end()
		return content, nil
	}
	r := &rangeReader{
		opened: content, size: f.Block, at: begin * f.Block, until: begin * f.Block, last: '\n',
		claim: func(block int64) bool { return claims.TryClaim(block) }, end: end,
	}
	if err := r.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.Path, err), content.Close())
	}
	return r, nil
}

// A rangeReader reads the lines that begin in blocks, as long as it can claim them. Before them it has an empty line, if
// they do not begin the log: the beginning of a log can have a byte order mark, and tells how it is compressed.
type rangeReader struct {
	opened
	in    *bufio.Reader
	size  int64 // of blocks
	at    int64 // of the next byte
	until int64 // end of the last block that was claimed
	last  byte  // that was read
	empty bool  // the empty line comes next
	ended bool  // no block is to be claimed
	claim func(block int64) bool
	end   func() // claims what is left
}

// begin goes to the first line.
func (r *rangeReader) begin() error {
	r.in = bufio.NewReader(r.opened)
	if r.at == 0 {
		return nil
	}
	r.empty = true
	r.at-- // a line begins where the byte before it ends one
	if _, err := r.ReadCloser.(io.Seeker).Seek(r.at, io.SeekStart); err != nil {
		return err
	}
	for {
		skipped, err := r.in.ReadSlice('\n')
		r.at += int64(len(skipped))
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = nil // no line begins here
			}
			return err
		}
	}
}

func (r *rangeReader) Read(p []byte) (n int, err error) {
	if r.empty && len(p) > 0 {
		r.empty = false
		p[0] = '\n'
		return 1, nil
	}
	for r.at >= r.until && !r.ended {
		if r.ended = !r.claim(r.until / r.size); !r.ended {
			r.until += r.size
		}
	}
	switch {
	case !r.ended:
		n, err = r.in.Read(p[:min(int64(len(p)), r.until-r.at)])
	case r.last == '\n':
		return 0, io.EOF
	default: // the last line ends in a later block
		n, err = r.in.Read(p)
		if i := bytes.IndexByte(p[:n], '\n'); i >= 0 {
			n = i + 1
		}
	}
	r.at += int64(n)
	if n > 0 {
		r.last = p[n-1]
	}
	if errors.Is(err, io.EOF) && !r.ended {
		r.ended = true
		r.end()
	}
	return n, err
}

// open opens a file where the machines see it.
func open(ctx context.Context, name string) (opened, error) {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return opened{}, err
	}
	file, err := files.OpenRead(ctx, name)
	if err != nil {
		return opened{}, errors.Join(err, files.Close())
	}
	return opened{file, files}, nil
}

// opened is a file that takes its file system with it.
type opened struct {
	io.ReadCloser
	files io.Closer
}

func (o opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.files.Close()) }
