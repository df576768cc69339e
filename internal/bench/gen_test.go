package bench_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/bench"
)

// TestCalibration: a generator whose entries compress better than real ones
// would flatter everything that is measured with it.
func TestCalibration(t *testing.T) {
	for _, c := range []struct {
		profile           bench.Profile
		bytes, ratio      [2]float64
		instances, places [2]float64
	}{
		{bench.Typical, [2]float64{1000, 1100}, [2]float64{7.0, 8.5}, [2]float64{2.7, 3.1}, [2]float64{2.7, 3.1}},
		{bench.Heavy, [2]float64{3700, 4300}, [2]float64{3.6, 4.3}, [2]float64{4, 4}, [2]float64{100, 110}},
	} {
		t.Run(c.profile.String(), func(t *testing.T) {
			const n = 500
			var plain, zipped bytes.Buffer
			var instances, countries int
			for i := range n {
				e := bench.Source{Seed: 1, Profile: c.profile}.Entry(i)
				data, err := json.Marshal(e)
				require.NoError(t, err)
				plain.Write(append(data, ','))
				for _, instance := range e.Performance[0].Instance {
					instances++
					countries += len(instance.CountryCounts)
				}
			}
			w := gzip.NewWriter(&zipped)
			_, err := w.Write(plain.Bytes())
			require.NoError(t, err)
			require.NoError(t, w.Close())

			within := func(what string, limits [2]float64, got float64) {
				t.Logf("%s %.2f", what, got)
				assert.True(t, limits[0] <= got && got <= limits[1], "%s: %.2f is not within %v", what, got, limits)
			}
			within("bytes an entry", c.bytes, float64(plain.Len())/n)
			within("plain to gzip", c.ratio, float64(plain.Len())/float64(zipped.Len()))
			within("instances an entry", c.instances, float64(instances)/n)
			within("countries an instance", c.places, float64(countries)/float64(instances))
		})
	}
}
