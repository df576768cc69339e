package logs

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// JSON is a log with one event per line, as encoding/json writes a [counter.Event]. Unknown
// members are faults.
var JSON = Format{
	Name:    "json",
	Summary: "events as JSON, one a line (package reports/counter, type Event)",
	Parser:  readJSON,
}

func readJSON(o *Options) (func() ParseLine, error) {
	if o.Paths != nil {
		return nil, datacite.Invalidf("Options.Paths", datacite.CodeConflict,
			"have no effect on events as JSON, which say what a request is")
	}
	return func() ParseLine { return parseJSON }, nil
}

func parseJSON(line string) (e counter.Event, ok bool, err error) {
	if line[0] == '#' {
		return e, false, nil
	}
	if e, ok = plainJSON(line); !ok {
		if e, err = anyJSON(line); err != nil {
			return e, false, datacite.Invalidf("", datacite.CodeSyntax,
				"line is not an event: %v; its members are doi, time, url, request, user, cookie, session, "+
					"address, agent, access and country", err)
		}
	}
	if e.DOI == "" {
		return e, false, datacite.Invalidf("", datacite.CodeNoDataset, "doi is missing, so the access is to no dataset")
	}
	if err = e.Validate(); err == nil {
		return e, true, nil
	}
	f := datacite.Findings(err)[0]
	switch f.Path {
	case "doi":
		f.Code = notDOI(e.DOI)
	case "time":
		f.Code = datacite.CodeDate
	default:
		f.Code = datacite.CodeValue
	}
	return e, false, datacite.Invalid(f)
}

func anyJSON(line string) (e counter.Event, err error) {
	in := json.NewDecoder(strings.NewReader(line))
	in.DisallowUnknownFields()
	if err = in.Decode(&e); err == nil && in.More() {
		err = errors.New("something follows it")
	}
	return e, err
}

// plainJSON reads a line as common writers of JSON write an event, without encoding/json, which reads all lines for
// which this is not ok.
func plainJSON(line string) (e counter.Event, ok bool) {
	if !utf8.ValidString(line) {
		return e, false
	}
	rest, ok := strings.CutPrefix(line, "{")
	for ok {
		var name string
		if name, rest, ok = plainText(rest); !ok || rest == "" || rest[0] != ':' {
			return e, false
		}
		rest = strings.TrimLeft(rest[1:], " ")
		switch field := textField(&e, name); {
		case field != nil:
			*field, rest, ok = plainText(rest)
		case name == "time":
			end := max(strings.IndexAny(rest, ",}"), 0)
			ok = strings.HasPrefix(rest, `"`) && e.Time.UnmarshalJSON([]byte(rest[:end])) == nil
			rest = rest[end:]
		case name == "request" && strings.HasPrefix(rest, "true"):
			e.Request, rest = true, rest[len("true"):]
		case name == "request" && strings.HasPrefix(rest, "false"):
			e.Request, rest = false, rest[len("false"):]
		default:
			return e, false
		}
		if after, isLast := strings.CutPrefix(rest, "}"); isLast {
			return e, ok && strings.TrimLeft(after, " \r") == ""
		}
		if !strings.HasPrefix(rest, ",") {
			return e, false
		}
		rest = strings.TrimLeft(rest[1:], " ")
	}
	return e, false
}

// textField is the field of a member that is a text; nil of any other.
func textField(e *counter.Event, name string) *string {
	switch name {
	case "doi":
		return &e.DOI
	case "url":
		return &e.URL
	case "user":
		return &e.User
	case "cookie":
		return &e.Cookie
	case "session":
		return &e.Session
	case "address":
		return &e.Address
	case "agent":
		return &e.Agent
	case "access":
		return (*string)(&e.Access)
	case "country":
		return &e.Country
	}
	return nil
}

// plainText reads a text in quotes. It knows the escapes of one character and those of ASCII, such as \u0026.
func plainText(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", s, false
	}
	var before strings.Builder
	for s = s[1:]; ; {
		n := jsonlex.Plain(s)
		switch {
		case n == len(s) || s[n] < ' ':
			return "", s, false
		case s[n] == '"' && before.Len() == 0:
			return s[:n], s[n+1:], true
		case s[n] == '"':
			before.WriteString(s[:n])
			return before.String(), s[n+1:], true
		}
		char, size := escaped(s[n+1:])
		if size == 0 {
			return "", s, false
		}
		before.WriteString(s[:n])
		before.WriteByte(char)
		s = s[n+1+size:]
	}
}

// escaped is the character of an escape without its backslash, and the size of that; 0 of one that is rare.
func escaped(s string) (char byte, size int) {
	const names, chars = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if s == "" {
		return 0, 0
	}
	if i := strings.IndexByte(names, s[0]); i >= 0 {
		return chars[i], 1
	}
	if len(s) >= 5 && s[:3] == "u00" {
		if code, err := strconv.ParseUint(s[3:5], 16, 7); err == nil {
			return byte(code), 5
		}
	}
	return 0, 0
}
