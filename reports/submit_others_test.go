package reports_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// TestOtherReportsUnderReadFaults: whatever requests fail, CompareOthers names each report of the
// account that has the same numbers, or could not be compared.
func TestOtherReportsUnderReadFaults(t *testing.T) {
	submitted, unlisted := 0, 0
	for i := range uint64(*schedules) {
		seed := *firstSeed + i
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			locks := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var bad atomic.Bool
				srv := datacitetest.NewServer(&datacitetest.Options{
					NoPort: true, Faults: datacitetest.Schedule(seed, 0.5+float64(seed%5)/20).When(func(r *http.Request) bool {
						return bad.Load() && !datacitetest.Writes(r) && !r.URL.Query().Has("created-by")
					}),
				})
				same := reports.Source([]reports.Dataset{counted("10.5072/a", views(3))})
				var ids []string
				for n := range 1 + seed%3 {
					receipt, err := srv.Reports().Submit(t.Context(), header(fmt.Sprint("Old Name ", n), time.October), same, &reports.SubmitOptions{LockDir: locks})
					require.NoError(t, err)
					ids = append(ids, receipt.ReportID)
				}
				bad.Store(true)
				var said []string
				_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), same, &reports.SubmitOptions{LockDir: locks, CompareOthers: true, Warn: func(f datacite.Finding) {
					said = append(said, f.Reason)
				}})
				bad.Store(false)
				time.Sleep(time.Hour) // until the service has sent its last response
				if err != nil {
					return // which says that nothing was sent, or what
				}
				submitted++
				all := strings.Join(said, "\n")
				if strings.Contains(all, "cannot be compared with the other reports of the account") {
					unlisted++ // nobody knows the ids
					return
				}
				for _, id := range ids {
					assert.Contains(t, all, id)
				}
			})
		}) {
			return
		}
	}
	assert.Less(t, *schedules/2, submitted)
	assert.LessOrEqual(t, unlisted, *schedules/500, "the list is requested until it is read")
}
