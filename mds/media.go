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

// Media is a file of a DOI: its media type and where it is.
type Media struct {
	Type string // such as "application/pdf"
	URL  string
}

// ListMedia lists the files that are registered for a DOI, the newest first. If there
// are none, or the DOI is unknown, the error is [datacite.ErrNotFound]. The deployed
// service lists 25 at most, with no way to ask for the others; such a list comes with
// [datacite.ErrIncomplete]. It comes with [ErrGarbled] if the service may have garbled
// characters beyond ASCII in URLs.
//
// ListMedia sends GET /media/{doi}, which the specification does not show and the
// deployed service has.
func (c *Client) ListMedia(ctx context.Context, doiName string) ([]Media, error) {
	name, err := readable(doiName)
	if err != nil {
		return nil, err
	}
	const op = "mds.ListMedia"
	request := transport.Request{Op: op, Method: "GET", Path: "/media/" + doi.Store.Path(name)}
	res, err := c.do(ctx, request)
	if err != nil {
		return nil, err
	}
	var media []Media
	for line := range strings.Lines(string(res.Data)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		kind, address, ok := strings.Cut(line, "=")
		if !ok {
			return nil, c.core.Unreadable(request, res, fmt.Errorf("the line %q has no =", line))
		}
		media = append(media, Media{Type: kind, URL: address})
	}
	var incomplete, lossy error
	if len(media) == mediaPage {
		incomplete = fmt.Errorf("%s: %w: %s has %d files or more", op, datacite.ErrIncomplete, name, mediaPage)
	}
	if garbled(res.Data) {
		lossy = garbledError(op, name)
	}
	return media, errors.Join(incomplete, lossy)
}

// mediaPage is how many files the deployed service lists.
const mediaPage = 25

// AddMedia registers one more file for a DOI. URLs with a "=" are refused
// ([*datacite.ValidationError]), as the deployed service would cut them there.
//
// Each request adds an entry, so it is sent again only when no connection could
// be made. If the error matches [datacite.ErrUnclear], look with [Client.ListMedia]
// before you call again: the entry may have been added.
//
// AddMedia sends POST /media/{doi}, which the specification does not show and
// the deployed service has.
func (c *Client) AddMedia(ctx context.Context, doiName string, m Media) error {
	name, err := c.writable(doiName)
	if err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	request := transport.Request{
		Op: "mds.AddMedia", Method: "POST", Path: "/media/" + doi.Store.Path(name), Replay: transport.IfUnsent,
		ContentType: "text/plain;charset=UTF-8", Body: strings.NewReader(m.Type + "=" + m.URL),
	}
	res, err := c.do(ctx, request)
	if err != nil {
		return err
	}
	_, err = c.accepted(request, res)
	return err
}

func (m Media) check() error {
	kind, params, err := mime.ParseMediaType(m.Type)
	if err != nil || !strings.Contains(kind, "/") || len(params) > 0 || strings.ContainsAny(m.Type, " \t\r\n=") {
		return datacite.Invalid(datacite.Finding{Path: "media.Type", Code: "syntax", Reason: fmt.Sprintf("%q is not a media type such as application/pdf", m.Type)})
	}
	if strings.Contains(m.URL, "=") {
		return datacite.Invalid(datacite.Finding{Path: "media.URL", Code: "value", Reason: fmt.Sprintf("%q has a =, at which the service would cut it", m.URL)})
	}
	return checkURL("media.URL", m.URL, "http", "https", "ftp", "gs", "s3", "dos")
}
