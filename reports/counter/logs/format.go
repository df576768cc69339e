package logs

import "github.com/datacite-go/datacite-go/reports/counter"

// A Format is a log format with one access per line. [Read] accepts your own formats like
// the built-in ones.
type Format struct {
	Name    string // for flags
	Summary string // a description in one line

	// Parser checks the options, and returns a function that makes a ParseLine for each
	// goroutine that reads.
	Parser func(*Options) (func() ParseLine, error)
}

// A ParseLine makes an event of a line, which is not empty and has no line end. A line for
// which it returns neither an event nor an error is a comment if it begins with #, and
// otherwise an access that is not counted; if such a line has a time, Event.Time is set
// nevertheless. A line that cannot be read is a [*datacite.ValidationError] with one of the
// [Codes]; any other error ends [Read]. A ParseLine is called by one goroutine at a time.
// [Paths.Finder] finds the dataset of a URL.
type ParseLine func(line string) (e counter.Event, ok bool, err error)

// Formats returns the built-in formats.
func Formats() []Format { return []Format{Dataverse, Combined, JSON} }
