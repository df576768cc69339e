package mds_test

import (
	"context"

	"golang.org/x/time/rate"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// Programs are written against these; the compiler watches over them.
var (
	_ func(datacite.Config) (*mds.Client, error)                                                  = mds.NewClient
	_ func(*mds.Client, context.Context, string) (string, error)                                  = (*mds.Client).URL
	_ func(*mds.Client, context.Context, string, string) (mds.Status, error)                      = (*mds.Client).PutURL
	_ func(*mds.Client, context.Context, string) (*mds.Document, error)                           = (*mds.Client).Metadata
	_ func(*mds.Client, context.Context, string, mds.Document) (mds.Status, error)                = (*mds.Client).PutMetadata
	_ func(*mds.Client, context.Context, string, mds.Document) (string, error)                    = (*mds.Client).Mint
	_ func(*mds.Client, context.Context, string, string, mds.Document) (*mds.Registration, error) = (*mds.Client).Register
	_ func(*mds.Client, context.Context, string) error                                            = (*mds.Client).Hide
	_ func(*mds.Client, context.Context, string) error                                            = (*mds.Client).DeleteDraft
	_ func([]byte) mds.Document                                                                   = mds.XML
	_ func(*metadata.Record) (mds.Document, error)                                                = mds.NewDocument
	_ func(*datacitetest.Options) *datacitetest.Server                                            = datacitetest.NewServer
	_ func(*datacitetest.Server) *mds.Client                                                      = (*datacitetest.Server).MDS
	_ datacite.Limiter                                                                            = (*rate.Limiter)(nil)
)
