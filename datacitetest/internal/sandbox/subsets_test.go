package sandbox_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Specification §4.1, "Large reports".
func TestLargeReportsAreSentInSubsets(t *testing.T) {
	service := newService()
	noted := header("Repo", "2020-01-01", noteCompressed)
	first := postSubset(reportBody(noted, numbered(1), numbered(2)))
	second := postSubset(reportBody(noted, numbered(3)))
	a := first.do(t, service)
	require.Equal(t, 201, a.status, a.body)
	id := at(a.read(t), "report.id").(string)
	a = second.do(t, service)
	require.Equal(t, 201, a.status, a.body)

	t.Run("the answer names every subset", func(t *testing.T) {
		stored := a.read(t)
		assert.Equal(t, id, at(stored, "report.id"))
		assert.Empty(t, at(stored, "report.report-datasets"))
		for i, sent := range []string{first.body, second.body} {
			sum := sha256.Sum256([]byte(sent))
			assert.Equal(t, hex.EncodeToString(sum[:]), at(stored, fmt.Sprintf("report.report-subsets.%d.checksum", i)))
			assert.Equal(t, base64.StdEncoding.EncodeToString([]byte(sent)), at(stored, fmt.Sprintf("report.report-subsets.%d.gzip", i)))
		}
	})
	t.Run("the report has all datasets", func(t *testing.T) {
		got := getReport(id).do(t, service).read(t)
		assert.Equal(t, []string{"10.5072/0001", "10.5072/0002", "10.5072/0003"}, dois(got))
		assert.NotContains(t, got["report"], "report-subsets")
		assert.Equal(t, 69.0, at(got, "report.report-header.exceptions.0.code"))
	})
	t.Run("the same bytes again are one more subset", func(t *testing.T) {
		second.do(t, service)
		assert.Len(t, dois(getReport(id).do(t, service).read(t)), 4)
	})
	t.Run("plain JSON for the same period changes nothing", func(t *testing.T) {
		a := postReport(reportBody(header("Repo", "2020-01-01", ""), numbered(9))).do(t, service)
		assert.Equal(t, 201, a.status)
		assert.Len(t, dois(getReport(id).do(t, service).read(t)), 4)
	})
	t.Run("PUT clears, POST goes on", func(t *testing.T) {
		c := putReport(id, string(zipped([]byte(reportBody(noted, numbered(5))))))
		c.header = gzipType
		assert.Equal(t, 200, c.do(t, service).status)
		assert.Equal(t, []string{"10.5072/0005"}, dois(getReport(id).do(t, service).read(t)))
		postSubset(reportBody(noted, numbered(6))).do(t, service)
		assert.Equal(t, []string{"10.5072/0005", "10.5072/0006"}, dois(getReport(id).do(t, service).read(t)))
	})
	t.Run("an empty subset leaves no gap", func(t *testing.T) {
		postSubset(reportBody(noted)).do(t, service)
		postSubset(reportBody(noted, numbered(7))).do(t, service)
		assert.Equal(t, []string{"10.5072/0005", "10.5072/0006", "10.5072/0007"}, dois(getReport(id).do(t, service).read(t)))
	})
	t.Run("not by another account", func(t *testing.T) {
		assert.Equal(t, 409, postSubset(reportBody(noted, numbered(8))).by("other.repo").do(t, service).status)
	})
}

func TestCompressedReportsThatAreRefused(t *testing.T) {
	noted := reportBody(header("Repo", "2020-01-01", noteCompressed), dataset)
	whole := string(zipped([]byte(noted)))
	for name, want := range map[string]struct{ body, title string }{
		"no exceptions entry": {string(zipped([]byte(reportBody(header("Repo", "2020-01-01", ""), dataset)))), "code 69"},
		"another code":        {string(zipped([]byte(reportBody(header("Repo", "2020-01-01", `{"code":3040}`), dataset)))), "code 69"},
		"no gzip":             {noted, "not gzip"},
		"cut off":             {whole[:len(whole)-20], "unexpected EOF"},
		"damaged":             {whole[:40] + "\x00\x00\x00\x00" + whole[44:], ""},
		"empty":               {"", "not gzip"},
		"not JSON":            {string(zipped([]byte("hello"))), "an object expected"},
		"a wrong value":       {string(zipped([]byte(strings.Replace(noted, `"count":3`, `"count":"-"`, 1)))), "count"},
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
	const shortest = `{"platform":"","data-type":"dataset","publisher":"","performance":[],"publisher-id":[],"dataset-title":"%d"}`
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

func TestLargeReportComesBackWhole(t *testing.T) {
	service := newService()
	const each = 3_000
	for range 3 {
		require.Equal(t, 201, postSubset(reportBody(header("Repo", "2020-01-01", noteCompressed), bare(each)...)).do(t, service).status)
	}
	got := getReport(onlyReport(t, service)).do(t, service).read(t)
	datasets := at(got, "report.report-datasets").([]any)
	require.Len(t, datasets, 3*each)
	for i, d := range datasets {
		require.Equal(t, fmt.Sprint(i%each), at(d, "dataset-title"))
	}
}
