package mdstest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/mds/mdstest"
)

const address = "https://repo.example.org/glacier/7"

var record = mds.XML([]byte(`<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI"/>` +
	`<creators><creator><creatorName>Lovelace, Ada</creatorName></creator></creators><titles><title>Glacier length</title></titles>` +
	`<publisher>R</publisher><publicationYear>2026</publicationYear><resourceType resourceTypeGeneral="Dataset"/></resource>`))

// A program under test takes a client, or a base URL; either reaches the server.
func Example() {
	srv := mdstest.NewServer(nil)
	defer srv.Close()

	if _, err := srv.Client().Register(context.Background(), "10.5072/glacier-7", address, record); err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.State("10.5072/glacier-7"))
	_, resolves := srv.Resolve("10.5072/glacier-7")
	fmt.Println(resolves)
	srv.Advance(3 * time.Minute)
	fmt.Println(srv.Resolve("10.5072/glacier-7"))
	// Output:
	// findable
	// false
	// https://repo.example.org/glacier/7 true
}

// A DOI of another account cannot be made by registering it.
func ExampleServer_PutJSON() {
	srv := mdstest.NewServer(nil)
	defer srv.Close()

	if err := srv.PutJSON([]byte(`{"doi": "10.5072/theirs", "client": "other.repo", "url": "https://other.example.org/"}`)); err != nil {
		log.Fatal(err)
	}
	err := srv.Client().Hide(context.Background(), "10.5072/theirs")
	fmt.Println(errors.Is(err, mds.ErrForbidden))
	// Output: true
}

func TestServerOnAPortAndWithout(t *testing.T) {
	for _, noPort := range []bool{false, true} {
		srv := mdstest.NewServer(&mdstest.Options{NoPort: noPort})
		defer srv.Close()
		own, err := mds.NewClient(srv.URL, mds.Credentials{Username: mdstest.Username, Password: mdstest.Password}, &mds.ClientOptions{HTTPClient: srv.HTTPClient()})
		require.NoError(t, err)
		for _, c := range []*mds.Client{srv.Client(), own} {
			_, err := c.Register(t.Context(), "10.5072/a", address, record)
			require.NoError(t, err)
		}
	}
}

func TestRequestsShowNoCredentials(t *testing.T) {
	srv := mdstest.NewServer(&mdstest.Options{NoPort: true})
	_, err := srv.Client().PutMetadata(t.Context(), "10.5072/a", record)
	require.NoError(t, err)
	asked := srv.Requests()
	require.Len(t, asked, 1)
	assert.Equal(t, "PUT", asked[0].Method)
	assert.Equal(t, "/metadata/10.5072/a", asked[0].Path)
	assert.Equal(t, 201, asked[0].Status)
	assert.EqualValues(t, len(record.Data), asked[0].Bytes)
	assert.Empty(t, asked[0].Header.Get("Authorization"))
}

func TestDomains(t *testing.T) {
	srv := mdstest.NewServer(&mdstest.Options{NoPort: true, Domains: []string{"*.example.org"}})
	_, err := srv.Client().Register(t.Context(), "10.5072/a", "https://elsewhere.example.net/", record)
	require.ErrorIs(t, err, mds.ErrBadRequest)
	_, err = srv.Client().Register(t.Context(), "10.5072/a", address, record)
	require.NoError(t, err)
}

func TestTheServersClockInsideSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := mdstest.NewServer(&mdstest.Options{NoPort: true, ResolveDelay: time.Hour})
		_, err := srv.Client().Register(t.Context(), "10.5072/a", address, record)
		require.NoError(t, err)
		require.NoError(t, mds.WaitResolved(t.Context(), srv.Resolver(), "10.5072/a", address, &mds.WaitOptions{Patience: 2 * time.Hour}))
		require.ErrorIs(t, mds.WaitResolved(t.Context(), srv.Resolver(), "10.5072/b", "", nil), mds.ErrNotResolved)
	})
}

func TestNoSuchBehaviour(t *testing.T) {
	assert.PanicsWithValue(t, `mdstest: no behaviour "imagined"`, func() { mdstest.NewServer(&mdstest.Options{Behaviour: "imagined"}) })
}
