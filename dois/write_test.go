package dois_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// complete is metadata with all that a findable DOI needs.
func complete(title string) metadata.Record {
	return metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}},
		Titles:          []metadata.Title{{Title: title}},
		Publisher:       metadata.Publisher{Name: "Example Press"},
		PublicationYear: "2020",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"},
	}
}

func TestUpdateReplacesWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		first := complete("Ice cores")
		first.Subjects = []metadata.Subject{{Subject: "ice"}}
		first.Version = "1.0"
		first.Language = "en"
		must(client.Create(ctx, &dois.Draft{DOI: "10.5072/ice", Record: first, URL: "https://example.org/ice"}))(t)

		changed, err := client.Update(ctx, "10.5072/ice", &dois.Draft{
			Record: metadata.Record{Titles: []metadata.Title{{Title: "Ice cores, revised"}}, Subjects: []metadata.Subject{}},
			Clear:  []string{"version"},
		})
		require.NoError(t, err)
		assert.Equal(t, "Ice cores, revised", changed.Titles[0].Title, "sent")
		assert.Empty(t, changed.Subjects, "sent empty")
		assert.Empty(t, changed.Version, "cleared")
		assert.Equal(t, "en", changed.Language, "not sent")
		assert.Len(t, changed.Creators, 1, "not sent")
		assert.Equal(t, "https://example.org/ice", changed.URL, "not sent")
	})
}

// The identifier in the XML need not name the DOI that is written.
func TestXMLWithoutADOI(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		for _, identifier := range []string{
			`<identifier identifierType="DOI"></identifier>`, `<identifier identifierType="DOI"/>`, ``,
			`<identifier identifierType="DOI">(:tba)</identifier>`, `<identifier identifierType="DOI">` +
				`10.5072/another</identifier>`,
		} {
			xml := []byte(strings.Replace(xmlRecord, `<identifier identifierType="DOI">10.5072/xml</identifier>`, identifier, 1))
			if identifier == "" && !deployed(t) {
				continue // it is the schema that wants one
			}
			for _, name := range []string{"10.5072/there", "10.5072/new" + fmt.Sprint(len(identifier))} {
				must(client.Update(ctx, "10.5072/there", &dois.Draft{Record: complete("Before")}))(t)
				r, err := client.Update(ctx, name, &dois.Draft{MetadataXML: xml, AllowOtherDOI: true})
				require.NoError(t, err, identifier)
				assert.Equal(t, "From XML", r.Titles[0].Title)
				if identifier != "" && deployed(t) {
					assert.Contains(t, string(r.MetadataXML), strings.ToUpper(name))
				}
			}
			sent := len(srv.Requests())
			_, err := client.Create(ctx, &dois.Draft{Prefix: datacitetest.Prefix, MetadataXML: xml})
			if strings.Contains(identifier, "10.") {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.NotErrorIs(t, err, datacite.ErrNotFound)
			require.ErrorContains(t, err, "Draft.MetadataXML: names no DOI")
			assert.Len(t, srv.Requests(), sent, "something was sent")
		}
	})
}

// Metadata that name another DOI are nearly always a mistake, such as a loop that is one off.
func TestMetadataOfAnotherDOIAreRefused(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		theirs := complete("Theirs")
		theirs.DOI = "10.5072/somebody-else"
		xml := []byte(strings.Replace(xmlRecord, "10.5072/xml", " https://doi.org/10.5072/Somebody-Else ", 1))
		for path, draft := range map[string]dois.Draft{"Draft.Record.DOI": {Record: theirs},
			"Draft.MetadataXML": {MetadataXML: xml}} {
			sent, create := len(srv.Requests()), draft
			create.DOI = "10.5072/new"
			_, errUpdate := client.Update(ctx, "10.5072/mine", &draft)
			_, errCreate := client.Create(ctx, &create)
			for _, err := range []error{errUpdate, errCreate} {
				field, ok := errors.AsType[*datacite.ValidationError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, path, field.Findings[0].Path)
			}
			assert.Len(t, srv.Requests(), sent, "something was sent")

			draft.AllowOtherDOI = true
			r := must(client.Update(ctx, "10.5072/mine", &draft))(t)
			assert.Equal(t, "10.5072/mine", r.DOI)
			assert.Empty(t, srv.State("10.5072/somebody-else"))
		}
		_, err := client.Update(ctx, "10.5072/mine", &dois.Draft{DOI: "10.5072/other", AllowOtherDOI: true})
		require.ErrorIs(t, err, datacite.ErrInvalid, "the draft's own name is no metadata")
	})
}

// A record that the service would refuse, or of which JSON would replace characters, costs no
// request; what a draft lacks can come later.
func TestRecordsAreValidatedBeforeSending(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		wrong := complete("Ice cores")
		wrong.Creators, wrong.PublicationYear, wrong.Types.ResourceTypeGeneral = nil, "MMXX", "Datset"
		garbled := metadata.Record{Titles: []metadata.Title{{Title: "Ice \xe4"}}}
		for _, event := range []dois.Event{dois.EventPublish, dois.EventRegister} {
			_, err := client.Create(ctx, &dois.Draft{DOI: "10.5072/a", URL: "https://example.org/a", Event: event,
				Record: wrong})
			invalid, ok := errors.AsType[*datacite.ValidationError](err)
			require.True(t, ok, "%v", err)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.Len(t, invalid.Findings, 3)
			_, err = client.Update(ctx, "10.5072/a", &dois.Draft{Event: event, Record: metadata.Record{PublicationYear: "MMXX"}})
			require.ErrorContains(t, err, "publicationYear")
			assert.NotContains(t, err.Error(), "titles", "which may be stored")
		}
		require.ErrorContains(t, failure(client.Create(ctx, &dois.Draft{DOI: "10.5072/a", Record: garbled})),
			"Draft.titles[0].title")
		assert.Empty(t, srv.Requests(), "something was sent")

		_, err := client.Create(ctx, &dois.Draft{DOI: "10.5072/a",
			Record: metadata.Record{Titles: []metadata.Title{{Title: "So far"}}}})
		require.NoError(t, err, "a draft may lack anything")
		whole := complete("Ice cores")
		creators := whole.Creators
		whole.Creators = nil
		_, err = client.Create(ctx, &dois.Draft{
			DOI: "10.5072/b", URL: "https://example.org/b", Event: dois.EventPublish, Record: whole,
			Extra: map[string]any{"creators": creators},
		})
		require.NoError(t, err, "what comes in Extra is not missing")
	})
}

// The reason of a removal is that of the last one, and is gone when the DOI is findable again.
func TestReasonFollowsTheState(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		const name = "10.5072/ice"
		must(client.Create(ctx, &dois.Draft{DOI: name, URL: "https://example.org/ice", Event: dois.EventPublish,
			Record: complete("Ice cores")}))(t)
		change := func(event dois.Event, reason string) {
			t.Helper()
			returned := must(client.ChangeState(ctx, name, event, &dois.EventOptions{Reason: reason}))(t)
			stored := must(client.Get(ctx, name, nil))(t)
			assert.Equal(t, stored.State, returned.State)
			assert.Equal(t, stored.Reason, returned.Reason)
		}
		reason := func() string {
			t.Helper()
			r := must(client.Get(ctx, name, nil))(t)
			return r.Reason
		}
		change(dois.EventHide, "")
		change(dois.EventHide, "out of date")
		assert.Equal(t, "out of date", reason(), "of a DOI that is hidden already")
		change(dois.EventHide, "")
		assert.Equal(t, "out of date", reason(), "no reason is given")
		sent := len(srv.Requests())
		change(dois.EventHide, "out of date")
		assert.Len(t, srv.Requests(), sent+2, "only read")
		change(dois.EventHide, "wrong")
		assert.Equal(t, "wrong", reason())
		change(dois.EventPublish, "")
		assert.Empty(t, reason(), "the DOI is shown")

		change(dois.EventHide, "out of date")
		shown := must(client.Update(ctx, name, &dois.Draft{Event: dois.EventPublish}))(t)
		assert.Empty(t, shown.Reason, "the DOI is shown by an update")
		shown = must(client.Update(ctx, name, &dois.Draft{Event: dois.EventPublish, Clear: []string{"reason"}}))(t)
		assert.Empty(t, shown.Reason, "as it is said, too")
		shown = must(client.Update(ctx, name, &dois.Draft{Event: dois.EventPublish, Extra: map[string]any{"reason": "kept"}}))(t)
		assert.Equal(t, "kept", shown.Reason, "unless another is given")

		_, err := client.Update(ctx, name, &dois.Draft{Reason: "left behind"}) // by another program
		require.NoError(t, err)
		change(dois.EventPublish, "")
		assert.Empty(t, reason(), "a DOI that is findable already")
		must(client.Update(ctx, name, &dois.Draft{Reason: "left behind"}))(t)
		change(dois.EventHide, "")
		assert.Empty(t, reason(), "it is not the reason of this removal")
	})
}

// A response of 200 is no success where the service has not done what it was told.
func TestTheServiceDoesNothing(t *testing.T) {
	client := scripted(t, &datacite.Config{Username: "EXAMPLE", Password: "secret-of-tests"}, reply(200,
		`{"data":{"id":"10.5072/x","attributes":{"doi":"10.5072/x","state":"draft"},`+
			`"relationships":{"client":{"data":{"id":"example.repo","type":"clients"}}}}}`))
	_, err := client.ChangeState(t.Context(), "10.5072/x", dois.EventPublish, nil)
	require.ErrorIs(t, err, datacite.ErrNotAllowed)
	require.ErrorContains(t, err, "dois.ChangeState: ")
	_, err = client.Transfer(t.Context(), "10.5072/x", "EXAMPLE.NEW", nil)
	require.ErrorIs(t, err, datacite.ErrConflict)
	require.ErrorContains(t, err, `the service has left 10.5072/x with "example.repo"`)
	require.ErrorIs(t, client.Delete(t.Context(), "10.5072/x"), datacite.ErrUnreadable)
}

// Each attribute of a record can be removed from a draft, or is refused before anything is sent.
func TestEachAttributeCanBeRemoved(t *testing.T) {
	refused := []string{"doi", "schemaVersion"}
	everything := strings.Replace(fullRecord, `"doi":`,
		`"state":"draft","contributors":[{"name":"A","contributorType":"Editor"}],"language":"en","version":"2",
		"dates":[{"date":"2020","dateType":"Issued"}],"sizes":["1"],"formats":["text/csv"],"rightsList":[{"rights":"CC0"}],"reason":"gone",
		"geoLocations":[{"geoLocationPlace":"Alps"}],"fundingReferences":[{"funderName":"F"}],"contentUrl":["https://example.org/a.csv"],
		"container":{"title":"Series","type":"Series"},"relatedItems":[{"relatedItemType":"Book","relationType":"References","titles":[{"title":"B"}]}],"doi":`, 1)
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		names := []string{"url", "reason", "contentUrl", "container", "identifiers"}
		for field := range reflect.TypeFor[metadata.Record]().Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
				names = append(names, name)
			}
		}
		for _, name := range names {
			seed(t, srv, everything)
			if !slices.Contains([]string{"doi", "identifiers", "schemaVersion"}, name) {
				before := must(client.Get(ctx, "10.5072/full", nil))(t)
				var value any
				must(before.Decode(name, &value))(t)
				require.NotEmpty(t, value, name)
			}
			sent := len(srv.Requests())
			_, err := client.Update(ctx, "10.5072/full", &dois.Draft{Clear: []string{name}})
			if slices.Contains(refused, name) {
				require.ErrorIs(t, err, datacite.ErrInvalid)
				require.ErrorContains(t, err, "Draft.Clear")
				require.Len(t, srv.Requests(), sent)
				continue
			}
			require.NoError(t, err, name)
			after := must(client.Get(ctx, "10.5072/full", nil))(t)
			var value any
			must(after.Decode(name, &value))(t)
			if types, ok := value.(map[string]any); ok && name == "types" { // the service adds what follows from nothing
				value = types["resourceTypeGeneral"]
			}
			assert.Empty(t, value, name)
		}
	})
}

func TestWriteRefusedByTheService(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		must(client.Create(ctx, &dois.Draft{DOI: "10.5072/taken"}))(t)

		_, err := client.Create(ctx, &dois.Draft{DOI: "10.5072/taken"})
		require.ErrorIs(t, err, datacite.ErrConflict)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		require.ErrorIs(t, failure(client.Create(ctx, &dois.Draft{DOI: "10.1234/other"})), datacite.ErrForbidden,
			"a prefix of another account")
		require.ErrorContains(t, err, "dois.Create: ")
		_, err = client.Update(ctx, "10.5072/taken", &dois.Draft{Event: dois.EventPublish})
		require.ErrorIs(t, err, datacite.ErrInvalid)
		require.ErrorContains(t, err, "dois.Update: ")
		require.NoError(t, client.Delete(ctx, "10.5072/taken"))
		errAgain := client.Delete(ctx, "10.5072/taken")
		require.ErrorIs(t, errAgain, datacite.ErrNotFound)
		require.ErrorContains(t, errAgain, "dois.Delete: DELETE ")
		named := slices.ContainsFunc(datacite.Findings(err), func(f datacite.Finding) bool {
			return f.Path == "url" && f.Reason != ""
		})
		assert.True(t, named, "the fault has a place: %v", err)

		before := len(srv.Requests())
		require.ErrorIs(t, failure(anonymous(t, srv).Create(ctx, &dois.Draft{DOI: "10.5072/x"})), datacite.ErrUnauthorized)
		require.ErrorIs(t, anonymous(t, srv).Delete(ctx, "10.5072/taken"), datacite.ErrUnauthorized)
		assert.Len(t, srv.Requests(), before, "nothing was sent")

		guessing := must(dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL},
			Username: datacitetest.Username, Password: "guess", HTTPClient: srv.HTTPClient()}))(t)
		_, err = guessing.Create(ctx, &dois.Draft{DOI: "10.5072/x"})
		require.ErrorIs(t, err, datacite.ErrUnauthorized)
		assert.Regexp(t, `the login is not accepted|Bad credentials`, err.Error())
	})
}

// A 404 means a login that is not accepted only where the service says so of a write of its own.
func TestNotFoundOfOthersIsNoWrongLogin(t *testing.T) {
	const own = `{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`
	for body, is := range map[string]bool{own: true, `<html><title>404 Not Found</title>`: false,
		`{"message":"no route"}`: false, "": false} {
		client := scripted(t, &datacite.Config{Token: "a.b.c"}, reply(404, body))
		_, err := client.Create(t.Context(), &dois.Draft{DOI: "10.5072/x"})
		assert.Equal(t, is, errors.Is(err, datacite.ErrUnauthorized), "%v", err)
	}
	authorization := ""
	client := scripted(t, &datacite.Config{Token: "a.b.c"}, func(w http.ResponseWriter, r *http.Request) {
		authorization = r.Header.Get("Authorization")
		reply(404, own)(w, r)
	})
	_, err := client.Do(t.Context(), &datacite.Request{Method: "POST", Path: "/other"})
	assert.NotErrorIs(t, err, datacite.ErrUnauthorized)
	assert.ErrorIs(t, err, datacite.ErrNotFound)
	assert.Equal(t, "Bearer a.b.c", authorization)
}

func TestWriteRefusedBeforeSending(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		client := srv.DOIs()
		for name, tt := range map[string]struct {
			draft *dois.Draft
			path  string
			code  datacite.Code
		}{
			"no draft":               {nil, "Draft", "missing"},
			"neither DOI nor prefix": {&dois.Draft{}, "Draft", "missing"},
			"DOI and prefix":         {&dois.Draft{DOI: "10.5072/a", Prefix: "10.5072"}, "Draft", "conflict"},
			"DOI as the prefix":      {&dois.Draft{Prefix: "10.5072/x"}, "Draft.Prefix", "doi"},
			"broken XML": {&dois.Draft{DOI: "10.5072/a", MetadataXML: []byte("<resource>R&D</resource>")},
				"Draft.MetadataXML", "syntax"},
			"what only XML carries": {&dois.Draft{DOI: "10.5072/a", Record: metadata.Record{Language: "fr "}},
				"Draft.language", "json"},
			"no DOI":                 {&dois.Draft{DOI: "null"}, "Draft.DOI", "doi"},
			"DOI that no path holds": {&dois.Draft{DOI: "10.5072/a/../b"}, "Draft.DOI", "doi"},
			"no DOI in the metadata": {&dois.Draft{DOI: "10.5072/a", Record: metadata.Record{DOI: "null"}},
				"Draft.Record.DOI", "doi"},
			"character not for new": {&dois.Draft{DOI: "10.5072/a#b"}, "Draft.DOI", "doi"},
			"no event":              {&dois.Draft{DOI: "10.5072/a", Event: "Publish"}, "Draft.Event", "vocabulary"},
			"URL in Latin-1":        {&dois.Draft{DOI: "10.5072/a", URL: "https://example.org/\xe4"}, "Draft.URL", "encoding"},
			"reason in Latin-1":     {&dois.Draft{DOI: "10.5072/a", Reason: "L\xf6schung"}, "Draft.Reason", "encoding"},
			"unknown relation": {&dois.Draft{DOI: "10.5072/a", Response: &dois.GetOptions{Include: []string{"views"}}},
				"Draft.Response.Include", "vocabulary"},
			"DOI in the metadata too": {&dois.Draft{Prefix: "10.5072", Record: metadata.Record{DOI: "10.5072/b"}},
				"Draft.Record.DOI", "conflict"},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := client.Create(t.Context(), tt.draft)
				require.ErrorIs(t, err, datacite.ErrInvalid)
				field, ok := errors.AsType[*datacite.ValidationError](err)
				require.True(t, ok)
				assert.Equal(t, tt.path, field.Findings[0].Path)
				assert.Equal(t, tt.code, field.Findings[0].Code)
			})
		}
		t.Run("update of another DOI", func(t *testing.T) {
			require.ErrorIs(t, failure(client.Update(t.Context(), "10.5072/a", &dois.Draft{DOI: "10.5072/b"})),
				datacite.ErrInvalid)
			require.ErrorIs(t, failure(client.Update(t.Context(), "10.5072/a",
				&dois.Draft{Record: metadata.Record{DOI: "10.5072/b"}})), datacite.ErrInvalid)
			require.ErrorIs(t, failure(client.Update(t.Context(), "10.5072/a",
				&dois.Draft{MetadataXML: []byte("<resource>R&D</resource>")})), datacite.ErrInvalid)
			require.ErrorIs(t, failure(client.Update(t.Context(), "10.5072/a", nil)), datacite.ErrInvalid)
			err := failure(client.Update(t.Context(), "10.5072/a", &dois.Draft{Prefix: "10.5072"}))
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.Equal(t, "Draft.Prefix", datacite.Findings(err)[0].Path)
		})
		assert.Empty(t, srv.Requests(), "nothing was sent")
	})
}

// A gateway responds to writes in the place of the service, before or after the work. What may be
// done twice is sent again, and Create is sent once.
func TestWritesAtABusyGateway(t *testing.T) {
	create := func(draft dois.Draft) func(*testing.T, *dois.Client) error {
		return func(t *testing.T, c *dois.Client) error {
			made, err := c.Create(t.Context(), &draft)
			assert.Nil(t, made)
			return err
		}
	}
	for _, tt := range []struct {
		name  string
		write func(*testing.T, *dois.Client) error
		once  bool
		want  datacite.State // of the DOI that is there, after a write that is sent again; "" means none
	}{
		{"Create with a name of ours", create(dois.Draft{DOI: "10.5072/new"}), true, ""},
		{"Create with a name that the service chooses", create(dois.Draft{Prefix: datacitetest.Prefix}), true, ""},
		{"Update", func(t *testing.T, c *dois.Client) error {
			_, err := c.Update(t.Context(), "10.5072/a", &dois.Draft{Record: complete("New")})
			return err
		}, false, datacite.StateDraft},
		{"Publish", func(t *testing.T, c *dois.Client) error {
			_, err := c.ChangeState(t.Context(), "10.5072/a", dois.EventPublish, nil)
			return err
		}, false, datacite.StateFindable},
		{"Delete", func(t *testing.T, c *dois.Client) error { return c.Delete(t.Context(), "10.5072/a") }, false, ""},
	} {
		for status, is := range map[int]error{429: datacite.ErrRateLimited, 503: datacite.ErrServer} {
			t.Run(fmt.Sprint(tt.name, status), func(t *testing.T) {
				onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
					meet := func(kind datacitetest.FaultKind, times int) (sent int, err error) {
						fault := &datacitetest.Fault{Kind: kind, Status: status, RetryAfter: 7 * time.Second}
						srv.SetFaults(datacitetest.First(slices.Repeat([]*datacitetest.Fault{fault}, times)...).When(datacitetest.Writes))
						before := writes(srv)
						err = tt.write(t, srv.DOIs())
						return writes(srv) - before, err
					}
					unclear := func(err error) {
						require.ErrorIs(t, err, datacite.ErrUnclear)
						require.ErrorIs(t, err, is)
					}
					must(srv.DOIs().Create(t.Context(),
						&dois.Draft{DOI: "10.5072/a", URL: "https://example.org/a", Record: complete("Old")}))(t)
					sent, err := meet(datacitetest.FaultStatus, 1000)
					unclear(err)
					assert.Equal(t, tt.once, sent == 1)
					assert.Equal(t, []string{"10.5072/a"}, srv.Names())
					sent, err = meet(datacitetest.FaultStatusAfter, 1)
					if tt.once {
						unclear(err)
						assert.Equal(t, 1, sent)
						assert.Len(t, srv.Names(), 2)
						return
					}
					require.NoError(t, err, "sent again")
					assert.Equal(t, string(tt.want), srv.State("10.5072/a"))
				})
			})
		}
	}
}

// An API key works in each place that it may stand in, until it is revoked.
func TestAPIKeys(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, NoPort: true})
		defer srv.Close()
		key := srv.IssueKey()
		for where, opts := range map[string]datacite.Config{
			"password": {Username: datacitetest.Username, Password: key}, "token": {Token: key},
			"source": {TokenSource: func(context.Context) (string, error) { return key, nil }},
		} {
			opts.Service, opts.HTTPClient, opts.MaxAttempts = srv.Config().Service, srv.HTTPClient(), 1
			client, err := dois.NewClient(opts)
			require.NoError(t, err, where)
			made, err := client.Create(t.Context(), &dois.Draft{Prefix: datacitetest.Prefix})
			require.NoError(t, err, where)
			require.NoError(t, failure(client.Get(t.Context(), made.DOI, nil)), where)
			require.NoError(t, client.Delete(t.Context(), made.DOI), where)
		}
		srv.RevokeKey(key)
		client := must(dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: key,
			HTTPClient: srv.HTTPClient()}))(t)
		_, err := client.Create(t.Context(), &dois.Draft{Prefix: datacitetest.Prefix})
		require.ErrorIs(t, err, datacite.ErrUnauthorized)
		assert.NotContains(t, err.Error(), key)
	}
	assert.ErrorContains(t, failure(dois.NewClient(datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO",
		Token: "a.b.c"})), "Config.Password", "a token is no password")
	assert.ErrorContains(t, failure(dois.NewClient(datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO"})),
		"Config.Password: is empty")
	_, err := dois.NewClient(datacite.Config{Service: datacite.Test, Username: "DC.Zx81kQw7Lm20PtRv55YhNc64BdGsAe93"})
	assert.ErrorContains(t, err, "Config.Username: is an API key")
}

// writes counts the requests that write.
func writes(srv *datacitetest.Server) (n int) {
	for _, r := range srv.Requests() {
		if r.Method != "GET" {
			n++
		}
	}
	return n
}

var largest = flag.Int("identifiers", 1600,
	"related identifiers of a large record; 16000 are more than the gateway takes uncompressed")

// large is a record with many related identifiers of some length.
func large(length int) metadata.Record {
	r := *datacitetest.RandomRecord(3)
	r.RelatedIdentifiers = nil
	for i := range *largest {
		r.RelatedIdentifiers = append(r.RelatedIdentifiers, metadata.RelatedIdentifier{
			RelatedIdentifier:     fmt.Sprintf("https://example.org/%d/%s", i, strings.Repeat("g", length)),
			RelatedIdentifierType: metadata.IdentifierURL, RelationType: metadata.RelationHasPart,
		})
	}
	return r
}

// A large record is sent compressed, again after a lost response, and is stored whole.
func TestLargeRecords(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		lost := false
		srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
			if r.Method != http.MethodPut || lost {
				return nil
			}
			lost = true
			return &datacitetest.Fault{Kind: datacitetest.FaultDropAfter}
		})
		r := large(575) // 11 MB of JSON with 16,000: the gateway takes 10
		must(srv.DOIs().Create(t.Context(),
			&dois.Draft{DOI: "10.5072/large", URL: "https://example.org/", Event: dois.EventPublish, Record: r}))(t)
		r = large(510) // 10 MB of XML, which are 14 in JSON, with 16,000
		r.Titles[0].Title = "Large"
		document := must(r.XML())(t)
		must(srv.DOIs().Update(t.Context(), "10.5072/large", &dois.Draft{MetadataXML: document}))(t)
		stored := must(srv.Record("10.5072/large"))(t)
		assert.Equal(t, "Large", stored.Titles[0].Title)
		assert.Len(t, stored.RelatedIdentifiers, *largest)
		assert.Equal(t, r.RelatedIdentifiers[*largest-1].RelatedIdentifier,
			stored.RelatedIdentifiers[*largest-1].RelatedIdentifier)
		var sent []string
		for _, q := range srv.Requests() {
			if q.Method != http.MethodGet {
				assert.Less(t, q.Bytes, int64(2<<20))
				sent = append(sent, q.Method+" "+q.Header.Get("Content-Encoding"))
			}
		}
		assert.Equal(t, []string{"POST gzip", "PUT gzip", "PUT gzip"}, sent)
	})
}
