package xmlscan_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// The tests of package metadata have the documents that are refused.
func TestCheck(t *testing.T) {
	assert.NoError(t, xmlscan.Check(strings.NewReader("<any>thing</any>")))
	assert.EqualError(t, xmlscan.Check(strings.NewReader("<any>\nR & D</any>")),
		`line 2, column 3: "&" must start a reference such as &amp;`)
	broken := errors.New("connection lost")
	assert.ErrorIs(t, xmlscan.Check(iotest.ErrReader(broken)), broken)
}

// What the service has accepted is read, also where it would be refused today.
func TestStored(t *testing.T) {
	for text, reason := range map[string]string{
		`<?xml version="1.0" encoding="ISO-8859-1"?><a/>`:      "",
		`<!DOCTYPE a [<!ELEMENT a ANY> <!ENTITY b "]>">]><a/>`: "",
		`<a>` + strings.Repeat("b", 11<<20) + `</a>`:           "",
		`<!DOCTYPE a [<a/>`: "line 1, column 1: the document type does not end",
		`<a/><!DOCTYPE a>`:  "line 1, column 5: a document type declaration is not allowed",
		`<a></b>`:           "line 1, column 4: </b> instead of </a>",
		`<` + strings.Repeat("a", 1000) + `>`: "line 1, column 1003: the document ends inside <" + strings.Repeat("a", 100) +
			"…>",
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
