package metadata

import (
	"slices"

	"github.com/datacite-go/datacite-go"
)

// Upgrade turns a record of kernel 2 or 3 into one of kernel 4. The service still shows
// records of these kernels, but refuses them when they are sent again. old is not changed;
// the result shares unchanged values with it. In a record of kernel 4, only SchemaVersion
// changes, to [Namespace].
//
// These values change:
//
//   - a contributor of the type Funder becomes a funding reference; it also stays as a
//     contributor of the type Other if it has values that a funding reference cannot contain
//   - a StartDate or EndDate becomes a date of the type Other, with its old type in
//     DateInformation
//   - the general type Film becomes Audiovisual
//
// [ParseXML] has already converted points and boxes that are one text, and rights outside a
// list.
//
// If kernel 4 requires a value that the record lacks, most often the general type, Upgrade
// returns the upgraded record and a [*datacite.ValidationError] that names it.
func Upgrade(old *Record) (*Record, error) {
	if old == nil {
		return nil, datacite.Invalid(datacite.Finding{Path: "old", Code: "missing", Reason: "is nil"})
	}
	r := *old
	r.SchemaVersion = Namespace
	if r.Types.ResourceTypeGeneral == "Film" {
		r.Types.ResourceTypeGeneral = ResourceTypeAudiovisual
	}
	r.upgradeFunders()
	r.upgradeDates()
	return &r, r.Validate()
}

const oldFunder ContributorType = "Funder"

func (r *Record) upgradeFunders() {
	isFunder := func(c Contributor) bool { return c.ContributorType == oldFunder }
	if !slices.ContainsFunc(r.Contributors, isFunder) {
		return
	}
	contributors := r.Contributors
	r.Contributors, r.FundingReferences = nil, slices.Clone(r.FundingReferences)
	for _, c := range contributors {
		if !isFunder(c) {
			r.Contributors = append(r.Contributors, c)
			continue
		}
		if f := c.funding(); !slices.Contains(r.FundingReferences, f) {
			r.FundingReferences = append(r.FundingReferences, f)
		}
		if len(c.Affiliation) > 0 || len(c.NameIdentifiers) > 1 || c.GivenName+c.FamilyName+c.Lang != "" {
			c.ContributorType = ContributorOther
			r.Contributors = append(r.Contributors, c)
		}
	}
}

// funding returns a funder as a funding reference.
func (c *Contributor) funding() FundingReference {
	f := FundingReference{FunderName: c.Name}
	if len(c.NameIdentifiers) == 0 || c.NameIdentifiers[0].NameIdentifier == "" {
		return f
	}
	id := c.NameIdentifiers[0]
	f.FunderIdentifier, f.SchemeURI, f.FunderIdentifierType = id.NameIdentifier, id.SchemeURI, FunderOther
	scheme := fold(id.NameIdentifierScheme)
	for _, t := range Values[FunderIdentifierType]() {
		if scheme == fold(string(t)) || aliases[scheme] == string(t) {
			f.FunderIdentifierType = t
		}
	}
	return f
}

func (r *Record) upgradeDates() {
	isOld := func(d Date) bool { return d.DateType == "StartDate" || d.DateType == "EndDate" }
	if !slices.ContainsFunc(r.Dates, isOld) {
		return
	}
	r.Dates = slices.Clone(r.Dates)
	for i := range r.Dates {
		if d := &r.Dates[i]; isOld(*d) {
			d.DateType, d.DateInformation = DateOther, string(d.DateType)
		}
	}
}
