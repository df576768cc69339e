package reports_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
)

func TestReadFile(t *testing.T) {
	const datasets = `"report-datasets":[{"dataset-title":"a"},{"dataset-title":"b"}]`
	const head = `"report-header":{"created-by":"Example","client-id":"x"}`
	for name, text := range map[string]string{
		"as sent":             `{` + head + `,` + datasets + `}`,
		"as the service says": `{"report":{"id":"x",` + head + `,` + datasets + `,"report-subsets":[]}}`,
		"header last":         `{` + datasets + `,"exceptions":[],` + head + `}`,
		"blanks around":       " \n{" + head + "," + datasets + "} \n",
	} {
		t.Run(name, func(t *testing.T) {
			h, src, err := reports.ReadFile(strings.NewReader(text))
			require.NoError(t, err)
			assert.Equal(t, "Example", h.CreatedBy)
			var titles []string
			for d, err := range src {
				require.NoError(t, err)
				titles = append(titles, d.Title)
			}
			assert.Equal(t, []string{"a", "b"}, titles)
		})
	}
	for name, text := range map[string]string{
		"no datasets": `{` + head + `}`, "a list": `[]`, "empty": ``, "not JSON": `report`,
	} {
		_, _, err := reports.ReadFile(strings.NewReader(text))
		assert.Error(t, err, name)
	}
	_, _, err := reports.ReadFile(struct{ io.Reader }{strings.NewReader(`{` + datasets + `,` + head + `}`)})
	assert.ErrorContains(t, err, "put the header first", "a stream cannot be read twice")
	for name, text := range map[string]string{
		"cut off":       `{` + head + `,"report-datasets":[{"dataset-title":"a"},{"data`,
		"cut at an end": `{` + head + `,"report-datasets":[{"dataset-title":"a"}]`,
		"more follows":  `{` + head + `,` + datasets + `}{}`,
	} {
		_, src, err := reports.ReadFile(strings.NewReader(text))
		require.NoError(t, err, name)
		var last error
		for _, last = range src {
		}
		assert.Error(t, last, name)
	}
}
