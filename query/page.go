package query

import (
	"errors"
	"fmt"
)

// A Page says which part of the results to return (specification §4.2). The
// zero value is the first page of 25 records.
//
// Pages by Number reach the first 10,000 records only; a Cursor reaches all,
// in the order of their creation.
type Page struct {
	Number int    // from 1; 0 means the first page
	Size   int    // records in a page, at most 1,000; 0 means the service's 25
	Cursor string // "1" begins; afterwards what the service returned for the next page
}

const (
	defaultPageSize = 25
	maxPageSize     = 1000
	pageWindow      = 10_000
)

// Check returns an [*Error] for a page that the service would refuse or
// silently replace by another one.
func (p Page) Check() error {
	size := p.Size
	if size == 0 {
		size = defaultPageSize
	}
	switch {
	case p.Number < 0:
		return &Error{Part: fmt.Sprintf("page number %d", p.Number), Reason: "pages are counted from 1"}
	case p.Size < 0 || p.Size > maxPageSize:
		return &Error{Part: fmt.Sprintf("page size %d", p.Size), Reason: fmt.Sprintf("a page has 1 to %d records", maxPageSize)}
	case p.Number > 0 && p.Cursor != "":
		return &Error{Part: "page with a number and a cursor", Reason: "only one of them can say where the page begins"}
	case p.Number > pageWindow/size:
		return &Error{Part: fmt.Sprintf("page number %d of %d records", p.Number, size), Reason: fmt.Sprintf(
			"by number the service shows the first %d records, and would return another page again; use a cursor", pageWindow)}
	}
	return nil
}

// A Sample asks for a random part of the results (specification §4.2). The
// zero value asks for none.
type Sample struct {
	Random bool   // records in random order: Page.Size of them
	Size   int    // records from each group; 0 means 1
	Group  string // instead of Random: some records of each group, GroupClient, GroupProvider or GroupResourceType
}

// The values of [Sample.Group].
const (
	GroupClient       = "client"
	GroupProvider     = "provider"
	GroupResourceType = "resource-type"
)

// Check returns an [*Error] for a sample that the service would refuse or
// ignore.
func (s Sample) Check() error {
	switch s.Group {
	case "", GroupClient, GroupProvider, GroupResourceType:
	default:
		return &Error{Part: fmt.Sprintf("sample group %q", s.Group), Reason: "the groups are client, provider and resource-type"}
	}
	switch {
	case s.Size < 0:
		return &Error{Part: fmt.Sprintf("sample size %d", s.Size), Reason: "a sample has at least one record of each group"}
	case s.Random && s.Group != "":
		return &Error{Part: "random sample of groups", Reason: "the service takes a random sample or one of groups"}
	case s.Size > 0 && s.Group == "":
		return &Error{Part: fmt.Sprintf("sample size %d", s.Size), Reason: "it has no effect without a group; a random sample has the size of the page"}
	}
	return nil
}

// CheckList checks the parts of a list request and whether they can be combined. A nil
// expression means no query. The error has all faults, each as an [*Error].
func CheckList(expr Expr, s Sort, p Page, sample Sample) error {
	return errors.Join(Check(expr), s.Check(), p.Check(), sample.Check(), checkTogether(s, p, sample))
}

func checkTogether(s Sort, p Page, sample Sample) error {
	sampled := sample.Random || sample.Group != ""
	switch {
	case p.Cursor != "" && s != "" && s != ByCreated:
		return &Error{Part: "sort with a cursor", Reason: "a cursor walks in the order of creation and the service ignores any other; use ByCreated or none"}
	case sampled && p.Cursor != "":
		return &Error{Part: "sample with a cursor", Reason: "a sample is one response, which a cursor cannot walk through"}
	case sampled && p.Number > 1:
		return &Error{Part: "sample with a page number", Reason: "a sample is one response; another page would be another sample"}
	case sample.Random && s != "":
		return &Error{Part: "sort of a random sample", Reason: "a random sample is in random order and the service ignores any other"}
	}
	return nil
}
