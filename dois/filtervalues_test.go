package dois_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// goodValues are two values of each field of ListOptions that takes text, each of which
// finds something or changes something.
var goodValues = map[string][2]string{
	"Sort":       {"name", "-created"},
	"ProviderID": {"demo", "other"}, "ClientID": {"demo.alpha", "other.one"}, "ConsortiumID": {"union", "guild"},
	"ResourceTypeID": {"journal-article", "software"}, "Prefix": {"10.5072", "10.82433"},
	"Registered": {"2020", "2021"}, "Created": {"2019", "2020"}, "Published": {"2020", "2021"},
	"SchemaVersion": {"4.5", "3"}, "IDs": {"10.5072/ada", "10.5072/bob"}, "States": {"draft", "registered"},
	"Fields": {"doi", "titles"}, "Include": {"client", "client"}, "Facets": {"states", "published"},
}

// guild is what the second values find.
const guild = `{"doi":"10.5072/gus","consortium":"guild","client":{"id":"other.two"},"titles":[{"title":"Gus"}],"types":{"resourceTypeGeneral":"JournalArticle"}}`

// A value with a blank, other capitals or a comma too many, an empty one and a list finds
// just what its parts find, or is refused before anything is sent. So is a number that
// cannot be meant.
func TestAValueFindsNoLessThanItsParts(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, append(append(library, further...), guild)...)
		var sent int
		find := func(set func(reflect.Value), field string) ([]string, error) {
			opts := &dois.ListOptions{Page: query.Page{Size: 100}}
			set(reflect.ValueOf(opts).Elem().FieldByName(field))
			sent = len(srv.Requests())
			found, err := srv.DOIs().List(t.Context(), opts)
			if err != nil {
				return nil, err
			}
			return sorted(found.Records), nil
		}
		all, err := find(func(reflect.Value) {}, "Sort")
		require.NoError(t, err)

		for field := range reflect.TypeFor[dois.ListOptions]().Fields() {
			name := field.Name
			refusedOr := func(want []string, set func(reflect.Value), what string) {
				found, err := find(set, name)
				if e, known := errors.AsType[*datacite.Error](err); known && e.StatusCode == 501 {
					return
				}
				if err != nil {
					assert.ErrorIs(t, err, datacite.ErrInvalid, "%s %s", name, what)
					assert.Len(t, srv.Requests(), sent, "%s %s was sent", name, what)
					assert.Contains(t, strings.ToLower(err.Error()), strings.ToLower(name), what)
					return
				}
				assert.Equal(t, want, found, "%s %s", name, what)
			}
			switch field.Type.Kind() {
			case reflect.String, reflect.Slice:
				good, listed := goodValues[name]
				if !assert.True(t, listed, "%s: give two values", name) {
					continue
				}
				text := func(values ...string) func(reflect.Value) {
					return func(v reflect.Value) {
						if v.Kind() == reflect.String {
							v.SetString(values[0])
							return
						}
						v.Set(reflect.MakeSlice(v.Type(), len(values), len(values)))
						for i, value := range values {
							v.Index(i).SetString(value)
						}
					}
				}
				var parts [2][]string
				unsupported := false
				for i, value := range good {
					var err error
					parts[i], err = find(text(value), name)
					if e, known := errors.AsType[*datacite.Error](err); known && e.StatusCode == 501 {
						unsupported = true
						continue
					}
					require.NoError(t, err, "%s %q", name, value)
					require.NotEmpty(t, parts[i], "%s %q", name, value)
				}
				if unsupported {
					continue
				}
				both := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(parts[0]), parts[1]...))))
				for _, value := range []string{good[0] + " ", " " + good[0], good[0] + "\t", good[0] + ",", "," + good[0]} {
					refusedOr(parts[0], text(value), fmt.Sprintf("%q", value))
				}
				refusedOr(parts[0], text(strings.ToUpper(good[0])), "in capitals")
				refusedOr(parts[0], text(strings.ToLower(good[0])), "in small letters")
				for _, value := range []string{good[0] + "," + good[1], good[0] + ", " + good[1]} {
					refusedOr(both, text(value), fmt.Sprintf("%q", value))
				}
				refusedOr(nil, text(" "), "blank")
				if field.Type.Kind() == reflect.String {
					refusedOr(all, text(""), "not set")
					continue
				}
				refusedOr(nil, text(""), "an empty value")
				refusedOr(both, text(good[0], good[1]), "both values")
				refusedOr(parts[0], text(good[0], good[0]), "twice")
				refusedOr(parts[0], text(good[0], ""), "and an empty one")
				if !slices.Contains([]string{"Fields", "Include", "Facets"}, name) {
					refusedOr(nil, func(v reflect.Value) { v.Set(reflect.MakeSlice(v.Type(), 0, 0)) }, "an empty list")
				}
			case reflect.Int:
				refusedOr(all, func(v reflect.Value) { v.SetInt(0) }, "0")
				refusedOr(nil, func(v reflect.Value) { v.SetInt(-1) }, "-1")
			case reflect.Pointer:
				yes, err := find(func(v reflect.Value) { v.Set(reflect.ValueOf(new(true))) }, name)
				require.NoError(t, err)
				no, err := find(func(v reflect.Value) { v.Set(reflect.ValueOf(new(false))) }, name)
				require.NoError(t, err)
				assert.NotEqual(t, yes, no, name)
			case reflect.Bool, reflect.Interface, reflect.Map:
			case reflect.Struct: // Page, Sample and From have tests of their own
			default:
				t.Errorf("%s: a kind of field without a test", name)
			}
		}
	})
}
