package shell

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestProgressHasRateAndTimeLeft(t *testing.T) {
	assert.Equal(t, "3,000 of 10,000 rows · 5 failed · 100 rows/s · 1m10s left", describe(3000, 10000, "rows", "5 failed", 3000, 30*time.Second))
	assert.Equal(t, "3,000 of 10,000 rows · 100 rows/s · 1m10s left", describe(3000, 10000, "rows", "", 1000, 10*time.Second), "of this run")
	assert.Equal(t, "12 records · 0.5 records/s", describe(12, 0, "records", "", 5, 10*time.Second))
	assert.Equal(t, "0 of 10 rows", describe(0, 10, "rows", "", 0, time.Minute))
}

func TestTablesFitTheTerminal(t *testing.T) {
	assert.Equal(t, []string{
		"DOI         TITLE",
		"10.5072/a   氷河",
		"10.5072/a…  A title that is too…",
	}, align([][]string{{"DOI", "TITLE"}, {"10.5072/a", "氷河"}, {"10.5072/abc", "A title that is too long for this"}}, 32))
}
