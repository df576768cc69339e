package reconcile

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
)

// A Road is the form in which a change is written.
type Road string

// The roads.
const (
	RoadJSON Road = "json"           // the properties that differ, or attributes such as the URL
	RoadXML  Road = "xml"            // the stored XML with these properties replaced, or the XML of the source
	RoadBoth Road = "json, then xml" // what XML cannot write, and then the XML
)

// ErrLoss: no road changes only what is desired. The error names each value that would be lost,
// and nothing was written.
var ErrLoss = transport.NewError("reconcile: the change would lose something else")

// A plan is how a change is written.
type plan struct {
	road   Road
	draft  *dois.Draft // written first
	then   *dois.Draft // written next, on RoadBoth
	losses []datacite.Finding
}

// plan chooses the road.
func (c *comparison) plan(allowLoss bool) (*plan, error) {
	if c.found == nil {
		return c.create()
	}
	p := &plan{road: RoadJSON, draft: &dois.Draft{}}
	if c.has("url") {
		p.draft.URL = c.URL
	}
	if c.has("state") {
		if p.draft.Event = eventTo(c.found.State, c.State); p.draft.Event == "" {
			return nil, fmt.Errorf("%w: %s is %.100s and cannot become %s", ErrNotAsDesired, c.name, c.found.State, c.State)
		}
	}
	names := c.metadataChanges()
	var err error
	switch {
	case c.isOldSchema:
		err = p.upgrade(c)
	case c.isFromXML && len(names) > 0:
		words, asXML := c.sentAsXML()
		switch isJSON := !asXML && c.xml != nil; {
		case isJSON && !needsXML(pick(c.asJSON, names), datacite.CodeJSON, datacite.CodeNotInJSON, datacite.CodeNotInXML,
			datacite.CodeLossy):
			for _, name := range names {
				keepItems(name, c.asJSON, c.xml, &c.found.Record)
			}
			p.byJSON(c, names, words)
		case isJSON:
			p.losses = c.lostInJSON(names)
			fallthrough
		default:
			p.storeXML(c, c.XML, names)
		}
	case len(names) > 0 || c.has("contentUrl") || c.has("container"):
		err = p.correct(c, names)
	}
	if err == nil && len(p.losses) > 0 && !allowLoss {
		err = fmt.Errorf("%w: %s: %w", ErrLoss, c.name, datacite.Invalid(p.losses...))
	}
	for i := range p.losses {
		p.losses[i].Warning = true
	}
	return p, err
}

// create is the plan for a new DOI: as JSON, which shows the texts as they are, or as XML, if that is the source or
// only XML can say it.
func (c *comparison) create() (*plan, error) {
	p := &plan{road: RoadJSON, draft: &dois.Draft{DOI: c.Desired.DOI, URL: c.URL, ContentURL: c.ContentURL,
		Container: c.Container}}
	if p.draft.Event = eventTo(datacite.StateDraft, c.State); p.draft.Event == "" && c.State != "" &&
		c.State != datacite.StateDraft {
		return nil, fmt.Errorf("%w: a new DOI cannot become %s", ErrNotAsDesired, c.State)
	}
	switch {
	case len(c.XML) > 0:
		p.road, p.draft.MetadataXML = RoadXML, c.XML
	case c.Metadata == nil:
	case needsXML(c.Metadata, datacite.CodeJSON, datacite.CodeNotInJSON, datacite.CodeNotInXML):
		data, err := normal(c.Metadata).XML()
		if err != nil {
			return nil, err
		}
		p.road, p.draft.MetadataXML = RoadXML, data
	default:
		p.draft.Record = *normal(c.Metadata)
		p.draft.Record.Types = c.Metadata.Types
	}
	// beside which the service writes the XML anew
	if p.road == RoadXML && (p.draft.ContentURL != nil || p.draft.Container != nil) {
		p.road, p.then = RoadBoth, &dois.Draft{MetadataXML: p.draft.MetadataXML, AllowOtherDOI: true}
	}
	return p, nil
}

// needsXML reports whether a record has findings of one of these codes: json, which the service refuses as JSON,
// not-in-json or not-in-xml, of which it loses some.
func needsXML(r *metadata.Record, codes ...datacite.Code) bool {
	return slices.ContainsFunc(r.Findings(), func(f datacite.Finding) bool { return slices.Contains(codes, f.Code) })
}

// correct writes properties that differ, as JSON or into the stored XML.
func (p *plan) correct(c *comparison, names []string) error {
	c.readXML()
	words, asXML := c.sentAsXML()
	if c.xml == nil || !asXML && !needsXML(pick(c.asJSON, names), datacite.CodeJSON) {
		p.byJSON(c, names, words)
		return nil
	}
	if slices.Contains(names, "publicationYear") && c.saysIssued() {
		if !slices.Contains(names, "dates") {
			names, c.asXML.Dates = append(names,
				"dates"), append(slices.Clip(c.xml.Dates),
				metadata.Date{Date: string(c.found.PublicationYear), DateType: metadata.DateIssued})
		}
	}
	document, err := replaced(c.found.MetadataXML, normal(c.xml), c.asXML, names)
	if err != nil {
		return err
	}
	if !asXML {
		p.losses = c.lostInJSON(names)
	}
	p.storeXML(c, document, names)
	return nil
}

// byJSON writes properties as JSON. kept are those that the XML still has as they were sent: the
// service would write them as it shows them.
func (p *plan) byJSON(c *comparison, names, kept []string) {
	if c.unreadable != nil {
		p.losses = append(p.losses, datacite.Finding{Path: "xml", Code: datacite.CodeLoss, Err: c.unreadable,
			Reason: "would be replaced by what the service writes of the JSON: it cannot be read: " + c.unreadable.Error()})
	}
	for _, f := range c.found.Warnings {
		if slices.Contains(names, propertyOf(f.Path)) && slices.Contains([]datacite.Code{datacite.CodeShape,
			datacite.CodeEncoding}, f.Code) {
			f.Code, f.Reason = datacite.CodeLoss, "would be missing in the JSON: "+f.Reason
			p.losses = append(p.losses, f)
		}
	}
	p.attributes(c)
	for _, name := range names {
		p.set(name, c.asJSON)
	}
	for _, name := range kept {
		if !slices.Contains(names, name) {
			p.set(name, normal(c.xml))
		}
	}
}

// saysIssued reports whether the desired dates have the date Issued that the service made of the year. With another
// year in the XML it would make another one.
func (c *comparison) saysIssued() bool {
	return c.Metadata != nil && c.says("dates") && slices.ContainsFunc(c.asJSON.Dates, func(d metadata.Date) bool {
		return d.DateType == metadata.DateIssued && d.Date == string(c.found.PublicationYear)
	})
}

// attributes adds what no XML has.
func (p *plan) attributes(c *comparison) {
	if c.has("contentUrl") {
		p.draft.ContentURL = c.ContentURL
	}
	switch {
	case !c.has("container"):
	case reflect.ValueOf(*c.Container).IsZero():
		p.draft.Clear = append(p.draft.Clear, "container")
	default:
		p.draft.Container = c.Container
	}
}

// set adds a property to the draft.
func (p *plan) set(name string, from *metadata.Record) {
	if value := field(from, name); !isEmpty(value) {
		field(&p.draft.Record, name).Set(value)
	} else if !slices.Contains(p.draft.Clear, name) {
		p.draft.Clear = append(p.draft.Clear, name)
	}
}

// storeXML stores a document, after what it cannot say was written as JSON.
func (p *plan) storeXML(c *comparison, document []byte, names []string) {
	first := p.draft
	p.attributes(c)
	for _, name := range sticky {
		if slices.Contains(names, name) && field(&c.found.Record, name).String() != "" && c.removes(name) {
			p.draft.Clear = append(p.draft.Clear, name)
		}
	}
	p.road = RoadXML
	if first.ContentURL != nil || first.Container != nil || first.Clear != nil {
		p.road, p.then = RoadBoth, &dois.Draft{MetadataXML: document, AllowOtherDOI: true}
		return
	}
	p.draft.MetadataXML, p.draft.AllowOtherDOI = document, !c.isFromXML
}

// removes reports whether a property is to be removed.
func (c *comparison) removes(name string) bool {
	if c.isFromXML {
		return field(c.Metadata, name).IsZero()
	}
	return field(c.asXML, name).IsZero()
}

// pick is a record with some properties of another one.
func pick(from *metadata.Record, names []string) *metadata.Record {
	var r metadata.Record
	for _, name := range names {
		field(&r, name).Set(field(from, name))
	}
	return &r
}

// upgrade stores the metadata in the current schema: the service accepts no other change of a
// record of an older one.
func (p *plan) upgrade(c *comparison) error {
	if c.isFromXML {
		p.storeXML(c, c.XML, nil)
		return nil
	}
	c.readXML()
	if c.xml == nil { // the service writes it from the JSON
		p.draft.SchemaVersion = metadata.Namespace
		p.byJSON(c, c.metadataChanges(), nil)
		return nil
	}
	up, err := metadata.Upgrade(bytes.NewReader(c.found.MetadataXML), nil)
	if err != nil {
		return fmt.Errorf("%w: %s has metadata of an old schema, which have to be upgraded first: %w", ErrNotAsDesired,
			c.name, err)
	}
	document, names := up.XML, c.metadataChanges()
	if len(names) > 0 {
		document, err = replaced(document, normal(c.xml), c.asXML, names)
	}
	if err == nil {
		p.storeXML(c, document, names)
	}
	return err
}

// lostInJSON are the values that the JSON would lose if the service read it from the XML: those that the XML
// does not have, and those that the service drops or changes when it reads them.
func (c *comparison) lostInJSON(names []string) (found []datacite.Finding) {
	add := func(path, value, becomes string) {
		if name := propertyOf(path); slices.Contains(names, name) || slices.Contains(sticky, name) {
			return
		}
		reason := "would be missing in the JSON"
		if becomes != "" {
			reason = fmt.Sprintf("would be %.80q in the JSON", becomes)
		}
		found = append(found, datacite.Finding{Path: path, Code: datacite.CodeLoss, Value: value, Reason: reason})
	}
	for _, change := range metadata.Diff(c.shown(c.xml), c.shown(&c.found.Record)) {
		if change.Found != "" {
			add(change.Path, change.Found, change.Desired)
		}
	}
	for _, f := range c.found.Record.Findings() {
		if f.Warning && slices.Contains([]datacite.Code{datacite.CodeLossy, datacite.CodeDate, datacite.CodeIdentifier,
			datacite.CodeURI}, f.Code) {
			add(f.Path, f.Value, "")
		}
	}
	return found
}

// events are where the events of a DOI lead, and from which states.
var events = []struct {
	event dois.Event
	to    datacite.State
	from  []datacite.State
}{
	{dois.EventPublish, datacite.StateFindable, []datacite.State{datacite.StateDraft, datacite.StateRegistered}},
	{dois.EventRegister, datacite.StateRegistered, []datacite.State{datacite.StateDraft}},
	{dois.EventHide, datacite.StateRegistered, []datacite.State{datacite.StateFindable}},
}

// eventTo is the event that leads from one state to another; "" if none does.
func eventTo(from, to datacite.State) dois.Event {
	for _, e := range events {
		if e.to == to && slices.Contains(e.from, from) {
			return e.event
		}
	}
	return ""
}
