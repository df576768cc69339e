package dois_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// TestFurtherFilters finds records by the filters that the specification does not name.
func TestFurtherFilters(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, library...)
		seed(t, srv, further...)
		for name, tt := range map[string]struct {
			opts dois.ListOptions
			want string
		}{
			"source":           {dois.ListOptions{Extra: url.Values{"source": {"mds"}}}, "gil"},
			"resource type":    {dois.ListOptions{Extra: url.Values{"resource-type": {"table"}}}, "ada"},
			"field of science": {dois.ListOptions{Extra: url.Values{"field-of-science": {"biological_sciences"}}}, "gil"},
			"other agencies":   {dois.ListOptions{Extra: url.Values{"include_other_registration_agencies": {"true"}}, Query: query.Raw("titles.title:elsewhere")}, "out"},
			"user":             {dois.ListOptions{Extra: url.Values{"user-id": {"0000-0001-2345-6789"}}}, "gil"},
			"affiliation":      {dois.ListOptions{Extra: url.Values{"affiliation-id": {"04wxnsj81"}}}, "gil"},
			"funder":           {dois.ListOptions{Extra: url.Values{"funder-id": {"10.13039/501100000780"}}}, "gil"},
			"funded by":        {dois.ListOptions{Extra: url.Values{"funded-by": {"00k4n6c32"}}}, "gil"},
			"a person":         {dois.ListOptions{Extra: url.Values{"has-person": {"true"}}}, "gil"},
			"an affiliation":   {dois.ListOptions{Extra: url.Values{"has-affiliation": {"true"}}}, "gil"},
			"an organization":  {dois.ListOptions{Extra: url.Values{"has-organization": {"true"}}}, "gil"},
			"a funder":         {dois.ListOptions{Extra: url.Values{"has-funder": {"true"}}}, "gil"},
			"ids":              {dois.ListOptions{IDs: []string{"10.5072/EVE", "doi:10.82433/far", "10.5072/unknown"}}, "10.82433/far eve"},
			"state":            {dois.ListOptions{States: []dois.State{dois.StateDraft}}, "dra"},
			"published":        {dois.ListOptions{Published: "2019,2020"}, "ada bob"},
			"license":          {dois.ListOptions{Extra: url.Values{"license": {"cc-by-4.0"}}}, "ada"},
			"subject":          {dois.ListOptions{Extra: url.Values{"subject": {"Computing"}}}, "ada"},
			"citations":        {dois.ListOptions{Extra: url.Values{"has-citations": {"2"}}}, "ada"},
			"downloads":        {dois.ListOptions{Extra: url.Values{"has-downloads": {"1"}}}, "bob"},
		} {
			t.Run(name, func(t *testing.T) {
				found, err := srv.DOIs().List(t.Context(), &tt.opts)
				require.NoError(t, err)
				assert.Equal(t, words(tt.want), sorted(found.Records))
			})
		}
	})
}

// TestIDs asks for many records by name: the service would show 25 of them.
func TestIDs(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, series(60)...)
		var names []string
		for i := range 60 {
			names = append(names, fmt.Sprintf("10.5072/r%03d", i))
		}
		found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{IDs: names})
		require.NoError(t, err)
		assert.Len(t, found.Records, 60)
		assert.False(t, found.More)

		for reason, opts := range map[string]dois.ListOptions{
			"would ignore": {IDs: names, ClientID: []string{"a.b"}},
			"a query":      {IDs: names, Query: query.Term("x")},
			"1001 names":   {IDs: make([]string, 1001)},
			"comma":        {IDs: []string{"10.5072/a,b"}},
			"prefix":       {IDs: []string{"null"}},
		} {
			_, err := srv.DOIs().List(t.Context(), &opts)
			require.ErrorIs(t, err, datacite.ErrInvalid, reason)
			assert.ErrorContains(t, err, reason)
			fault := datacite.Findings(err)[0]
			assert.True(t, strings.HasPrefix(fault.Path, "ListOptions.IDs") && fault.Code != "", "%#v", fault)
		}
	})
}

// TestFacets reads counts in the forms that the deployed service gives them.
func TestFacets(t *testing.T) {
	client := scripted(t, nil, reply(200, `{"data":[],"included":[{"id":"a.b","type":"clients"}],"meta":{"total":7,"totalPages":1,"page":1,
		"published":[{"id":"2020","title":"2020","count":5},{"id":2999,"title":"2999","count":"2"}],
		"schemaVersions":[{"id":"4","title":"Schema 4","count":3},{"id":"4","title":"Schema 4","count":4}],
		"citationCount":12,"views":[],"odd":"text"},"links":{}}`, nil))
	found, err := client.List(t.Context(), &dois.ListOptions{Facets: []string{"published"}})
	require.NoError(t, err)
	assert.Equal(t, []dois.FacetCount{{ID: "2020", Title: "2020", Count: 5}, {ID: "2999", Title: "2999", Count: 2}}, found.Facets["published"].Counts)
	assert.Equal(t, 7, found.Facets["schemaVersions"].Count("4"), "entries of one value are added up")
	assert.Equal(t, 12, found.Facets["citationCount"].Number)
	assert.Empty(t, found.Facets["views"].Counts)
	assert.Contains(t, found.Facets, "odd")
	assert.NotContains(t, found.Facets, "total")
	assert.JSONEq(t, `"text"`, string(found.Meta["odd"]))
	assert.Equal(t, 7, found.Total)
	require.Len(t, found.Included, 1)
}

func TestWithoutATotal(t *testing.T) {
	for meta, want := range map[string]int{`{}`: -1, `null`: -1, `{"total":"many"}`: -1, `{"total":0}`: 0, `[]`: -1} {
		client := scripted(t, nil, reply(200, `{"data":[],"meta":`+meta+`}`, nil))
		found, err := client.List(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, want, found.Total, meta)
		times, err := walked(t.Context(), client, nil)
		require.NoError(t, err)
		assert.Empty(t, times)
	}
}

func TestStatistics(t *testing.T) {
	r := recordFrom(t, `{"doi":"10.5072/x",
		"viewsOverTime":[{"yearMonth":"2021-02","total":4},{"yearMonth":"2020-11","total":1},{"yearMonth":"2021-02","total":2},{"yearMonth":"soon","total":9}],
		"downloadsOverTime":[],"citationsOverTime":[{"year":"2021","total":3},{"year":2019,"total":1}]}`)

	months := r.ViewsOverTime.ByMonth()
	assert.Equal(t, dois.Series{{YearMonth: "2020-11", Total: 1}, {YearMonth: "2021-02", Total: 6}}, months, "each month once, the oldest first, its parts added up")
	want := dois.Series{{Year: "2020", Total: 1}, {Year: "2021", Total: 6}}
	assert.Equal(t, want, months.ByYear())
	assert.Equal(t, want, r.ViewsOverTime.ByYear())
	assert.Len(t, r.ViewsOverTime, 4, "what was sent is still there")

	assert.Empty(t, r.DownloadsOverTime.ByMonth())
	assert.Empty(t, r.DownloadsOverTime)
	assert.Equal(t, dois.Series{{Year: "2019", Total: 1}, {Year: "2021", Total: 3}}, r.CitationsOverTime.ByYear())
	assert.Empty(t, r.CitationsOverTime.ByMonth(), "years have no months")
}

func TestExists(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, `{"doi":"10.5072/there"}`, `{"doi":"10.5072/draft","state":"draft"}`)
		for name, want := range map[string]bool{"10.5072/there": true, "10.5072/not": false, "10.5072/draft": false} {
			found, err := anonymous(t, srv).Exists(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, want, found, name)
			assert.Equal(t, "GET", last(t, srv).Method)
		}
		found, err := srv.DOIs().Exists(t.Context(), "10.5072/draft")
		require.NoError(t, err)
		assert.True(t, found, "the owner sees it")
		_, err = srv.DOIs().Exists(t.Context(), "")
		require.ErrorIs(t, err, datacite.ErrInvalidDOI)
	})
	_, err := scripted(t, &datacite.Config{MaxAttempts: 1}, reply(500, "", nil)).Exists(t.Context(), "10.5072/x")
	require.ErrorIs(t, err, datacite.ErrServer, "a failure is not a response")
}

// TestEvents takes a DOI from state to state (specification §3.1).
func TestEvents(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		state := func(r *dois.Record, err error) dois.State {
			t.Helper()
			require.NoError(t, err)
			return r.State
		}
		_, err := client.Create(ctx, &dois.Draft{DOI: "10.5072/x", URL: "https://example.org/x", Record: complete("Events")})
		require.NoError(t, err)

		_, err = client.ChangeState(ctx, "10.5072/x", dois.Hide, nil)
		require.ErrorIs(t, err, datacite.ErrNotAllowed, "a draft is hidden as it is, and the service would say nothing")
		assert.ErrorContains(t, err, "10.5072/x is draft and cannot become registered")

		assert.Equal(t, dois.StateRegistered, state(client.ChangeState(ctx, "10.5072/x", dois.RegisterHidden, nil)))
		assert.Equal(t, dois.StateRegistered, state(client.ChangeState(ctx, "10.5072/x", dois.RegisterHidden, nil)), "once more changes nothing")
		assert.Equal(t, dois.StateFindable, state(client.ChangeState(ctx, "10.5072/x", dois.Publish, nil)))
		_, err = client.ChangeState(ctx, "10.5072/x", dois.RegisterHidden, nil)
		require.ErrorIs(t, err, datacite.ErrNotAllowed)

		hidden, err := client.ChangeState(ctx, "10.5072/x", dois.Hide, &dois.EventOptions{Reason: "out of date"})
		require.NoError(t, err)
		assert.Equal(t, dois.StateRegistered, hidden.State)
		assert.Equal(t, "out of date", hidden.Reason)
		assert.Equal(t, dois.StateFindable, state(client.ChangeState(ctx, "10.5072/x", dois.Publish, nil)))

		for _, event := range []dois.Event{dois.Publish, dois.RegisterHidden, dois.Hide} {
			_, err := client.ChangeState(ctx, "10.5072/typo", event, nil)
			require.ErrorIs(t, err, datacite.ErrNotFound, "no DOI is made by mistake")
		}
		_, err = client.ChangeState(ctx, "10.5072/x", "findable", nil)
		require.ErrorIs(t, err, datacite.ErrInvalid, "a state is not an event")

		_, err = client.Create(ctx, &dois.Draft{DOI: "10.5072/bare"})
		require.NoError(t, err)
		_, err = client.ChangeState(ctx, "10.5072/bare", dois.Publish, nil)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.NotEmpty(t, e.Details)
	})
}

// TestFlagsOfAWrite asks for the shape of the response to a write (specification
// §4.2).
func TestFlagsOfAWrite(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, fullRecord)
		for want, response := range map[string]*dois.GetOptions{
			"affiliation=true&publisher=true":                            nil,
			"affiliation=true&detail=true&include=client&publisher=true": {Detail: true, Include: []string{"client"}},
		} {
			r, err := srv.DOIs().Update(t.Context(), "10.5072/full", &dois.Draft{
				URL: "https://example.org/full", Clear: []string{"language"}, Response: response,
			})
			require.NoError(t, err)
			assert.Equal(t, want, last(t, srv).URL.RawQuery)
			assert.NotEmpty(t, r.Publisher.PublisherIdentifier)
			assert.NotEmpty(t, r.Creators[0].Affiliation[0].AffiliationIdentifier)
		}
	})
}

func TestDraftContradictions(t *testing.T) {
	client := (&archive{}).client(t)
	for name, draft := range map[string]*dois.Draft{
		"extra broken XML":     {Extra: map[string]any{"xml": base64.StdEncoding.EncodeToString([]byte("<resource>R&D"))}},
		"extra other name":     {Extra: map[string]any{"doi": "10.5072/other"}},
		"extra event":          {Extra: map[string]any{"event": "publsh"}},
		"extra prefix":         {Extra: map[string]any{"prefix": "10.5072"}},
		"extra repeats":        {URL: "https://example.org", Extra: map[string]any{"url": "https://example.org/2"}},
		"clear and a value":    {URL: "https://example.org", Clear: []string{"url"}},
		"an unknown event":     {Event: "Publish"},
		"clear and in the XML": {MetadataXML: []byte(xmlRecord), Clear: []string{"publisher"}},
		"clear what stays":     {Clear: []string{"schemaVersion"}},
		"clear what is not":    {Clear: []string{"versoin"}},
		"no XML":               {MetadataXML: []byte("TY  - DATA")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Update(t.Context(), "10.5072/x", draft)
			require.ErrorIs(t, err, datacite.ErrInvalid)
		})
	}
}

// TestAWriteIsReadBeforeTheIndexHasIt writes a record and looks for it: a deployed service shows it at
// once when it is asked for by name, and finds it later.
func TestAWriteIsReadBeforeTheIndexHasIt(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, IndexLag: time.Minute, NoPort: true})
	ctx, client := t.Context(), srv.DOIs()
	_, err := client.Create(ctx, &dois.Draft{DOI: "10.5072/new", URL: "https://example.org/new", Event: dois.Publish, Record: complete("New")})
	require.NoError(t, err)

	r, err := client.Get(ctx, "10.5072/new", nil)
	require.NoError(t, err)
	assert.Equal(t, dois.StateFindable, r.State)
	times, err := walked(ctx, client, nil)
	require.NoError(t, err)
	assert.Empty(t, times, "not found yet")

	srv.Advance(2 * time.Minute)
	times, err = walked(ctx, client, nil)
	require.NoError(t, err)
	onceEach(t, times, 1)
}
