package mds

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// serveMedia is /media/{doi}, which the specification does not show: the files
// of a DOI, one "type=URL" a line.
func (s *Room) serveMedia(q *wire.Request, path string) (wire.Reply, error) {
	account, err := s.login(q)
	if err != nil {
		return wire.Reply{}, err
	}
	name, err := nameInPath(path)
	switch {
	case err != nil:
		return wire.Reply{}, err
	case q.Verb == http.MethodGet:
		return s.getMedia(account, name)
	case q.Verb == http.MethodPost:
		return s.addMedium(q, account, name)
	}
	return wire.Reply{}, errNoRoute
}

func (s *Room) getMedia(account *record.Account, name string) (wire.Reply, error) {
	rec := s.Find(name)
	if err := hidden(rec, account, errUnknown); err != nil {
		return wire.Reply{}, err
	}
	if len(rec.Media) == 0 {
		return wire.Reply{}, errNoMedia
	}
	var lines []string
	for _, m := range rec.Media {
		lines = append(lines, m.Kind+"="+m.URL)
	}
	return wire.Text(http.StatusOK, strings.Join(lines, "\n")), nil
}

func (s *Room) addMedium(q *wire.Request, account *record.Account, name string) (wire.Reply, error) {
	body, err := wire.ReadBody(q)
	if err != nil {
		return wire.Reply{}, err
	}
	line := strings.TrimSpace(string(body))
	m, err := readMedium(line)
	if err != nil {
		return wire.Reply{}, err
	}
	err = s.Change(name, func(rec *record.Record) (*record.Record, error) {
		if rec == nil {
			return nil, errUnknown
		}
		if !rec.Owner(account) {
			return nil, errDenied
		}
		rec.Media = append(slices.Clone(rec.Media), m)
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Text(http.StatusOK, "OK"), nil
}

var errNoMedia = wire.Fail(http.StatusNotFound, "No media for the DOI")

var mediaSchemes = []string{"ftp", "http", "https", "gs", "s3", "dos"}

func readMedium(line string) (record.Medium, error) {
	kind, address, _ := strings.Cut(line, "=")
	if kind == "" || address == "" {
		return record.Medium{}, wire.Fail(http.StatusUnprocessableEntity, "Media type and URL missing")
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(mediaSchemes, u.Scheme) || strings.ContainsAny(address, " \n") {
		return record.Medium{}, wire.Fail(http.StatusUnprocessableEntity, "url: Is invalid")
	}
	return record.Medium{Kind: kind, URL: address}, nil
}
