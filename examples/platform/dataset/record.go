package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// versions are the concept DOI and the DOIs of the public versions.
func (d *Dataset) versions() metadata.Versions {
	all := metadata.Versions{Concept: d.DOI}
	for _, v := range d.Public() {
		all.DOIs = append(all.DOIs, v.DOI)
	}
	return all
}

// Wanted returns the records that the service should have, none for a draft. In their order
// (newest version, concept DOI, older versions), a record refers only to DOIs that are already
// registered, except to its concept DOI.
func (d *Dataset) Wanted(by Repository) []reconcile.Desired {
	var all []reconcile.Desired
	for i, v := range slices.Backward(d.Public()) {
		all = append(all, reconcile.Desired{DOI: v.DOI, URL: by.Public + v.Path(), State: v.State.doi(),
			Metadata: d.Record(v, by), Whole: true})
		if newest := i == len(d.Public())-1; newest {
			latest := d.Latest()
			all = append(all, reconcile.Desired{DOI: d.DOI, URL: by.Public + d.Path(), State: latest.State.doi(),
				Metadata: d.concept(latest, by), Whole: true})
		}
	}
	return all
}

func (s State) doi() datacite.State {
	if s == Withdrawn {
		return datacite.StateRegistered
	}
	return datacite.StateFindable
}

// concept is the metadata of the concept DOI: that of the version to which it leads.
func (d *Dataset) concept(latest *Version, by Repository) *metadata.Record {
	r := d.Record(latest, by)
	r.DOI, r.Version, r.RelatedIdentifiers = d.DOI, "", d.versions().Relations(d.DOI)
	return r
}

// Record is the metadata of a version.
func (d *Dataset) Record(v *Version, by Repository) *metadata.Record {
	a := v.Says()
	r := &metadata.Record{
		DOI:             v.DOI,
		Titles:          []metadata.Title{{Title: a.Title}},
		Publisher:       metadata.Publisher{Name: by.Name},
		PublicationYear: metadata.Year(v.Year()),
		Types:           metadata.Types{ResourceTypeGeneral: a.general(), ResourceType: Words(string(a.general()))},
		Language:        a.Language,
		Version:         strconv.Itoa(v.Number),
		RightsList:      []metadata.Rights{metadata.SPDX(a.License)},
		Dates:           v.dates(),
	}
	for _, text := range []metadata.Description{
		{Description: a.Description, DescriptionType: metadata.DescriptionAbstract},
		{Description: a.Methods, DescriptionType: metadata.DescriptionMethods}} {
		if text.Description != "" {
			r.Descriptions = append(r.Descriptions, text)
		}
	}
	if len(v.Files) > 0 && v.State != Withdrawn {
		r.Sizes = []string{fmt.Sprintf("%d bytes", v.Size())}
	}
	for _, keyword := range a.Keywords {
		r.Subjects = append(r.Subjects, metadata.Subject{Subject: keyword})
	}
	for _, s := range a.Subjects {
		r.Subjects = append(r.Subjects, metadata.Subject{Subject: s.Term, SubjectScheme: s.Scheme, ValueURI: s.URI})
	}
	for _, c := range a.Creators {
		r.Creators = append(r.Creators, c.record())
	}
	for _, c := range a.Contributors {
		r.Contributors = append(r.Contributors,
			metadata.Contributor{Creator: c.record(), ContributorType: metadata.ContributorType(c.Role)})
	}
	for _, related := range a.Related {
		r.RelatedIdentifiers = append(r.RelatedIdentifiers, related.record())
	}
	r.RelatedIdentifiers = append(r.RelatedIdentifiers, d.versions().Relations(v.DOI)...)
	for _, f := range a.Funders {
		reference := metadata.FundingReference{FunderName: f.Name, AwardNumber: f.Award, AwardTitle: f.AwardTitle}
		if f.ROR != "" {
			reference.FunderIdentifier, reference.FunderIdentifierType = "https://ror.org/"+f.ROR, metadata.FunderROR
		}
		r.FundingReferences = append(r.FundingReferences, reference)
	}
	return r
}

// Fingerprint is a hash of everything that is public of a version. A form contains it, so that
// a decision applies only to what its page showed.
func (d *Dataset) Fingerprint(v *Version, by Repository) (string, error) {
	data, err := json.Marshal([]any{d.Record(v, by), v.Files, v.State})
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

func (a About) general() metadata.ResourceTypeGeneral {
	return cmp.Or(metadata.ResourceTypeGeneral(a.Type), metadata.ResourceTypeDataset)
}

// Words writes a term of DataCite's schema in words: "Data collector" for DataCollector.
func Words(term string) string {
	var b strings.Builder
	for i, c := range term {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte(' ')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (r Related) record() metadata.RelatedIdentifier {
	id := metadata.RelatedIdentifier{
		RelatedIdentifier: r.ID, RelatedIdentifierType: metadata.IdentifierURL,
		RelationType: metadata.RelationType(r.Relation), ResourceTypeGeneral: metadata.ResourceTypeGeneral(r.Type),
	}
	if r.DOI() != "" {
		id.RelatedIdentifierType = metadata.IdentifierDOI
	}
	return id
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
	for _, in := range c.Affiliations {
		person = person.AffiliatedWith(in.Name, in.ROR)
	}
	return person
}

// dates are those of the publication, of an embargo, and of the withdrawal.
func (v *Version) dates() []metadata.Date {
	if v.Published == "" {
		return nil // a draft
	}
	dates := []metadata.Date{{Date: v.Issued(), DateType: metadata.DateIssued},
		{Date: v.Available(), DateType: metadata.DateAvailable}}
	if v.Available() > v.Published {
		dates = append(dates, metadata.Date{Date: v.Published, DateType: metadata.DateAccepted}) // an embargo
	}
	if v.State == Withdrawn {
		dates = append(dates, metadata.Date{Date: v.Withdrawn, DateType: metadata.DateWithdrawn, DateInformation: v.Reason})
	}
	return dates
}

// Bare normalises identifiers and the licence.
func (a *About) Bare() {
	ror := func(id *string) {
		for _, known := range (metadata.Creator{}).ROR(*id).NameIdentifiers { // none of ""
			*id = strings.ToLower(strings.TrimPrefix(known.NameIdentifier, "https://ror.org/"))
		}
	}
	bare := func(c *Creator) {
		for _, known := range (metadata.Creator{}).ORCID(c.ORCID).NameIdentifiers {
			c.ORCID = strings.TrimPrefix(known.NameIdentifier, "https://orcid.org/")
		}
		ror(&c.ROR)
		for i := range c.Affiliations {
			ror(&c.Affiliations[i].ROR)
		}
	}
	for i := range a.Creators {
		bare(&a.Creators[i])
	}
	for i := range a.Contributors {
		bare(&a.Contributors[i].Creator)
	}
	for i, r := range a.Related {
		a.Related[i].ID = cmp.Or(r.DOI(), r.ID)
	}
	for i := range a.Funders {
		ror(&a.Funders[i].ROR)
	}
	for _, id := range Licenses {
		if strings.EqualFold(id, a.License) {
			a.License = id
		}
	}
}
