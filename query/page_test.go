package query_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	. "github.com/datacite-go/datacite-go/query"
)

func TestSort(t *testing.T) {
	for _, s := range []Sort{"", ByName, ByCreated, ByUpdated, ByPublished, ByViewCount, ByDownloadCount, ByCitationCount,
		ByTitle, ByRelevance} {
		assert.NoError(t, CheckList(nil, s, Page{}, Sample{}), s)
		assert.NoError(t, CheckList(nil, s.Desc(), Page{}, Sample{}), s)
		assert.Equal(t, s.Desc(), s.Desc().Desc(), s)
	}
	assert.Equal(t, Sort("-created"), ByCreated.Desc())
	assert.Equal(t, ByRelevance, ByRelevance.Desc())
	for _, s := range []Sort{"date", "-relevance", "--name", "-", "Name"} {
		assert.ErrorIs(t, CheckList(nil, s, Page{}, Sample{}), datacite.ErrInvalid, s)
	}
}

// A list request is refused where the service would refuse it, or answer
// another one silently.
func TestCheckList(t *testing.T) {
	for _, test := range []struct {
		name   string
		expr   Expr
		sort   Sort
		page   Page
		sample Sample
		reason string // "" is accepted
	}{
		{name: "nothing"},
		{name: "a query", expr: Term("a"), sort: ByTitle.Desc(), page: Page{Number: 4, Size: 100}},
		{name: "a bad query", expr: And(), reason: "at least one"},
		{name: "a bad sort", sort: "date", reason: "not an order"},
		{name: "page 0 of nothing", page: Page{Number: -1}, reason: "counted from 1"},
		{name: "a negative size", page: Page{Size: -1}, reason: "1 to 1000"},
		{name: "a size that is clamped", page: Page{Size: 1001}, reason: "1 to 1000"},
		{name: "the largest page", page: Page{Size: 1000, Number: 10}},
		{name: "beyond the window", page: Page{Size: 1000, Number: 11}, reason: "use a cursor"},
		{name: "the last page of 300", page: Page{Size: 300, Number: 33}},
		{name: "the page that would come again", page: Page{Size: 300, Number: 34}, reason: "use a cursor"},
		{name: "the last page of the usual size", page: Page{Number: 400}},
		{name: "beyond it", page: Page{Number: 401}, reason: "use a cursor"},
		{name: "a cursor", page: Page{Cursor: "1", Size: 1000}},
		{name: "a cursor with a blank", page: Page{Cursor: "1 "}, reason: "start from the first record"},
		{name: "two cursors", page: Page{Cursor: "MTIz,NDU2"}, reason: "start from the first record"},
		{name: "a cursor and a number", page: Page{Cursor: "1", Number: 1}, reason: "only one of them"},
		{name: "a cursor in its order", sort: ByCreated, page: Page{Cursor: "1"}},
		{name: "a cursor in another order", sort: ByCreated.Desc(), page: Page{Cursor: "1"}, reason: "order of creation"},
		{name: "a random sample", sample: Sample{Random: true}, page: Page{Size: 100}},
		{name: "a random sample with a cursor", sample: Sample{Random: true}, page: Page{Cursor: "1"},
			reason: "one response"},
		{name: "a second random sample", sample: Sample{Random: true}, page: Page{Number: 2}, reason: "one response"},
		{name: "a sorted random sample", sample: Sample{Random: true}, sort: ByName, reason: "random order"},
		{name: "a sample of groups", sample: Sample{Group: GroupClient, Size: 3}},
		{name: "one of each group", sample: Sample{Group: GroupResourceType}},
		{name: "a sample of unknown groups", sample: Sample{Group: "language"}, reason: "the groups are client"},
		{name: "a size without a group", sample: Sample{Size: 3}, reason: "without a group"},
		{name: "a negative sample", sample: Sample{Group: GroupProvider, Size: -1}, reason: "at least one record"},
		{name: "a random sample of groups", sample: Sample{Random: true, Group: GroupClient},
			reason: "a random sample or one of groups"},
		{name: "a sample of groups with a cursor", sample: Sample{Group: GroupClient}, page: Page{Cursor: "1"},
			reason: "one response"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := CheckList(test.expr, test.sort, test.page, test.sample)
			if test.reason == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.ErrorContains(t, err, test.reason)
			fault, ok := errors.AsType[*datacite.ValidationError](err)
			require.True(t, ok)
			assert.Contains(t, []string{"query", "sort", "page", "sample"}, fault.Findings[0].Path)
			assert.NotEmpty(t, fault.Findings[0].Code)
		})
	}
}

// An iD and a DOI are recognised in every form that people copy from somewhere.
func TestValues(t *testing.T) {
	for _, id := range []string{
		"0000-0002-1694-233X", "0000-0002-1694-233x", "000000021694233X", " 0000-0002-1694-233X ",
		"https://orcid.org/0000-0002-1694-233X",
		"http://orcid.org/0000-0002-1694-233X", "orcid.org/0000-0002-1694-233X", "ORCID:0000-0002-1694-233X", "https://www.orcid.org/0000-0002-1694-233X",
	} {
		e := FieldContributorNameIdentifier.IsORCID(id)
		assert.NoError(t, Check(e), id)
		assert.Contains(t, e.String(), `("0000-0002-1694-233X" OR "https://orcid.org/0000-0002-1694-233X")`, id)
	}
	for _, id := range []string{"", "0000-0002-1694-2330", "0000-0002-1694-23", "https://ror.org/04wxnsj81"} {
		assert.Error(t, Check(FieldCreatorNameIdentifier.IsORCID(id)), id)
	}
	for _, name := range []string{"10.5438/0012", "doi:10.5438/0012", "https://doi.org/10.5438/0012",
		"http://dx.doi.org/10.5438/0012"} {
		assert.Equal(t, `doi:"10.5438/0012"`, FieldDOI.IsDOI(name).String())
	}
}
