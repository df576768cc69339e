package dois_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/query"
)

// walked goes through all records and notes how often each came.
func walked(ctx context.Context, client *dois.Client, opts *dois.ListOptions) (times map[string]int, err error) {
	times = map[string]int{}
	for r, err := range client.All(ctx, opts) {
		if err != nil {
			return times, err
		}
		times[r.DOI]++
	}
	return times, nil
}

// onceEach checks that n records came, each once.
func onceEach(t *testing.T, times map[string]int, n int) {
	t.Helper()
	require.Len(t, times, n)
	for name, count := range times {
		if count != 1 {
			require.Failf(t, "not once", "%s came %d times", name, count)
		}
	}
}

// TestWalkIsComplete goes through archives around each limit there is.
func TestWalkIsComplete(t *testing.T) {
	for name, opts := range map[string]dois.ListOptions{
		"by cursor":                   {},
		"by cursor, large pages":      {Page: query.Page{Size: 1000}},
		"by cursor, in that order":    {Sort: query.ByCreated},
		"by number":                   {Sort: query.ByName},
		"by number, large pages":      {Sort: query.ByName, Page: query.Page{Size: 1000}},
		"by number, uneven pages":     {Sort: query.ByName, Page: query.Page{Size: 300}},
		"in no order, from number 1":  {Page: query.Page{Number: 1, Size: 100}},
		"by cursor, with its own one": {Page: query.Page{Cursor: "1", Size: 125}},
	} {
		sizes := []int{0, 10_001}
		if opts.Page.Size == 1000 {
			sizes = []int{0, 1, 25, 9_999, 10_000, 10_001}
		}
		for _, n := range sizes {
			for _, failing := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d records, failing %v", name, n, failing), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service := &archive{n: n}
						if failing {
							service.fail = often()
						}
						times, err := walked(t.Context(), service.client(t), &opts)
						byNumber := opts.Sort == query.ByName || opts.Page.Number > 0
						if byNumber && n > 10_000 {
							incomplete, ok := errors.AsType[*dois.IncompleteError](err)
							require.True(t, ok, "%v", err)
							assert.Equal(t, n, incomplete.Total)
							require.ErrorIs(t, err, datacite.ErrIncomplete)
							assert.ErrorContains(t, err, "leave Sort out", "it says what to do")
							require.Empty(t, times, "nothing is given before it is known that it cannot be all")
							return
						}
						require.NoError(t, err)
						onceEach(t, times, n)
					})
				})
			}
		}
	}
}

// TestWalkKeepsItsParameters looks at every request of a walk: the service's own
// link would have lost most of this.
func TestWalkKeepsItsParameters(t *testing.T) {
	service := &archive{n: 350}
	opts := &dois.ListOptions{
		Query: query.Term("record"), SchemaVersion: "4", Affiliation: true,
		States: []datacite.State{datacite.StateFindable}, Fields: []string{
			"doi"}, Extra: url.Values{"mailto": {"me@example.org"}, "has-views": {"2"}, "license": {"cc-by-4.0"}},
	}
	must(walked(t.Context(), service.client(t), opts))(t)
	require.Len(t, service.params, 4)
	for _, sent := range service.params {
		for name := range sent {
			if !strings.HasPrefix(name, "page[") {
				assert.Equal(t, service.params[0][name], sent[name], name)
			}
		}
		assert.Equal(t, "4", sent.Get("schema-version"))
		assert.Equal(t, "cc-by-4.0", sent.Get("license"))
		assert.Equal(t, "2", sent.Get("has-views"))
		assert.Equal(t, "findable", sent.Get("state"))
		assert.Equal(t, "doi", sent.Get("fields[dois]"))
		assert.Equal(t, "me@example.org", sent.Get("mailto"))
		assert.Equal(t, "true", sent.Get("affiliation"))
	}
	for sort, byNumber := range map[query.Sort]bool{query.ByCreated: false, query.ByName: true} {
		service := &archive{n: 150}
		must(walked(t.Context(), service.client(t), &dois.ListOptions{Sort: sort}))(t)
		require.Len(t, service.params, 2, "a cursor goes by creation without being told")
		assert.Equal(t, byNumber, service.params[1].Has("sort"))
		assert.Equal(t, !byNumber, service.params[1].Has("page[cursor]"))
	}
}

// A walk of a program that reads the records later keeps them as they were sent.
func TestWalkOverNames(t *testing.T) {
	client := scripted(t, nil, reply(200, `{"data":[{"id":"10.5072/a","attributes":{"doi":"10.5072/A","version":"1"}},`+
		`{"id":"10.5072/b","attributes":{"version":"2"}}],"meta":{"total":2}}`))
	var seen []string
	for r, err := range client.All(call.WithUnread(t.Context()), nil) {
		require.NoError(t, err)
		assert.Empty(t, r.Version)
		seen = append(seen, r.DOI+" "+string(r.Raw))
	}
	assert.Equal(t, []string{`10.5072/A {"doi":"10.5072/A","version":"1"}`, `10.5072/b {"version":"2"}`}, seen)
}

// TestWalkNoticesLostAndRepeatedRecords sets traps in which records would be lost, come twice, or
// never end.
func TestWalkNoticesLostAndRepeatedRecords(t *testing.T) {
	page := func(p *archivePage) int { return p.first/p.size + 1 }
	for name, tt := range map[string]struct {
		sort query.Sort
		trap func(*archivePage)
		want string
	}{
		"a cursor that begins again": {"", func(p *archivePage) {
			if page(p) == 4 {
				p.first, p.end = 0, p.size
				p.next = url.Values{"page[cursor]": {cursorAfter(p.size - 1)}}
			}
		}, "began again"},
		"a cursor that leads to the same page": {"", func(p *archivePage) {
			if page(p) == 3 {
				p.next = url.Values{"page[cursor]": {cursorAfter(2*p.size - 1)}}
			}
		}, "repeats a cursor"},
		"another cursor for the same page": {"", func(p *archivePage) {
			if page(p) == 3 {
				p.first, p.end = p.size, 2*p.size
			}
		}, "no new record"},
		"empty pages without end": {"", func(p *archivePage) {
			if page(p) == 3 {
				p.end = p.first
				p.next = url.Values{"page[cursor]": {cursorAfter(p.first + 50)}}
			}
		}, "no new record"},
		"a link that is missing": {"", func(p *archivePage) {
			if page(p) == 3 {
				p.next = nil
			}
		}, "showed 300, so 200 are missing"},
		"a record that is counted and not shown": {"", func(p *archivePage) {
			if page(p) == 5 {
				p.end--
			}
		}, "showed 499, so 1 are missing"},
		"a short page in between": {query.ByName, func(p *archivePage) {
			if page(p) == 2 {
				p.end -= 7
			}
		}, "so 7 are missing"},
		"a page that is another one": {query.ByName, func(p *archivePage) {
			if p.number == 4 {
				p.number, p.first, p.end = 3, 200, 300
			}
		}, "it is page 3, not the requested page 4"},
		"a page that is another one and does not say so": {query.ByName, func(p *archivePage) {
			if p.number == 4 {
				p.number, p.first, p.end = 0, 200, 300
			}
		}, "so 200 are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &archive{n: 500, trap: tt.trap}
				times, err := walked(t.Context(), service.client(t), &dois.ListOptions{Sort: tt.sort, Page: query.Page{Size: 100}})
				require.Error(t, err)
				assert.ErrorContains(t, err, tt.want)
				assert.ErrorContains(t, err, "dois.All: ")
				if !errors.Is(err, datacite.ErrUnreadable) {
					require.ErrorIs(t, err, datacite.ErrIncomplete)
				}
				for name, count := range times {
					assert.Equal(t, 1, count, name)
				}
			})
		})
	}
}

// TestWalkOverMovingRecords moves records to the next page while it is being
// read, as new ones in front do. They come once, and what has moved beyond the last
// page is missed.
func TestWalkOverMovingRecords(t *testing.T) {
	service := &archive{n: 500, trap: func(p *archivePage) {
		if p.number > 1 { // all moved by three
			p.first -= 3
			p.end -= min(3, p.end-p.first-100)
		}
	}}
	times, err := walked(t.Context(), service.client(t),
		&dois.ListOptions{Sort: query.ByUpdated, Page: query.Page{Size: 100}})
	require.ErrorIs(t, err, datacite.ErrIncomplete)
	assert.ErrorContains(t, err, "so 3 are missing")
	onceEach(t, times, 497)
}

// A list of names comes on one page, unless a smaller one is asked for.
func TestPagesOfNames(t *testing.T) {
	names := []string{"10.5072/a", "10.5072/b", "10.5072/c"}
	for size, want := range map[int]string{0: "3", 2: "2"} {
		service := &archive{n: 2}
		must(service.client(t).List(t.Context(), &dois.ListOptions{IDs: names, Page: query.Page{Size: size}}))(t)
		assert.Equal(t, want, service.params[0].Get("page[size]"))
	}
	for most, want := range map[int]error{1: datacite.ErrTooLarge, 2: nil} { // records of a page that has two
		service := &archive{n: 9, trap: func(p *archivePage) { p.first, p.end = 0, 2 }}
		require.ErrorIs(t, failure(service.client(t).List(t.Context(), &dois.ListOptions{Page: query.Page{Size: most}})),
			want)
	}
}

// TestWalkAsksForSmallerPages meets services that cannot make pages of the size that is asked for. A size that fails is
// asked for again later, in case it failed for another reason.
func TestWalkAsksForSmallerPages(t *testing.T) {
	from := func(size int) func(*archivePage) { return func(p *archivePage) { p.slow = p.size > size } }
	for name, tt := range map[string]struct {
		opts  dois.ListOptions
		meets archive
		asks  string // the sizes of the first requests, an expression
	}{
		"by cursor": {dois.ListOptions{Page: query.Page{Size: 1000}}, archive{trap: from(250)},
			"1000 500 250 250 250"},
		"by number": {dois.ListOptions{Sort: query.ByName, Page: query.Page{Size: 1000}},
			archive{trap: from(250)}, "1000 500 250 250"},
		"by number, later on": {dois.ListOptions{Sort: query.ByName, Page: query.Page{Size: 1000}},
			archive{trap: func(p *archivePage) { p.slow = p.size > 250 && p.first >= 2000 }}, "1000 1000 1000 500 250"},
		"the smallest possible": {dois.ListOptions{Sort: query.ByName, Page: query.Page{Size: 40}}, archive{trap: from(10)},
			"40 20 10 10"},
		"silence": {dois.ListOptions{Page: query.Page{Size: 1000}}, archive{trap: from(250), silent: true},
			"1000 500 250 250"},
		"too many bytes": {dois.ListOptions{Page: query.Page{Size: 1000}}, archive{maxBody: 950_000}, `1000 [5-9]\d\d `},
		"broken off, then slow": {dois.ListOptions{Page: query.Page{Size: 1000}}, archive{
			fail: once(cutOff), trap: func(p *archivePage) {
				p.slow = p.size > 700 && p.first == 0 && p.asks > 1
			}}, "1000 1000 667 667 667 667"},
		"for a moment": {dois.ListOptions{Page: query.Page{Size: 200}}, archive{trap: func(p *archivePage) {
			p.slow = p.asks == 1
		}},
			"200 100 100 100 100 100 100 100 100 100 100 100 200 200"},
		"twice": {dois.ListOptions{Page: query.Page{Size: 80}}, archive{trap: func(p *archivePage) {
			p.slow = p.asks <= 2
		}},
			"80 40 (20 ){21}(40 ){21}80 80 "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := tt.meets
				service.n = 3_333
				times, walk := map[string]int{}, service.client(t).Walk(&tt.opts)
				for page, err := range walk.Pages(t.Context()) {
					require.NoError(t, err)
					for _, r := range page.Records {
						times[r.DOI]++
					}
					assert.Equal(t, len(times), walk.Position().Seen, "a position is between two pages")
				}
				onceEach(t, times, 3_333)
				var sizes []string
				for _, asked := range service.params {
					sizes = append(sizes, asked.Get("page[size]"))
				}
				assert.Regexp(t, `^\[`+tt.asks, fmt.Sprint(sizes))
			})
		})
	}
	t.Run("as often as another request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, n := range []int{100, 0} { // some of the records have arrived, or none
				service := &archive{n: n, fail: func() fault { return cutOff }}
				_, err := walked(t.Context(), service.client(t), nil)
				require.ErrorIs(t, err, datacite.ErrUnreadable)
				assert.Equal(t, 5, service.asked)
			}
		})
	})
	t.Run("not for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			require.ErrorIs(t, failure(walked(t.Context(), (&archive{n: 100, trap: from(5)}).client(t), nil)),
				datacite.ErrServer)
		})
	})
}

// A page of the records that have arrived fits, wherever the limit of memory falls.
func TestWalkAtTheLimitOfMemory(t *testing.T) {
	for most := int64(1_000_000); most < 1_004_000; most += 100 {
		synctest.Test(t, func(t *testing.T) {
			service := &archive{n: 700, maxBody: most}
			times, err := walked(t.Context(), service.client(t), &dois.ListOptions{Page: query.Page{Size: 1000}})
			require.NoError(t, err, most)
			onceEach(t, times, 700)
		})
	}
}

// TestWalkContinues stops a walk after each number of records and continues it
// from a position that went through JSON.
func TestWalkContinues(t *testing.T) {
	for name, tt := range map[string]struct {
		n    int
		opts dois.ListOptions
		stop []int
	}{
		"by cursor": {230, dois.ListOptions{}, []int{1, 99, 100, 101, 200, 229, 230}},
		"by number": {230, dois.ListOptions{Sort: query.ByName, Page: query.Page{Size: 50}}, []int{1, 49, 50, 51, 150, 230}},
	} {
		for _, stop := range tt.stop {
			t.Run(fmt.Sprintf("%s, after %d", name, stop), func(t *testing.T) {
				client := (&archive{n: tt.n}).client(t)
				times := map[string]int{}
				walk := client.Walk(&tt.opts)
				for r, err := range walk.All(t.Context()) {
					require.NoError(t, err)
					if times[r.DOI]++; len(times) == stop {
						break
					}
				}
				saved := must(json.Marshal(walk.Position()))(t)
				assert.Less(t, len(saved), 400, "it is small")

				opts := tt.opts
				opts.Page.Size += 10 // the size is that of the position
				require.NoError(t, json.Unmarshal(saved, &opts.From))
				rest := must(walked(t.Context(), client, &opts))(t)
				for name, count := range rest {
					times[name] += count
				}
				onceEach(t, times, tt.n)

				for r, err := range walk.All(t.Context()) { // the first walk itself can go on too
					require.NoError(t, err)
					rest[r.DOI]--
				}
				for name, left := range rest {
					require.Zero(t, left, name)
				}
			})
		}
	}
}

func TestTotalOfAWalk(t *testing.T) {
	walk := (&archive{n: 230}).client(t).Walk(nil)
	assert.Equal(t, -1, walk.Total(), "nobody has counted yet")
	for _, err := range walk.All(t.Context()) {
		require.NoError(t, err)
		if walk.Position().Seen > 100 {
			assert.Equal(t, 230, walk.Total())
		}
	}
	assert.Equal(t, 230, walk.Position().Seen)
}

func TestPositionOfAnotherWalk(t *testing.T) {
	client := (&archive{n: 230}).client(t)
	walk := client.Walk(nil)
	for range walk.All(t.Context()) {
		break
	}
	from := walk.Position()
	_, err := walked(t.Context(), client, &dois.ListOptions{From: from, Prefix: []string{"10.5072"}})
	require.ErrorIs(t, err, datacite.ErrInvalid, "other options would go on silently in other results")
	assert.Equal(t, from, client.Walk(&dois.ListOptions{From: from, Prefix: []string{"10.5072"}}).Position(),
		"the position is not lost")
	require.ErrorContains(t, failure(client.List(t.Context(), &dois.ListOptions{From: from})),
		"datacite: ListOptions.From: ")

	t.Run("a cursor that cannot be read begins again", func(t *testing.T) {
		for range walk.All(t.Context()) {
			if walk.Position().Seen == 205 {
				break
			}
		}
		lost := walk.Position()
		lost.Page.Cursor = "garbage"
		times, err := walked(t.Context(), client, &dois.ListOptions{From: lost})
		require.ErrorIs(t, err, datacite.ErrIncomplete)
		assert.Empty(t, times)
	})
	t.Run("the last record has gone", func(t *testing.T) {
		gone := from
		gone.Last = "10.5072/gone"
		_, err := walked(t.Context(), client, &dois.ListOptions{From: gone})
		require.ErrorIs(t, err, datacite.ErrIncomplete)
		assert.ErrorContains(t, err, "10.5072/gone")
		opts := &dois.ListOptions{From: gone}
		for op, errs := range map[string][]error{"dois.All: ": failures(client.All(t.Context(), opts)),
			"dois.Pages: ": failures(client.Pages(t.Context(), opts)),
			"dois.Walk: ":  failures(client.Walk(opts).All(t.Context()))} {
			require.Len(t, errs, 1)
			assert.ErrorContains(t, errs[0], op)
		}
	})
}

// TestPagesOfAWalk reads page by page.
func TestPagesOfAWalk(t *testing.T) {
	client := (&archive{n: 60}).client(t)
	var sizes []int
	for page, err := range client.Pages(t.Context(), &dois.ListOptions{Page: query.Page{Size: 25}}) {
		require.NoError(t, err)
		sizes = append(sizes, len(page.Records))
		assert.Equal(t, 60, page.Total)
		assert.Equal(t, len(sizes) < 3, page.More)
	}
	assert.Equal(t, []int{25, 25, 10}, sizes)

	walk := client.Walk(&dois.ListOptions{Page: query.Page{Size: 25}})
	for range 2 { // a loop that is left goes on
		for page, err := range walk.Pages(t.Context()) {
			require.NoError(t, err)
			sizes = append(sizes, len(page.Records))
			break
		}
	}
	assert.Equal(t, []int{25, 25, 10, 25, 25}, sizes)

	pages := client.Pages(t.Context(), nil)
	sizes = nil
	for range 2 { // ranging again starts afresh
		for page, err := range pages {
			require.NoError(t, err)
			sizes = append(sizes, len(page.Records))
		}
	}
	assert.Equal(t, []int{60, 60}, sizes)
}

func TestWalkFromTheMiddle(t *testing.T) {
	client := (&archive{n: 500}).client(t)
	times := must(walked(t.Context(), client,
		&dois.ListOptions{Sort: query.ByName, Page: query.Page{Number: 3, Size: 100}}))(t)
	onceEach(t, times, 300)
	times = must(walked(t.Context(), client,
		&dois.ListOptions{Sort: query.ByName, Page: query.Page{Number: 2, Size: 100}}))(t)
	onceEach(t, times, 400)
	times = must(walked(t.Context(), client, &dois.ListOptions{Page: query.Page{Cursor: cursorAfter(399), Size: 10}}))(t)
	onceEach(t, times, 100)
}

// TestWalkOverOneResponse walks over what is one page by its nature.
func TestWalkOverOneResponse(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, series(60)...)
		times := must(walked(t.Context(), srv.DOIs(),
			&dois.ListOptions{Sample: query.Sample{Random: true}, Page: query.Page{Size: 20}}))(t)
		onceEach(t, times, 20)

		var names []string
		for i := range 40 {
			names = append(names, fmt.Sprintf("10.5072/R%03d", i))
		}
		times = must(walked(t.Context(), srv.DOIs(), &dois.ListOptions{IDs: append(names, "10.5072/unknown")}))(t)
		onceEach(t, times, 40)
		onceEach(t, must(walked(t.Context(), srv.DOIs(), &dois.ListOptions{IDs: names[:1]}))(t), 1)
	})
}

var longWalk = flag.Int("walked", 40_000, "records of the long walk")

// TestLongWalk goes through many records while every twentieth request fails, and
// weighs what is held on the way: less than 200 bytes a record.
func TestLongWalk(t *testing.T) {
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	synctest.Test(t, func(t *testing.T) {
		service := &archive{n: *longWalk, fail: often()}
		before, most, seen := held(), uint64(0), 0
		for r, err := range service.client(t).All(t.Context(), &dois.ListOptions{Page: query.Page{Size: 1000}}) {
			require.NoError(t, err)
			if r.DOI != recordName(seen) {
				require.Equal(t, recordName(seen), r.DOI, "each once and in order")
			}
			if seen++; seen%5_000 == 500 { // in the middle of a page
				most = max(most, held())
				service.params = nil
			}
		}
		assert.Equal(t, *longWalk, seen)
		assert.Greater(t, service.asked, *longWalk/1000, "some pages were asked for again")
		assert.Less(t, most-min(most, before), uint64(200**longWalk))
	})
}

var sandboxRecords = flag.Int("records", 600, "records of the walks over the embedded service; 250000 takes minutes")

// Walks over the embedded service, deployed behaviour, with one request in twenty failing in any
// of the ways there are.
func TestWalkOverTheEmbeddedService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: datacitetest.Deployed,
			Faults: datacitetest.Schedule(1, 0.05)})
		defer srv.Close()
		start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range *sandboxRecords {
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/walk-%d","created":%q}`, i,
				start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))))
		}
		for _, opts := range []dois.ListOptions{
			{Page: query.Page{Size: 100}}, {Sort: query.ByName.Desc()}, {Sort: query.ByTitle, Page: query.Page{Size: 50}},
			{InBody: true},
		} {
			times, err := walked(t.Context(), srv.DOIs(), &opts)
			if opts.Sort != "" && *sandboxRecords > 10_000 {
				require.ErrorIs(t, err, datacite.ErrIncomplete)
				require.Empty(t, times)
				continue
			}
			require.NoError(t, err)
			onceEach(t, times, *sandboxRecords)
		}
	})
}

// TestRecordsComeWhileThePageArrives sends a page record by record: each must
// have been given before the next one is sent.
func TestRecordsComeWhileThePageArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan string)
		client, err := dois.NewClient(datacite.Config{
			Service:    datacite.Service{API: "http://localhost"},
			HTTPClient: &http.Client{Transport: dripping{seen}},
		})
		require.NoError(t, err)
		for r, err := range client.All(t.Context(), nil) {
			require.NoError(t, err)
			seen <- r.DOI
		}
	})
}

// dripping responds with three records, and sends one only after it has heard of
// the one before.
type dripping struct{ seen chan string }

func (d dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	body, page := io.Pipe()
	go func() {
		_, _ = io.WriteString(page, `{"data":[`)
		for i := range 3 {
			comma := ","
			if i == 2 {
				comma = ""
			}
			_, _ = fmt.Fprintf(page, `{"id":%q,"attributes":{}}%s`, recordName(i), comma)
			<-d.seen
		}
		_, _ = io.WriteString(page, `],"meta":{"total":3}}`)
		_ = page.Close()
	}()
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	}, nil
}
