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

// junk is what forms, exports and typing leave in the texts of records.
var junk = []string{
	"", " ", "Alps", " Alps ", "R&D Lab", "<i>Alps</i>", "a < b", "fr", "fr ", "FR", "xx-invalid-", "2020", "2020-13-45", "0054", "Größe", "a\tb\nc", "\ufeffAlps", "]]>",
	"10.5072/x", " 10.5072/x ", "doi:10.5072/x", "https://example.org/", "not a uri", "0000-0001-5727-2427", "https://orcid.org/0000-0001-5727-2427", "ORCID", "ROR", "181", "x\x01", "x\xff", "null",
}

// spoilt is a random record with junk in some of its texts.
func spoilt(seed uint64) *metadata.Record {
	r, random := datacitetest.RandomRecord(seed), rand.New(rand.NewPCG(seed, 30))
	all := textsWithin(reflect.ValueOf(r).Elem(), nil)
	for range 1 + random.IntN(3) {
		all[random.IntN(len(all))].SetString(junk[random.IntN(len(junk))])
	}
	return r
}

// textsWithin are the texts of a record, also those that are empty.
func textsWithin(v reflect.Value, found []reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return append(found, v)
	case reflect.Pointer:
		if !v.IsNil() {
			return textsWithin(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = textsWithin(v.Index(i), found)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() && !slices.Contains([]string{"DOI", "SchemaVersion", "Identifiers"}, field.Name) {
				found = textsWithin(value, found)
			}
		}
	}
	return found
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
			done, err := srv.MDS().Register(t.Context(), name, address, doc, nil)
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
				given := spoilt(uint64(seed))
				warnings, err := write(t, srv, name, given)
				if err != nil {
					refused++
					require.ErrorIs(t, err, datacite.ErrInvalid, "seed %d", seed)
					sent, isSent := errors.AsType[*datacite.Error](err)
					assert.False(t, isSent, "seed %d: it was sent, and refused by the service: %v", seed, sent)
					continue
				}
				found := must(srv.DOIs().Get(t.Context(), name, nil))(t)
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
