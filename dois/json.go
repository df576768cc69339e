package dois

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/metadata"
)

// The tables below say how the members of a record's JSON are read, whatever their
// type; those of the metadata are package metadata's.

type decoder = jsonlex.Decoder

var recordJSON = sync.OnceValue(func() *jsonlex.Object[Record] {
	inside := func(r *Record) *metadata.Record { return &r.Record }
	members := jsonlex.Inside(jsonlex.Members[metadata.Record](), inside)
	return jsonlex.NewObject(slices.Concat(members, attributes, relations)...).Open()
})

// nameJSON reads the name of a record alone.
var nameJSON = jsonlex.NewObject(jsonlex.Field("doi", func(d *decoder, r *Record) { r.DOI = d.Text() })).Open()

var attributes = []jsonlex.Member[Record]{
	jsonlex.Field("url", func(d *decoder, r *Record) { r.URL = d.Text() }),
	jsonlex.Field("contentUrl", func(d *decoder, r *Record) { r.ContentURL = readTexts(d) }),
	jsonlex.Field("metadataVersion", func(d *decoder, r *Record) { r.MetadataVersion = d.Int() }),
	jsonlex.Field("source", func(d *decoder, r *Record) { r.Source = d.Word() }),
	jsonlex.Field("isActive", func(d *decoder, r *Record) { r.IsActive = d.Truth() }),
	jsonlex.Field("state", func(d *decoder, r *Record) { r.State = datacite.State(d.Word()) }),
	jsonlex.Field("reason", func(d *decoder, r *Record) { r.Reason = d.Text() }),
	jsonlex.Field("agency", func(d *decoder, r *Record) { r.Agency = d.Word() }),
	jsonlex.Of("container", func(r *Record) *Container { return &r.Container }, containerJSON),
	jsonlex.Field("viewCount", func(d *decoder, r *Record) { r.ViewCount = d.Int() }),
	jsonlex.Field("downloadCount", func(d *decoder, r *Record) { r.DownloadCount = d.Int() }),
	jsonlex.Field("referenceCount", func(d *decoder, r *Record) { r.ReferenceCount = d.Int() }),
	jsonlex.Field("citationCount", func(d *decoder, r *Record) { r.CitationCount = d.Int() }),
	jsonlex.Field("partCount", func(d *decoder, r *Record) { r.PartCount = d.Int() }),
	jsonlex.Field("partOfCount", func(d *decoder, r *Record) { r.PartOfCount = d.Int() }),
	jsonlex.Field("versionCount", func(d *decoder, r *Record) { r.VersionCount = d.Int() }),
	jsonlex.Field("versionOfCount", func(d *decoder, r *Record) { r.VersionOfCount = d.Int() }),
	jsonlex.Field("created", func(d *decoder, r *Record) { r.Created = Timestamp(d.Text()) }),
	jsonlex.Field("registered", func(d *decoder, r *Record) { r.Registered = Timestamp(d.Text()) }),
	jsonlex.Field("published", func(d *decoder, r *Record) { r.Published = d.Word() }),
	jsonlex.Field("updated", func(d *decoder, r *Record) { r.Updated = Timestamp(d.Text()) }),
	jsonlex.Field("prefix", func(d *decoder, r *Record) { r.Prefix = d.Word() }),
	jsonlex.Field("suffix", func(d *decoder, r *Record) { r.Suffix = d.Text() }),
	jsonlex.Field("viewsOverTime", func(d *decoder, r *Record) { r.ViewsOverTime = readSeries(d) }),
	jsonlex.Field("downloadsOverTime", func(d *decoder, r *Record) { r.DownloadsOverTime = readSeries(d) }),
	jsonlex.Field("citationsOverTime", func(d *decoder, r *Record) { r.CitationsOverTime = readSeries(d) }),
	jsonlex.Field("xml", func(d *decoder, r *Record) { r.MetadataXML = d.Base64() }),
}

var readTexts = jsonlex.List[[]string](jsonlex.TextItem)

var containerJSON = jsonlex.NewObject(
	jsonlex.Field("type", func(d *decoder, c *Container) { c.Type = d.Word() }),
	jsonlex.Field("title", func(d *decoder, c *Container) { c.Title = d.Text() }),
	jsonlex.Field("identifier", func(d *decoder, c *Container) { c.Identifier = d.Text() }),
	jsonlex.Field("identifierType", func(d *decoder, c *Container) { c.IdentifierType = d.Word() }),
	jsonlex.Field("volume", func(d *decoder, c *Container) { c.Volume = d.Text() }),
	jsonlex.Field("issue", func(d *decoder, c *Container) { c.Issue = d.Text() }),
	jsonlex.Field("edition", func(d *decoder, c *Container) { c.Edition = d.Text() }),
	jsonlex.Field("number", func(d *decoder, c *Container) { c.Number = d.Text() }),
	jsonlex.Field("chapterNumber", func(d *decoder, c *Container) { c.ChapterNumber = d.Text() }),
	jsonlex.Field("firstPage", func(d *decoder, c *Container) { c.FirstPage = d.Text() }),
	jsonlex.Field("lastPage", func(d *decoder, c *Container) { c.LastPage = d.Text() }),
	jsonlex.Field("identifiers", func(d *decoder, c *Container) { c.Identifiers = readIdentifiers(d) }),
)

var readIdentifiers = jsonlex.List[[]ContainerIdentifier](jsonlex.NewObject(
	jsonlex.Field("identifier", func(d *decoder, i *ContainerIdentifier) { i.Identifier = d.Text() }),
	jsonlex.Field("identifierType", func(d *decoder, i *ContainerIdentifier) { i.IdentifierType = d.Word() }),
).Or(func(d *decoder, i *ContainerIdentifier) { i.Identifier = d.Text() }).Item)

var readSeries = jsonlex.List[Series](jsonlex.NewObject(
	jsonlex.Field("yearMonth", func(d *decoder, c *Count) { c.YearMonth = d.Text() }),
	jsonlex.Field("year", func(d *decoder, c *Count) { c.Year = d.Word() }),
	jsonlex.Field("total", func(d *decoder, c *Count) { c.Total = d.Int() }),
).Item)

// relations are what the specification shows as attributes, and the deployed service
// as relationships.
var relations = []jsonlex.Member[Record]{
	jsonlex.Field("client", func(d *decoder, r *Record) { r.Client = strings.Join(readRelation(d), ",") }),
	jsonlex.Field("provider", func(d *decoder, r *Record) { r.Provider = strings.Join(readRelation(d), ",") }),
	jsonlex.Field("references", func(d *decoder, r *Record) { r.References = readRelation(d) }),
	jsonlex.Field("citations", func(d *decoder, r *Record) { r.Citations = readRelation(d) }),
	jsonlex.Field("parts", func(d *decoder, r *Record) { r.Parts = readRelation(d) }),
	jsonlex.Field("partOf", func(d *decoder, r *Record) { r.PartOf = readRelation(d) }),
	jsonlex.Field("versions", func(d *decoder, r *Record) { r.Versions = readRelation(d) }),
	jsonlex.Field("versionOf", func(d *decoder, r *Record) { r.VersionOf = readRelation(d) }),
}

// readRelation reads {"data": …}, an id, an object with an id, or a list of those.
func readRelation(d *decoder) []string {
	if d.Kind() != '{' {
		return readIDs(d)
	}
	var ids []string
	linkageJSON.Read(d, &ids)
	return ids
}

var (
	relationshipsJSON = jsonlex.NewObject(relations...)
	linkageJSON       = jsonlex.NewObject(
		jsonlex.Field("data", func(d *decoder, ids *[]string) { *ids = readIDs(d) }),
		jsonlex.Field("id", func(d *decoder, ids *[]string) { *ids = readIDs(d) }),
	).Open()
	readIDs = jsonlex.List[[]string](func(d *decoder, id *string) bool {
		return d.Kind() == '{' && idJSON.Item(d, id) || d.Kind() != '{' && jsonlex.TextItem(d, id)
	})
	idJSON = jsonlex.NewObject(
		jsonlex.Field("id", func(d *decoder, id *string) { *id = d.Text() }),
		jsonlex.Field("type", func(d *decoder, _ *string) { d.Skip() }),
	).Open()
)

// UnmarshalJSON reads a record as the service sends it: a resource of the type dois, or the
// object of its attributes alone. Raw keeps the attributes. DOI is the name that the record has in doi, in
// the id of the resource or of the attributes, in prefix and suffix, or in an identifier of the type DOI;
// different ones are an error. It fails only for that, for other JSON, and for a record that would take
// far more memory than its text.
func (r *Record) UnmarshalJSON(data []byte) error {
	kind, resource := resourceType(data)
	if resource && kind != "" && kind != "dois" {
		return datacite.Invalidf("", datacite.CodeSyntax, "not a record, but a resource of the type %.40q", kind)
	}
	const least, factor, most = 64 << 10, 256, 100 << 20 // of memory; records take two or three times their length
	var conflict error
	err := input.JSON(data, r, func(d *decoder, r *Record) {
		d.Use(jsonlex.NewBudget(min(least+factor*int64(len(data)), most)))
		e := envelope{record: r, whole: !resource}
		if resource {
			resourceJSON.Read(d, &e)
		} else {
			readAttributes(d, r, false)
		}
		if d.Err() == nil {
			conflict = r.takeName(e.id)
		}
		_ = e.finish(d) // the decoder has the error
	})
	return cmp.Or(err, conflict)
}

// takeName takes the DOI from where files have it, and refuses different ones. Beside its own name, a resource
// may have other DOIs among the identifiers.
func (r *Record) takeName(id string) error {
	type name struct{ path, doi string }
	var inside string
	if bytes.Contains(r.Raw, []byte(`"id"`)) {
		_, _ = r.Decode("id", &inside) // what is no text is no name
	}
	var own []name
	for _, n := range []name{{"doi", r.DOI}, {"data.id", id}, {"id", inside},
		{"prefix and suffix", r.Prefix + "/" + r.Suffix}} {
		if parsed, err := doi.Parse(n.doi); err == nil {
			own = append(own, name{n.path, parsed})
		}
	}
	var others []ContainerIdentifier
	if len(own) == 0 && r.Has("identifiers") {
		_ = jsonlex.Unmarshal(r.member("identifiers"), &others, func(d *decoder, list *[]ContainerIdentifier) {
			*list = readIdentifiers(d)
		}) // it was read before
	}
	for i, other := range others {
		parsed, err := doi.Parse(other.Identifier)
		if err == nil && other.IdentifierType == string(metadata.IdentifierDOI) {
			own = append(own, name{fmt.Sprintf("identifiers[%d]", i), parsed})
		}
	}
	for _, n := range own {
		if !doi.Equal(n.doi, own[0].doi) {
			return datacite.Invalidf(n.path, datacite.CodeConflict,
				"is %q, and %s is %q; a record has one name", n.doi, own[0].path, own[0].doi)
		}
	}
	if len(own) > 0 {
		r.DOI = cmp.Or(r.DOI, own[0].doi)
	}
	return nil
}

// resourceType tells whether data is a resource rather than the attributes of one, and
// its type, if that comes before the attributes.
func resourceType(data []byte) (kind string, resource bool) {
	l := jsonlex.OfBytes(data)
	for name := range l.Members() {
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
	return kind, false
}

// readAttributes reads the attributes of a record, which the service stores, or which are from a file.
func readAttributes(d *decoder, r *Record, stored bool) {
	readAttributesAs(recordJSON(), d, r, stored)
}

func readAttributesAs(read *jsonlex.Object[Record], d *decoder, r *Record, stored bool) {
	if d.Kind() != '{' {
		d.Fail(errNoAttributes)
		return
	}
	d.Hold()
	start := d.Offset()
	d.Tolerate(stored)
	read.Read(d, r)
	r.Raw = d.Keep()
	r.Warnings = oddValues(r.Raw, start, d.Odd())
	d.Tolerate(false)
}

// oddValues are warnings of what was not read as it is written. Where there are more than MaxOdd, a
// warning without a path says so.
func oddValues(raw []byte, start int64, odd *jsonlex.Odd) (found []datacite.Finding) {
	more := func(code datacite.Code, places []int64, what string) []int64 {
		if len(places) > jsonlex.MaxOdd {
			found = append(found, datacite.Finding{Code: code, Warning: true,
				Reason: fmt.Sprintf("only the first %d %s are named", jsonlex.MaxOdd, what)})
		}
		return places[:min(len(places), jsonlex.MaxOdd)]
	}
	for _, at := range more(datacite.CodeEncoding, odd.Texts, "texts that are not UTF-8") {
		path, _ := jsonlex.At(raw, at-start)
		found = append(found, datacite.Finding{Path: path, Code: datacite.CodeEncoding, Warning: true,
			Reason: "the stored text is not UTF-8; U+FFFD stands for what cannot be read"})
	}
	for _, at := range more(datacite.CodeShape, odd.Values, "values without a place in a record") {
		const most = 80
		path, value := jsonlex.At(raw, at-start)
		switch string(bytes.Join(bytes.Fields(value), nil)) {
		case "null", "{}", "[]", `""`:
			continue
		}
		value = bytes.ToValidUTF8(value[:min(len(value), most)], []byte("…"))
		found = append(found, datacite.Finding{Path: path, Code: datacite.CodeShape, Value: string(value), Warning: true,
			Reason: "the value has no place in a record, and is left out"})
	}
	return found
}

// An envelope is what the service puts around a response, as far as it belongs to one
// record or to the page of a list.
type envelope struct {
	record   *Record
	id       string
	stored   bool // the service sent it; otherwise it is from a file
	whole    bool // the record has attributes
	unread   bool // its name is read, and nothing else
	included []Resource
}

// recordEnvelopeJSON reads a response with one record, resourceJSON the record in it.
var (
	recordEnvelopeJSON = jsonlex.NewObject(
		jsonlex.Field("data", func(d *decoder, e *envelope) { resourceJSON.Read(d, e) }),
		jsonlex.Field("included", func(d *decoder, e *envelope) { e.included = readIncluded(d) }),
	)
	resourceJSON = jsonlex.NewObject(
		jsonlex.Field("id", func(d *decoder, e *envelope) { e.id = d.Text() }),
		jsonlex.Field("type", func(d *decoder, _ *envelope) {
			if kind := d.Word(); kind != "" && kind != "dois" {
				d.Fail(fmt.Errorf("it has a resource of the type %.40q, which is no record", kind))
			}
		}),
		jsonlex.Field("attributes", func(d *decoder, e *envelope) {
			if e.whole = true; e.unread {
				readAttributesAs(nameJSON, d, e.record, e.stored)
				return
			}
			readAttributes(d, e.record, e.stored)
		}),
		jsonlex.Field("relationships", func(d *decoder, e *envelope) {
			d.Hold()
			relationshipsJSON.Read(d, e.record)
			e.record.Relationships = d.Keep()
		}),
	)
)

var readIncluded = jsonlex.List[[]Resource](jsonlex.NewObject(
	jsonlex.Field("id", func(d *decoder, r *Resource) { r.ID = d.Text() }),
	jsonlex.Field("type", func(d *decoder, r *Resource) { r.Type = d.Word() }),
	jsonlex.Field("attributes", func(d *decoder, r *Resource) { r.Attributes = d.Raw() }),
	jsonlex.Field("relationships", func(d *decoder, r *Resource) { r.Relationships = d.Raw() }),
).Item)

var errNoAttributes = errors.New("a record has no attributes")

// finish completes the record.
func (e *envelope) finish(d *decoder) error {
	if !e.whole {
		d.Fail(errNoAttributes)
	}
	if d.Err() != nil {
		return d.Err()
	}
	e.record.DOI = cmp.Or(e.record.DOI, e.id)
	if e.record.Included = e.included; e.unread {
		return nil
	}
	d.Settle() // what depends on the name
	e.record.Warnings = append(e.record.Warnings, metadata.Unescape(&e.record.Record, e.record.MetadataXML)...)
	return nil
}

// A page is the response to GET /dois while it is being read.
type page struct {
	fields   []string            // that were requested
	unread   bool                // of the records, only the names are read
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

var linksJSON = jsonlex.NewObject(jsonlex.Field("next", func(d *decoder, l *links) { l.next = d.Text() }))

var pageJSON = jsonlex.NewObject(
	jsonlex.Field("data", readRecords),
	jsonlex.Field("meta", readMeta),
	jsonlex.Of("links", func(p *page) *links { return &p.links }, linksJSON),
	jsonlex.Field("included", func(d *decoder, p *page) { p.included = readIncluded(d) }),
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
	e := envelope{record: p.place(), stored: true, unread: p.unread}
	e.record.Fields = p.fields
	resourceJSON.Read(d, &e)
	if err := e.finish(d); err != nil {
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
	for key := range d.Members() {
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

var readFacetCounts = jsonlex.List[[]FacetCount](jsonlex.NewObject(
	jsonlex.Field("id", func(d *decoder, c *FacetCount) { c.ID = d.Text() }),
	jsonlex.Field("title", func(d *decoder, c *FacetCount) { c.Title = d.Text() }),
	jsonlex.Field("count", func(d *decoder, c *FacetCount) { c.Count = d.Int() }),
).Item)

func readFacet(d *decoder) (f Facet) {
	switch c := d.Kind(); {
	case c == '[':
		f.Counts = readFacetCounts(d)
	case c >= '0' && c <= '9':
		f.Number = d.Int()
	default:
		d.Skip()
	}
	return f
}
