package dois_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// eachText calls do with every text below v and its path in JSON.
func eachText(v reflect.Value, path string, do func(path string, text reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		do(path, v)
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), fmt.Sprintf("%s[%d]", path, i), do)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			at := path
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
				at = strings.TrimPrefix(path+"."+name, ".")
			}
			eachText(value, at, do)
		}
	}
}

// A blank before or after a value, as forms and tables have them, does not lose it: it is
// stored without the blank, or Findings names it.
func TestBlanksAroundValuesAreHarmlessOrNamed(t *testing.T) {
	file, err := os.Open("../testdata/records/full.xml")
	require.NoError(t, err)
	defer file.Close()
	rec, err := metadata.ParseXML(file)
	require.NoError(t, err)
	rec.DOI, rec.SchemaVersion = "", ""
	_ = rec.Validate()
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		n := 0
		stored := func(asXML bool) (*metadata.Record, error) {
			n++
			name := fmt.Sprintf("10.5072/blank-%d", n)
			if asXML {
				doc, err := mds.NewDocument(rec)
				if err != nil {
					return nil, err
				}
				if _, err := srv.MDS().PutMetadata(t.Context(), name, doc); err != nil {
					return nil, err
				}
			} else if _, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: name, Record: *rec}); err != nil {
				return nil, err
			}
			found, err := srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Affiliation: true, Publisher: true})
			if err != nil {
				return nil, err
			}
			found.DOI = ""
			return &found.Record, nil
		}
		for _, asXML := range []bool{false, true} {
			plain, err := stored(asXML)
			require.NoError(t, err)
			known := metadata.Diff(rec, plain)
			eachText(reflect.ValueOf(rec).Elem(), "", func(path string, text reflect.Value) {
				value := text.String()
				if value == "" {
					return
				}
				for _, spaced := range []string{" " + value, value + " ", value + "\t\n", "\u00a0" + value} {
					text.SetString(spaced)
					named := slices.ContainsFunc(rec.Findings(), func(f metadata.Finding) bool { return f.Path == path && f.Value == spaced })
					found, err := stored(asXML)
					text.SetString(value)
					if err != nil {
						t.Logf("refused %v %s %q: %.200v", asXML, path, spaced, err)
						continue
					}
					now := metadata.Diff(rec, found)
					if !slices.Equal(known, now) && !named {
						t.Errorf("xml %v %s %q: %v", asXML, path, spaced, now)
					}
				}
			})
		}
	})
}
var _ = assert.Equal
