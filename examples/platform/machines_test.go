package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// ask sends a request with headers, named and filled in turn, and follows no redirect.
func (c *person) ask(method, path string, headers ...string) (*http.Response, string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, nil)
	require.NoError(c, err)
	req.Header.Set("User-Agent", firefox)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.client.Transport.RoundTrip(req)
	require.NoError(c, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(c, err)
	return res, string(data)
}

// The address behind a DOI gives programs what they prefer, and everybody else the page.
func TestContentNegotiation(t *testing.T) {
	_, reader, c := repository(t)
	path := c.publish("Glacier")
	_, v := c.settled(path)
	const page, ld, inXML, inJSON = "text/html; charset=utf-8", "application/ld+json", "application/vnd.datacite.datacite+xml", "application/vnd.datacite.datacite+json"
	for accept, want := range map[string]string{
		"": page, "*/*": page, "text/html": page, "application/pdf": page, "nonsense": page, "text/*": page, ld: ld,
		inXML: inXML, inJSON: inJSON,
		"application/xml": "application/xml", "application/json": "application/json", "application/vnd.schemaorg.ld+json": "application/vnd.schemaorg.ld+json",
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8": page, // a browser
		"text/html;q=0.5, application/ld+json":                                                  ld, "application/ld+json;q=0.5, text/html;q=0.6": page, "application/ld+json;q=0, */*": page,
		"application/vnd.datacite.datacite+json;q=0.8, application/vnd.datacite.datacite+xml;q=0.9": inXML, "application/pdf, application/json;q=0.1": "application/json",
		"application/x-bibtex": "application/x-bibtex; charset=utf-8", "text/x-bibliography": "text/x-bibliography; " +
			"charset=utf-8", "text/plain;q=0.3, text/html;q=0.2": "text/plain; charset=utf-8",
	} {
		res, text := reader.ask(http.MethodGet, path, "Accept", accept)
		assert.Equal(t, http.StatusOK, res.StatusCode, accept)
		assert.Equal(t, want, res.Header.Get("Content-Type"), accept)
		assert.Contains(t, strings.Join(res.Header.Values("Vary"), ","), "Accept", accept)
		assert.Contains(t, text, "Glacier", accept)
		links := strings.Join(res.Header.Values("Link"), "\n")
		for _, link := range []string{
			`<https://schema.org/AboutPage>; rel="type"`, `<https://schema.org/Dataset>; rel="type"`,
			`<https://orcid.org/0000-0001-5727-2427>; rel="author"`, `<https://ror.org/04wxnsj81>; rel="author"`,
			path + `/files/lengths.csv>; rel="item"; type="application/octet-stream"`,
			`<` + v.Address() + `>; rel="cite-as"`, `<https://spdx.org/licenses/CC-BY-4.0>; rel="license"`,
			`/export/datacite.xml>; rel="describedby"; type="application/xml"`, `/export/schema.jsonld>; rel="describedby"; ` +
				`type="application/ld+json"`,
		} {
			assert.Contains(t, links, link)
		}
	}
	res, text := reader.ask(http.MethodGet, path, "Accept", inXML)
	_, exported := reader.get(path + "/export/datacite.xml")
	assert.Equal(t, exported, text)
	tag := res.Header.Get("ETag")
	res, text = reader.ask(http.MethodGet, path, "Accept", inXML, "If-None-Match", tag)
	assert.Equal(t, http.StatusNotModified, res.StatusCode)
	assert.Empty(t, text)
	res, _ = reader.ask(http.MethodGet, path, "Accept", inJSON, "If-None-Match", tag)
	assert.Equal(t, http.StatusOK, res.StatusCode, "another format is another thing")
	res, _ = reader.ask(http.MethodHead, path, "Accept", ld)
	assert.Equal(t, ld, res.Header.Get("Content-Type"))

	c.decide(path+"/withdraw", map[string]string{"reason": "Wrong."})
	for _, accept := range []string{"text/html", ld, inXML} {
		res, text := reader.ask(http.MethodGet, path, "Accept", accept)
		assert.Equal(t, http.StatusGone, res.StatusCode)
		assert.NotContains(t, text, "Monthly lengths")
	}
	draft := c.draft(fields("Secret"))
	for _, accept := range []string{"text/html", ld, inXML, inJSON} {
		res, text := reader.ask(http.MethodGet, draft, "Accept", accept)
		assert.Equal(t, http.StatusNotFound, res.StatusCode)
		assert.NotContains(t, text, "Secret")
		assert.Empty(t, res.Header.Values("Link"))
	}
}

// sitemap returns the addresses of a sitemap, and when each changed.
func (c *person) sitemap(path, root string) map[string]string {
	c.Helper()
	var file struct {
		XMLName xml.Name
		Entries []struct {
			Loc     string `xml:"loc"`
			Lastmod string `xml:"lastmod"`
		} `xml:",any"`
	}
	status, text := c.get(path)
	require.Equal(c, http.StatusOK, status)
	require.NoError(c, xml.Unmarshal([]byte(text), &file))
	assert.Equal(c, xml.Name{Space: "http://www.sitemaps.org/schemas/sitemap/0.9", Local: root}, file.XMLName)
	found := map[string]string{}
	for _, e := range file.Entries {
		found[strings.TrimPrefix(e.Loc, "http://repository.example.org")] = e.Lastmod
	}
	return found
}

func TestSitemap(t *testing.T) {
	_, reader, c := repository(t)
	assert.Empty(t, reader.sitemap("/sitemap.xml", "urlset"))
	begin := time.Now().UTC().Truncate(time.Second)
	first, withdrawn := c.publish("Glacier"), c.publish("Withdrawn")
	c.draft(fields("Draft"))
	c.decide(withdrawn+"/withdraw", map[string]string{"reason": "Wrong."})
	all := reader.sitemap("/sitemap.xml", "urlset")
	require.Len(t, all, 1)
	changed, err := time.Parse(time.RFC3339, all[first])
	require.NoError(t, err)
	assert.False(t, changed.Before(begin) || changed.After(time.Now()), changed)

	c.post(first+"/version", nil)
	assert.Equal(t, all, reader.sitemap("/sitemap.xml", "urlset"), "nobody sees the draft")
	form := fields("Under an embargo")
	form["embargo"] = time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	embargoed := c.draft(form)
	c.decide(embargoed+"/publish", nil)

	third := c.publish("Stones")
	all = reader.sitemap("/sitemap.xml", "urlset")
	assert.Len(t, all, 3)
	assert.NotEmpty(t, all[third])
	_, robots := reader.get("/robots.txt")
	assert.Contains(t, robots, "\nSitemap: http://repository.example.org/sitemap.xml\n")
}

// unzip returns the files of a ZIP by their names.
func unzip(t *testing.T, data string) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range archive.File {
		assert.True(t, filepath.IsLocal(f.Name), f.Name)
		in, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		assert.NotContains(t, files, f.Name)
		files[f.Name] = string(text)
	}
	return files
}

// All files of a version come as one ZIP; it is a download like that of a file.
func TestArchive(t *testing.T) {
	_, reader, c := repository(t)
	path := c.draft(fields("Glacier"))
	for _, name := range []string{"A.csv", "a.csv", "100%.csv", "Äletsch.csv", "x%22.csv", "evil.txt"} {
		status, page := c.upload(path, name, "content of "+name)
		require.Equal(t, http.StatusOK, status, page)
	}
	_, v := c.now(path)
	v.Files[6].Name = `up\../..\evil.txt` // of a platform that did not refuse it yet
	require.NoError(t, c.platform.store.ChangeFiles(t.Context(), v, func([]dataset.File) ([]dataset.File, error) {
		return v.Files, nil
	}))
	res, _ := reader.ask(http.MethodGet, path+"/files.zip")
	assert.Equal(t, http.StatusNotFound, res.StatusCode, "a draft is its owner's")
	status, _ := c.get(path + "/files.zip")
	assert.Equal(t, http.StatusOK, status)
	c.decide(path+"/publish", nil)
	_, v = c.settled(path)
	name := strings.TrimPrefix(path, "/datasets/") + "-version-1"
	before := len(c.accesses())
	res, data := reader.ask(http.MethodGet, path+"/files.zip")
	assert.Equal(t, "application/zip", res.Header.Get("Content-Type"))
	assert.Equal(t, "attachment; filename="+name+".zip", res.Header.Get("Content-Disposition"))
	assert.Equal(t, before+1, len(c.accesses()))
	reader.ask(http.MethodHead, path+"/files.zip")
	assert.Equal(t, before+1, len(c.accesses()))

	files := unzip(t, data)
	assert.Len(t, files, len(v.Files))
	_, page := reader.get(path)
	for _, f := range v.Files {
		content, found := files[name+"/"+strings.NewReplacer("/", "_", `\`, "_").Replace(f.Name)]
		assert.True(t, found, f.Name)
		sum := sha256.Sum256([]byte(content))
		assert.Equal(t, f.SHA256, hex.EncodeToString(sum[:]))
		assert.Contains(t, page, "<code>"+f.SHA256+"</code>")
	}
	assert.Contains(t, files, name+`/x".csv`, "browsers send a quote as %22")

	require.NoError(t, os.Remove(filepath.Join(c.folder(), "files", v.Files[2].SHA256)))
	broken, err := reader.client.Get(reader.url + path + "/files.zip")
	if err == nil {
		_, err = io.Copy(io.Discard, broken.Body)
		_ = broken.Body.Close()
	}
	assert.Error(t, err, "a ZIP that lacks a file does not look complete")

	form := fields("Embargoed")
	form["embargo"] = time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	path = c.draft(form)
	c.decide(path+"/publish", nil)
	res, _ = reader.ask(http.MethodGet, path+"/files.zip")
	assert.Equal(t, http.StatusForbidden, res.StatusCode)
	before = len(c.accesses())
	status, data = c.get(path + "/files.zip")
	assert.Equal(t, http.StatusOK, status)
	assert.Len(t, unzip(t, data), 1)
	assert.Equal(t, before, len(c.accesses()), "its curator's own look is no use")
}

// A ZIP is made while it is sent, however large the files are.
func TestArchivesAreStreamed(t *testing.T) {
	_, _, c := repository(t)
	path := c.draft(fields("Glacier"))
	large := make([]byte, 40<<20) // more than the buffers of a connection, and it cannot be compressed
	_, err := rand.NewChaCha8([32]byte{}).Read(large)
	require.NoError(t, err)
	status, page := c.upload(path, "large.bin", string(large), "small.bin", "x")
	require.Equal(t, http.StatusOK, status, page)
	_, v := c.now(path)
	require.Len(t, v.Files, 3)
	res, err := c.client.Get(c.url + path + "/files.zip")
	require.NoError(t, err)
	defer res.Body.Close()
	begin := make([]byte, 1<<20)
	_, err = io.ReadFull(res.Body, begin)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(c.folder(), "files", v.Files[2].SHA256)))
	_, err = io.Copy(io.Discard, res.Body)
	assert.Error(t, err, "the last file was not read before the first ones were sent")
}
