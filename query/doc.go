// Package query builds, parses and checks what goes into the parameters query, sort, page
// and random of the DOI query interface ([specification] §4.2).
//
//	q := query.And(
//		query.FieldTitle.Is("climate change"),
//		query.FieldPublicationYear.Between("2010", "2015"),
//		query.Not(query.FieldPublisher.Is("Zenodo")),
//	)
//	fmt.Println(q) // titles.title:"climate change"~0 AND publicationYear:[2010 TO 2015] AND NOT publisher:Zenodo
//
// # What to use
//
//   - [Term], [Phrase] and [Wildcard] search the default fields, the methods of [Field] one
//     field. [And], [Or] and [Not] combine them. Values are literal: no quote or operator in
//     a value can change the query.
//   - [Parse] reads what people type; a [SyntaxError] says where and why a text is not a
//     query. Parsed and built expressions combine, so a platform can restrict its users'
//     queries.
//   - [Check] and [CheckList] refuse what the service would refuse or misread; the client of
//     package dois calls them for every request. [Advise] points out what is doubtful or
//     slow, and [Explicit] writes the operators that a query lacks.
//
// # The language
//
// A query consists of clauses (specification §4.2.1):
//
//	climate                      a word in the default fields
//	"climate change"             words side by side; "…"~2 at most 2 moves apart
//	clim* wom?n                  * is any characters or none, ? is one
//	climte~1                     words that differ in one character
//	titles.title:climate         a word in one field; names of the record, joined by dots
//	titles.title:(a OR b)        several clauses in one field
//	publicationYear:[2010 TO *]  a range; { and } exclude the bound, * leaves it open
//	subjects.subject:*           any value
//	*:*                          every record
//	a AND b, a OR b, NOT a       with brackets; in capitals
//	+a -b c                      a must match, b must not, c may
//	a^2                          a weighs twice as much in the order by relevance
//
// A backslash makes the next character literal. Inside quotes only " and \ need one.
//
// # Where servers differ
//
// Built queries mean the same on the specified and on the deployed service. What people
// type may not:
//
//   - Clauses side by side are optional as specified, and required on the deployed
//     service.
//   - AND does not bind closer than OR: a OR b AND c requires b and c, and a only raises
//     the relevance.
//   - NOT a alone finds nothing in Lucene; *:* AND NOT a does.
//   - The deployed service accepts one other word between the words of a phrase, unless ~0
//     follows it.
//   - It renames attributes of the record, such as publicationYear, anywhere in the text,
//     and puts a backslash before every slash, so \/ is an error there and a bare /
//     elsewhere.
//   - Years, dates and counts cannot be searched with a wildcard, and an unknown field
//     finds nothing without an error.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package query
