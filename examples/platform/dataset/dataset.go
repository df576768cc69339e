// Package dataset says what the repository holds: datasets, their versions, and the
// metadata of both.
package dataset

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/doi"
)

// A State is what the curator decided about a version. The outbox changes the state of its
// DOI accordingly.
type State string

// The states of a version.
const (
	Draft     State = "draft"     // being written; only its owner sees it
	Published State = "published" // with a findable DOI
	Withdrawn State = "withdrawn" // a tombstone page: the DOI resolves, but is hidden from searches
)

// A Repository is the publisher.
type Repository struct {
	Name   string
	Public string // its public URL, without a slash at the end
}

// A Dataset has one or more versions, each with a DOI, and a concept DOI that stands
// for all of them and leads to the latest one.
type Dataset struct {
	ID       int64
	Owner    string // the curator who may change it
	DOI      string // the concept DOI, chosen when the dataset is made: no DOI exists without a dataset
	Claimed  bool   // something may have been sent under the DOI
	Revision int    // grows with each change
	Versions []*Version

	Pending bool      // in the outbox
	Due     time.Time // when the outbox tries next
	Tries   int       // how often it has tried in vain
	Problem string    // why the last try failed
}

// A Version is a state of a dataset. Its files do not change once it is published.
type Version struct {
	Dataset   int64
	Number    int // from 1
	DOI       string
	Claimed   bool
	State     State
	Shown     State  // state that the service confirmed; "" means that nothing was registered
	Published string // the day on which it was published first
	Withdrawn string // the day on which it was withdrawn
	Reason    string // why it was withdrawn
	Review    string // secret part of the address at which reviewers see the draft; "" means that there is none
	Revision  int    // grows with each change of About
	About     About
	Files     []File
}

// About is the metadata that the curator types.
type About struct {
	Title        string
	Description  string
	Methods      string
	Type         string // general type of DataCite's schema; "" means Dataset
	Language     string // such as en
	Keywords     []string
	Subjects     []Subject
	Year         string // of an earlier publication elsewhere; "" means that there was none
	License      string // of the SPDX list, such as CC-BY-4.0
	Embargo      string // the day from which the files are public; "" means at once
	Creators     []Creator
	Contributors []Contributor
	Related      []Related
	Funders      []Funder
}

// Texts are the metadata to search in. Codes of languages and licences are left out, since "de"
// and "by" are words of many texts.
func (a About) Texts() []string {
	all := append([]string{a.Title, a.Description, a.Methods}, a.Keywords...)
	for _, s := range a.Subjects {
		all = append(all, s.Term)
	}
	people := slices.Clone(a.Creators)
	for _, c := range a.Contributors {
		people = append(people, c.Creator)
	}
	for _, c := range people {
		all = append(all, c.Given+" "+c.Name(), c.ORCID, c.ROR)
		for _, in := range c.Affiliations {
			all = append(all, in.Name, in.ROR)
		}
	}
	for _, r := range a.Related {
		all = append(all, r.ID)
	}
	for _, f := range a.Funders {
		all = append(all, f.Name, f.ROR, f.Award, f.AwardTitle)
	}
	return all
}

// A Subject is a keyword of a classification or thesaurus.
type Subject struct{ Term, Scheme, URI string }

// A Creator is a person or an organisation that made a dataset.
type Creator struct {
	Organisation bool
	Family       string // or the name of the organisation
	Given        string
	ORCID        string // bare
	ROR          string // of an organisation, bare
	Affiliations []Affiliation
}

// An Affiliation is an organisation that a person belongs to.
type Affiliation struct{ Name, ROR string }

// Name is the creator's as a citation has it.
func (c Creator) Name() string {
	if c.Given == "" {
		return c.Family
	}
	return c.Family + ", " + c.Given
}

// Address is that of the creator's ORCID or ROR, "" for none.
func (c Creator) Address() string {
	switch {
	case c.Organisation && c.ROR != "":
		return "https://ror.org/" + c.ROR
	case !c.Organisation && c.ORCID != "":
		return "https://orcid.org/" + c.ORCID
	}
	return ""
}

// A Contributor has done something else for a dataset.
type Contributor struct {
	Role string // a contributor type of DataCite's schema
	Creator
}

// Related is a related work, such as the article about the dataset.
type Related struct {
	Relation string // from the dataset to the work, in DataCite's terms
	ID       string // a bare DOI, or an address of the web
	Type     string // general type of the work; "" means that it is unknown
}

// DOI returns the DOI of the work, "" if it has an address only.
func (r Related) DOI() string {
	if name, err := doi.Parse(r.ID); err == nil {
		return name
	}
	return ""
}

// Address is where the work is.
func (r Related) Address() string {
	if name := r.DOI(); name != "" {
		return doi.URL(name)
	}
	return r.ID
}

// A Funder paid for a dataset.
type Funder struct{ Name, ROR, Award, AwardTitle string }

// A File is one of a version. Its bytes are stored under their hash.
type File struct {
	Name   string
	Size   int64
	SHA256 string // in hexadecimal
}

// Licenses are suggested by the form.
var Licenses = []string{"CC-BY-4.0", "CC0-1.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "ODbL-1.0", "MIT"}

// Version returns a version by its number, nil if there is none.
func (d *Dataset) Version(number int) *Version {
	i := slices.IndexFunc(d.Versions, func(v *Version) bool { return v.Number == number })
	if i < 0 {
		return nil
	}
	return d.Versions[i]
}

// With returns the dataset with another form of one of its versions.
func (d Dataset) With(v *Version) *Dataset {
	d.Versions = slices.Clone(d.Versions)
	for i, other := range d.Versions {
		if other.Number == v.Number {
			d.Versions[i] = v
		}
	}
	return &d
}

// Public returns the published and withdrawn versions, oldest first.
func (d *Dataset) Public() []*Version {
	return slices.DeleteFunc(slices.Clone(d.Versions), func(v *Version) bool { return v.State == Draft })
}

// Latest returns the version that the concept DOI leads to: the last published one, else the
// last withdrawn one, nil if there is neither.
func (d *Dataset) Latest() *Version {
	var latest *Version
	for _, v := range d.Public() {
		if latest == nil || v.State == Published || latest.State == Withdrawn {
			latest = v
		}
	}
	return latest
}

// Last returns the version with the highest number, which may be a draft.
func (d *Dataset) Last() *Version { return d.Versions[len(d.Versions)-1] }

// Path is where the concept DOI leads.
func (d *Dataset) Path() string { return path(d.DOI) }

// Path is that of the landing page.
func (v *Version) Path() string { return path(v.DOI) }

// path contains the suffix of the DOI and no number from the database: after a restore, new
// datasets would get the numbers of lost ones, whose DOIs still lead there.
func path(name string) string {
	_, suffix := doi.Split(name)
	return "/datasets/" + suffix
}

// Address is the concept DOI as a URL, the form in which DOIs are displayed.
func (d *Dataset) Address() string { return doi.URL(d.DOI) }

// Address is the DOI as a URL.
func (v *Version) Address() string { return doi.URL(v.DOI) }

// Status is the state on pages: a version counts as published only once its DOI is findable.
func (v *Version) Status() string {
	switch {
	case v.State == v.Shown || v.State == Draft:
		return string(v.State)
	case v.State == Withdrawn:
		return "being withdrawn"
	}
	return "being published"
}

// Embargoed reports whether the files are not public yet.
func (v *Version) Embargoed(now time.Time) bool {
	return v.About.Embargo > now.UTC().Format(time.DateOnly)
}

// Open returns the files that everybody may download.
func (v *Version) Open(now time.Time) []File {
	if v.State != Published || v.Embargoed(now) {
		return nil
	}
	return v.Files
}

// As returns the version in another state. The reason is that of a withdrawal.
func (v Version) As(state State, day, reason string) *Version {
	v.State, v.Withdrawn, v.Reason = state, "", ""
	v.Published = cmp.Or(v.Published, day)
	if state == Withdrawn {
		v.Withdrawn, v.Reason = day, reason
	}
	return &v
}

// Says is the public part of the metadata. A tombstone keeps what citations and links need. Fields that are
// not in this list are hidden after a withdrawal, and deleted with the files.
func (v *Version) Says() About {
	a := v.About
	if v.State != Withdrawn {
		return a
	}
	return About{
		Title: a.Title, Type: a.Type, Language: a.Language, Year: a.Year, License: a.License, Embargo: a.Embargo,
		Creators: a.Creators, Contributors: a.Contributors, Related: a.Related, Funders: a.Funders,
	}
}

// Available is the day from which the files are public, today for a draft without an
// embargo.
func (v *Version) Available() string {
	published := cmp.Or(v.Published, time.Now().UTC().Format(time.DateOnly))
	if _, err := time.Parse(time.DateOnly, v.About.Embargo); err != nil {
		return published // there is none, or it is a fault of the form
	}
	return max(v.About.Embargo, published)
}

// Issued is the day of publication, or the year of an earlier publication elsewhere.
func (v *Version) Issued() string {
	if year := v.About.Year; year != "" && !strings.HasPrefix(v.Published, year) {
		return year
	}
	return v.Published
}

// Year is the publication year: that of an earlier publication, or else the year in which the
// files become public, which is DataCite's rule for embargoes.
func (v *Version) Year() string { return cmp.Or(v.About.Year, v.Available()[:4]) }

// Access is a sentence about who may download the files.
func (v *Version) Access(now time.Time) string {
	switch {
	case v.State == Draft:
		return "This is a draft: only its curator and its reviewers see it."
	case v.State == Withdrawn:
		return "The files were withdrawn on " + v.Withdrawn + "."
	case v.Embargoed(now):
		return "The files are public from " + v.About.Embargo + " on."
	}
	return "Everybody may download the files."
}

// Size is that of all files.
func (v *Version) Size() (bytes int64) {
	for _, f := range v.Files {
		bytes += f.Size
	}
	return bytes
}

// File returns a file by its name.
func (v *Version) File(name string) (File, bool) {
	i := slices.IndexFunc(v.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return File{}, false
	}
	return v.Files[i], true
}
