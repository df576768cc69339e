package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

const (
	windowSize = 64 << 10
	startSize  = 4 << 10 // how much of a file decides about its format
	// Nested packings. A data file of the operator has four: gzip, TAR, gzip and the text
	// itself.
	maxLayers = 8
)

// read reads a file that is inside a number of layers of packing.
func (s *splitter) read(member string, src io.Reader, layers int) error {
	at := place{member: member}
	switch layers {
	case 0:
		s.watch = &input.Watch{}
		src = s.watch.Reader(src)
	case maxLayers:
		return s.damaged(at, fmt.Errorf("%w: more than %d nested packings", jsonlex.ErrTooLarge, maxLayers))
	}
	in := s.layer(layers).open(src)
	start, err := in.Peek(startSize)
	if mark := []byte("\ufeff"); bytes.HasPrefix(start, mark) {
		start = start[len(mark):]
		at.offset += int64(len(mark))
		_, _ = in.Discard(len(mark)) // cannot fail: the mark is buffered
	}
	text := bytes.TrimLeft(start, " \t\r\n")
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		return s.gzip(member, in, layers)
	case isTAR(start):
		return s.tar(member, in, layers)
	case err != nil && err != io.EOF && !isJSON(text):
		return s.damaged(at, err)
	case len(text) == 0 && err == io.EOF:
		return s.empty(at, src)
	case mayHoldOther(member) && (!isJSON(text) || holdsNoRecord(text)):
		return nil
	case !isJSON(text):
		const shown = 20
		return s.damaged(at, fmt.Errorf("neither JSON nor gzip nor TAR: it begins with %q", text[:min(len(text), shown)]))
	}
	s.files++
	if isDocument(text) {
		return s.documents(at, in)
	}
	return s.lines(at, in)
}

// layer returns the memory for the packing inside a number of others.
func (s *splitter) layer(layers int) *layer {
	if layers == len(s.layers) {
		s.layers = append(s.layers, &layer{})
	}
	return s.layers[layers]
}

func (l *layer) open(src io.Reader) *bufio.Reader {
	if l.window == nil {
		l.window = bufio.NewReaderSize(nil, windowSize)
	}
	l.window.Reset(&source{Reader: src})
	return l.window
}

// gzip reads a gzip stream ahead.
func (s *splitter) gzip(member string, src io.Reader, layers int) (err error) {
	l := s.layer(layers)
	if l.inflater == nil {
		l.inflater, err = gzipbody.NewReader(src, true)
	} else {
		err = l.inflater.Reset(src)
	}
	if err != nil {
		return s.damaged(place{member: member}, err)
	}
	l.inflater.Start()
	defer l.inflater.Stop()
	return s.read(member, l.inflater, layers+1)
}

// isTAR recognises the first header of a TAR.
func isTAR(start []byte) bool {
	const magic = 257
	return bytes.HasPrefix(start[min(len(start), magic):], []byte("ustar"))
}

// A source counts the bytes read. After an error it returns that error only.
type source struct {
	io.Reader
	read int64
	err  error
}

func (s *source) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.Reader.Read(p)
		s.read += int64(n)
	}
	return n, s.err
}

func (s *splitter) tar(outer string, src io.Reader, layers int) error {
	counted := &source{Reader: src}
	members := tar.NewReader(counted)
	member, files := outer, s.files
	for {
		before, faults := counted.read, s.faults
		header, err := members.Next()
		switch {
		case err == io.EOF:
			return s.tarEnd(place{member: outer, offset: counted.read}, counted, counted.read-before, s.files-files)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // harmless: no file is written
			return s.damaged(place{member: outer, offset: counted.read}, unreadableAfter(member, err))
		}
		member = path.Join(outer, header.Name)
		if header.Typeflag == tar.TypeReg && s.chosen(member) {
			if err := s.read(member, members, layers+1); err != nil {
				return err
			}
		}
		if s.faults > faults && counted.err != nil {
			return nil // already reported
		}
		if _, err := io.Copy(io.Discard, members); err != nil {
			return s.damaged(place{member: outer, offset: counted.read}, unreadableAfter(member, err))
		}
	}
}

func unreadableAfter(member string, err error) error {
	if member == "" {
		return fmt.Errorf("the TAR cannot be read: %w", err)
	}
	return fmt.Errorf("the TAR cannot be read after %s: %w", member, err)
}

var errMore = errors.New("data follows the end of the TAR")

// tarEnd makes sure that the TAR is whole: two empty blocks end it. read is the number of
// bytes read since the last file.
func (s *splitter) tarEnd(at place, src *source, read int64, files int) error {
	const mark = 1024
	if read < mark {
		return s.damaged(at, fmt.Errorf("the TAR has no end: %w", io.ErrUnexpectedEOF))
	}
	for rest := make([]byte, mark); ; {
		n, err := src.Read(rest)
		switch {
		case len(bytes.Trim(rest[:n], "\x00")) > 0:
			return s.damaged(at, errMore)
		case err == io.EOF:
			return s.some(at, files)
		case err != nil:
			return s.damaged(at, err)
		}
	}
}

var errNothing = errors.New("no file in it has records")

// some makes sure that there were files with records: a TAR or a folder without any is
// probably the wrong one.
func (s *splitter) some(at place, files int) error {
	if files == 0 && s.faults == 0 {
		return s.damaged(at, errNothing)
	}
	return nil
}

func (s *splitter) chosen(member string) bool { return s.opts.Members == nil || s.opts.Members(member) }

func (s *splitter) folder(folder fs.FS) {
	if err := fs.WalkDir(folder, ".", func(member string, entry fs.DirEntry, err error) error {
		if err == nil && (entry.IsDir() || !s.chosen(member)) {
			return nil
		}
		if err == nil {
			err = s.file(folder, member)
		}
		if err == nil || err == bulk.ErrLeft {
			return err
		}
		s.watch = &input.Watch{}
		return s.damaged(place{member: member}, s.watch.Note(err))
	}); err != nil {
		return // it was reported
	}
	_ = s.some(place{}, s.files) // nothing else is read
}

// file reads a file of a folder. It returns an error if it cannot open the file, or
// bulk.ErrLeft.
func (s *splitter) file(folder fs.FS, member string) error {
	info, err := fs.Stat(folder, member) // follows links
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	file, err := folder.Open(member)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // cannot lose anything: the file was only read
	return s.read(member, file, 0)
}

func isJSON(text []byte) bool { return len(text) > 0 && (text[0] == '{' || text[0] == '[') }

// empty reads a file that is empty or blank: JSON lines without a record.
func (s *splitter) empty(at place, src io.Reader) error {
	if mayHoldOther(at.member) {
		return nil
	}
	if _, inflated := src.(*gzipbody.Reader); strings.HasSuffix(at.member, ".gz") && !inflated {
		return s.damaged(at, errors.New("an empty file is not gzip"))
	}
	s.files++
	return nil
}

// mayHoldOther tells by the name of a file whether it may hold something other than
// records. The operator's notes about a data file are JSON, too.
func mayHoldOther(member string) bool {
	name := strings.TrimSuffix(strings.ToLower(path.Base(member)), ".gz")
	promised := slices.Contains([]string{".json", ".jsonl", ".ndjson", ".tar", ".tgz"}, path.Ext(name))
	return member != "" && (!promised || name == "status.json" || name == "manifest.json")
}

// holdsNoRecord recognises a short JSON object that is not a record.
func holdsNoRecord(text []byte) bool {
	l := jsonlex.OfBytes(text)
	if l.Kind() != '{' {
		return false
	}
	for name := range l.Members() {
		if slices.Contains([]string{"doi", "id", "identifiers", "prefix", "attributes", "data"}, string(name)) {
			return false
		}
		l.Skip()
	}
	return l.Err() == nil
}

// isDocument tells pages, lists, and records printed over several lines from JSON lines.
func isDocument(text []byte) bool {
	if text[0] == '[' {
		return true
	}
	line, _, several := bytes.Cut(text, []byte{'\n'})
	line = bytes.TrimRight(line, " \t\r")
	if several && bytes.IndexByte([]byte("{[,"), line[len(line)-1]) >= 0 {
		return true
	}
	for name := range jsonlex.OfBytes(text).Members() {
		return slices.Contains(pageNames, string(name))
	}
	return false
}
