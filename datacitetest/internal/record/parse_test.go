package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The parser recovers from everything, but knows what is not well-formed.
func TestWhatIsNotWellFormed(t *testing.T) {
	for source, flaw := range map[string]string{
		"":                 "no root element",
		"text":             "no root element",
		"<a/>text":         "content after the root element",
		"<a/><b/>":         "content after the root element",
		"<a><b></a>":       "b is closed by a",
		"<a>\n<b>":         "line 2: the text ends inside b",
		"<a":               "the start tag of a is broken",
		`<a b="c"d="e"/>`:  "the start tag of a is broken",
		`<a b=c/>`:         "the start tag of a is broken",
		`<a b="<"/>`:       "the start tag of a is broken",
		`<a b="c" b="d"/>`: "attribute b of a given twice",
		`<a:b:c/>`:         "two colons",
		`<a xmlns:x="u" xmlns:y="u" x:b="" y:b=""/>`: "attribute y:b of a given twice",
		"<a>&foo;</a>":                 "&foo; is not defined",
		"<a>b & c</a>":                 "a lone &",
		"<a>&#65</a>":                  "&#65 has no semicolon",
		"<a>&#0;</a>":                  "no character has the number 0",
		"<a>1 < 2</a>":                 "a lone <",
		"<a>]]></a>":                   "]]> in a text",
		"<a>\x01</a>":                  "a character that XML does not allow",
		"<a>\xff</a>":                  "invalid UTF-8",
		"<a><!-- b -- c --></a>":       "two hyphens in a comment",
		"<a><!-- b</a>":                "--> is missing",
		"<a><? b?></a>":                "an instruction without a name",
		`<?xml version="1.1"?><a/>`:    "it is not XML 1.0",
		`<?xml encoding="UTF-8"?><a/>`: "it is not XML 1.0",
		`<a/><?xml version="1.0"?>`:    "a second declaration",
	} {
		_, err := parseXML([]byte(source))
		assert.ErrorContains(t, err, flaw, source)
	}
	for _, source := range []string{
		"<a/>", "\ufeff<?xml version='1.0'?>\r\n<!-- b --><a/>\n<!-- c -->", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>",
		`<a xmlns:x="u" xmlns="u" x:b="" b=""/>`, "<a><![CDATA[<b> & ]]>&lt;&#x1F600;</a>", "<a b='\"' c = \"'\"></a >", "<a><?b c?></a>",
	} {
		_, err := parseXML([]byte(source))
		assert.NoError(t, err, source)
	}
}

func TestNamespaces(t *testing.T) {
	doc := recovered(`<x:a xmlns:x="u" xmlns="v"><b><x:c xmlns:x="w" x:d=""/><x:c/></b><y:e/></x:a>`)
	var found []name
	doc.Root.walk(func(e *element) bool {
		found = append(found, e.name)
		return true
	})
	assert.Equal(t, []name{{"u", "a"}, {"v", "b"}, {"w", "c"}, {"u", "c"}, {"y", "e"}}, found)
	assert.Equal(t, name{"w", "d"}, doc.Root.child("b").child("c").attrs[1].name)
}
