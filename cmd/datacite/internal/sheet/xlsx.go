package sheet

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Limits of .xlsx files. Those of rows and columns are the format's own.
const (
	maxInMemory  = 64 << 20 // a file that cannot be read at an offset
	maxDirectory = 1 << 20  // what lists the parts of a file, 20,000 or more
	maxPart      = 1 << 30  // a part, unpacked
	anyRatio     = 10 << 20 // a part, unpacked, whatever the size of the file
	maxRatio     = 100      // a larger part, for each byte of the file
	maxToken     = 1 << 20  // a tag or a text of XML
	maxDepth     = 32       // of elements
	maxTexts     = 64 << 20 // bytes of all shared texts
	maxShared    = 4 << 20  // shared texts
	maxStyles    = 1 << 16
	maxSheets    = 1000
	maxRows      = 1 << 20
	maxColumns   = 1 << 14
)

// broken is an error that matches [ErrSpreadsheet], and never [io.EOF], which is the end of a
// whole table.
func broken(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrSpreadsheet, err)
}

// seekable returns a file to read at offsets. buffer holds the start of what src gave.
func seekable(src io.Reader, buffer *bufio.Reader) (io.ReaderAt, int64, error) {
	if file, ok := src.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		now, err := file.Seek(0, io.SeekCurrent)
		if err == nil { // a pipe is a file that cannot seek
			end, err := file.Seek(0, io.SeekEnd)
			start := now - int64(buffer.Buffered())
			return io.NewSectionReader(file, start, end-start), end - start, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(buffer, maxInMemory+1))
	switch {
	case err != nil:
		return nil, 0, err
	case len(data) > maxInMemory:
		return nil, 0, broken("it is longer than 64 MiB and does not come from a file on disk")
	}
	return strings.NewReader(string(data)), int64(len(data)), nil
}

// A workbook reads the rows of one sheet of an .xlsx file: ECMA-376, part 1, chapter 18.
type workbook struct {
	size   int64 // of the file
	parts  map[string]*zip.File
	sheets []string // that which is read first
	target string   // part of that sheet
	shared shared
	styles []look
	epoch  epoch

	xml     *part
	inData  bool // among the rows
	hadData bool
	row     int            // number of the row, from 1
	width   int            // cells of the first row
	numbers map[int]string // behind the dates of the row, by cell
}

// openBook reads the whole file once.
func openBook(at io.ReaderAt, size int64) (*workbook, error) {
	b := &workbook{size: size}
	directory := &budget{ReaderAt: at, left: maxDirectory}
	archive, err := zip.NewReader(directory, size)
	if err != nil {
		return nil, broken("%w", err)
	}
	directory.left = -1
	b.parts = make(map[string]*zip.File, len(archive.File))
	for _, file := range archive.File {
		if b.parts[file.Name] != nil {
			return nil, broken("it has two parts %q", file.Name)
		}
		b.parts[file.Name] = file
	}
	if err := cmp.Or(b.readBook(), b.begin()); err != nil {
		return nil, err
	}
	for err == nil {
		_, err = b.next()
	}
	if err != io.EOF {
		return nil, err
	}
	return b, b.begin()
}

// A budget bounds what is read while left is not negative: the directory of an archive is
// held in memory.
type budget struct {
	io.ReaderAt
	left int64
}

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, errors.New("the list of its parts is too long")
		}
	}
	return b.ReaderAt.ReadAt(p, off)
}

// readBook finds the sheet, and reads what its cells refer to.
func (b *workbook) readBook() error {
	const root = "_rels/.rels"
	var main string
	if b.parts[root] != nil {
		links, err := b.links("", root)
		if err != nil {
			return err
		}
		main = target(links, "/officeDocument")
	}
	if main == "" { // such as an .ods
		return broken("it is not an .xlsx file; save it as .xlsx, or as \"CSV UTF-8\"")
	}
	links, err := b.links(main, path.Join(path.Dir(main), "_rels", path.Base(main)+".rels"))
	if err != nil {
		return err
	}
	return cmp.Or(b.readSheets(main, links), b.readShared(target(links, "/sharedStrings")),
		b.readStyles(target(links, "/styles")))
}

// A link is a relationship of a part to another one.
type link struct{ id, kind, target string }

// target is that of the first link of a kind, "" if there is none.
func target(links []link, kind string) string {
	i := slices.IndexFunc(links, func(l link) bool { return strings.HasSuffix(l.kind, kind) })
	if i < 0 {
		return ""
	}
	return links[i].target
}

func (b *workbook) links(of, name string) (all []link, err error) {
	err = b.elements(name, func(e xml.StartElement) error {
		if e.Name.Local != "Relationship" || attribute(e, "TargetMode") == "External" || len(all) > maxSheets {
			return nil
		}
		to := attribute(e, "Target")
		if !strings.HasPrefix(to, "/") {
			to = path.Join("/", path.Dir(of), to)
		}
		all = append(all, link{attribute(e, "Id"), attribute(e, "Type"), strings.TrimPrefix(path.Clean(to), "/")})
		return nil
	})
	return all, err
}

// readSheets chooses the first sheet that is not hidden.
func (b *workbook) readSheets(main string, links []link) error {
	err := b.elements(main, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			b.epoch.since1904 = truth(attribute(e, "date1904"))
		case "sheet":
			if len(b.sheets) == maxSheets {
				return broken("it has more than %d sheets", maxSheets)
			}
			b.sheets = append(b.sheets, attribute(e, "name"))
			at := slices.IndexFunc(links, func(l link) bool {
				return l.id == relation(e) && strings.HasSuffix(l.kind, "/worksheet")
			})
			if at < 0 || b.target != "" || strings.HasSuffix(strings.ToLower(attribute(e, "state")), "hidden") {
				return nil
			}
			b.target = links[at].target
			last := len(b.sheets) - 1
			b.sheets[0], b.sheets[last] = b.sheets[last], b.sheets[0]
		}
		return nil
	})
	if err == nil && b.target == "" {
		err = broken("it has no sheet that is not hidden")
	}
	return err
}

// readShared reads the texts that cells refer to by number.
func (b *workbook) readShared(name string) error {
	if name == "" {
		return nil
	}
	p, err := b.open(name)
	if err != nil {
		return err
	}
	for {
		token, err := p.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.CharData:
			if !blank(e) {
				return broken("%s: the text %.20q is in no element for texts", name, e)
			}
		case xml.StartElement:
			text := ""
			switch {
			case p.depth == 1:
				continue
			case e.Name.Local == "si":
				text, err = p.richText()
			case e.Name.Local == "extLst":
				if err = p.skip(); err == nil {
					continue
				}
			default: // the numbers of the texts after it would be wrong
				err = broken("%s: an element %.20q is among the texts", name, e.Name.Local)
			}
			if err != nil {
				return err
			}
			if !b.shared.add(text) {
				return broken("it has more than 64 MiB of texts; save it as \"CSV UTF-8\"")
			}
		}
	}
}

// shared are texts by number, without a string each.
type shared struct {
	texts []byte
	ends  []uint32
}

func (s *shared) add(text string) bool {
	s.texts = append(s.texts, text...)
	s.ends = append(s.ends, uint32(len(s.texts)))
	return len(s.texts) <= maxTexts && len(s.ends) <= maxShared
}

func (s *shared) get(number string) (string, error) {
	i, err := strconv.ParseUint(number, 10, 32)
	if err != nil || int(i) >= len(s.ends) {
		return "", fmt.Errorf("there is no text of the number %.20q", number)
	}
	start := uint32(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	return string(s.texts[start:s.ends[i]]), nil
}

// readStyles reads which styles show numbers as dates.
func (b *workbook) readStyles(name string) error {
	if name == "" {
		return nil
	}
	own, inCells := map[string]look{}, false
	return b.elements(name, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			own[attribute(e, "numFmtId")] = lookOf(attribute(e, "formatCode"))
		case "cellXfs", "cellStyleXfs", "cellStyles", "dxfs":
			inCells = e.Name.Local == "cellXfs"
		case "xf":
			if !inCells {
				break
			}
			id := attribute(e, "numFmtId")
			l, ok := own[id]
			if !ok {
				l = builtIn[id]
			}
			b.styles = append(b.styles, l)
		}
		if len(b.styles)+len(own) > maxStyles {
			return broken("it has more than %d styles", maxStyles)
		}
		return nil
	})
}

// begin begins to read the sheet.
func (b *workbook) begin() (err error) {
	b.row, b.inData, b.hadData = 0, false, false
	b.xml, err = b.open(b.target)
	return err
}

func (b *workbook) line(int) int { return b.row }

func (b *workbook) read() ([]string, error) {
	for {
		cells, err := b.next()
		if err != nil {
			return nil, err
		}
		cells = cells[:1+lastText(cells)]
		if len(cells) == 0 {
			continue
		}
		b.width = cmp.Or(b.width, len(cells))
		if len(cells) > b.width {
			return cells, csv.ErrFieldCount
		}
		return append(cells, make([]string, b.width-len(cells))...), nil
	}
}

// lastText is the index of the last cell that is not empty, or -1.
func lastText(cells []string) int {
	for i, cell := range slices.Backward(cells) {
		if strings.TrimSpace(cell) != "" {
			return i
		}
	}
	return -1
}

// next reads the next row that is in the file. What it does not know among rows and cells is
// an error: a row in a damaged tag would be missing otherwise.
func (b *workbook) next() ([]string, error) {
	for {
		token, err := b.xml.next()
		switch {
		case err == io.EOF && !b.hadData:
			return nil, b.broken("the element with its rows is missing")
		case err != nil:
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch {
			case b.inData && e.Name.Local == "row":
				return b.readRow(e)
			case b.inData:
				return nil, b.broken("it has an element %.20q among the rows", e.Name.Local)
			case e.Name.Local == "sheetData" && b.hadData:
				return nil, b.broken("it has two elements sheetData")
			case e.Name.Local == "sheetData":
				b.inData, b.hadData = true, true
			case e.Name.Local == "mergeCell":
				return nil, b.broken("the cells %.20s are one: divide them, so that each row has its own", attribute(e, "ref"))
			}
		case xml.EndElement:
			b.inData = b.inData && e.Name.Local != "sheetData"
		case xml.CharData:
			if b.inData && !blank(e) {
				return nil, b.broken("it has the text %.20q among the rows", e)
			}
		}
	}
}

// broken is an error of the sheet.
func (b *workbook) broken(format string, args ...any) error {
	return broken("sheet %q: %w", b.sheets[0], fmt.Errorf(format, args...))
}

// readRow reads the cells of a row.
func (b *workbook) readRow(e xml.StartElement) ([]string, error) {
	number, err := strconv.Atoi(cmp.Or(attribute(e, "r"), strconv.Itoa(b.row+1)))
	if err != nil || number <= b.row || number > maxRows {
		return nil, b.broken("the row %.20q follows row %d", attribute(e, "r"), b.row)
	}
	b.row, b.numbers = number, nil
	var cells []string
	size := 0
	for {
		token, err := b.xml.next()
		if err != nil {
			return nil, b.inRow(err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			return cells, nil
		case xml.CharData:
			if !blank(e) {
				return nil, b.broken("row %d has the text %.20q among the cells", b.row, e)
			}
		case xml.StartElement:
			if e.Name.Local != "c" {
				return nil, b.broken("row %d has an element %.20q among the cells", b.row, e.Name.Local)
			}
			at, ok := columnOf(attribute(e, "r"), b.row, len(cells))
			if !ok {
				return nil, b.broken("row %d: the cell %.20q is not in its place", b.row, attribute(e, "r"))
			}
			cells = append(cells, make([]string, at-len(cells))...)
			text, err := b.readCell(e, at)
			if err != nil {
				return nil, b.inRow(fmt.Errorf("cell %s: %w", nameOf(at, b.row), err))
			}
			if size += len(text); size > MaxSize {
				return nil, fmt.Errorf("row %d: %w", b.row, ErrTooLong)
			}
			cells = append(cells, text)
		}
	}
}

// inRow is an error of the file, with the sheet.
func (b *workbook) inRow(err error) error {
	if errors.Is(err, ErrSpreadsheet) {
		return err
	}
	return b.broken("%w", err)
}
