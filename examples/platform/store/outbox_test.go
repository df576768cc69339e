package store

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// A dataset is due when its pause is over, and at once if it was put off while the clock was ahead.
func TestDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		id, err := s.Create(t.Context(), "ada", "", prefix, dataset.About{})
		require.NoError(t, err)
		d := s.get(t, id)
		for pause, want := range map[time.Duration]struct {
			now  bool
			next time.Duration
		}{
			-time.Minute: {true, time.Hour}, 0: {true, time.Hour}, time.Minute: {false, time.Minute},
			2 * time.Hour: {false, time.Hour}, LongestPause: {false, time.Hour}, LongestPause + 2*time.Hour: {true, time.Hour},
		} {
			require.NoError(t, s.Failed(t.Context(), d, "no answer", time.Now().Add(pause)))
			now, next, err := s.Due(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want.now, len(now) == 1, pause)
			assert.Equal(t, want.next, time.Until(next), pause)
		}
		require.NoError(t, s.Failed(t.Context(), d, "no answer", time.Now().Add(time.Minute)))
		require.NoError(t, s.TryNow(t.Context(), id))
		now, _, err := s.Due(t.Context())
		require.NoError(t, err)
		assert.Len(t, now, 1)
	})
}
