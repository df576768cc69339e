package mds_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

func TestANewDOIIsNothingToWarnOf(t *testing.T) {
	var log bytes.Buffer
	srv := newServer(t, nil)
	c := as(t, srv, account, &datacite.Config{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	must(c.Register(t.Context(), name, address, record("A"), nil))(t)
	assert.Equal(t, []string{
		"GET /doi/" + name, "PUT /metadata/" + name, "PUT /doi/" + name, "GET /doi/" + name, "GET /metadata/" + name,
	}, paths(srv, 0), "look, the two steps in order, read back")
	assert.Equal(t, 5, strings.Count(log.String(), "level=DEBUG"), "one record a request")
	assert.NotContains(t, log.String(), "level=WARN")
}

func TestRegisterResumesAfterEitherStepFailed(t *testing.T) {
	t.Run("the metadata are refused", func(t *testing.T) {
		srv := newServer(t, nil)
		_, err := srv.MDS().Register(t.Context(), name, address, invalid(), nil)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.NotErrorIs(t, err, mds.ErrHalfRegistered)
		assert.Empty(t, srv.State(name), "nothing else was tried")

		done := must(srv.MDS().Register(t.Context(), name, address, record("A"), nil))(t)
		assert.Equal(t, mds.ChangeCreated, done.Change)
	})
	t.Run("the URL is refused", func(t *testing.T) {
		srv := newServer(t, &datacitetest.Options{Accounts: []datacitetest.Account{{Domains: []string{"repo.example.org"}}}})
		_, err := srv.MDS().Register(t.Context(), name, "https://elsewhere.example.net/", record("A"), nil)
		require.ErrorIs(t, err, mds.ErrHalfRegistered)
		require.ErrorIs(t, err, datacite.ErrBadRequest)
		assert.ErrorContains(t, err, "mds: the metadata are stored, setting the URL failed: 10.5072/glacier-7: mds.PutURL: "+
			"PUT ")
		assert.False(t, datacite.Temporary(err))
		assert.Equal(t, "draft", srv.State(name))

		require.ErrorIs(t, failure(srv.MDS().Register(t.Context(), name, "https://elsewhere.example.net/", record("A"), nil)),
			mds.ErrHalfRegistered, "it still is")

		done := must(srv.MDS().Register(t.Context(), name, address, record("A"), nil))(t)
		assert.Equal(t, mds.ChangeUpdated, done.Change)
		assert.Equal(t, datacite.StateDraft, done.StateBefore)
		assert.Equal(t, "findable", srv.State(name))

		_, err = srv.MDS().Register(t.Context(), name, "https://elsewhere.example.net/", record("A"), nil)
		require.ErrorIs(t, err, datacite.ErrBadRequest)
		assert.NotErrorIs(t, err, mds.ErrHalfRegistered, "nothing was changed")
	})
	t.Run("no URL gets through", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := newServer(t, nil)
			lost := &datacitetest.Fault{Kind: datacitetest.FaultDropBefore}
			srv.SetFaults(datacitetest.First(nil, nil, lost, lost, lost, lost, lost))
			_, err := srv.MDS().Register(t.Context(), name, address, record("A"), nil)
			require.ErrorIs(t, err, mds.ErrHalfRegistered)
			require.ErrorIs(t, err, datacite.ErrUnclear)
			assert.ErrorContains(t, err, "setting the URL failed")
			assert.ErrorContains(t, err, "it is not known whether the service carried it out")
			assert.True(t, datacite.Temporary(err))
		})
	})
}

func TestRegisterSaysWhatItCannotConfirm(t *testing.T) {
	t.Run("the service lags behind and comes round", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := newServer(t, nil)
			stale := 3
			c := between(t, srv, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
				if stored := srv.State(name) == "findable"; stored && req.Method == "GET" && stale > 0 {
					stale--
					return response(404, plain, "DOI not found"), nil
				}
				return next.RoundTrip(req)
			})
			done := must(c.Register(t.Context(), name, address, record("A"), nil))(t)
			assert.Equal(t, datacite.StateFindable, done.State)
		})
	})
	t.Run("the service stored another URL", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := newServer(t, nil)
			c := between(t, srv, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
				if srv.State(name) == "findable" && strings.HasPrefix(req.URL.Path, "/doi/") &&
					req.Method == "GET" {
					return response(200, plain, "https://repo.example.org/cut"), nil
				}
				return next.RoundTrip(req)
			})
			_, err := c.Register(t.Context(), name, address, record("A"), nil)
			require.ErrorIs(t, err, mds.ErrUnconfirmed)
			assert.ErrorContains(t, err, "mds: registered, but not read back as written: 10.5072/glacier-7: its URL is "+
				"\"https://repo.example.org/cut\", not \""+address+`"`)
			assert.True(t, datacite.Temporary(err))
		})
	})
}

func TestARegistrationThatCannotBeReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		c := between(t, srv, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			if srv.State(name) == "findable" && req.Method == http.MethodGet {
				return response(500, plain, ""), nil
			}
			return next.RoundTrip(req)
		})
		require.ErrorIs(t, failure(c.Register(t.Context(), name, address, record("A"), nil)), mds.ErrUnconfirmed)
	})
}

func TestServiceMayNormaliseTheURL(t *testing.T) {
	for given, stored := range map[string]string{
		"https://REPO.example.org":         "https://repo.example.org/",
		"https://repo.example.org/größe":   "https://repo.example.org/gr%C3%B6%C3%9Fe",
		"https://repo.example.org/%c3%a4":  "https://repo.example.org/%C3%A4",
		"https://repo.example.org/?q=größ": "https://repo.example.org/?q=gr%C3%B6%C3%9F",
		"https://repo.example.org/?q=1–2":  "https://repo.example.org/?q=1%E2%80%932",
	} {
		srv := newServer(t, nil)
		c := between(t, srv, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			if srv.State(name) == "findable" && strings.HasPrefix(req.URL.Path, "/doi/") && req.Method == "GET" {
				return response(200, plain, stored), nil
			}
			return next.RoundTrip(req)
		})
		require.NoError(t, failure(c.Register(t.Context(), name, given, record("A"), nil)), given)
	}
}

func TestRegisterWritesOnlyWhatDiffers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(t *testing.T, srv *datacitetest.Server)
		doc    mds.Document
		writes []string
		want   mds.Change
		state  datacite.State
	}{
		{"nothing there", func(*testing.T, *datacitetest.Server) {}, record("A"),
			[]string{"PUT /metadata/" + name, "PUT /doi/" + name}, mds.ChangeCreated, datacite.StateFindable},
		{"a draft with these metadata", func(t *testing.T, srv *datacitetest.Server) {
			must(srv.MDS().PutMetadata(t.Context(), name, record("A")))(t)
		}, record("A"), []string{"PUT /doi/" + name}, mds.ChangeUpdated, datacite.StateFindable},
		{"a draft with others", func(t *testing.T, srv *datacitetest.Server) {
			must(srv.MDS().PutMetadata(t.Context(), name, record("B")))(t)
		}, record("A"), []string{"PUT /metadata/" + name, "PUT /doi/" + name}, mds.ChangeUpdated, datacite.StateFindable},
		{"a draft without metadata", func(t *testing.T, srv *datacitetest.Server) {
			seed(t, srv, map[string]any{"doi": name, "state": "draft"})
		}, record("A"), []string{"PUT /metadata/" + name, "PUT /doi/" + name}, mds.ChangeUpdated, datacite.StateFindable},
		{"all there", func(t *testing.T, srv *datacitetest.Server) {
			findable(t, srv, name)
		}, record("Glacier length"), nil, mds.ChangeNone, datacite.StateFindable},
		{"all there, laid out differently", func(t *testing.T, srv *datacitetest.Server) {
			findable(t, srv, name)
		}, relaid(record("Glacier length")), nil, mds.ChangeNone, datacite.StateFindable},
		{"another title", func(t *testing.T, srv *datacitetest.Server) {
			findable(t, srv, name)
		}, record("Glacier area"), []string{"PUT /metadata/" + name}, mds.ChangeUpdated, datacite.StateFindable},
		{"another URL", func(t *testing.T, srv *datacitetest.Server) {
			must(srv.MDS().Register(t.Context(), name, address+"/old", record("A"), nil))(t)
		}, record("A"), []string{"PUT /doi/" + name}, mds.ChangeUpdated, datacite.StateFindable},
		{"a draft with this URL", func(t *testing.T, srv *datacitetest.Server) {
			must(srv.DOIs().Create(t.Context(), &dois.Draft{DOI: name, URL: address, MetadataXML: record("A").Data}))(t)
		}, record("A"), []string{"PUT /doi/" + name}, mds.ChangeUpdated, datacite.StateFindable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
				tt.before(t, srv)
				since, was := len(srv.Requests()), srv.State(name)
				done := must(srv.MDS().Register(t.Context(), "https://doi.org/"+name, address, tt.doc, nil))(t)
				assert.EqualValues(t, was, done.StateBefore)
				assert.Equal(t, name, done.DOI)
				assert.Empty(t, done.Altered)
				var writes []string
				for _, p := range paths(srv, since) {
					if strings.HasPrefix(p, "PUT") {
						writes = append(writes, p)
					}
				}
				assert.Equal(t, tt.writes, writes)
				assert.Equal(t, tt.want, done.Change)
				assert.Equal(t, tt.want == mds.ChangeNone, len(paths(srv, since)) == 3, "what is not written is not read back")
				assert.Equal(t, tt.state, done.State)
				assert.Equal(t, string(tt.state), srv.State(name))
				got := must(srv.MDS().URL(t.Context(), name))(t)
				assert.Equal(t, address, got)
			})
		})
	}
}

// Every write of the metadata store shows a hidden DOI. A correction alone is no reason to.
func TestAHiddenDOIStaysHidden(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, c := t.Context(), srv.MDS()
		findable(t, srv, name)
		require.NoError(t, c.Hide(ctx, name))
		since, asked := len(srv.Requests()), false
		opts := &mds.RegisterOptions{BeforeWrite: func(context.Context, string, datacite.State) error {
			asked = true
			return nil
		}}
		for _, tt := range []struct {
			url, title string
			opts       *mds.RegisterOptions
			change     mds.Change
		}{
			{address, "A better title", opts, mds.ChangeUpdated},
			{address + "/new", "Glacier length", opts, mds.ChangeUpdated},
			{address, "Glacier length", opts, mds.ChangeNone},
			{address, "Glacier length", nil, mds.ChangeNone},
		} {
			done, err := c.Register(ctx, name, tt.url, record(tt.title), tt.opts)
			require.ErrorIs(t, err, mds.ErrHidden)
			require.ErrorIs(t, err, datacite.ErrNotAllowed)
			assert.False(t, datacite.Temporary(err))
			assert.NotErrorIs(t, err, mds.ErrHalfRegistered)
			assert.Equal(t, tt.change, done.Change)
			assert.Equal(t, datacite.StateRegistered, done.State)
		}
		_, err := c.Register(ctx, name, address, record("A better title"), nil)
		assert.EqualError(t, err, "mds: not changed, as every change makes the DOI findable: 10.5072/glacier-7: it is "+
			"hidden; set RegisterOptions.Show if it shall be findable; Update of package dois keeps it hidden")
		assert.False(t, asked, "nothing is about to be written")
		assert.Zero(t, puts(srv, since))
		assert.Equal(t, "registered", srv.State(name))

		kept := must(srv.DOIs().Update(ctx, name, &dois.Draft{MetadataXML: record("A better title").Data}))(t)
		assert.Equal(t, datacite.StateRegistered, kept.State, "the other interface keeps it hidden")

		for _, title := range []string{"A better title", "The best title"} { // the first is stored already
			shown := must(c.Register(ctx, name, address, record(title), &mds.RegisterOptions{Show: true}))(t)
			assert.Equal(t, mds.ChangeUpdated, shown.Change)
			assert.Equal(t, datacite.StateRegistered, shown.StateBefore)
			assert.Equal(t, datacite.StateFindable, shown.State)
			assert.Equal(t, "findable", srv.State(name))
			require.NoError(t, c.Hide(ctx, name))
		}
	})
}

// A DOI that is findable again has no reason for being hidden, or a warning says that it may.
func TestShowRemovesTheReasonForHiding(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx := t.Context()
		findable(t, srv, name)
		alone := withoutAPI(t, srv, 0)
		hide := func() {
			must(srv.DOIs().ChangeState(ctx, name, dois.EventHide, &dois.EventOptions{Reason: "withdrawn"}))(t)
		}
		reason := func() string {
			r := must(srv.DOIs().Get(ctx, name, nil))(t)
			assert.Equal(t, datacite.StateFindable, r.State)
			return r.Reason
		}
		show := &mds.RegisterOptions{Show: true}

		for _, title := range []string{"Glacier length", "A better title"} {
			hide()
			done := must(srv.MDS().Register(ctx, name, address, record(title), show))(t)
			assert.Equal(t, mds.ChangeUpdated, done.Change)
			assert.Empty(t, done.Warnings)
			assert.Empty(t, reason())
		}
		since := len(srv.Requests())
		done := must(srv.MDS().Register(ctx, name, address, record("A better title"), show))(t)
		assert.Equal(t, mds.ChangeNone, done.Change)
		assert.Zero(t, puts(srv, since))

		hide()
		done = must(alone.Register(ctx, name, address, record("A better title"), show))(t)
		require.Len(t, done.Warnings, 1)
		assert.Equal(t, "reason", done.Warnings[0].Path)
		assert.Equal(t, "withdrawn", reason(), "nothing that the client can send to the store removes it")

		done = must(srv.MDS().Register(ctx, name, address, record("A better title"), show))(t)
		assert.Equal(t, mds.ChangeUpdated, done.Change)
		assert.Empty(t, reason(), "what an earlier run left is removed")
	})
}

func withoutAPI(t *testing.T, srv *datacitetest.Server, attempts int) *mds.Client {
	t.Helper()
	cfg := srv.Config()
	cfg.Service.API, cfg.HTTPClient, cfg.MaxAttempts = "", srv.HTTPClient(), attempts
	c := must(mds.NewClient(cfg))(t)
	return c
}

// Without the address of the DOI API, nothing shows whether a DOI is hidden.
func TestADOIThatMayBeHiddenIsLeftAlone(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx := t.Context()
		c := withoutAPI(t, srv, 0)
		made, err := c.Register(ctx, name, address, record("Glacier length"), nil)
		require.NoError(t, err, "a new DOI is not hidden")
		assert.Equal(t, datacite.StateFindable, made.State)
		same, err := c.Register(ctx, name, address, record("Glacier length"), nil)
		require.ErrorIs(t, err, mds.ErrHidden)
		assert.Equal(t, mds.ChangeNone, same.Change)
		assert.Equal(t, mds.StateRegisteredOrFindable, same.StateBefore)
		assert.Equal(t, mds.StateRegisteredOrFindable, same.State)
		_, err = c.Register(ctx, name, address, record("A better title"), nil)
		require.ErrorIs(t, err, mds.ErrHidden)
		require.ErrorContains(t, err, "set Config.Service.API")

		require.NoError(t, c.Hide(ctx, name))
		shown := must(c.Register(ctx, name, address, record("Glacier length"), &mds.RegisterOptions{Show: true}))(t)
		assert.Equal(t, datacite.StateFindable, shown.State)
		assert.Equal(t, "findable", srv.State(name), "it is written, as it may be hidden")
	})
}

// If the DOI API or the store fails, nothing is written on a guess.
func TestTheStateIsNotGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		findable(t, srv, name)
		for _, tt := range []struct {
			path, body string
			status     int
		}{{"/dois/", "", 500}, {"/dois/", `{"data":`, 200}, {"/dois/", `{"data":{"id":"10.5072/another"}}`, 200},
			{"/metadata/", "", 500}} {
			c := between(t, srv, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
				if strings.HasPrefix(req.URL.Path, tt.path) && req.Method == http.MethodGet {
					return response(tt.status, "application/json", tt.body), nil
				}
				return next.RoundTrip(req)
			})
			since := len(srv.Requests())
			_, err := c.Register(t.Context(), name, address, record("A better title"), nil)
			assert.True(t, datacite.Temporary(err), "%v", err)
			assert.NotErrorIs(t, err, datacite.ErrUnclear)
			assert.Zero(t, puts(srv, since))
		}
	})
}

// relaid says the same with other blanks, prefixes, comments and order.
func relaid(doc mds.Document) mds.Document {
	text := strings.NewReplacer(
		"\n", "", "  ", "", "<resource ", "<d:resource ", `xmlns="http`, `xmlns:d="http`, "</", "</d:", "<creator", "<d:creator", "<title", "<d:title",
		"<publ", "<!-- a comment --><d:publ", "<resourceType", "<d:resourceType", "<identifier ", "<d:identifier ",
	).Replace(string(doc.Data))
	text = strings.ReplaceAll(text, "<d:identifier identifierType=\"DOI\"></d:identifier>",
		"<d:identifier identifierType=\"DOI\">"+strings.ToUpper(name)+"</d:identifier>")
	return mds.XML([]byte(text))
}

func TestMint(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		minted := must(srv.MDS().Mint(t.Context(), datacitetest.Prefix, record("A")))(t)
		assert.True(t, strings.HasPrefix(minted, datacitetest.Prefix+"/"), minted)
		require.NoError(t, doi.CheckNew(minted))
		assert.Equal(t, "draft", srv.State(minted))
		assert.Equal(t, []string{"GET /doi/" + minted, "PUT /metadata/" + minted}, paths(srv, 0), "it looks before it writes")

		must(srv.MDS().PutURL(t.Context(), minted, address))(t)
		assert.Equal(t, "findable", srv.State(minted))
	})
}

func TestMintDoesNotTakeANameThatIsTaken(t *testing.T) {
	srv := newServer(t, nil)
	looks := 0
	c := between(t, srv, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if req.Method == "GET" {
			switch looks++; looks {
			case 1:
				return response(200, plain, "https://repo.example.org/taken"), nil
			case 2:
				return response(204, plain, ""), nil
			}
		}
		return next.RoundTrip(req)
	})
	minted := must(c.Mint(t.Context(), datacitetest.Prefix, record("A")))(t)
	assert.Equal(t, []string{"GET /doi/" + minted, "PUT /metadata/" + minted}, paths(srv, 0)[len(paths(srv, 0))-2:])

	_, err := responding(t, 200, plain, address, nil).Mint(t.Context(), datacitetest.Prefix, record("A"))
	require.ErrorIs(t, err, datacite.ErrUnreadable, "a service that knows every name is not believed")

	minted, err = served(t, func(req *http.Request) *http.Response {
		if req.Method == http.MethodGet {
			return response(404, plain, "DOI not found")
		}
		return response(500, plain, "")
	}, nil).Mint(t.Context(), datacitetest.Prefix, record("A"))
	require.ErrorIs(t, err, datacite.ErrUnclear)
	assert.NotEmpty(t, minted, "a DOI that may exist has a name")
}

func newDeployed(t *testing.T) (*datacitetest.Server, *mds.Client) {
	t.Helper()
	srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	return srv, srv.MDS()
}

func TestAWrongPasswordReadsAndDoesNotWrite(t *testing.T) {
	ctx := t.Context()
	srv, clean := newDeployed(t)
	findable(t, srv, name)
	must(clean.PutMetadata(ctx, "10.5072/draft", record("Draft")))(t)
	for who, creds := range map[string]credentials{"wrong password": wrong,
		"unknown account": {Username: "NO.BODY", Password: "x"}} {
		t.Run(who, func(t *testing.T) {
			c := as(t, srv, creds, nil)
			got := must(c.URL(ctx, name))(t)
			assert.Equal(t, address, got)
			state := must(c.State(ctx, "10.5072/draft"))(t)
			assert.Equal(t, datacite.StateDraft, state, "even of drafts")

			require.ErrorIs(t, c.CheckAccess(ctx, datacitetest.Prefix, address), datacite.ErrUnauthorized, "which tells")
			require.ErrorIs(t, c.Hide(ctx, name), datacite.ErrUnauthorized)
			require.ErrorIs(t, failure(c.Register(ctx, name, address+"/new", record("B"), nil)), datacite.ErrUnauthorized)
			_, err := c.PutMetadata(ctx, "10.5072/new", record("B"))
			require.ErrorIs(t, err, datacite.ErrUnauthorized)
			assert.NotErrorIs(t, err, datacite.ErrNotFound)
		})
	}
	assert.Equal(t, []string{"10.5072/draft", name}, srv.Names())
}
