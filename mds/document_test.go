package mds_test

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// formats are small documents of everything that the service keeps.
var formats = map[string]struct{ contentType, text string }{
	"DataCite XML": {mds.XMLType, string(record("Glacier length").Data)},
	"schema.org": {"application/vnd.schemaorg.ld+json",
		`{"@context":"https://schema.org","@type":"Dataset","name":"Glacier length","author":{"name":"Ada ` +
			`Lovelace"},"publisher":{"name":"R"},"datePublished":"2026"}`},
	"Codemeta": {"application/vnd.codemeta.ld+json",
		`{"@context":"https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld","@type":"SoftwareSourceCode","title":"Glacier length",
		"name":"Glacier length","author":{"name":"Ada Lovelace"},"agents":[{"@type":"person","givenName":"Ada","familyName":"Lovelace"}],"publisher":"R","datePublished":"2026"}`},
	"DataCite JSON": {"application/vnd.datacite.datacite+json",
		`{"schema-version":"http://datacite.org/schema/kernel-4","types":{"resourceTypeGeneral":"Dataset"},"creators":[{"name":"Lovelace, Ada"}],
		"titles":[{"title":"Glacier length"}],"publisher":"R","publicationYear":2026}`},
	"Crosscite": {"application/vnd.crosscite.crosscite+json",
		`{"types":{"resourceTypeGeneral":"Dataset"},"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Glacier ` +
			`length"}],"publisher":"R","publication_year":2026}`},
	"Citeproc": {"application/vnd.citationstyles.csl+json",
		`{"type":"dataset","DOI":"10.5072/glacier-7","title":"Glacier ` +
			`length","publisher":"R","issued":{"date-parts":[[2026]]},"author":[{"family":"Lovelace","given":"Ada"}]}`},
	"RIS": {"application/x-research-info-systems",
		"TY  - DATA\r\nT1  - Glacier length\r\nAU  - Lovelace, Ada\r\nPB  - R\r\nPY  - 2026\r\nDO  - " +
			"10.5072/glacier-7\r\nER  - \r\n"},
	"BibTeX": {"application/x-bibtex",
		"@misc{a,\n  title = {Glacier length},\n  author = {Lovelace, Ada},\n  publisher = {R},\n  doi = " +
			"{10.5072/glacier-7},\n  year = {2026}\n}\n"},
}

// of is a document in a format.
func of(format, text string) mds.Document {
	return mds.Document{ContentType: formats[format].contentType, Data: []byte(text)}
}

// Every method that writes metadata looks at them first: the service would call
// it a success and keep only a part.
func TestBrokenMetadataAreNotSent(t *testing.T) {
	whole := string(record("Salt and Pepper").Data)
	for name, data := range map[string]string{
		"an ampersand":    strings.Replace(whole, "and", "&", 1),
		"broken off":      whole[:len(whole)-20],
		"Latin-1":         strings.Replace(whole, "and", "\xe4nd", 1),
		"a document type": strings.Replace(whole, "<resource", "<!DOCTYPE resource><resource", 1),
	} {
		t.Run(name, func(t *testing.T) {
			srv := newServer(t, nil)
			c, doc := srv.MDS(), mds.XML([]byte(data))
			_, errPut := c.PutMetadata(t.Context(), "10.5072/a", doc)
			_, errRegister := c.Register(t.Context(), "10.5072/a", address, doc, nil)
			_, errMint := c.Mint(t.Context(), datacitetest.Prefix, doc)
			for _, err := range []error{errPut, errRegister, errMint} {
				require.ErrorIs(t, err, datacite.ErrInvalid)
				assert.ErrorContains(t, err, "doc.Data: is not")
			}
			assert.Empty(t, srv.Requests(), "nothing was sent")
		})
	}
}

func TestEveryFormatIsRegistered(t *testing.T) {
	for format, tt := range formats {
		t.Run(format, func(t *testing.T) {
			eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
				if srv.Behaviour == datacitetest.Documented && (format == "DataCite JSON" || format == "Crosscite") {
					return // specification §4.3 does not have them
				}
				registered := must(srv.MDS().Register(t.Context(), name, address, of(format, tt.text), nil))(t)
				stored := must(srv.MDS().Metadata(t.Context(), name))(t)
				assert.Contains(t, string(stored.Data), "Glacier length")
				assert.Contains(t, string(stored.Data), "Lovelace")
				assert.Equal(t, "findable", srv.State(name))
				assert.Equal(t, format != "DataCite XML", len(registered.Altered) > 0)
				again := must(srv.MDS().Register(t.Context(), name, address, of(format, tt.text), nil))(t)
				assert.Equal(t, format != "DataCite XML", again.Change == mds.ChangeUpdated, "other formats are always written")
			})
		})
	}
}

func TestNewDocument(t *testing.T) {
	_, err := mds.NewDocument(nil)
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.EqualValues(t, "missing", datacite.Findings(err)[0].Code)
	_, err = mds.NewDocument(&metadata.Record{})
	require.ErrorIs(t, err, datacite.ErrInvalid)
	invalid, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	assert.Greater(t, len(invalid.Findings), 3, "all faults at once")

	doc := glacier()
	assert.Equal(t, mds.XMLType, doc.ContentType)
	rec := must(metadata.ParseXML(bytes.NewReader(doc.Data)))(t)
	rec.RelatedIdentifiers = []metadata.RelatedIdentifier{
		{RelatedIdentifier: "https://example.org/m", RelatedIdentifierType: metadata.IdentifierURL,
			RelationType: metadata.RelationHasMetadata, RelatedMetadataScheme: "citeproc+json", SchemeURI: "https://example.org/s", SchemeType: "XSD"}}
	rec.Language = "de " // which JSON cannot have
	rec.RelatedItems = []metadata.RelatedItem{
		{RelatedItemType: "Book", RelationType: metadata.RelationCites, Titles: []metadata.Title{{Title: "B", Lang: "en"}}}}
	var codes []datacite.Code
	for _, f := range rec.Findings() {
		codes = append(codes, f.Code)
	}
	assert.Subset(t, codes, []datacite.Code{"json", "not-in-json", "not-in-xml"}, "of a record that is sent as JSON")
	doc = must(mds.NewDocument(rec))(t)
	assert.Empty(t, doc.Findings())
}

// naming is a document of each format that names a DOI.
func naming(t *testing.T, format, doi string) mds.Document {
	t.Helper()
	text := strings.NewReplacer(
		`identifierType="DOI"></`, `identifierType="DOI"> https://doi.org/`+doi+" </", "10.5072/glacier-7", doi,
		`"@type":"Dataset"`, `"@type":"Dataset","@id":"https://doi.org/`+doi+
			`"`, `"@type":"SoftwareSourceCode"`, `"@type":"SoftwareSourceCode","identifier":"`+doi+`"`,
		`"types":`, `"doi":"`+doi+`","types":`,
	).Replace(formats[format].text)
	require.Contains(t, text, doi)
	return of(format, text)
}

// A caller's loop that is one off writes the metadata of each DOI to the next.
func TestMetadataOfAnotherDOIAreRefused(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, c := t.Context(), srv.MDS()
		for format := range formats {
			doc, since := naming(t, format, "10.5072/somebody-else"), len(srv.Requests())
			_, errPut := c.PutMetadata(ctx, name, doc)
			_, errRegister := c.Register(ctx, name, address, doc, nil)
			for _, err := range []error{errPut, errRegister} {
				require.ErrorIs(t, err, datacite.ErrInvalid, format)
				require.EqualError(t, err, "datacite: doc.Data: names 10.5072/somebody-else, another DOI than 10.5072/glacier-7; "+
					"AllowOtherDOI permits that")
			}
			assert.Len(t, srv.Requests(), since, "something was sent")

			if srv.Behaviour == datacitetest.Documented && (format == "DataCite JSON" || format == "Crosscite") {
				continue // specification §4.3 does not have them
			}
			own := naming(t, format, strings.ToUpper(name))
			require.NoError(t, failure(c.PutMetadata(ctx, name, own)), "%s: the case of a name does not count", format)
			doc.AllowOtherDOI = true
			require.NoError(t, failure(c.Register(ctx, name, address, doc, nil)), "%s: for those who mean it", format)
			minted, err := c.Mint(ctx, datacitetest.Prefix, naming(t, format, "10.5072/somebody-else"))
			require.NoError(t, err, "%s: the identifier is overwritten", format)
			assert.Empty(t, srv.State("10.5072/somebody-else"))
			assert.Equal(t, "draft", srv.State(minted))
		}
		r := &metadata.Record{DOI: "10.5072/somebody-else", Creators: []metadata.Creator{{Name: "Lovelace, Ada"}},
			Titles:    []metadata.Title{{Title: "A"}},
			Publisher: metadata.Publisher{Name: "R"}, PublicationYear: "2026", Types: metadata.Types{
				ResourceTypeGeneral: metadata.ResourceTypeText}}
		doc := must(mds.NewDocument(r))(t)
		require.ErrorIs(t, failure(c.Register(ctx, name, address, doc, nil)), datacite.ErrInvalid)
	})
}

// Names that only look like another DOI are no reason to refuse.
func TestWhatNamesNoOtherDOI(t *testing.T) {
	for _, doc := range []mds.Document{
		of("DataCite XML", strings.Replace(string(record("A").Data), `DOI"></`, `DOI">(:tba)</`, 1)),
		of("DataCite XML", strings.Replace(string(record("A").Data), `DOI"></`,
			`DOI"><!-- 10.5072/b -->10.5072/<![CDATA[GLACIER-7]]></`, 1)),
		of("DataCite XML", strings.Replace(string(record("A").Data), "</resource>",
			`<alternateIdentifiers><alternateIdentifier alternateIdentifierType="DOI">10.5072/b</alternateIdentifier>`+
				`</alternateIdentifiers></resource>`, 1)),
		of("schema.org", strings.Replace(formats["schema.org"].text, `"name"`,
			`"@id":"https://repo.example.org/glacier/7","isPartOf":{"@id":"https://doi.org/10.5072/b"},"name"`, 1)),
		of("BibTeX", strings.Replace(formats["BibTeX"].text, "10.5072/glacier-7", `https://doi.org/10.5072/GLACIER\-7`, 1)),
	} {
		require.NoError(t, failure(newServer(t, nil).MDS().PutMetadata(t.Context(), name, doc)), string(doc.Data))
	}
}

// What package metadata knows of the metadata reaches everybody who registers them, whether
// they are written or not.
func TestRegistrationsWarn(t *testing.T) {
	rec := must(metadata.ParseXML(strings.NewReader(string(record("A").Data))))(t)
	rec.Creators[0].Lang = "en"
	rec.RelatedItems = metadata.List[metadata.RelatedItem]{{
		RelatedItemType: metadata.ResourceTypeJournal, RelationType: metadata.RelationIsPublishedIn,
		Titles:   metadata.List[metadata.Title]{{Title: "Notes"}},
		Creators: metadata.List[metadata.Creator]{metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427")},
	}}
	ofRecord := must(mds.NewDocument(rec))(t)
	raw := mds.XML([]byte(strings.Replace(string(record("A").Data), "<creatorName>", `<creatorName xml:lang="en">`, 1)))

	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.MDS()
		for range 2 { // new, and unchanged
			done := must(c.Register(t.Context(), name, address, ofRecord, nil))(t)
			assert.Equal(t, []string{"creators[0].lang", "relatedItems[0].creators[0]"}, pathsOf(done.Warnings),
				"the second is not in the XML")
		}
		named, err := c.Register(t.Context(), name, address,
			mds.XML([]byte(strings.Replace(string(record("A").Data), "</resource>",
				`<alternateIdentifiers><alternateIdentifier alternateIdentifierType="URL">`+address+
					`</alternateIdentifier></alternateIdentifiers></resource>`, 1))), nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"alternateIdentifiers[0].alternateIdentifier"}, pathsOf(named.Warnings),
			"the service does not keep the DOI's own URL")
		done := must(c.Register(t.Context(), name, address, raw, nil))(t)
		require.Equal(t, []string{"creators[0].lang"}, pathsOf(done.Warnings))
		assert.Contains(t, done.Warnings[0].String(), "warning: line 5, column 27: creators[0].lang")
	})
}

// A document full of faults does not fill the memory of who registers many.
func TestWarningsHaveABound(t *testing.T) {
	rec := must(metadata.ParseXML(strings.NewReader(string(record("A").Data))))(t)
	rec.Sizes = slices.Repeat([]string{" "}, 1000)
	doc := must(mds.NewDocument(rec))(t)
	done := must(newServer(t, nil).MDS().Register(t.Context(), name, address, doc, nil))(t)
	assert.Len(t, done.Warnings, 100)
	assert.Len(t, doc.Findings(), 1000)
}

func pathsOf(findings []datacite.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, f.Path)
	}
	return all
}

var documents = flag.Int("documents", 500, "generated documents that are registered and read back")

// TestWhatIsStoredIsWhatWasGiven registers documents with all that XML has to
// offer, and some that are broken. What is taken is stored with the same content,
// or the registration names what is not.
func TestWhatIsStoredIsWhatWasGiven(t *testing.T) {
	var notWellFormed, refused, same, altered int
	for i := range uint64(*documents) {
		r := rand.New(rand.NewPCG(i, 23))
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviours()[i%2]})
		given := withPieces(r)
		done, err := srv.MDS().Register(t.Context(), name, address, mds.XML(given), nil)
		if err != nil {
			require.True(t, errors.Is(err, datacite.ErrInvalid) || errors.Is(err, datacite.ErrMediaType), "%d: %v: %s", i, err,
				given)
			if len(srv.Requests()) == 0 {
				notWellFormed++
			} else {
				refused++
			}
			srv.Close()
			continue
		}
		stored := storedXML(t, srv, name)
		if xml.Unmarshal(given, new(struct{})) != nil {
			assert.NotEmpty(t, done.Altered, "names that encoding/xml does not know cannot be compared")
			srv.Close()
			continue
		}
		isSame := content(t, given) == content(t, []byte(stored))
		require.Equal(t, isSame, len(done.Altered) == 0, "%d: %q\n%s\n%s", i, done.Altered, given, stored)
		if isSame {
			same++
		} else {
			altered++
		}
		again := must(srv.MDS().Register(t.Context(), name, address, mds.XML(given), nil))(t)
		require.Equal(t, mds.ChangeNone, again.Change, "%d: %q\n%s\n%s", i, again.Altered, given, stored)
		srv.Close()
	}
	t.Logf("%d documents: %d are not well formed, %d are refused by the service, %d are stored as they are, %d altered",
		*documents, notWellFormed, refused, same, altered)
	assert.Greater(t, same, *documents/20)
	assert.Greater(t, altered, *documents/50)
	assert.Greater(t, notWellFormed, *documents/20)
}

// Each difference is named with its place, once for each time, and without the password.
func TestAlteredNamesEachDifference(t *testing.T) {
	const root = `<resource xmlns="http://datacite.org/schema/kernel-4">`
	lost := func(name string, text, n int, what string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("/resource/a[1]/%s[%d]: \"%d\" %s", name, i+1, text, what))
		}
		return all
	}
	for _, tt := range []struct {
		given, stored string
		want          []string
	}{
		{"<titles><title>A</title><title>B</title></titles><version>1</version>",
			"<titles><title>A</title><title>C</title></titles><version>1</version>", []string{
				`/resource/titles[1]/title[2]: "B" was given and is not stored`,
				`/resource/titles[1]/title[2]: "C" is stored and was not given`,
			}},
		{"<titles><title>A</title></titles>", "<titles><title>A<b>x</b>y</title></titles>", []string{
			`/resource/titles[1]/title[1]/b[1]: "x" is stored and was not given`,
			`/resource/titles[1]/title[1]: "y" is stored and was not given`,
		}},
		{"<a>1</a><a/>", "<a>1</a>", []string{`/resource/a[2]: "" was given and is not stored`}},
		{"<a>1<b/>1</a>", "<a>1<b/></a>", []string{`/resource/a[1]: "1" was given and is not stored`}},
		{"<a b='1' c='2'/>", "<a c='2' b='1'/>", nil},
		{"<a b='1 2'/><c/>", "<a b='1\n2'/><c/>", nil},
		{"<a b='1 2'/>", "<a b='1&#13;2'/>", nil},
		{"<a b='1 2'/>", "<a b='12'/>", []string{`/resource/a[1]/@b: "1 2" was given and is not stored`,
			`/resource/a[1]/@b: "12" is stored and was not given`}},
		{"<a>1<b/>2</a>", "<a>2<b/>1</a>", []string{"the order of the elements"}},
		{"<a>" + strings.Repeat("<b>1</b>", 10) + "</a>", "<a>" + strings.Repeat("<c>2</c>", 10) + "</a>",
			append(lost("b", 1, 10, "was given and is not stored"), lost("c", 2, 10, "is stored and was not given")...)},
		{"<a>" + strings.Repeat("<b>1</b>", 15) + "</a>", "<a>" + strings.Repeat("<c>2</c>", 15) + "</a>",
			append(append(lost("b", 1, 15, "was given and is not stored"), lost("c", 2, 4, "is stored and was not given")...),
				"and 11 more")},
		{"<a/>", "<a>" + account.Password + "</a>",
			[]string{`/resource/a[1]: "" was given and is not stored`,
				`/resource/a[1]: "REDACTED" is stored and was not given`}},
	} {
		c := served(t, func(req *http.Request) *http.Response {
			switch {
			case req.Method == http.MethodPut:
				return response(201, plain, "OK ("+name+")")
			case strings.HasPrefix(req.URL.Path, "/doi/"):
				return response(200, plain, address)
			}
			return response(200, "application/xml", root+tt.stored+"</resource>")
		}, nil)
		done := must(c.Register(t.Context(), name, address, mds.XML([]byte(root+tt.given+"</resource>")),
			&mds.RegisterOptions{Show: true}))(t)
		assert.Equal(t, tt.want, done.Altered, tt.given)
	}
}

// The name of an attribute loses characters like any text, which is no reason to take the
// response for a foreign page.
func TestNamesBeyondASCII(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: datacitetest.Deployed})
	defer srv.Close()
	doc := mds.XML(bytes.Replace(record("Glacier").Data, []byte("xsi:"), []byte("xsi:é"), 1))
	require.Contains(t, string(doc.Data), "xsi:é")
	done := must(srv.MDS().Register(t.Context(), name, address, doc, nil))(t)
	assert.Empty(t, done.Altered, "as far as can be seen")
	_, err := srv.MDS().Metadata(t.Context(), name)
	require.ErrorIs(t, err, mds.ErrReplacedCharacters)
	require.NotErrorIs(t, err, datacite.ErrUnreadable)
}

// withPieces is a record with pieces put in where they may or may not stand.
func withPieces(r *rand.Rand) []byte {
	text := string(record("Glacier | length").Data)
	if r.IntN(4) == 0 {
		text = strings.Replace(text, "</resource>",
			"<descriptions><description descriptionType=\"Abstract\">One|<br/>two</description></descriptions></resource>", 1)
	}
	for range r.IntN(3) + 1 {
		piece := xmlPieces[r.IntN(len(xmlPieces))]
		switch r.IntN(8) {
		case 0:
			at := r.IntN(len(text) + 1)
			text = text[:at] + piece + text[at:]
		case 1:
			text = piece + text
		case 2:
			text += piece
		case 3:
			if at := r.IntN(len(text) + 1); r.IntN(4) == 0 {
				text = text[:at]
			}
		default:
			text = strings.Replace(text, "|", "|"+piece, 1)
		}
	}
	return []byte(text)
}

var xmlPieces = []string{
	"<i>in situ</i>", "<sub>2</sub>", "<br>", "</br>", "<br/>", "<b >x</b >", "<I>x</I>", "<![CDATA[<b>x</b> & <y>]]>",
	"<![CDATA[ ]]>", "<!-- c -->", "<?p i?>",
	"&amp;", "&", "&lt;i&gt;", "&#60;i&#62;", "&#13;", "&#x1F600;", "&nbsp;", "&#0;", "\ufeff", "\u200b", "é", "e\u0301", "\U0001F9CA", "\xe4", "\r\n", "\n\n  ", "\t",
	"<", ">", "]]>", "\"", "'", "\x01", "\ufffe", "\u0085", "\u2028", "<title>", "</title>", "</title><title xml:lang=\"de\">Zwei", "</title><title titleType=\"Subtitle\">",
	"<identifier>10.5072/other</identifier>", " identifierType='DOI'", "<code>a</code>", "<strong>a</strong><em>" +
		"b</em>", "<pre>\n a\n</pre>", "<sup>2</sup>",
}

// content writes down what an XML document says, independently of how the client
// compares two.
func content(t *testing.T, data []byte) string {
	t.Helper()
	var out, text strings.Builder
	depth := 0
	flush := func() {
		if t := strings.Trim(text.String(), " \t\r\n"); t != "" && depth > 0 {
			fmt.Fprintf(&out, "%q\n", t)
		}
		text.Reset()
	}
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return out.String()
		}
		require.NoError(t, err, "%s", data)
		switch token := token.(type) {
		case xml.StartElement:
			flush()
			if depth == 1 && token.Name.Local == "identifier" {
				require.NoError(t, decoder.Skip())
				continue
			}
			depth++
			fmt.Fprintf(&out, "<%s %s%s\n", strings.Join(strings.Fields(token.Name.Space), " "), token.Name.Local,
				attributes(token.Attr))
		case xml.EndElement:
			flush()
			depth--
			out.WriteString(">\n")
		case xml.CharData:
			text.Write(token)
		}
	}
}

func attributes(all []xml.Attr) string {
	kept := slices.DeleteFunc(slices.Clone(all), func(a xml.Attr) bool {
		return a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || a.Name.Local == "schemaLocation"
	})
	slices.SortFunc(kept, func(a, b xml.Attr) int {
		return cmp.Or(cmp.Compare(a.Name.Space, b.Name.Space), cmp.Compare(a.Name.Local, b.Name.Local))
	})
	var out strings.Builder
	for _, a := range kept {
		fmt.Fprintf(&out, " %s %s=%q", a.Name.Space, a.Name.Local, strings.Join(strings.Fields(a.Value), " "))
	}
	return out.String()
}

// Tags that the store makes text each time are no reason to write again, but said.
func TestTagsThatBecomeText(t *testing.T) {
	_, c := newDeployed(t)
	for i, tag := range []string{"strong", "em", "b", "i", "code", "pre", "sub", "sup", "br"} {
		for j, change := range []mds.Change{mds.ChangeUpdated, mds.ChangeNone} {
			done := must(c.Register(t.Context(), name, address, record("<"+tag+">x</"+tag+">"), nil))(t)
			assert.True(t, done.Change == change || i+j == 0, tag)
			assert.NotEmpty(t, done.Altered, tag)
		}
	}
}

const deployedStore = "deployed-store.md"

// What the store changes in a document, the registration tells of.
func TestNothingIsChangedInSilence(t *testing.T) {
	taken := 0
	for _, row := range testkit.Table(t, deployedStore, "Documents") {
		text := testkit.Expand(t, deployedStore, row[0])
		srv, c := newDeployed(t)
		done, err := c.Register(t.Context(), name, address, mds.XML([]byte(text)), nil)
		if err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalid, text)
			continue
		}
		taken++
		same := content(t, []byte(text)) == content(t, []byte(storedXML(t, srv, name)))
		assert.Equal(t, same, len(done.Altered) == 0, "%q: %s", done.Altered, text)
	}
	assert.Greater(t, taken, 10)
}

// What the store repairs, by dropping parts, is not sent.
func TestNothingIsRepaired(t *testing.T) {
	for _, row := range testkit.Table(t, deployedStore, "Broken documents") {
		srv, c := newDeployed(t)
		require.ErrorIs(t, failure(c.Register(t.Context(), name, address,
			mds.XML([]byte(testkit.Expand(t, deployedStore, row[0]))), nil)), datacite.ErrInvalid, row[0])
		assert.Empty(t, srv.Requests(), row[0])
	}
}
