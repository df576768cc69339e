package testkit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A registrar makes DOIs have a URL and metadata, in one of the ways that docs/registering.md
// compares.
type registrar func(ctx context.Context, srv *datacitetest.Server, want []reconcile.Desired) error

// Of one DOI after the other.
func one(register func(ctx context.Context, srv *datacitetest.Server, name, address string,
	doc mds.Document) error) registrar {
	return func(ctx context.Context, srv *datacitetest.Server, want []reconcile.Desired) error {
		var errs []error
		for _, w := range want {
			doc, err := mds.NewDocument(w.Metadata)
			errs = append(errs, err, register(ctx, srv, w.DOI, w.URL, doc))
		}
		return errors.Join(errs...)
	}
}

func register(opts *mds.RegisterOptions) registrar {
	return one(func(ctx context.Context, srv *datacitetest.Server, name, address string, doc mds.Document) error {
		_, err := srv.MDS().Register(ctx, name, address, doc, opts)
		return err
	})
}

var registrars = map[string]registrar{
	"`mds.Register`":                   register(nil),
	"`mds.Register` with `NoReadBack`": register(&mds.RegisterOptions{NoReadBack: true}),
	"`mds.Register` with `Show`":       register(&mds.RegisterOptions{Show: true}),
	"`mds.Mint`, then `mds.PutURL`": one(
		func(ctx context.Context, srv *datacitetest.Server, _, address string, doc mds.Document) error {
			name, err := srv.MDS().Mint(ctx, datacitetest.Prefix, doc)
			if err == nil {
				_, err = srv.MDS().PutURL(ctx, name, address)
			}
			return err
		}),
	"`dois.Create` with `EventPublish`": func(ctx context.Context, srv *datacitetest.Server, want []reconcile.Desired) error {
		for _, w := range want {
			if _, err := srv.DOIs().Create(ctx,
				&dois.Draft{DOI: w.DOI, URL: w.URL, Record: *w.Metadata, Event: dois.EventPublish}); err != nil {
				return err
			}
		}
		return nil
	},
	"`dois.Update`": func(ctx context.Context, srv *datacitetest.Server, want []reconcile.Desired) error {
		for _, w := range want {
			if _, err := srv.DOIs().Update(ctx, w.DOI, &dois.Draft{URL: w.URL, Record: *w.Metadata}); err != nil {
				return err
			}
		}
		return nil
	},
	"`reconcile.Ensure`, for each DOI of `reconcile.EnsureAll`": func(ctx context.Context, srv *datacitetest.Server,
		want []reconcile.Desired) error {
		for _, w := range want {
			if _, err := srv.Reconcile().Ensure(ctx, w, nil); err != nil {
				return err
			}
		}
		return nil
	},
	"`reconcile.Audit`, then `reconcile.EnsureAll`": func(ctx context.Context, srv *datacitetest.Server,
		want []reconcile.Desired) error {
		c := srv.Reconcile()
		wanted := func(yield func(reconcile.Desired, error) bool) {
			for _, w := range want {
				if !yield(w, nil) {
					return
				}
			}
		}
		for r, err := range c.EnsureAll(ctx,
			reconcile.Corrections(c.Audit(ctx, wanted,
				&reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}, AllowEmpty: true})), nil) {
			if err != nil || r.Err != nil {
				return errors.Join(err, r.Err)
			}
		}
		return nil
	},
}

// TestWhatRegisteringCosts measures each number of the table in docs/registering.md, with
// metadata in ASCII and beyond, on both behaviours.
func TestWhatRegisteringCosts(t *testing.T) {
	rows := testkit.Table(t, "../../docs/registering.md", "Requests")
	assert.Len(t, rows, len(registrars))
	for _, row := range rows {
		call := row[0]
		if strings.HasPrefix(call, "mds.") || strings.HasPrefix(call, "dois.") || strings.HasPrefix(call, "reconcile.") {
			call = "`" + call + "`" // the table is read without the quotes of a whole cell
		}
		register := registrars[call]
		require.NotNil(t, register, call)
		require.Len(t, row, 1+len(situations), call)
		for i, s := range situations {
			for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
				for _, title := range []string{"Glacier length", "Gletscherlänge"} {
					if row[i+1] != "–" {
						assert.Equal(t, row[i+1], s.cost(t, behaviour, register, title), "%s: %s, %s, %s", call, s.name, behaviour, title)
					}
				}
			}
		}
	}
}

// A situation is what the service has of a DOI that is to be registered.
type situation struct {
	name  string
	there func(t *testing.T, srv *datacitetest.Server, w reconcile.Desired) // nil for nothing
	state datacite.State                                                    // afterwards, unless the table says otherwise
}

// stored stores what is wanted, with a change.
func stored(change func(*dois.Draft), events ...dois.Event) func(*testing.T, *datacitetest.Server, reconcile.Desired) {
	return func(t *testing.T, srv *datacitetest.Server, w reconcile.Desired) {
		doc := must(mds.NewDocument(w.Metadata))(t)
		draft := &dois.Draft{DOI: w.DOI, URL: w.URL, MetadataXML: doc.Data, Event: dois.EventPublish}
		change(draft)
		must(srv.DOIs().Create(t.Context(), draft))(t)
		for _, event := range events {
			must(srv.DOIs().Update(t.Context(), w.DOI, &dois.Draft{Event: event}))(t)
		}
	}
}

func same(*dois.Draft)      {}
func another(d *dois.Draft) { d.URL += "/old" }
func other(d *dois.Draft) {
	d.MetadataXML = []byte(strings.Replace(string(d.MetadataXML), "Press", "House", 1))
}

var situations = []situation{
	{"new", nil, datacite.StateFindable},
	{"unchanged", stored(same), datacite.StateFindable},
	{"another URL", stored(another), datacite.StateFindable},
	{"other metadata", stored(other), datacite.StateFindable},
	{"hidden, other metadata", stored(other, dois.EventHide), datacite.StateRegistered},
}

// cost is how many requests a DOI takes, as the table writes it.
func (s situation) cost(t *testing.T, behaviour datacitetest.Behaviour, register registrar, title string) string {
	t.Helper()
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, NoPort: true})
	defer srv.Close()
	const n = 2
	var want []reconcile.Desired
	for i := range n {
		record := plain(i)
		record.Titles = []metadata.Title{{Title: title}}
		w := reconcile.Desired{DOI: fmt.Sprintf("%s/glacier-%d", datacitetest.Prefix, i),
			URL: "https://repo.example.org/glacier", Metadata: &record, Whole: true, State: s.state}
		if s.there != nil {
			s.there(t, srv, w)
		}
		want = append(want, w)
	}
	before := len(srv.Requests())
	err := register(t.Context(), srv, want)
	if errors.Is(err, mds.ErrHidden) || errors.Is(err, datacite.ErrConflict) {
		return "refused"
	}
	require.NoError(t, err)
	requests := len(srv.Requests()) - before
	cell := fmt.Sprint(requests / n)
	if requests%n != 0 {
		cell += " + list"
	}
	names := srv.Names() // one of Mint is not that of the table
	if state := srv.State(names[0]); state != string(s.state) {
		cell += " (" + state + ")"
	}
	return cell
}
