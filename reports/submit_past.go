package reports

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/runlock"
)

// A past is what a run knows of the earlier versions of a report, whose numbers DOI records
// show until something replaces them. The service shows only the present version, and after
// the first PUT of a run that is a part of one. So the numbers are in the folder of the
// lock, with the record of the last request:
//
//	What the folder has                       What is stored           Then
//	nothing                                   no report                the account knows all: there is nothing
//	nothing, or a record without Past         a report                 unknown
//	a record with Past Known                  what the record says     the account knows all: the stored version
//	a record with Past Noted, and notes       what the record says     the account knows all: that, and the notes
//	a record with Past Noted, no sound notes  anything                 unknown
//	any                                       not what the record says unknown: another program wrote; notes hold
//
// "What the record says" is what a run of this account left or may have left: see
// [submission.left]. If the past is unknown, what is known is used all the same, and the
// receipt and a warning say that there may be more.
//
// Before the first request, the notes are all numbers of the stored version and of the notes
// before. When the plan is stored, those remain that neither the data nor zeros replaced. A
// run that is killed in between leaves more than is needed, never less: the next one finds
// what its own data have.
//
// Notes are read by the account that wrote them. Those of others may be forged, and would
// bring foreign datasets into the report.
type past struct {
	recalled bool // the fields below are set
	compared bool // the stored version is in the notes
	noted    bool // there are notes
	unknown  bool // there may be versions that this account does not know
}

// recall finds out what is known of earlier versions, given what is stored now.
func (s *submission) recall(d delivery) error {
	p := &s.past
	p.recalled = true
	err := s.readNotes(func(n *number) error { return new(Dataset).UnmarshalJSON(n.About) })
	if isFailure(err) {
		return fmt.Errorf("the notes of earlier versions (SubmitOptions.LockDir): %w", err)
	}
	p.noted = err == nil
	absent := d.seen.first == 0 && !d.seen.foreign && d.seen.state == 0
	switch {
	case absent && d.left.At.IsZero() && errors.Is(err, fs.ErrNotExist):
	case d.left.Past == runlock.Unknown,
		d.left.Past == runlock.Noted && err != nil,
		!absent && !s.left(d):
		p.unknown = true
		s.warn(datacite.Finding{
			Path:   "report-datasets",
			Reason: "earlier versions are not in SubmitOptions.LockDir; records may continue to show numbers that only those had",
			Code:   display.Left, Warning: true,
		})
	}
	return nil
}

// left reports whether a run of this account left what is stored, or may have. Some services
// list subsets in the response to a write and show datasets later; then only their number
// is compared.
func (s *submission) left(d delivery) bool {
	shown := storedReport{Shown: int(d.left.Size)}
	return !d.left.At.IsZero() && (d.left.State == 0 || d.left.State == d.seen.state || d.seen.state == shown.state())
}

// tell tells later runs what this one knows.
func (p *past) tell(lock *runlock.Lock) error {
	switch {
	case p.unknown:
		return lock.SetPast(runlock.Unknown)
	case p.noted:
		return lock.SetPast(runlock.Noted)
	}
	return lock.SetPast(runlock.Known)
}

// takeNotes notes all numbers of earlier versions, and which of them the plan is going to
// replace. It warns of those that stay, and returns how many need a zero.
func (s *submission) takeNotes(c *comparison) (zeros int, err error) {
	s.past.noted, s.staying = true, 0
	err = s.writeNotes(func(note func(*number) error) error {
		for n, err := range c.numbers() {
			if err != nil {
				return err
			}
			n.Replaced = slices.Contains(n.In, inPlan)
			switch {
			case n.Replaced && len(n.In) == 1:
				continue
			case n.Replaced:
			case s.getsZero(n):
				n.Replaced = true
				zeros++
			default:
				s.keeps(n)
			}
			n.In = []int{inEarlier}
			if err := note(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.past.tell(s.lock)
	}
	return zeros, err
}

// completed removes from the notes what the stored plan has replaced. If that fails, they
// hold more than is needed: the next run finds those numbers in the stored report.
func (s *submission) completed() {
	if !s.past.noted {
		return
	}
	if s.staying == 0 {
		s.past.noted = false
		if s.past.tell(s.lock) == nil { // before: without the notes it must not say that there are some
			_ = s.lock.SetNotes(nil)
		}
		return
	}
	_ = s.writeNotes(func(note func(*number) error) error {
		return s.readNotes(func(n *number) error {
			if n.Replaced {
				return nil
			}
			return note(n)
		})
	})
}

// Notes are gzip of a line and of numbers as JSON. Gzip's checksum shows damage.

// firstLine is what notes of the report begin with. An operator may have deleted an earlier
// report, and numbers of one id cannot be replaced under another.
func (s *submission) firstLine() string { return "datacite-go notes 2 " + s.id + "\n" }

// writeNotes replaces the notes by the numbers with which each calls its parameter.
func (s *submission) writeNotes(each func(note func(n *number) error) error) error {
	return s.lock.SetNotes(func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 64<<10)
		packed, err := gzip.NewWriterLevel(buffered, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(packed, s.firstLine()); err != nil {
			return err
		}
		lines := json.NewEncoder(packed)
		if err := each(func(n *number) error { return lines.Encode(n) }); err != nil {
			return err
		}
		if err := packed.Close(); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// errNotes: the notes are damaged, or those of another report.
var errNotes = errors.New("reports: notes of earlier versions are damaged")

// readNotes calls f for each number of the notes. The error matches fs.ErrNotExist if there are
// no notes.
func (s *submission) readNotes(f func(n *number) error) error {
	file, err := s.lock.Notes()
	if err != nil {
		return err
	}
	defer file.Close()
	return s.parseNotes(file, f)
}

// isFailure reports whether a file could not be read. That it does not exist is none.
func isFailure(err error) bool {
	_, failed := errors.AsType[*fs.PathError](err)
	return failed && !errors.Is(err, fs.ErrNotExist)
}

func (s *submission) parseNotes(file io.Reader, f func(n *number) error) error {
	var r *bufio.Reader
	var line []byte
	unpacked, err := gzip.NewReader(bufio.NewReaderSize(file, 64<<10))
	if err == nil {
		r = bufio.NewReader(unpacked)
		line, err = r.ReadSlice('\n')
	}
	switch {
	case isFailure(err):
		return err
	case err != nil || string(line) != s.firstLine():
		return errNotes
	}
	lines := json.NewDecoder(r)
	for {
		var n number
		switch err := lines.Decode(&n); {
		case err == io.EOF: // and the checksum is right
			return nil
		case isFailure(err):
			return err
		case err != nil || n.Name == "" || !slices.Equal(n.In, []int{inEarlier}):
			return errNotes
		}
		if err := f(&n); err != nil {
			return err
		}
	}
}
