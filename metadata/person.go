package metadata

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Creator is a person or organization that made the resource, or a related item. The Name
// of a person is "Family, Given".
type Creator struct {
	Name            string               `json:"name"`
	NameType        NameType             `json:"nameType,omitempty"`
	Lang            string               `json:"lang,omitempty"` // in XML only; the service drops it from its JSON
	GivenName       string               `json:"givenName,omitempty"`
	FamilyName      string               `json:"familyName,omitempty"`
	NameIdentifiers List[NameIdentifier] `json:"nameIdentifiers,omitzero"`
	Affiliation     List[Affiliation]    `json:"affiliation,omitzero"`

	emptyGiven bool `json:"-"` // the JSON has the given name "", with which the service composes the name "Family, "
}

// MarshalJSON writes an object. An empty given name is written if the JSON had it.
func (c Creator) MarshalJSON() ([]byte, error) {
	type plain Creator
	return withGiven(&c, plain(c)), nil
}

// Contributor is a person or organization with another role.
type Contributor struct {
	Creator
	ContributorType ContributorType `json:"contributorType,omitempty"`
}

// MarshalJSON writes an object. An empty given name is written if the JSON had it.
func (c Contributor) MarshalJSON() ([]byte, error) {
	type creator Creator
	return withGiven(&c.Creator, struct {
		creator
		ContributorType ContributorType `json:"contributorType,omitempty"`
	}{creator(c.Creator), c.ContributorType}), nil
}

// withGiven is the JSON of a person, with an empty given name that was read.
func withGiven[T any](c *Creator, plain T) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // the encoder of the record may do so
	_ = e.Encode(plain)    // of texts
	data := bytes.TrimSuffix(out.Bytes(), []byte("}\n"))
	if c.emptyGiven && c.GivenName == "" && c.FamilyName != "" {
		data = append(data, `,"givenName":""`...)
	}
	return append(data, '}')
}

const (
	noCreator = "a record needs a creator; where nobody can be named, write the name :unkn"
	maxPeople = 10_000 // the service is known to take that many
)

var (
	creatorElement = sync.OnceValue(func() *element[Creator] {
		return personElement("creator", theCreator, identification(theCreator)...)
	})
	contributorElement = sync.OnceValue(func() *element[Contributor] {
		return personElement("contributor", theContributor, append(identification(theContributor), contributorTypePart)...)
	})

	// Those of related items have names only.
	relatedItemCreatorElement = sync.OnceValue(func() *element[Creator] {
		return personElement("creator", theCreator, nameOnly(creatorElement(), theCreator)...)
	})
	relatedItemContributorElement = sync.OnceValue(func() *element[Contributor] {
		return personElement("contributor", theContributor,
			append(nameOnly(contributorElement(), theContributor), contributorTypePart)...)
	})

	contributorTypePart = mandatory("contributorType", contributorType, func(c *Contributor) *ContributorType {
		return &c.ContributorType
	})
)

func theCreator(c *Creator) *Creator         { return c }
func theContributor(c *Contributor) *Creator { return &c.Creator }

var contributorType = termOf(contributorTypes, "contributor type")

// personElement is an element with the names of a person or organization, and more rows.
func personElement[T any](name string, person func(*T) *Creator, more ...part[T]) *element[T] {
	return newElement(name, inOrder, append([]part[T]{
		inside(once, newElement(name+"Name", textOnly,
			text("name", datatype{fault: required("the name of a " + name), warning: referenceWarning, spaces: oneBlank},
				func(v *T) *string { return &person(v).Name }),
			attribute("nameType", termOf(nameTypes, "name type"), func(v *T) *NameType { return &person(v).NameType }),
			lang(func(v *T) *string { return &person(v).Lang }),
		)).always(),
		givenName(person),
		untypedElement("familyName", unescapedText, func(v *T) *string { return &person(v).FamilyName }),
		also(func(c *checker, p *path, v *T) { c.person(p, person(v)) }),
	}, more...)...)
}

// givenName tells an empty given name in JSON from none.
func givenName[T any](person func(*T) *Creator) part[T] {
	p := untypedElement("givenName", unescapedText, func(v *T) *string { return &person(v).GivenName })
	read := p.members[0].Read
	p.members[0].Read = func(d *decoder, v *T) {
		isText := d.Kind() == '"'
		read(d, v)
		person(v).emptyGiven = isText && person(v).GivenName == ""
	}
	return p
}

func identification[T any](person func(*T) *Creator) []part[T] {
	return []part[T]{
		elements("nameIdentifiers", nameIdentifierElement(),
			func(v *T) *List[NameIdentifier] { return &person(v).NameIdentifiers }),
		elements("affiliation", affiliationElement(), func(v *T) *List[Affiliation] { return &person(v).Affiliation }),
	}
}

// nameOnly reads JSON like the whole element, and warns of what XML cannot contain.
func nameOnly[T any](whole *element[T], person func(*T) *Creator) []part[T] {
	return []part[T]{
		{table: func(e *element[T]) { e.item = whole.jsonItem() }},
		also(func(c *checker, p *path, v *T) {
			if len(person(v).NameIdentifiers)+len(person(v).Affiliation) > 0 {
				c.warn(datacite.CodeLossy, p, person(v).Name,
					"people of a related item have no identifiers and affiliations; they are left out")
			}
		}),
	}
}

// person warns of values that do not go together.
func (c *checker) person(p *path, v *Creator) {
	alone := v.GivenName == "" && v.FamilyName == ""
	if v.Lang != "" {
		c.warn(datacite.CodeLossy, p.dot("lang"), v.Lang, "the service keeps the language of a name only in its XML")
	}
	switch {
	case v.NameType == NamePersonal && !strings.Contains(v.Name, ",") && alone && !isStandIn(v.Name):
		c.warn(datacite.CodeConflict, p.dot("name"), v.Name,
			"write the name of a person as Family, Given, or fill in givenName and familyName")
	case v.NameType == NameOrganizational && !alone:
		c.warn(datacite.CodeConflict, p.dot("nameType"), string(v.NameType),
			"an organization has no given name and no family name")
	}
}

// checkPeople warns of lists that may be too long.
func checkPeople(member string, count func(*Record) int) part[Record] {
	return also(func(c *checker, p *path, r *Record) {
		if n := count(r); n > maxPeople {
			c.warn(datacite.CodeLimit, p.dot(member), "", "%d people; the service is known to accept %d", n, maxPeople)
		}
	})
}

// NameIdentifier is an identifier of a person or organization, such as an ORCID or a ROR.
type NameIdentifier struct {
	NameIdentifier       string      `json:"nameIdentifier,omitempty"`
	NameIdentifierScheme string      `json:"nameIdentifierScheme,omitempty"`
	SchemeURI            string      `json:"schemeUri,omitempty"`
	Extra                []Attribute `json:"-"` // XML attributes beside the schema's
}

var nameIdentifierElement = sync.OnceValue(func() *element[NameIdentifier] {
	return newElement("nameIdentifier", untyped,
		text("nameIdentifier", anyText, func(n *NameIdentifier) *string { return &n.NameIdentifier }),
		attribute("nameIdentifierScheme", anyWord, func(n *NameIdentifier) *string { return &n.NameIdentifierScheme }),
		also(func(c *checker, p *path, n *NameIdentifier) {
			c.agent(p, "nameIdentifier", n.NameIdentifier, n.NameIdentifierScheme)
		}),
		attribute("schemeURI", untypedURI, func(n *NameIdentifier) *string { return &n.SchemeURI }),
		extra(func(n *NameIdentifier) *[]Attribute { return &n.Extra }),
	)
})

// Affiliation is an organization that a person belongs to. JSON is read from a string or an
// object, and written as an object, the only form that the service accepts.
type Affiliation struct {
	Name                        string      `json:"name"`
	AffiliationIdentifier       string      `json:"affiliationIdentifier,omitempty"`
	AffiliationIdentifierScheme string      `json:"affiliationIdentifierScheme,omitempty"`
	SchemeURI                   string      `json:"schemeUri,omitempty"`
	Extra                       []Attribute `json:"-"` // XML attributes beside the schema's
}

var affiliationElement = sync.OnceValue(func() *element[Affiliation] {
	return newElement("affiliation", untyped,
		text("name", datatype{warning: affiliationWarning}, func(a *Affiliation) *string { return &a.Name }),
		attribute("affiliationIdentifier", anyText, func(a *Affiliation) *string { return &a.AffiliationIdentifier }),
		attribute("affiliationIdentifierScheme", anyWord,
			func(a *Affiliation) *string { return &a.AffiliationIdentifierScheme }),
		also(func(c *checker, p *path, a *Affiliation) {
			c.agent(p, "affiliationIdentifier", a.AffiliationIdentifier, a.AffiliationIdentifierScheme)
		}),
		attribute("schemeURI", untypedURI, func(a *Affiliation) *string { return &a.SchemeURI }),
		extra(func(a *Affiliation) *[]Attribute { return &a.Extra }),
	)
})

func affiliationWarning(value string) *fault {
	if xmlscan.Trim(value) == "" {
		return warning(datacite.CodeMissing, "the service drops affiliations without a name")
	}
	return nil
}

// UnmarshalJSON reads an object, or a string as the name.
func (a *Affiliation) UnmarshalJSON(data []byte) error {
	return input.JSON(data, a, affiliationElement().jsonObject().Read)
}

// agent checks the identifier of a person or organization. Its scheme is the member whose
// name ends in Scheme.
func (c *checker) agent(p *path, member, value, scheme string) {
	switch {
	case value != "" && scheme == "":
		c.warn(datacite.CodeScheme, p.dot(member+"Scheme"), "", "an identifier needs its scheme, such as ORCID or ROR")
	case value != "":
		if s, ok := agentSchemes[fold(scheme)]; ok {
			c.scheme(p.dot(member), value, s)
		}
	}
}

// Person returns a creator that is a person, with the name "Family, Given" and its parts.
// Empty values add nothing, and blanks around values are removed; the same is true of the
// other functions that build a creator.
func Person(family, given string) Creator {
	c := Creator{FamilyName: strings.TrimSpace(family), GivenName: strings.TrimSpace(given)}
	c.Name = cmp.Or(c.FamilyName, c.GivenName)
	if c.FamilyName != "" && c.GivenName != "" {
		c.Name += ", " + c.GivenName
	}
	if c.Name != "" {
		c.NameType = NamePersonal
	}
	return c
}

// Organization returns a creator that is an organization.
func Organization(name string) Creator {
	if name = strings.TrimSpace(name); name == "" {
		return Creator{}
	}
	return Creator{Name: name, NameType: NameOrganizational}
}

const (
	orcidURI = "https://orcid.org"
	rorURI   = "https://ror.org"
	spdxURI  = "https://spdx.org/licenses/"
)

// ORCID returns the creator with an ORCID added: 0000-0001-5727-2427, or its URL.
func (c Creator) ORCID(id string) Creator {
	return c.identified("ORCID", orcidURI, orcidRule.bare(strings.TrimSpace(id)))
}

// ROR returns an organization with its ROR added: 04wxnsj81, or its URL. For the employer
// of a person use [Creator.AffiliatedWith].
func (c Creator) ROR(id string) Creator {
	return c.identified("ROR", rorURI, rorRule.bare(strings.TrimSpace(id)))
}

func (c Creator) identified(scheme, schemeURI, id string) Creator {
	if id == "" {
		return c
	}
	c.NameIdentifiers = append(slices.Clip(c.NameIdentifiers), NameIdentifier{
		NameIdentifier: schemeURI + "/" + id, NameIdentifierScheme: scheme, SchemeURI: schemeURI,
	})
	return c
}

// AffiliatedWith returns the creator with an affiliation added. ror is the ROR of the
// organization or its URL, or empty.
func (c Creator) AffiliatedWith(organization, ror string) Creator {
	a := Affiliation{Name: strings.TrimSpace(organization)}
	if ror = rorRule.bare(strings.TrimSpace(ror)); ror != "" {
		a.AffiliationIdentifier = rorURI + "/" + ror
		a.AffiliationIdentifierScheme = "ROR"
		a.SchemeURI = rorURI
	}
	if a.Name != "" || ror != "" {
		c.Affiliation = append(slices.Clip(c.Affiliation), a)
	}
	return c
}

// ContributorType is the role of a contributor.
type ContributorType string

// Frequent values of [ContributorType]; write others as the schema has them. [Values] lists all.
const (
	ContributorEditor             ContributorType = "Editor"
	ContributorHostingInstitution ContributorType = "HostingInstitution"
	ContributorOther              ContributorType = "Other"
	ContributorResearcher         ContributorType = "Researcher"
)

var contributorTypes = terms("ContactPerson", "DataCollector", "DataCurator", "DataManager", "Distributor",
	ContributorEditor,
	ContributorHostingInstitution, ContributorOther, "Producer", "ProjectLeader", "ProjectManager", "ProjectMember",
	"RegistrationAgency", "RegistrationAuthority", "RelatedPerson", "ResearchGroup", "RightsHolder", ContributorResearcher,
	"Sponsor", "Supervisor", "WorkPackageLeader", "Translator")

func (ContributorType) vocabulary() vocabulary { return contributorTypes }

// NameType says whether a name is a person's or an organization's.
type NameType string

// The values of [NameType].
const (
	NameOrganizational NameType = "Organizational" // since 4.1
	NamePersonal       NameType = "Personal"       // since 4.1
)

var nameTypes = terms(NameOrganizational, NamePersonal)

func (NameType) vocabulary() vocabulary { return nameTypes }
