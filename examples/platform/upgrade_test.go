package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// earlier returns the folder of a platform of an earlier version: the databases whose
// contents are in testdata, and the one file of all its datasets.
func earlier(t *testing.T, version string) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "files"), 0o700))
	for _, name := range []string{"platform", "accounts"} {
		dump, err := os.ReadFile(filepath.Join("testdata", name+"-"+version+".sql"))
		require.NoError(t, err)
		db, err := sql.Open("sqlite", filepath.Join(folder, name+".db"))
		require.NoError(t, err)
		_, err = db.Exec(string(dump))
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	const contents = "month,length\n"
	sum := sha256.Sum256([]byte(contents))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "files", hex.EncodeToString(sum[:])), []byte(contents), 0o600))
	return folder
}

// A folder of an earlier version opens with all that is in it, and a platform that works.
func TestFoldersOfEarlierVersions(t *testing.T) {
	dumps, err := filepath.Glob(filepath.Join("testdata", "platform-*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, dumps)
	for _, dump := range dumps {
		version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(dump), "platform-"), ".sql")
		t.Run(version, func(t *testing.T) {
			folder := earlier(t, version)
			s, err := store.Open(folder)
			require.NoError(t, err)
			complete(t, s)
			require.NoError(t, s.Close())
			assert.FileExists(t, filepath.Join(folder, "platform.db.version-"+version))

			srv := datacitetest.NewServer(nil) // which has none of its DOIs
			defer srv.Close()
			require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/foreign"}`)))
			reader := open(t, srv, func(c *Config) { c.Folder = folder })
			require.NoError(t, reader.platform.accounts.Remove(t.Context(), "grace"), "there is such a login")
			c := reader.as("ada")
			c.background(c.platform.outbox.Check)
			at := func(number string) string { // an address that people have kept
				_, address, _ := c.do(http.MethodGet, number, "", nil)
				require.Regexp(t, "^/datasets/....-....$", address, number)
				return address
			}
			for _, number := range []string{"/datasets/1/2", "/datasets/2/1", "/datasets/3/1"} {
				_, v := c.settled(at(number))
				assert.NotEmpty(t, srv.State(v.DOI))
				r, err := srv.DOIs().Get(t.Context(), v.DOI, nil)
				require.NoError(t, err)
				assert.Equal(t, c.platform.outbox.By.Public+at(number), r.URL, "the DOI leads to the new address")
			}
			assert.Equal(t, at("/datasets/1/2"), at("/datasets/1"))
			for _, hidden := range []string{"/datasets/1/3", "/datasets/4", "/datasets/4/1"} {
				status, _ := reader.get(hidden)
				assert.Equal(t, http.StatusNotFound, status, "of a draft it is not even said that it exists: %s", hidden)
			}
			status, text := reader.get("/datasets/1/1/files/lengths.csv")
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, "month,length\n", text)
			_, text = reader.get("/?q=stones")
			assert.Contains(t, text, at("/datasets/3/1"))
			third := at("/datasets/1/3")
			status, text = c.decide(third+"/publish", nil)
			require.Equal(t, http.StatusOK, status, text)
			_, v := c.settled(third)
			assert.Equal(t, "findable", srv.State(v.DOI))
			c.settled(c.publish("New"))
		})
	}
}

// complete makes sure that a store has what the folders in testdata have.
func complete(t *testing.T, s *store.Store) {
	t.Helper()
	states := map[string]string{}
	for _, owner := range []string{"ada", "grace"} {
		list, err := s.Of(t.Context(), owner, everything)
		require.NoError(t, err)
		for _, d := range list.Datasets {
			for _, v := range d.Versions {
				states[fmt.Sprint(d.ID, "/", v.Number)] = owner + ": " + v.About.Title + ", " + v.Status()
				assert.Equal(t, []dataset.File{
					{Name: "lengths.csv", Size: 13,
						SHA256: "6baa13ed3d64eae69c65985ab1f4547fad05b116efc4ee647b0be4672983fac0"}}, v.Files)
				assert.Equal(t, "Monthly lengths of the Äletsch glacier.\n\nMeasured by hand.", v.About.Description)
				assert.Equal(t, []dataset.Creator{
					{Family: "Lovelace", Given: "Ada", ORCID: "0000-0001-5727-2427",
						Affiliations: []dataset.Affiliation{{Name: "DataCite", ROR: "04wxnsj81"}}},
					{Organisation: true, Family: "Glacier Institute", ROR: "04wxnsj81"},
				}, v.About.Creators)
				assert.Equal(t, []dataset.Funder{{Name: "Science Fund", ROR: "04wxnsj81", Award: "G-7", AwardTitle: "Ice"}},
					v.About.Funders)
			}
		}
	}
	assert.Equal(t, map[string]string{
		"1/1": "ada: Lengths of the Äletsch glacier, published", "1/2": "ada: Lengths of the Äletsch glacier, published",
		"1/3": "ada: Lengths of the Äletsch glacier, draft", "2/1": "ada: Temperatures of 2019, withdrawn",
		"3/1": "grace: Ages of stones, published", "4/1": "grace: Photographs of the tongue, draft",
	}, states)
	d, err := s.Dataset(t.Context(), 1)
	require.NoError(t, err)
	assert.Equal(t, "10.5072/qs4z-5d87", d.DOI)
	assert.True(t, d.Claimed && d.Pending)
	d, err = s.Dataset(t.Context(), 2)
	require.NoError(t, err)
	assert.Equal(t, "The thermometer was in the sun.", d.Versions[0].Reason)
	own, displayed, err := s.Usage(t.Context(), "10.5072/f4wy-5j17")
	require.NoError(t, err)
	assert.Equal(t, store.Used{Views: 3, Downloads: 1}, own)
	assert.Equal(t, store.Used{Views: 3, Downloads: 1}, displayed)
	accesses := 0
	for _, err := range s.Accesses(t.Context(), time.Unix(0, 0), time.Now().AddDate(1, 0, 0)) {
		require.NoError(t, err)
		accesses++
	}
	assert.Equal(t, 6, accesses)
	reports, err := s.Reports(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []store.Report{{Month: "2026-11", ID: "be70fedb-a54a-51ca-96d7-bc52b92b8ef9", Datasets: 4,
		Used: store.Used{Views: 6, Downloads: 1}}}, reports)
}
