package sandbox_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

func stored200(t *testing.T, service *sandbox.Service) map[string]any {
	t.Helper()
	a := getReport(someUUID).do(t, service)
	require.Equal(t, 200, a.status, a.body)
	return a.read(t)
}

// sumOf is the checksum of a subset.
func sumOf(t *testing.T, n int) string {
	t.Helper()
	a := subsetNumber(n).do(t, deployed())
	require.Equal(t, 201, a.status)
	return checksums(a.read(t))[0]
}

func TestDeployedOrderOfSubsets(t *testing.T) {
	sums := map[int]string{}
	for n := 1; n <= 4; n++ {
		sums[n] = sumOf(t, n)
	}
	want := func(numbers ...int) (out []string) {
		for _, n := range numbers {
			out = append(out, sums[n])
		}
		return out
	}
	service := deployed()
	service.NumberRows(40, 20, 30, 10)
	send := func(c call) []string {
		t.Helper()
		a := c.do(t, service)
		require.Less(t, a.status, 300, a.body)
		assert.Equal(t, checksums(a.read(t)), checksums(stored200(t, service)), "GET repeats the last answer")
		return checksums(a.read(t))
	}
	assert.Equal(t, want(1), send(putNumber(1)))
	assert.Equal(t, want(1, 2), send(subsetNumber(2)), "two always look right")
	assert.Equal(t, want(2, 1, 3), send(subsetNumber(3)), "by id, the new one last")
	assert.Equal(t, want(2, 3, 1, 4), send(subsetNumber(4)))
	assert.Equal(t, want(4, 2, 3, 1), send(postReport(reportBody(noted, dataset))), "a plain POST lists all by id")
	assert.Equal(t, []int64{40, 20, 30, 10}, service.RowIDs(someUUID))

	t.Run("plain PUT", func(t *testing.T) {
		service.NumberRows(5)
		assert.Equal(t, want(4, 2, 3, 1, 1), send(subsetNumber(1)))
		assert.Equal(t, want(1, 4, 2, 3, 1), send(plainPut()))
	})
	t.Run("without a document", func(t *testing.T) {
		service := withOne(t, deployed())
		service.NumberRows(50, 10, 30)
		refused := putSubset(someUUID, reportBody(strings.Replace(noted, `"release"`, `"foo":1,"release"`, 1), dataset))
		require.Equal(t, 400, refused.do(t, service).status)
		left := checksums(stored200(t, service))
		require.Len(t, left, 1)
		a := subsetNumber(2).do(t, service)
		assert.Equal(t, append(want(2), left...), checksums(a.read(t)), "all by id, the new one too")
	})
}

// The ids are of 63 bits, and nobody knows where the next one stands.
func TestDeployedOrderIsRandom(t *testing.T) {
	service := withOne(t, deployed())
	for n := 2; n <= 21; n++ {
		require.Equal(t, 201, subsetNumber(n).do(t, service).status)
	}
	ids := service.RowIDs(someUUID)
	assert.Len(t, ids, 21)
	assert.False(t, slices.IsSorted(ids), "once in more than 10^19 times")
	assert.Greater(t, slices.Max(ids), int64(1)<<56)
}

// PUT assigns the members that were sent over those stored.
func TestDeployedPutMerges(t *testing.T) {
	plain := month("Repo", "2020-01-01", "")
	bare := strings.Replace(plain, `,"exceptions":[]`, "", 1)
	t.Run("a compressed report, plain, without exceptions", func(t *testing.T) {
		service := withOne(t, deployed())
		a := putReport(someUUID, reportBody(bare, `{"volume":5}`)).do(t, service)
		assertRefused(t, a, 422, "found unpermitted parameter: :volume")
		a = putReport(someUUID, reportBody(bare, `{"platform":5}`)).do(t, service)
		require.Equal(t, 200, a.status, "the schema is not looked at")
		got := stored200(t, service)
		assert.Empty(t, at(got, "report.report-datasets"), "dropped")
		assert.Equal(t, []string{sumOf(t, 1)}, checksums(got))
		assert.Equal(t, 69.0, at(got, "report.report-header.exceptions.0.code"))
	})
	t.Run("a compressed report, plain, with no exceptions", func(t *testing.T) {
		service := withOne(t, deployed())
		require.Equal(t, 200, putReport(someUUID, reportBody(plain, numbered(4))).do(t, service).status)
		got := stored200(t, service)
		assert.Equal(t, []string{"10.5072/0004"}, dois(got))
		assert.Equal(t, []string{sumOf(t, 1)}, checksums(got), "stale")
		assert.Empty(t, at(got, "report.report-header.exceptions"))
	})
	t.Run("a compressed report, gzip, without exceptions", func(t *testing.T) {
		service := withOne(t, deployed())
		require.Equal(t, 200, putSubset(someUUID, reportBody(bare, numbered(4))).do(t, service).status)
		got := stored200(t, service)
		assert.Len(t, checksums(got), 1)
		assert.Contains(t, packed(t, got, 0), "10.5072/0004")
		assert.Equal(t, 69.0, at(got, "report.report-header.exceptions.0.code"))
	})
	t.Run("a compressed report, gzip, with no exceptions", func(t *testing.T) {
		service := withOne(t, deployed())
		assertRefused(t, putSubset(someUUID, reportBody(plain, numbered(4))).do(t, service), 422, "undefined method `serialize' for #<ReportsController")
		got := stored200(t, service)
		require.Len(t, checksums(got), 1)
		assert.Contains(t, packed(t, got, 0), "10.5072/0004", "the refused bytes")
		assert.Equal(t, 69.0, at(got, "report.report-header.exceptions.0.code"))
	})
	t.Run("a plain report, gzip, without 69", func(t *testing.T) {
		service := deployed()
		require.Equal(t, 201, putReport(someUUID, reportBody(plain, numbered(1))).do(t, service).status)
		require.Equal(t, 200, putSubset(someUUID, reportBody(plain, numbered(4))).do(t, service).status)
		got := stored200(t, service)
		assert.Equal(t, []string{"10.5072/0001"}, dois(got), "the old datasets are those that count")
		require.Len(t, checksums(got), 1)
		assert.Contains(t, packed(t, got, 0), "10.5072/0004")
	})
	t.Run("members left out", func(t *testing.T) {
		service := deployed()
		full := strings.Replace(plain, `"report-filters":[],"report-attributes":[]`,
			`"report-filters":[{"name":"f","value":"1"}],"report-attributes":[{"name":"a","value":"2"}]`, 1)
		require.Equal(t, 201, putReport(someUUID, reportBody(full, dataset)).do(t, service).status)
		before := at(stored200(t, service), "report.report-header")
		few := `{"release":"rd1","reporting-period":{"begin-date":"2020-01-01","end-date":"2020-01-28"}}`
		require.Equal(t, 200, putReport(someUUID, reportBody(few, numbered(2))).do(t, service).status)
		assert.Equal(t, before, at(stored200(t, service), "report.report-header"))
		empty := strings.Replace(few, `{`, `{"report-filters":[],`, 1)
		require.Equal(t, 200, putReport(someUUID, reportBody(empty, numbered(2))).do(t, service).status)
		assert.Empty(t, at(stored200(t, service), "report.report-header.report-filters"), "taken back by sending it empty")
	})
}

// A PUT that is refused for its release leaves nothing at all.
func TestDeployedEmptyReport(t *testing.T) {
	service := withOne(t, deployed())
	refused := putSubset(someUUID, reportBody(strings.Replace(noted, "rd1", "RD1", 1), numbered(2)))
	assertRefused(t, refused.do(t, service), 422, "Report protocol is incorrect")
	got := stored200(t, service)
	assert.Equal(t, []any{}, at(got, "report.report-subsets"))
	assert.Equal(t, []any{}, at(got, "report.report-datasets"))
	assert.Equal(t, 69.0, at(got, "report.report-header.exceptions.0.code"))
	t.Run("a plain POST gives it a meaningless row", func(t *testing.T) {
		a := postReport(reportBody(noted, dataset)).do(t, service)
		require.Equal(t, 201, a.status, a.body)
		assert.Len(t, checksums(stored200(t, service)), 1)
	})
	assert.Equal(t, 200, putNumber(3).do(t, service).status)
	assert.Len(t, checksums(stored200(t, service)), 1)
}

func TestDeployedOwners(t *testing.T) {
	service := withOne(t, deployed())
	stranger := func(c call) call {
		h := map[string]string{"Authorization": "Bearer " + service.TokenOf("stranger.repo", service.Now().Add(time.Hour))}
		maps.Copy(h, c.header)
		c.as, c.header = "", h
		return c
	}
	assert.Equal(t, "example.repo", at(stored200(t, service), "report.report-header.client-id"))
	for name, c := range map[string]call{"gzip": subsetNumber(2), "plain": postReport(reportBody(month("Repo", "2020-01-01", ""), dataset))} {
		assertRefused(t, stranger(c).do(t, service), 409, "The resource already exists.")
		assert.Len(t, checksums(stored200(t, service)), 1, "%s POST changes nothing", name)
	}
	a := stranger(putNumber(2)).do(t, service)
	assert.Equal(t, 200, a.status, "PUT does not ask")
	assert.Equal(t, "stranger.repo", at(a.read(t), "report.report-header.client-id"), "the sender's")
	got := stored200(t, service)
	assert.Equal(t, "example.repo", at(got, "report.report-header.client-id"), "the owner's")
	assert.Equal(t, []string{sumOf(t, 2)}, checksums(got))
	assert.Equal(t, "example.repo", at(subsetNumber(3).do(t, service).read(t), "report.report-header.client-id"))
	assert.Equal(t, 201, stranger(postSubset(reportBody(month("Stranger", "2020-01-01", noteCompressed), dataset))).do(t, service).status)
	for query, total := range map[string]float64{"client-id=stranger.repo": 1, "client-id=EXAMPLE.repo": 1} {
		list := call{method: "GET", path: "/reports?" + query}.do(t, service).read(t)
		assert.Equal(t, total, at(list, "meta.total"), query)
		assert.NotContains(t, at(list, "reports.0.report-header"), "client-id")
	}
}

// Case and accents of a creator do not count, and neither does the day.
func TestDeployedNamesAreFolded(t *testing.T) {
	for first, second := range map[string]string{
		"Repo": "rEPO", "Répo X": "repo x", "Zürich a": "ZURICH A", "Re\u0301po X": "Répo x", "Ångström a": "angstrom A", "Ёлка a": "елка a",
	} {
		service := deployed()
		a := postSubset(reportBody(month(first, "2020-07-01", noteCompressed), dataset)).do(t, service)
		require.Equal(t, 201, a.status, a.body)
		id := at(a.read(t), "report.id")
		a = postSubset(reportBody(month(second, "2020-07-02", noteCompressed), numbered(2))).do(t, service)
		require.Equal(t, 201, a.status, a.body)
		assert.Equal(t, id, at(a.read(t), "report.id"), "%s and %s", first, second)
		assert.Equal(t, first, at(a.read(t), "report.report-header.created-by"))
		assert.Equal(t, "2020-07-01", at(a.read(t), "report.report-header.reporting-period.begin-date"))
		assert.Len(t, checksums(a.read(t)), 2)
		assertRefused(t, putSubset(someUUID, reportBody(month(second, "2020-07-02", noteCompressed), dataset)).do(t, service), 409, "already exists")
	}
	service := deployed()
	for i, name := range []string{"Repo", "Repos", "Яepo"} {
		a := postSubset(reportBody(month(name, "2020-07-01", noteCompressed), dataset)).do(t, service)
		assert.Len(t, checksums(a.read(t)), 1, name)
		assert.Equal(t, float64(i+1), at(call{method: "GET", path: "/reports"}.do(t, service).read(t), "meta.total"))
	}
}

// Year and month are those of the creation, though a PUT moves the period.
func TestDeployedMonthStays(t *testing.T) {
	service := deployed()
	july, june := month("Repo", "2020-07-01", noteCompressed), month("Repo", "2020-06-01", noteCompressed)
	require.Equal(t, 201, putSubset(someUUID, reportBody(july, dataset)).do(t, service).status)
	a := putSubset(strings.ToUpper(someUUID), reportBody(june, dataset)).do(t, service)
	require.Equal(t, 200, a.status)
	h := at(a.read(t), "report.report-header").(map[string]any)
	assert.Equal(t, []any{"2020", "7"}, []any{h["year"], h["month"]})
	assert.Equal(t, "2020-06-01", at(h, "reporting-period.begin-date"))
	assert.Equal(t, someUUID, at(postSubset(reportBody(july, dataset)).do(t, service).read(t), "report.id"))
	assert.NotEqual(t, someUUID, at(postSubset(reportBody(june, dataset)).do(t, service).read(t), "report.id"))
	assert.Equal(t, 200, getReport(strings.ToUpper(someUUID)).do(t, service).status)
}

func TestDeployedCountries(t *testing.T) {
	var all []string
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			all = append(all, fmt.Sprintf(`"%c%c":1`, a, b))
		}
	}
	body := reportBody(month("Repo", "2020-01-01", ""), strings.Replace(dataset, `"us":2,"de":1`, strings.Join(all, ","), 1))
	a := postReport(body).do(t, deployed())
	require.Equal(t, 422, a.status)
	title := at(a.read(t), "errors.0.title").(string)
	assert.Equal(t, 26*26-249, strings.Count(title, " :"), "249 are left")
	for _, code := range []string{"xk", "uk", "zz", "eu", "an"} {
		assert.Contains(t, title, ":"+code)
	}
	for _, code := range []string{"gb", "de", "ss", "tw"} {
		assert.NotContains(t, title, ":"+code)
	}
	for counts, want := range map[string]int{`{}`: 201, `[]`: 201, `{"de":"3"}`: 201, `null`: 422, `{"DE":3}`: 422} {
		body := reportBody(month("Repo", "2020-01-01", ""), strings.Replace(dataset, `{"us":2,"de":1}`, counts, 1))
		assert.Equal(t, want, postReport(body).do(t, deployed()).status, counts)
	}
}
