package metadata_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

var randomRecords = flag.Int("random", 300, "random records of each test that draws some")

// A generator makes records with a value in every field.
type generator struct {
	*rand.Rand
	gaps  float64 // how many fields stay empty
	wrong float64 // how many values of lists, URIs and so on are wrong
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 4))}
}

// record returns a record as XML can hold it.
func (g *generator) record() *metadata.Record {
	rec := &metadata.Record{}
	g.fill(reflect.ValueOf(rec).Elem(), "")
	rec.SchemaVersion = metadata.Namespace
	for i := range rec.RelatedItems {
		item := &rec.RelatedItems[i]
		for n := range item.Creators {
			item.Creators[n].NameIdentifiers, item.Creators[n].Affiliation = nil, nil
		}
		for n := range item.Contributors {
			item.Contributors[n].NameIdentifiers, item.Contributors[n].Affiliation = nil, nil
		}
	}
	rec.Types.SchemaOrg, rec.Types.Citeproc, rec.Types.BibTeX, rec.Types.RIS = "", "", "", ""
	return rec
}

func (g *generator) fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		if g.Float64() >= g.gaps {
			v.SetString(g.value(v.Type(), name))
		}
	case reflect.Slice:
		if g.Float64() >= g.gaps {
			g.fillSlice(v, name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			g.fill(v.Field(i), v.Type().Field(i).Name)
		}
		if d, ok := v.Addr().Interface().(*metadata.Description); ok {
			d.Breaks = g.breaks(d.Description)
		}
	}
}

// breaks takes some of the line feeds for elements.
func (g *generator) breaks(text string) []int {
	var out []int
	for i := range len(text) {
		if text[i] == '\n' && g.IntN(2) == 0 {
			out = append(out, i)
		}
	}
	return out
}

func (g *generator) fillSlice(v reflect.Value, name string) {
	length := 1 + g.IntN(2)
	if name == "Points" {
		length += 3
		if g.wrong > 0 {
			length--
		}
	}
	v.Set(reflect.MakeSlice(v.Type(), length, length))
	for i := range length {
		g.fill(v.Index(i), name)
		if name == "Extra" {
			v.Index(i).Field(0).SetString(fmt.Sprintf("extra%d", i))
		}
	}
}

var vocabularies = map[reflect.Type][]string{
	reflect.TypeFor[metadata.ResourceTypeGeneral]():   texts[metadata.ResourceTypeGeneral](),
	reflect.TypeFor[metadata.ContributorType]():       texts[metadata.ContributorType](),
	reflect.TypeFor[metadata.DateType]():              texts[metadata.DateType](),
	reflect.TypeFor[metadata.DescriptionType]():       texts[metadata.DescriptionType](),
	reflect.TypeFor[metadata.TitleType]():             texts[metadata.TitleType](),
	reflect.TypeFor[metadata.NameType]():              texts[metadata.NameType](),
	reflect.TypeFor[metadata.NumberType]():            texts[metadata.NumberType](),
	reflect.TypeFor[metadata.FunderIdentifierType]():  texts[metadata.FunderIdentifierType](),
	reflect.TypeFor[metadata.RelatedIdentifierType](): texts[metadata.RelatedIdentifierType](),
	reflect.TypeFor[metadata.RelationType]():          texts[metadata.RelationType](),
}

func texts[T metadata.Term]() []string {
	var out []string
	for _, item := range metadata.Values[T]() {
		out = append(out, string(item))
	}
	return out
}

func (g *generator) value(t reflect.Type, name string) string {
	wrong := g.Float64() < g.wrong
	switch terms := vocabularies[t]; {
	case terms != nil && !wrong:
		return g.pick(terms...)
	case terms != nil:
		return g.pick("dataset", "doi", "Personal ", "x", "Film")
	case t == reflect.TypeFor[metadata.Coordinate](), strings.HasSuffix(name, "itude"):
		if wrong {
			return g.pick("181", "-90.1", "1,5", "45N", "NaN", "90.0000001", "1e9")
		}
		return g.pick("0", "-0.5", "12.500", "+1", ".25", "-7.", "1E1", "00045")
	case name == "PublicationYear":
		if wrong {
			return g.pick(":tba", "20", "٢٠٢٠", "2020-01")
		}
		return g.pick("2024", "0000", "9999", "0054")
	case strings.HasPrefix(name, "Lang"):
		if wrong {
			return g.pick("en_US", "de-", "abcdefghi")
		}
		return g.pick("en", "pt-BR", "zh-Hant-TW")
	case strings.HasSuffix(name, "URI"), name == "ClassificationCode":
		if wrong {
			return g.pick("100%", "1:2", "a#b#c", "http://[x")
		}
		return g.pick("https://orcid.org", "551", "a b", "urn:x")
	}
	return g.text()
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// text returns a text with all that has a meaning in XML or JSON in it, and no
// white space around it.
func (g *generator) text() string {
	pieces := []string{
		"word", "Ünïcödé", "データ", "𝄞", " ", "\n", "\t", "\r", "\r\n", "&", "<", ">", `"`, "'", "&amp;", "]]>", "<br/>",
		"<!--",
		"<i>", "\\", "/", "\u2028", "\u00a0", "\ufeff", "null", "0", "é",
	}
	var b strings.Builder
	b.WriteString(g.pick("A", "ß", "<", "&", "0"))
	for range g.IntN(6) {
		b.WriteString(g.pick(pieces...))
	}
	b.WriteString(g.pick("z", ">", ";", "9"))
	return b.String()
}

func TestRecord_survivesXML(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*randomRecords) {
		g := newGenerator(seed)
		g.gaps = float64(seed%2) * 0.4
		rec := g.record()
		written := must(rec.XML())(t)
		got, err := metadata.ParseXML(bytes.NewReader(written))
		require.NoError(t, err, "seed %d", seed)
		if !reflect.DeepEqual(rec, got) {
			require.Equal(t, rec, got, "seed %d", seed)
		}
	}
}

func TestRecord_survivesJSON(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*randomRecords) {
		g := newGenerator(seed)
		g.gaps = float64(seed%2) * 0.4
		rec := &metadata.Record{}
		g.fill(reflect.ValueOf(rec).Elem(), "")
		clearExtra(reflect.ValueOf(rec).Elem())
		data := must(json.Marshal(rec))(t)
		got := &metadata.Record{}
		require.NoError(t, json.Unmarshal(data, got))
		if !reflect.DeepEqual(rec, got) {
			require.Equal(t, rec, got, "seed %d", seed)
		}
	}
}

// clearExtra empties the fields JSON has no place for.
func clearExtra(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]metadata.Attribute]() || v.Type() == reflect.TypeFor[[]int]() {
			v.SetZero()
		}
		for i := range v.Len() {
			clearExtra(v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			clearExtra(field)
		}
	}
}

// A record and its document are checked by different code, so they must find
// the same.
func TestValidate_agreesWithValidateXML(t *testing.T) {
	t.Parallel()
	invalid := 0
	for seed := range uint64(*randomRecords / 10) {
		g := newGenerator(seed)
		g.gaps, g.wrong = 0.05, 0.05
		if seed%2 == 0 {
			g.gaps, g.wrong = 0.003, 0.003
		}
		rec := g.record()
		written := must(rec.XML())(t)
		inDocument := must(metadata.FindingsXML(bytes.NewReader(written)))(t)
		want := errorsOf(rec.Findings())
		if len(want) > 0 {
			invalid++
		}
		require.Equal(t, want, errorsOf(inDocument), "seed %d:\n%s", seed, written)
	}
	assert.NotZero(t, invalid)
}

func errorsOf(findings []datacite.Finding) []string {
	var out []string
	for _, f := range findings {
		if !f.Warning && f.Code != "identifier" {
			out = append(out, fmt.Sprintf("%s at %s", f.Code, f.Path))
		}
	}
	slices.Sort(out)
	return out
}

func TestRecord_XMLOfFullRecordsIsValid(t *testing.T) {
	var documents []string
	for seed := range uint64(20) {
		rec := newGenerator(seed).record()
		require.NoError(t, rec.Validate())
		written := must(rec.XML())(t)
		documents = append(documents, string(written))
	}
	assert.Empty(t, refusals(t, documents))
}
