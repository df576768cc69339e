// Package archive reads DOI records from files: DataCite's yearly Public Data File, saved pages,
// and the output of a harvest.
//
//	file, err := os.Open("DataCite_Public_Data_File_2025.tar")
//	if err != nil {
//		return err
//	}
//	defer file.Close()
//	for record, err := range archive.NewReader(file, nil).All() {
//		if err != nil {
//			return err
//		}
//		fmt.Println(record.DOI)
//	}
//
// # Formats
//
// A file's format is recognised by its first bytes, not by its name:
//
//   - JSON lines, each the attributes of a record or a whole resource with id, type
//     and attributes
//   - pages as the service sends them, {"data": […]}, one or several, and lists of
//     records, on one line or printed over many
//   - gzip of any of these, in one member or in several
//   - TAR, plain or in gzip, and folders of all of these; their files are read in the order of
//     the TAR or the folder
//
// Other files in a TAR or a folder, such as tables and notes, are skipped. A file without
// records is an error if its name ends in .json, .jsonl, .ndjson, .tar or .tgz, also with .gz
// after it. STATUS.json and MANIFEST.json may be without records.
//
// # Memory
//
// Records are decoded on all processors and returned in the order of the archive. Memory
// use does not grow with the archive.
package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// A Reader reads the records of an archive. [NewReader] and [NewFolderReader] make one.
type Reader struct {
	start func(*splitter) // reads, and reports what is wrong; nil if there is nothing to read from
	opts  Options
}

// Options are the options of a [Reader].
type Options struct {
	// Members selects files of a TAR or a folder by their paths, such as
	// dois/updated_2025-01/part_0000.jsonl.gz; nil selects all. It is called in another
	// goroutine, before the loop reaches the records of the file.
	Members func(path string) bool

	// LeaveOut is called for each damaged part, with the error that All would return. If it
	// returns true, reading continues with the next whole line or, if there is none, the
	// next file. If it is nil or returns false, the error ends the sequence. It is called in
	// the goroutine of the loop, between the records before and after the damage.
	LeaveOut func(error) bool
}

// NewReader returns a Reader of the archive in r. Its records can be ranged over once; a
// second loop gets an error.
func NewReader(r io.Reader, opts *Options) *Reader {
	if r == nil {
		return newReader(nil, opts)
	}
	return newReader(func(s *splitter) {
		if r == nil {
			_ = s.damaged(place{}, errRead) // nothing else is read
			return
		}
		src := r
		r = nil
		_ = s.read("", src, 0) // it was reported
	}, opts)
}

// NewFolderReader returns a Reader of the archives in a folder and its subfolders, in the
// order of their names: os.DirFS("records"), a ZIP file ([archive/zip.Reader]), or embedded
// files. Ranging over its records again reads the folder again.
func NewFolderReader(folder fs.FS, opts *Options) *Reader {
	if folder == nil {
		return newReader(nil, opts)
	}
	return newReader(func(s *splitter) { s.folder(folder) }, opts)
}

func newReader(start func(*splitter), opts *Options) *Reader {
	r := &Reader{start: start}
	if opts != nil {
		r.opts = *opts
	}
	return r
}

var errRead = errors.New("it has already been read")

// All returns the records in the order of the archive. Damage is an error, which comes
// with a nil record and ends the sequence, unless [Options].LeaveOut continues. It is a
// [*datacite.ValidationError] with one finding: the path of the file in a TAR or a folder,
// the line, and in the reason the number of bytes of the uncompressed file before the damage
// and the DOI of the last good record. It matches [datacite.ErrTooLarge] for a record or a
// line of more than 16 MiB and for a record that would take far more memory than its text.
// If the source cannot be read, the error matches that of the source and not [datacite.ErrInvalid].
//
// The checksum of a gzip member is at its end, so a wrong one is reported after the records of the
// member. Changes of plain text that leave it valid JSON cannot be detected, nor whole lines or gzip
// members missing at the end of a file outside a TAR.
//
// Leaving the loop waits for a Read in progress: to abandon a source that may block, close it. If a
// method of the source or Options.Members panics, All panics with the same value.
func (r *Reader) All() iter.Seq2[*dois.Record, error] {
	return func(yield func(*dois.Record, error) bool) {
		if r.start == nil {
			yield(nil, datacite.Invalidf("Reader", datacite.CodeMissing,
				"has no source: it is the zero Reader, or was made from nil"))
			return
		}
		s := newSplitter(&r.opts)
		defer s.stop()
		s.run(r.start)
		last := ""
		report := func(d *damage) (goOn bool) {
			err := d.error(last)
			if r.opts.LeaveOut != nil && r.opts.LeaveOut(err) {
				return true
			}
			yield(nil, err)
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
			if b.damage != nil && !report(b.damage) {
				return
			}
			s.free(b)
		}
	}
}

// A damage is a part of an archive that cannot be used.
type damage struct {
	place
	err    error
	unread bool // the source failed
}

// error describes the damage after the record last.
func (d *damage) error(last string) error {
	where := fmt.Sprintf("byte %d", d.offset)
	if last != "" {
		where += ", after the record " + last
	}
	f := datacite.Finding{Code: datacite.CodeSyntax, Reason: d.err.Error()}
	if found := datacite.Findings(d.err); len(found) > 0 {
		f.Code, f.Reason = found[0].Code, strings.TrimPrefix(found[0].Path+": "+found[0].Reason, ": ")
	}
	f.File, f.Line, f.Reason, f.Err = d.member, d.line, where+": "+f.Reason, d.err
	switch {
	case d.unread:
		return fmt.Errorf("archive: %s: %w", datacite.Finding{File: f.File, Line: f.Line, Reason: where}, d.err)
	case errors.Is(d.err, jsonlex.ErrTooLarge):
		f.Code, f.Err = datacite.CodeLimit, fmt.Errorf("%w: %w", datacite.ErrTooLarge, d.err)
	case d.err == errRead:
		f.Code = datacite.CodeUsed
	}
	return datacite.Invalid(f)
}
