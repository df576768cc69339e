// Package metadata holds the metadata record of a DOI as one typed value:
// schema kernel 4.7, read from and written to XML and JSON, and checked before it
// is sent. The [specification] has its two forms in sections 2.2 and 2.3.
//
//	rec := &metadata.Record{
//		Creators:        []metadata.Creator{metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427")},
//		Titles:          []metadata.Title{{Title: "Notes on the Analytical Engine"}},
//		Publisher:       metadata.Publisher{Name: "Example Repository"},
//		PublicationYear: "1843",
//		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeText},
//	}
//	if err := rec.Validate(); err != nil {
//		return err
//	}
//	document, err := rec.XML()
//
// # The same record everywhere
//
// Packages dois and mds talk about the same records, one in JSON and the other in
// XML. A [Record] holds what either can say, under the names of the JSON form, so
// a record read by dois is registered by mds unchanged. Nothing is lost where the
// service itself would lose it: it forgets the language of names, several
// polygons of a place and the scheme of a funder when it turns XML into JSON and
// back, and a Record does not.
//
// # Reading
//
// Reading is lenient. [ParseXML] takes all versions of the schema, in any order,
// with any prefix; the JSON side takes numbers, nulls and single items where the
// service has been seen to send them. Values of newer lists pass through. What is
// refused is XML that is not well formed, because the service repairs such
// documents by dropping parts of them. [Lift] makes a record of kernel 4 out of one that
// was written for an older version.
//
// # Writing
//
// Writing is exact: the same record gives the same bytes, with the namespace and
// the order of the schema, every character escaped once, nothing empty.
//
// # Checking
//
// The service reports the first fault it finds, and not in the caller's terms.
// [Record.Validate] reports all faults at once, each with its path, a stable
// [Code] and a sentence that says how to put it right. [Record.Findings] adds
// warnings: check digits that are wrong, dates the service cannot read, values it
// takes and then drops. [ValidateXML] and [CheckXML] do the same for documents,
// with line and column.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package metadata
