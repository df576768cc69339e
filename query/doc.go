// Package query builds, parses and checks query strings, sort orders and pages of the DOI query
// interface ([specification] §4.2).
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
//   - [Typed] makes a query of what somebody typed into a search box: words, phrases and DOIs.
//     Nothing in it is an operator, and nothing is an error but a text without a word.
//   - [Parse] reads queries in the syntax below; its error, a [SyntaxError], has the place and
//     the reason. Parsed and built expressions can be combined, so a platform can restrict its
//     users' queries.
//   - [Check] and [CheckList] refuse queries and options that the service would refuse or
//     misread; the client of package dois calls them for every request. [Advise] lists
//     doubtful parts of a query, and [Explicit] adds missing operators.
//
// # The language
//
// A query consists of clauses (specification §4.2.1):
//
//	climate                      a word in the default fields
//	"climate change"             words side by side; "…"~2 at most 2 moves apart
//	clim* wom?n                  * is any number of characters, ? a single character
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
// A query built with this package has the same meaning on the specified and on the deployed
// service. A query that people type may not:
//
//   - Clauses side by side are optional in the specification, and required on the deployed
//     service.
//   - AND has no precedence over OR: a OR b AND c requires b and c, and a affects only the
//     ranking.
//   - NOT a alone finds nothing in Lucene; *:* AND NOT a finds the records without a.
//   - The deployed service accepts one other word between the words of a phrase, unless ~0
//     follows the phrase.
//   - The deployed service renames attributes of the record, such as publicationYear, anywhere
//     in the text.
//   - The deployed service puts a backslash before every slash. So \/ is an error there, and a
//     bare / is an error elsewhere.
//   - Years, dates and counts cannot be searched with a wildcard.
//   - An unknown field finds nothing, without an error.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package query
