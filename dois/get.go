package dois

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/params"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// GetOptions choose what the service sends of a record.
type GetOptions struct {
	// Affiliations and the publisher always come with their identifiers, so that Record.Draft
	// has all that an update writes: that costs the service nothing. These need not be set.
	Affiliation, Publisher bool `url:"-"`

	Detail      bool     `url:"detail,omitempty"`        // the attributes of specification §2.2 that a list leaves out; the deployed service always sends them here
	Include     []string `url:"include,comma,omitempty"` // resources for Record.Included; the service knows "client" and "media"
	IfNoneMatch string   `url:"-"`                       // the ETag of an earlier response; Get returns ErrNotModified if the record is still the same
}

// Get returns one record. Records that are not findable are [datacite.ErrNotFound] unless
// the client has the credentials of their account.
//
// The deployed service lists everything that cites a record, so one record can take a
// minute or more. It misreads some names in a path: those with letters beyond ASCII, and
// with the parts "." and "..". They are a [*datacite.ValidationError]; ListOptions.IDs finds them.
//
// A response with the record of another DOI matches [datacite.ErrUnreadable].
//
// Get sends GET /dois/{doi} (specification §4.2).
func (c *Client) Get(ctx context.Context, doiName string, opts *GetOptions) (*Record, error) {
	name, err := readable(doiName)
	if err != nil {
		return nil, err
	}
	opts = cmp.Or(opts, &GetOptions{})
	if err := opts.check("GetOptions"); err != nil {
		return nil, err
	}
	// The deployed service gives a compressed response no ETag.
	header := http.Header{"Accept-Encoding": {"identity"}}
	if opts.IfNoneMatch != "" {
		header.Set("If-None-Match", opts.IfNoneMatch)
	}
	request := transport.Request{
		Op: "dois.Get", Method: "GET", Path: "/dois/" + doi.API.Path(name), Query: opts.query(),
		Access: transport.Optional, Header: header,
	}
	return c.doRecord(ctx, name, request)
}

func (o *GetOptions) check(path string) error {
	var f faults
	f.names(path+".Include", o.Include, []string{"client", "media"})
	return datacite.Invalid(f...)
}

func (o *GetOptions) query() string {
	v, _ := params.Values(o) // of texts, flags and lists
	v.Set("affiliation", "true")
	v.Set("publisher", "true")
	return params.Encode(v)
}

// Exists reports whether a DOI exists and the client may see it, without reading its
// record.
//
// Exists sends HEAD /dois/{doi}.
func (c *Client) Exists(ctx context.Context, doiName string) (bool, error) {
	name, err := readable(doiName)
	if err != nil {
		return false, err
	}
	_, err = c.core.Do(ctx, transport.Request{
		Op: "dois.Exists", Method: "HEAD", Path: "/dois/" + doi.API.Path(name), Accept: transport.JSONType, Access: transport.Optional,
	})
	if errors.Is(err, datacite.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// doRecord sends a request whose response is the record of a DOI; of any, if name is empty.
func (c *Client) doRecord(ctx context.Context, name string, request transport.Request) (*Record, error) {
	var record Record
	request.Accept = transport.JSONType
	request.Read = func(d *decoder) error {
		record = Record{}
		e := envelope{record: &record}
		recordEnvelopeJSON.Read(d, &e)
		if err := e.finish(d); err != nil {
			return err
		}
		if got := record.DOI; name != "" && got != "" && !doi.Equal(got, name) {
			return fmt.Errorf("it is the record of %.200q, not of %q", got, name)
		}
		return nil
	}
	res, err := c.core.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	record.ETag = res.Header.Get("ETag")
	return &record, nil
}
