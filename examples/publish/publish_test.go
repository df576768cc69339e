package publish

import (
	"context"
	"testing"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/metadata"
)

// The service carries a request out, or does not, and the response is lost: whatever happens to
// a fifth of all requests, the DOI is registered once, at the address that was given.
func TestADatasetIsPublishedWhateverFails(t *testing.T) {
	record := &metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}},
		Titles:          []metadata.Title{{Title: "Glacier length"}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "2026",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
	}
	for seed := range uint64(20) {
		srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.Schedule(seed, 0.2)})
		err := Dataset(context.Background(), srv.Config(), "10.5072/glacier-1", "https://repository.example.org/1", record)
		stored, lost := srv.Record("10.5072/glacier-1")
		if err != nil || lost != nil || stored.State != "findable" || stored.URL != "https://repository.example.org/1" {
			t.Errorf("seed %d: %v, %v", seed, err, lost)
		}
		srv.Close()
	}
}
