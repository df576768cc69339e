package wire

import (
	"net/http"
	"strings"
)

// Gap is something that the servers support and the embedded service refuses with 501: a
// wrong guess would hide a mistake of a client. The table of datacitetest/evidence/unsupported.md has
// for each gap a request that meets it, and the evidence.
type Gap struct {
	Name string // what the request asked for; the row of the table
	Note string // what the servers do, or what to use instead
}

// Gaps in metadata and their formats.
var (
	BrokenXML = &Gap{"XML that is not well-formed",
		"The servers store what their parser recovers of it, without the rest, and say nothing."}
	UnreadMetadata = &Gap{"metadata in a format that is not read",
		"The servers store a record without content, or leave the metadata as they were."}
	PageMetadata = &Gap{"the address of a page with schema.org", "This service fetches nothing."}
	OddText      = &Gap{"a text with @ in no known format", "The servers take some for BibTeX: 415 or 404."}
	ValueKind    = &Gap{"a value of this kind in a record", "The servers convert some of them, and refuse others."}
	CodedBody    = &Gap{"a compressed record",
		"The servers inflate gzip and deflate, and nothing of a PATCH; send it so, or as it is."}
	OutputFormat = &Gap{"this format of records",
		"DataCite XML, DataCite JSON, Citeproc JSON, BibTeX and citations are supported."}
	CitationStyle = &Gap{"another style or locale of citations than apa and en-US",
		"The servers have the styles and locales of citationstyles.org, and use apa and en-US for unknown ones."}
)

// Gaps in routes, lists and searches.
var (
	Route = &Gap{"this route",
		"DOIs, the metadata store and usage reports are supported, without the services around them."}
	Parameter = &Gap{"this parameter of DOIs",
		"The servers read it, with an effect that is not supported; leave it out, or set up the records that it should find."}
	Facet         = &Gap{"this facet", "Name states, resourceTypes or published in the parameter facets."}
	QueryDates    = &Gap{"date arithmetic in a query", "Compute the date, such as 2026-01-31."}
	QueryDistance = &Gap{"what follows ~ in a query", "Whole numbers are supported."}
	QueryScript   = &Gap{"a search for words of a script without spaces",
		"The servers split such a text into words by Unicode's rules."}
	QueryFields = &Gap{"a pattern for the names of fields in a query", "Name each field."}
	QueryField  = &Gap{"this field in a query",
		"The servers derive it from tables or from other fields; search those that a record shows."}
	QueryEscape = &Gap{"this escape in a query", "Write the character itself."}
)

// Gaps in the metadata store and in HTTP.
var (
	Name = &Gap{"a name that the servers would change",
		"The request would reach another DOI than the one it names, or none; send names as they are shown, in a path " +
			"escaped once."}
	MediaType = &Gap{"a header that is no media type",
		"The servers respond to it with a page of their framework; send a type such as application/json."}
	StoreParameter = &Gap{"this parameter of the metadata store", "The servers read some of them; leave it out."}
	StoreBody      = &Gap{"this type or encoding of a body for the metadata store",
		"The servers' framework converts such a body; send application/xml;charset=UTF-8 for metadata, and " +
			"text/plain;charset=UTF-8 for addresses."}
	StoreRoute = &Gap{"this route of the metadata store", "/doi and /metadata are supported."}

	ReportBody = &Gap{"this type or coding of a usage report",
		"Send application/json, or application/gzip with Content-Encoding: gzip."}
	ReportValue = &Gap{"a name or value of another kind in a usage report",
		"The servers convert some of them; send names in lower case with hyphens, and values of the kinds that the code of " +
			"practice has."}
	ReportParameter = &Gap{"this parameter of usage reports",
		"The servers' response is that of their framework; leave it out."}
)

// Gaps are all of them.
var Gaps = []*Gap{
	BrokenXML, UnreadMetadata, PageMetadata, OddText, ValueKind, CodedBody, OutputFormat, CitationStyle,
	Route, Parameter, Facet, QueryDates, QueryDistance, QueryScript, QueryFields, QueryField, QueryEscape,
	Name, MediaType, StoreParameter, StoreBody, StoreRoute, ReportBody, ReportValue, ReportParameter,
}

// Refusal is the response to a request that needs what is missing. Details say more about
// the request, such as the line of a document.
func (g *Gap) Refusal(details ...string) *Failure {
	title := "Not supported by this test service: " + strings.Join(append([]string{g.Name}, details...), ": ") + "."
	return Fail(http.StatusNotImplemented,
		"%s %s The evidence, and all else that is refused: datacite sandbox --unsupported, or unsupported.md of "+
			"datacitetest.Rules.", title, g.Note)
}
