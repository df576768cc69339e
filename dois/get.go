package dois

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// GetOptions select the parts of a record that the service sends. Affiliations and the
// publisher always come with their identifiers, which Record.Draft needs for an update.
type GetOptions struct {
	// Detail: the attributes of specification §2.2 that a list leaves out; the deployed service always
	// sends them here
	Detail bool `url:"detail,omitempty"`
	// Include: resources for Record.Included; the service knows "client" and "media"
	Include []string `url:"include,comma,omitempty"`
}

// Get returns one record. Records that are not findable are [datacite.ErrNotFound] unless
// the client has the credentials of their account.
//
// The deployed service lists everything that cites a record, so one record can take a
// minute or more. It misreads some names in a path: with letters beyond ASCII, or a part "." or
// "..". Get reads these from the list, which lags behind writes by seconds or minutes; such a name
// with a comma is refused.
//
// Get sends GET /dois/{doi} (specification §4.2).
func (c *Client) Get(ctx context.Context, doiName string, opts *GetOptions) (*Record, error) {
	name, err := parseName("doi", doiName)
	if err != nil {
		return nil, err
	}
	opts = cmp.Or(opts, &GetOptions{})
	if err := opts.check("GetOptions"); err != nil {
		return nil, err
	}
	switch misread := doi.API.Check(name); {
	case misread != nil && strings.Contains(name, ","):
		return nil, doi.At("doi", misread)
	case misread != nil:
		return c.listed(ctx, name, opts)
	}
	request := transport.Request{
		Op: "dois.Get", Method: "GET", Path: "/dois/" + doi.API.Path(name), Query: opts.query(),
		Access: transport.Optional, Expected: call.ExpectedOf(ctx),
	}
	return c.doRecord(ctx, name, request)
}

// listed reads a record from the list.
func (c *Client) listed(ctx context.Context, name string, opts *GetOptions) (*Record, error) {
	found, err := c.List(ctx, &ListOptions{IDs: []string{name}, Affiliation: true, Publisher: true, Detail: opts.Detail,
		Include: opts.Include})
	if err != nil {
		return nil, err
	}
	for i := range found.Records {
		if r := &found.Records[i]; doi.Equal(r.DOI, name) {
			r.Included = found.Included
			return r, nil
		}
	}
	return nil, fmt.Errorf("dois.Get: %w: the list has no DOI %s", datacite.ErrNotFound, name)
}

func (o *GetOptions) check(path string) error {
	var f faults
	f.names(path+".Include", o.Include, []string{"client", "media"})
	return datacite.Invalid(f...)
}

func (o *GetOptions) query() string {
	v, _ := transport.Params(o) // of texts, flags and lists
	v.Set("affiliation", "true")
	v.Set("publisher", "true")
	return transport.EncodeParams(v)
}

// Exists reports whether a DOI exists and the client may see it. It reads no more of the
// record than its DOI: any other response with status 200 or 404 than that of the service,
// such as a login page, is an error.
//
// Exists sends GET /dois/{doi} (specification §4.2).
func (c *Client) Exists(ctx context.Context, doiName string) (bool, error) {
	name, err := doi.API.Readable(doiName)
	if err != nil {
		return false, err
	}
	_, err = c.core.Do(ctx, transport.Request{
		Op: "dois.Exists", Method: "GET", Path: "/dois/" + doi.API.Path(name), Accept: transport.JSONType,
		Access: transport.Optional, Expected: http.StatusNotFound,
		Read: func(d *decoder) error {
			var id string
			existingJSON.Read(d, &id)
			if err := d.Err(); err != nil {
				return err
			}
			return checkName(id, name)
		},
	})
	if transport.NotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// existingJSON reads the DOI of a record.
var existingJSON = jsonlex.NewObject(jsonlex.Field("data", jsonlex.NewObject(
	jsonlex.Field("id", func(d *decoder, id *string) { *id = d.Text() }),
).Read))

// checkName refuses the record of another DOI than name; of none, if name is empty.
func checkName(got, name string) error {
	switch {
	case got == "":
		return errors.New("it has no DOI")
	case name != "" && !doi.Equal(got, name):
		return fmt.Errorf("it is the record of %.200q, not of %q", got, name)
	}
	return nil
}

// maxRecord is how many bytes the attributes of a single record may have: the metadata, and their XML in base64.
const maxRecord = 32 << 20

// doRecord sends a request whose response is the record of a DOI; of any, if name is empty.
func (c *Client) doRecord(ctx context.Context, name string, request transport.Request) (*Record, error) {
	var record Record
	request.Accept = transport.JSONType
	request.Read = func(d *decoder) error {
		record = Record{}
		d.Allow(maxRecord)
		e := envelope{record: &record, stored: true}
		recordEnvelopeJSON.Read(d, &e)
		return cmp.Or(e.finish(d), checkName(record.DOI, name))
	}
	if _, err := c.core.Do(ctx, request); err != nil {
		return nil, err
	}
	return &record, nil
}
