package counter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
)

// combined is a line in the combined format: address, identity, user, time, request,
// status, bytes, referrer, user agent.
var combined = regexp.MustCompile(`^(\S+) \S+ ([^\[]*)\[([^\]]*)\] "((?:[^"\\]|\\.)*)" (\d{3}) \S+ "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"`)

// ReadAccessLog reads the access log of a web server such as Apache or nginx, in the
// combined format. An access that was successful, by GET or POST, to one of the
// paths is an event; all others are LogSummary.Other. Lines that cannot be read are
// treated as by [ReadLog].
func ReadAccessLog(r io.Reader, paths *Paths, opts *LogOptions) iter.Seq2[Event, error] {
	l := newLog(opts)
	if l.Statuses == nil {
		l.Statuses = []int{http.StatusOK, http.StatusPartialContent, http.StatusNotModified}
	}
	find := newPathFinder(paths)
	return l.read(r, func(_ *parser, line string) (e Event, ok bool, err error) {
		if line[0] == '#' {
			return e, false, nil
		}
		field := combined.FindStringSubmatch(line)
		if field == nil {
			return e, false, &datacite.FieldError{Path: "line", Reason: fmt.Sprintf("is not in the combined format: %.100q", line)}
		}
		if e.Time, err = time.Parse("02/Jan/2006:15:04:05 -0700", field[3]); err != nil {
			return e, false, &datacite.FieldError{Path: "time", Reason: fmt.Sprintf("is %.100q, not a time such as 31/Oct/2026:23:59:59 +0100", field[3])}
		}
		status, _ := strconv.Atoi(field[5])
		method, target, _ := strings.Cut(field[4], " ")
		if !slices.Contains(l.Statuses, status) || method != http.MethodGet && method != http.MethodPost {
			return e, false, nil
		}
		target, _, _ = strings.Cut(target, " ")
		found, ok, err := find.target(pathOf(target))
		if err != nil || !ok {
			return e, false, err
		}
		e.DOI, e.Request, e.URL = found.DOI, found.Request, target
		e.Address, e.User, e.Agent = field[1], present(field[2]), present(unescape(field[6]))
		return e, true, nil
	})
}

// unescape undoes what servers do to quotes and control characters.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	if plain, err := strconv.Unquote(`"` + text + `"`); err == nil {
		return plain
	}
	return text
}

// ReadJSON reads events as JSON, one a line, as encoding/json writes an [Event].
// Members that an event does not have are faults. Lines that cannot be read are
// treated as by [ReadLog].
func ReadJSON(r io.Reader, opts *LogOptions) iter.Seq2[Event, error] {
	l := newLog(opts)
	return l.read(r, func(_ *parser, line string) (e Event, ok bool, err error) {
		in := json.NewDecoder(strings.NewReader(line))
		in.DisallowUnknownFields()
		if err = in.Decode(&e); err == nil && in.More() {
			err = errors.New("something follows it")
		}
		if err != nil {
			return e, false, &datacite.FieldError{Path: "line", Reason: fmt.Sprintf("is not an event: %v", err)}
		}
		err = e.Validate()
		return e, err == nil, err
	})
}
