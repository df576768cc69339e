package dois

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go/internal/params"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/query"
)

// ListOptions choose records, their order and their shape (specification §4.2).
// Zero values are not sent. Filters that are set must all hold, except that the
// deployed service takes records that match either of ProviderID and ClientID.
type ListOptions struct {
	Query  query.Expr   // nil finds everything
	Sort   query.Sort   // "" leaves the order to the service, which puts the last updated first
	Page   query.Page   // which part; see package query for its rules
	Sample query.Sample // a random part instead

	ProviderID     string // of one provider: a member, a consortium or an organization of one
	ClientID       string // of one client, that is, repository
	ConsortiumID   string // of one consortium
	ResourceTypeID string // one resourceTypeGeneral, such as "dataset"
	Prefix         string // with one prefix, such as "10.5072"
	Registered     string // registered in a year, such as "2020", or in "2019,2021" and between
	Created        string // created in a year, as for Registered
	SchemaVersion  string // whose metadata use a version of the schema, such as "4"

	Affiliation bool     // affiliations with their identifiers
	Publisher   bool     // publisher with its identifier
	Detail      bool     // the extra attributes of specification §2.2
	Fields      []string // only these attributes, such as "doi" and "titles"; others stay zero

	InBody bool       // send the parameters as JSON in the body, for queries too long for a URL; some networks drop the body of a GET
	Extra  url.Values // further parameters of the service, sent as they are; they must not repeat one above
}

type listParams struct {
	Query          string     `url:"query,omitempty"`
	Sort           query.Sort `url:"sort,omitempty"`
	Page           pageParams `url:"page"`
	Random         bool       `url:"random,omitempty"`
	Sample         int        `url:"sample,omitempty"`
	SampleGroup    string     `url:"sample-group,omitempty"`
	ProviderID     string     `url:"provider-id,omitempty"`
	ClientID       string     `url:"client-id,omitempty"`
	ConsortiumID   string     `url:"consortium-id,omitempty"`
	ResourceTypeID string     `url:"resource-type-id,omitempty"`
	Prefix         string     `url:"prefix,omitempty"`
	Registered     string     `url:"registered,omitempty"`
	Created        string     `url:"created,omitempty"`
	SchemaVersion  string     `url:"schema-version,omitempty"`
	Fields         []string   `url:"fields[dois],comma,omitempty"`
}

type pageParams struct {
	Number int    `url:"number,omitempty"`
	Size   int    `url:"size,omitempty"`
	Cursor string `url:"cursor,omitempty"`
}

// values turns the options into parameters, after checking them.
func (o *ListOptions) values() (url.Values, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	text := ""
	if o.Query != nil {
		text = o.Query.String()
	}
	v, err := params.Values(listParams{
		Query: text, Sort: o.Sort, Page: pageParams(o.Page),
		Random: o.Sample.Random, Sample: o.Sample.Size, SampleGroup: o.Sample.Group,
		ProviderID: o.ProviderID, ClientID: o.ClientID, ConsortiumID: o.ConsortiumID, ResourceTypeID: o.ResourceTypeID,
		Prefix: o.Prefix, Registered: o.Registered, Created: o.Created, SchemaVersion: o.SchemaVersion, Fields: o.Fields,
	})
	if err != nil {
		return nil, err
	}
	maps.Copy(v, (&GetOptions{o.Affiliation, o.Publisher, o.Detail}).values())
	for name, values := range o.Extra {
		if v.Has(name) {
			return nil, &FieldError{Path: "ListOptions.Extra", Reason: fmt.Sprintf("repeats the parameter %s", name)}
		}
		v[name] = values
	}
	return v, nil
}

// years is one year, or several that the service takes as a range.
var years = regexp.MustCompile(`^\d{4}(,\d{4})*$`)

func (o *ListOptions) check() error {
	if err := query.CheckList(o.Query, o.Sort, o.Page, o.Sample); err != nil {
		return &FieldError{Path: "ListOptions", Reason: "cannot be sent: " + err.Error(), err: err}
	}
	for _, f := range []struct{ name, value string }{{"Registered", o.Registered}, {"Created", o.Created}} {
		if f.value != "" && !years.MatchString(f.value) {
			return &FieldError{Path: "ListOptions." + f.name, Reason: fmt.Sprintf(`%q is not a year such as "2020", or years such as "2019,2021"`, f.value)}
		}
	}
	for _, name := range o.Fields {
		if name == "" || strings.ContainsAny(name, ", ") {
			return &FieldError{Path: "ListOptions.Fields", Reason: fmt.Sprintf("%q is not the name of one attribute", name)}
		}
	}
	return nil
}

// Results is one page of records.
type Results struct {
	Records []Record
	Total   int        // records on all pages; -1 if the service does not say
	Next    query.Page // the page after this one, if More is true
	More    bool
	Meta    map[string]json.RawMessage // what the service says about the results, such as facets
}

// List returns one page of the records that match opts; nil asks for the first
// 25 of all. Options that the service would refuse, ignore or read as something
// else are a [*FieldError].
//
// List sends GET /dois (specification §4.2). To read on, put Results.Next into
// the options of the next call, or use [Client.All].
func (c *Client) List(ctx context.Context, opts *ListOptions) (*Results, error) {
	if opts == nil {
		opts = &ListOptions{}
	}
	return c.list(ctx, "dois.List", opts)
}

func (c *Client) list(ctx context.Context, op string, o *ListOptions) (*Results, error) {
	values, err := o.values()
	if err != nil {
		return nil, err
	}
	request := transport.Request{Op: op, Method: "GET", Path: "/dois", Access: transport.Optional}
	if o.InBody {
		request.ContentType = transport.JSONType
		request.Body, err = params.JSON(values)
		if err != nil {
			return nil, &FieldError{Path: "ListOptions.Extra", Reason: err.Error()}
		}
	} else {
		request.Query = params.Encode(values)
	}
	type envelope struct {
		Data  []resource                 `json:"data"`
		Meta  map[string]json.RawMessage `json:"meta"`
		Links struct {
			Next string `json:"next"`
		} `json:"links"`
	}
	page, res, err := transport.JSON[envelope](ctx, c.core, request)
	if err != nil {
		return nil, wrap(err)
	}
	if page.Data == nil {
		return nil, wrap(c.core.Unreadable(request, res, errors.New("it has no list of records")))
	}
	r := &Results{Records: make([]Record, len(page.Data)), Total: number(page.Meta["total"]), Meta: page.Meta}
	for i, found := range page.Data {
		if r.Records[i], err = found.record(); err != nil {
			return nil, wrap(c.core.Unreadable(request, res, fmt.Errorf("record %d: %w", i, err)))
		}
	}
	if shown := number(page.Meta["page"]); o.Page.Number > 0 && shown > 0 && shown != o.Page.Number {
		return nil, wrap(c.core.Unreadable(request, res, fmt.Errorf("it is page %d, and page %d was asked for", shown, o.Page.Number)))
	}
	r.next(o, page.Links.Next)
	return r, nil
}

// next works out the page that follows. The service's own link leaves out some
// of the parameters, so only the cursor is taken from it.
func (r *Results) next(o *ListOptions, link string) {
	if o.Sample != (query.Sample{}) || len(r.Records) == 0 {
		return
	}
	if o.Page.Cursor != "" {
		u, err := url.Parse(link)
		if err != nil {
			return
		}
		if cursor := u.Query().Get("page[cursor]"); cursor != "" {
			r.More, r.Next = true, query.Page{Size: o.Page.Size, Cursor: cursor}
		}
		return
	}
	const defaultSize = 25
	at, size := cmp.Or(o.Page.Number, 1), cmp.Or(o.Page.Size, defaultSize)
	if r.Total < 0 {
		r.More = link != ""
	} else {
		r.More = at*size < r.Total
	}
	if r.More {
		r.Next = query.Page{Number: at + 1, Size: o.Page.Size}
	}
}

// number reads a member of meta that is a number; -1 if it is not.
func number(raw json.RawMessage) int {
	var n int
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return -1
	}
	return n
}
