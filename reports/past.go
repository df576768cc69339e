package reports

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/datacite-go/datacite-go"
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
func (s *submission) recall(d delivery) {
	p := &s.past
	p.recalled = true
	err := s.readNotes(func(n *number, _ bool) error { return new(Dataset).UnmarshalJSON(n.about) })
	p.noted = err == nil
	absent := d.seen.first == 0 && !d.seen.foreign && d.seen.state == 0
	switch {
	case absent && d.left.At.IsZero() && errors.Is(err, fs.ErrNotExist):
	case d.left.Past == runlock.Unknown,
		d.left.Past == runlock.Noted && err != nil,
		!absent && !s.left(d):
		p.unknown = true
		s.warn(datacite.Finding{
			Path:    "report-datasets",
			Code:    "left",
			Reason:  "follow earlier versions that are not known from SubmitOptions.LockDir; records may continue to show numbers that only those had",
			Warning: true,
		})
	}
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
	err = s.writeNotes(func(note func(*number, bool) error) error {
		for n, err := range c.numbers() {
			replaced := slices.Contains(n.reports, inPlan)
			switch {
			case err != nil:
				return err
			case replaced && len(n.reports) == 1:
				continue
			case replaced:
			case s.getsZero(&n):
				replaced = true
				zeros++
			default:
				s.keeps(n)
			}
			n.reports = []int{inEarlier}
			if err := note(&n, replaced); err != nil {
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
	_ = s.writeNotes(func(note func(*number, bool) error) error {
		return s.readNotes(func(n *number, replaced bool) error {
			if replaced {
				return nil
			}
			return note(n, false)
		})
	})
}

// Notes are gzip of a line and of entries: a byte that is 1 if the plan replaces the number,
// the length of the number, and the number. Gzip's checksum shows damage.

// firstLine is what notes of the report begin with. An operator may have deleted an earlier
// report, and numbers of one id cannot be replaced under another.
func (s *submission) firstLine() string { return "datacite-go notes 1 " + s.id + "\n" }

// writeNotes replaces the notes by the numbers with which entries calls its parameter.
func (s *submission) writeNotes(entries func(note func(n *number, replaced bool) error) error) error {
	return s.lock.SetNotes(func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 64<<10)
		packed, err := gzip.NewWriterLevel(buffered, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(packed, s.firstLine()); err != nil {
			return err
		}
		var head, text []byte
		err = entries(func(n *number, replaced bool) error {
			text = n.append(text[:0])
			if head = append(head[:0], 0); replaced {
				head[0] = 1
			}
			if _, err := packed.Write(binary.AppendUvarint(head, uint64(len(text)))); err != nil {
				return err
			}
			_, err := packed.Write(text)
			return err
		})
		if err != nil {
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

// readNotes calls f for each number of the notes, which is valid during the call. The error
// matches fs.ErrNotExist if there are no notes.
func (s *submission) readNotes(f func(n *number, replaced bool) error) error {
	file, err := s.lock.Notes()
	if err != nil {
		return err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(bufio.NewReaderSize(file, 64<<10))
	if err != nil {
		return fmt.Errorf("%w: %w", errNotes, err)
	}
	r := bufio.NewReader(unpacked)
	if line, err := r.ReadSlice('\n'); err != nil || string(line) != s.firstLine() {
		return errNotes
	}
	var text bytes.Buffer
	for {
		replaced, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		length, wrong := binary.ReadUvarint(r)
		if err != nil || wrong != nil || length > maxMemory {
			return errNotes
		}
		text.Reset()
		if _, err := io.CopyN(&text, r, int64(length)); err != nil {
			return errNotes
		}
		n, err := parseNumber(text.Bytes())
		if err != nil {
			return errNotes
		}
		if err := f(&n, replaced == 1); err != nil {
			return err
		}
	}
}
