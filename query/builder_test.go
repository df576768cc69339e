package query_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	. "github.com/datacite-go/datacite-go/query"
)

var a, b, c = Term("a"), Term("b"), Term("c")

func mustParse(t *testing.T, text string) Expr {
	e, err := Parse(text)
	require.NoError(t, err, text)
	return e
}

// restricted is what people typed, in the records of one account.
func restricted(t *testing.T, typed string) Expr {
	return And(FieldClientID.Is("a"), mustParse(t, typed))
}

// The shortest text that is right on every kind of server.
var june = time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)

func TestText(t *testing.T) {
	for _, test := range []struct {
		want string
		expr Expr
	}{
		// words and values
		{"climate", Term("climate")},
		{`"climate change"~0`, Term("climate change")},
		{`"AND"`, Term("AND")},
		{`"a\"b\\c"~0`, Term(`a"b\c`)},
		{`"*"~0`, Term("*")},
		{`"Müller"`, Term("Müller")},
		{`"publication\Year"`, Term("publicationYear")},
		{`"climate change"~0`, Phrase("climate change")},
		{`"climate change"~3`, Field("").Near("climate change", 3)},
		{`doi:"10.5438/0012"`, FieldDOI.Is("10.5438/0012")},
		{`titles.title:"climate change"~0`, FieldTitle.Is("climate change")},
		{`types.resourceTypeGeneral:Dataset`, FieldResourceTypeGeneral.Is("Dataset")},
		{`language:""`, FieldLanguage.Is("")},
		{`subjects.subject:(Physics OR "Earth science"~0)`, FieldSubject.In("Physics", "Earth science")},
		{`subjects.subject:Physics`, FieldSubject.In("Physics")},

		// patterns
		{"clim*", Wildcard("clim*")},
		{"*clim?te*", Wildcard("*clim?te*")},
		{`"a*"~0`, Wildcard(`a\*`)},
		{`a\**`, Wildcard(`a\**`)},
		{`a\\b?`, Wildcard(`a\b?`)},
		{`doi:10.5438\u002f*`, FieldDOI.Like("10.5438/*")},
		{`doi:10.5438\u002f*`, FieldDOI.StartsWith("10.5438/")},
		{`titles.title:climte~1`, FieldTitle.Fuzzy("climte", 1)},
		{`titles.title:\AND~0`, FieldTitle.Fuzzy("AND", 0)},
		{`titles.title:/a\/b/`, mustParse(t, `titles.title:/a\/b/`)},
		{`subjects.subject:*`, FieldSubject.Exists()},
		{`subjects.subject:*`, FieldSubject.Like("*")},
		{"*:*", All()},
		{"*:*", Field("*").Exists()},

		// ranges
		{`publicationYear:[2010 TO 2015]`, FieldPublicationYear.Between("2010", "2015")},
		{`publicationYear:[2010 TO *]`, FieldPublicationYear.Between("2010", "")},
		{`publicationYear:[2010 TO *]`, FieldPublicationYear.Between("2010", "")},
		{`created:[2015-01-01T00:00:00Z TO 2016}`,
			FieldCreated.Within(Range{Low: "2015-01-01T00:00:00Z", High: "2016", ExcludeHigh: true})},
		{`viewCount:{10 TO *]`, FieldViewCount.Within(Range{Low: "10", ExcludeLow: true})},
		{`updated:[2025-06-01T00:00:00Z TO *]`, FieldUpdated.BetweenTimes(june, time.Time{})},
		{`updated:[* TO 2025-06-01T00:00:00Z]`, FieldUpdated.BetweenTimes(time.Time{}, june)},
		{`created:[2025-06-01T00:00:00Z TO 2025-06-01T00:00:00Z]`, FieldCreated.BetweenTimes(june, june)},
		{`created:[2025-06-01T00:00:01Z TO 2025-06-01T00:00:02Z]`,
			FieldCreated.BetweenTimes(june.Add(1), june.Add(3*time.Second-1))},
		{`registered:[2025-05-31T22:00:00Z TO *]`,
			FieldRegistered.BetweenTimes(time.Date(2025, 6, 1, 0, 0, 0, 0, time.FixedZone("", 2*60*60)), time.Time{})},
		{`created:[* TO 9999-12-31T23:59:59Z]`,
			FieldCreated.BetweenTimes(time.Time{}, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))},
		{`registered:[* TO *]`, FieldRegistered.BetweenTimes(time.Time{}, time.Time{})},
		{`published:[2025-06-01T00:00:00Z TO *]`, Field("published").BetweenTimes(june, time.Time{})},
		{`titles.title:["a b" TO "c\u0022d"]`, FieldTitle.Between("a b", `c"d`)},

		// logic
		{"a AND b AND c", And(a, And(b, c))},
		{"a OR b OR c", Or(Or(a, b), c)},
		{"a AND (b OR c)", And(a, Or(b, c))},
		{"(a AND b) OR c", Or(And(a, b), c)},
		{"a", And(a)},
		{"a AND b", And(All(), a, b)},
		{"*:*", And(All(), All())},
		{"*:* AND NOT a", Not(a)},
		{"a", Not(Not(a))},
		{"*:* AND NOT (a OR b)", Not(Or(a, b))},
		{"a AND NOT b", And(a, Not(b))},
		{"NOT a AND b", And(MustNot(a), b)},
		{"*:* AND NOT a AND NOT b", And(Not(a), Not(b))},
		{"a OR (*:* AND NOT b)", Or(a, Not(b))},
		{"a OR (*:* AND NOT b)", Or(Must(a), MustNot(b))},
		{"+a", Must(a)},
		{"-a", MustNot(a)},
		{"+(*:* AND NOT a)", Must(MustNot(a))},
		{"+a -b c", Bool(Must(a), MustNot(b), c)},
		{"a", Bool(Must(a))},
		{"*:* AND NOT a", Bool(MustNot(a))},
		{"+a b", Bool(Must(a), Bool(Must(b)))},
		{"+a (*:* AND NOT b)", Bool(Must(a), Bool(MustNot(b)))},
		{"a OR b", Bool(a, b)},
		{"*:* AND NOT a AND NOT b", Bool(MustNot(a), MustNot(b))},
		{"+a b (c)", Bool(Must(a), b, c)},
		{"a^2", Boost(a, 2)},
		{"(a OR b)^0.5", Boost(Or(a, b), 0.5)},
		{"(a^2)^3 OR b", Or(Boost(Boost(a, 2), 3), b)},
		{"a^100000000", Boost(a, 1e8)},

		// fields of several parts
		{"titles.title:(a AND b)", FieldTitle.Match(And(a, b))},
		{"titles.title:a", FieldTitle.Match(a)},
		{"titles.title:(a OR subjects.subject:b)", FieldTitle.Match(Or(a, FieldSubject.Match(b)))},
		{"titles.title:(*:* AND NOT a)", FieldTitle.Match(Not(a))},
		{"titles.title:(*:* AND NOT a)", FieldTitle.Match(MustNot(a))},
		{`relatedItems.publication\Year:2015`, Field("relatedItems.publicationYear").Is("2015")},
		{`schema_versio\n:4`, Field("schema_version").Is("4")},
		{`a\:b:c`, Field("a:b").Is("c")},
		{`titles.\*:a`, Field("titles.*").Is("a")},

		// text of others
		{"a b) OR (c", Raw("a b) OR (c")},
		{"(a OR b) AND c", And(Raw("a || b"), c)},
		{"() AND c", And(Raw("a) OR (b"), c)},

		{`client_id:a AND climate`, restricted(t, "climate")},
		{`client_id:a AND (a OR b)`, restricted(t, "a OR b")},
		{`client_id:a AND (a OR b AND c)`, restricted(t, "a OR b AND c")},
		{`client_id:a AND (a b)`, restricted(t, "a b")},
		{`client_id:a AND NOT a`, restricted(t, "-a")},
		{`client_id:a AND a AND b`, restricted(t, "a AND b")},
		{`client_id:a`, restricted(t, "*:*")},
		{`client_id:a AND (+a -b)`, restricted(t, "+a -b")},

		// helpers
		{`doi:"10.5438/0012"`, FieldDOI.IsDOI("https://doi.org/10.5438/0012")},
		{`relatedIdentifiers.relatedIdentifier:("10.5438/abc" OR "https://doi.org/10.5438/abc")`,
			FieldRelatedIdentifier.IsDOI("doi:10.5438/ABC")},
		{`creators.nameIdentifiers.nameIdentifier:("0000-0002-1825-0097" OR "https://orcid.org/0000-0002-1825-0097")`,
			FieldCreatorNameIdentifier.IsORCID("https://orcid.org/0000-0002-1825-0097")},
	} {
		assert.Equal(t, test.want, test.expr.String())
		if Syntax(test.expr).Kind == KindRaw || Check(test.expr) != nil {
			continue
		}
		again, err := Parse(test.want)
		require.NoError(t, err, test.want)
		assert.Equal(t, test.expr, again, test.want)
	}
}

// What cannot be written prints as something that no server accepts, and Check
// says why.
func TestAQueryThatCannotBeWrittenMatchesNothing(t *testing.T) {
	const bad = "a\xffb"
	for _, test := range []struct {
		reason string
		expr   Expr
	}{
		{"And needs at least one", And()},
		{"Or needs at least one", Or()},
		{"Bool needs at least one", Bool()},
		{"In needs at least one", FieldTitle.In()},
		{"an expression is nil", And(a, nil)},
		{"an expression is nil", Not(nil)},
		{"an expression is nil", Bool(Must(nil), a)},
		{"an expression is nil", FieldTitle.Match(nil)},
		{"an expression is nil", Boost(nil, 2)},
		{"an expression is nil", Explicit(nil, OperatorOr)},
		{"a raw text", Boost(Raw("a) OR (b"), 2)},
		{"a raw text", Must(Raw("a) OR (b"))},
		{"literal *", FieldPublicationYear.Between("*", "2015")},
		{"literal *", FieldTitle.Between("a", "*")},
		{"slash cannot be written in a pattern", FieldURL.Like("*example.org/data*")},
		{"must be 0 or more", FieldTitle.Near("a b", -1)},
		{"there is no whole second from 2025-06-01T00:00:01Z to 2025-06-01T00:00:00Z",
			FieldUpdated.BetweenTimes(june.Add(1), june.Add(time.Second-1))},
		{"no whole second", FieldUpdated.BetweenTimes(june, june.Add(-time.Hour))},
		{"four digits", FieldUpdated.BetweenTimes(time.Date(999, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})},
		{"four digits", FieldUpdated.BetweenTimes(time.Time{}, time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC))},
		{"a text and holds no times", FieldTitle.BetweenTimes(june, time.Time{})},
		{"a year and holds no times", FieldPublicationYear.BetweenTimes(june, time.Time{})},
		{"a field such as created", Field("").BetweenTimes(june, time.Time{})},
		{"ORCID", FieldCreatorNameIdentifier.IsORCID("0000-0002-1825-0098")},
		{"DOI", FieldDOI.IsDOI("not a DOI")},
		{"a raw text", And(Raw("a) OR (b"), c)},
		{"UTF-8", Term(bad)},
		{"UTF-8", Phrase(bad)},
		{"UTF-8", Wildcard(bad + "*")},
		{"UTF-8", Wildcard(bad + "*c")},
		{"UTF-8", FieldTitle.Fuzzy(bad, 1)},
		{"UTF-8", FieldTitle.Between("", bad)},
		{"UTF-8", FieldTitle.Between(bad, "")},
		{"UTF-8", Field(bad).Is("a")},
	} {
		err := Check(test.expr)
		require.ErrorIs(t, err, datacite.ErrInvalid, test.reason)
		require.ErrorContains(t, err, test.reason)
		_, err = Parse(test.expr.String())
		require.Error(t, err, "%s: %s", test.reason, test.expr)
	}
}

// An expression can be kept and used in several queries.
func TestExpressionsDoNotChange(t *testing.T) {
	both := And(a, b)
	first, second := And(both, c), And(both, Not(c))
	FieldTitle.Match(both)
	Boost(both, 2)
	parts := []Expr{a, b}
	or := Or(parts...)
	parts[0] = c

	assert.Equal(t, "a AND b", both.String())
	assert.Equal(t, "a AND b AND c", first.String())
	assert.Equal(t, "a AND b AND NOT c", second.String())
	assert.Equal(t, "a OR b", or.String())
}

// A regular expression that ends in a backslash would go on to the next slash.
func TestRegularExpressionsEnd(t *testing.T) {
	for _, tt := range []struct {
		clauses []string
		want    string
	}{
		{[]string{`/a\\/`, "b"}, `/a\\/ OR b`},
		{[]string{"b", `/a\\/`, "/c/"}, `b OR /a\\()/ OR /c/`},
		{[]string{`/a\\/`, `/b\\/`}, `/a\\()/ OR /b\\()/`},
	} {
		var clauses []Expr
		for _, text := range tt.clauses {
			clauses = append(clauses, Raw(text))
		}
		assert.Equal(t, tt.want, Or(clauses...).String())
	}
}
