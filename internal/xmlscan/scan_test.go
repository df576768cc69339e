package xmlscan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// The tests of package metadata have the documents that are refused.
func TestScanner(t *testing.T) {
	s, err := xmlscan.Open(strings.NewReader(`<?xml version="1.0"?>
<a xmlns="urn:a" xmlns:b="urn:b"><b:c d='1&#9;2' b:d="3"/><!-- x -->y &amp; <![CDATA[<z>]]></a>`))
	require.NoError(t, err)
	var got []string
	for kind := s.Next(); kind != xmlscan.End; kind = s.Next() {
		switch kind {
		case xmlscan.StartTag:
			var text strings.Builder
			text.WriteString(fmt.Sprintf("%d <%s %s", s.Depth(), s.Space, s.Name))
			for _, a := range s.Attrs {
				if a.Space != xmlscan.DeclarationSpace {
					text.WriteString(fmt.Sprintf(" %s:%s=%q", a.Space, a.Name, a.Value))
				}
			}
			got = append(got, text.String())
		case xmlscan.EndTag:
			got = append(got, fmt.Sprintf("%d </%s", s.Depth(), s.Name))
		case xmlscan.Text:
			got = append(got, fmt.Sprintf("%q", s.Text))
		}
	}
	assert.Nil(t, s.Err())
	assert.Equal(t, []string{"1 <urn:a a", `2 <urn:b c :d="1\t2" urn:b:d="3"`, "1 </c", `"y & "`, `"<z>"`, "0 </a"}, got)
}

func TestCheck(t *testing.T) {
	assert.NoError(t, xmlscan.Check(strings.NewReader("<any>thing</any>")))
	assert.EqualError(t, xmlscan.Check(strings.NewReader("<any>\nR & D</any>")), `line 2, column 3: "&" must start a reference such as &amp;`)
	broken := errors.New("connection lost")
	assert.ErrorIs(t, xmlscan.Check(iotest.ErrReader(broken)), broken)
}

// What the service has accepted is read, also where it would be refused today.
func TestStored(t *testing.T) {
	for text, reason := range map[string]string{
		`<?xml version="1.0" encoding="ISO-8859-1"?><a/>`:      "",
		`<!DOCTYPE a [<!ELEMENT a ANY> <!ENTITY b "]>">]><a/>`: "",
		`<a>` + strings.Repeat("b", 11<<20) + `</a>`:           "",
		`<!DOCTYPE a [<a/>`:                   "line 1, column 1: the document type does not end",
		`<a/><!DOCTYPE a>`:                    "line 1, column 5: a document type declaration is not allowed",
		`<a></b>`:                             "line 1, column 4: </b> instead of </a>",
		`<` + strings.Repeat("a", 1000) + `>`: "line 1, column 1003: the document ends inside <" + strings.Repeat("a", 100) + "…>",
	} {
		s := xmlscan.Stored(text)
		for s.Next() != xmlscan.End {
			continue
		}
		if reason == "" {
			assert.Nil(t, s.Err(), "%.60s", text)
		} else {
			assert.EqualError(t, s.Err(), reason)
		}
	}
}
