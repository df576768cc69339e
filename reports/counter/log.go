package counter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/reports"
)

// LogOptions are the optional settings of [ReadLog], [ReadAccessLog] and [ReadJSON].
type LogOptions struct {
	Name string // of the log, for messages

	// LeaveOut is called with the fault of each line that is left out because it
	// cannot be read. If it is nil, a fault is an error.
	LeaveOut func(*datacite.FieldError)

	Summary *LogSummary // what became of the lines is added to it; nil is ignored

	// Paths says which URLs in the log of Dataverse or Dryad are investigations and
	// requests; nil means DataversePaths().
	Paths *Paths

	// Descriptions takes the descriptions of datasets in the log of Dataverse or Dryad;
	// nil ignores them.
	Descriptions *Descriptions

	// Statuses are those of successful accesses in an access log; nil means 200, 206
	// and 304. The code of practice names 200 and 304; a ranged download is a retrieval,
	// too.
	Statuses []int
}

// A LogSummary says how many lines a log has. Each is one of these.
type LogSummary struct {
	Events   int64 // were yielded
	Comments int64 // begin with #, or are empty
	Other    int64 // neither investigations nor requests, or not successful
	Faulty   int64 // cannot be read
}

// Lines is the number of all lines.
func (s LogSummary) Lines() int64 { return s.Events + s.Comments + s.Other + s.Faulty }

// fieldNames are the fields of a line that Dataverse or Dryad wrote.
var fieldNames = [...]string{
	"event_time", "client_ip", "session_cookie_id", "user_cookie_id", "user_id", "request_url", "identifier",
	"filename", "size", "user_agent", "title", "publisher", "publisher_id", "authors", "publication_date", "version",
	"other_id", "target_url", "publication_year",
}

// titleField is the first field that describes the dataset.
const titleField = 10

// ReadLog reads the log that Dataverse and Dryad write for counter-processor, one
// event a line, in 19 fields separated by tabs. The user ":guest" of Dataverse
// is nobody who logged in.
//
// Lines that cannot be read are returned together, after the last one, as a
// [*reports.ValidationError] with the place and the reason of each, the first 100 of
// them, unless LogOptions.LeaveOut takes them. A line may have at most 1 MiB.
func ReadLog(r io.Reader, opts *LogOptions) iter.Seq2[Event, error] {
	l := newLog(opts)
	if l.Paths == nil {
		l.Paths = DataversePaths()
	}
	paths := newPathFinder(l.Paths)
	return l.read(r, func(p *parser, line string) (e Event, ok bool, err error) {
		if line[0] == '#' {
			return e, false, checkHeader(line)
		}
		var fields [titleField]string
		describes, err := splitFields(line, &fields)
		if err != nil {
			return e, false, err
		}
		request, counted := paths.find(pathOf(fields[5]))
		if e.Time, err = p.readTime(fields[0]); err != nil {
			return e, false, err
		}
		e.Session, e.Cookie, e.User, e.Address = fields[2], fields[3], fields[4], fields[1]
		e.URL, e.Agent, e.Request = fields[5], fields[9], request
		if e.User == ":guest" {
			e.User = ""
		}
		if e.DOI, err = readDOI(fields[6]); err != nil {
			return e, false, err
		}
		if !counted {
			return e, false, nil
		}
		if l.Descriptions != nil && e.DOI != "" {
			if err := l.Descriptions.add(e.DOI, e.Time, describes); err != nil {
				return e, false, err
			}
		}
		return e, true, nil
	})
}

// splitFields splits a line. The fields from the title on, which describe the
// dataset, are returned as they stand.
func splitFields(line string, fields *[titleField]string) (describes string, err error) {
	describes = line
	for i := range fields {
		field, rest, _ := strings.Cut(describes, "\t")
		fields[i], describes = present(field), rest
	}
	if strings.Count(describes, "\t") != len(fieldNames)-titleField-1 {
		return "", &datacite.FieldError{Path: "fields", Reason: fmt.Sprintf("are %d, not %d separated by tabs", strings.Count(line, "\t")+1, len(fieldNames))}
	}
	return describes, nil
}

// present returns a field, or "" if it stands for nothing.
func present(field string) string {
	switch field = strings.TrimSpace(field); field {
	case "-", "????":
		return ""
	}
	return field
}

// checkHeader refuses a header that names other fields.
func checkHeader(line string) error {
	names, ok := strings.CutPrefix(line, "#Fields:")
	if !ok {
		return nil
	}
	list := strings.Fields(strings.ReplaceAll(names, "-", "_"))
	for i := range max(len(list), len(fieldNames)) {
		if i >= len(list) || i >= len(fieldNames) || list[i] != fieldNames[i] {
			return &datacite.FieldError{Path: "#Fields", Reason: "names other fields, or another order, than " + strings.Join(fieldNames[:], ", ")}
		}
	}
	return nil
}

// timeLayouts are the forms of ISO 8601 that logs have, as Dataverse writes it first.
var timeLayouts = []string{
	"2006-01-02T15:04:05Z0700", time.RFC3339, "2006-01-02T15:04:05Z07", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700",
}

// A zone is the offset of the last time.
type zone struct {
	text     string
	location *time.Location // nil if there is none
}

// read reads a time as Dataverse writes it, to the second, if its offset is the last one.
func (z *zone) read(text string) (t time.Time, ok bool) {
	const form = "2006-01-02T15:04:05"
	if len(text) < len(form) || text[len(form):] != z.text || z.location == nil {
		return t, false
	}
	if text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return t, false
	}
	century, year, month, day := twoDigits(text), twoDigits(text[2:]), twoDigits(text[5:]), twoDigits(text[8:])
	hour, minute, second := twoDigits(text[11:]), twoDigits(text[14:]), twoDigits(text[17:])
	if century > 99 || year > 99 || month > 12 || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	t = time.Date(century*100+year, time.Month(month), day, hour, minute, second, 0, z.location)
	return t, t.Day() == day && month > 0 // else there is no such day
}

// learn takes the offset of a time that was read from a text.
func (z *zone) learn(text string, t time.Time) {
	if t.Nanosecond() == 0 {
		*z = zone{strings.Clone(text[19:]), t.Location()}
	}
}

// twoDigits reads a number, or returns more than any such number.
func twoDigits(text string) int {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return 100
	}
	return int(tens)*10 + int(ones)
}

// readTime reads a time, most likely in the form of the last one.
func (p *parser) readTime(text string) (time.Time, error) {
	if t, ok := p.zone.read(text); ok {
		return t, nil
	}
	for i := range timeLayouts {
		layout := (p.layout + i) % len(timeLayouts)
		if t, err := time.Parse(timeLayouts[layout], text); err == nil {
			p.layout = layout
			p.zone.learn(text, t)
			return t, nil
		}
	}
	reason := "is %.100q, not a time such as 2026-10-31T23:59:59+01:00"
	if _, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1)); err == nil {
		reason = "is %.100q, without an offset such as Z or +01:00"
	}
	return time.Time{}, &datacite.FieldError{Path: "event_time", Reason: fmt.Sprintf(reason, text)}
}

// readDOI returns the DOI of an identifier, bare.
func readDOI(identifier string) (string, error) {
	if identifier == "" {
		return "", nil
	}
	name, err := doi.Parse(identifier)
	if err == nil {
		return name, nil
	}
	reason := "is %.100q, not a DOI such as doi:10.5072/abc"
	if strings.HasPrefix(strings.ToLower(identifier), "hdl:") {
		reason = "is %.100q, a handle, and usage is reported of DOIs only; leave such lines out"
	}
	return "", &datacite.FieldError{Path: "identifier", Reason: fmt.Sprintf(reason, identifier)}
}

// A log is read in chunks, which parsers read at the same time.
type log struct {
	LogOptions
	number int // of the next line
	faults []*datacite.FieldError
}

func newLog(opts *LogOptions) *log {
	l := &log{}
	if opts != nil {
		l.LogOptions = *opts
	}
	return l
}

// A parseLine makes an event of a line without its end, which is not empty. Lines for
// which it returns neither an event nor an error are not counted. Several goroutines
// call it, each with its own parser.
type parseLine func(p *parser, line string) (Event, bool, error)

// A parser reads lines.
type parser struct {
	layout int // of the last time, in timeLayouts
	zone   zone
}

// longestLine is the most bytes of a line, with its end; chunkSize those of a chunk, if its first
// line is not longer.
const (
	longestLine = 1 << 20
	chunkSize   = 128 << 10
)

// A chunk is some lines of a log, and what they were found to be.
type chunk struct {
	first int // number of the first line
	text  string
	long  bool  // the next line is too long
	err   error // what ended the log after the text

	events []Event
	faults []lineFault
	sum    LogSummary // without events
	done   chan struct{}
}

// A lineFault is why a line is left out.
type lineFault struct {
	number int
	*datacite.FieldError
}

// read yields the events that parse makes of the lines.
func (l *log) read(r io.Reader, parse parseLine) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var sum LogSummary
		defer func() {
			if l.Summary != nil {
				l.Summary.add(sum)
			}
		}()
		for c := range l.parsed(r, parse) {
			sum.add(c.sum)
			for _, e := range c.events {
				sum.Events++
				if !yield(e, nil) {
					return
				}
			}
			for _, f := range c.faults {
				if l.leaveOut(f); len(l.faults) == mostFaults {
					yield(Event{}, &reports.ValidationError{Faults: l.faults})
					return
				}
			}
			if c.err != nil && !errors.Is(c.err, io.EOF) {
				yield(Event{}, c.err)
				return
			}
		}
		if len(l.faults) > 0 {
			yield(Event{}, &reports.ValidationError{Faults: l.faults})
		}
	}
}

// parsed yields the chunks of a log in their order. The reader is called here, and only
// the parsers run in other goroutines.
func (l *log) parsed(r io.Reader, parse parseLine) iter.Seq[*chunk] {
	return func(yield func(*chunk) bool) {
		parsers := runtime.GOMAXPROCS(0)
		work := make(chan *chunk, 2*parsers)
		var running sync.WaitGroup
		defer running.Wait()
		defer close(work)
		for range parsers {
			running.Go(func() {
				p := &parser{}
				for c := range work {
					p.read(l, c, parse)
					close(c.done)
				}
			})
		}
		in := bufio.NewReaderSize(r, longestLine)
		var waiting []*chunk // in work
		var spare [][]Event
		for more := true; more || len(waiting) > 0; {
			for more && len(waiting) < cap(work) {
				c := l.chunk(in)
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
func (l *log) chunk(in *bufio.Reader) *chunk {
	c := &chunk{first: l.number + 1, done: make(chan struct{})}
	data, err := in.Peek(chunkSize)
	end := bytes.LastIndexByte(data, '\n') + 1
	if end == 0 && err == nil {
		data, err = in.Peek(longestLine)
		end = bytes.LastIndexByte(data, '\n') + 1
	}
	switch {
	case end == 0 && err == nil:
		l.number++
		c.long = true
		for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
			_, err = in.ReadSlice('\n')
		}
	case errors.Is(err, io.EOF) && end < len(data): // the last line has no end
		l.number++
		end = len(data)
		fallthrough
	default:
		l.number += bytes.Count(data[:end], []byte{'\n'})
		c.text = string(data[:end])
		_, _ = in.Discard(end) // they are there
	}
	if c.err = err; err != nil && !errors.Is(err, io.EOF) {
		c.err = fmt.Errorf("%s: %w", l.place(l.number+1), err)
	}
	return c
}

// read reads the lines of a chunk.
func (p *parser) read(l *log, c *chunk, parse parseLine) {
	valid := utf8.ValidString(c.text)
	number := c.first - 1
	leaveOut := func(f *datacite.FieldError) {
		c.sum.Faulty++
		c.faults = append(c.faults, lineFault{number, f})
	}
	if c.long {
		number++
		leaveOut(&datacite.FieldError{Path: "line", Reason: fmt.Sprintf("has more than %d bytes", longestLine)})
	}
	for line := range strings.Lines(c.text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		var e Event
		var err error
		ok := false
		if !valid && !utf8.ValidString(line) {
			err = &datacite.FieldError{Path: "line", Reason: "is not valid UTF-8"}
		} else if line != "" {
			e, ok, err = parse(p, line)
		}
		fault, faulty := errors.AsType[*datacite.FieldError](err)
		switch {
		case faulty:
			leaveOut(fault)
		case err != nil:
			c.err = fmt.Errorf("%s: %w", l.place(number), err)
			return
		case ok:
			c.events = append(c.events, e)
		case line == "" || line[0] == '#':
			c.sum.Comments++
		default:
			c.sum.Other++
		}
	}
}

func (s *LogSummary) add(o LogSummary) {
	s.Events += o.Events
	s.Comments += o.Comments
	s.Other += o.Other
	s.Faulty += o.Faulty
}

// place is where a line is.
func (l *log) place(number int) string {
	if l.Name == "" {
		return fmt.Sprint("line ", number)
	}
	return fmt.Sprintf("%s, line %d", l.Name, number)
}

// leaveOut notes a line that cannot be read.
func (l *log) leaveOut(at lineFault) {
	f := &datacite.FieldError{Path: l.place(at.number) + ", " + at.Path, Reason: at.Reason}
	if l.LeaveOut != nil {
		l.LeaveOut(f)
	} else {
		l.faults = append(l.faults, f)
	}
}
