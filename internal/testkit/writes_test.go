package testkit_test

import (
	"errors"
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
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

var writes = flag.Int("writes", 50, "random records that are written on each road")

// terms are the values of the vocabularies.
var terms = map[reflect.Type][]string{
	reflect.TypeFor[metadata.ResourceTypeGeneral]():   valuesOf[metadata.ResourceTypeGeneral](),
	reflect.TypeFor[metadata.ContributorType]():       valuesOf[metadata.ContributorType](),
	reflect.TypeFor[metadata.DateType]():              valuesOf[metadata.DateType](),
	reflect.TypeFor[metadata.DescriptionType]():       valuesOf[metadata.DescriptionType](),
	reflect.TypeFor[metadata.TitleType]():             valuesOf[metadata.TitleType](),
	reflect.TypeFor[metadata.NameType]():              valuesOf[metadata.NameType](),
	reflect.TypeFor[metadata.FunderIdentifierType]():  valuesOf[metadata.FunderIdentifierType](),
	reflect.TypeFor[metadata.RelatedIdentifierType](): valuesOf[metadata.RelatedIdentifierType](),
	reflect.TypeFor[metadata.RelationType]():          valuesOf[metadata.RelationType](),
}

func valuesOf[T metadata.Term]() (all []string) {
	for _, v := range metadata.Values[T]() {
		all = append(all, string(v))
	}
	return all
}

// junk is what forms, exports and typing leave in the texts of records.
var junk = []string{
	"", " ", "Alps", " Alps ", "R&D Lab", "<i>Alps</i>", "a < b", "fr", "fr ", "FR", "xx-invalid-", "2020", "2020-13-45", "0054", "Größe", "a\tb\nc", "\ufeffAlps", "]]>",
	"10.5072/x", " 10.5072/x ", "doi:10.5072/x", "https://example.org/", "not a uri", "0000-0001-5727-2427", "https://orcid.org/0000-0001-5727-2427", "ORCID", "ROR", "181", "x\x01", "x\xff", "null",
}

// A writer draws records: complete ones, with junk in some of their values.
type writer struct{ *rand.Rand }

func (w writer) record() *metadata.Record {
	r := plain(0)
	v := reflect.ValueOf(&r).Elem()
	for range 1 + w.IntN(3) {
		name := v.Type().Field(w.IntN(v.NumField())).Name
		if !slices.Contains([]string{"DOI", "SchemaVersion", "Identifiers"}, name) {
			w.fill(v.FieldByName(name), name, 0)
		}
	}
	return &r
}

// text is most often one that fits the field.
func (w writer) text(field string) string {
	fit := []string{"Alps", " Alps ", "R&D Lab", "<i>Alps</i>", "Größe", "2020"}
	switch {
	case strings.Contains(field, "uri"):
		fit = []string{"https://example.org/"}
	case strings.Contains(field, "lang"):
		fit = []string{"fr", "fr ", "de-AT"}
	case strings.Contains(field, "itude"):
		fit = []string{"7.5", " -7 "}
	case strings.Contains(field, "year"):
		fit = []string{"2020", "1850"}
	}
	if w.IntN(8) == 0 {
		fit = junk
	}
	return fit[w.IntN(len(fit))]
}

func (w writer) fill(v reflect.Value, name string, depth int) {
	switch v.Kind() {
	case reflect.String:
		if known := terms[v.Type()]; known != nil && w.IntN(20) > 0 {
			v.SetString(known[w.IntN(len(known))])
			return
		}
		v.SetString(w.text(strings.ToLower(name)))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Int {
			return // Breaks belong to a text
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 2))
		for range w.IntN(2) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		}
		for i := range v.Len() {
			w.fill(v.Index(i), name, depth+1)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		w.fill(v.Elem(), name, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && (w.IntN(3) > 0 || depth == 0) {
				w.fill(v.Field(i), v.Type().Field(i).Name, depth+1)
			}
		}
	}
}

// What is written is stored as it was given, or refused, or the result has a warning that
// names what became different.
func TestNothingIsLostWithoutAWarning(t *testing.T) {
	const address = "https://example.org/"
	roads := map[string]func(*testing.T, *datacitetest.Server, string, *metadata.Record) ([]datacite.Finding, error){
		"mds": func(t *testing.T, srv *datacitetest.Server, name string, r *metadata.Record) ([]datacite.Finding, error) {
			doc, err := mds.NewDocument(r)
			if err != nil {
				return nil, err
			}
			done, err := srv.MDS().Register(t.Context(), name, address, doc)
			if err != nil {
				return nil, err
			}
			return done.Warnings, nil
		},
		"dois, published": func(t *testing.T, srv *datacitetest.Server, name string, r *metadata.Record) ([]datacite.Finding, error) {
			return create(t, srv, &dois.Draft{DOI: name, URL: address, Event: dois.Publish, Record: *r})
		},
		"dois, a draft": func(t *testing.T, srv *datacitetest.Server, name string, r *metadata.Record) ([]datacite.Finding, error) {
			return create(t, srv, &dois.Draft{DOI: name, Record: *r})
		},
	}
	for road, write := range roads {
		t.Run(road, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
			defer srv.Close()
			stored, refused, warned := 0, 0, 0
			for seed := range *writes {
				name := fmt.Sprintf("10.5072/w%d", seed)
				given := writer{rand.New(rand.NewPCG(uint64(seed), 30))}.record()
				warnings, err := write(t, srv, name, given)
				if err != nil {
					refused++
					require.ErrorIs(t, err, datacite.ErrInvalid, "seed %d", seed)
					sent, isSent := errors.AsType[*datacite.Error](err)
					assert.False(t, isSent, "seed %d: it was sent, and refused by the service: %v", seed, sent)
					continue
				}
				found, err := srv.DOIs().Get(t.Context(), name, nil)
				require.NoError(t, err)
				changes := metadata.Diff(given, &found.Record)
				for _, c := range changes {
					assert.True(t, slices.ContainsFunc(warnings, func(f datacite.Finding) bool { return about(f.Path, c.Path) }), "seed %d: %s; warnings: %v", seed, c, warnings)
				}
				if stored++; len(changes) > 0 {
					warned++
				}
			}
			t.Logf("%d stored, %d of them with a warning of a difference; %d refused", stored, warned, refused)
			assert.Positive(t, stored)
			assert.Positive(t, refused)
		})
	}
}

func create(t *testing.T, srv *datacitetest.Server, d *dois.Draft) ([]datacite.Finding, error) {
	t.Helper()
	made, err := srv.DOIs().Create(t.Context(), d)
	if err != nil {
		return nil, err
	}
	return made.Warnings, nil
}

// about reports whether one of two paths leads to the other.
func about(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, inside := strings.CutPrefix(b, a)
	return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
