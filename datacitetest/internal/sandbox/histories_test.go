package sandbox_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// A version is a record that lists show from a moment on, as its title; "" is none.
type version struct {
	from  time.Time
	title string
}

// Lists show what was written, whatever was written before and between them: those of a service with a
// history are those of one that has the same records without it, and small pages are parts of a large
// one.
func TestListsAfterHistories(t *testing.T) {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 4))
		now := start
		options := sandbox.Options{Behaviour: sandbox.Deployed, Now: func() time.Time { return now }}
		switch seed % 3 {
		case 1:
			options.Behaviour = sandbox.Documented
		case 2:
			options.IndexLag = time.Minute
		}
		service := sandbox.New(&options)
		lag := options.IndexLag
		written := map[string][]version{}
		var back func()
		for step := range 600 {
			name := fmt.Sprint("10.5072/", random.IntN(40+step/20))
			switch at := random.IntN(100); {
			case at < 40:
				put := update(name, fmt.Sprintf(
					`"state":"draft","titles":[{"title":"%d number"}],"creators":[{"name":"Ng, `+
						`Lee"}],"publicationYear":%d`, step, 2000+random.IntN(9)))
				require.Less(t, put.do(t, service).status, 300)
				written[name] = append(written[name], version{now.Add(lag), fmt.Sprint(step, " number")})
			case at < 50:
				require.NoError(t, service.PutRecord(fmt.Appendf(nil,
					`{"doi":%q,"state":"draft","titles":[{"title":"%d number"}],"viewCount":%d,"agency":%q}`,
					name, step, random.IntN(3), one(random, "datacite", "crossref"))))
				written[name] = append(written[name], version{now, fmt.Sprint(step, " number")})
			case at < 65 && len(written[name]) > 0:
				if (call{method: "DELETE", path: "/dois/" + name, as: "repo"}).do(t, service).status == 204 {
					written[name] = append(written[name], version{now.Add(lag), ""})
				}
			case at < 70:
				_, err := service.PutReport([]byte(october(used(name, viewed(random.IntN(9))))))
				require.NoError(t, err)
			case at < 85:
				now = now.Add(time.Duration(random.IntN(40)) * time.Second)
			case at < 90:
				require.Equal(t, shownAt(written, now), titlesOf(t, service), "seed %d, step %d", seed, step)
			case at < 92 && back != nil:
				back()
			case at < 94:
				kept, then, moment := service.Copy(), maps.Clone(written), now
				back = func() {
					now = moment
					service, written = kept.Copy(), maps.Clone(then)
				}
				service = kept.Copy()
			}
		}
		now = now.Add(time.Hour)
		require.Equal(t, shownAt(written, now), titlesOf(t, service))

		var saved bytes.Buffer
		require.NoError(t, service.Save(&saved))
		fresh := sandbox.New(&options)
		require.NoError(t, fresh.Restore(&saved))
		for _, query := range []string{
			"", "sort=name", "sort=-name", "sort=created", "sort=-created", "sort=updated", "sort=published", "sort=-published",
			"sort=title", "sort=-title", "sort=relevance&query=number+OR+10.5072/7^3",
			"sort=view-count", "sort=-view-count", "query=publicationYear:[2003+TO+2005]", "query=1*", "query=titles.title:%22number%22", "published=2004&facets=states,published&disable-facets=false",
			"has-views=2", "include_other_registration_agencies=true", "ids=10.5072/1,10.5072/3", "page[cursor]=1", "state=draft", "query=NOT+1*",
		} {
			same := listed(t, fresh, "page[size]=1000&"+query, "repo")
			require.Equal(t, same, listed(t, service, "page[size]=1000&"+query, "repo"), query)
			require.Equal(t, found(same), pagesOf(t, service, query), query)
		}
	}
}

// shownAt are the titles that lists show at a moment.
func shownAt(written map[string][]version, now time.Time) (titles []string) {
	for _, versions := range written {
		title := ""
		for _, v := range versions {
			if !v.from.After(now) {
				title = v.title
			}
		}
		if title != "" {
			titles = append(titles, title)
		}
	}
	slices.Sort(titles)
	return titles
}

func titlesOf(t *testing.T, service *sandbox.Service) (titles []string) {
	for _, r := range list(listed(t, service, "page[size]=1000&include_other_registration_agencies=true",
		"repo")["data"]) {
		titles = append(titles, at(r, "attributes.titles.0.title").(string))
	}
	slices.Sort(titles)
	return titles
}

// pagesOf are the records on all pages of a list.
func pagesOf(t *testing.T, service *sandbox.Service, query string) []string {
	t.Helper()
	all := []string{}
	if query, isCursor := strings.CutPrefix(query, "page[cursor]=1"); isCursor {
		for next := "page[cursor]=1&page[size]=7"; ; {
			page := listed(t, service, next+query, "repo")
			all = append(all, found(page)...)
			link, more := at(page, "links.next").(string)
			if !more {
				return all
			}
			_, next, _ = strings.Cut(link, "?")
		}
	}
	for n := 1; ; n++ {
		page := found(listed(t, service, fmt.Sprintf("page[number]=%d&page[size]=7&%s", n, query), "repo"))
		if all = append(all, page...); len(page) < 7 {
			return all
		}
	}
}

func one[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }
