package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// medium is a file of a DOI.
type medium struct{ kind, url string }

// serveMedia is /media/{doi}, which the specification does not show: the files
// of a DOI, one "type=URL" a line.
func (s *mdsRoom) serveMedia(q *request, path string) (reply, error) {
	account, err := s.login(q)
	if err != nil {
		return reply{}, err
	}
	name, err := nameInPath(path)
	switch {
	case err != nil:
		return reply{}, err
	case q.method == http.MethodGet:
		return s.getMedia(account, name)
	case q.method == http.MethodPost:
		return s.addMedium(q, account, name)
	}
	return reply{}, errNoRoute
}

func (s *mdsRoom) getMedia(account *Account, name string) (reply, error) {
	rec := s.find(name)
	if err := hidden(rec, account, errUnknown); err != nil {
		return reply{}, err
	}
	if len(rec.media) == 0 {
		return reply{}, errNoMedia
	}
	var lines []string
	for _, m := range rec.media {
		lines = append(lines, m.kind+"="+m.url)
	}
	return textReply(http.StatusOK, strings.Join(lines, "\n")), nil
}

func (s *mdsRoom) addMedium(q *request, account *Account, name string) (reply, error) {
	body, err := readBody(q)
	if err != nil {
		return reply{}, err
	}
	line := strings.TrimSpace(string(body))
	m, err := readMedium(line)
	if err != nil {
		return reply{}, err
	}
	err = s.change(name, func(rec *record) (*record, error) {
		if rec == nil {
			return nil, errUnknown
		}
		if !rec.owner(account) {
			return nil, errDenied
		}
		rec.media = append(slices.Clone(rec.media), m)
		return rec, nil
	})
	if err != nil {
		return reply{}, err
	}
	return textReply(http.StatusOK, "OK"), nil
}

var errNoMedia = fail(http.StatusNotFound, "No media for the DOI")

var mediaSchemes = []string{"ftp", "http", "https", "gs", "s3", "dos"}

func readMedium(line string) (medium, error) {
	kind, address, _ := strings.Cut(line, "=")
	if kind == "" || address == "" {
		return medium{}, fail(http.StatusUnprocessableEntity, "Media type and URL missing")
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(mediaSchemes, u.Scheme) || strings.ContainsAny(address, " \n") {
		return medium{}, fail(http.StatusUnprocessableEntity, "url: Is invalid")
	}
	return medium{kind, address}, nil
}
