package sheet_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
)

var (
	damages  = flag.Int("damages", 100, "how many damaged files the tests of them read")
	unpacked = flag.Int("unpacked", 1, "MiB of the parts of TestSmallFilesOfMuch")
)

// parts are those of an .xlsx file as Excel writes it.
func parts(rows string) map[string]string {
	const ns = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	return map[string]string{
		"[Content_Types].xml": `<Types/>`,
		"_rels/.rels": `<Relationships><Relationship Id="a" Type="` + office +
			`/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Type="` + office +
			`/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" Type="` + office + `/worksheet" Target="/xl/worksheets/sheet2.xml"/>` +
			`<Relationship Id="r3" Type="` + office + `/styles" Target="styles.xml"/><Relationship Id="r4" Type="` + office +
			`/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/workbook.xml": `<workbook` + ns + ` xmlns:r="` + office +
			`"><workbookPr/><sheets><sheet name="Lists" sheetId="7" state="hidden" r:id="r2"/><sheet name="Items" sheetId="1" ` +
			`r:id="r1"/></sheets></workbook>`,
		"xl/styles.xml": `<styleSheet` + ns + `><numFmts><numFmt numFmtId="164" formatCode="yyyy"/><numFmt numFmtId="165" ` +
			`formatCode="&quot;day &quot;0.00"/><numFmt numFmtId="166" formatCode="[$-409]mmm\-yy;@"/></numFmts>` +
			`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf ` +
			`numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="20"/><xf numFmtId="46"/><xf ` +
			`numFmtId="9"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml": `<sst` + ns +
			`><si><t>doi</t></si><si><t xml:space="preserve"> two  ` +
			`blanks</t></si><si><r><rPr><b/></rPr><t>Glacier</t></r><r><t>s</t></r><rPh sb="0" eb="1"><t>not ` +
			`read</t></rPh></si><si/><si><t>a_x000D_b_x005F_x0041_</t></si></sst>`,
		"xl/worksheets/sheet1.xml": `<worksheet` + ns + `><dimension ref="A1"/><sheetData>` + rows +
			`</sheetData></worksheet>`,
		"xl/worksheets/sheet2.xml": `<worksheet` + ns +
			`><sheetData><row><c t="inlineStr"><is><t>not read</t></is></c></row></sheetData></worksheet>`,
	}
}

func archive(t testing.TB, parts map[string]string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{
		"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml",
		"xl/sharedStrings.xml", "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml",
	} {
		if text, ok := parts[name]; ok {
			part, err := w.Create(name)
			require.NoError(t, err)
			_, err = io.WriteString(part, text)
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func readBook(t testing.TB, rows string) ([][]string, error) {
	all, err := readAll(sheet.NewReader("t", bytes.NewReader(archive(t, parts(rows)))))
	if err == io.EOF {
		err = nil
	}
	return all, err
}

// A cell gives its value, whatever it looks like.
func TestEachKindOfCellGivesItsValue(t *testing.T) {
	for cell, want := range map[string]string{
		`<c r="A1" t="s"><v>1</v></c>`:                                         " two  blanks",
		`<c r="A1" t="s"><v>2</v></c>`:                                         "Glaciers",
		`<c r="A1" t="s"><v>4</v></c>`:                                         "a\rb_x0041_",
		`<c t="inlineStr"><is><t>a &amp; b</t></is></c>`:                       "a & b",
		`<c r="A1" t="str"><f>A2&amp;A3</f><v>joined</v></c>`:                  "joined",
		`<c r="A1" t="b"><v>1</v></c>`:                                         "TRUE",
		`<c r="A1"><v>2026</v></c>`:                                            "2026",
		`<c r="A1" t="n"><v>2026.0</v></c>`:                                    "2026",
		`<c r="A1"><v>0.30000000000000004</v></c>`:                             "0.3",
		`<c r="A1"><v>1E+20</v></c>`:                                           "1e+20",
		`<c r="A1" s="7"><v>0.5</v></c>`:                                       "0.5",
		`<c r="A1" s="3"><v>5</v></c>`:                                         "5",
		`<c r="A1" s="1"><v>46053</v></c>`:                                     "2026-01-31",
		`<c r="A1" s="4"><v>45047</v></c>`:                                     "2023-05-01", // looks like May-23
		`<c r="A1" s="2"><v>2026</v></c>`:                                      "1905-07-18", // looks like 1905
		`<c r="A1" s="1"><v>46053.5208333333</v></c>`:                          "2026-01-31T12:30:00",
		`<c r="A1" s="1"><v>1</v></c>`:                                         "1900-01-01",
		`<c r="A1" s="1"><v>60</v></c>`:                                        "60", // 29 February 1900 never was
		`<c r="A1" s="1"><v>61</v></c>`:                                        "1900-03-01",
		`<c r="A1" s="1"><v>-1</v></c>`:                                        "-1",
		`<c r="A1" s="5"><v>0.5</v></c>`:                                       "12:00:00",
		`<c r="A1" s="6"><v>1.5</v></c>`:                                       "1.5", // hours, not a time of day
		`<c r="A1" t="d"><v>2026-01-31</v></c>`:                                "2026-01-31",
		`<c r="A1"><f>TODAY()</f><v>7</v><extLst><ext><x/></ext></extLst></c>`: "7",
	} {
		rows, err := readBook(t, `<row r="1">`+cell+`</row>`)
		require.NoError(t, err, cell)
		assert.Equal(t, [][]string{{want}}, rows, cell)
	}
	book := parts(`<row r="1"><c r="A1" s="1"><v>0</v></c></row>`)
	book["xl/workbook.xml"] = strings.Replace(book["xl/workbook.xml"], "<workbookPr/>", `<workbookPr date1904="1"/>`, 1)
	rows, err := readAll(sheet.NewReader("t", bytes.NewReader(archive(t, book))))
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, [][]string{{"1904-01-01"}}, rows)
}

// Rows have the numbers that people see, and gaps among the cells are empty cells.
func TestRowsOfASpreadsheet(t *testing.T) {
	file := archive(t, parts(`<row r="2" spans="1:3"><c r="A2" t="s"><v>0</v></c><c r="C2" t="str"><v>year</v></c><c r="D2" t="str"><v> </v></c></row><row r="3"/>
		<row r="5"><c r="C5" s="2"><v>2026</v></c></row><row><c t="str"><v>x</v></c><c/><c/><c t="str"><v>too many</v></c></row>`))
	name := filepath.Join(t.TempDir(), "items.xlsx")
	require.NoError(t, os.WriteFile(name, file, 0o600))
	onDisk, err := os.Open(name)
	require.NoError(t, err)
	defer onDisk.Close()
	for _, src := range []io.Reader{onDisk, bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file))} {
		r := sheet.NewReader("t", src)
		names, err := r.Names()
		require.NoError(t, err)
		assert.Equal(t, []string{"doi", "", "year"}, names)
		assert.Equal(t, []string{"Items", "Lists"}, r.Sheets())
		assert.Zero(t, r.Layout())
		cells, err := r.Read()
		require.NoError(t, err)
		assert.Equal(t, []string{"", "", "1905-07-18"}, cells)
		assert.Equal(t, 5, r.Line(2))
		assert.Equal(t, "2026", r.Number(2))
		cells, err = r.Read()
		require.ErrorIs(t, err, csv.ErrFieldCount)
		assert.Equal(t, []string{"x", "", "", "too many"}, cells)
		assert.Equal(t, 6, r.Line(0))
		_, err = r.Read()
		require.ErrorIs(t, err, io.EOF)
	}
}

// What cannot be read for certain is an error that says where and why, before there is a row.
func TestWhatASpreadsheetCannotSay(t *testing.T) {
	good := `<row r="1"><c r="A1" t="str"><v>doi</v></c></row>`
	for rows, says := range map[string]string{
		good + `<row r="2"><c r="A2" t="str"><v>x</v></c></rwo>`: `xl/worksheets/sheet1.xml: ` +
			`XML syntax error`,
		good + `<rwo r="2"><c r="A2" t="str"><v>x</v></c></rwo>`: `sheet "Items": it has an ` +
			`element "rwo" among the rows`,
		good + `<row r="2"><d r="A2" t="str"><v>x</v></d></row>`: `row 2 has an element "d" ` +
			`among the cells`,
		good + `<row r="2">c r="A2"</row>`: `row 2 has the text`,
		good + `row`: `it has the text "row" among ` +
			`the rows`,
		good + `<row r="2"><c r="A2"><w>1</w></c></row>`: `cell A2: it has an element ` +
			`"w"`,
		good + `<row r="2"><c r="A2">1</c></row>`: `cell A2: it has the text ` +
			`"1" outside its value`,
		good + `<row r="2"><c r="A3"><v>1</v></c></row>`: `the cell "A3" is not in its ` +
			`place`,
		good + `<row r="2"><c r="B2"/><c r="A2"/></row>`: `the cell "A2" is not in its ` +
			`place`,
		good + `<row r="1"/>`: `the row "1" follows row 1`,
		good + `<row r="1048577"/>`: `the row "1048577" follows ` +
			`row 1`,
		good + `<row r="2"><c r="XFE2"/></row>`: `the cell "XFE2" is not in ` +
			`its place`,
		good + `<row r="2"><c r="A2" t="s"><v>5</v></c></row>`: `cell A2: there is no text ` +
			`of the number "5"`,
		good + `<row r="2"><c r="A2" t="s"/></row>`: `cell A2: there is no text ` +
			`of the number ""`,
		good + `<row r="2"><c r="B2" t="e"><v>#REF!</v></c></row>`: `cell B2: it has the error ` +
			`#REF!`,
		good + `<row r="2"><c r="B2" t="x"><v>1</v></c></row>`: `cell B2: its type is "x"`,
		good + `<row r="2"><c r="B2"><v>1x</v></c></row>`: `cell B2: its value "1x" is ` +
			`not a number`,
		good + `<row r="2"><c r="B2" s="8"><v>1</v></c></row>`: `cell B2: there is no style ` +
			`"8"`,
		good + `<row r="2"><c r="B2"><f>A1</f></c></row>`: `cell B2: its formula has no ` +
			`result; open the file in a spreadsheet program, and save it again`,
		good + `</sheetData><mergeCells><mergeCell ref="A2:A4"/></mergeCells><sheetData>`: `the cells A2:A4 are one`,
		good + `</sheetData><sheetData>`: `it has two elements sheetData`,
		`<row r="1"><c r="A1" t="str"><v>` + strings.Repeat("x",
			300_000) + `</v></c></row>`: `the row is longer than 256 KiB`,
		strings.Repeat(`<row>`, 40): `row 1 has an element "row" among the cells`,
	} {
		all, err := readBook(t, rows)
		assert.ErrorContains(t, err, says, rows[:min(len(rows), 200)])
		assert.Empty(t, all, "the whole table or nothing")
	}
	for name, change := range map[string][2]string{
		"is missing":                          {"xl/worksheets/sheet1.xml", ""},
		"sheetData":                           {"xl/worksheets/sheet1.xml", "<worksheet/>"},
		"no sheet that is not hidden":         {"xl/workbook.xml", `<workbook><sheets/></workbook>`},
		"it is not an .xlsx file":             {"_rels/.rels", `<Relationships/>`},
		`save it as .xlsx, or as "CSV UTF-8"`: {"_rels/.rels", ""}, // such as an .ods
		"among the texts":                     {"xl/sharedStrings.xml", `<sst><si/><sii/></sst>`},
		"is in a text":                        {"xl/sharedStrings.xml", `<sst><si><u>x</u></si></sst>`},
		"two root elements":                   {"xl/styles.xml", `<a/><b/>`},
		"has a document type declaration":     {"xl/styles.xml", `<!DOCTYPE a><a/>`},
		"unexpected EOF":                      {"xl/styles.xml", ``},
	} {
		book := parts(good)
		if book[change[0]] = change[1]; name == "is missing" || strings.HasPrefix(name, "save it") {
			delete(book, change[0])
		}
		_, err := readAll(sheet.NewReader("t", bytes.NewReader(archive(t, book))))
		if name == "sheetData" {
			name = "the element with its rows is missing"
		}
		require.ErrorIs(t, err, sheet.ErrSpreadsheet)
		assert.ErrorContains(t, err, name)
	}
}

// randomRows are rows of texts of all kinds.
func randomRows(random *rand.Rand) (rows [][]string) {
	signs := []string{"a", "é", "🧊", "<", "&", ">", "\"", "\n", "\r", "\t", " ", "_x0041_", "_x", "0041_", "=1+1", "\x01",
		"\uffff", "]]>", "May-23", "007"}
	for range 1 + random.IntN(20) {
		row := make([]string, 5)
		for i := range row {
			for range random.IntN(6) {
				row[i] += signs[random.IntN(len(signs))]
			}
		}
		row[4] += "."
		rows = append(rows, row)
	}
	return rows
}

func written(t testing.TB, rows [][]string) []byte {
	var out bytes.Buffer
	w, err := sheet.NewWriter(&out)
	require.NoError(t, err)
	for _, row := range rows {
		require.NoError(t, w.Write(row))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Every text survives in an .xlsx file as it is.
func TestWhatIsWrittenIsRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rows := randomRows(random)
		got, err := readAll(sheet.NewReader("t", bytes.NewReader(written(t, rows))))
		require.ErrorIs(t, err, io.EOF)
		assert.Equal(t, rows, got)
	}
	w, err := sheet.NewWriter(io.Discard)
	require.NoError(t, err)
	require.ErrorContains(t, w.Write([]string{"", strings.Repeat("x", 32_768)}),
		"cell B1: a cell of an .xlsx file has at most 32767 characters")
	require.ErrorContains(t, w.Write([]string{"\xff"}), "cell A2: the text is not UTF-8")
}

// Of a damaged file all rows are read, or none.
func TestDamagedFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	refused := 0
	for i := range *damages {
		rows := randomRows(random)
		file := written(t, rows)
		if i%2 == 0 { // as Excel writes it
			rows = [][]string{{"doi", " two  blanks"}, {"2026-01-31", ""}}
			file = archive(t, parts(`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c `+
				`r="A2" s="1"><v>46053</v></c></row>`))
		}
		from := random.IntN(len(file))
		to := min(from+1+random.IntN(40), len(file))
		switch random.IntN(5) {
		case 0:
			file = file[:from]
		case 1:
			file[from] ^= 1 << random.IntN(8)
		case 2:
			clear(file[from:to])
		case 3:
			file = append(file[:from], file[to:]...)
		case 4:
			file = append(bytes.Clone(file[:to]), file[from:]...)
		}
		got, err := readAll(sheet.NewReader("t", bytes.NewReader(file)))
		if err != io.EOF {
			refused++
			assert.Empty(t, got, err)
		} else if bytes.HasPrefix(file, []byte("PK\x03\x04")) { // or it is read as CSV
			assert.Equal(t, rows, got)
		}
	}
	assert.Greater(t, refused, *damages/2)
}

// A cut or misspelt tag inside an archive that is whole makes no table shorter.
func TestDamagedSheets(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var rows strings.Builder
	for i := 1; i <= 10; i++ {
		fmt.Fprintf(&rows, `<row r="%d"><c r="A%[1]d" t="s"><v>1</v></c><c r="B%[1]d"><v>%[1]d</v></c></row>`, i)
	}
	for range *damages {
		book := parts(rows.String())
		name := []string{"xl/worksheets/sheet1.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml",
			"xl/workbook.xml"}[random.IntN(4)]
		text := book[name]
		start := strings.Index(text, "<") + 1
		from := start + random.IntN(len(text)-start)
		switch random.IntN(2) {
		case 0:
			text = text[:from]
		case 1: // a tag with another name, at its start and its end
			tag := []string{"row", "c", "v", "sheetData", "si", "sst", "worksheet"}[random.IntN(7)]
			text = strings.NewReplacer("<"+tag+" ", "<x"+tag+" ", "<"+tag+">", "<x"+tag+">", "</"+tag+">",
				"</x"+tag+">").Replace(text)
		}
		whole := text == book[name] || name == "xl/worksheets/sheet1.xml" && strings.Contains(text, "<xworksheet")
		book[name] = text
		got, err := readAll(sheet.NewReader("t", bytes.NewReader(archive(t, book))))
		if err == io.EOF {
			require.Len(t, got, 10, "%s: %s", name, text)
			continue
		}
		assert.False(t, whole, err)
		assert.Empty(t, got)
	}
}

// A small file that unpacks to much takes little memory, whatever is much in it.
func TestSmallFilesOfMuch(t *testing.T) {
	size := *unpacked << 20
	for name, tt := range map[string]struct{ part, start, again, end string }{
		"a text":       {"xl/sharedStrings.xml", "<sst><si><t>", "x", "</t></si></sst>"},
		"texts":        {"xl/sharedStrings.xml", "<sst>", "<si/>", "</sst>"},
		"runs":         {"xl/sharedStrings.xml", "<sst><si>", "<r><t>xxxxxxxx</t></r>", "</si></sst>"},
		"elements":     {"xl/styles.xml", "", "<x>", ""},
		"attributes":   {"xl/styles.xml", "<x ", "a='' ", "/>"},
		"formats":      {"xl/styles.xml", "<x><cellXfs>", "<xf/>", "</cellXfs></x>"},
		"sheets":       {"xl/workbook.xml", "<x>", "<sheet/>", "</x>"},
		"relations":    {"_rels/.rels", "<x>", `<Relationship Type="x/y"/>`, "</x>"},
		"cells":        {"xl/worksheets/sheet1.xml", "<x><sheetData><row>", "<c/>", "</row></sheetData></x>"},
		"empty rows":   {"xl/worksheets/sheet1.xml", "<x><sheetData>", "<row/>", "</sheetData></x>"},
		"a formula":    {"xl/worksheets/sheet1.xml", "<x><sheetData><row><c><f>", "x", "</f></c></row></sheetData></x>"},
		"a blank text": {"xl/worksheets/sheet1.xml", "<x><sheetData>", " ", "</sheetData></x>"},
	} {
		t.Run(name, func(t *testing.T) {
			book := parts("")
			book[tt.part] = tt.start + strings.Repeat(tt.again, size/len(tt.again)) + tt.end
			file := archive(t, book)
			book = nil
			runtime.GC()
			most := peak(func() {
				rows, err := readAll(sheet.NewReader("t", bytes.NewReader(file)))
				assert.Empty(t, rows)
				assert.Error(t, err)
			})
			assert.Less(t, most, uint64(200<<20), "%d bytes", len(file))
		})
	}
}

// Time is bounded by the size of the file, too.
func TestAFileOfNearlyNothingIsNotUnpacked(t *testing.T) {
	for size, says := range map[int]string{9 << 20: "", 12 << 20: "it unpacks to more than 100 times its size"} {
		book := parts(`<row><c><v>1</v></c></row>`)
		book["xl/worksheets/sheet1.xml"] += strings.Repeat("<!--x-->", size/8)
		rows, err := readAll(sheet.NewReader("t", bytes.NewReader(archive(t, book))))
		if says == "" {
			require.ErrorIs(t, err, io.EOF)
			continue
		}
		require.ErrorIs(t, err, sheet.ErrSpreadsheet)
		assert.ErrorContains(t, err, says)
		assert.Empty(t, rows)
	}
}

// peak is the most memory that a function holds at one time. It has one processor: on a busy machine
// the system could otherwise stop the garbage collector and not the function.
func peak(f func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	before, most, end := held(), uint64(0), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			most = max(most, held())
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(end)
	<-done
	return most - min(before, most)
}

// FuzzSpreadsheet: a sheet and its texts are read without a panic, in bounded memory, and
// what is read survives in another file.
func FuzzSpreadsheet(f *testing.F) {
	f.Add(`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" s="1"><v>46053</v></c></row>`, `<si><t>a</t></si>`, `yyyy`)
	f.Add(`<row><c t="inlineStr"><is><r><t>a</t></r></is></c><c t="b"><v>1</v></c></row></sheetData><sheetData>`,
		`<si/><si>`, `[h]:mm;@`)
	f.Fuzz(func(t *testing.T, rows, texts, format string) {
		book := parts(rows)
		book["xl/sharedStrings.xml"] = "<sst>" + texts + "</sst>"
		book["xl/styles.xml"] = strings.Replace(book["xl/styles.xml"], "yyyy",
			strings.NewReplacer("<", "&lt;", "&", "&amp;", `"`, "&quot;").Replace(format), 1)
		got, err := readAll(sheet.NewReader("t", bytes.NewReader(archive(t, book))))
		if err != io.EOF {
			return
		}
		again, err := readAll(sheet.NewReader("t", bytes.NewReader(written(t, got))))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, got, again)
	})
}

// FuzzXLSX: whatever the bytes of a file are, reading ends, with all rows or none.
func FuzzXLSX(f *testing.F) {
	f.Add(archive(f, parts(`<row r="1"><c r="A1" t="s"><v>0</v></c></row>`)))
	f.Add(written(f, [][]string{{"doi", "url"}, {"10.5072/a", ""}}))
	f.Fuzz(func(t *testing.T, file []byte) {
		if !bytes.HasPrefix(file, []byte("PK\x03\x04")) {
			return
		}
		got, err := readAll(sheet.NewReader("t", bytes.NewReader(file)))
		if err != io.EOF && !errors.Is(err, csv.ErrFieldCount) {
			require.ErrorIs(t, err, sheet.ErrSpreadsheet)
			require.Empty(t, got)
		}
	})
}
