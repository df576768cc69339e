package dois

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// A Reader reads the records of an archive: of a data file that the operator of the
// service publishes, of saved pages, or of what a harvest has written. It finds out
// from the first bytes, not from names, what it has before it:
//
//   - JSON lines, each the attributes of a record or a whole resource with id, type
//     and attributes
//   - pages as the service answers them, {"data": […]}, one or several, and lists of
//     records, in one line or printed over many
//   - gzip of any of these, in one member or in several
//   - TAR, plain or in gzip, and folders of all that, read in the order in which they
//     list their files
//
// What else lies in a TAR or a folder is passed over, such as tables and notes, unless
// the name of a file promises records by ending in .json, .jsonl, .ndjson or .tar, or such
// a name with .gz: then it is an error. STATUS.json and MANIFEST.json promise nothing.
//
// Records are decoded on all processors and come in the order of the archive. Memory
// does not grow with it.
type Reader struct {
	start func(*splitter) error
	opts  ReaderOptions
}

// ReaderOptions are the options of a [Reader].
type ReaderOptions struct {
	// Members chooses the files of a TAR or a folder by their paths, such as
	// dois/updated_2025-01/part_0000.jsonl.gz; nil chooses all. It is called ahead of the
	// records, in another goroutine than the loop's.
	Members func(path string) bool

	// Skip is called for what is damaged. If it returns true, reading goes on with
	// what is whole behind that: the next line, or else the next file. If it is nil or
	// returns false, the damage ends the sequence as its error. It is called in its place
	// among the records, in the goroutine of the loop.
	Skip func(*ArchiveError) bool
}

// NewReader reads an archive from r, once: ranging over its records again is an error.
// nil options mean the defaults.
func NewReader(r io.Reader, opts *ReaderOptions) *Reader {
	if r == nil {
		return newReader(opts, nil)
	}
	read := false
	return newReader(opts, func(s *splitter) error {
		if read {
			return s.damaged(place{}, errRead)
		}
		read = true
		return s.read("", r, 0)
	})
}

// NewFolderReader reads the archives in a folder and the folders in it, in the order of
// their names: os.DirFS("records"), a ZIP file ([archive/zip.Reader]), or files that a
// program carries along. Ranging over its records again starts afresh.
func NewFolderReader(folder fs.FS, opts *ReaderOptions) *Reader {
	if folder == nil {
		return newReader(opts, nil)
	}
	return newReader(opts, func(s *splitter) error { return s.folder(folder) })
}

func newReader(opts *ReaderOptions, start func(*splitter) error) *Reader {
	r := &Reader{start: start}
	if opts != nil {
		r.opts = *opts
	}
	return r
}

var errRead = errors.New("it has been read already")

// All returns the records in the order of the archive. What is damaged is an
// [*ArchiveError], which ends the sequence and comes with a nil record, unless
// [ReaderOptions].Skip goes on.
//
// The checksum of a gzip member stands at its end, so the error about a wrong one comes
// behind the member's records: do not rely on any of them before the next member begins
// or the sequence ends. A change within plain text that leaves it JSON is not noticed,
// nor is the lack of whole lines or whole gzip members at the end of what is no TAR.
//
// A loop that is left waits for the goroutines that read ahead, and so for a Read that
// is under way. To give up on a source that may block, close it.
func (r *Reader) All() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if r.start == nil {
			yield(nil, &datacite.FieldError{Path: "Reader", Reason: "has no source: it is the zero Reader, or was made of nil"})
			return
		}
		s := newSplitter(&r.opts)
		r.records(s, yield)
		s.cutter.Rethrow()
	}
}

// records hands on what the splitter makes of the archive, and stops it.
func (r *Reader) records(s *splitter, yield func(*Record, error) bool) {
	defer s.stop()
	s.run(r.start)
	last := ""
	report := func(e ArchiveError) (goOn bool) {
		if e.Last = last; r.opts.Skip != nil && r.opts.Skip(&e) {
			return true
		}
		yield(nil, &e)
		return false
	}
	for b := range s.ordered {
		<-b.decoded
		for _, p := range b.pieces {
			if p.err != nil {
				if !report(p.damage(b.member)) {
					return
				}
				continue
			}
			last = p.record.DOI
			if !yield(p.record, nil) {
				return
			}
		}
		if b.damage != nil && !report(*b.damage) {
			return
		}
		s.free(b)
	}
}

// An ArchiveError is a part of an archive that cannot be read. It matches
// [datacite.ErrTooLarge] if that is a record, or a line, of more than 16 MiB, or one that would
// take far more memory than it is long, and else [datacite.ErrUnreadable].
type ArchiveError struct {
	Member string // path of the file within a TAR or a folder; "" if there is but one
	Line   int    // in the file, from 1; 0 if that says nothing, as in pages
	Offset int64  // bytes of the file before the damage, inflated; in lines, before what is wrong in the line
	Last   string // DOI of the last good record, in whichever file; "" before the first
	Err    error  // what is wrong
}

// Error names the place and the fault.
func (e *ArchiveError) Error() string {
	var b strings.Builder
	b.WriteString("dois: archive")
	if e.Member != "" {
		b.WriteString(": " + e.Member)
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	fmt.Fprintf(&b, ", byte %d", e.Offset)
	if e.Last != "" {
		fmt.Fprintf(&b, ", after the record %s", e.Last)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns Err, such as [io.ErrUnexpectedEOF] for an archive that is cut off.
func (e *ArchiveError) Unwrap() error { return e.Err }

// Is matches [datacite.ErrTooLarge] or [datacite.ErrUnreadable].
func (e *ArchiveError) Is(target error) bool {
	if errors.Is(e.Err, jsonlex.ErrTooLarge) {
		return target == datacite.ErrTooLarge
	}
	return target == datacite.ErrUnreadable
}
