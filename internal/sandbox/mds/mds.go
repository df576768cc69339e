package mds

import (
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// Room is interface C: the metadata store.
type Room struct{ *store.Store }

func New(s *store.Store) *Room { return &Room{s} }

// noContent is the answer where there is nothing to show.
var noContent = wire.Reply{Status: http.StatusNoContent, Plain: true}

// listNames are the registered names under the account's first prefix, as upper
// writes them, one a line.
func (s *Room) listNames(account *record.Account, upper func(string) string, shown func(*record.Record) bool) wire.Reply {
	var lines []string
	for _, rec := range s.All() {
		prefix, _ := names.Split(rec.DOI)
		if !rec.Gone && rec.State != record.Draft && len(account.Prefixes) > 0 && prefix == account.Prefixes[0] && shown(rec) {
			lines = append(lines, upper(rec.DOI))
		}
	}
	if len(lines) == 0 {
		return noContent
	}
	slices.Sort(lines)
	return wire.Text(http.StatusOK, strings.Join(lines, "\n"))
}

var (
	errBadLogin = wire.Fail(http.StatusUnauthorized, "Bad credentials")

	errNoDOI  = wire.Fail(http.StatusNotFound, "DOI not found")
	errDenied = wire.Fail(http.StatusForbidden, "Access is denied")

	errUnknown = wire.Fail(http.StatusNotFound, "DOI is unknown to MDS")
	errNoRoute = wire.Fail(http.StatusNotFound, "Resource not found")
	errNoMedia = wire.Fail(http.StatusNotFound, "No media for the DOI")

	errOtherDOI = wire.Fail(http.StatusBadRequest, "doi parameter does not match doi of resource")
	errNeedsDOI = wire.Fail(http.StatusBadRequest, "param 'doi' required")
	errNeedsURL = wire.Fail(http.StatusBadRequest, "param 'url' required")

	errNoMetadata = wire.Fail(http.StatusPreconditionFailed, "Metadata must be uploaded first")
)

// unescapeForm decodes %xx and "+" and leaves a stray "%" alone.
func unescapeForm(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '+':
			out = append(out, ' ')
		case text[i] == '%' && i+2 < len(text) && names.IsHex(text[i+1]) && names.IsHex(text[i+2]):
			out = append(out, names.Unhex(text[i+1])<<4|names.Unhex(text[i+2]))
			i += 2
		default:
			out = append(out, text[i])
		}
	}
	return string(out)
}
