package sheet

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
)

// A RowWriter writes the rows of a table in one format.
type RowWriter interface {
	Write(cells []string) error
	Close() error // after the last row
}

// Create returns a writer of an .xlsx, or else of CSV, with commas if the layout says nothing. CSV
// begins with a byte order mark, so that spreadsheet programs read it as UTF-8.
func Create(out io.Writer, spreadsheet bool, layout Layout) (RowWriter, error) {
	if spreadsheet {
		return NewWriter(out)
	}
	w := NewCSVWriter(out)
	w.Layout = layout
	w.Comma = cmp.Or(w.Comma, ',')
	_, err := io.WriteString(out, "\ufeff")
	return w, err
}

// A Writer writes an .xlsx file with one sheet, in which every cell is a text: a spreadsheet
// program makes no dates and no formulas of them.
type Writer struct {
	archive *zip.Writer
	sheet   *bufio.Writer
	row     int
}

// The parts of a file beside its sheet. Style 1 is that of texts.
var frame = [][2]string{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default ` +
		`Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="` + officeNS + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="` + mainNS + `" xmlns:r="` + officeNS +
		`"><sheets><sheet name="Items" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="` + officeNS +
		`/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="` + officeNS +
		`/styles" Target="styles.xml"/></Relationships>`},
	{"xl/styles.xml", `<styleSheet xmlns="` + mainNS +
		`"><fonts count="1"><font/></fonts><fills count="2"><fill><patternFill ` +
		`patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf ` +
		`numFmtId="49" applyNumberFormat="1"/></cellXfs></styleSheet>`},
}

const (
	mainNS   = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	officeNS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
)

// NewWriter returns a writer of an .xlsx file. Close ends the file.
func NewWriter(out io.Writer) (*Writer, error) {
	w := &Writer{archive: zip.NewWriter(out)}
	for _, part := range frame {
		to, err := w.archive.Create(part[0])
		if err == nil {
			_, err = io.WriteString(to, xml.Header+part[1])
		}
		if err != nil {
			return nil, err
		}
	}
	to, err := w.archive.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return nil, err
	}
	w.sheet = bufio.NewWriter(to)
	_, err = w.sheet.WriteString(xml.Header + `<worksheet xmlns="` + mainNS +
		`"><cols><col min="1" max="100" width="20" style="1"/></cols><sheetData>`)
	return w, err
}

// Write writes a row. The error says which text is too long for a cell.
func (w *Writer) Write(cells []string) error {
	const maxCell = 32_767 // UTF-16 units
	if w.row++; w.row > maxRows {
		return datacite.Invalid(datacite.Finding{Line: w.row, Code: datacite.CodeLimit,
			Reason: fmt.Sprintf("an .xlsx file has at most %d rows; write CSV", maxRows)})
	}
	fmt.Fprintf(w.sheet, `<row r="%d">`, w.row)
	for i, cell := range cells {
		fault := datacite.Finding{Line: w.row, Column: i + 1, Path: "cell " + nameOf(i, w.row)}
		switch {
		case cell == "":
			continue
		case len(cell) > maxCell && len(utf16.Encode([]rune(cell))) > maxCell:
			fault.Code, fault.Reason = datacite.CodeLimit, fmt.Sprintf(
				"a cell of an .xlsx file has at most %d characters; write CSV", maxCell)
			return datacite.Invalid(fault)
		case !utf8.ValidString(cell):
			fault.Code, fault.Reason = datacite.CodeEncoding, "the text is not UTF-8"
			return datacite.Invalid(fault)
		}
		fmt.Fprintf(w.sheet, `<c r="%s" s="1" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, nameOf(i, w.row),
			escaped(cell))
	}
	_, err := w.sheet.WriteString(`</row>`)
	return err
}

// Close ends the file. It does not close what the file is written to.
func (w *Writer) Close() error {
	_, err := w.sheet.WriteString(`</sheetData></worksheet>`)
	return errors.Join(err, w.sheet.Flush(), w.archive.Close())
}

// escaped is a text in XML. What XML or [unescaped] would change gets the form _x0000_.
func escaped(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case c == '_' && escapedChar().MatchString(text[i:min(i+escapedSize, len(text))]):
			b.WriteString("_x005F_")
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c < ' ' && c != '\n' && c != '\t', c == '\ufffe', c == '\uffff':
			fmt.Fprintf(&b, "_x%04X_", c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
