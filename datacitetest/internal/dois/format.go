package dois

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// mediaTypes are the types that the deployed service knows, in its order, with its names
// of the formats: lupo config/initializers/mime_types.rb. HTML is served as JSON; the
// others without a writer are known but not served.
var mediaTypes = []struct{ mediaType, format string }{
	{"text/html", "json"}, {"application/xhtml+xml", "json"}, {"text/plain", "text"},
	{"application/json", "json"}, {"text/x-json",
		"json"}, {"application/jsonrequest", "json"}, {"application/vnd.api+json", "json"},
	{"text/csv", "csv"}, {"application/vnd.crossref.unixref+xml",
		"crossref"}, {"application/vnd.crosscite.crosscite+json", "crosscite"},
	{"application/vnd.datacite.datacite+xml",
		"datacite"}, {"application/x-datacite+xml", "datacite"}, {"application/vnd.datacite.datacite+json", "datacite_json"},
	{"application/vnd.schemaorg.ld+json",
		"schema_org"}, {"application/ld+json", "schema_org"}, {"application/vnd.jats+xml", "jats"},
	{"application/vnd.citationstyles.csl+json", "citeproc"}, {"application/citeproc+json", "citeproc"},
	{"application/vnd.codemeta.ld+json", "codemeta"}, {"application/x-bibtex", "bibtex"},
	{"application/x-research-info-systems", "ris"}, {"text/x-bibliography", "citation"},
}

// formatOf is the format of a media type; "application/*" is the first of its kind.
func formatOf(mediaType string) string {
	mediaType = strings.TrimSpace(mediaType)
	if mediaType == "*/*" {
		return "json"
	}
	kind, all := strings.CutSuffix(mediaType, "*")
	for _, m := range mediaTypes {
		if m.mediaType == mediaType || all && strings.HasPrefix(m.mediaType, kind) {
			return m.format
		}
	}
	return ""
}

// negotiated is the format of the response by the Accept header: the most preferred
// known one. A browser's list, with "*/*" among others, is ignored.
func negotiated(q *wire.Request) string {
	header := q.Header.Get("Accept")
	list := strings.Split(header, ",")
	if header == "" || len(list) > 1 && slices.ContainsFunc(list, func(t string) bool {
		return strings.HasPrefix(strings.TrimSpace(t), "*/*")
	}) {
		return "json"
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(wire.Quality(b), wire.Quality(a)) })
	for _, t := range list {
		t, _, _ = strings.Cut(t, ";")
		if f := formatOf(t); f == "json" || record.Writers[f] != nil {
			return f
		}
	}
	return ""
}

// formatted is the response with one record in a format.
func formatted(f string, rec *record.Record, p wire.Params) (wire.Reply, error) {
	w := record.Writers[f]
	switch {
	case w == nil:
		return wire.Reply{}, errType
	case f == "citation" && (!p.Is("style", "apa") || !p.Is("locale", "en-US")):
		return wire.Reply{}, wire.CitationStyle.Refusal(p["style"] + " " + p["locale"])
	}
	body, err := w(rec)
	if err != nil {
		return wire.Reply{}, err
	}
	i := slices.IndexFunc(mediaTypes, func(m struct{ mediaType, format string }) bool { return m.format == f })
	return wire.Reply{Status: http.StatusOK, ContentType: mediaTypes[i].mediaType + "; charset=utf-8", Body: body}, nil
}
