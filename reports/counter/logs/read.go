package logs

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// Options are the optional settings of [Read].
type Options struct {
	// Stats receives the numbers of lines by outcome, even if Read fails; it may be nil.
	Stats *Stats

	// Tolerance says which unreadable lines are left out; the zero value means none: each is
	// an error.
	Tolerance Tolerance

	// Faulty is called for each unreadable line, in order, whether it is left out or not;
	// it may be nil.
	Faulty func(datacite.Finding)

	// AllowTruncated accepts a compressed log that ends too soon, and reads it without its last,
	// incomplete line. FileStats.Truncated is then true.
	AllowTruncated bool

	// Location is the time zone of the platform, for Stats.Offsets and FileStats.Hours;
	// nil means UTC. Period is the period that is counted, for FileStats.Hours; the zero
	// value leaves them out. It does not select lines: all are read.
	Location *time.Location
	Period   reports.Period

	// Country returns the country of an IP address: two letters, or "" if it is not known. Two
	// letters that are no country of ISO 3166-1, which databases have for some networks, count
	// as not known.
	// Its error ends Read. Events that have a country keep it. If Country is nil, no
	// country is looked up.
	Country func(address string) (string, error)

	// Paths says which URLs are investigations and requests. [Combined] needs it; for
	// [Dataverse] nil means DataversePaths(); [JSON] refuses it.
	Paths *Paths

	// Descriptions collects the descriptions of datasets in the log of Dataverse or Dryad;
	// nil ignores them.
	Descriptions *Descriptions

	// Layout is the layout of the log of a web server, as in the server's configuration:
	// Apache's LogFormat, or the log_format of nginx; "" means the usual ones (see
	// [Combined]).
	Layout string

	// Proxies are public addresses of proxies, such as those of a network for content
	// delivery. If the log of a web server has X-Forwarded-For, the visitor is the last
	// address that is neither private nor one of these.
	Proxies []netip.Prefix

	// Pseudonyms accepts any text in place of an address, such as pseudonyms, or the host
	// names of Apache's HostnameLookups.
	Pseudonyms bool
}

// A Log is where lines are read from.
type Log struct {
	Name string // for messages
	Open func() (io.ReadCloser, error)
}

// FromReader returns the log of an open reader, which can be read once.
func FromReader(name string, r io.Reader) Log {
	return Log{name, func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// Read yields the events in logs, in their order. The first bytes of a log show its
// compression: gzip, bzip2, zstd or none.
//
// Unreadable lines are judged after all logs have been read: too many of them are a
// [*FaultsError] after the last event. A log whose first 10,000 lines are all unreadable has
// another format, and is an error at once. Any other error of a source names the log and the
// number of the line. A line may have at most 1 MiB.
//
// A log is read on all processors. The result can be ranged over as often as the sources can
// be opened.
func Read(sources []Log, format Format, opts *Options) iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		r, err := newReader(format, opts)
		if err == nil {
			err = r.all(sources, func(e counter.Event) bool { return yield(e, nil) })
		}
		if err != nil && !errors.Is(err, errLeft) {
			yield(counter.Event{}, err)
		}
	}
}

// errLeft ends a reading whose events nobody wants any more.
var errLeft = errors.New("loop left")

// A reader reads logs, each in chunks, which parsers read at the same time.
type reader struct {
	Options
	parser  func() ParseLine
	zone    *time.Location
	begin   int64 // of the period, in seconds since 1970
	hours   int   // of the period
	sum     *Stats
	file    *FileStats   // that is read
	watch   *input.Watch // of the file
	number  int          // of the next line
	packed  bool         // the file is compressed
	country access.Cache[string]
	visitor visitors // of the file
}

// visitors finds out whether all events come from the addresses of a few proxies.
type visitors struct {
	events  int
	private bool                // the first address is, so that others may be those of further proxies
	others  bool                // there are other addresses, or users that are known otherwise
	agents  map[string][]string // the first agents of each address
}

// manyProxies are more private addresses than a log has that are those of proxies.
const manyProxies = 16

func (v *visitors) see(e *counter.Event) {
	if v.events++; v.others {
		return
	}
	seen, known := v.agents[e.Address]
	switch {
	case e.Address == "" || e.User != "" || e.Cookie != "" || e.Session != "":
		v.others = true
	case v.agents == nil:
		v.private, v.agents = isPrivate(e.Address), map[string][]string{e.Address: {e.Agent}}
	case !known && !(v.private && len(v.agents) < manyProxies && isPrivate(e.Address)):
		v.others = true
	case !known || len(seen) == 1 && seen[0] != e.Agent:
		v.agents[e.Address] = append(seen, e.Agent)
	}
}

func isPrivate(address string) bool {
	ip, ok := access.Address(address)
	return ok && ip.IsPrivate()
}

// proxies is how many there are; 0 if the addresses seem to be those of visitors.
func (v *visitors) proxies() int {
	several := 0
	for _, agents := range v.agents {
		if len(agents) > 1 {
			several++
		}
	}
	if v.others || v.events < 20 || 2*several < len(v.agents) {
		return 0
	}
	return len(v.agents)
}

func newReader(format Format, opts *Options) (*reader, error) {
	r := &reader{sum: &Stats{}, country: access.Cache[string]{Most: 1 << 15}}
	if opts != nil {
		r.Options = *opts
	}
	if r.Stats != nil {
		r.sum = r.Stats
		*r.sum = Stats{}
	}
	r.zone = cmp.Or(r.Location, time.UTC)
	begin, until, err := r.period()
	if err != nil {
		return nil, err
	}
	r.begin, r.hours = begin.Unix(), int((until.Unix()-begin.Unix()+3599)/3600)
	if l := r.Tolerance; !(l.Share >= 0 && l.Share <= 1 && l.DOIs >= 0 && l.DOIs <= 1) {
		return nil, datacite.Invalidf("Options.Tolerance", datacite.CodeLimit,
			"has the shares %g and %g, not between 0 and 1", l.Share, l.DOIs)
	}
	if format.Parser == nil {
		return nil, datacite.Invalidf("format", datacite.CodeMissing, "%q has no Parser", format.Name)
	}
	r.parser, err = format.Parser(&r.Options)
	return r, err
}

// period returns the begin of its first day, and the end of its last.
func (o *Options) period() (begin, until time.Time, err error) {
	if o.Period == (reports.Period{}) {
		return begin, begin, nil
	}
	first, err := o.Period.BeginDate.Time()
	last, err2 := o.Period.EndDate.Time()
	if err := cmp.Or(err, err2); err != nil || last.Before(first) || last.Sub(first) > 366*24*time.Hour {
		return begin, until, datacite.Invalidf("Options.Period", datacite.CodeDate,
			"is from %q to %q, not from one day YYYY-MM-DD to another of the same year", o.Period.BeginDate,
			o.Period.EndDate)
	}
	day := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, cmp.Or(o.Location, time.UTC))
	}
	return day(first), day(last.AddDate(0, 0, 1)), nil
}

// A Gap is a time without a line, from the beginning of an hour to the beginning of
// another.
type Gap struct{ From, Until time.Time }

// Gaps returns the times of Options.Period, of at least atLeast, in which none of the logs
// has a line. Give it the logs of one server to find days whose logs are missing.
func (o *Options) Gaps(atLeast time.Duration, files ...FileStats) (gaps []Gap) {
	begin, until, _ := o.period() // Read returned the error
	logged := func(hour int) bool {
		for _, f := range files {
			if hour < len(f.Hours) && f.Hours[hour] {
				return true
			}
		}
		return false
	}
	from := begin
	for hour, at := 0, begin; from.Before(until); hour, at = hour+1, at.Add(time.Hour) {
		if at.Before(until) && !logged(hour) {
			continue
		}
		if at.After(until) { // where clocks are changed by half an hour
			at = until
		}
		if from.Before(at) && at.Sub(from) >= atLeast {
			gaps = append(gaps, Gap{from, at})
		}
		from = at.Add(time.Hour)
	}
	return gaps
}

// all reads all logs.
func (r *reader) all(sources []Log, yield func(counter.Event) bool) error {
	defer r.sum.sort()
	for _, s := range sources {
		if err := r.source(s, yield); err != nil {
			return err
		}
	}
	return r.sum.Check(r.Tolerance)
}

// source reads a log.
func (r *reader) source(s Log, yield func(counter.Event) bool) (err error) {
	file, err := s.Open()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	r.sum.Files = append(r.sum.Files, FileStats{Name: s.Name})
	r.file, r.number, r.visitor = &r.sum.Files[len(r.sum.Files)-1], 0, visitors{}
	defer func() { r.file.Proxies = r.visitor.proxies() }()
	if r.hours > 0 {
		r.file.Hours = make([]bool, r.hours)
	}
	r.watch = &input.Watch{}
	content, packed, err := inflated(r.watch.Reader(file))
	r.packed = packed
	if err != nil {
		if r.cut(err) {
			return nil
		}
		return r.damaged(1, err)
	}
	for c := range r.parsed(content) {
		r.file.Counts.add(c.counts)
		r.sum.Counts.add(c.counts)
		r.seen(c)
		for _, f := range c.faults {
			f.File = r.file.Name
			r.sum.faults(CodeFaults{f.Code, 1, []datacite.Finding{f}})
			if r.Faulty != nil {
				r.Faulty(f)
			}
		}
		for i := range c.events {
			if err := r.locate(&c.events[i]); err != nil {
				return err
			}
			r.file.Events++
			r.sum.Events++
			r.visitor.see(&c.events[i])
			if !yield(c.events[i]) {
				return errLeft
			}
		}
		const hopeless = 10_000
		if r.file.Faulty >= hopeless && r.file.Faulty == r.file.Lines()-r.file.Comments && r.sum.Check(r.Tolerance) != nil {
			return r.sum.Check(r.Tolerance)
		}
		if c.err != nil && !errors.Is(c.err, io.EOF) && !r.cut(c.err) {
			return c.err
		}
	}
	return nil
}

// damaged is the error of a log that cannot be read on.
func (r *reader) damaged(line int, err error) error {
	if r.watch.Failed() {
		return r.at(line, err)
	}
	return input.Invalid(err, datacite.Finding{File: r.file.Name, Line: line, Code: datacite.CodeSyntax})
}

// at says where an error is.
func (r *reader) at(line int, err error) error {
	if r.file.Name == "" {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return fmt.Errorf("%s, line %d: %w", r.file.Name, line, err)
}

// cut tells whether an error is the end of a log that may be cut.
func (r *reader) cut(err error) bool {
	r.file.Truncated = r.packed && r.AllowTruncated && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF))
	return r.file.Truncated
}

// seen takes the times of a chunk.
func (r *reader) seen(c *chunk) {
	if !c.first.IsZero() {
		if r.file.First.IsZero() || c.first.Before(r.file.First) {
			r.file.First = c.first
		}
		if c.last.After(r.file.Last) {
			r.file.Last = c.last
		}
	}
	for hour := range c.hours {
		r.file.Hours[hour] = true
	}
	for _, o := range c.offsets {
		o.First.File = r.file.Name
		r.sum.offset(o)
	}
}

// locate fills in the country of an event.
func (r *reader) locate(e *counter.Event) (err error) {
	if r.Country == nil || e.Country != "" || e.Address == "" {
		return nil
	}
	key := access.KeyOf(e.Address)
	code, known := r.country.Get(key)
	if !known {
		if code, err = r.Country(e.Address); err != nil {
			return fmt.Errorf("the country of an address: %w", err)
		}
		if pair := country.Pair(strings.ToLower(code)); len(code) == 2 && (pair == 0 || !country.Known(pair)) {
			code = ""
		}
		r.country.Put(key, code)
	}
	e.Country = code
	return nil
}

// longestLine is the most bytes of a line, with its end; chunkSize those of a chunk, if its first
// line is not longer.
const (
	longestLine = 1 << 20
	chunkSize   = 128 << 10
)

// A chunk is some lines of a log, and what they were found to be.
type chunk struct {
	number int // of the first line
	text   string
	long   bool  // the next line is too long
	err    error // what ended the log after the text

	events      []counter.Event
	faults      []datacite.Finding
	counts      Counts // without events
	first, last time.Time
	hours       map[int]struct{} // of the period, in which lines are
	hour        int              // the last of them
	offsets     []Offset
	done        chan struct{}
}

// parsed yields the chunks of a log in their order. The reader is called here, and only
// the parsers run in other goroutines.
func (r *reader) parsed(content io.Reader) iter.Seq[*chunk] {
	return func(yield func(*chunk) bool) {
		parsers := runtime.GOMAXPROCS(0)
		work := make(chan *chunk, 2*parsers)
		var running sync.WaitGroup
		defer running.Wait()
		defer close(work)
		for range parsers {
			running.Go(func() {
				p := &parser{reader: r, parse: r.parser()}
				for c := range work {
					p.read(c)
					close(c.done)
				}
			})
		}
		in := bufio.NewReaderSize(content, longestLine)
		var waiting []*chunk // in work
		var spare [][]counter.Event
		for more := true; more || len(waiting) > 0; {
			for more && len(waiting) < cap(work) {
				c := r.chunk(in)
				more = c.err == nil
				if n := len(spare); n > 0 {
					c.events, spare = spare[n-1], spare[:n-1]
				}
				waiting = append(waiting, c)
				work <- c
			}
			c := waiting[0]
			waiting = waiting[1:]
			<-c.done
			if !yield(c) {
				return
			}
			spare = append(spare, c.events[:0])
		}
	}
}

// chunk returns the next lines.
func (r *reader) chunk(in *bufio.Reader) *chunk {
	c := &chunk{number: r.number + 1, done: make(chan struct{})}
	data, err := in.Peek(chunkSize)
	end := bytes.LastIndexByte(data, '\n') + 1
	if end == 0 && err == nil {
		data, err = in.Peek(longestLine)
		end = bytes.LastIndexByte(data, '\n') + 1
	}
	if end == 0 && err == nil {
		r.number++
		c.long = true
		for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
			_, err = in.ReadSlice('\n')
		}
	} else {
		if errors.Is(err, io.EOF) {
			end = len(data) // the last line may have no end
		}
		r.number += bytes.Count(data[:end], []byte{'\n'})
		c.text = string(data[:end])
		_, _ = in.Discard(end) // they are there
	}
	if c.err = err; err != nil && !errors.Is(err, io.EOF) {
		c.err = r.damaged(r.number+1, err)
	}
	return c
}

// A parser reads lines, in a goroutine of its own.
type parser struct {
	*reader
	parse ParseLine

	// How long the zone of the platform has its offset, as the last time showed.
	from, until int64
	offset      int
}

// read reads the lines of a chunk.
func (p *parser) read(c *chunk) {
	valid := utf8.ValidString(c.text)
	number := c.number - 1
	faulty := func(err error) bool {
		invalid, ok := errors.AsType[*datacite.ValidationError](err)
		if ok {
			f := invalid.Findings[0]
			f.Line = number
			c.counts.Faulty++
			c.faults = append(c.faults, f)
		}
		return ok
	}
	if c.long {
		number++
		faulty(datacite.Invalidf("", datacite.CodeLimit, "line has more than %d bytes", longestLine))
	}
	for line := range strings.Lines(c.text) {
		number++
		for line != "" && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" {
			c.counts.Comments++
			continue
		}
		if !valid && !utf8.ValidString(line) {
			faulty(datacite.Invalidf("", datacite.CodeEncoding, "line is not valid UTF-8"))
			continue
		}
		e, ok, err := p.parse(line)
		if !e.Time.IsZero() && err == nil {
			p.see(c, e.Time, number)
		}
		switch {
		case faulty(err):
		case err != nil:
			c.err = p.at(number, err)
			return
		case ok:
			c.events = append(c.events, e)
		case line[0] == '#':
			c.counts.Comments++
		default:
			c.counts.Other++
		}
	}
}

// see takes the time of a line.
func (p *parser) see(c *chunk, t time.Time, number int) {
	sec := t.Unix()
	if c.first.IsZero() || t.Before(c.first) {
		c.first = t
	}
	if t.After(c.last) {
		c.last = t
	}
	if hour := int((sec - p.begin) / 3600); sec >= p.begin && hour < p.hours && (hour != c.hour || c.hours == nil) {
		if c.hours == nil {
			c.hours = map[int]struct{}{}
		}
		c.hours[hour] = struct{}{}
		c.hour = hour
	}
	if sec < p.from || sec >= p.until {
		local := t.In(p.zone)
		from, until := local.ZoneBounds()
		p.from, p.until = from.Unix(), until.Unix() // no begin is before all times
		if until.IsZero() {
			p.until = math.MaxInt64
		}
		_, p.offset = local.Zone()
	}
	if _, offset := t.Zone(); offset != p.offset {
		for i := range c.offsets {
			if c.offsets[i].Seconds == offset {
				c.offsets[i].Lines++
				return
			}
		}
		c.offsets = append(c.offsets, Offset{Seconds: offset, Lines: 1, First: datacite.Finding{Line: number}})
	}
}
