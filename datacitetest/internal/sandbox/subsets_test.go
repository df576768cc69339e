package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Specification §4.1, "Large reports": subsets of one report, as far as the order in which clients send
// them leaves it open.
func TestSubsets(t *testing.T) {
	service := newService()
	noted := header("Repo", "2020-01-01", noteCompressed)
	of := func(n int) call { return postSubset(reportBody(noted, numbered(n))) }
	for _, c := range []call{of(1), postSubset(reportBody(noted)), of(2), of(2),
		postReport(reportBody(header("Repo", "2020-01-01", ""), numbered(9)))} {
		require.Equal(t, 201, c.do(t, service).status)
	}
	got := getReport(onlyReport(t, service)).do(t, service).read(t)
	assert.Equal(t, []string{"10.5072/0001", "10.5072/0002", "10.5072/0002"}, dois(got),
		"no gap; the same bytes are one more; plain JSON changes nothing")
	assert.NotContains(t, got["report"], "report-subsets")
	assert.Equal(t, 409, of(3).by("other.repo").do(t, service).status)
}

func TestCompressedReportsThatAreRefused(t *testing.T) {
	noted := reportBody(header("Repo", "2020-01-01", noteCompressed), dataset)
	whole := string(zipped([]byte(noted)))
	for name, want := range map[string]struct{ body, title string }{
		"no exceptions entry": {string(zipped([]byte(reportBody(header("Repo", "2020-01-01", ""), dataset)))), "code 69"},
		"another code": {string(zipped([]byte(reportBody(header("Repo", "2020-01-01", `{"code":3040}`), dataset)))),
			"code 69"},
		"no gzip":       {noted, "not gzip"},
		"cut off":       {whole[:len(whole)-20], "unexpected EOF"},
		"damaged":       {whole[:40] + "\x00\x00\x00\x00" + whole[44:], ""},
		"empty":         {"", "not gzip"},
		"not JSON":      {string(zipped([]byte("hello"))), "an object expected"},
		"a wrong value": {string(zipped([]byte(strings.Replace(noted, `"count":3`, `"count":"-"`, 1)))), "count"},
	} {
		t.Run(name, func(t *testing.T) {
			service := newService()
			c := call{method: "PUT", path: "/reports/" + someUUID, header: gzipType, body: whole, as: "token"}
			require.Equal(t, 201, c.do(t, service).status)
			c.body = want.body
			a := c.do(t, service)
			assert.Equal(t, 422, a.status)
			assert.Contains(t, a.body, want.title)
			assert.Len(t, dois(getReport(someUUID).do(t, service).read(t)), 1, "what was there stays")
		})
	}
}

// bare is the shortest dataset there can be, n of them.
func bare(n int) []string {
	const shortest = `{"platform":"","data-type":"dataset","publisher":"","performance":[],"publisher-id":[],` +
		`"dataset-title":"%d"}`
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(shortest, i)
	}
	return out
}

// Specification §8: 50,000 datasets in one body.
func TestDatasetLimit(t *testing.T) {
	for n, status := range map[int]int{50_000: 201, 50_001: 422} {
		a := postReport(reportBody(header("Repo", "2020-01-01", ""), bare(n)...)).do(t, newService())
		assert.Equal(t, status, a.status, n)
	}
}
