package logs

import (
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// A Format is a way to write accesses into lines. [Read] takes one of your own like those
// that are built in.
type Format struct {
	Name    string // for a flag
	Summary string // what it is, in a line

	// Parser checks the options, and returns what makes a ParseLine for each goroutine
	// that reads.
	Parser func(*Options) (func() ParseLine, error)
}

// A ParseLine makes an event of a line without its end, which is not empty. Lines for
// which it returns neither an event nor an error are comments if they begin with #, or
// else not to be counted; if such a line has a time, Event.Time is set all the same. A
// line that cannot be read is a [*Fault] with Class and Reason; any other error ends
// [Read]. One ParseLine is not called by two goroutines at a time. [Paths.Finder] finds the
// dataset of a URL.
type ParseLine func(line string) (e counter.Event, ok bool, err error)

// Formats returns the formats that are built in.
func Formats() []Format { return []Format{Dataverse, Combined, JSON} }

// FormatNamed returns the format of a name, as in a flag. Its error matches
// [datacite.ErrInvalid].
func FormatNamed(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, datacite.Invalid(datacite.Finding{Path: "format", Code: "vocabulary", Reason: fmt.Sprintf("is %q, not %s or %s", name, strings.Join(names[:len(names)-1], ", "), names[len(names)-1])})
}
