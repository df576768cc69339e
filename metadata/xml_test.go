package metadata_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

const minimal = `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">10.5072/x</identifier><creators><creator><creatorName>A</creatorName></creator></creators><titles><title>T</title></titles><publisher>P</publisher><publicationYear>2020</publicationYear><resourceType resourceTypeGeneral="Dataset">D</resourceType></resource>`

const notUTF8 = "; the service reads every document as UTF-8"

// malformed are documents no reader may take, with where they go wrong.
var malformed = []struct {
	name, xml    string
	line, column int
	reason       string
}{
	{"empty", "", 1, 1, "the document has no element"},
	{"text only", "hello", 1, 1, "text outside the root element"},
	{"document type", "<!DOCTYPE resource [\n<!ENTITY a \"b\">]>\n<resource/>", 1, 1, "a document type declaration is not allowed"},
	{"billion laughs", `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]><resource>&lol2;</resource>`, 1, 22, "a document type declaration is not allowed"},
	{"external entity", "\n<!DOCTYPE r SYSTEM \"file:///etc/passwd\"><resource/>", 2, 1, "a document type declaration is not allowed"},
	{"named entity", "<resource>\n  <version>&nbsp;</version></resource>", 2, 12, "the reference &nbsp; is not allowed"},
	{"lone ampersand", "<resource>A & B</resource>", 1, 13, `"&" must start a reference such as &amp;`},
	{"surrogate reference", "<resource>&#xD800;</resource>", 1, 11, "the reference &#xD800; is not allowed"},
	{"control reference", "<resource>&#1;</resource>", 1, 11, "the reference &#1; is not allowed"},
	{"control character", "<resource>\x01</resource>", 1, 11, "XML cannot contain the character U+0001"},
	{"not UTF-8", "<resource>Caf\xe9</resource>", 1, 14, "the byte 0xE9 is not UTF-8"},
	{"UTF-16 with a mark", "\xff\xfe<\x00r\x00", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-16, most significant byte first", "\xfe\xff\x00<\x00r", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-16 without a mark", "<\x00?\x00x\x00m\x00l\x00", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-16 the other way round", "\x00<\x00r\x00/\x00>", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-32 with a mark", "\xff\xfe\x00\x00<\x00\x00\x00", 1, 1, "the document is in UTF-32" + notUTF8},
	{"UTF-32 without a mark", "\x00\x00\x00<\x00\x00\x00r", 1, 1, "the document is in UTF-32" + notUTF8},
	{"UTF-16 in name only", `<?xml version="1.0" encoding="UTF-16"?><resource/>`, 1, 1, `the document declares the encoding "UTF-16"` + notUTF8},
	{"Latin-1", `<?xml version="1.0" encoding="ISO-8859-1"?><resource/>`, 1, 1, `the document declares the encoding "ISO-8859-1"` + notUTF8},
	{"Latin-1 with letters", "<?xml version=\"1.0\" encoding=\"windows-1252\"?><resource>\n\xe9</resource>", 1, 1, `the document declares the encoding "windows-1252"` + notUTF8},
	{"zeros", "\x00\x00<r/>", 1, 1, "XML cannot contain the character U+0000"},
	{"declaration without version", `<?xml encoding="UTF-8"?><resource/>`, 1, 1, "the XML declaration gives no version 1.x"},
	{"declaration with rubbish", `<?xml version="1.0" foo="bar"?><resource/>`, 1, 1, "the XML declaration is not written correctly"},
	{"declaration late", "\n<?xml version=\"1.0\"?><resource/>", 2, 1, "an XML declaration is allowed at the very start only"},
	{"two roots", "<resource/>\n<resource/>", 2, 1, "a second root element <resource>"},
	{"trailing text", "<resource/>\nend", 2, 1, "text outside the root element"},
	{"trailing CDATA", "<resource/><![CDATA[x]]>", 1, 12, "text outside the root element"},
	{"not closed", "<resource><version>", 1, 20, "the document ends inside <version>"},
	{"closed wrongly", "<resource><version></resource>", 1, 20, "</resource> instead of </version>"},
	{"closed twice", "<resource/></resource>", 1, 12, "</resource> closes nothing"},
	{"doubled attribute", `<resource a="1" a="2"/>`, 1, 17, "the attribute a occurs twice"},
	{"doubled in namespace", `<resource xmlns:a="urn:x" xmlns:b="urn:x" a:c="1" b:c="2"/>`, 1, 51, "the attribute c occurs twice"},
	{"prefix not declared", `<resource x:a="1"/>`, 1, 11, "the prefix x is not declared"},
	{"element prefix not declared", `<x:resource/>`, 1, 2, "the prefix x is not declared"},
	{"two colons", `<resource xmlns:a="urn:x" a:b:c="1"/>`, 1, 27, "a:b:c is not a name"},
	{"prefix for nothing", `<resource xmlns:a=""/>`, 1, 11, `the prefix a cannot stand for ""`},
	{"no quotes", `<resource a=1/>`, 1, 11, "the value of the attribute a is not in quotes"},
	{"no value", `<resource a/>`, 1, 11, "the attribute a has no value"},
	{"no blank between", `<resource a="1"b="2"/>`, 1, 16, "the tag <resource> is not written correctly"},
	{"less-than in attribute", `<resource a="<"/>`, 1, 14, `"<" is not allowed in an attribute; write &lt;`},
	{"less-than in text", `<resource>a < b</resource>`, 1, 13, `"<" must start a tag; write &lt; in text`},
	{"end of CDATA in text", `<resource>]]></resource>`, 1, 11, `"]]>" is not allowed in text`},
	{"CDATA not closed", `<resource><![CDATA[x</resource>`, 1, 11, "the CDATA section does not end"},
	{"comment not closed", `<resource><!-- x</resource>`, 1, 11, "the comment does not end"},
	{"dashes in comment", `<resource><!-- a -- b --></resource>`, 1, 18, `"--" is not allowed in a comment`},
	{"instruction without a name", `<resource><? x?></resource>`, 1, 13, "a processing instruction needs a name"},
	{"instruction with a colon", `<resource><?x:y z?></resource>`, 1, 13, "the name of a processing instruction has no colon"},
	{"end tag not closed", `<resource></resource `, 1, 11, "the end tag is not written correctly"},
	{"value not closed", `<resource a="1`, 1, 11, "the value of the attribute a does not end"},
	{"declaration not closed", `<?xml version="1.0"`, 1, 1, "the XML declaration does not end"},
	{"notation", `<resource><!NOTATION x></resource>`, 1, 11, "markup declarations are not allowed here"},
	{"name with a wrong character", "<resource><a×/></resource>", 1, 13, "the tag <a> is not written correctly"},
	{"instruction not closed", `<resource><?x </resource>`, 1, 11, "the processing instruction does not end"},
	{"tag not closed", `<resource a="1"`, 1, 1, "the tag <resource> does not end"},
	{"columns count characters", "<resource>\n<!-- é --> &\n</resource>", 2, 12, `"&" must start a reference such as &amp;`},
	{"other root", `<html xmlns="http://www.w3.org/1999/xhtml"/>`, 1, 1, `the root element is not <resource xmlns="http://datacite.org/schema/kernel-4">`},
	{"other namespace", `<resource xmlns="urn:x"/>`, 1, 1, `the root element is not <resource xmlns="http://datacite.org/schema/kernel-4">`},
	{"too deep", strings.Repeat("<resource>", 65), 1, 641, "elements nest deeper than 64"},
	{"too many attributes", "<resource" + manyAttributes(129) + "/>", 1, 1053, "the element <resource> has more than 128 attributes"},
	{"too many namespaces", "<resource" + manyNamespaces(65) + "/>", 1, 897, "more than 64 namespaces are declared"},
}

// A document of nothing but faults must not fill the memory with reports.
func TestValidateXML_reportsTheFirstTenThousand(t *testing.T) {
	document := strings.Replace(minimal, "</resource>", strings.Repeat("<x/>", 20_000)+"</resource>", 1)
	err := metadata.ValidateXML(strings.NewReader(document))
	invalid, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	assert.Len(t, invalid.Findings, 10_000)

	// What makes it unreadable is still found at its end.
	err = metadata.ValidateXML(strings.NewReader(document + "<y/>"))
	invalid, ok = errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	assert.EqualValues(t, "syntax", invalid.Findings[len(invalid.Findings)-1].Code)
}

func manyNamespaces(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " xmlns:a%d='x'", i)
	}
	return b.String()
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d='1'", i)
	}
	return b.String()
}

func TestParseXML_refuses(t *testing.T) {
	for _, tt := range malformed {
		t.Run(tt.name, func(t *testing.T) {
			_, err := metadata.ParseXML(strings.NewReader(tt.xml))
			assert.Equal(t, []datacite.Finding{{Code: "syntax", Line: tt.line, Column: tt.column, Reason: tt.reason}}, datacite.Findings(err))
			assert.ErrorIs(t, metadata.ValidateXML(strings.NewReader(tt.xml)), datacite.ErrInvalid)
			findings, notRead := metadata.FindingsXML(strings.NewReader(tt.xml))
			require.NoError(t, notRead)
			last := findings[len(findings)-1]
			assert.Equal(t, []int{tt.line, tt.column}, []int{last.Line, last.Column})
		})
	}
}

func TestParseXML_refusesWhatIsTooLong(t *testing.T) {
	long := func() io.Reader {
		return io.MultiReader(strings.NewReader("<resource>\n"), strings.NewReader(strings.Repeat(" ", 10<<20)), iotest.ErrReader(errors.New("read on")))
	}
	_, err := metadata.ParseXML(long())
	assert.EqualError(t, err, "datacite: line 2, column 10485750: the document is longer than 10485760 bytes")
}

func TestParseXML_passesOnTheErrorOfTheReader(t *testing.T) {
	broken := errors.New("connection lost")
	_, err := metadata.ParseXML(io.MultiReader(strings.NewReader("<resource>"), iotest.ErrReader(broken)))
	assert.ErrorIs(t, err, broken)
	assert.ErrorIs(t, metadata.ValidateXML(iotest.ErrReader(broken)), broken)
	_, err = metadata.FindingsXML(iotest.ErrReader(broken))
	assert.ErrorIs(t, err, broken)
}
