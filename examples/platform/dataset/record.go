package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// versions are the DOIs of the dataset, as far as they are public.
func (d *Dataset) versions() metadata.Versions {
	all := metadata.Versions{Concept: d.DOI}
	for _, v := range d.Public() {
		all.DOIs = append(all.DOIs, v.DOI)
	}
	return all
}

// Wanted returns the DOIs of the dataset as the service should have them, in an order in
// which no record names a DOI that is not registered yet but for its concept DOI: the
// newest version, the concept DOI, the older versions. It is empty for a draft.
func (d *Dataset) Wanted(by Repository) []dois.Wanted {
	var all []dois.Wanted
	for i, v := range slices.Backward(d.Public()) {
		all = append(all, dois.Wanted{DOI: v.DOI, URL: by.Public + v.Path(), State: v.State.doi(), Metadata: d.Record(v, by)})
		if newest := i == len(d.Public())-1; newest {
			latest := d.Latest()
			all = append(all, dois.Wanted{DOI: d.DOI, URL: by.Public + d.Path(), State: latest.State.doi(), Metadata: d.concept(latest, by)})
		}
	}
	return all
}

func (s State) doi() dois.State {
	if s == Withdrawn {
		return dois.StateRegistered
	}
	return dois.StateFindable
}

// concept is the metadata of the concept DOI: those of the version that it leads to.
func (d *Dataset) concept(latest *Version, by Repository) *metadata.Record {
	r := d.Record(latest, by)
	r.DOI, r.Version, r.RelatedIdentifiers = d.DOI, "", d.versions().Relations(d.DOI)
	return r
}

// Record is the metadata of a version.
func (d *Dataset) Record(v *Version, by Repository) *metadata.Record {
	a := v.About
	r := &metadata.Record{
		DOI:                v.DOI,
		Titles:             []metadata.Title{{Title: a.Title}},
		Publisher:          metadata.Publisher{Name: by.Name},
		PublicationYear:    metadata.YearText(a.Year),
		Types:              metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Dataset"},
		Version:            strconv.Itoa(v.Number),
		RightsList:         []metadata.Rights{metadata.SPDX(a.License)},
		RelatedIdentifiers: d.versions().Relations(v.DOI),
		Dates:              v.dates(),
	}
	if a.Description != "" {
		r.Descriptions = []metadata.Description{{Description: a.Description, DescriptionType: metadata.DescriptionAbstract}}
	}
	if len(v.Files) > 0 {
		r.Sizes = []string{fmt.Sprintf("%d bytes", v.Size())}
	}
	for _, c := range a.Creators {
		r.Creators = append(r.Creators, c.record())
	}
	for _, f := range a.Funders {
		reference := metadata.FundingReference{FunderName: f.Name, AwardNumber: f.Award, AwardTitle: f.AwardTitle}
		if f.ROR != "" {
			reference.FunderIdentifier, reference.FunderIdentifierType = "https://ror.org/"+f.ROR, metadata.FunderROR
		}
		r.FundingReferences = append(r.FundingReferences, reference)
	}
	return r
}

func (c Creator) record() metadata.Creator {
	if c.Organisation {
		organisation := metadata.Organization(c.Family)
		if c.ROR != "" {
			organisation = organisation.ROR(c.ROR)
		}
		return organisation
	}
	person := metadata.Person(c.Family, c.Given)
	if c.ORCID != "" {
		person = person.ORCID(c.ORCID)
	}
	if c.Affiliation != "" || c.ROR != "" {
		person = person.AffiliatedWith(c.Affiliation, c.ROR)
	}
	return person
}

// dates are those of the publication, of an embargo, and of the withdrawal.
func (v *Version) dates() []metadata.Date {
	published, err := time.Parse(time.DateOnly, v.Published)
	if err != nil {
		return nil // a draft
	}
	available := cmp.Or(v.About.Embargo, v.Published)
	dates := []metadata.Date{{Date: available, DateType: metadata.DateAvailable}}
	if until, err := time.Parse(time.DateOnly, available); err == nil && until.After(published) {
		dates = metadata.Embargo(published, until)
	}
	if v.State == Withdrawn {
		dates = append(dates, metadata.Date{Date: v.Withdrawn, DateType: metadata.DateWithdrawn, DateInformation: v.Reason})
	}
	return dates
}

// Bare brings identifiers and the licence into one form, however they were typed.
func (a *About) Bare() {
	const orcid, ror = "https://orcid.org/", "https://ror.org/"
	bareROR := func(id string) string {
		if id == "" {
			return ""
		}
		return strings.ToLower(strings.TrimPrefix(metadata.Creator{}.ROR(id).NameIdentifiers[0].NameIdentifier, ror))
	}
	for i := range a.Creators {
		c := &a.Creators[i]
		if c.ORCID != "" {
			c.ORCID = strings.TrimPrefix(metadata.Creator{}.ORCID(c.ORCID).NameIdentifiers[0].NameIdentifier, orcid)
		}
		c.ROR = bareROR(c.ROR)
	}
	for i := range a.Funders {
		a.Funders[i].ROR = bareROR(a.Funders[i].ROR)
	}
	for _, id := range Licenses {
		if strings.EqualFold(id, a.License) {
			a.License = id
		}
	}
}
