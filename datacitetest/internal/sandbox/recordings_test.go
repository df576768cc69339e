package sandbox_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// A recording is a request to the deployed DOI service and its answer, as the servers'
// own test suites have recorded them.
type recording struct {
	Request struct {
		Method, URI string
		Body        struct{ String bytesInYAML }
		Headers     map[string][]string
	}
	Response struct {
		Status  struct{ Code int }
		Headers map[string][]string
		Body    struct{ String bytesInYAML }
	}
	RecordedAt string `yaml:"recorded_at"`

	path string // with the query
}

// bytesInYAML is a text or, in base64, bytes that may be compressed.
type bytesInYAML string

func (b *bytesInYAML) UnmarshalYAML(node *yaml.Node) error {
	data := []byte(node.Value)
	if strings.HasSuffix(node.Tag, "!binary") {
		var err error
		if data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(node.Value), "")); err != nil {
			return err
		}
	}
	if r, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		data, _ = io.ReadAll(r)
	}
	*b = bytesInYAML(data)
	return nil
}

// made is the day on which the record was made, or else of the recording. What a record
// says may be as old.
func (x *recording) made() string {
	if created, ok := at(x.answer(), "data.attributes.created").(string); ok && created != "" {
		return created[:len(time.DateOnly)]
	}
	recorded, _ := time.Parse(time.RFC1123, x.RecordedAt)
	return recorded.Format(time.DateOnly)
}

func (x *recording) answer() (o map[string]any) {
	_ = json.Unmarshal([]byte(serverHost.ReplaceAllString(string(x.Response.Body.String), "https://api.example.org")), &o)
	return o
}

var serverHost = regexp.MustCompile(`https://api\.(?:\w+\.)?datacite\.org`)

func (x *recording) sent() (o map[string]any) {
	_ = json.Unmarshal([]byte(x.Request.Body.String), &o)
	return o
}

// recordings returns the exchanges about DOIs in the cassettes below a folder, each once.
func recordingsBelow(t *testing.T, folder string) (all []*recording) {
	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var cassette struct {
			Interactions []*recording `yaml:"http_interactions"`
		}
		if err := yaml.Unmarshal(data, &cassette); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, x := range cassette.Interactions {
			u, err := url.Parse(x.Request.URI)
			if err != nil || !strings.HasPrefix(u.Host, "api.") || !strings.HasSuffix(u.Host, "datacite.org") || !strings.HasPrefix(u.Path, "/dois") {
				continue
			}
			if x.path = u.RequestURI(); !seen[x.key()] {
				all = append(all, x)
			}
			seen[x.key()] = true
		}
		return nil
	}))
	return all
}

func (x *recording) key() string {
	return x.Request.Method + x.path + string(x.Request.Body.String+x.Response.Body.String)
}

// name is the DOI in the path, and what comes after it.
func (x *recording) name() (doi, action string) {
	path, _, _ := strings.Cut(strings.TrimPrefix(x.path, "/dois"), "?")
	path, _ = url.PathUnescape(strings.Trim(path, "/"))
	path = strings.TrimPrefix(path, "http://doi.org/")
	for _, action := range []string{"/get-url", "/media"} {
		if name, ok := strings.CutSuffix(path, action); ok {
			return name, action
		}
	}
	return path, ""
}

// replay asks a Deployed service, in the state that the recording must have met, and
// says where its answer is another: by member of the record, or "status".
func (x *recording) replay(t *testing.T) (differ map[string]difference) {
	name, action := x.name()
	prefix, _, _ := strings.Cut(name, "/")
	account := sandbox.DefaultAccount
	want := x.answer()
	if all := list(want["dois"]); len(all) > 0 {
		prefix, _, _ = strings.Cut(all[0].(string), "/")
	}
	account.Prefixes = append([]string{prefix}, account.Prefixes...)
	for _, text := range []map[string]any{x.sent(), want} {
		if id, ok := at(text, "data.relationships.client.data.id").(string); ok {
			account.ClientID = strings.ToLower(id)
			account.ProviderID, _, _ = strings.Cut(account.ClientID, ".")
		}
	}
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, Accounts: []sandbox.Account{account}})
	x.prepare(t, service, name, action)

	c := call{method: strings.ToUpper(x.Request.Method), path: x.path, body: string(x.Request.Body.String), header: map[string]string{}}
	for _, header := range []string{"Accept", "Content-Type"} {
		if values := x.Request.Headers[header]; len(values) > 0 {
			c.header[header] = values[0]
		}
	}
	if len(x.Request.Headers["Authorization"]) > 0 {
		password := account.Password
		if x.Response.Status.Code == http.StatusUnauthorized {
			password += " no longer"
		}
		c.header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(account.Username+":"+password))
	}
	a := c.do(t, service)
	if a.status != x.Response.Status.Code {
		return map[string]difference{"status": {fmt.Sprintf("%d %s %s", a.status, x.path, a.body), fmt.Sprint(x.Response.Status.Code)}}
	}
	var got map[string]any
	if want == nil || json.Unmarshal([]byte(a.body), &got) != nil {
		return nil
	}
	if attributes, ok := at(want, "data.attributes").(map[string]any); ok {
		want = attributes
		got, _ = at(got, "data.attributes").(map[string]any)
	}
	differ = map[string]difference{}
	for member, value := range want {
		found, there := got[member]
		d := difference{encoded(found), encoded(value)}
		if !there {
			d.have = "missing"
		}
		// What is read here was made of that XML.
		if made := member == "xml" && x.Request.Method == "get"; d.have != d.recorded && !volatile[member] && !made {
			differ[member] = d
		}
	}
	return differ
}

// difference is what the service answers and what is recorded, in JSON.
type difference struct{ have, recorded string }

// volatile are members that say when and how often: no replay repeats them.
var volatile = map[string]bool{
	"created": true, "updated": true, "registered": true, "metadataVersion": true, "viewCount": true, "downloadCount": true, "citationCount": true,
	"partCount": true, "partOfCount": true, "referenceCount": true, "versionCount": true, "versionOfCount": true, "viewsOverTime": true,
	"downloadsOverTime": true, "citationsOverTime": true, "landingPage": true,
}

func encoded(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
	return strings.TrimSpace(text.String())
}

// prepare brings the service into the state that the answer tells of: there the record
// was written before, of the XML that the answer has.
func (x *recording) prepare(t *testing.T, service *sandbox.Service, name, action string) {
	put := func(o map[string]any) { require.NoError(t, service.PutRecord([]byte(encoded(o)))) }
	write := func(path string, attributes map[string]any) (answer map[string]any) {
		a := call{method: http.MethodPut, path: path, header: apiType, as: "repo",
			body: encoded(map[string]any{"data": map[string]any{"type": "dois", "attributes": attributes}})}.do(t, service)
		require.Equal(t, http.StatusCreated, a.status, a.body)
		require.NoError(t, json.Unmarshal([]byte(a.body), &answer))
		return at(answer, "data.attributes").(map[string]any)
	}
	want := x.answer()
	attributes, _ := at(want, "data.attributes").(map[string]any)
	before := map[string]any{"doi": name, "state": "draft"}
	switch status := x.Response.Status.Code; {
	case name == "get-dois":
		for _, doi := range list(want["dois"]) {
			put(map[string]any{"doi": doi})
		}
		return
	case status == http.StatusNotFound, status == http.StatusUnprocessableEntity, status == http.StatusCreated && x.Request.Method == "put":
		return
	case action == "/get-url" && status == http.StatusOK:
		before = map[string]any{"doi": name, "url": want["url"]}
	case action == "/media" && len(list(want["data"])) > 0:
		write("/dois/"+name, map[string]any{
			"contentUrl": []any{at(list(want["data"])[0], "attributes.url")}, "formats": []any{at(list(want["data"])[0], "attributes.mediaType")},
		})
		return
	case attributes["xml"] != nil:
		// As a draft of another name: some are of schemas, and have names, that are not taken any more.
		prefix, _, _ := strings.Cut(name, "/")
		before = write("/dois/"+prefix+"/made?affiliation=true&publisher=true", map[string]any{"xml": attributes["xml"], "url": attributes["url"]})
		for _, member := range []string{"suffix", "isActive"} {
			delete(before, member)
		}
		for _, member := range []string{"state", "source", "contentUrl"} {
			before[member] = attributes[member] // it came beside the XML
		}
		before["doi"] = name
		if at(x.sent(), "data.attributes.event") == "hide" && before["state"] == "registered" {
			before["state"] = "findable"
		}
	}
	put(before)
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

// reason says why an answer differs from a recording. It is found by forgetting, in both,
// what it is about: if they are alike then, it is the reason, alone or with others.
type reason struct {
	until   string // the day from which the servers answer as the service does; "" if it does not play it
	members string // "" is all
	forget  func(difference) difference
	where   func(*recording) bool
	why     string
}

// whole forgets all of an answer of that form.
func whole(form string) func(difference) difference {
	return func(d difference) difference {
		if regexp.MustCompile(form).MatchString(d.have) {
			return difference{}
		}
		return d
	}
}

// as reads what has a form in another way.
func as(form, other string) func(difference) difference {
	return func(d difference) difference {
		re := regexp.MustCompile(form)
		return difference{re.ReplaceAllString(d.have, other), re.ReplaceAllString(d.recorded, other)}
	}
}

func without(form string) func(difference) difference { return as(form, "") }

func inFabrica(x *recording) bool {
	return at(x.answer(), "data.attributes.source") == "fabricaForm"
}

func isPatch(x *recording) bool { return x.Request.Method == "patch" }

func inOtherFormat(x *recording) bool {
	text, _ := at(x.sent(), "data.attributes.xml").(string)
	body, _ := base64.StdEncoding.DecodeString(text)
	return bytes.HasPrefix(body, []byte("{"))
}

const (
	people  = "creators contributors"
	numbers = "identifiers alternateIdentifiers"
)

// reasons are why recordings differ, each with its evidence in the servers' source.
var reasons = []reason{
	// What the service does not play.
	{members: "status", forget: whole(`^501 `), why: "it is refused (unsupported.md)"},
	{members: "status", forget: whole(`^404 \S+/media/\d{4}-`), why: "a medium has a number that only its server knows (lupo app/models/media.rb)"},
	{members: "data", forget: without(`"(created|updated|id|version)":("[^"]*"|\d+),?`), why: "a medium has a number that only its server knows (lupo app/models/media.rb)"},
	{members: "subjects", forget: without(`\{[^{}]*"subject":"FOS: [^{}]*\}`), why: "fields of science are not added (lupo 9818877d, deployed-records.md, Not replayed)"},
	{members: people, forget: as(`"familyName":"([^"]*)","givenName":"([^"]*)","name":"[^"]*"`, `"name":"$2 $1"`), why: "there is no list of given names (lupo config/initializers/gender_detector.rb, deployed-records.md, Not replayed)"},
	{where: inOtherFormat, members: "container creators dates descriptions identifiers types url xml", forget: whole(``), why: "of other formats the little that is read (bolognese readers/, deployed-records.md, Not replayed)"},
	{where: inFabrica, forget: without(`"\w+":null,?|"schemeUri":"[^"]*",?|,"valueUri":"[^"]*"`), why: "written in a form, not as XML (lupo app/models/doi.rb: null stays)"},
	{where: inFabrica, members: "language", forget: whole(``), why: "written in a form, not as XML (lupo app/models/doi.rb: null stays)"},

	// What older software did.
	{until: "2018-11-11", members: people, forget: without(`"contributorType":"[^"]*",?`), why: "organisations had no type as contributors (bolognese b681cb05)"},
	{until: "2018-12-11", members: "status", forget: whole(`^422 .*"source":"creators"`), why: "a change emptied the metadata that it did not name (lupo 00e756e1)"},
	{until: "2018-12-11", where: isPatch, members: "types xml", forget: whole(``), why: "a change emptied the metadata that it did not name (lupo 00e756e1)"},
	{until: "2018-12-15", members: "meta", forget: as(`"total-pages":\d+|"totalPages":\d+|"total":\d+`, ""), why: "media were counted in another spelling, and all of them (lupo 3fc7a9a4)"},
	{until: "2019-02-18", members: "fundingReferences", forget: without(`"awardTitle":\{[^}]*\},?`), why: "a text of blanks alone was none (bolognese 326c0fe8)"},
	{until: "2019-06-09", members: "status", forget: whole(`^422 .*"url","title":"Can't be blank"`), why: "without a URL, what was published stayed a draft (lupo ca4741c4, 4c2caf54)"},
	{until: "2019-07-20", members: people, forget: without(`"affiliation":\[[^\]]*\],?|"nameIdentifiers":\[\],?`), why: "affiliations were texts, and not there if empty (bolognese cf557588, db8cb793)"},
	{until: "2019-07-30", members: "identifier periodical", forget: whole(`missing`), why: "the identifier and the periodical were members (lupo d072c726)"},
	{until: "2019-08-05", members: "dates formats", forget: whole(``), why: "blanks and dates that are none were kept (bolognese def20165, a1f3ab34)"},
	{until: "2019-08-24", members: "status", forget: whole(`^204 \S+/get-url`), why: "the URL of a DOI was for its owner (lupo fc1ee721)"},
	{until: "2020-02-23", members: "relatedIdentifiers", forget: without(`"relatedIdentifier":"[^"]*",`), why: "a related DOI was kept as it was or as an address (bolognese 34b03cf4)"},
	{until: "2020-03-22", members: "included", forget: whole(`missing`), why: "lists of media included the record (lupo a4a6c8bc)"},
	{until: "2020-04-17", forget: without(`^(null|\[\]|\{\})$`), why: "what there is none of was null (lupo c5bc1078)"},
	{until: "2020-04-14", members: "schemaVersion", forget: whole(``), why: "the version of the schema got lost (lupo aa57df34)"},
	{until: "2020-04-18", members: people, forget: without(`,?"nameType":("Personal"|null)`), why: "whoever has a given name was a person (bolognese c8817010)"},
	{until: "2020-06-02", members: "version", forget: whole(``), why: "the version got lost (bolognese 10fbe9a1, 44810d85)"},
	{until: "2020-06-29", members: "rightsList", forget: whole(``), why: "licences were not yet those of SPDX (bolognese 5e4d3f22, lupo aa811f71)"},
	{until: "2020-07-01", members: "subjects", forget: once, why: "subjects were repeated (lupo 42b95c07)"},
	{until: "2020-07-16", members: numbers, forget: without(`\{[^{}]*dentifierType":"DOI"\}`), why: "the DOI was among the identifiers (lupo 34d5b7ea, bolognese d40e8b78)"},
	{until: "2020-07-22", members: "types", forget: without(`"ris":"\w+"`), why: "types stayed as they came (lupo c80f779c)"},
	{until: "2020-07-20", members: "data", forget: as(`dataciteDoi`, "doi"), why: "a medium belonged to a doi, not to a dataciteDoi (lupo ae1d185f)"},
	{until: "2021-01-07", members: "errors", forget: whole(`"uid"`), why: "faults had no DOI and fewer sources (lupo 9ecbcba6, 07ac6af3)"},
	{until: "2021-04-13", members: "geoLocations", forget: as(`"geoLocationPolygon":\[\[(.*?)\]\]`, `"geoLocationPolygon":[$1]`), why: "a polygon was a list of polygons (bolognese 3b899e47)"},
	{until: "2021-05-20", members: numbers, forget: whole(``), why: "identifiers from XML got lost (lupo 8072be8d, b715a914)"},
	{until: "2021-05-26", members: "subjects", forget: without(`"(schemeUri|valueUri)":"[^"]*",?`), why: "addresses of schemes got lost (bolognese be970e95)"},
	{until: "2022-05-02", members: "descriptions", forget: whole(`&lt;`), why: "'<' opened a tag wherever it stood (bolognese utils.rb, sanitize: with libxml2 before 2.9.14)"},
	{until: "2022-07-01", members: "links", forget: without(`"next":"[^"]*",?`), why: "the last page named a next one (lupo ca95aabb)"},
	{until: "2022-08-01", members: people, forget: without(`,?"(nameIdentifier|schemeUri)":"[^"]*"`), why: "name identifiers were pasted to the address of their scheme (bolognese cd43555d, cf658660)"},
	{until: "2022-12-28", members: "language", forget: whole(``), why: "languages of no two letters got lost (lupo f50b5945)"},
	{until: "2023-11-14", members: "descriptions creators", forget: without(`\\[rnt]|\\u00a0|[ \x{a0}]`), why: "lines and blanks were joined (bolognese a1f3ab34, f4e53231)"},
	{until: "2025-06-16", members: people, forget: lowered, why: "names were spelled with capitals (bolognese 9b615f17)"},
	{until: "2025-08-11", members: "geoLocations", forget: as(`(itude":)"?\+?(-?\d+)(?:(\.\d*[1-9])0*|\.0*)?"?`, "$1$2$3"), why: "coordinates were texts (lupo b6cbc7ea)"},
	{until: "2025-11-20", members: "container", forget: whole(``), why: "the container was made otherwise, and once (bolognese 754e51ee, lupo 2fa5221a)"},
}

func lowered(d difference) difference {
	return difference{strings.ToLower(d.have), strings.ToLower(d.recorded)}
}

// once leaves out what is like an item before.
func once(d difference) difference {
	for _, text := range []*string{&d.have, &d.recorded} {
		var items []any
		if json.Unmarshal([]byte(*text), &items) != nil {
			continue
		}
		kept := []string{}
		for _, item := range items {
			if one := encoded(item); !slices.Contains(kept, one) {
				kept = append(kept, one)
			}
		}
		*text = "[" + strings.Join(kept, ",") + "]"
	}
	return d
}

// explain is the reasons why a member differs; none if they leave something.
func (x *recording) explain(member string, d difference) []reason {
	given := slices.DeleteFunc(slices.Clone(reasons), func(r reason) bool {
		return r.until != "" && r.until <= x.made() || r.members != "" && !slices.Contains(strings.Fields(r.members), member) || r.where != nil && !r.where(x)
	})
	if !alikeBut(given, d) {
		return nil
	}
	for i := len(given) - 1; i >= 0; i-- { // it takes no more than those
		if fewer := slices.Delete(slices.Clone(given), i, i+1); alikeBut(fewer, d) {
			given = fewer
		}
	}
	return given
}

var commas, comma = regexp.MustCompile(`,{2,}`), regexp.MustCompile(`,([}\]])|([{\[]),`)

// tidied has no commas around what was forgotten.
func tidied(text string) string {
	return comma.ReplaceAllString(commas.ReplaceAllString(text, ","), "$1$2")
}

func alikeBut(reasons []reason, d difference) bool {
	for _, r := range reasons {
		d = r.forget(d)
	}
	return tidied(d.have) == tidied(d.recorded)
}

// Recordings of the deployed service, replayed. It needs a folder of cassettes, and
// prints how many answers agree, and why the others differ. Each difference has a reason.
func TestRecordings(t *testing.T) {
	folder := os.Getenv("DATACITE_RECORDINGS")
	if folder == "" {
		t.Skip("needs DATACITE_RECORDINGS, a folder of the servers' recorded exchanges")
	}
	all := recordingsBelow(t, folder)
	agree, explained := 0, 0
	counts, unexplained := map[string]int{}, []string{}
	for _, x := range all {
		differ := x.replay(t)
		left := len(unexplained)
		for member, d := range differ {
			because := x.explain(member, d)
			for _, r := range because {
				counts[r.why]++
			}
			if because == nil {
				unexplained = append(unexplained, fmt.Sprintf("%s %s %s, %s: %.400s\n\trecorded %.400s", x.made(), x.Request.Method, x.path, member, d.have, d.recorded))
			}
		}
		switch {
		case len(differ) == 0:
			agree++
		case left == len(unexplained):
			explained++
		}
	}
	var report strings.Builder
	for _, why := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) }) {
		fmt.Fprintf(&report, "%4d  %s\n", counts[why], why)
	}
	t.Logf("%d exchanges: %d agree in everything, %d differ for known reasons, %d without one\nMembers that differ, by reason:\n%s",
		len(all), agree, explained, len(all)-agree-explained, &report)
	assert.Empty(t, strings.Join(unexplained, "\n"), "Differences without a reason")
	for _, r := range reasons {
		assert.NotZero(t, counts[r.why], "a reason for nothing: "+r.why)
	}
}
