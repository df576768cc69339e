package table

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

func readDOI(text string, r *Row) error {
	name, err := doi.Parse(text)
	if err != nil {
		return fmt.Errorf("%q is not a DOI such as 10.5072/glacier-1", text)
	}
	r.DOI = name
	return nil
}

func readURL(text string, r *Row) error {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"https", "http", "ftp"}, u.Scheme) || u.Hostname() == "" ||
		strings.ContainsFunc(text, unicode.IsSpace) {
		return fmt.Errorf("%q is not a URL that begins with https:// or http://", text)
	}
	r.URL = text
	return nil
}

func readState(text string, r *Row) error {
	states := []string{"draft", "registered", "findable"}
	if !slices.Contains(states, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(states, ", "))
	}
	r.State = text
	return nil
}

func readTitle(text string, r *Row) error {
	r.Record.Titles = metadata.List[metadata.Title]{{Title: text}}
	return nil
}

func writeTitle(r *Row) string {
	if i := mainTitle(r.Record.Titles); i >= 0 {
		return oneLine(r.Record.Titles[i].Title)
	}
	return ""
}

// mainTitle is the place of the first title without a type, or else of the first one; -1 of
// none.
func mainTitle(titles []metadata.Title) int {
	i := slices.IndexFunc(titles, func(t metadata.Title) bool { return t.TitleType == "" })
	if i < 0 && len(titles) > 0 {
		return 0
	}
	return i
}

func readDescription(text string, r *Row) error {
	r.Record.Descriptions = metadata.List[metadata.Description]{
		{Description: text, DescriptionType: metadata.DescriptionAbstract}}
	return nil
}

func writeDescription(r *Row) string {
	if i := abstract(r.Record.Descriptions); i >= 0 {
		return r.Record.Descriptions[i].Description
	}
	return ""
}

// abstract is the place of the abstract, or -1.
func abstract(descriptions []metadata.Description) int {
	return slices.IndexFunc(descriptions, func(d metadata.Description) bool {
		return d.DescriptionType == metadata.DescriptionAbstract
	})
}

func readYear(text string, r *Row) error {
	if len(text) != 4 || strings.Trim(text, "0123456789") != "" || text[:2] == "00" && text != "0000" {
		return fmt.Errorf("%q is not a year of four digits", text)
	}
	r.Record.PublicationYear = metadata.Year(text)
	return nil
}

func readPublisher(text string, r *Row) error {
	parts := split(text, '|')
	p := &r.Record.Publisher
	p.Name = parts[0]
	if len(parts) == 1 {
		return nil
	}
	name, scheme, id, ok := identified(parts[1])
	switch {
	case len(parts) > 2, !isROR(parts[1]) && (!ok || name != ""):
		return errors.New("is more than a name and, after a |, a ROR such as https://ror.org/04wxnsj81, or another " +
			"identifier such as [ISNI=0000 0001 2103 2683]")
	case ok:
		p.PublisherIdentifier, p.PublisherIdentifierScheme = id, scheme
	default:
		id := metadata.Organization("").ROR(parts[1]).NameIdentifiers[0]
		p.PublisherIdentifier, p.PublisherIdentifierScheme, p.SchemeURI = id.NameIdentifier, id.NameIdentifierScheme, id.SchemeURI
	}
	return nil
}

func publisherCell(p metadata.Publisher) string {
	return join(p.Name, written(p.PublisherIdentifier, p.PublisherIdentifierScheme))
}

func readType(text string, r *Row) error {
	general, own, _ := strings.Cut(text, "|")
	r.Record.Types = metadata.Types{ResourceTypeGeneral: term[metadata.ResourceTypeGeneral](strings.TrimSpace(general)),
		ResourceType: unescaped(own)}
	return nil
}

func writeType(r *Row) string {
	return join(string(r.Record.Types.ResourceTypeGeneral), r.Record.Types.ResourceType)
}

var (
	dashes = strings.NewReplacer("\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-")
	// orcidPattern is an ORCID as people write it.
	orcidPattern = lazy.Regexp(`(?i)^\(?(?:orcid(?: ?id)?\s*[:=]?\s*)?(?:https?://)?(?:www\.)?(?:orcid\.org/)?(\d{4}` +
		`)-?(\d{4})-?(\d{4})-?(\d{3}[\dx])/?\)?$`)
	// likeORCIDPattern is what is no affiliation and no part of a name.
	likeORCIDPattern = lazy.Regexp(`(?i)orcid.*\d|orcid\.org/|\d{4}-\d{4}-\d{4}|^[\d x-]{15,}$`)
	// bareIdentifierPattern is an identifier that is not written as [SCHEME=VALUE].
	bareIdentifierPattern = lazy.Regexp(
		`(?i)^(https?://.*|(isni|gnd|grid|ror|viaf|wikidata|scopus|researcherid)\W*([\dx][\dx ` +
			`-]*|grid\.\d+\.\w+|q\d+)|grid\.\d+\.\w+)$`)
	identifierPattern = lazy.Regexp(`^(.*?)\s*\[([^\[\]=]*)=(.*)\]$`)
	// severalPattern is what joins names. A family name may have "y" and "e".
	severalPattern = lazy.Regexp(`(?i)&|＆|\s(und|and|et|u\.|sowie)\s`)
	rorPattern     = lazy.Regexp(`(?i)^(https?://)?ror\.org/\S+$`)
)

func isROR(text string) bool { return rorPattern().MatchString(text) }

// asORCID reads an ORCID as people write it.
func asORCID(text string) (bare string, ok bool) {
	digits := orcidPattern().FindStringSubmatch(dashes.Replace(text))
	if digits == nil {
		return "", false
	}
	return strings.ToUpper(strings.Join(digits[1:], "-")), true
}

// identified reads a name that may be empty, and after it an identifier: [GRID=grid.5335.0].
func identified(text string) (name, scheme, id string, ok bool) {
	parts := identifierPattern().FindStringSubmatch(text)
	if parts == nil {
		return text, "", "", false
	}
	return parts[1], strings.TrimSpace(parts[2]), strings.TrimSpace(parts[3]), true
}

// written is the inverse of [identified], and leaves out the scheme of a ROR.
func written(id, scheme string) string {
	switch {
	case id == "" && scheme == "":
		return ""
	case (scheme == "" || strings.EqualFold(scheme, "ROR")) && isROR(id):
		return id
	}
	return "[" + scheme + "=" + id + "]"
}

func readCreators(text string, r *Row) error {
	for _, item := range split(text, ';') {
		c, err := creator(item)
		if err != nil {
			return err
		}
		r.Record.Creators = append(r.Record.Creators, c)
	}
	return nil
}

// creator reads a name, and the identifiers and affiliations after it.
func creator(text string) (metadata.Creator, error) {
	parts := split(text, '|')
	c, err := named(parts[0])
	if err != nil {
		return c, err
	}
	organization := c.NameType == metadata.NameOrganizational
	for _, part := range parts[1:] {
		name, scheme, id, hasID := identified(part)
		orcid, isORCID := asORCID(part)
		rest, isAffiliation := marked(part, "affiliation:")
		switch {
		case part == "":
		case isAffiliation:
			c = affiliated(c, rest)
		case hasID && name == "":
			c.NameIdentifiers = append(c.NameIdentifiers,
				metadata.NameIdentifier{NameIdentifier: id, NameIdentifierScheme: scheme})
		case hasID:
			c = affiliated(c, part)
		case isROR(part) && organization:
			c = c.ROR(part)
		case isROR(part):
			return c, fmt.Errorf("%q has a ROR id that does not follow the name of its organization", text)
		case isORCID && organization:
			return c, fmt.Errorf("%q is an organization with an ORCID, which only persons have", text)
		case isORCID:
			c = c.ORCID(orcid)
		case rorEnd(part) > 0:
			c = affiliated(c, part)
		case likeORCIDPattern().MatchString(dashes.Replace(part)):
			return c, fmt.Errorf("%q is no affiliation, and an ORCID looks like 0000-0001-5727-2427; write other identifiers "+
				"as [ISNI=0000 0001 2103 2683]", part)
		case bareIdentifierPattern().MatchString(part):
			return c, fmt.Errorf("%q is no affiliation; write an identifier with its scheme, as in [ISNI=0000 0001 2103 2683]",
				part)
		default:
			c = affiliated(c, part)
		}
	}
	return c, nil
}

// marked returns what follows a mark such as "org:".
func marked(text, mark string) (rest string, ok bool) {
	if len(text) < len(mark) || !strings.EqualFold(text[:len(mark)], mark) {
		return text, false
	}
	return strings.TrimSpace(text[len(mark):]), true
}

// named reads Family, Given, or a name after one of the marks org:, person: and name:, which is
// taken as it is. It does not guess what a name without a comma is.
func named(text string) (metadata.Creator, error) {
	if name, ok := marked(text, "org:"); ok {
		return metadata.Organization(name), nil
	}
	if name, ok := marked(text, "person:"); ok {
		return metadata.Creator{Name: name, NameType: metadata.NamePersonal}, nil
	}
	if name, ok := marked(text, "name:"); ok {
		return metadata.Creator{Name: name}, nil
	}
	family, given, isPerson := strings.Cut(text, ",")
	switch {
	case likeORCIDPattern().MatchString(dashes.Replace(text)):
		return metadata.Creator{}, fmt.Errorf(
			"%q has an identifier in the name: write a | before it, as in Lovelace, Ada | 0000-0001-5727-2427", text)
	case !isPerson && severalPattern().MatchString(text):
		return metadata.Creator{}, fmt.Errorf(
			`%q looks like several persons: write a semicolon between them, as in "Lovelace, Ada; Noether, Emmy"; an `+
				`organization is "org: %[1]s"`, text)
	case strings.Contains(given, ","), severalPattern().MatchString(text):
		return metadata.Creator{}, fmt.Errorf(
			`%q looks like several persons: write a semicolon between them, as in "Lovelace, Ada; Noether, Emmy"; one person `+
				`is "Family, Given", with one comma, or "person: King, Jr., Martin"`, text)
	case isPerson && strings.TrimSpace(family) != "":
		return metadata.Person(strings.TrimSpace(family), strings.TrimSpace(given)), nil
	case strings.HasPrefix(text, ":"), strings.HasPrefix(text, "(:"): // a code of the schema such as :unkn
		return metadata.Creator{Name: text}, nil
	}
	return metadata.Creator{}, fmt.Errorf(`%q: write persons as "Family, Given" or "Name,", organizations as "org: Name"`,
		text)
}

// rorEnd is where a ROR behind a name begins, 0 if there is none.
func rorEnd(text string) int {
	if at := strings.LastIndexByte(text, ' '); at > 0 && isROR(text[at+1:]) {
		return at
	}
	return 0
}

func affiliated(c metadata.Creator, text string) metadata.Creator {
	if name, scheme, id, ok := identified(text); ok {
		c.Affiliation = append(c.Affiliation,
			metadata.Affiliation{Name: name, AffiliationIdentifier: id, AffiliationIdentifierScheme: scheme})
		return c
	}
	if at := rorEnd(text); at > 0 {
		return c.AffiliatedWith(strings.TrimSpace(text[:at]), text[at+1:])
	}
	return c.AffiliatedWith(text, "")
}

// items is the inverse of the loops over the items of a cell.
func items[E any](list []E, cell func(E) string) string {
	var all []string
	for _, e := range list {
		all = append(all, cell(e))
	}
	return strings.Join(all, "; ")
}

func writeCreators(r *Row) string { return items(r.Record.Creators, creatorCell) }

func creatorCell(c metadata.Creator) string {
	parts := []string{nameOf(&c)}
	for _, id := range c.NameIdentifiers {
		parts = append(parts, identifierCell(id, c.NameType == metadata.NameOrganizational))
	}
	for _, a := range c.Affiliation {
		parts = append(parts, affiliationCell(a))
	}
	return join(parts...)
}

func identifierCell(id metadata.NameIdentifier, isOrganization bool) string {
	part := written(id.NameIdentifier, id.NameIdentifierScheme)
	orcid, isORCID := asORCID(id.NameIdentifier)
	switch {
	case isORCID && !isOrganization && (id.NameIdentifierScheme == "" ||
		strings.EqualFold(id.NameIdentifierScheme, "ORCID")):
		return orcid
	case isROR(part) && !isOrganization:
		return "[" + id.NameIdentifierScheme + "=" + id.NameIdentifier + "]"
	}
	return part
}

func affiliationCell(a metadata.Affiliation) string {
	part := strings.TrimSpace(a.Name + " " + written(a.AffiliationIdentifier, a.AffiliationIdentifierScheme))
	if again, err := creator("name: N | " + escaped(part)); err != nil || len(again.Affiliation) == 0 {
		return "affiliation: " + part
	}
	return part
}

// nameOf is the name of a creator in the form that is read as the same.
func nameOf(c *metadata.Creator) string {
	name, mark := oneLine(c.Name), "name: "
	switch {
	case c.NameType == metadata.NameOrganizational:
		return "org: " + name
	case c.NameType == metadata.NamePersonal:
		mark = "person: "
		if !strings.Contains(name, ",") {
			name += ","
		}
	}
	if again, err := named(name); err != nil || fold(again.Name) != fold(strings.TrimRight(c.Name, ", ")) {
		return mark + oneLine(c.Name)
	}
	return name
}

func readSubjects(text string, r *Row) error {
	for _, item := range split(text, ';') {
		subject, scheme, err := two(item, "a keyword and, after a |, its scheme")
		if err != nil {
			return err
		}
		r.Record.Subjects = append(r.Record.Subjects, metadata.Subject{Subject: subject, SubjectScheme: scheme})
	}
	return nil
}

func writeSubjects(r *Row) string { return items(r.Record.Subjects, subjectCell) }

func subjectCell(s metadata.Subject) string { return join(s.Subject, s.SubjectScheme) }

func readRights(text string, r *Row) error {
	for _, item := range split(text, ';') {
		words, address, err := two(item, "a text and, after a |, its address")
		if err != nil {
			return err
		}
		rights := metadata.Rights{Rights: words, RightsURI: address}
		switch {
		case strings.Contains(item, "|"):
		case isAddress(words):
			rights = metadata.Rights{RightsURI: words}
		case !strings.Contains(words, " "):
			rights = metadata.SPDX(words)
		}
		r.Record.RightsList = append(r.Record.RightsList, rights)
	}
	return nil
}

var isISODate = lazy.Regexp(`^[0-9]{4}(-|/|$)`)

// doubtful says what in a column that was read is probably meant otherwise, "" for nothing.
func doubtful(column string, r *metadata.Record) string {
	switch column {
	case "language":
		if code, _, _ := strings.Cut(r.Language, "-"); len(code) > len("deu") {
			return fmt.Sprintf("%q is no code of a language, such as de or en", r.Language)
		}
	case "subjects":
		if len(r.Subjects) == 1 && strings.Count(r.Subjects[0].Subject, ",") > 1 {
			return fmt.Sprintf("%q is one keyword; write a semicolon between several", r.Subjects[0].Subject)
		}
	case "rights":
		for _, rights := range r.RightsList {
			id := strings.ReplaceAll(rights.Rights, " ", "-")
			if rights.RightsURI == "" && id != rights.Rights && isLicence(id) {
				return fmt.Sprintf("%q is stored as a text; the licence is %s", rights.Rights, id)
			}
		}
	}
	return ""
}

// isLicence reports whether the list of SPDX has an identifier.
func isLicence(id string) bool {
	found := (&metadata.Record{RightsList: []metadata.Rights{metadata.SPDX(id)}}).Findings()
	return !slices.ContainsFunc(found, func(f datacite.Finding) bool { return strings.HasPrefix(f.Path, "rightsList") })
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

func writeRights(r *Row) string { return items(r.Record.RightsList, rightsCell) }

func rightsCell(r metadata.Rights) string {
	switch {
	case strings.EqualFold(r.RightsIdentifierScheme, "SPDX") && r.RightsIdentifier != "":
		return join(r.RightsIdentifier)
	case r.Rights == "" && isAddress(r.RightsURI):
		return join(r.RightsURI)
	case r.RightsURI == "" && !strings.Contains(r.Rights, " "):
		return join(r.Rights) + " |" // without the bar it would be an identifier
	}
	return join(r.Rights, r.RightsURI)
}

func readRelated(text string, r *Row) error {
	for _, item := range split(text, ';') {
		words := strings.Fields(strings.ReplaceAll(item, `\ `, noBreak))
		if len(words) != 3 {
			return fmt.Errorf("%q is not a relation, a type and an identifier, such as IsSupplementTo DOI 10.5072/article-1",
				item)
		}
		r.Record.RelatedIdentifiers = append(r.Record.RelatedIdentifiers, metadata.RelatedIdentifier{
			RelationType:          term[metadata.RelationType](words[0]),
			RelatedIdentifierType: term[metadata.RelatedIdentifierType](words[1]),
			RelatedIdentifier:     unescaped(strings.ReplaceAll(words[2], noBreak, " ")),
		})
	}
	return nil
}

// noBreak stands for a blank within an identifier, before which a table has a backslash.
const noBreak = "\x00"

func writeRelated(r *Row) string { return items(r.Record.RelatedIdentifiers, relatedCell) }

func relatedCell(r metadata.RelatedIdentifier) string {
	id := strings.ReplaceAll(escaped(oneLine(r.RelatedIdentifier)), " ", `\ `)
	return fmt.Sprintf("%s %s %s", r.RelationType, r.RelatedIdentifierType, id)
}

func readDates(text string, r *Row) error {
	for _, item := range split(text, ';') {
		words, note, err := two(item, "a date and, after a |, a note")
		kind, date, _ := strings.Cut(words, " ")
		if isISODate().MatchString(kind) {
			err = fmt.Errorf(`%q needs its kind in front, as in "Issued %[1]s"`, words)
		}
		if err != nil {
			return err
		}
		r.Record.Dates = append(r.Record.Dates, metadata.Date{Date: strings.TrimSpace(date),
			DateType: term[metadata.DateType](kind), DateInformation: note})
	}
	return nil
}

func writeDates(r *Row) string { return items(r.Record.Dates, dateCell) }

// dateCell has the kind Issued for a date without one, as the service writes it into its XML.
func dateCell(d metadata.Date) string {
	return join(string(cmp.Or(d.DateType, metadata.DateIssued))+" "+d.Date, d.DateInformation)
}

// term returns the value of a vocabulary that equals text ignoring case, else text.
func term[T metadata.Term](text string) T {
	for _, value := range metadata.Values[T]() {
		if strings.EqualFold(string(value), text) {
			return value
		}
	}
	return T(text)
}

// two reads a text that may have a second part.
func two(text, what string) (first, second string, err error) {
	parts := split(text, '|')
	if len(parts) > 2 {
		return "", "", fmt.Errorf("%q is more than %s", text, what)
	}
	return parts[0], strings.Join(parts[1:], ""), nil
}

// split splits a text at a sign that no backslash precedes. Parts between semicolons keep
// their backslashes, because they are split again; empty ones are dropped.
func split(text string, at byte) (parts []string) {
	start := 0
	add := func(part string) {
		if at == '|' {
			parts = append(parts, unescaped(part))
		} else if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == at:
			add(text[start:i])
			start = i + 1
		}
	}
	add(text[start:])
	return parts
}

// join is the inverse of [split]. Empty parts at the end are left out.
func join(parts ...string) string {
	for len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	var all []string
	for _, part := range parts {
		all = append(all, escaped(oneLine(part)))
	}
	return strings.Join(all, " | ")
}

// oneLine is a text without line breaks: only descriptions have them in a table.
func oneLine(text string) string {
	if !strings.ContainsAny(text, "\r\n") {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\r' || c == '\n' }), " ")
}

var (
	escape   = strings.NewReplacer(`\`, `\\`, `;`, `\;`, `|`, `\|`)
	unescape = strings.NewReplacer(`\\`, `\`, `\;`, `;`, `\|`, `|`)
)

func escaped(text string) string   { return escape.Replace(text) }
func unescaped(text string) string { return strings.TrimSpace(unescape.Replace(text)) }
