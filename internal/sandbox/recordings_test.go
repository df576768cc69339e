package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/datacite-go/datacite-go/internal/sandbox"
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

	file string
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

func (x *recording) year() string {
	at, err := time.Parse(time.RFC1123, x.RecordedAt)
	if err != nil {
		return "?"
	}
	return at.Format("2006")
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
			if x.file, x.path = path, u.RequestURI(); !seen[x.key()] {
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
func (x *recording) replay(t *testing.T) (agree []string, differ map[string]string) {
	name, action := x.name()
	prefix, _, _ := strings.Cut(name, "/")
	account := sandbox.DefaultAccount
	account.Prefixes = append(slices.Clone(account.Prefixes), prefix)
	var want, sent map[string]any
	_, _ = json.Unmarshal([]byte(x.Response.Body.String), &want), json.Unmarshal([]byte(x.Request.Body.String), &sent)
	for _, text := range []map[string]any{sent, want} {
		if id, ok := at(text, "data.relationships.client.data.id").(string); ok {
			account.ClientID = strings.ToLower(id)
			account.ProviderID, _, _ = strings.Cut(account.ClientID, ".")
		}
	}
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, Accounts: []sandbox.Account{account}})
	attributes, _ := at(want, "data.attributes").(map[string]any)
	x.prepare(t, service, name, action, attributes)

	c := call{method: strings.ToUpper(x.Request.Method), path: x.path, body: string(x.Request.Body.String), header: map[string]string{}}
	for _, header := range []string{"Accept", "Content-Type"} {
		if values := x.Request.Headers[header]; len(values) > 0 {
			c.header[header] = values[0]
		}
	}
	if len(x.Request.Headers["Authorization"]) > 0 && x.Response.Status.Code != http.StatusUnauthorized {
		c.header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(account.Username+":"+account.Password))
	}
	a := c.do(t, service)
	differ = map[string]string{}
	if a.status != x.Response.Status.Code {
		differ["status"] = fmt.Sprintf("%d, recorded %d", a.status, x.Response.Status.Code)
		return agree, differ
	}
	agree = append(agree, "status")
	var got map[string]any
	if want == nil || json.Unmarshal([]byte(a.body), &got) != nil {
		return agree, differ
	}
	if attributes == nil {
		attributes, got = want, map[string]any{"attributes": got}
	} else {
		got, _ = at(got, "data").(map[string]any)
	}
	for member, value := range attributes {
		if volatile[member] {
			continue
		}
		found, there := got["attributes"].(map[string]any)[member]
		switch have, should := encoded(found), encoded(value); {
		case !there:
			differ[member] = "missing, recorded " + should
		case have != should:
			differ[member] = have + ", recorded " + should
		default:
			agree = append(agree, member)
		}
	}
	return agree, differ
}

// volatile are members that say when, where and how often: no replay repeats them.
var volatile = map[string]bool{
	"created": true, "updated": true, "registered": true, "metadataVersion": true, "viewCount": true, "downloadCount": true, "citationCount": true,
	"partCount": true, "partOfCount": true, "referenceCount": true, "versionCount": true, "versionOfCount": true, "viewsOverTime": true,
	"downloadsOverTime": true, "citationsOverTime": true, "landingPage": true, "source": true, "state": true, "isActive": true, "url": true,
	"contentUrl": true, "reason": true, "xml": true, "published": true, "prefix": false,
}

func encoded(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// prepare brings the service into the state that the answer tells of.
func (x *recording) prepare(t *testing.T, service *sandbox.Service, name, action string, attributes map[string]any) {
	draft := fmt.Appendf(nil, `{"doi":%q,"state":"draft"}`, name)
	status := x.Response.Status.Code
	switch method := x.Request.Method; {
	case method == "get" && status == http.StatusOK && attributes["xml"] != nil:
		// The record is made of the XML that it was made of there.
		body, err := json.Marshal(map[string]any{"data": map[string]any{"type": "dois", "attributes": map[string]any{
			"doi": name, "xml": attributes["xml"], "url": "https://example.org/", "event": "publish",
		}}})
		require.NoError(t, err)
		if a := (call{method: http.MethodPut, path: "/dois/" + name, header: apiType, body: string(body), as: "repo"}).do(t, service); a.status >= 300 {
			require.NoError(t, service.PutRecord([]byte(encoded(attributes))))
		}
	case method == "get" && status == http.StatusOK && action == "/get-url":
		var answer struct{ URL string }
		_ = json.Unmarshal([]byte(x.Response.Body.String), &answer)
		require.NoError(t, service.PutRecord(fmt.Appendf(nil, `{"doi":%q,"url":%q}`, name, answer.URL)))
	case status == http.StatusNotFound, method == "put" && status == http.StatusCreated, status == http.StatusUnprocessableEntity:
	case attributes != nil && method != "get" && action == "":
		before := map[string]any{"doi": name, "state": "draft"}
		for _, member := range []string{"state", "url", "xml"} {
			if attributes[member] != nil {
				before[member] = attributes[member]
			}
		}
		require.NoError(t, service.PutRecord([]byte(encoded(before))))
	case strings.Contains(name, "/"):
		require.NoError(t, service.PutRecord(draft))
	}
}

// Recordings of the deployed service, replayed. It needs a folder of cassettes, and
// prints how many answers and members agree, and how the others differ.
func TestRecordings(t *testing.T) {
	folder := os.Getenv("DATACITE_RECORDINGS")
	if folder == "" {
		t.Skip("needs DATACITE_RECORDINGS, a folder of the servers' recorded exchanges")
	}
	type tally struct {
		agree, differ int
		example       string
	}
	tallies := map[string]*tally{}
	of := func(key string) *tally {
		if tallies[key] == nil {
			tallies[key] = &tally{}
		}
		return tallies[key]
	}
	whole, all := 0, recordingsBelow(t, folder)
	for _, x := range all {
		_, action := x.name()
		kind := strings.ToUpper(x.Request.Method) + " /dois" + action
		agree, differ := x.replay(t)
		if len(differ) == 0 {
			whole++
		}
		for _, member := range agree {
			of(kind+" "+member).agree++
		}
		for member, how := range differ {
			entry := of(kind + " " + member)
			entry.differ++
			entry.example = fmt.Sprintf("%s %s: %.300s", x.year(), x.path, how)
		}
	}
	var report strings.Builder
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for key := range tallies {
			if !yield(key) {
				return
			}
		}
	}) {
		entry := tallies[key]
		fmt.Fprintf(&report, "%-40s %4d agree %4d differ", key, entry.agree, entry.differ)
		if entry.differ > 0 {
			fmt.Fprintf(&report, "  such as %s", entry.example)
		}
		report.WriteByte('\n')
	}
	t.Logf("%d exchanges, of which %d agree in everything\n%s", len(all), whole, &report)
}
