package metadata

import (
	"io"
	"iter"
	"strings"
)

// ParseXML reads the XML document of a record, as the metadata store keeps it
// (specification §2.3).
//
// It reads every version of the schema, with any prefix and with or without a
// byte order mark; [Record].SchemaVersion says which one it was. It reads what
// the schema would refuse: parts in the wrong order, missing parts, unknown
// values. Elements it does not know are stepped over; [CheckXML] lists them.
// White space around a value is dropped, except in descriptions and rights. Where
// the schema takes a blank for a name, the name is a blank.
//
// A place, point or box that comes again within one geoLocation starts a
// further one, because the service keeps only one of each.
//
// The texts of the record share the memory of the document.
//
// The error is a [*SyntaxError], or that of the reader.
func ParseXML(r io.Reader) (*Record, error) {
	s, err := readDocument(r)
	if err != nil {
		return nil, err
	}
	p := &parser{scanner: s}
	rec := p.document()
	if p.err != nil {
		return nil, p.err
	}
	return rec, nil
}

// parser builds a record from the tokens of a document.
type parser struct {
	*scanner
	kernel string // the namespace of the record's elements
	loose  string // text beside the children of the element read last
	breaks []int  // offsets of the <br/> elements in the content read last
}

// isKernel reports whether a namespace is that of a record. Documents without
// any are about as old as the schema.
func isKernel(space string) bool {
	return space == "" || strings.HasPrefix(space, "http://datacite.org/schema/") ||
		strings.HasPrefix(space, "https://datacite.org/schema/") || strings.HasPrefix(space, "http://schema.datacite.org/")
}

func (p *parser) document() *Record {
	if p.err != nil || p.next() != startTag {
		return nil
	}
	if p.name != "resource" || !isKernel(p.space) {
		p.fail(p.start, "the root element is not <resource xmlns=%q>", Namespace)
		return nil
	}
	p.kernel = p.space
	rec := &Record{SchemaVersion: Text(p.space)}
	for name := range p.children() {
		p.property(rec, name)
	}
	for p.next() != endOfDocument {
		continue // the scanner finds what does not belong behind the root
	}
	return rec
}

// children steps through the elements inside the one just opened. What the loop
// does not read of an element, and elements of other namespaces, are skipped.
func (p *parser) children() iter.Seq[string] {
	depth := len(p.open)
	p.loose = ""
	return func(yield func(string) bool) {
		for {
			switch p.next() {
			case startTag:
				if len(p.open) == depth+1 && p.space == p.kernel && !yield(p.name) {
					return
				}
			case endTag:
				if len(p.open) < depth {
					return
				}
			case characters:
				if len(p.open) == depth && trim(p.text) != "" {
					p.loose = p.text
				}
			case endOfDocument:
				return
			}
		}
	}
}

// content reads the text of the element just opened, up to its end. Text of
// elements inside belongs to it, and a <br/> is a line feed.
func (p *parser) content() string {
	depth := len(p.open)
	p.breaks = nil
	var first string
	var more strings.Builder
	add := func(s string) {
		if first == "" {
			first = s
			return
		}
		more.WriteString(s)
	}
	for {
		switch p.next() {
		case characters:
			add(p.text)
		case startTag:
			if p.name == "br" {
				p.breaks = append(p.breaks, len(first)+more.Len())
				add("\n")
			}
		case endTag:
			if len(p.open) < depth {
				return first + more.String()
			}
		case endOfDocument:
			return ""
		}
	}
}

// value is the content of an element without the white space around it.
func (p *parser) value() string { return trim(p.content()) }

// filled is the value of an element that the schema wants a character in. If
// there is nothing but blanks, it is one, or the element could not be written.
func (p *parser) filled() string {
	text := p.content()
	if value := trim(text); value != "" || text == "" {
		return value
	}
	return " "
}

// attr returns an attribute of the tag just read.
func (p *parser) attr(name string) string {
	for i := range p.attrs {
		if p.attrs[i].name == name && p.attrs[i].space == "" {
			return trim(p.attrs[i].value)
		}
	}
	return ""
}

func (p *parser) lang() string {
	for i := range p.attrs {
		if p.attrs[i].name == "lang" && p.attrs[i].space == xmlSpace {
			return trim(p.attrs[i].value)
		}
	}
	return ""
}

// items reads the elements called name inside the wrapper just opened.
func items[T any](p *parser, list *List[T], name string, read func(*parser) T) {
	for child := range p.children() {
		if child == name {
			*list = append(*list, read(p))
		}
	}
}

func (p *parser) property(r *Record, name string) {
	switch name {
	case "identifier":
		r.DOI = p.value()
	case "creators":
		items(p, &r.Creators, "creator", (*parser).creator)
	case "titles":
		items(p, &r.Titles, "title", (*parser).title)
	case "publisher":
		r.Publisher = p.publisher()
	case "publicationYear":
		r.PublicationYear = Year(p.value())
	case "resourceType":
		r.Types = Types{ResourceTypeGeneral: ResourceTypeGeneral(p.attr("resourceTypeGeneral")), ResourceType: p.value()}
	case "subjects":
		items(p, &r.Subjects, "subject", (*parser).subject)
	case "contributors":
		items(p, &r.Contributors, "contributor", (*parser).contributor)
	case "dates":
		items(p, &r.Dates, "date", (*parser).date)
	case "language":
		r.Language = Text(p.value())
	case "alternateIdentifiers":
		items(p, &r.AlternateIdentifiers, "alternateIdentifier", (*parser).alternateIdentifier)
	case "relatedIdentifiers":
		items(p, &r.RelatedIdentifiers, "relatedIdentifier", (*parser).relatedIdentifier)
	case "sizes":
		items(p, &r.Sizes, "size", (*parser).value)
	case "formats":
		items(p, &r.Formats, "format", (*parser).value)
	case "version":
		r.Version = Text(p.value())
	case "rightsList":
		items(p, &r.RightsList, "rights", (*parser).rights)
	case "rights": // kernel 2 has no list
		r.RightsList = append(r.RightsList, p.rights())
	case "descriptions":
		items(p, &r.Descriptions, "description", (*parser).description)
	case "geoLocations":
		p.geoLocations(r)
	case "fundingReferences":
		items(p, &r.FundingReferences, "fundingReference", (*parser).fundingReference)
	case "relatedItems":
		items(p, &r.RelatedItems, "relatedItem", (*parser).relatedItem)
	}
}

func (p *parser) creator() (c Creator) {
	p.person(c.person())
	return c
}

func (p *parser) contributor() (c Contributor) {
	c.ContributorType = ContributorType(p.attr("contributorType"))
	p.person(c.person())
	return c
}

func (p *parser) person(to person) {
	for name := range p.children() {
		switch name {
		case "creatorName", "contributorName":
			*to.nameType = NameType(p.attr("nameType"))
			*to.lang = p.lang()
			*to.name = p.filled()
		case "givenName":
			*to.givenName = p.value()
		case "familyName":
			*to.familyName = p.value()
		case "nameIdentifier":
			if to.nameIdentifiers != nil {
				*to.nameIdentifiers = append(*to.nameIdentifiers, p.nameIdentifier())
			}
		case "affiliation":
			if to.affiliation != nil {
				*to.affiliation = append(*to.affiliation, p.affiliation())
			}
		}
	}
}

func (p *parser) nameIdentifier() NameIdentifier {
	return NameIdentifier{
		NameIdentifierScheme: p.attr("nameIdentifierScheme"),
		SchemeURI:            p.attr("schemeURI"),
		Extra:                p.extra(nameIdentifierAttributes),
		NameIdentifier:       p.value(),
	}
}

func (p *parser) affiliation() Affiliation {
	return Affiliation{
		AffiliationIdentifier:       p.attr("affiliationIdentifier"),
		AffiliationIdentifierScheme: p.attr("affiliationIdentifierScheme"),
		SchemeURI:                   p.attr("schemeURI"),
		Extra:                       p.extra(affiliationAttributes),
		Name:                        p.value(),
	}
}

func (p *parser) title() Title {
	return Title{TitleType: TitleType(p.attr("titleType")), Lang: p.lang(), Title: p.value()}
}

func (p *parser) publisher() Publisher {
	return Publisher{
		PublisherIdentifier:       p.attr("publisherIdentifier"),
		PublisherIdentifierScheme: p.attr("publisherIdentifierScheme"),
		SchemeURI:                 p.attr("schemeURI"),
		Lang:                      p.lang(),
		Name:                      p.filled(),
	}
}

func (p *parser) subject() Subject {
	return Subject{
		SubjectScheme:      p.attr("subjectScheme"),
		SchemeURI:          p.attr("schemeURI"),
		ValueURI:           p.attr("valueURI"),
		ClassificationCode: p.attr("classificationCode"),
		Lang:               p.lang(),
		Subject:            p.value(),
	}
}

func (p *parser) date() Date {
	return Date{DateType: DateType(p.attr("dateType")), DateInformation: p.attr("dateInformation"), Date: p.value()}
}

func (p *parser) alternateIdentifier() AlternateIdentifier {
	return AlternateIdentifier{
		AlternateIdentifierType: p.attr("alternateIdentifierType"),
		AlternateIdentifier:     p.value(),
	}
}

func (p *parser) relatedIdentifier() RelatedIdentifier {
	return RelatedIdentifier{
		RelatedIdentifierType:   RelatedIdentifierType(p.attr("relatedIdentifierType")),
		RelationType:            RelationType(p.attr("relationType")),
		ResourceTypeGeneral:     ResourceTypeGeneral(p.attr("resourceTypeGeneral")),
		RelatedMetadataScheme:   p.attr("relatedMetadataScheme"),
		SchemeURI:               p.attr("schemeURI"),
		SchemeType:              p.attr("schemeType"),
		RelationTypeInformation: p.attr("relationTypeInformation"),
		RelatedIdentifier:       p.value(),
	}
}

func (p *parser) rights() Rights {
	return Rights{
		RightsURI:              p.attr("rightsURI"),
		RightsIdentifier:       p.attr("rightsIdentifier"),
		RightsIdentifierScheme: p.attr("rightsIdentifierScheme"),
		SchemeURI:              p.attr("schemeURI"),
		Lang:                   p.lang(),
		Rights:                 p.content(),
	}
}

func (p *parser) description() Description {
	d := Description{
		DescriptionType: DescriptionType(p.attr("descriptionType")),
		Lang:            p.lang(),
		Description:     p.content(),
	}
	d.Breaks = p.breaks
	return d
}
