package reports_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
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
		assert.Error(t, lastError(src), name)
	}
}

// What is written is read back as it was, whatever is in its texts.
func TestWriteFile(t *testing.T) {
	month := reports.Month(2026, 10)
	h := reports.NewHeader("Example \"R\"", "2026-11-01", month)
	h.ReportFilters, h.ReportAttributes, h.Exceptions = []reports.NameValue{}, []reports.NameValue{}, []reports.Exception{}
	wanted := []reports.Dataset{{
		Title: "a\t<b>\u2028\"ü\"", Platform: "P", Publisher: "P", DataType: reports.DataTypeDataset,
		DatasetID:   []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/a"}},
		PublisherID: []reports.TypedValue{{Type: "grid", Value: "grid.1"}},
		Performance: []reports.Performance{{Period: month, Instance: []reports.Instance{{
			Count: 7, MetricType: reports.TotalDatasetRequests, AccessMethod: reports.Machine, CountryCounts: reports.CountryCounts{{Country: "de", Count: 5}},
		}}}},
	}, {Title: "b", DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/b"}}}}
	for _, datasets := range [][]reports.Dataset{wanted, nil} {
		var file strings.Builder
		require.NoError(t, reports.WriteFile(&file, h, reports.Source(datasets)))
		header, src, err := reports.ReadFile(strings.NewReader(file.String()))
		require.NoError(t, err)
		assert.Equal(t, h, header)
		n := 0
		for d, err := range src {
			require.NoError(t, err)
			want, err := json.Marshal(datasets[n])
			require.NoError(t, err)
			got, err := json.Marshal(d)
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(got))
			n++
		}
		assert.Len(t, datasets, n)
	}
	broken := func(yield func(reports.Dataset, error) bool) { yield(reports.Dataset{}, io.ErrUnexpectedEOF) }
	assert.ErrorIs(t, reports.WriteFile(io.Discard, h, broken), io.ErrUnexpectedEOF)
	assert.ErrorIs(t, reports.WriteFile(io.Discard, h, reports.Source([]reports.Dataset{{Title: "\xff"}})), datacite.ErrInvalid)
	read, write := io.Pipe()
	require.NoError(t, read.Close())
	assert.ErrorIs(t, reports.WriteFile(write, h, reports.Source(wanted)), io.ErrClosedPipe)
}
