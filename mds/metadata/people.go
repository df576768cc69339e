package metadata

import "slices"

// Person returns a creator of the personal form: the name "Family, Given", and
// both parts.
func Person(family, given string) Creator {
	name := family
	if given != "" {
		name += ", " + given
	}
	return Creator{Name: name, NameType: NamePersonal, FamilyName: family, GivenName: given}
}

// Organization returns a creator that is an organization.
func Organization(name string) Creator {
	return Creator{Name: name, NameType: NameOrganizational}
}

const (
	orcidURI = "https://orcid.org"
	rorURI   = "https://ror.org"
	spdxURI  = "https://spdx.org/licenses/"
)

// ORCID returns the creator with an ORCID added, given with or without its
// address: 0000-0001-5727-2427.
func (c Creator) ORCID(id string) Creator {
	return c.identified("ORCID", orcidURI, orcidURI+"/"+orcidRule.bare(id))
}

// ROR returns the creator with a ROR added, given with or without its address:
// 04wxnsj81. It is for organizations; the employer of a person goes into [Creator.At].
func (c Creator) ROR(id string) Creator {
	return c.identified("ROR", rorURI, rorURI+"/"+rorRule.bare(id))
}

func (c Creator) identified(scheme, schemeURI, id string) Creator {
	c.NameIdentifiers = append(slices.Clip(c.NameIdentifiers), NameIdentifier{
		NameIdentifier: id, NameIdentifierScheme: scheme, SchemeURI: schemeURI,
	})
	return c
}

// At returns the creator with an affiliation added. The ROR of the organization
// may have its address or not, or be empty.
func (c Creator) At(organization, ror string) Creator {
	a := Affiliation{Name: organization}
	if ror != "" {
		a.AffiliationIdentifier = rorURI + "/" + rorRule.bare(ror)
		a.AffiliationIdentifierScheme = "ROR"
		a.SchemeURI = rorURI
	}
	c.Affiliation = append(slices.Clip(c.Affiliation), a)
	return c
}

// As returns the same person or organization as a contributor.
func (c Creator) As(t ContributorType) Contributor {
	return Contributor{
		Name: c.Name, NameType: c.NameType, Lang: c.Lang, GivenName: c.GivenName, FamilyName: c.FamilyName,
		NameIdentifiers: c.NameIdentifiers, Affiliation: c.Affiliation, ContributorType: t,
	}
}

// SPDX returns a licence of the SPDX list by its identifier, such as CC-BY-4.0.
// The service knows an older list and fills in the name of the licence if it is
// there; [Record.Findings] warns of identifiers that are on no list known here.
func SPDX(id string) Rights {
	return Rights{RightsIdentifier: id, RightsIdentifierScheme: "SPDX", SchemeURI: spdxURI, RightsURI: spdxURI + id}
}
