// Package publish registers DOIs, and is tested with faults of the network.
package publish

import (
	"context"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// Dataset registers a DOI, or changes what is registered: it can be called again after any
// error.
func Dataset(ctx context.Context, cfg datacite.Config, doi, url string, record *metadata.Record) error {
	client, err := mds.NewClient(cfg)
	if err != nil {
		return err
	}
	doc, err := mds.NewDocument(record)
	if err != nil {
		return err
	}
	_, err = client.Register(ctx, doi, url, doc, nil)
	return err
}
