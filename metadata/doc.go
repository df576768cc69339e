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
// [Record.Validate] finds what the service would refuse; [Record.Findings] adds warnings:
// wrong check digits, dates the service cannot read, values it drops or changes.
// [ValidateXML] and [FindingsXML] do the same for a document, with line and column.
// [ParseXML] reads documents of every version of the schema, [ParseJSON] the attributes of a
// DOI as the query interface has them. [Upgrade] turns an older record into one of kernel 4.
// [Diff] compares a record with what the service has stored.
//
// Packages dois and mds use the same Record, one as JSON and the other as XML. Reading is
// lenient: numbers, nulls and single items are read where the service has been seen to
// send them, and values that the schema does not list pass through. XML that is not well
// formed is an error, because the service would drop parts of it. The same record always
// gives the same XML.
//
// When the service turns XML into JSON, it loses values such as the language of names and
// several polygons in one place. A Record keeps them, and Findings warns of them, and of
// identifiers with white space around them, of which it loses some. The [specification] has the two forms in sections 2.2 and 2.3.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package metadata
