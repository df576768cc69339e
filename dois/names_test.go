package dois_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/doi"
)

var names = flag.Int("names", 300, "generated DOI names that every write is tried with")

// TestNoRequestReachesAnotherDOI gives every method a name that is nearly that of
// an existing DOI. The service may change, make or show the DOI that was named, and
// no other.
func TestNoRequestReachesAnotherDOI(t *testing.T) {
	pieces := []string{
		"/", "//", "/.", "/..", "/../a", "/x/..", "%2F", "%2f..%2f", "%2E%2E", "%", "%25", "%41", "#x", "?", "?x=1", "+", " ", "/media", "/media/1", "/get-url",
		"/metadata/x", "/events/1", "/activities", ".xml", ".json", "\u200b", "\ufb01", "\u0301", "e\u0301", "é", "á", "Å", "<1>", "\\", "\"", "|", ";v=1", "@x", "~", "*",
	}
	victims := []string{"10.5072/a", "10.5072/a/b", "10.5072/abc-1.x"}
	refused, sent := 0, 0
	for i := range uint64(*names) {
		r := rand.New(rand.NewPCG(i, 19))
		victim := victims[r.IntN(len(victims))]
		given := []byte(victim)
		for range 1 + r.IntN(2) {
			at := len(given)
			if r.IntN(2) == 0 {
				at = len("10.5072/") + r.IntN(len(given)-len("10.5072/"))
			}
			given = slices.Insert(given, at, []byte(pieces[r.IntN(len(pieces))])...)
		}
		name := string(given)
		if sameDOI(victim, name) {
			continue // blanks around do not count
		}
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviours[i%2], NoPort: true})
		seed(t, srv, fmt.Sprintf(`{"doi":%q,"url":"https://example.org/precious","state":%q}`, victim, []string{"draft", "findable"}[r.IntN(2)]))
		shown, err := anyCall(t, r, srv.DOIs(), name)
		if _, ok := errors.AsType[*datacite.ValidationError](err); ok {
			refused++
		} else {
			sent++
		}
		if shown != "" {
			assert.True(t, sameDOI(shown, name), "%d: %q was shown for %q", i, shown, name)
		}
		all, err := srv.DOIs().List(t.Context(), nil)
		require.NoError(t, err)
		for _, record := range all.Records {
			if record.DOI == victim {
				assert.Equal(t, "https://example.org/precious", record.URL, "%d: changed by a write for %q", i, name)
			} else {
				assert.True(t, sameDOI(record.DOI, name), "%d: %q was made by a write for %q", i, record.DOI, name)
			}
		}
		_, err = srv.DOIs().Get(t.Context(), victim, nil)
		require.NoError(t, err, "%d: gone after %q", i, name)
		srv.Close()
	}
	t.Logf("%d names: %d sent, %d refused", *names, sent, refused)
	assert.Greater(t, sent, *names/10)
}

// sameDOI compares a name that the service shows with one that was given.
func sameDOI(shown, given string) bool {
	named, err := doi.Parse(given)
	return err == nil && doi.Equal(shown, named)
}

// anyCall is one of the methods that take a name. It returns the name of the record
// in the response.
func anyCall(t *testing.T, r *rand.Rand, c *dois.Client, name string) (string, error) {
	ctx := t.Context()
	var record *dois.Record
	var err error
	switch r.IntN(7) {
	case 0:
		record, err = c.Update(ctx, name, &dois.Draft{URL: "https://example.org/other"})
	case 1:
		err = c.Delete(ctx, name)
	case 2:
		record, err = c.ChangeState(ctx, name, dois.Hide, nil)
	case 3:
		record, err = c.ChangeState(ctx, name, dois.Publish, nil)
	case 4:
		record, err = c.Get(ctx, name, nil)
	case 5:
		record, err = c.Create(ctx, &dois.Draft{DOI: name})
	case 6:
		var found bool
		if found, err = c.Exists(ctx, name); found {
			return name, err
		}
	}
	if record == nil {
		return "", err
	}
	return record.DOI, err
}
