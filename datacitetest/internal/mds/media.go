package mds

import (
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// The files of a DOI, which the specification does not show.

// listMedia is GET /media/{doi}.
func (s *Service) listMedia(c *call) (wire.Reply, error) {
	lines, err := s.mediaOf(c)
	if err == nil && len(lines) == 0 {
		err = &worded{errNoMedia}
	}
	return wire.Text(http.StatusOK, strings.Join(lines, "\n")), err
}

// mediaOf are the files of a DOI. With Deployed they need no login and are at most 25,
// newest first.
func (s *Service) mediaOf(c *call) (lines []string, err error) {
	rec := s.Find(c.doi)
	if rec == nil {
		return nil, store.ErrNoRecord
	}
	for _, m := range rec.Media {
		lines = append(lines, m.Kind+"="+m.URL)
	}
	if !s.Deployed {
		return lines, s.mayRead(c.account, rec)
	}
	slices.Reverse(lines)
	return lines[:min(25, len(lines))], nil
}

// createMedium is POST /media/{doi}: one line, type=URL. With Deployed the URL
// ends at the next "=".
func (s *Service) createMedium(c *call) (wire.Reply, error) {
	line, blank := string(c.body), http.StatusOK
	if !s.Deployed {
		line, blank = strings.TrimSpace(line), http.StatusUnprocessableEntity
	}
	if wire.IsBlank(line) {
		return wire.Reply{}, wire.Fail(blank, "Media type and URL missing")
	}
	var m record.Medium
	m.Kind, m.URL, _ = strings.Cut(line, "=")
	if s.Deployed {
		m.URL, _, _ = strings.Cut(m.URL, "=")
	}
	if wire.IsBlank(m.Kind) {
		m.Kind = "text/plain"
	}
	return wire.Text(http.StatusOK, "OK"), s.Change(c.doi, func(rec *record.Record) (*record.Record, error) {
		if rec == nil {
			return nil, store.ErrNoRecord
		}
		if err := mayChange(c.account, rec.Owner(c.account)); err != nil {
			return nil, err
		}
		switch {
		case wire.IsBlank(m.URL):
			return nil, record.ErrBlank
		case !m.HasURL():
			return nil, record.ErrInvalid
		}
		rec.Media = append(slices.Clone(rec.Media), m)
		return rec, nil
	})
}
