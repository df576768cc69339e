package query_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	. "github.com/datacite-go/datacite-go/query"
)

// What the service would refuse or misread is refused before it is sent, with
// the part and the reason.
func TestCheckRefuses(t *testing.T) {
	for text, reason := range map[string]string{
		"publicationYear:20*":                    "a year takes no wildcard",
		"publicationYear:20??":                   "a year takes no wildcard",
		"publicationYear:2010~1":                 "a year takes no ~",
		"publicationYear:abc":                    `"abc" is not a year`,
		"publicationYear:2010-05":                "is not a year",
		`publicationYear:"20 10"`:                "is not a year",
		"publicationYear:[2010 TO now-x]":        "is not a year",
		"publicationYear:[2015 TO 2010]":         "the years from 2015 to 2010 are in the wrong order",
		"publicationYear:[15 TO *]":              "is not a year",
		"publicationYear:>20":                    `"20" is not a year`,
		"publicationYear:(2010 2011)":            "words side by side as one value of a year",
		"publicationYear:(>=2010 <2015)":         "words side by side",
		"created:2015-1-1":                       "is not a date",
		"created:2015-02-30":                     "is not a date",
		"created:2015*":                          "a date takes no wildcard",
		"viewCount:many":                         "is not a count; write one such as 10, or a range such as [10 TO *]",
		"viewCount:[1 TO 0x10]":                  "is not a count",
		"citationCount:1*":                       "a count takes no wildcard",
		"types.resourceTypeGeneral:(Image Text)": "one value of a keyword",
		"/ab/":                                   "no regular expressions",
		`*a\/b*c`:                                "a slash cannot be written in a pattern",
		`a:["*" TO b]`:                           "literal *",
		`a:[b TO \*]`:                            "literal *",
		"a~0.5":                                  "reads a fraction as 0",
		"a~.5":                                   "reads a fraction as 0",
		"10.1000:abc":                            "read as the name of a field",
		"http:x":                                 "read as the name of a field",
		"https:x":                                "read as the name of a field",
		"ftp:x":                                  "read as the name of a field",
		"mailto:x":                               "read as the name of a field",
		"urn:x":                                  "read as the name of a field",
		"INFO:x":                                 "read as the name of a field",
		"ark:x":                                  "read as the name of a field",
		"hdl:x":                                  "read as the name of a field",
		`Re\ view:x`:                             "read as the name of a field",
		`titles.title:"--"`:                      "has no word",
		`a AND titles.title:""`:                  "has no word",
		"*:x":                                    "publicationYear is among these fields",
		`view\*:x`:                               "viewCount is among these fields",
		`download_\*:1*`:                         "a count takes no wildcard",
		"_exists_:tit*":                          "the whole name of one field",
		strings.Repeat("x", 1001) + "*":          "may have 1000 characters",
	} {
		e := mustParse(t, text)
		err := Check(e)
		require.ErrorIs(t, err, datacite.ErrInvalid, text)
		assert.ErrorContains(t, err, reason, text)
		assert.NotEmpty(t, datacite.Findings(err)[0].Code, text)
		assert.Error(t, Check(And(Term("x"), e)), text)
	}
}

func TestCheckAccepts(t *testing.T) {
	for _, text := range []string{
		"publicationYear:2010", "publicationYear:1000", "publicationYear:9999", "publicationYear:(2010 OR 2011)",
		"publicationYear:(>=2010 AND <2015)", "publicationYear:[* TO " +
			"2010}", "publicationYear:*", "publicationYear:[now/y TO now]",
		"created:[2015 TO 2016]", "created:2015-06", `created:"2015-06-30T12:00:00.5Z"`, "created:[now-1d/d TO " +
			"now]", `created:"2014-11-18||/M"`,
		"viewCount:10", "viewCount:>10", "viewCount:[10 TO *]", "types.resourceTypeGeneral:(Image AND Text " +
			"b:c)", "types.resourceTypeGeneral:(Image (Text))",
		"a b", "+a -b c", "unknown:x", "*a", "*:2015", `titles.\*:x`, `"a b"`, `"--"`, "_exists_:titles", `titles.title:"a-"`, "a~2", "a~0", "a~1",
	} {
		assert.NoError(t, Check(mustParse(t, text)), text)
	}
	assert.NoError(t, Check(nil))
}

// All faults are reported at once.
func TestCheckReportsAll(t *testing.T) {
	err := Check(And(FieldPublicationYear.Like("20*"), FieldViewCount.Is("many"), Or()))
	require.Error(t, err)
	assert.Len(t, datacite.Findings(err), 3)
	assert.ErrorContains(t, err, "query: publicationYear:20*: a year takes no wildcard; use a range such as [2010 TO "+
		"2015]")
}

func TestCheckLimits(t *testing.T) {
	years := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprint(1000 + i)
		}
		return out
	}
	assert.NoError(t, Check(FieldPublicationYear.In(years(1024)...)))
	assert.ErrorContains(t, Check(FieldPublicationYear.In(years(1025)...)), "1024 in a list")
	assert.ErrorContains(t, Check(And(FieldPublicationYear.In(years(600)...), FieldPublicationYear.In(years(600)...))),
		"a query of 1200 clauses")

	deep := Term("a")
	for range 250 {
		deep = Or(Term("b"), And(Term("c"), deep))
	}
	assert.ErrorContains(t, Check(deep), "more than 200 nested brackets")
}

// A raw text is sent as it stands, so it has to say on the deployed service
// what it says.
func TestCheckRaw(t *testing.T) {
	for text, reason := range map[string]string{
		"":                          "empty",
		"a AND":                     "cannot read it",
		"a) OR (b":                  "closes nothing",
		`doi:10.5438\/0012`:         "cannot read it",
		"/ab/":                      "reads it as",
		"publisher:publicationYear": "reads it as publisher:publication_year",
		"schema_version:4":          "reads it as schema_version_info:4",
		"publicationYear:20*":       "a year takes no wildcard",
	} {
		err := Check(Raw(text))
		require.ErrorIs(t, err, datacite.ErrInvalid, text)
		assert.ErrorContains(t, err, reason, text)
	}
	for _, text := range []string{
		"a", "a b", "doi:10.5438/0012", "doi:10.5438/*", "url:*example.org/data*", "publicationYear:2010",
		"relatedItems.publication\\Year:2010",
		"viewCount:[9 TO 10]", "schemaVersion:4", "publisher.name:Zenodo", `publisher:"public\ationYear"`, "version:1",
	} {
		assert.NoError(t, Check(Raw(text)), text)
	}
}

// Advice names the part, the reason and a suggestion. On the service, this finds the same records, at
// least on that server whose operator it writes; or what was written finds nothing.
func TestAdvise(t *testing.T) {
	title := func(text string) *dois.Record {
		r := &dois.Record{State: datacite.StateFindable, URL: "https://example.org/"}
		r.DOI = "10.5072/" + strings.NewReplacer(" ", "-", "/", "-").Replace(text)
		r.Titles, r.PublicationYear = []metadata.Title{{Title: text}}, "2010"
		return r
	}
	x := title("x a/b")
	x.Creators = []metadata.Creator{{Name: "x", Affiliation: []metadata.Affiliation{{Name: "x"}}}}
	x.AlternateIdentifiers = []metadata.AlternateIdentifier{{AlternateIdentifier: "x", AlternateIdentifierType: "y"}}
	x.FundingReferences = []metadata.FundingReference{{FunderName: "x"}}
	x.Descriptions = []metadata.Description{{Description: "x", DescriptionType: metadata.DescriptionAbstract}}
	x.Types.ResourceTypeGeneral = "Dataset"
	x.RelatedIdentifiers = []metadata.RelatedIdentifier{
		{RelatedIdentifier: "10.5072/b", RelatedIdentifierType: "DOI", RelationType: "IsPartOf"}}
	var servers []*datacitetest.Server // by operator
	for _, b := range []datacitetest.Behaviour{datacitetest.Deployed, datacitetest.Documented} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true})
		t.Cleanup(srv.Close)
		for _, r := range []*dois.Record{title("a"), title("b"), title("c"), title("a b"), title("b c"), title("a and b"),
			title("a b c"), x} {
			require.NoError(t, srv.PutRecord(r))
		}
		servers = append(servers, srv)
	}
	found := func(srv *datacitetest.Server, text string) (names []string) {
		list, err := srv.DOIs().Do(t.Context(),
			&datacite.Request{Method: "GET", Path: "/dois", Query: url.Values{"query": {text}}})
		require.NoError(t, err, text)
		var page struct{ Data []struct{ ID string } }
		require.NoError(t, json.Unmarshal(list.Body, &page))
		for _, d := range page.Data {
			names = append(names, d.ID)
		}
		slices.Sort(names)
		return names
	}
	for _, test := range []struct{ text, reason, suggestion string }{
		{"a b", "required on the deployed service", "a AND b, or a OR b"},
		{"+a b", "required on the deployed service", "a AND b, or a AND (b OR *:*)"},
		{"a OR b AND c", "AND does not come before OR", "(a OR *:*) AND b AND c"},
		{"a AND b OR NOT c", "AND does not come before OR", "a AND (b OR *:*) AND NOT c, or a AND b AND NOT c"},
		{"titles.title:(a AND b OR c)", "AND does not come before OR",
			"titles.title:(a AND (b OR c OR *:*)), or titles.title:(a AND b AND (c OR *:*))"},
		{"-a", "plain Lucene finds nothing", "*:* AND NOT a"},
		{"title:x", "no field of that name", "titles.title:x"},
		{`title:a\/b`, "no field of that name", `titles.title:a\u002fb`},
		{"titels.title:x", "no field of that name", "titles.title:x"},
		{"publication_year:2010", "no field of that name", "publicationYear:2010"},
		{"alternateIdentifiers.alternateIdentifier:x", "no field of that name", "identifiers.identifier:x"},
		{"citations:x", "no field of that name", ""},
		{"citations:0", "no field of that name", "citationCount:0"},
		{"funder:x", "no field of that name", "fundingReferences.funderName:x"},
		{"qwertz:x", "quote the text", ""},
		{"languxyz:x", "quote the text", ""},
		{"creators.affiliation:x", "no value of its own", "creators.affiliation.name:x"},
		{"creators:x", "no value of its own", "creators.name:x"},
		{"a AND and AND b", "operators are written in capitals", ""},
		{"a AND or AND b", "operators are written in capitals", ""},
		{"a AND not AND b", "operators are written in capitals", ""},
		{"abstract:x", "no field of that name", "descriptions.description:x"},
		{"a AND - AND b", "a word to look for", ""},
		{"types.resourceTypeGeneral:dataset", "case counts", "types.resourceTypeGeneral:Dataset"},
		{`relatedIdentifiers.relationType:"isPartOf"`, "case counts", `relatedIdentifiers.relationType:"IsPartOf"`},
	} {
		advice := Advise(mustParse(t, test.text))
		require.Len(t, advice, 1, "%s: %v", test.text, advice)
		assert.Contains(t, advice[0].Reason, test.reason, test.text)
		assert.Equal(t, test.suggestion, advice[0].Suggestion, test.text)
		assert.NotEmpty(t, advice[0].Part)
		assert.Contains(t, advice[0].String(), test.reason)
		assert.Equal(t, advice, Advise(Raw(test.text)), test.text)
		readings := strings.Split(test.suggestion, ", or ")
		for i, srv := range servers {
			better := readings[min(i, len(readings)-1)]
			if better == "" {
				continue
			}
			want := found(srv, test.text)
			if len(want) == 0 {
				assert.NotEmpty(t, found(srv, better), better)
				continue
			}
			assert.Equal(t, want, found(srv, better), "%s, and not %s, on %s", better, test.text, srv.Behaviour)
		}
	}
}

// Each field of the service is known, and so are the names that people try for them.
func TestAdviseKnowsTheFields(t *testing.T) {
	for name := range strings.FieldsSeq(
		`url titles.title descriptions.description subjects.subject publisher publisher.name fundingReferences.funderName creators.name creators.givenName
		creators.familyName creators.affiliation.name contributors.name contributors.givenName contributors.familyName contributors.affiliation.name
		creators_and_contributors.name creators_and_contributors.givenName creators_and_contributors.familyName creator_names dates.date
		relatedItems.titles.title relatedItems.creators.name relatedItems.publisher landingPage.url client.name provider.name reason prefix suffix language
		version schemaVersion aasm_state client_id provider_id organization_id affiliation_id funder_rors funder_parent_rors geoLocations.geoLocationPlace
		fundingReferences.awardNumber creators.nameType creators.nameIdentifiers.nameIdentifier creators.nameIdentifiers.nameIdentifierScheme
		creators.affiliation.schemeUri creators.affiliation.affiliationIdentifier creators.affiliation.affiliationIdentifierScheme
		contributors.contributorType contributors.nameIdentifiers.nameIdentifier contributors.affiliation.affiliationIdentifier contributors.nameType
		contributors.nameIdentifiers.nameIdentifierScheme publisher.publisherIdentifierScheme publisher.schemeUri publisher.lang types.resourceTypeGeneral
		relatedIdentifiers.relationType relatedIdentifiers.relatedIdentifierType identifiers.identifierType titles.titleType titles.lang
		descriptions.descriptionType descriptions.lang dates.dateType subjects.subjectScheme subjects.schemeUri subjects.valueUri subjects.classificationCode
		subjects.lang types.schemaOrg types.citeproc types.bibtex types.ris sizes formats source agency rightsList.rights rightsList.rightsUri
		rightsList.schemeUri rightsList.rightsIdentifierScheme rightsList.lang fundingReferences.funderIdentifierType fundingReferences.awardUri
		fundingReferences.awardTitle relatedIdentifiers.resourceTypeGeneral relatedItems.relatedItemType relatedItems.relationType container.type
		container.title container.volume container.issue container.firstPage container.lastPage relatedItems.publicationYear contentUrl doi uid id
		types.resourceType relatedIdentifiers.relatedIdentifier identifiers.identifier fundingReferences.funderIdentifier rightsList.rightsIdentifier
		publisher.publisherIdentifier relatedItems.relatedItemIdentifier.relatedItemIdentifier container.identifier publicationYear created updated registered
		viewCount downloadCount citationCount reference_count part_count version_count part_of_count version_of_count`) {
		assert.Empty(t, Advise(mustParse(t, name+":2010")), name)
	}
	for name := range strings.FieldsSeq(
		`titles creators creators.affiliation creators.nameIdentifiers contributors contributors.nameIdentifiers contributors.affiliation descriptions subjects
		types relatedIdentifiers relatedItems identifiers dates rightsList fundingReferences geoLocations container landingPage client provider
		creators_and_contributors`) {
		assert.Contains(t, Advise(mustParse(t, name+":2010"))[0].Reason, "no value of its own", name)
	}
	for name := range strings.FieldsSeq(
		`title name author authors creator creatorname contributor orcid nameidentifier affiliation ror year publicationyear description abstract subject
		keyword keywords type resourcetypegeneral resourcetype relatedidentifier relationtype alternateidentifiers alternateidentifiers.alternateidentifier
		alternateidentifiers.alternateidentifiertype identifier funder license rights state client clientid providerid views viewcount viewsovertime downloads
		downloadcount citationcount citations citationsovertime references referencecount parts partcount versions versioncount schemaversion published`) {
		advice := Advise(mustParse(t, name+":2010"))
		if assert.Len(t, advice, 1, name) && assert.NotEmpty(t, advice[0].Suggestion, name) {
			assert.Empty(t, Advise(mustParse(t, advice[0].Suggestion)), name)
		}
	}
}

// A query built with care needs no advice, and following advice ends it.
func TestAdviseIsQuiet(t *testing.T) {
	assert.Empty(t, Advise(nil))
	assert.Empty(t, Advise(Raw("doi:10.5438/0012"))) // the service adds the backslash
	assert.Empty(t, Advise(tenClauses()))
	for _, text := range []string{"a", "a AND b", "a AND NOT b", "titles.title:*", "client.name:x", "dates.date:x",
		`titles.\*:x`, "_exists_:titles", "*:*", "*mate", `"a b"`} {
		assert.Empty(t, Advise(mustParse(t, text)), text)
	}
	for _, text := range []string{"a b", "a OR b AND c", "-a", "title:x", "creators:x"} {
		better, _, _ := strings.Cut(Advise(mustParse(t, text))[0].Suggestion, ", or ")
		assert.Empty(t, Advise(mustParse(t, better)), better)
	}
	long := Advise(Term(strings.Repeat("long ", 2000)))
	require.Len(t, long, 1)
	assert.Contains(t, long[0].String(), "body of the request")
}
