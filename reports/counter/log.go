package counter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"regexp"
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

// Paths tell from the path of a URL what an access to it is. The patterns are
// searched for in the path, without scheme, host, query and fragment. What a request's pattern matches is a request, what only an
// investigation's matches an investigation; anything else is not counted.
type Paths struct {
	Investigations, Requests []*regexp.Regexp

	// DOIs has the DOI for what the first group of a pattern matches, or the whole
	// pattern if it has no group, percent-decoded. If it is nil, that text is the DOI.
	// Logs of Dataverse and Dryad have the DOI beside the URL, and ignore it.
	DOIs map[string]string
}

// DataversePaths are those of Dataverse.
func DataversePaths() *Paths {
	return &Paths{
		Investigations: []*regexp.Regexp{
			regexp.MustCompile(`/dataset\.xhtml`), regexp.MustCompile(`/file\.xhtml`),
			regexp.MustCompile(`/api/datasets`), regexp.MustCompile(`/api/v1/datasets`),
		},
		Requests: []*regexp.Regexp{regexp.MustCompile(`/api/access/datafile`), regexp.MustCompile(`/api/v1/access/datafile`)},
	}
}

// find returns the pattern that decides about a path, or nil.
func (p *Paths) find(path string) (pattern *regexp.Regexp, request bool) {
	for _, r := range p.Requests {
		if r.MatchString(path) {
			return r, true
		}
	}
	for _, r := range p.Investigations {
		if r.MatchString(path) {
			return r, false
		}
	}
	return nil, false
}

// doi returns the DOI that a path has by the pattern that matched it; "" if
// Paths.DOIs does not have it.
func (p *Paths) doi(pattern *regexp.Regexp, path string) (string, error) {
	match := pattern.FindStringSubmatch(path)
	text := match[min(1, len(match)-1)]
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	if p.DOIs != nil {
		text = p.DOIs[text]
	}
	if text == "" {
		return "", nil
	}
	name, err := doi.Parse(text)
	if err != nil {
		return "", &datacite.FieldError{Path: "path", Reason: fmt.Sprintf("%.200q has %.100q, which is not a DOI", path, text)}
	}
	return name, nil
}

// pathOf returns the path of a URL, whole or relative.
func pathOf(address string) string {
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		address = address[:i]
	}
	if _, rest, ok := strings.Cut(address, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
		return "/"
	}
	return address
}

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
	return l.read(r, func(p *parser, line string) (e Event, ok bool, err error) {
		if line[0] == '#' {
			return e, false, checkHeader(line)
		}
		var fields [len(fieldNames)]string
		describes, err := splitFields(line, &fields)
		if err != nil {
			return e, false, err
		}
		pattern, request := l.Paths.find(pathOf(fields[5]))
		if e.Time, err = p.readTime(fields[0]); err != nil {
			return e, false, err
		}
		e.Session, e.Cookie, e.User, e.Address = fields[2], fields[3], fields[4], fields[1]
		e.URL, e.Agent, e.Request = fields[5], fields[9], request
		if e.User == ":guest" {
			e.User = ""
		}
		if e.DOI, err = p.readDOI(fields[6]); err != nil {
			return e, false, err
		}
		if pattern == nil {
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
// dataset, are also returned as they stand.
func splitFields(line string, fields *[len(fieldNames)]string) (describes string, err error) {
	rest := line
	for i := range fields {
		if i == titleField {
			describes = rest
		}
		at := strings.IndexByte(rest, '\t')
		if last := i == len(fields)-1; last != (at < 0) {
			return "", &datacite.FieldError{Path: "fields", Reason: fmt.Sprintf("are %d, not %d separated by tabs", strings.Count(line, "\t")+1, len(fields))}
		} else if last {
			at = len(rest)
		}
		fields[i] = present(rest[:at])
		rest = rest[min(at+1, len(rest)):]
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

// readTime reads a time, most likely in the form of the last one.
func (p *parser) readTime(text string) (time.Time, error) {
	for i := range timeLayouts {
		layout := (p.layout + i) % len(timeLayouts)
		if t, err := time.Parse(timeLayouts[layout], text); err == nil {
			p.layout = layout
			return t, nil
		}
	}
	reason := "is %.100q, not a time such as 2026-10-31T23:59:59+01:00"
	if _, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1)); err == nil {
		reason = "is %.100q, without an offset such as Z or +01:00"
	}
	return time.Time{}, &datacite.FieldError{Path: "event_time", Reason: fmt.Sprintf(reason, text)}
}

// readDOI returns the DOI of an identifier, bare. Most have been read before.
func (p *parser) readDOI(identifier string) (name string, err error) {
	if name, ok := p.names[identifier]; ok || identifier == "" {
		return name, nil
	}
	if name, err = doi.Parse(identifier); err != nil {
		return "", &datacite.FieldError{Path: "identifier", Reason: fmt.Sprintf("is %.100q, not a DOI such as doi:10.5072/abc", identifier)}
	}
	const most = 1 << 14 // of names held
	if len(p.names) >= most {
		clear(p.names)
	}
	name = strings.Clone(name) // it is a part of a line
	p.names[strings.Clone(identifier)] = name
	return name, nil
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
	layout int               // of the last time, in timeLayouts
	names  map[string]string // DOIs, by identifier
	usual  int               // events in a chunk
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
				p := &parser{names: map[string]string{}}
				for c := range work {
					p.read(l, c, parse)
					close(c.done)
				}
			})
		}
		in := bufio.NewReaderSize(r, longestLine)
		var waiting []*chunk // in work
		for more := true; more || len(waiting) > 0; {
			for more && len(waiting) < cap(work) {
				c := l.chunk(in)
				more = c.err == nil
				waiting = append(waiting, c)
				work <- c
			}
			c := waiting[0]
			waiting = waiting[1:]
			<-c.done
			if !yield(c) {
				return
			}
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
	c.events = make([]Event, 0, p.usual)
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
	p.usual = len(c.events)
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
