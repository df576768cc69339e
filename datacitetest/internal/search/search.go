// Package search is the search engine of the embedded service. It indexes records, parses a
// query string (specification §4.2.1) and says which records match.
//
//	q, err := search.Parse("titles.title:climate AND publicationYear:[2015 TO 2020]", false)
//	...
//	found := q.Find(index)
//
// # Language
//
// The grammar is the one of Lucene's classic query parser, with what common
// search servers add to it: _exists_:field, field:*, and the comparisons
// > >= < <=. As in Lucene, AND, OR and NOT are not Boolean operators. They mark
// the clauses of one flat list as required, optional or prohibited; brackets
// make the meaning clear. A list of only prohibited clauses matches every other
// record. There are no regular expressions: a slash is an ordinary character.
//
// # Fields
//
// A field is a path through the JSON record, such as titles.title or
// creators.nameIdentifiers.nameIdentifier; arrays on the way are
// searched. Records have the form of the deployed service's index, and its names, such
// as publication_year, uid or client_id, work too. Words without a field are
// searched for in the common fields. A field that no record has matches nothing.
//
// Titles, names, descriptions and other running text are compared word by
// word and without regard to case. Identifiers, types and codes are compared
// as whole values. Years, dates and counts are compared by value, and a partial
// date such as a month covers its whole span.
package search

import (
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Query is a parsed query. It may be used by many goroutines at once.
type Query struct {
	root node
}

// Parse reads a query string. An empty one matches every record. The text of an
// error says what is wrong and where, and is meant to follow "parse_exception: ".
//
// By the specification words without an operator between them are optional (§4.2.1(4)), and
// fields follow the structure of the JSON record, or the index. In the deployed service such
// words are all required, and each field gets them as one text; the words of a phrase may be
// one place apart; only the names of the index are known, and its default fields are searched.
func Parse(text string, deployed bool) (*Query, error) {
	switch {
	case strings.Contains(text, "\u3000"): // a blank to the servers
		return nil, wire.QueryScript.Refusal(text)
	case strings.Trim(text, blanks) == "":
		return &Query{root: everything{}}, nil
	case len(text) > maxLength:
		return nil, refuse("too long: a query may have %d bytes", maxLength)
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := parser{text: text, tokens: tokens, deployed: deployed}
	root, err := p.query()
	if err != nil {
		return nil, err
	}
	return &Query{root: root}, nil
}

// Find returns the records of an index that match. The score is the sum of the boosts of the
// clauses that match.
func (q *Query) Find(ix *Index) Found {
	if q.root == nil {
		return Found{ix.empty(), one}
	}
	found := q.root.find(ix)
	found.And(ix.live)
	return found
}

// refusal is the reason why a query is refused. Its text is part of a response
// of the service, so it reads like the service's and not like a Go error.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error {
	return refusal(fmt.Sprintf(format, args...))
}
