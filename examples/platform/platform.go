package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reports"
)

// A Config says what the platform is called and which service it uses.
type Config struct {
	Name     string // of the repository, in metadata and reports
	Public   string // its address in the world, without a slash at the end
	Database string // file of the database

	API, Store         string // addresses of the service
	Username, Password string
	Token              string // for usage reports
	Prefix             string

	Proxies []netip.Prefix // their X-Forwarded-For says who a visitor is

	HTTPClient *http.Client  `json:"-"` // nil means a new one
	MaxWait    time.Duration // longest pause between two attempts of a request; 0 means the clients' own
	Retry      time.Duration // until the outbox tries again, doubled each time; 0 means 10 seconds
	Log        *slog.Logger  `json:"-"` // nil means slog.Default()
}

// A Platform is a small data repository. It handles requests, and works on its outbox
// and its nightly jobs in the background.
type Platform struct {
	config  Config
	store   *store
	mds     *mds.Client
	dois    *dois.Client
	reports *reports.Client
	log     *slog.Logger
	wake    chan struct{} // the outbox has something new

	visitors visitors
}

// Open opens the database and makes the clients. Nothing is sent yet.
func Open(c Config) (*Platform, error) {
	c.Retry = cmp.Or(c.Retry, 10*time.Second)
	p := &Platform{config: c, log: cmp.Or(c.Log, slog.Default()), wake: make(chan struct{}, 1)}
	cfg := datacite.Config{
		Service:  datacite.Service{API: c.API, MDS: c.Store},
		Username: c.Username, Password: c.Password, Token: c.Token,
		HTTPClient: c.HTTPClient, UserAgent: "example-platform/1.0", MaxWait: c.MaxWait, Logger: p.log,
	}
	var errs [4]error
	p.mds, errs[0] = mds.NewClient(cfg)
	p.dois, errs[1] = dois.NewClient(cfg)
	p.reports, errs[2] = reports.NewClient(cfg)
	p.store, errs[3] = openStore(c.Database)
	err := errors.Join(errs[:]...)
	if err != nil && p.store != nil {
		err = errors.Join(err, p.store.close())
	}
	return p, err
}

// Run works in the background until the context is done, and closes the database.
func (p *Platform) Run(ctx context.Context) error {
	var jobs sync.WaitGroup
	jobs.Go(func() { p.deliver(ctx) })
	jobs.Go(func() { p.nightly(ctx) })
	jobs.Wait()
	return p.store.close()
}

// changed wakes the outbox.
func (p *Platform) changed() {
	select {
	case p.wake <- struct{}{}:
	default: // it is awake
	}
}
