package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
)

// What the index finds is what reading each record finds, for random queries of random records.
func TestIndexFindsWhatAScanFinds(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 50))
		all := make([]map[string]any, 150)
		read := func(n int) map[string]any { return all[n] }
		index := search.NewIndex(read)
		for n := range all {
			all[n] = drawn(random, n)
			require.Equal(t, n, index.Add(all[n]))
		}
		scan := search.Bare(len(all), read)
		for n := range all {
			if random.IntN(3) == 0 {
				index.Remove(n)
				scan.Remove(n)
			}
		}
		same := func(index *search.Index, numbers []int) {
			for range 200 {
				text, deployed := drawnQuery(random, 3), random.IntN(2) == 0
				q, err := search.Parse(text, deployed)
				if err != nil {
					continue // such as a pattern in a field of numbers
				}
				found, want := q.Find(index), q.Find(scan)
				require.Equal(t, slices.Collect(want.All()), numbered(numbers, found), "%s, deployed: %t", text, deployed)
				for n := range found.All() {
					require.InDelta(t, want.Score(numbers[n]), found.Score(n), 0, text)
				}
			}
		}
		everywhere := slices.Collect(search.Bare(len(all), read).Live().All())
		same(index, everywhere)
		same(index.Copy(read), everywhere)
		kept := slices.Collect(index.Live().All())
		same(index.Compact(func(n int) map[string]any { return all[kept[n]] }), kept)
	}
}

// numbered are the records that were found by their first numbers.
func numbered(numbers []int, found search.Found) (all []int) {
	for n := range found.All() {
		all = append(all, numbers[n])
	}
	return all
}

// A copy and what it is a copy of, each with a record of its own.
func TestCopiesOfAnIndexAreApart(t *testing.T) {
	first := search.NewIndex(nil)
	for range 5 {
		first.Add(titled("both"))
	}
	second := first.Copy(nil)
	third := first.Copy(nil)
	second.Add(titled("second"))
	second.Add(titled("both"))
	third.Add(titled("both"))
	first.Remove(0)
	for _, tt := range []struct {
		index *search.Index
		has   []int
	}{{first, []int{1, 2, 3, 4}}, {second, []int{0, 1, 2, 3, 4, 6}}, {third, []int{0, 1, 2, 3, 4, 5}}} {
		q, err := search.Parse("titles.title:both", deployed)
		require.NoError(t, err)
		assert.Equal(t, tt.has, slices.Collect(q.Find(tt.index).All()))
	}
}

func titled(title string) map[string]any {
	return map[string]any{"titles": []any{map[string]any{"title": title}}}
}

func one[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }

func word(random *rand.Rand) string {
	return one(random, "Alps", "alps", "Über", "über", "CLIMATE", "climate", "3.14", "l'été", "at_home", "10.5072/a",
		"10.5072/A", "—", "Σίσυφος", "İx", "2019", "07", "true", "crossref")
}

// drawn is a record with a random one of the library in it.
func drawn(random *rand.Rand, n int) map[string]any {
	text := func() string {
		var words []string
		for range 1 + random.IntN(4) {
			words = append(words, word(random))
		}
		return strings.Join(words, one(random, " ", ", ", "; "))
	}
	value := func() any {
		return one[any](random, text(), text(), text(), nil, 2019.0, 7.0, true, "", []any{text(), text()}, []any{text(), nil},
			[]any{nil}, map[string]any{}, map[string]any{"other": text(),
				"a.b": nil}, map[string]any{"other": nil}, map[string]any{"other": map[string]any{"more": text()}, "last": nil})
	}
	record := map[string]any{"uid": fmt.Sprint("10.5072/", n), "id": fmt.Sprint("10.5072/", n)}
	for name, v := range one(random, library...) {
		if random.IntN(2) == 0 {
			record[name] = v
		}
	}
	for _, name := range []string{"agency", "publisher", "publication_year", "view_count", "created", "new",
		"version_info", "creator_names", "titles", "descriptions"} {
		if random.IntN(3) == 0 {
			record[name] = value()
		}
	}
	for list, member := range map[string]string{"titles": "title", "descriptions": "description", "subjects": "subject",
		"related_identifiers": "relatedIdentifier", "new": "member"} {
		if random.IntN(2) == 0 {
			record[list] = []any{map[string]any{member: value(), "lang": value()}, map[string]any{member: text()},
				nil}[random.IntN(2):][:1+random.IntN(2)]
		}
	}
	return record
}

func drawnQuery(random *rand.Rand, depth int) string {
	field := one(random, "", "", "titles.title:", "titles.title.keyword:", "descriptions.description:",
		"descriptions.description.keyword:", "subjects.subject:", "uid:", "doi:", "publisher:",
		"publication_year:", "publicationYear:", "view_count:", "created:", "agency:", "new.member:", "new:", "titles:", "titles.lang:", "related_identifiers.relatedIdentifier:", "creators.name:", "version:", "state:")
	escape := strings.NewReplacer("/", `\/`, ":", `\:`)
	a, b := escape.Replace(word(random)), escape.Replace(word(random))
	leaf := field + one(random, a, a, a, `"`+a+" "+b+`"`, `"`+a+" "+b+`"~`+one(random, "0", "2", "5"), a[:1]+"*",
		"*"+a[len(a)-1:], "?"+b[1:], a+"~1", "*", "["+a+" TO "+b+"]", "{2000 TO 2020}", ">="+a, "[* TO 10}",
		"("+a+" "+b+")", "2014", "[2010 TO *]", "10.5072/"+fmt.Sprint(random.IntN(150)))
	if random.IntN(8) == 0 {
		leaf = "_exists_:" + one(random, "titles", "titles.title", "new.member", "new", "agency", "subjects", "client")
	}
	leaf += one(random, "", "", "", "^2", "^0.3")
	if depth == 0 || random.IntN(2) == 0 {
		return leaf
	}
	return one(random, "", "", "-", "+", "NOT ") + leaf + one(random, " ", " AND ", " OR ", " AND NOT ") + "(" +
		drawnQuery(random, depth-1) + ")"
}
