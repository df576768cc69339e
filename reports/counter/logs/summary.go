package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
)

// Counts are numbers of lines. Each line is in one of them.
type Counts struct {
	Events   int64 // yielded as events
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

// Stats are the numbers of lines of all logs by outcome.
type Stats struct {
	Counts
	Faults  []CodeFaults // most lines first
	Offsets []Offset     // offsets of lines that Options.Location does not have at that time; most lines first
	Files   []FileStats  // in their order
}

// FileStats are the numbers of lines of one log.
type FileStats struct {
	Name string
	Counts
	First, Last time.Time // of all lines that could be read, even if they are not counted; zero if there is none

	// Proxies is not 0 if the addresses of events seem to be those of so many proxies, so that all visitors count as
	// a few: at least twenty events have only an address and a user agent to tell users apart, and come from one
	// address, or from at most 16 private ones, at least half of which have several user agents.
	Proxies int

	// Hours has one entry for each hour of Options.Period: whether a line that could be read
	// has a time in it. It is nil without a period.
	Hours []bool

	// Cut says that a compressed log ends too soon, and that Options.AllowTruncated accepted it.
	Truncated bool
}

// Codes returns the codes of unreadable lines, for a flag; [datacite.Code] describes them.
func Codes() []datacite.Code {
	return []datacite.Code{datacite.CodeSyntax, datacite.CodeEncoding, datacite.CodeLimit, datacite.CodeDate,
		datacite.CodeAddress, datacite.CodeValue, datacite.CodeDOI, datacite.CodeHandle, datacite.CodeNoDataset}
}

// ofAccess tells whether only an access that was to be counted has such a fault.
func ofAccess(c datacite.Code) bool {
	return slices.Contains([]datacite.Code{datacite.CodeAddress, datacite.CodeDOI, datacite.CodeHandle,
		datacite.CodeNoDataset}, c)
}

// CodeFaults are the faults with a code, in all logs.
type CodeFaults struct {
	Code  datacite.Code
	Lines int64
	First []datacite.Finding // at most three
}

// An Offset is a difference from UTC that lines have, and that the time zone of the
// platform does not have at that time.
type Offset struct {
	Seconds int // east of UTC
	Lines   int64
	First   datacite.Finding // place of the first of these lines
}

// String returns the offset in the form -04:00.
func (o Offset) String() string {
	return time.Time{}.In(time.FixedZone("", o.Seconds)).Format("-07:00")
}

// A FaultsError means that more lines are unreadable than may be left out.
type FaultsError struct {
	Faults  []CodeFaults // most lines first; not those of Tolerance.Always
	Lines   int64        // of all logs that were read, without comments
	Allowed float64      // the share that may be left out; 0 if none may
}

// Unwrap returns the first faults as a [*datacite.ValidationError].
func (e *FaultsError) Unwrap() error {
	var first []datacite.Finding
	for _, c := range e.Faults {
		first = append(first, c.First...)
	}
	return datacite.Invalid(first...)
}

// Error returns how many lines cannot be read, by code, with the first places.
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
		fmt.Fprintf(&b, "; %s: %d", c.Code, c.Lines)
		for i, f := range c.First {
			b.WriteString([]string{", first ", "; "}[min(i, 1)] + f.String())
		}
	}
	return b.String()
}

// faults counts faults with a code.
func (s *Stats) faults(more CodeFaults) {
	i := slices.IndexFunc(s.Faults, func(c CodeFaults) bool { return c.Code == more.Code })
	if i < 0 {
		i = len(s.Faults)
		s.Faults = append(s.Faults, CodeFaults{Code: more.Code})
	}
	at := &s.Faults[i]
	at.Lines += more.Lines
	const most = 3
	at.First = append(at.First, more.First[:min(len(more.First), most-len(at.First))]...)
}

// offset counts lines with an offset.
func (s *Stats) offset(o Offset) {
	i := slices.IndexFunc(s.Offsets, func(known Offset) bool { return known.Seconds == o.Seconds })
	if i < 0 {
		s.Offsets = append(s.Offsets, o)
		return
	}
	s.Offsets[i].Lines += o.Lines
}

// Add adds the numbers of another summary, such as of logs that another machine read.
func (s *Stats) Add(o Stats) {
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

func (s *Stats) sort() {
	slices.SortStableFunc(s.Faults, func(a, b CodeFaults) int { return cmp.Compare(b.Lines, a.Lines) })
	slices.SortStableFunc(s.Offsets, func(a, b Offset) int { return cmp.Compare(b.Lines, a.Lines) })
}

// Tolerance says which unreadable lines are left out.
type Tolerance struct {
	// Share is the share of lines that may be faulty: 0.01 means 1 %. Faults that only
	// accesses have, such as no-dataset, are compared with the number of accesses, other
	// faults with the number of lines.
	Share float64

	// DOIs is the share of accesses of which the DOI may be none (code doi), as platforms log them now and then, apart
	// from Share.
	DOIs float64

	Always []datacite.Code // lines with these codes are left out, however many there are
}

// Check returns a [*FaultsError] if more lines are faulty than allowed.
func (s *Stats) Check(allowed Tolerance) error {
	var lines, accesses int64
	var over []CodeFaults
	for _, f := range s.Faults {
		switch {
		case slices.Contains(allowed.Always, f.Code):
			continue
		case f.Code == datacite.CodeDOI && float64(f.Lines) <= allowed.DOIs*float64(s.Events+f.Lines):
			continue
		case ofAccess(f.Code):
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
