package mds

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Medium is a file of a DOI: where it is, and of which media type.
type Medium struct {
	Type string // such as "application/pdf"
	URL  string
}

// Media lists the files that are registered for a DOI, the newest first. A DOI
// without any is [datacite.ErrNotFound], as is an unknown DOI. The deployed service
// returns 25 at most, with no way to ask for the others; then the list comes
// with
// [datacite.ErrIncomplete], and with [ErrGarbled] if it may have garbled characters
// beyond ASCII in URLs.
//
// Media sends GET /media/{doi}, which the specification does not show and the
// deployed service has.
func (c *Client) Media(ctx context.Context, doiName string) ([]Medium, error) {
	name, err := readable(doiName)
	if err != nil {
		return nil, err
	}
	request := transport.Request{Op: "mds.Media", Method: "GET", Path: "/media/" + doi.Store.Path(name)}
	res, err := c.do(ctx, request)
	if err != nil {
		return nil, err
	}
	var media []Medium
	for line := range strings.Lines(string(res.Data)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		kind, address, ok := strings.Cut(line, "=")
		if !ok {
			return nil, c.core.Unreadable(request, res, fmt.Errorf("the line %q has no =", line))
		}
		media = append(media, Medium{Type: kind, URL: address})
	}
	var incomplete, lossy error
	if len(media) == mediaPage {
		incomplete = fmt.Errorf("mds.Media: %w: %s has %d files or more", datacite.ErrIncomplete, name, mediaPage)
	}
	if garbled(res.Data) {
		lossy = garbledError("mds.Media", name)
	}
	return media, errors.Join(incomplete, lossy)
}

// mediaPage is how many files the deployed service lists.
const mediaPage = 25

// AddMedium registers one more file for a DOI. The deployed service would cut
// the URL at its first "=", so one that has any is refused ([*datacite.FieldError]).
//
// Each request adds an entry, so it is sent again only when no connection could
// be made. After a lost answer, or a 429 or 503, which a gateway may give while
// the service goes on with the work, the error matches [datacite.ErrUnclear]: see whether
// [Client.Media] has the entry before you call again.
//
// AddMedium sends POST /media/{doi}, which the specification does not show and
// the deployed service has.
func (c *Client) AddMedium(ctx context.Context, doiName string, m Medium) error {
	name, err := c.writable(doiName)
	if err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	request := transport.Request{
		Op: "mds.AddMedium", Method: "POST", Path: "/media/" + doi.Store.Path(name), Replay: transport.IfUnsent,
		ContentType: "text/plain;charset=UTF-8", Body: strings.NewReader(m.Type + "=" + m.URL),
	}
	res, err := c.do(ctx, request)
	if err != nil {
		return err
	}
	_, err = c.accepted(request, res)
	return err
}

func (m Medium) check() error {
	kind, params, err := mime.ParseMediaType(m.Type)
	if err != nil || !strings.Contains(kind, "/") || len(params) > 0 || strings.ContainsAny(m.Type, " \t\r\n=") {
		return &datacite.FieldError{Path: "medium.Type", Reason: fmt.Sprintf("%q is not a media type such as application/pdf", m.Type)}
	}
	if strings.Contains(m.URL, "=") {
		return &datacite.FieldError{Path: "medium.URL", Reason: fmt.Sprintf("%q has a =, at which the service would cut it off", m.URL)}
	}
	return checkURL("medium.URL", m.URL, "http", "https", "ftp", "gs", "s3", "dos")
}
