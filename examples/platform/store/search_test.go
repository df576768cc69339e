package store

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

var histories = flag.Int("histories", 8, "how many random histories TestTheIndexAgreesWithTheTables plays")

const prefix = "10.5072"

var all = Page{Number: 1, Size: 1 << 30}

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "data"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func (s *Store) get(t *testing.T, id int64) *dataset.Dataset {
	t.Helper()
	d, err := s.Dataset(t.Context(), id)
	require.NoError(t, err)
	return d
}

// publish stores a dataset that everybody sees.
func (s *Store) publish(t *testing.T, about dataset.About) *dataset.Dataset {
	t.Helper()
	id, err := s.Create(t.Context(), "ada", "", prefix, about)
	require.NoError(t, err)
	d := s.get(t, id)
	require.NoError(t, s.Decide(t.Context(), d,
		d.Versions[0].As(dataset.Published, time.Now().UTC().Format(time.DateOnly), "")))
	return s.get(t, id)
}

// found returns the ids of what a query finds.
func (s *Store) found(t *testing.T, q Query) (ids []int64, list List) {
	t.Helper()
	q.Page = cmp.Or(q.Page, all)
	list, err := s.Search(t.Context(), q)
	require.NoError(t, err, "%q", q.Words)
	for _, d := range list.Datasets {
		ids = append(ids, d.ID)
	}
	return ids, list
}

func TestSearch(t *testing.T) {
	s := open(t)
	d := s.publish(t, dataset.About{
		Title: "Längen des Ötztaler Gletschers, 50%",
		Description: "Bjørn Łukasiewicz maß die Straße.\nRésumé ﬁne naïve Ærø 氷河の長さ e\u0301cole Ελλάδος Œuvre Đorđe Þórður Ħal ðun, of \"ice\" AND " +
			"stones.", Year: "2026", License: "CC-BY-4.0", Language: "en", Type: "Dataset", Related: []dataset.Related{
			{Relation: "IsCitedBy", ID: "10.5072/article"}},
		Creators: []dataset.Creator{{Family: "Müller", Given: "Jürgen", ORCID: "0000-0001-5727-2427",
			Affiliations: []dataset.Affiliation{{Name: "Universität Zürich"}}}},
		Funders: []dataset.Funder{{Name: "Science Fund", Award: "G-7/x"}},
	})
	other := s.publish(t, dataset.About{Title: "Volcanoes", Year: "2026", License: "CC0-1.0",
		Creators: []dataset.Creator{{Family: "Mueller"}}})
	name := d.Versions[0].DOI
	for words, want := range map[string]bool{
		"": true, "  ": true, "*": false, `"`: false, "🧊🗻": false, "?!": false, "Muller": true, "MÜLLER": true,
		"mueller": false, "otztaler": true, "Ötztaler": true, "oetztaler": false, "O\u0308tztaler": true,
		"bjorn": true, "BJØRN": true, "bjoern": false, "lukasiewicz": true, "strasse": true, "STRAẞE": true, "mass": true, "resume": true, "fine": true, "aero": true, "ærø": true, "école": true, "ελλαδος": true, "ΕΛΛΆΔΟΣ": true,
		"oeuvre": true, "dorde": true, "thordur": true, "hal": true, "dun": true, "氷河": true, "長さ": true, "河氷": false, "zurich jurgen": true, "laengen": false, "lange": true, "lang gletsch": true, "letscher": false,
		"50%": true, "0000-0001-5727-2427": true, "https://orcid.org/0000-0001-5727-2427": false, "g-7": true, "g-7/x": true, "cc-by-4.0": false, "by": false, "en": false, "dataset": false,
		`"science fund"`: true, `"fund science"`: false, "“science fund”": true, "„Science Fund“": true, "«science fund»": true, `"science fun"`: false, `science "fund`: true, `"science fun`: true, "“fund science”": false, "„fund science“": false, "«fund science»": false, "»fund science«": false, `"jürgen müller"`: true, `"müller, jürgen"`: true,
		name: true, strings.ToUpper(name): true, "doi:" + name: true, "DOI: " + name: true, "https://doi.org/" +
			name: true, "http://dx.doi.org/" + strings.ToUpper(name): true, d.DOI: true, `"` + name + `"`: true,
		other.DOI: false, name + "x": false, strings.TrimSuffix(name, name[len(name)-1:]): false,
		"ice stones": true, "ice AND stones": true, "AND": true, "stones AND": true, `"ice AND stones"`: true, `"stones and ice"`: false, "volcano stones": false,
		// as everywhere in the library, these are no operators
		"volcano OR stones": false, "OR": false, "stones NOT ice": false, "stones -ice": true, "-volcano": false,
		"la": false, "län": true, // two letters begin too many words
		name + " " + other.DOI: true, other.DOI + " " + "10.5072/none-none": false,
		"title:volcano": false, "title : längen": false, "NEAR(ice stones)": false, "ice*": true, "^längen": true, "ice + stones": true, "{title}": false, "'; DROP TABLE dataset; --": false, `\`: false, "%": false, "l%ngen": false,
		"of\x00ice": true, "\xff\xfeice": true,
	} {
		ids, list := s.found(t, Query{Words: words})
		assert.Equal(t, want, slices.Contains(ids, d.ID), "%q", words)
		assert.Equal(t, len(ids), list.Total)
		assert.False(t, list.Cut, words)
	}
	ids, _ := s.found(t, Query{Words: "OR"})
	assert.Empty(t, ids, "a word like others, where nothing is beside it")
}

// What nobody means breaks nothing.
func TestHostileQueries(t *testing.T) {
	s := open(t)
	d := s.publish(t, dataset.About{Title: "Ice", Year: "2026"})
	for _, words := range []string{
		strings.Repeat("a", 10<<10), strings.Repeat("a ", 5<<10), strings.Repeat("a-", 5<<10), strings.Repeat(`"`, 10<<10),
		strings.Repeat(`"a`, 5<<10), strings.Repeat("(", 10<<10),
		strings.Repeat("NOT ", 2000), strings.Repeat("OR ",
			2000), strings.Repeat("AND ", 2000), strings.Repeat("-x ",
			2000), strings.Repeat("a OR ", 2000), strings.Repeat("* ",
			2000), strings.Repeat("\x00", 10<<10), strings.Repeat("\xff",
			10<<10), strings.Repeat("氷", 3<<10), strings.Repeat("10.5072/", 1000),
	} {
		s.found(t, Query{Words: words})
		s.found(t, Query{Words: "ice " + words})
	}
	ids, list := s.found(t, Query{Words: strings.Repeat("ice ", 100) + "Ice"})
	assert.Equal(t, []int64{d.ID}, ids)
	assert.False(t, list.Cut, "it is one word")
	ids, list = s.found(t, Query{Words: `"` + strings.Repeat("ice ", maxWords+1) + `" volcano`})
	assert.Empty(t, ids)
	assert.True(t, list.Cut)
	s.publish(t, dataset.About{Title: "Six " + strings.Repeat("stones ", maxWords)})
	ids, list = s.found(t, Query{Words: `"` + strings.Repeat("stones ", maxWords) + `" ice volcano`})
	assert.Len(t, ids, 1)
	assert.True(t, list.Cut, "the page says that the last words are ignored")
	random := rand.New(rand.NewPCG(5, 5))
	alphabet := []string{`"`, " ", "-", "*", "(", ")", "AND", "OR", "NOT", "NEAR", "ice", "10.5072/", ":", "^", "+", "{",
		"}", ",", "\x00", "ü", "/", "'", ";", "doi:", "\\", "“"}
	for range 2000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		s.found(t, Query{Words: b.String()})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`"a b" OR -c`)
	f.Fuzz(func(t *testing.T, text string) {
		match, _ := parse(text)
		assert.True(t, utf8.ValidString(match))
		assert.Zero(t, strings.Count(match, `"`)%2)
	})
}

func TestOrders(t *testing.T) {
	s := open(t)
	second := s.publish(t, dataset.About{Title: "ätna", Description: "Ice"})
	first := s.publish(t, dataset.About{Title: "Ice"})
	third := s.publish(t, dataset.About{Title: "Bernina",
		Description: "Stones, and also ice, among many other words about mountains"})
	ids, _ := s.found(t, Query{Words: "ice"})
	assert.Equal(t, []int64{first.ID, third.ID, second.ID}, ids, "titles first, then the newest")
	ids, _ = s.found(t, Query{})
	assert.Equal(t, []int64{third.ID, first.ID, second.ID}, ids, "without words, the newest first")
	ids, list := s.found(t, Query{Page: Page{2, 2}})
	assert.Equal(t, []int64{second.ID}, ids)
	assert.Equal(t, 2, list.Pages())
	for number, want := range map[int]int{-1 << 62: 1, 0: 1, 3: 2, 1 << 62: 2} {
		_, list = s.found(t, Query{Page: Page{number, 2}})
		assert.Equal(t, want, list.Page.Number)
	}
	_, list = s.found(t, Query{Words: "volcano", Page: Page{7, 2}})
	assert.Equal(t, Page{1, 2}, list.Page)
}

// A history is what happens to a repository at random.
type history struct {
	*testing.T
	*Store
	random *rand.Rand
	ids    []int64
}

var vocabulary = strings.Fields("ice stone Müller mueller straße river Äletsch glacier length")

func (h *history) about() dataset.About {
	words := func(n int) string {
		var all []string
		for range n {
			all = append(all, vocabulary[h.random.IntN(len(vocabulary))])
		}
		return strings.Join(all, " ")
	}
	a := dataset.About{Title: words(2), Description: words(4), Year: fmt.Sprint(2020 + h.random.IntN(3)),
		License: dataset.Licenses[h.random.IntN(3)]}
	for range 1 + h.random.IntN(2) {
		a.Creators = append(a.Creators, dataset.Creator{Family: words(1)})
	}
	if h.random.IntN(3) == 0 {
		a.Embargo = "2099-12-31"
	}
	return a
}

// step does something that may be refused, since it comes from an old page.
func (h *history) step() {
	if len(h.ids) == 0 || h.random.IntN(4) == 0 {
		id, err := h.Create(h.Context(), "ada", "", prefix, h.about())
		require.NoError(h, err)
		h.ids = append(h.ids, id)
	}
	d, err := h.Dataset(h.Context(), h.ids[h.random.IntN(len(h.ids))])
	if err != nil {
		return // it was discarded
	}
	v := d.Versions[h.random.IntN(len(d.Versions))]
	switch h.random.IntN(7) {
	case 0:
		err = h.Edit(h.Context(), v, h.about())
	case 1, 2:
		err = h.Decide(h.Context(), d, v.As(dataset.Published, time.Now().UTC().Format(time.DateOnly), ""))
	case 3:
		if v.State == dataset.Published {
			err = h.Decide(h.Context(), d, v.As(dataset.Withdrawn, time.Now().UTC().Format(time.DateOnly), "Wrong."))
		}
	case 4:
		if d.Last().State != dataset.Draft {
			err = h.AddVersion(h.Context(), d, prefix)
		}
	case 5:
		if d.Last().State == dataset.Draft {
			err = h.Discard(h.Context(), d)
		}
	case 6:
		_, err = h.Rename(h.Context(), []string{d.DOI, v.DOI}[h.random.IntN(2)], prefix)
	}
	require.NoError(h, err)
}

// scan is what a search for a word should find: by reading all datasets.
func (h *history) scan(word string) (ids []int64) {
	list, err := h.Of(h.Context(), "ada", all)
	require.NoError(h, err)
	for _, d := range list.Datasets {
		v := d.Latest()
		if v == nil || v.State != dataset.Published {
			continue
		}
		texts := []string{d.DOI}
		for _, v := range d.Versions {
			if v.State == dataset.Published {
				texts = append(texts, v.DOI)
			}
		}
		texts = append(texts, v.About.Title, v.About.Description)
		for _, c := range v.About.Creators {
			texts = append(texts, c.Family)
		}
		text := " " + strings.ToLower(strings.Join(texts, " "))
		if strings.Contains(text, " "+strings.ToLower(word)) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// Whatever happens, what is found is what is there, by the words that are there now.
func TestTheIndexAgreesWithTheTables(t *testing.T) {
	for seed := range uint64(*histories) {
		h := &history{T: t, Store: open(t), random: rand.New(rand.NewPCG(seed, 1))}
		for range 60 {
			h.step()
		}
		h.agrees()
		_, err := h.db.ExecContext(t.Context(),
			`UPDATE indexed SET form = 0; DELETE FROM search WHERE rowid % 2 = 0; DELETE FROM found WHERE dataset % 3 = 0`)
		require.NoError(t, err)
		require.NoError(t, h.reindex(t.Context()))
		h.agrees() // after it was built again
		require.False(t, t.Failed(), "seed %d", seed)
	}
}

func (h *history) agrees() {
	h.Helper()
	words := []string{"", "stone", "river", "ice", "len", "glacier", "volcano"}
	names, err := sqlite.Column[string](h.Context(), h.db, `SELECT doi FROM dataset UNION ALL SELECT doi FROM version`)
	require.NoError(h, err)
	for _, word := range append(words, names...) {
		ids, _ := h.found(h.T, Query{Words: word})
		assert.ElementsMatch(h, h.scan(word), ids, word)
	}
}
