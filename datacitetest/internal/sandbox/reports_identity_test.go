package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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

// Case and accents of a creator do not count, and neither does the day.
func TestDeployedNamesAreFolded(t *testing.T) {
	for first, second := range map[string]string{
		"Repo": "rEPO", "Répo X": "repo x", "Zürich a": "ZURICH A", "Re\u0301po X": "Répo x", "Ångström a": "angstrom A",
		"Ёлка a": "елка a",
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
		assertRefused(t, putSubset(someUUID, reportBody(month(second, "2020-07-02", noteCompressed), dataset)).do(t, service),
			409, "already exists")
	}
	service := deployed()
	for i, name := range []string{"Repo", "Repos", "Яepo"} {
		a := postSubset(reportBody(month(name, "2020-07-01", noteCompressed), dataset)).do(t, service)
		assert.Len(t, checksums(a.read(t)), 1, name)
		assert.Equal(t, float64(i+1), at(call{method: "GET", path: "/reports"}.do(t, service).read(t), "meta.total"))
	}
}

func TestDeployedCountries(t *testing.T) {
	var all []string
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			all = append(all, fmt.Sprintf(`"%c%c":1`, a, b))
		}
	}
	body := reportBody(month("Repo", "2020-01-01", ""),
		strings.Replace(dataset, `"us":2,"de":1`, strings.Join(all, ","), 1))
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
