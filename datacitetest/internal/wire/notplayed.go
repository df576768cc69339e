package wire

import (
	"net/http"
	"strings"
)

// Gap is something that the servers support and the embedded service refuses with 501: a
// wrong guess would hide a mistake of a client. The table of datacitetest/not-played.md has
// for each gap a request that meets it, and the evidence.
type Gap struct {
	Name string // what the request asked for; the row of the table
	Note string // what the servers do, or what to use instead; may be empty
}

// Gaps in metadata and their formats.
var (
	BrokenXML      = &Gap{"XML that is not well-formed", "The servers store what their parser recovers of it, without the rest, and say nothing."}
	UnreadMetadata = &Gap{"metadata in a format that is not read", "The servers store a record without content, or leave the metadata as they were."}
	PageMetadata   = &Gap{"the address of a page with schema.org", "This service fetches nothing."}
	OddText        = &Gap{"a text with @ in no known format", "The servers take some for BibTeX: 415 or 404."}
	OutputFormat   = &Gap{"this format of records", "DataCite XML, DataCite JSON, Citeproc JSON, BibTeX and citations are played."}
	CitationStyle  = &Gap{"another style or locale of citations than apa and en-US", ""}
)

// Gaps in routes, lists and searches.
var ()

// Gaps in the metadata store and in HTTP.
var ()

// Gaps are all of them.
var Gaps = []*Gap{
	BrokenXML, UnreadMetadata, PageMetadata, OddText, OutputFormat, CitationStyle,
}

// Refusal is the response to a request that needs what is missing. Details say more about
// the request, such as the line of a document.
func (g *Gap) Refusal(details ...string) *Failure {
	title := "Not played by this test service: " + strings.Join(append([]string{g.Name}, details...), ": ") + "."
	if g.Note != "" {
		title += " " + g.Note
	}
	return Fail(http.StatusNotImplemented, "%s See not-played.md.", title)
}
