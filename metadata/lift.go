package metadata

import (
	"errors"
	"slices"
)

// Lift makes a record of kernel 4 out of one of an older version of the schema, 2.x or
// 3, which the service shows but no longer takes. old stays as it is; the result shares
// with it what did not change. A record of kernel 4 comes back as it is, with [Namespace]
// as its SchemaVersion.
//
// All that the older versions could say and kernel 4 says otherwise is taken over:
//
//   - a contributor of the type Funder becomes a funding reference, and stays as a
//     contributor of the type Other only if it has more than that can hold
//   - a StartDate and an EndDate become dates of the type Other, with their old type in
//     DateInformation
//   - the general type Film becomes Audiovisual
//   - points and boxes in one text, and rights without a list, are read by [ParseXML]
//     as those of kernel 4 already
//
// What kernel 4 asks for and the record does not have is not made up. Most often that is
// the general type, which used to be optional. The error is then a [*ValidationError]
// that names it, and comes with the record as far as it could be lifted.
func Lift(old *Record) (*Record, error) {
	if old == nil {
		return nil, errors.New("metadata.Lift: old is nil")
	}
	r := *old
	r.SchemaVersion = Namespace
	if r.Types.ResourceTypeGeneral == "Film" {
		r.Types.ResourceTypeGeneral = ResourceTypeAudiovisual
	}
	r.liftFunders()
	r.liftDates()
	invalid, _ := errors.AsType[*ValidationError](r.Validate())
	if invalid == nil {
		return &r, nil
	}
	return &r, invalid.Except(CodeJSON)
}

const oldFunder ContributorType = "Funder"

func (r *Record) liftFunders() {
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

// funding is a funder as kernel 4 has it.
func (c *Contributor) funding() FundingReference {
	f := FundingReference{FunderName: c.Name}
	if len(c.NameIdentifiers) == 0 || c.NameIdentifiers[0].NameIdentifier == "" {
		return f
	}
	id := c.NameIdentifiers[0]
	f.FunderIdentifier, f.SchemeURI, f.FunderIdentifierType = id.NameIdentifier, id.SchemeURI, FunderOther
	scheme := fold(id.NameIdentifierScheme)
	for _, t := range FunderIdentifierTypes() {
		if scheme == fold(string(t)) || aliases[scheme] == string(t) {
			f.FunderIdentifierType = t
		}
	}
	return f
}

func (r *Record) liftDates() {
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
