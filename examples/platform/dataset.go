package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

// A State is what the curator has decided about a dataset. The outbox makes the DOI
// follow.
type State string

const (
	Draft     State = "draft"     // being written
	Published State = "published" // with a findable DOI
	Withdrawn State = "withdrawn" // a tombstone: the DOI resolves, and searching does not find it
)

// A Dataset is what the repository holds.
type Dataset struct {
	ID       int64
	DOI      string // chosen when the dataset is made, so that no DOI can exist without a dataset
	Claimed  bool   // something may have been sent under the DOI
	State    State
	Revision int // grows with each change
	Version  int // grows when something public changes

	Title       string
	Description string
	Year        string
	License     string // of the SPDX list, such as "CC-BY-4.0"
	Creators    []Creator
	File        string // name of the file; its bytes stay in the database

	Pending bool   // in the outbox
	Tries   int    // how often the outbox has tried in vain
	Problem string // why the last try failed
}

// A Creator is a person who made a dataset.
type Creator struct{ Family, Given, ORCID, Affiliation, ROR string }

// licenses are those that the form offers.
var licenses = []string{"CC-BY-4.0", "CC0-1.0", "CC-BY-NC-4.0", "ODbL-1.0"}

// Status is what people see: a dataset is published when its DOI is findable and has
// its metadata, not before.
func (d *Dataset) Status() string {
	switch {
	case d.Pending && d.Problem != "":
		return "waiting: " + d.Problem
	case d.Pending && d.State == Withdrawn:
		return "withdrawing"
	case d.Pending:
		return "publishing"
	}
	return string(d.State)
}

// Path is the landing page's.
func (d *Dataset) Path() string { return "/datasets/" + strconv.FormatInt(d.ID, 10) }

// Address is that of the DOI, as people should see it.
func (d *Dataset) Address() string { return doi.Address(d.DOI) }

// Citation is the text to cite the dataset with.
func (d *Dataset) Citation(repository string) string {
	var names []string
	for _, c := range d.Creators {
		names = append(names, c.Family+", "+c.Given)
	}
	return fmt.Sprintf("%s (%s): %s. %s. %s", strings.Join(names, "; "), d.Year, d.Title, repository, d.Address())
}

// Record is the metadata of the dataset.
func (d *Dataset) Record(repository string) *metadata.Record {
	r := &metadata.Record{
		DOI:             d.DOI,
		Titles:          []metadata.Title{{Title: d.Title}},
		Publisher:       metadata.Publisher{Name: repository},
		PublicationYear: metadata.Year(d.Year),
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Dataset"},
		Version:         metadata.Text(strconv.Itoa(d.Version)),
		RightsList:      []metadata.Rights{metadata.SPDX(d.License)},
		Formats:         []string{d.File},
	}
	if d.Description != "" {
		r.Descriptions = []metadata.Description{{Description: d.Description, DescriptionType: metadata.DescriptionAbstract}}
	}
	for _, c := range d.Creators {
		person := metadata.Person(c.Family, c.Given)
		if c.ORCID != "" {
			person = person.ORCID(c.ORCID)
		}
		if c.Affiliation != "" {
			person = person.AffiliatedWith(c.Affiliation, c.ROR)
		}
		r.Creators = append(r.Creators, person)
	}
	return r
}

// Check returns what has to be put right before the dataset can be published:
// everything that the service would refuse, and what only the check digits of
// identifiers tell.
func (d *Dataset) Check(repository string) (faults []string) {
	for _, f := range d.Record(repository).Findings() {
		if !f.Warning || f.Code == metadata.CodeScheme {
			faults = append(faults, f.Path+": "+f.Message)
		}
	}
	if d.File == "" {
		faults = append(faults, "file: a dataset needs a file")
	}
	return faults
}

// errChanged: somebody else changed the dataset in the meantime.
var errChanged = errors.New("the dataset has changed in the meantime; load it again")
