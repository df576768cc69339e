package query

import (
	"strings"

	"github.com/datacite-go/datacite-go"
)

// A Sort is an order of the results (specification §4.2.2). The zero value is the order of
// the service: the last updated first.
type Sort string

// The orders. All are ascending except ByRelevance, which has the best match first. On the
// deployed service ByPublished has no effect.
const (
	ByName          Sort = "name" // the DOI name
	ByCreated       Sort = "created"
	ByUpdated       Sort = "updated"
	ByPublished     Sort = "published"
	ByViewCount     Sort = "view-count"
	ByDownloadCount Sort = "download-count"
	ByCitationCount Sort = "citation-count"
	ByTitle         Sort = "title" // the first title
	ByRelevance     Sort = "relevance"
)

// Desc returns the same order, descending. ByRelevance is descending already
// and has no other direction.
func (s Sort) Desc() Sort {
	if s == "" || s == ByRelevance || strings.HasPrefix(string(s), "-") {
		return s
	}
	return "-" + s
}

// check refuses an order that the service does not know. The service would silently use
// its default order.
func (s Sort) check() error {
	switch Sort(strings.TrimPrefix(string(s), "-")) {
	case ByName, ByCreated, ByUpdated, ByPublished, ByViewCount, ByDownloadCount, ByCitationCount, ByTitle:
		return nil
	}
	if s == "" || s == ByRelevance {
		return nil
	}
	return datacite.Invalidf("sort", datacite.CodeVocabulary, "%q is not an order that the service knows", string(s))
}
