package logs

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// A field is what a part of a line in the log of a web server says.
type field byte

const (
	ignored field = iota
	address
	forwarded // list of addresses: X-Forwarded-For
	ident     // of identd, which nobody uses any more
	user
	clock
	request // method, target and protocol
	method
	target // path and query
	path
	query
	status
	agent
	host
	numFields
)

// A part of a layout is a field and the text after it.
type part struct {
	field  field
	quoted bool   // a quotation mark is after the field, which escapes those in it
	after  string // up to the next field
}

// A layout is how the lines of a log are made.
type layout struct {
	before string
	parts  []part
	usual  bool // nobody told it, so all has to be plausible; something may follow
	time   func(o *Options) func(text string) (time.Time, error)
}

// fields are those of a line, by field.
type fields [numFields]string

// split splits a line; false if it is not of this layout.
func (l *layout) split(line string, into *fields) bool {
	rest, ok := strings.CutPrefix(line, l.before)
	if !ok {
		return false
	}
	for i := range l.parts {
		p := &l.parts[i]
		end := p.end(rest)
		if end < 0 {
			return false
		}
		if l.usual && !plausible(p.field, rest[:end]) {
			return false
		}
		if p.field != ignored {
			into[p.field] = rest[:end]
		}
		rest = rest[end:]
		if len(rest) < len(p.after) || rest[:len(p.after)] != p.after {
			return false
		}
		rest = rest[len(p.after):]
	}
	if rest == "" || !l.usual {
		return rest == ""
	}
	if list, ok := strings.CutPrefix(rest, ` "`); ok && into[forwarded] == "" { // as nginx proposes it
		if list, _, ok = strings.Cut(list, `"`); ok && plausible(forwarded, list) {
			into[forwarded] = list
		}
	}
	return rest[0] == ' '
}

// plausible tells whether a text may be a field of a usual layout. By marks alone each layout
// could be taken for another, with one field more or less before the time.
func plausible(f field, text string) bool {
	switch f {
	case address:
		if isIPv4(text) {
			return true
		}
		_, ok := access.Address(text)
		return ok
	case ident:
		if text == "-" {
			return true
		}
		_, shifted := access.Address(text)
		return !shifted
	case user:
		return !strings.HasPrefix(text, "- ")
	case forwarded:
		if text == "-" {
			return true
		}
		for one := range strings.SplitSeq(text, ",") {
			if _, ok := access.Address(strings.TrimSpace(one)); !ok {
				return false
			}
		}
	case host:
		if strings.HasPrefix(text, "[") { // an address of IPv6
			return strings.HasSuffix(text, "]")
		}
		return !strings.ContainsAny(text, ",:")
	}
	return true
}

// end returns where a field ends that begins a text; -1 if nowhere.
func (p *part) end(text string) int {
	switch {
	case p.quoted:
		return endOfQuoted(text)
	case p.after == "":
		return len(text)
	}
	from := 0
	if p.field == host && strings.HasPrefix(text, "[") { // an address of IPv6 has colons
		from = strings.IndexByte(text, ']') + 1
	}
	for ; ; from++ {
		next := strings.IndexByte(text[from:], p.after[0])
		if next < 0 {
			return -1
		}
		from += next
		inList := p.field == forwarded && strings.HasSuffix(text[:from], ",") // between addresses are commas and blanks
		if strings.HasPrefix(text[from:], p.after) && !inList {
			return from
		}
	}
}

// endOfQuoted returns where the first quotation mark is that no backslash escapes.
func endOfQuoted(text string) int {
	for from := 0; ; {
		end := strings.IndexByte(text[from:], '"')
		if end < 0 {
			return -1
		}
		end += from
		if slashes := end - len(strings.TrimRight(text[:end], `\`)); slashes%2 == 0 {
			return end
		}
		from = end + 1
	}
}

// apacheWord is a word of Apache's LogFormat, nginxWord one of nginx's log_format.
var (
	apacheWord = lazy.Regexp(`%(?:%|[!0-9,]*[<>]?(?:\{([^}]*)\})?(\^t[io]|[a-zA-Z]))`)
	nginxWord  = lazy.Regexp(`\$(?:\{([a-z0-9_]+)\}|([a-z0-9_]+))`)
)

// nginxFields are the variables of nginx that are read; others are ignored.
var nginxFields = map[string]field{
	"remote_addr": address, "http_x_forwarded_for": forwarded, "proxy_add_x_forwarded_for": forwarded,
	"remote_user": user, "time_local": clock, "time_iso8601": clock, "msec": clock,
	"request": request, "request_method": method, "request_uri": target, "uri": path, "document_uri": path, "args": query, "query_string": query,
	"status": status, "http_user_agent": agent, "host": host, "http_host": host, "server_name": host,
}

// apacheFields are the letters of Apache that are read, without what stands in braces.
var apacheFields = map[string]field{
	"h": address, "a": address, "l": ident, "u": user, "r": request, "m": method, "U": path, "q": query,
	"s": status, "v": host, "V": host,
}

// apacheHeaders are the headers of requests that are read.
var apacheHeaders = map[string]field{"user-agent": agent, "x-forwarded-for": forwarded, "host": host}

// readLayout reads a layout in the words of LogFormat or log_format: the layout alone, or the
// whole directive.
func readLayout(text string) (*layout, error) {
	text = strings.TrimSpace(text)
	if rest, ok := cutWord(text, "LogFormat"); ok {
		text = firstQuoted(rest)
	} else if rest, ok := cutWord(text, "log_format"); ok {
		text = allQuoted(rest)
	}
	l := &layout{time: webClocks}
	words, find := apacheWords(text), apacheWord()
	if !find.MatchString(text) {
		words, find = nginxWords(text), nginxWord()
	}
	before := 0
	literal := &l.before
	for i, at := range find.FindAllStringIndex(text, -1) {
		*literal += text[before:at[0]]
		before = at[1]
		w, err := words[i]()
		if err != nil {
			return nil, err
		}
		if w.clock != nil {
			l.time = w.clock
		}
		if w.escaped {
			*literal += "%"
			continue
		}
		*literal += w.before
		if len(l.parts) > 0 && *literal == "" {
			return nil, layoutError("has two fields with nothing between them, so the end of the first cannot be found")
		}
		l.parts = append(l.parts, part{field: w.field, after: w.after})
		literal = &l.parts[len(l.parts)-1].after
	}
	*literal += text[before:]
	return l, l.check()
}

// check marks the fields before quotation marks, and refuses a layout of which no usage can be
// counted.
func (l *layout) check() error {
	var has [numFields]bool
	for i := range l.parts {
		p := &l.parts[i]
		p.quoted = strings.HasPrefix(p.after, `"`)
		if p.field != ignored && has[p.field] {
			return layoutError("has two fields of the same meaning; leave one out, or name it %{other}n or $other")
		}
		has[p.field] = true
	}
	switch {
	case !has[clock]:
		return layoutError("has no time (%t, $time_local, $time_iso8601)")
	case !has[request] && !(has[method] && (has[target] || has[path])):
		return layoutError("has no request (%r, $request)")
	case !has[status]:
		return layoutError("has no status (%>s, $status)")
	case !has[agent]:
		return layoutError("has no user agent (%{User-Agent}i, $http_user_agent), without which robots cannot be left out")
	case !has[address] && !has[forwarded] && !has[user]:
		return layoutError("has nothing that tells visitors apart (%h, $remote_addr)")
	}
	return nil
}

func layoutError(reason string) error {
	return datacite.Invalidf("Options.Layout", datacite.CodeVocabulary, "%s", reason)
}

// A word is what stands for a field in a layout.
type word struct {
	field         field
	before, after string // texts that belong to it
	escaped       bool   // it is a percent sign
	clock         func(o *Options) func(text string) (time.Time, error)
}

func apacheWords(text string) (words []func() (word, error)) {
	for _, m := range apacheWord().FindAllStringSubmatch(text, -1) {
		words = append(words, func() (word, error) { return apacheMeaning(m[0], m[1], m[2]) })
	}
	return words
}

func apacheMeaning(all, braces, letter string) (w word, err error) {
	switch {
	case all == "%%":
		return word{escaped: true}, nil
	case letter == "i":
		w.field = apacheHeaders[strings.ToLower(braces)]
	case letter == "t" && braces != "":
		w.field = clock
		w.clock, err = apacheClock(braces)
	case letter == "t":
		w = word{field: clock, before: "[", after: "]"}
	case letter == "a" && braces != "" && braces != "c", letter == "s" && strings.Contains(all, "<"):
	case strings.Contains("aAbBCDefhHiklLmnopPqrRsStTuUvVXIO^ti^to", letter):
		w.field = apacheFields[letter]
	default:
		return w, layoutError(fmt.Sprintf("has %q, which LogFormat does not know", all))
	}
	return w, err
}

// apacheClock reads the time of %{…}t.
func apacheClock(format string) (func(*Options) func(string) (time.Time, error), error) {
	format = strings.TrimPrefix(strings.TrimPrefix(format, "begin:"), "end:")
	if unit, ok := map[string]int64{"sec": 1, "msec": 1e3, "usec": 1e6}[format]; ok {
		return epochs(unit), nil
	}
	text := strings.NewReplacer(
		"%Y", "2006", "%m", "01", "%d", "02", "%e", "_2", "%b", "Jan", "%H", "15", "%M", "04", "%S", "05", "%z", "-0700", "%F", "2006-01-02", "%T", "15:04:05",
	).Replace(format)
	if strings.Contains(text, "%") || !strings.Contains(text, "-0700") {
		return nil, layoutError(fmt.Sprintf(
			"has the time %q, not one of %%Y %%m %%d %%e %%b %%H %%M %%S %%F %%T with %%z, or sec, msec, usec", format))
	}
	return func(*Options) func(string) (time.Time, error) {
		return func(value string) (time.Time, error) {
			t, err := time.Parse(text, value)
			if err != nil {
				err = datacite.Invalidf("", datacite.CodeDate, "time is %.100q, not as %s", value, format)
			}
			return t, err
		}
	}, nil
}

func nginxWords(text string) (words []func() (word, error)) {
	for _, m := range nginxWord().FindAllStringSubmatch(text, -1) {
		words = append(words, func() (w word, err error) {
			name := m[1] + m[2]
			w.field = nginxFields[name]
			switch name {
			case "time_iso8601":
				w.clock = isoClocks
			case "msec":
				w.clock = epochs(1)
			}
			return w, nil
		})
	}
	return words
}

func webClocks(*Options) func(string) (time.Time, error) { return new(webClock).read }

func isoClocks(*Options) func(string) (time.Time, error) { return new(isoClock).read }

// epochs reads seconds since 1970. They have no offset, so that of the platform is theirs.
func epochs(unit int64) func(*Options) func(string) (time.Time, error) {
	return func(o *Options) func(string) (time.Time, error) {
		return func(text string) (time.Time, error) {
			t, err := epoch(text, unit)
			if err == nil && o.Location != nil {
				t = t.In(o.Location)
			}
			return t, err
		}
	}
}

// cutWord cuts the name of a directive.
func cutWord(text, name string) (rest string, ok bool) {
	if len(text) > len(name) && strings.EqualFold(text[:len(name)], name) {
		return strings.TrimSpace(text[len(name):]), true
	}
	return text, false
}

// firstQuoted is the first argument of a directive of Apache.
func firstQuoted(text string) string {
	quoted, ok := strings.CutPrefix(text, `"`)
	if !ok {
		first, _, _ := strings.Cut(text, " ")
		return first
	}
	end := endOfQuoted(quoted)
	if end < 0 {
		return text
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\t`, "\t").Replace(quoted[:end])
}

// allQuoted are the quoted arguments of a directive of nginx, which belong together.
func allQuoted(text string) string {
	var b strings.Builder
	for {
		begin := strings.IndexAny(text, `'"`)
		if begin < 0 {
			return b.String()
		}
		argument, rest, ok := strings.Cut(text[begin+1:], text[begin:begin+1])
		if !ok {
			return b.String()
		}
		b.WriteString(argument)
		text = rest
	}
}

// usual are the layouts that need not be told.
var usual = sync.OnceValue(func() (list []*layout) {
	const combined = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
	for _, text := range []string{
		combined,
		strings.ReplaceAll(combined, "%h", "%{X-Forwarded-For}i"),
		strings.ReplaceAll(combined, "%h", "%v:%p %h"),
		strings.ReplaceAll(combined, "%h", "%v %h"),
	} {
		l, err := readLayout(text)
		if err != nil {
			panic(err)
		}
		l.usual = true
		list = append(list, l)
	}
	return list
})
