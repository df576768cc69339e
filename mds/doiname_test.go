package mds_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
)

var names = flag.Int("names", 500, "generated DOI names that every write is tried with")

// TestNoWriteReachesAnotherDOI gives every method a name that is nearly that of an
// existing DOI, and looks at what the service has afterwards: the DOI that was
// named may have changed, the existing one and all others may not. Half of the
// names go to a service of each behaviour.
func TestNoWriteReachesAnotherDOI(t *testing.T) {
	refused, sent, reached := map[string]int{}, 0, 0
	for i := range uint64(*names) {
		r := rand.New(rand.NewPCG(i, 11))
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviours()[i%2]})
		victim := victims[r.IntN(len(victims))]
		given := nearly(r, victim)
		existing := precious(t, srv, r, victim)
		c := as(t, srv, account, &datacite.Config{MaxAttempts: 1, MaxWait: time.Nanosecond})
		err := anyWrite(t, r, c, given)
		named, bad := doi.Parse(given)
		if fault, ok := errors.AsType[*datacite.ValidationError](err); ok {
			refused[reasonOf(fault.Findings[0].Reason)]++
			for _, p := range paths(srv, existing.requests) {
				assert.True(t, strings.HasPrefix(p, "GET "), "nothing was written: %s", p)
			}
		} else {
			sent++
			require.NoError(t, bad, "%q was sent", given)
		}
		if bad == nil && doi.Same(named, victim) {
			reached++
			srv.Close()
			continue
		}
		for _, made := range srv.Names() {
			if made != victim && (bad != nil || !doi.Same(made, named)) {
				t.Fatalf("%d: a write for %q made %q: %v", i, given, made, err)
			}
		}
		if got := look(t, srv, victim); got != existing.stored {
			t.Fatalf("%d: a write for %q changed %q from %v to %v: %v", i, given, victim, existing.stored, got, err)
		}
		srv.Close()
	}
	t.Logf("%d names: %d sent, of which %d are the existing DOI in other case, %d refused:", *names, sent, reached, *names-sent)
	for _, reason := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%8d %s", refused[reason], reason)
	}
	assert.Greater(t, sent, *names/10, "most of what can be sent is")
}

var victims = []string{"10.5072/a", "10.5072/a/b", "10.5072/abc-1.x", "10.5072/9f3k-2w17", "10.5072/a_(b);c"}

type preciousDOI struct {
	stored
	requests int
}

// precious makes a DOI that nothing may happen to: a draft or a public one, with
// files.
func precious(t *testing.T, srv *datacitetest.Server, r *rand.Rand, victim string) preciousDOI {
	t.Helper()
	c := srv.MDS()
	_, err := c.PutMetadata(t.Context(), victim, record("Precious"))
	require.NoError(t, err)
	if r.IntN(2) == 0 {
		_, err := c.PutURL(t.Context(), victim, "https://repo.example.org/precious")
		require.NoError(t, err)
	}
	p := preciousDOI{stored: look(t, srv, victim)}
	p.requests = len(srv.Requests())
	return p
}

// nearly writes a name that people, programs or attackers may give: pieces put in,
// taken out, doubled, encoded.
func nearly(r *rand.Rand, victim string) string {
	name := []byte(victim)
	for range 1 + r.IntN(3) {
		at := len("10.5072/") + r.IntN(max(len(name)-len("10.5072/"), 0)+1)
		if at > len(name) || r.IntN(20) == 0 {
			at = r.IntN(len(name) + 1)
		}
		switch r.IntN(8) {
		case 0, 1: // a piece at the end
			name = append(name, pieces[r.IntN(len(pieces))]...)
		case 2: // a piece somewhere
			name = slices.Insert(name, at, []byte(pieces[r.IntN(len(pieces))])...)
		case 3: // a character is encoded
			if at < len(name) {
				name = slices.Replace(name, at, at+1, fmt.Appendf(nil, "%%%02X", name[at])...)
			}
		case 4: // any character
			name = slices.Insert(name, at, byte(' '+r.IntN(95)))
		case 5: // a letter that looks or folds alike
			if at < len(name) && name[at]|0x20 == 'a' {
				name = slices.Replace(name, at, at+1, []byte([]string{"á", "Å", "ａ", "ª", "А"}[r.IntN(5)])...)
			}
		case 6: // other case
			name = []byte(strings.ToUpper(string(name)))
		case 7: // another prefix
			if r.IntN(3) == 0 {
				name = []byte(strings.Replace(string(name), "10.5072", prefixes[r.IntN(len(prefixes))], 1))
			}
		}
	}
	return string(name)
}

var prefixes = []string{"10.507224", "10.5072.1", "10.507", "10.05072", "doi:10.5072", "https://doi.org/10.5072", "https://doi.org/10.5072/x/../..", "10.5072/x/../..", "10.5072%2F"}

var pieces = []string{
	"/", "//", "/.", "/..", "/../a", "/./", "/x/..", "%2F", "%2f..%2f", "%2E%2E", "%", "%25", "%41", "%zz", "%00", "#", "#x", "?", "?x=1", "&", "+", " ",
	"/media", "/media/1", "/media/1/2", "/Media", "/get-url", "/metadata", "/metadata/x", "/events/1", "/activities", "media/", ".xml", ".json", "\u200b", "\ufeff",
	"\ufb01", "\u0301", "e\u0301", "é", "İ", "ß", "²", "\u00a0", "\u3000", "<1::2>", "\\", "\"", "'", "|", "^", "{x}", "[1]", ";v=1", ":80", "@x", "~", "$", "*", "!", ",", "=",
}

// anyWrite is one of the methods that change something.
func anyWrite(t *testing.T, r *rand.Rand, c *mds.Client, name string) error {
	ctx := t.Context()
	var err error
	switch r.IntN(7) {
	case 0:
		_, err = c.PutMetadata(ctx, name, record("Other"))
	case 1:
		_, err = c.PutURL(ctx, name, address)
	case 2:
		err = c.DeleteDraft(ctx, name)
	case 3:
		err = c.Hide(ctx, name)
	case 4:
		err = c.Show(ctx, name)
	case 5:
		_, err = c.Register(ctx, name, address, record("Other"))
	case 6:
		_, err = c.Ensure(ctx, name, address, record("Other"), &mds.EnsureOptions{NoReadBack: true})
	}
	return err
}

var characterIn = regexp.MustCompile(`has the character .*?(, which new|, which the|, after|; such)`)

// reasonOf takes the name, and what is special about it, out of a reason.
func reasonOf(reason string) string {
	if i := strings.LastIndex(reason, `" `); i >= 0 && strings.HasPrefix(reason, `"`) {
		reason = reason[i+2:]
	}
	reason = characterIn.ReplaceAllString(reason, "has a character$1")
	for _, end := range []string{": the request", "; the service", "; allowed"} {
		reason, _, _ = strings.Cut(reason, end)
	}
	return reason
}

// What is accepted arrives as itself: the DOI that a write makes has the name that
// was given.
func TestAcceptedNamesArriveAsThemselves(t *testing.T) {
	arrived := 0
	for i := range uint64(*names / 5) {
		r := rand.New(rand.NewPCG(i, 17))
		given := nearly(r, victims[r.IntN(len(victims))])
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviours()[i%2]})
		c := as(t, srv, account, &datacite.Config{MaxAttempts: 1, MaxWait: time.Nanosecond})
		if _, err := c.PutMetadata(t.Context(), given, record("A")); err == nil {
			arrived++
			made := srv.Names()
			require.Len(t, made, 1, "%d: %q", i, given)
			named, err := doi.Parse(given)
			require.NoError(t, err)
			assert.True(t, doi.Same(named, made[0]), "%d: %q became %q", i, given, made[0])
		} else {
			assert.Empty(t, srv.Names(), "%d: %q: %v", i, given, err)
		}
		srv.Close()
	}
	assert.Greater(t, arrived, *names/100)
}

// No read of one DOI shows what is known of another.
func TestNoReadShowsAnotherDOI(t *testing.T) {
	for i := range uint64(*names / 10) {
		r := rand.New(rand.NewPCG(i, 13))
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviours()[i%2]})
		victim := victims[r.IntN(len(victims))]
		given := nearly(r, victim)
		precious(t, srv, r, victim)
		named, bad := doi.Parse(given)
		if bad == nil && doi.Same(named, victim) {
			continue
		}
		c := as(t, srv, account, &datacite.Config{MaxAttempts: 1, MaxWait: time.Nanosecond})
		state, errState := c.State(t.Context(), given)
		url, errURL := c.URL(t.Context(), given)
		doc, errMetadata := c.Metadata(t.Context(), given)
		assert.Empty(t, state, "%d: %q", i, given)
		assert.Empty(t, url, "%d: %q", i, given)
		assert.Nil(t, doc, "%d: %q", i, given)
		if errState == nil {
			assert.ErrorIs(t, errURL, datacite.ErrNotFound)
			assert.ErrorIs(t, errMetadata, datacite.ErrNotFound)
		}
		srv.Close()
	}
}
