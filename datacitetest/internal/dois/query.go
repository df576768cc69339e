package dois

import (
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// renames are replacements that the deployed service makes anywhere in a query before
// it searches, in this order.
var renames = []struct{ from, to string }{
	{"publicationYear", "publication_year"}, {"relatedIdentifiers", "related_identifiers"},
	{"relatedItems", "related_items"},
	{"rightsList", "rights_list"}, {"fundingReferences", "funding_references"}, {"geoLocations", "geo_locations"},
	{"version:", "version_info:"}, {"landingPage", "landing_page"}, {"contentUrl", "content_url"},
	{"citationCount", "citation_count"}, {"viewCount", "view_count"}, {"downloadCount", "download_count"},
}

var publisherPart = lazy.Regexp(`publisher\.(name|publisherIdentifier|publisherIdentifierScheme|schemeUri|lang)`)

// rewritten is a query as the deployed service passes it to its search engine.
func rewritten(query string) string {
	for _, r := range renames {
		query = strings.ReplaceAll(query, r.from, r.to)
	}
	query = publisherPart().ReplaceAllString(query, "publisher_obj.$1")
	query = strings.ReplaceAll(query, "schemaVersion", "schema_version")
	return strings.ReplaceAll(query, "/", `\/`)
}

func (s *Service) parseQuery(text string) (*search.Query, error) {
	if s.Deployed {
		text = rewritten(text)
	}
	query, err := search.Parse(text, s.Deployed)
	switch {
	case err == nil:
		return query, nil
	case wire.AsFailure(err).Status == http.StatusNotImplemented:
		return nil, err
	case s.Deployed && strings.HasPrefix(err.Error(), "Lexical error"):
		return nil, searchFault("token_mgr_error: " + err.Error())
	case s.Deployed && strings.HasPrefix(err.Error(), "failed to "):
		return nil, searchFault(err.Error()) // a value does not fit its field
	}
	return nil, searchFault("parse_exception: " + err.Error())
}

// searchFault is an error of the search engine, whose "errors" is an object.
func searchFault(title string) *wire.Failure {
	f := wire.Fail(http.StatusBadRequest, "%s", title)
	f.Body = object{"errors": object{"title": title}}
	return f
}
