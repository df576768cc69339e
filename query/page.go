package query

import (
	"errors"
	"strings"

	"github.com/datacite-go/datacite-go"
)

// A Page selects a part of the results (specification §4.2). The zero value is the first
// page of 25 records.
//
// Page numbers reach only the first 10,000 records; a Cursor reaches all, in the order of
// their creation.
type Page struct {
	Number int    // from 1; 0 means the first page
	Size   int    // records in a page, at most 1,000; 0 means the service's 25
	Cursor string // "1" for the first page, then the cursor that the service returned for the next one
}

const (
	defaultPageSize = 25
	maxPageSize     = 1000
	pageWindow      = 10_000
)

// check refuses a page that the service would refuse or silently replace by another one.
func (p Page) check() error {
	size := p.Size
	if size == 0 {
		size = defaultPageSize
	}
	switch {
	case p.Number < 0:
		return datacite.Invalidf("page", datacite.CodeLimit, "number is %d; pages are counted from 1", p.Number)
	case p.Size < 0 || p.Size > maxPageSize:
		return datacite.Invalidf("page", datacite.CodeLimit,
			"size is %d; a page has 1 to %d records", p.Size, maxPageSize)
	case strings.ContainsAny(p.Cursor, " \t\r\n,"):
		return datacite.Invalidf("page", datacite.CodeValue,
			"cursor is %q, which the service did not return; it would start from the first record", p.Cursor)
	case p.Number > 0 && p.Cursor != "":
		return datacite.Invalidf("page", datacite.CodeConflict,
			"has a number and a cursor; only one of them can say where the page begins")
	case p.Number > pageWindow/size:
		return datacite.Invalidf("page", datacite.CodeLimit,
			"number %d of %d records is beyond the first %d records, and the service would return another page "+
				"again; use a cursor", p.Number, size, pageWindow)
	}
	return nil
}

// A Sample selects a random part of the results (specification §4.2). The zero value means
// no sample.
type Sample struct {
	Random bool   // records in random order: Page.Size of them
	Size   int    // records from each group; 0 means 1
	Group  string // instead of Random: some records of each GroupClient, GroupProvider or GroupResourceType
}

// The values of [Sample.Group].
const (
	GroupClient       = "client"
	GroupProvider     = "provider"
	GroupResourceType = "resource-type"
)

// check refuses a sample that the service would refuse or ignore.
func (s Sample) check() error {
	switch s.Group {
	case "", GroupClient, GroupProvider, GroupResourceType:
	default:
		return datacite.Invalidf("sample", datacite.CodeVocabulary,
			"group is %q; the groups are client, provider and resource-type", s.Group)
	}
	switch {
	case s.Size < 0:
		return datacite.Invalidf("sample", datacite.CodeLimit,
			"size is %d; a sample has at least one record of each group", s.Size)
	case s.Random && s.Group != "":
		return datacite.Invalidf("sample", datacite.CodeConflict,
			"is random and has a group; the service takes a random sample or one of groups")
	case s.Size > 0 && s.Group == "":
		return datacite.Invalidf("sample", datacite.CodeConflict,
			"size is %d, which has no effect without a group; a random sample has the size of the page", s.Size)
	}
	return nil
}

// CheckList checks the parts of a list request and whether they can be combined. A nil
// expression means no query. The error is a [*datacite.ValidationError] with
// all faults, whose Path is query, sort, page or sample.
func CheckList(expr Expr, s Sort, p Page, sample Sample) error {
	err := errors.Join(Check(expr), s.check(), p.check(), sample.check(), checkTogether(s, p, sample))
	return datacite.Invalid(datacite.Findings(err)...)
}

func checkTogether(s Sort, p Page, sample Sample) error {
	sampled := sample.Random || sample.Group != ""
	switch {
	case p.Cursor != "" && s != "" && s != ByCreated:
		return datacite.Invalidf("sort", datacite.CodeConflict,
			"is %q beside a cursor, which goes by the order of creation, and the service ignores any other; use "+
				"ByCreated or none", string(s))
	case sampled && p.Cursor != "":
		return datacite.Invalidf("sample", datacite.CodeConflict,
			"cannot be combined with a cursor; a sample is one response")
	case sampled && p.Number > 1:
		return datacite.Invalidf("sample", datacite.CodeConflict,
			"cannot be combined with a page number; a sample is one response, and another page would be another sample")
	case sample.Random && s != "":
		return datacite.Invalidf("sort", datacite.CodeConflict,
			"is %q beside a random sample, which is in random order; the service ignores any other", string(s))
	}
	return nil
}
