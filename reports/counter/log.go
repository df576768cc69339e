package counter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"regexp"
	"strings"
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
	return l.read(r, func(line string) (e Event, ok bool, err error) {
		if line[0] == '#' {
			return e, false, checkHeader(line)
		}
		var fields [len(fieldNames)]string
		describes, err := splitFields(line, &fields)
		if err != nil {
			return e, false, err
		}
		pattern, request := l.Paths.find(pathOf(fields[5]))
		if e.Time, err = l.readTime(fields[0]); err != nil {
			return e, false, err
		}
		e.Session, e.Cookie, e.User, e.Address = fields[2], fields[3], fields[4], fields[1]
		e.URL, e.Agent, e.Request = fields[5], fields[9], request
		if e.User == ":guest" {
			e.User = ""
		}
		if e.DOI, err = l.readDOI(fields[6]); err != nil {
			return e, false, err
		}
		if pattern == nil {
			return e, false, nil
		}
		if l.Descriptions != nil && e.DOI != "" {
			if err := l.Descriptions.add(e.DOI, e.Time, describes); err != nil {
				return e, false, &brokenError{err}
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
func (l *log) readTime(text string) (time.Time, error) {
	for i := range timeLayouts {
		layout := (l.layout + i) % len(timeLayouts)
		if t, err := time.Parse(timeLayouts[layout], text); err == nil {
			l.layout = layout
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
func (l *log) readDOI(identifier string) (name string, err error) {
	if name, ok := l.names[identifier]; ok || identifier == "" {
		return name, nil
	}
	if name, err = doi.Parse(identifier); err != nil {
		return "", &datacite.FieldError{Path: "identifier", Reason: fmt.Sprintf("is %.100q, not a DOI such as doi:10.5072/abc", identifier)}
	}
	const most = 1 << 14 // of names held
	if len(l.names) >= most {
		clear(l.names)
	}
	name = strings.Clone(name) // it is a part of a line
	l.names[strings.Clone(identifier)] = name
	return name, nil
}

// A log is read line by line.
type log struct {
	LogOptions
	number int               // of the line
	layout int               // of the last time, in timeLayouts
	names  map[string]string // DOIs, by identifier
	faults []*datacite.FieldError
}

func newLog(opts *LogOptions) *log {
	l := &log{names: map[string]string{}}
	if opts != nil {
		l.LogOptions = *opts
	}
	return l
}

// A brokenError ends a log that could be read.
type brokenError struct{ error }

// longestLine is the most bytes of a line.
const longestLine = 1 << 20

// read yields the events that parse makes of the lines, without their ends. It is
// not called with empty lines. Those for which it returns neither an event nor an
// error are not counted.
func (l *log) read(r io.Reader, parse func(line string) (Event, bool, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		in := bufio.NewReaderSize(r, longestLine)
		var sum LogSummary
		defer func() {
			if l.Summary != nil {
				l.Summary.add(sum)
			}
		}()
		for {
			line, err := l.line(in)
			if errors.Is(err, io.EOF) {
				break
			}
			var e Event
			ok := false
			if err == nil && line != "" {
				e, ok, err = parse(line)
			}
			fault, faulty := errors.AsType[*datacite.FieldError](err)
			switch {
			case faulty:
				sum.Faulty++
				if l.leaveOut(fault); len(l.faults) < mostFaults {
					continue
				}
				yield(Event{}, &reports.ValidationError{Faults: l.faults})
				return
			case err != nil:
				yield(Event{}, fmt.Errorf("%s: %w", l.place(), err))
				return
			case ok:
				sum.Events++
				if !yield(e, nil) {
					return
				}
			case line == "" || line[0] == '#':
				sum.Comments++
			default:
				sum.Other++
			}
		}
		if len(l.faults) > 0 {
			yield(Event{}, &reports.ValidationError{Faults: l.faults})
		}
	}
}

func (s *LogSummary) add(o LogSummary) {
	s.Events += o.Events
	s.Comments += o.Comments
	s.Other += o.Other
	s.Faulty += o.Faulty
}

// place is where the current line is.
func (l *log) place() string {
	if l.Name == "" {
		return fmt.Sprint("line ", l.number)
	}
	return fmt.Sprintf("%s, line %d", l.Name, l.number)
}

// leaveOut notes a line that cannot be read.
func (l *log) leaveOut(f *datacite.FieldError) {
	f = &datacite.FieldError{Path: l.place() + ", " + f.Path, Reason: f.Reason}
	if l.LeaveOut != nil {
		l.LeaveOut(f)
	} else {
		l.faults = append(l.faults, f)
	}
}

// line returns the next line, without its end.
func (l *log) line(in *bufio.Reader) (string, error) {
	l.number++
	data, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err == nil || errors.Is(err, io.EOF) {
			return "", &datacite.FieldError{Path: "line", Reason: fmt.Sprintf("has more than %d bytes", longestLine)}
		}
	}
	if err != nil && !(errors.Is(err, io.EOF) && len(data) > 0) {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", &datacite.FieldError{Path: "line", Reason: "is not valid UTF-8"}
	}
	line := strings.TrimRight(string(data), "\r\n")
	if l.number == 1 {
		line = strings.TrimPrefix(line, "\ufeff")
	}
	return line, nil
}
