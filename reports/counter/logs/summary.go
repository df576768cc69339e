package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
)

// Counts say how many lines there are. Each line is one of these.
type Counts struct {
	Events   int64 // were yielded
	Comments int64 // begin with #, or are empty
	Other    int64 // neither investigations nor requests, or not successful
	Faulty   int64 // cannot be read
}

// Lines is the number of all lines.
func (c Counts) Lines() int64 { return c.Events + c.Comments + c.Other + c.Faulty }

func (c *Counts) add(o Counts) {
	c.Events += o.Events
	c.Comments += o.Comments
	c.Other += o.Other
	c.Faulty += o.Faulty
}

// A Summary says what became of the lines of all logs.
type Summary struct {
	Counts
	Faults  []ClassFaults // most lines first
	Offsets []Offset      // that lines have and Options.Location has not at that time; most lines first
	Files   []FileSummary // in their order
}

// A FileSummary says what a log has.
type FileSummary struct {
	Name string
	Counts
	First, Last time.Time // of the lines that have a time, also of those that are not counted; zero without any

	// Hours has one entry for each hour of Options.Period: whether a line has a time in
	// it. It is nil without a period.
	Hours []bool

	// Cut says that a compressed log ends too soon, and that Options.AllowCut let it.
	Cut bool
}

// A Class is a kind of fault.
type Class string

const (
	BadLayout   Class = "layout"     // not the format, or not as many fields
	BadEncoding Class = "encoding"   // not UTF-8
	TooLong     Class = "too-long"   // more than 1 MiB
	BadTime     Class = "time"       // no time, or one without an offset from UTC
	BadAddress  Class = "address"    // no IP address where one belongs
	BadValue    Class = "value"      // another value that an event cannot have
	NotDOI      Class = "not-doi"    // the identifier of the dataset is not a DOI
	Handle      Class = "handle"     // it is a handle, and usage is reported of DOIs only
	NoDataset   Class = "no-dataset" // an access to a dataset that the line, or the table of paths, does not name
	cutLine     Class = "cut"        // the line in which a compressed log ends
)

// Classes returns all of them, for a flag.
func Classes() []Class {
	return []Class{BadLayout, BadEncoding, TooLong, BadTime, BadAddress, BadValue, NotDOI, Handle, NoDataset, cutLine}
}

// ofAccess tells whether only an access that was to be counted has such a fault.
func (c Class) ofAccess() bool {
	return c == BadAddress || c == NotDOI || c == Handle || c == NoDataset
}

// A Fault is why a line cannot be read. It matches [datacite.ErrInvalid].
type Fault struct {
	Class  Class
	File   string // name of the log; "" if it has none
	Line   int    // from 1
	Reason string // such as: time is "yesterday", not a time such as …
}

// Error returns the place and the reason of the fault.
func (f *Fault) Error() string {
	if f.File == "" {
		return fmt.Sprintf("line %d, %s", f.Line, f.Reason)
	}
	return fmt.Sprintf("%s, line %d, %s", f.File, f.Line, f.Reason)
}

// Is matches [datacite.ErrInvalid].
func (f *Fault) Is(target error) bool { return target == datacite.ErrInvalid }

// ClassFaults are the faults of a class, in all logs.
type ClassFaults struct {
	Class Class
	Lines int64
	First []*Fault // at most three
}

// An Offset is a difference from UTC that lines have, and that the time zone of the
// platform does not have at that time.
type Offset struct {
	Seconds int // east of UTC
	Lines   int64
	First   Fault // where the first of these lines is; without a class
}

// String is the offset as zones of [ParseLocation] are written, such as -04:00.
func (o Offset) String() string {
	return time.Unix(0, 0).In(time.FixedZone("", o.Seconds)).Format("-07:00")
}

// A FaultsError says which lines cannot be read, when they are more than may be left
// out. It matches [datacite.ErrInvalid].
type FaultsError struct {
	Faults  []ClassFaults // most lines first; not those of Tolerance.Always
	Lines   int64         // of all logs that were read, without comments
	Allowed float64       // the share that may be left out; 0 if none may
}

// Is matches [datacite.ErrInvalid].
func (e *FaultsError) Is(target error) bool { return target == datacite.ErrInvalid }

// Error returns how many lines cannot be read, by class, with the first places.
func (e *FaultsError) Error() string {
	faulty := int64(0)
	for _, c := range e.Faults {
		faulty += c.Lines
	}
	var b strings.Builder
	fmt.Fprintf(&b, "logs: %d of %d lines cannot be read", faulty, e.Lines)
	if e.Allowed > 0 {
		fmt.Fprintf(&b, ", more than %.3g %% of them or of the accesses", 100*e.Allowed)
	}
	for _, c := range e.Faults {
		fmt.Fprintf(&b, "; %s: %d", c.Class, c.Lines)
		for i, f := range c.First {
			b.WriteString([]string{", first ", "; "}[min(i, 1)] + f.Error())
		}
	}
	return b.String()
}

// faults counts faults of a class.
func (s *Summary) faults(more ClassFaults) {
	i := slices.IndexFunc(s.Faults, func(c ClassFaults) bool { return c.Class == more.Class })
	if i < 0 {
		i = len(s.Faults)
		s.Faults = append(s.Faults, ClassFaults{Class: more.Class})
	}
	at := &s.Faults[i]
	at.Lines += more.Lines
	const most = 3
	at.First = append(at.First, more.First[:min(len(more.First), most-len(at.First))]...)
}

// offset counts lines with an offset.
func (s *Summary) offset(o Offset) {
	i := slices.IndexFunc(s.Offsets, func(known Offset) bool { return known.Seconds == o.Seconds })
	if i < 0 {
		s.Offsets = append(s.Offsets, o)
		return
	}
	s.Offsets[i].Lines += o.Lines
}

// Add adds what became of the lines of other logs, such as those that another machine read.
func (s *Summary) Add(o Summary) {
	s.Counts.add(o.Counts)
	for _, c := range o.Faults {
		s.faults(c)
	}
	for _, offset := range o.Offsets {
		s.offset(offset)
	}
	s.Files = append(s.Files, o.Files...)
	s.sort()
}

func (s *Summary) sort() {
	slices.SortStableFunc(s.Faults, func(a, b ClassFaults) int { return cmp.Compare(b.Lines, a.Lines) })
	slices.SortStableFunc(s.Offsets, func(a, b Offset) int { return cmp.Compare(b.Lines, a.Lines) })
}

// Tolerance says which lines that cannot be read are left out.
type Tolerance struct {
	// Share is how many of the lines may have a fault, and how many of the accesses one
	// that only accesses have: 0.01 is 1 %.
	Share float64

	Always []Class // are left out, however many there are
}

// Check returns a [*FaultsError] if more lines are faulty than may be.
func (s *Summary) Check(allowed Tolerance) error {
	var lines, accesses int64
	var over []ClassFaults
	for _, f := range s.Faults {
		switch {
		case slices.Contains(allowed.Always, f.Class):
			continue
		case f.Class.ofAccess():
			accesses += f.Lines
		default:
			lines += f.Lines
		}
		over = append(over, f)
	}
	all := s.Lines() - s.Comments
	if float64(lines) <= allowed.Share*float64(all) && float64(accesses) <= allowed.Share*float64(s.Events+accesses) {
		return nil
	}
	return &FaultsError{over, all, allowed.Share}
}
