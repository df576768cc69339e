package testkit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

var nearNames = flag.Int("names", 1000, "generated DOI names that the methods for one DOI are tried with")

// A shower returns the name of the DOI that it was shown something of; existing is the only one there is.
type shower func(ctx context.Context, srv *datacitetest.Server, name, existing string) (shown string, err error)

func shows(call func(context.Context, *mds.Client, string) (bool, error)) shower {
	return func(ctx context.Context, srv *datacitetest.Server, name, existing string) (string, error) {
		cfg := srv.Config()
		cfg.MaxAttempts, cfg.MaxWait, cfg.HTTPClient = 1, time.Nanosecond, srv.HTTPClient()
		c, err := mds.NewClient(cfg)
		if err != nil {
			return "", err
		}
		found, err := call(ctx, c, name)
		return map[bool]string{true: existing}[found], err
	}
}

func ofRecord(call func(context.Context, *dois.Client, string) (*dois.Record, error)) shower {
	return func(ctx context.Context, srv *datacitetest.Server, name, _ string) (string, error) {
		r, err := call(ctx, srv.DOIs(), name)
		if r == nil {
			return "", err
		}
		return r.DOI, err
	}
}

var (
	newDocument = mds.XML([]byte(record))
	// showers are the methods for one DOI.
	showers = map[string]shower{
		"mds.URL": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			url, err := c.URL(ctx, name)
			return url != "", err
		}),
		"mds.Metadata": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			doc, err := c.Metadata(ctx, name)
			return doc != nil, err
		}),
		"mds.State": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			state, err := c.State(ctx, name)
			return state != mds.StateNone, err
		}),
		"mds.PutURL": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			return false, only(c.PutURL(ctx, name, address))
		}),
		"mds.PutMetadata": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			return false, only(c.PutMetadata(ctx, name, newDocument))
		}),
		"mds.Register": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			return false, only(c.Register(ctx, name, address, newDocument, &mds.RegisterOptions{NoReadBack: true}))
		}),
		"mds.Hide": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			return false, c.Hide(ctx, name)
		}),
		"mds.Show": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			return false, c.Show(ctx, name)
		}),
		"mds.DeleteDraft": shows(func(ctx context.Context, c *mds.Client, name string) (bool, error) {
			return false, c.DeleteDraft(ctx, name)
		}),
		"dois.Update": ofRecord(func(ctx context.Context, c *dois.Client, name string) (*dois.Record, error) {
			return c.Update(ctx, name, &dois.Draft{URL: address})
		}),
		"dois.ChangeState, hide": ofRecord(func(ctx context.Context, c *dois.Client, name string) (*dois.Record, error) {
			return c.ChangeState(ctx, name, dois.EventHide, nil)
		}),
		"dois.ChangeState, publish": ofRecord(func(ctx context.Context, c *dois.Client, name string) (*dois.Record, error) {
			return c.ChangeState(ctx, name, dois.EventPublish, nil)
		}),
		"dois.Transfer": ofRecord(func(ctx context.Context, c *dois.Client, name string) (*dois.Record, error) {
			return c.Transfer(ctx, name, datacitetest.Username, nil)
		}),
		"dois.Get": ofRecord(func(ctx context.Context, c *dois.Client, name string) (*dois.Record, error) {
			return c.Get(ctx, name, nil)
		}),
		"dois.Create": ofRecord(func(ctx context.Context, c *dois.Client, name string) (*dois.Record, error) {
			return c.Create(ctx, &dois.Draft{DOI: name})
		}),
		"dois.Delete": ofRecord(func(ctx context.Context, c *dois.Client, name string) (*dois.Record, error) {
			return nil, c.Delete(ctx, name)
		}),
		"dois.Exists": func(ctx context.Context, srv *datacitetest.Server, name, existing string) (string, error) {
			found, err := srv.DOIs().Exists(ctx, name)
			return map[bool]string{true: existing}[found], err
		},
	}
)

// TestNoWriteReachesAnotherDOI gives every method for one DOI a name that is nearly that of an
// existing one, and looks at what the service has afterwards: the DOI that was named may have been
// made or changed, the existing one and all others may not, and nothing that is known of another is
// shown. Half of the names go to a service of each behaviour.
func TestNoWriteReachesAnotherDOI(t *testing.T) {
	existing := []string{"10.5072/a", "10.5072/a/b", "10.5072/abc-1.x", "10.5072/9f3k-2w17", "10.5072/a_(b);c"}
	methods := slices.Sorted(maps.Keys(showers))
	sent := 0
	for i := range uint64(*nearNames) {
		r := rand.New(rand.NewPCG(i, 11))
		behaviour := []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed}[i%2]
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviour})
		victim := existing[r.IntN(len(existing))]
		must(srv.MDS().PutMetadata(t.Context(), victim, newDocument))(t)
		if r.IntN(2) == 0 {
			must(srv.MDS().PutURL(t.Context(), victim, "https://example.org/precious"))(t)
		}
		before := must(srv.Record(victim))(t)
		given, method, since := nearly(r, victim), methods[r.IntN(len(methods))], len(srv.Requests())
		named, bad := doi.Parse(given)
		isSame := func(other string) bool { return bad == nil && doi.Same(other, named) }
		shown, err := showers[method](t.Context(), srv, given, victim)
		what := fmt.Sprintf("%d: %s of %q beside %q: %v", i, method, given, victim, err)
		if _, refused := errors.AsType[*datacite.ValidationError](err); !refused {
			sent++
			require.NoError(t, bad, what)
		} else {
			for _, request := range srv.Requests()[since:] {
				require.Equal(t, "GET", request.Method, what)
			}
		}
		require.True(t, shown == "" || isSame(shown), "%s: %q was shown", what, shown)
		if !isSame(victim) {
			for _, there := range srv.Names() {
				require.True(t, there == victim || isSame(there), "%s: %q was made", what, there)
			}
			after, err := srv.Record(victim)
			require.NoError(t, err, what)
			require.Equal(t, before, after, what)
		}
		srv.Close()
	}
	t.Logf("%d names: %d sent", *nearNames, sent)
	assert.Greater(t, sent, *nearNames/10, "most of what can be sent is")
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

var prefixes = []string{"10.507224", "10.5072.1", "10.507", "10.05072", "doi:10.5072", "https://doi.org/10.5072",
	"https://doi.org/10.5072/x/../..", "10.5072/x/../..", "10.5072%2F"}

var pieces = []string{
	"/", "//", "/.", "/..", "/../a", "/./", "/x/..", "%2F", "%2f..%2f", "%2E%2E", "%", "%25", "%41", "%zz", "%00", "#",
	"#x", "?", "?x=1", "&", "+", " ",
	"/media", "/media/1", "/media/1/2", "/Media", "/get-url", "/metadata", "/metadata/x", "/events/1", "/activities", "media/", ".xml", ".json", "\u200b", "\ufeff",
	"\ufb01", "\u0301", "e\u0301", "é", "İ", "ß", "²", "\u00a0", "\u3000", "<1::2>", "\\", "\"", "'", "|", "^", "{x}", "[1]", ";v=1", ":80", "@x", "~", "$", "*", "!", ",", "=",
}
