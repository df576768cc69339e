package dois_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// eachText calls do with every text below v that is not empty.
func eachText(v reflect.Value, do func(text reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		if v.String() != "" {
			do(v)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), do)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			eachText(field, do)
		}
	}
}

func everything(t *testing.T) *metadata.Record {
	document, err := os.ReadFile("../testdata/records/full.xml")
	require.NoError(t, err)
	rec, err := metadata.ParseXML(bytes.NewReader(document))
	require.NoError(t, err)
	rec.DOI, rec.SchemaVersion = "", ""
	inItem := rec.RelatedItems[0]
	inItem.RelatedItemIdentifier = metadata.RelatedItemIdentifier{RelatedItemIdentifier: "10.5072/book", RelatedItemIdentifierType: metadata.IdentifierDOI}
	rec.RelatedItems = append(rec.RelatedItems, inItem)
	rec.FundingReferences = append(rec.FundingReferences, metadata.FundingReference{
		FunderName: "Other Foundation", FunderIdentifier: "https://ror.org/04wxnsj81", FunderIdentifierType: metadata.FunderROR,
	})
	return rec
}

var blanks = flag.Int("blanks", 1, "kinds of white space that each value of a record is tried with, of five")

// White space around a value, as forms and tables have it, does not lose the value: it is
// stored without, refused, or a finding names it.
func TestBlanksAroundValuesAreHarmlessOrNamed(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		written := 0
		// taken is what is stored of a record, and what was said of it; nil if it was refused.
		taken := func(write func(name string) ([]datacite.Finding, error)) (*metadata.Record, []datacite.Finding) {
			written++
			name := fmt.Sprintf("10.5072/blank-%d", written)
			said, err := write(name)
			if err != nil {
				return nil, nil
			}
			found, err := srv.DOIs().Get(t.Context(), name, nil)
			require.NoError(t, err)
			found.DOI = ""
			return &found.Record, said
		}
		asJSON := func(rec *metadata.Record) func(string) ([]datacite.Finding, error) {
			return func(name string) ([]datacite.Finding, error) {
				made, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: name, Record: *rec})
				if err != nil {
					return nil, err
				}
				return made.Warnings, nil
			}
		}
		asXML := func(doc mds.Document, err error) func(string) ([]datacite.Finding, error) {
			return func(name string) ([]datacite.Finding, error) {
				if err == nil {
					_, err = srv.MDS().PutMetadata(t.Context(), name, doc)
				}
				return doc.Findings(), err
			}
		}
		check := func(plain, spaced *metadata.Record, usual, said []datacite.Finding, what string) {
			if spaced != nil && len(said) == len(usual) {
				assert.Empty(t, metadata.Diff(plain, spaced), what)
			}
		}
		rec := everything(t)
		rec.Dates = slices.DeleteFunc(rec.Dates, func(d metadata.Date) bool { return d.DateType == metadata.DateIssued }) // the service makes one of the year
		plainJSON, usualJSON := taken(asJSON(rec))
		plainXML, usualXML := taken(asXML(mds.NewDocument(rec)))
		tried := 0
		eachText(reflect.ValueOf(rec).Elem(), func(text reflect.Value) {
			value := text.String()
			kinds := []string{" " + value + " \t\n", "\u00a0" + value, value + "\u200b", "\u2060" + value, value + "\u00ad"}
			for range *blanks {
				spaced := kinds[tried%len(kinds)]
				tried++
				text.SetString(spaced)
				found, said := taken(asJSON(rec))
				check(plainJSON, found, usualJSON, said, fmt.Sprintf("as JSON %q", spaced))
				found, said = taken(asXML(mds.NewDocument(rec)))
				check(plainXML, found, usualXML, said, fmt.Sprintf("as XML %q", spaced))
			}
			text.SetString(value)
		})

		document, err := rec.XML()
		require.NoError(t, err)
		for _, at := range valueInXML.FindAllSubmatchIndex(document, -1) {
			if bytes.Contains(document[at[0]:at[1]], []byte(`xmlns`)) || at[2] < bytes.Index(document, []byte("<identifier")) {
				continue
			}
			for _, pad := range [][2]string{{" ", ""}, {"\n    ", "\n  "}} {
				spaced := slices.Concat(document[:at[2]], []byte(pad[0]), document[at[2]:at[3]], []byte(pad[1]), document[at[3]:])
				found, said := taken(asXML(mds.XML(spaced), nil))
				check(plainXML, found, usualXML, said, fmt.Sprintf("in XML %q", spaced[at[0]:at[1]+4]))
			}
		}
	})
}

// valueInXML is a text without elements, or an attribute.
var valueInXML = regexp.MustCompile(`(?:>|=")([^<>"]*[^<>"\s][^<>"]*)[<"]`)

// What encoding/json would replace by U+FFFD is refused, wherever it is in a draft; U+FFFD
// itself, and its escape sequence as a text, are stored as they are.
func TestTextsThatJSONWouldReplace(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	t.Cleanup(srv.Close)
	ctx, client := t.Context(), srv.DOIs()
	for path, draft := range map[string]*dois.Draft{
		"Draft.URL":           {URL: "https://example.org/\xff"},
		"Draft.Reason":        {Reason: "gone\xff"},
		"Draft.ContentURL":    {ContentURL: []string{"https://example.org/", "\xc3"}},
		"Draft.Container":     {Container: &dois.Container{Title: "Pr\xfcfungen"}},
		`Draft.Extra["a"]`:    {Extra: map[string]any{"a": []any{map[string]any{"b": "\xff"}}}},
		`Draft.Extra["raw"]`:  {Extra: map[string]any{"raw": json.RawMessage("\"\xff\"")}},
		`Draft.Extra["of"]`:   {Extra: map[string]any{"of": []*struct{ Name string }{nil, {"\xff"}}}},
		`Draft.Extra["key"]`:  {Extra: map[string]any{"key": map[string]string{"\xff": "b"}}},
		`Draft.Extra["\xff"]`: {Extra: map[string]any{"\xff": "b"}},
		`Draft.Extra["chan"]`: {Extra: map[string]any{"chan": make(chan int)}},
	} {
		before := len(srv.Requests())
		_, err := client.Update(ctx, "10.5072/texts", draft)
		field, ok := errors.AsType[*datacite.ValidationError](err)
		require.True(t, ok, "%s: %v", path, err)
		assert.Equal(t, path, field.Findings[0].Path)
		assert.Len(t, srv.Requests(), before)
	}
	for _, title := range []string{"\ufffd", `\ufffd`, `\\ufffd`, "\\\ufffd"} {
		r, err := client.Update(ctx, "10.5072/texts", &dois.Draft{Reason: title, Container: &dois.Container{Title: title}})
		require.NoError(t, err)
		assert.Equal(t, title, r.Reason)
	}
}
