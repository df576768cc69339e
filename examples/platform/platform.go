package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/outbox"
	"github.com/datacite-go/datacite-go/examples/platform/pages"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/examples/platform/usage"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// A Config says what the platform is called and which service it uses.
type Config struct {
	By     dataset.Repository
	Folder string // of the databases and files

	API, Store         string // addresses of the service
	Username, Password string
	Token              string // for usage reports
	Prefix             string

	Proxies []netip.Prefix // their X-Forwarded-For says who a visitor is
	Limits  pages.Limits
	Usage   usage.Limits

	HTTPClient *http.Client  `json:"-"` // nil means a new one
	MaxWait    time.Duration // longest pause between two attempts of a request; 0 means the clients' own
	Retry      time.Duration // until the outbox tries again, doubled each time; 0 means 10 seconds
	Cost       int           // of hashing a password; 0 means that of package accounts
	Log        *slog.Logger  `json:"-"` // nil means slog.Default()
}

// A Platform is a small data repository: pages for people, and work in the background.
type Platform struct {
	store    *store.Store
	accounts *accounts.Accounts
	outbox   *outbox.Outbox
	counter  *usage.Counter
	pages    *pages.Pages
	log      *slog.Logger
	asked    chan job
}

// A job is one that a curator wants to be done now.
type job func(context.Context) error

// Open opens the databases and makes the clients. Nothing is sent yet.
func Open(c Config) (*Platform, error) {
	p := &Platform{log: cmp.Or(c.Log, slog.Default()), asked: make(chan job, 1)}
	cfg := datacite.Config{
		Service:  datacite.Service{API: c.API, MDS: c.Store},
		Username: c.Username, Password: c.Password, Token: c.Token,
		HTTPClient: c.HTTPClient, UserAgent: "example-platform/1.0", MaxWait: c.MaxWait, Logger: p.log,
	}
	registrar, err1 := mds.NewClient(cfg)
	records, err2 := dois.NewClient(cfg)
	keeper, err3 := reconcile.NewClient(cfg)
	reporter, err4 := reports.NewClient(cfg)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	var err error
	if p.store, err = store.Open(c.Folder); err != nil {
		return nil, err
	}
	p.store.Room = cmp.Or(c.Limits.Room, store.Room)
	if p.accounts, err = accounts.Open(accountsFile(c.Folder), c.Cost); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	p.outbox = outbox.New(outbox.Outbox{
		Store: p.store, MDS: registrar, DOIs: records, Records: keeper, By: c.By, Prefix: c.Prefix,
		Retry: cmp.Or(c.Retry, 10*time.Second), Log: p.log,
	})
	p.counter = usage.New(usage.Settings{Store: p.store, Reports: reporter, By: c.By, Folder: c.Folder, Proxies: c.Proxies,
		Token: c.Token, Limits: c.Usage, Log: p.log})
	if problem := p.counter.TokenProblem(time.Now()); problem != "" {
		p.log.Warn(problem)
	}
	p.pages = pages.New(&pages.Pages{
		Store: p.store, Accounts: p.accounts, Counter: p.counter, By: c.By, Prefix: c.Prefix, Limits: c.Limits, Log: p.log,
		Service: cfg.Service.API, Versions: versions(),
		Changed:   p.outbox.Wake,
		CheckNow:  func() { p.ask(p.outbox.Check) },
		ReportNow: func() { p.ask(p.reportSoFar) },
		HideNow: func(name string) {
			p.ask(func(ctx context.Context) error { return p.outbox.Hide(ctx, name) })
		},
	})
	return p, nil
}

func accountsFile(folder string) string { return filepath.Join(folder, "accounts.db") }

// Close closes the databases, when nobody uses them any more.
func (p *Platform) Close() error {
	p.counter.Keep(context.Background())
	return errors.Join(p.store.Close(), p.accounts.Close())
}

// Run works in the background until the context is done.
func (p *Platform) Run(ctx context.Context) {
	var jobs sync.WaitGroup
	jobs.Go(func() { p.outbox.Deliver(ctx) })
	jobs.Go(func() { p.regularly(ctx) })
	for second := time.NewTicker(time.Second); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
			second.Stop()
		case <-second.C:
			p.counter.Keep(ctx)
		}
	}
	jobs.Wait()
	p.counter.Keep(ctx)
	if err := p.counter.KeepMissed(context.WithoutCancel(ctx)); err != nil {
		p.log.Error("background", "error", err)
	}
}

// regularly counts and reports use once an hour, compares the service's records with
// the repository's once a day, and does what curators ask for. One job at a time.
func (p *Platform) regularly(ctx context.Context) {
	hour, day := time.NewTicker(time.Hour), time.NewTicker(24*time.Hour)
	defer hour.Stop()
	defer day.Stop()
	p.do(ctx, p.hourly)
	p.do(ctx, p.outbox.Check)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hour.C:
			p.do(ctx, p.hourly)
		case <-day.C:
			p.do(ctx, p.outbox.Check)
		case now := <-p.asked:
			p.do(ctx, now)
		}
	}
}

func (p *Platform) hourly(ctx context.Context) error {
	return errors.Join(p.counter.Count(ctx), p.counter.ReportDue(ctx, time.Now()))
}

// reportSoFar sends the report of the current month, as far as it has come.
func (p *Platform) reportSoFar(ctx context.Context) error {
	now := time.Now().UTC()
	return p.counter.Report(ctx, time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC), now)
}

func (p *Platform) do(ctx context.Context, now job) {
	if err := now(ctx); err != nil && ctx.Err() == nil {
		p.log.Error("a background job failed", "error", err) // the next time it goes on from there
	}
}

// ask has a job done soon, unless one is waiting already.
func (p *Platform) ask(now job) {
	select {
	case p.asked <- now:
	default:
	}
}

// grace is how long requests may go on that have begun before the end.
const grace = 30 * time.Second

// serve handles requests and works in the background until the context is done. Then it
// takes no new requests, ends those that it has, and closes the databases.
func (p *Platform) serve(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler: p.pages.Handler(), MaxHeaderBytes: 16 << 10,
		// For whole requests and responses; transfers of files have longer, part by part.
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelInfo),
	}
	p.log.Info("started", "listen", listener.Addr().String(), "service", p.pages.Service, "public", p.pages.By.Public,
		"version", p.pages.Versions[0].Text)
	var work sync.WaitGroup
	work.Go(func() { p.Run(ctx) })
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		stop() // without requests there is nothing to work for
	}()
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(end)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	work.Wait()
	if err = errors.Join(err, p.Close()); err == nil {
		p.log.Info("stopped")
	}
	return err
}

// versions are those of the program and of what it is made of.
func versions() []pages.Version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	all := []pages.Version{{Of: "Platform", Text: info.Main.Version}, {Of: "Go", Text: info.GoVersion}}
	for _, of := range []struct{ path, name string }{{"github.com/datacite-go/datacite-go", "SDK"},
		{"modernc.org/sqlite", "SQLite driver"}} {
		i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == of.path })
		if i >= 0 {
			version := info.Deps[i].Version
			if replaced := info.Deps[i].Replace; replaced != nil {
				version = replaced.Version
			}
			if version == "" || version == "(devel)" { // of a folder, in place of a release
				version = "of the source beside the platform"
			}
			all = append(all, pages.Version{Of: of.name, Text: version})
		}
	}
	return all
}
