package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parsed(t testing.TB, text string) *Document {
	t.Helper()
	doc, err := parseXML([]byte(text))
	require.NoError(t, err)
	return doc
}

// What is not well-formed is refused, with the line.
func TestWhatIsNotWellFormed(t *testing.T) {
	for source, flaw := range map[string]string{
		"":                 "no root element",
		"<!-- a -->":       "no root element",
		"text":             "text outside of the root element",
		"<a/>text":         "text outside of the root element",
		"<a/><b/>":         "a second root element",
		"<a><b></a>":       "element <b> closed by </a>",
		"<a>\n<b>":         "line 2: unexpected EOF",
		"<a":               "unexpected EOF",
		`<a b="c"d="e"/>`:  "no white space between attributes",
		`<a b=c/>`:         "unquoted or missing attribute value",
		`<a b="<"/>`:       "unescaped < inside quoted string",
		`<a b="c" b="d"/>`: "attribute b of a given twice",
		`<a:b:c/>`:         "expected element name",
		`<a xmlns:x="u" xmlns:y="u" x:b="" y:b=""/>`: "attribute y:b of a given twice",
		"<a>&foo;</a>":                 "invalid character entity &foo;",
		"<a>b & c</a>":                 "invalid character entity &",
		"<a>&#65</a>":                  "invalid character entity &#65",
		"<a>&#0;</a>":                  "illegal character code U+0000",
		"<a>1 < 2</a>":                 "expected element name",
		"<a>]]></a>":                   "unescaped ]]> not in CDATA section",
		"<a>\x01</a>":                  "illegal character code U+0001",
		"<a>\xff</a>":                  "invalid UTF-8",
		"<a><!-- b -- c --></a>":       `invalid sequence "--"`,
		"<a><!-- b</a>":                "unexpected EOF",
		"<a><? b?></a>":                "expected target name",
		"<a><!DOCTYPE a></a>":          "markup that is not allowed here",
		`<?xml version="1.1"?><a/>`:    "version",
		`<?xml encoding="UTF-8"?><a/>`: "not XML 1.0",
		`<a/><?xml version="1.0"?>`:    "a second declaration",
	} {
		_, err := parseXML([]byte(source))
		assert.ErrorContains(t, err, flaw, source)
		assert.ErrorContains(t, err, "line ", source)
	}
	for _, source := range []string{
		"<a/>", "\ufeff<?xml version='1.0'?>\r\n<!-- b --><a/>\n<!-- c -->", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>",
		`<a xmlns:x="u" xmlns="u" x:b="" b=""/>`, "<a><![CDATA[<b> & ]]>" +
			"&lt;&#x1F600;</a>", "<a b='\"' c = \"'\"></a >", "<a><?b c?></a>",
	} {
		_, err := parseXML([]byte(source))
		assert.NoError(t, err, source)
	}
}

func TestNamespaces(t *testing.T) {
	doc := parsed(t, `<x:a xmlns:x="u" xmlns="v"><b><x:c xmlns:x="w" x:d=""/><x:c/></b><y:e/></x:a>`)
	var found []name
	doc.Root.walk(func(e *element) bool {
		found = append(found, e.name)
		return true
	})
	assert.Equal(t, []name{{"u", "a"}, {"v", "b"}, {"w", "c"}, {"u", "c"}, {"y", "e"}}, found)
	assert.Equal(t, name{"w", "d"}, doc.Root.child("b").child("c").attrs[1].name)
}
