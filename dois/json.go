package dois

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/metadata"
)

// The tables below say how the members of a record's JSON are read, whatever their
// type; those of the metadata are package metadata's.

type decoder = jsonlex.Decoder

var recordJSON = jsonlex.NewObject(append(append(
	jsonlex.Members(jsonlex.Shared[metadata.Record](), func(r *Record) *metadata.Record { return &r.Record }),
	jsonlex.Text("url", func(r *Record) *string { return &r.URL }),
	jsonlex.List("contentUrl", func(r *Record) *[]string { return &r.ContentURL }, jsonlex.TextItem),
	jsonlex.Int("metadataVersion", func(r *Record) *int { return &r.MetadataVersion }),
	jsonlex.Word("source", func(r *Record) *string { return &r.Source }),
	jsonlex.Bool("isActive", func(r *Record) *bool { return &r.IsActive }),
	jsonlex.Word("state", func(r *Record) *State { return &r.State }),
	jsonlex.Text("reason", func(r *Record) *string { return &r.Reason }),
	jsonlex.Word("agency", func(r *Record) *string { return &r.Agency }),
	jsonlex.Of("container", func(r *Record) *Container { return &r.Container }, containerJSON),
	jsonlex.Int("viewCount", func(r *Record) *int { return &r.ViewCount }),
	jsonlex.Int("downloadCount", func(r *Record) *int { return &r.DownloadCount }),
	jsonlex.Int("referenceCount", func(r *Record) *int { return &r.ReferenceCount }),
	jsonlex.Int("citationCount", func(r *Record) *int { return &r.CitationCount }),
	jsonlex.Int("partCount", func(r *Record) *int { return &r.PartCount }),
	jsonlex.Int("partOfCount", func(r *Record) *int { return &r.PartOfCount }),
	jsonlex.Int("versionCount", func(r *Record) *int { return &r.VersionCount }),
	jsonlex.Int("versionOfCount", func(r *Record) *int { return &r.VersionOfCount }),
	jsonlex.Text("created", func(r *Record) *Timestamp { return &r.Created }),
	jsonlex.Text("registered", func(r *Record) *Timestamp { return &r.Registered }),
	jsonlex.Word("published", func(r *Record) *metadata.Text { return &r.Published }),
	jsonlex.Text("updated", func(r *Record) *Timestamp { return &r.Updated }),
	jsonlex.Word("prefix", func(r *Record) *string { return &r.Prefix }),
	jsonlex.Text("suffix", func(r *Record) *string { return &r.Suffix }),
	jsonlex.List("viewsOverTime", func(r *Record) *Series { return &r.ViewsOverTime }, countJSON.Item),
	jsonlex.List("downloadsOverTime", func(r *Record) *Series { return &r.DownloadsOverTime }, countJSON.Item),
	jsonlex.List("citationsOverTime", func(r *Record) *Series { return &r.CitationsOverTime }, countJSON.Item),
	jsonlex.Member[Record]{Name: "landingPage", Read: readLandingPage},
	jsonlex.Member[Record]{Name: "xml", Read: func(d *decoder, r *Record) { r.MetadataXML = d.Base64() }},
), relations...)...)

var containerJSON = jsonlex.NewObject(
	jsonlex.Word("type", func(c *Container) *string { return &c.Type }),
	jsonlex.Text("title", func(c *Container) *string { return &c.Title }),
	jsonlex.Text("identifier", func(c *Container) *string { return &c.Identifier }),
	jsonlex.Word("identifierType", func(c *Container) *string { return &c.IdentifierType }),
	jsonlex.Text("volume", func(c *Container) *string { return &c.Volume }),
	jsonlex.Text("issue", func(c *Container) *string { return &c.Issue }),
	jsonlex.Text("edition", func(c *Container) *string { return &c.Edition }),
	jsonlex.Text("number", func(c *Container) *string { return &c.Number }),
	jsonlex.Text("chapterNumber", func(c *Container) *string { return &c.ChapterNumber }),
	jsonlex.Text("firstPage", func(c *Container) *string { return &c.FirstPage }),
	jsonlex.Text("lastPage", func(c *Container) *string { return &c.LastPage }),
	jsonlex.List("identifiers", func(c *Container) *[]metadata.Identifier { return &c.Identifiers }, jsonlex.Shared[metadata.Identifier]().Item),
)

var countJSON = jsonlex.NewObject(
	jsonlex.Text("yearMonth", func(c *Count) *string { return &c.YearMonth }),
	jsonlex.Word("year", func(c *Count) *metadata.Text { return &c.Year }),
	jsonlex.Int("total", func(c *Count) *int { return &c.Total }),
)

var landingPageJSON = jsonlex.NewObject(
	jsonlex.Text("url", func(p *LandingPage) *string { return &p.URL }),
	jsonlex.Int("status", func(p *LandingPage) *int { return &p.Status }),
	jsonlex.Text("checked", func(p *LandingPage) *Timestamp { return &p.Checked }),
	jsonlex.Text("contentType", func(p *LandingPage) *string { return &p.ContentType }),
	jsonlex.Text("error", func(p *LandingPage) *string { return &p.Error }),
	jsonlex.Int("redirectCount", func(p *LandingPage) *int { return &p.RedirectCount }),
	jsonlex.List("redirectUrls", func(p *LandingPage) *[]string { return &p.RedirectURLs }, jsonlex.TextItem),
	jsonlex.Member[LandingPage]{Name: "downloadLatency", Read: func(d *decoder, p *LandingPage) { p.DownloadLatency = d.Float() }},
	jsonlex.Bool("hasSchemaOrg", func(p *LandingPage) *bool { return &p.HasSchemaOrg }),
	jsonlex.List("schemaOrgId", func(p *LandingPage) *[]string { return &p.SchemaOrgID }, jsonlex.TextItem),
	jsonlex.Text("dcIdentifier", func(p *LandingPage) *string { return &p.DCIdentifier }),
	jsonlex.Text("citationDoi", func(p *LandingPage) *string { return &p.CitationDOI }),
	jsonlex.Bool("bodyHasPid", func(p *LandingPage) *bool { return &p.BodyHasPID }),
)

func readLandingPage(d *decoder, r *Record) {
	if r.LandingPage = nil; d.Kind() == '{' {
		r.LandingPage = &LandingPage{}
	}
	landingPageJSON.Read(d, r.LandingPage)
}

// relations are what the specification shows as attributes, and the deployed service
// as relationships.
var relations = []jsonlex.Member[Record]{
	relation("client", func(r *Record, ids []string) { r.Client = strings.Join(ids, ",") }),
	relation("provider", func(r *Record, ids []string) { r.Provider = strings.Join(ids, ",") }),
	relation("references", func(r *Record, ids []string) { r.References = ids }),
	relation("citations", func(r *Record, ids []string) { r.Citations = ids }),
	relation("parts", func(r *Record, ids []string) { r.Parts = ids }),
	relation("partOf", func(r *Record, ids []string) { r.PartOf = ids }),
	relation("versions", func(r *Record, ids []string) { r.Versions = ids }),
	relation("versionOf", func(r *Record, ids []string) { r.VersionOf = ids }),
}

// relation reads {"data": …}, an id, an object with an id, or a list of those.
func relation(name string, keep func(*Record, []string)) jsonlex.Member[Record] {
	return jsonlex.Member[Record]{Name: name, Read: func(d *decoder, r *Record) {
		var ids []string
		if d.Kind() == '{' {
			linkageJSON.Read(d, &ids)
		} else {
			readIDs(d, &ids)
		}
		keep(r, ids)
	}}
}

var (
	idJSON  = jsonlex.NewObject(jsonlex.Text("id", func(id *string) *string { return id }), jsonlex.Ignored[string]("type"))
	readIDs = jsonlex.ListReader[[]string](func(d *decoder, id *string) bool {
		return d.Kind() == '{' && idJSON.Item(d, id) || d.Kind() != '{' && jsonlex.TextItem(d, id)
	})
	linkageJSON = jsonlex.NewObject(
		jsonlex.Member[[]string]{Name: "data", Read: readIDs},
		jsonlex.Member[[]string]{Name: "id", Read: readIDs},
	)
	relationshipsJSON = jsonlex.NewObject(relations...)
)

// UnmarshalJSON reads a record as the service sends it: a resource of the type dois, or
// the object of its attributes alone. Raw keeps the attributes. Only two things are errors:
// JSON that is neither of these, and a record that would take far more memory than its
// text.
func (r *Record) UnmarshalJSON(data []byte) error {
	*r = Record{}
	kind, resource := resourceType(data)
	if resource && kind != "" && kind != "dois" {
		return fmt.Errorf("not a record, but a resource of the type %.40q", kind)
	}
	const least, factor, most = 64 << 10, 256, 100 << 20 // of memory; records take two or three times their length
	return jsonlex.Unmarshal(data, func(d *decoder) error {
		d.Use(jsonlex.NewBudget(min(least+factor*int64(len(data)), most)))
		if resource {
			e := envelope{record: r}
			resourceJSON.Read(d, &e)
			return cmp.Or(d.Err(), e.finish())
		}
		readAttributes(d, r)
		r.unite()
		return nil
	})
}

// resourceType tells whether data is a resource rather than the attributes of one, and
// its type, if that comes before the attributes.
func resourceType(data []byte) (kind string, resource bool) {
	l := jsonlex.OfBytes(data)
	l.Begin()
	for i := 0; ; i++ {
		name, more := l.Key(i)
		if !more {
			return kind, false
		}
		switch string(name) {
		case "attributes":
			return kind, true
		case "type":
			if l.Kind() == '"' {
				kind = string(l.Text())
				continue
			}
			l.Skip()
		case "id", "relationships", "links", "meta":
			l.Skip()
		default:
			return kind, false
		}
	}
}

// unite makes one list of the two that alternate identifiers come in.
func (r *Record) unite() {
	listed := r.AlternateIdentifiers
	r.AlternateIdentifiers = nil
	switch copied := r.Alternates(); {
	case len(copied) == 0, slices.Equal(listed, copied):
	case len(listed) == 0:
		listed = copied
	default:
		known := make(map[metadata.AlternateIdentifier]bool, len(listed))
		for _, id := range listed {
			known[id] = true
		}
		for _, id := range copied {
			if !known[id] {
				listed = append(listed, id)
			}
		}
	}
	r.AlternateIdentifiers, r.Identifiers = listed, nil
}

func readAttributes(d *decoder, r *Record) {
	if d.Kind() != '{' {
		d.Fail(errNoAttributes)
		return
	}
	d.Hold()
	recordJSON.Read(d, r)
	r.Raw = d.Keep()
}

// An envelope is what the service puts around a response, as far as it belongs to one
// record or to the page of a list.
type envelope struct {
	record   *Record
	id       string
	whole    bool // the record has attributes
	included []Resource
}

// recordEnvelopeJSON reads a response with one record, resourceJSON the record in it.
var (
	recordEnvelopeJSON = jsonlex.NewObject(
		jsonlex.Member[envelope]{Name: "data", Read: func(d *decoder, e *envelope) { resourceJSON.Read(d, e) }},
		includedJSON(func(e *envelope) *[]Resource { return &e.included }),
	)
	resourceJSON = jsonlex.NewObject(
		jsonlex.Text("id", func(e *envelope) *string { return &e.id }),
		jsonlex.Ignored[envelope]("type"),
		jsonlex.Member[envelope]{Name: "attributes", Read: func(d *decoder, e *envelope) {
			readAttributes(d, e.record)
			e.whole = true
		}},
		jsonlex.Member[envelope]{Name: "relationships", Read: func(d *decoder, e *envelope) {
			d.Hold()
			relationshipsJSON.Read(d, e.record)
			e.record.Relationships = d.Keep()
		}},
	)
)

func includedJSON[T any](field func(*T) *[]Resource) jsonlex.Member[T] {
	return jsonlex.List("included", field, jsonlex.NewObject(
		jsonlex.Text("id", func(r *Resource) *string { return &r.ID }),
		jsonlex.Word("type", func(r *Resource) *string { return &r.Type }),
		jsonlex.Member[Resource]{Name: "attributes", Read: func(d *decoder, r *Resource) { r.Attributes = d.Raw() }},
		jsonlex.Member[Resource]{Name: "relationships", Read: func(d *decoder, r *Resource) { r.Relationships = d.Raw() }},
	).Item)
}

var errNoAttributes = errors.New("a record has no attributes")

// finish completes the record.
func (e *envelope) finish() error {
	if !e.whole {
		return errNoAttributes
	}
	e.record.DOI = cmp.Or(e.record.DOI, e.id)
	e.record.Included = e.included
	e.record.unite()
	return nil
}

// A page is the response to GET /dois while it is being read.
type page struct {
	fields   []string            // that were requested
	limit    int                 // records that were requested; 0: not known
	place    func() *Record      // where the next record goes
	each     func(*Record) error // called for each record as soon as it is there
	err      error               // of each
	records  int
	listed   bool // the list of records was there
	meta     map[string]json.RawMessage
	facets   map[string]Facet
	links    links
	included []Resource
}

type links struct{ next string }

var linksJSON = jsonlex.NewObject(jsonlex.Text("next", func(l *links) *string { return &l.next }))

var pageJSON = jsonlex.NewObject(
	jsonlex.Member[page]{Name: "data", Read: readRecords},
	jsonlex.Member[page]{Name: "meta", Read: readMeta},
	jsonlex.Of("links", func(p *page) *links { return &p.links }, linksJSON),
	includedJSON(func(p *page) *[]Resource { return &p.included }),
)

// read reads a response to its end. An error of each ends it.
func (p *page) read(d *decoder) error {
	pageJSON.Read(d, p)
	switch {
	case p.err != nil:
		return p.err
	case d.Err() == nil && !p.listed:
		return errors.New("it has no list of records")
	}
	return d.Err()
}

func readRecords(d *decoder, p *page) {
	if d.Kind() != '[' {
		d.Skip()
		return
	}
	p.listed = true
	d.List()
	for i := 0; d.Element(i); i++ {
		if p.err = p.readRecord(d); p.err != nil {
			d.Fail(p.err)
		}
	}
}

func (p *page) readRecord(d *decoder) error {
	if p.records++; p.limit > 0 && p.records > p.limit {
		return fmt.Errorf("%w: it has more records than the %d requested", datacite.ErrTooLarge, p.limit)
	}
	d.Spend(int(reflect.TypeFor[Record]().Size()))
	e := envelope{record: p.place()}
	e.record.Fields = p.fields
	resourceJSON.Read(d, &e)
	if err := cmp.Or(d.Err(), e.finish()); err != nil {
		return err
	}
	return p.each(e.record)
}

// readMeta reads what the service says about the results. What is neither paging
// nor a number is a facet.
func readMeta(d *decoder, p *page) {
	if d.Kind() != '{' {
		d.Skip()
		return
	}
	p.meta, p.facets = map[string]json.RawMessage{}, nil
	d.Begin()
	for i := 0; ; i++ {
		key, more := d.Key(i)
		if !more {
			return
		}
		const entry = 250 // bytes that the two maps take for one, about
		name := string(key)
		d.Spend(entry + 2*len(name))
		d.Hold()
		facet := readFacet(d)
		p.meta[name] = d.Keep()
		if slices.Contains([]string{"total", "totalPages", "page", "scroll-id"}, name) {
			continue
		}
		if p.facets == nil {
			p.facets = map[string]Facet{}
		}
		p.facets[name] = facet
	}
}

var readFacetCounts = jsonlex.ListReader[[]FacetCount](jsonlex.NewObject(
	jsonlex.Text("id", func(c *FacetCount) *string { return &c.ID }),
	jsonlex.Text("title", func(c *FacetCount) *string { return &c.Title }),
	jsonlex.Int("count", func(c *FacetCount) *int { return &c.Count }),
).Item)

func readFacet(d *decoder) (f Facet) {
	switch c := d.Kind(); {
	case c == '[':
		readFacetCounts(d, &f.Counts)
	case c >= '0' && c <= '9':
		f.Number = d.Int()
	default:
		d.Skip()
	}
	return f
}
