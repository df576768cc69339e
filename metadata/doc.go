// Package metadata holds the metadata record of a DOI as one typed value. It reads and
// writes XML and JSON of schema kernel 4.7, checks a record before it is sent, and compares
// two records.
//
//	rec := &metadata.Record{
//		Creators:        []metadata.Creator{metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427")},
//		Titles:          []metadata.Title{{Title: "Notes on the Analytical Engine"}},
//		Publisher:       metadata.Publisher{Name: "Example Repository"},
//		PublicationYear: "1843",
//		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeText},
//	}
//	if err := rec.Validate(); err != nil {
//		return err // all faults, each with its path and how to correct it
//	}
//	document, err := rec.XML()
//
// # What to use
//
//   - [Record.Validate] finds faults that the service would refuse. [Record.Findings] adds
//     warnings: wrong check digits, dates that the service cannot read, values that it drops
//     or changes.
//   - [ValidateXML] and [FindingsXML] do the same for a document, with line and column.
//   - [ParseXML] reads documents of every version of the schema, and [ParseJSON] the attributes
//     of a DOI from the query interface.
//   - [Upgrade] turns a document of kernel 2 or 3 into one of kernel 4.
//   - [Diff] compares a record with the record that the service has stored.
//
// # Reading and writing
//
// Packages dois and mds use the same Record: dois sends it as JSON, mds as XML. Reading is
// lenient: numbers, nulls and single items are accepted where the service is known to send
// them, and values that are not in the schema's lists are kept. XML that is not well formed is
// an error, because the service would drop parts of it. The same record always gives the same
// XML.
//
// When the service converts XML to JSON, it loses some values: the language of names, several
// polygons in one place, some identifiers with white space around them. A Record keeps them,
// and Findings warns about them. Sections 2.2 and 2.3 of the [specification] describe JSON and
// XML.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package metadata
