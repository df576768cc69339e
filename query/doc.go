// Package query builds, reads and checks what goes into the parameters query,
// sort, page and random of the DOI query interface ([specification] §4.2).
//
//	q := query.And(
//		query.FieldTitle.Is("climate change"),
//		query.FieldPublicationYear.Between("2010", "2015"),
//		query.Not(query.FieldPublisher.Is("Zenodo")),
//	)
//	fmt.Println(q) // titles.title:"climate change"~0 AND publicationYear:[2010 TO 2015] AND NOT publisher:Zenodo
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
//	publicationYear:[2010 TO *]  a range; { and } leave out the bound, * leaves it open
//	subjects.subject:*           any value
//	*:*                          every record
//	a AND b, a OR b, NOT a       with brackets; in capitals
//	+a -b c                      a must match, b must not, c may
//	a^2                          a weighs twice as much in the order by relevance
//
// A backslash takes the meaning from the next character. Inside quotes only "
// and \ need one.
//
// # Differences between servers
//
// The specification and the deployed service differ, and neither reads a query quite as
// it looks. Queries that this package writes mean the same to both.
//
//   - Clauses side by side are optional as specified, and required on the
//     deployed service. Built queries always have an operator between them.
//   - AND does not come before OR: a OR b AND c requires b and c, and a only raises
//     the relevance. Built queries have brackets.
//   - NOT a by itself finds nothing in Lucene: *:* AND NOT a does.
//   - The deployed service accepts one other word in between the words of a
//     phrase, unless there is a ~0 after it.
//   - It renames attributes of the record, such as publicationYear, wherever they
//     stand in the text, and puts a backslash before every slash, so that
//     \/ is an error there and a bare / is one elsewhere. Built queries hide such
//     words and write a slash so that both read it.
//   - A year, a date or a count cannot have a wildcard, and an unknown field finds
//     nothing without an error.
//
// # Building
//
// [Term], [Phrase] and [Wildcard] look in the default fields, the methods of [Field] in
// one field. [And], [Or] and [Not] combine expressions; [Bool] puts expressions made by
// [Must] and [MustNot] and others side by side. Every value is literal: no quote or
// operator in it can change the query. An [Expr] is immutable.
//
// # Reading what people type
//
// [Parse] reads the whole language. A [SyntaxError] says where and why a text
// is not a query. [Explicit] puts operators between clauses side by side. [Syntax] and
// [FromSyntax] give access to the parts of a query, with package query/syntax. Parsed
// and built expressions can be combined, so a platform can restrict the queries of its
// users.
//
// # Before sending
//
// [Check] refuses what the service would refuse or read as something else; the
// client of the DOI query interface calls it, and [CheckList], for every
// request. [Advise] points at what is doubtful or slow.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package query
