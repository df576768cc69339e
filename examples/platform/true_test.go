package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/metadata"
)

var jsonLD = regexp.MustCompile(`<script type="application/ld\+json">(.*?)</script>`)

// A statement is what one of the forms of a dataset says of it.
type statement map[string]string

// ofRecord reads a record as a statement.
func ofRecord(r *metadata.Record) statement {
	s := statement{
		// the service has it in lower case
		"doi": r.DOI, "title": r.Titles[0].Title, "year": string(r.PublicationYear),
		"license": strings.ToUpper(r.RightsList[0].RightsIdentifier),
		"version": r.Version, "publisher": r.Publisher.Name, "type": r.Types.SchemaOrg, "language": r.Language,
	}
	for _, d := range r.Dates {
		s[string(d.DateType)] = d.Date
		if d.DateType == metadata.DateWithdrawn {
			s["reason"] = d.DateInformation
		}
	}
	for _, d := range r.Descriptions {
		s[string(d.DescriptionType)] = d.Description
	}
	for _, list := range []struct{ name, value string }{{"keywords", fmt.Sprint(subjectsOf(r))},
		{"creators", names(r.Creators)}, {"contributors", names(r.Contributors)}} {
		s[list.name] = list.value
	}
	return s
}

func subjectsOf(r *metadata.Record) (all []string) {
	for _, s := range r.Subjects {
		all = append(all, s.Subject)
	}
	return all
}

func names[T metadata.Creator | metadata.Contributor](people []T) string {
	var all []string
	for _, p := range people {
		switch p := any(p).(type) {
		case metadata.Creator:
			all = append(all, p.Name)
		case metadata.Contributor:
			all = append(all, p.Name)
		}
	}
	return strings.Join(all, "; ")
}

// forms are all in which somebody can have a dataset.
type forms struct {
	page, search, sitemap string
	jsonLD                map[string]any
	statements            map[string]statement // of the records: XML, JSON, at the service
	texts                 map[string]string    // each form as it is
}

func (c *person) forms(srv *datacitetest.Server, path string) (f forms) {
	c.Helper()
	_, v := c.settled(path)
	_, page := c.get(path)
	_, f.search = c.get("/?q=glacier")
	_, f.sitemap = c.get("/sitemap.xml")
	f.page = html.UnescapeString(page)
	_, ld := c.get(path + "/export/schema.jsonld")
	require.NoError(c, json.Unmarshal([]byte(ld), &f.jsonLD))
	var inPage map[string]any
	require.NoError(c, json.Unmarshal([]byte(jsonLD.FindStringSubmatch(page)[1]), &inPage))
	assert.Equal(c, f.jsonLD, inPage)
	_, inXML := c.get(path + "/export/datacite.xml")
	fromXML, err := metadata.ParseXML(strings.NewReader(inXML))
	require.NoError(c, err)
	_, inJSON := c.get(path + "/export/datacite.json")
	fromJSON, err := metadata.ParseJSON(strings.NewReader(inJSON))
	require.NoError(c, err)
	at, err := srv.DOIs().Get(c.Context(), v.DOI, nil)
	require.NoError(c, err)
	// only the service derives it
	fromXML.Types.SchemaOrg, fromJSON.Types.SchemaOrg = at.Types.SchemaOrg, at.Types.SchemaOrg
	f.statements = map[string]statement{"XML": ofRecord(fromXML), "JSON": ofRecord(fromJSON),
		"service": ofRecord(&at.Record)}
	f.texts = map[string]string{"page": f.page, "JSON-LD": ld, "XML": inXML, "JSON": inJSON, "service": string(at.Raw),
		"search": f.search}
	for _, name := range []string{"bibtex.bib", "citation.txt"} {
		_, f.texts[name] = c.get(path + "/export/" + name)
	}
	return f
}

// Whatever form of a dataset somebody has, it says the same: while it is open, under an
// embargo, withdrawn, and published again.
func TestAllFormsAgree(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		reader, c := curated(t, srv)
		today := time.Now().UTC().Format(time.DateOnly)
		later := time.Now().UTC().AddDate(1, 0, 1).Format(time.DateOnly)
		for _, tt := range []struct {
			name, embargo, withdrawn, year string
			wantYear, issued, available    string
			free                           bool
			access                         string
		}{
			{"open", "", "", "", today[:4], today, today, true, "Everybody may download the files."},
			{"embargo", later, "", "", later[:4], today, later, false, "The files are public from " + later + " on."},
			{"published elsewhere before", "", "", "1999", "1999", "1999", today, true, "Everybody may download the files."},
			{"withdrawn", "", "The glacier is gone.", "", today[:4], today, today, false,
				"The files were withdrawn on " + today + "."},
		} {
			t.Run(tt.name, func(t *testing.T) {
				c, reader := &person{t, c.platform, c.client, c.url}, &person{t, reader.platform, reader.client, reader.url}
				form := filled()
				form["embargo"], form["year"] = tt.embargo, tt.year
				path := c.draft(form)
				c.decide(path+"/publish", nil)
				if tt.withdrawn != "" {
					c.settled(path)
					status, page := c.decide(path+"/withdraw", map[string]string{"reason": tt.withdrawn})
					require.Equal(t, http.StatusGone, status, page)
				}
				f := reader.forms(srv, path)
				_, v := c.now(path)
				for name, s := range f.statements {
					assert.Equal(t, f.statements["XML"], s, name)
				}
				s := f.statements["service"]
				assert.Equal(t, tt.issued, s["Issued"])
				assert.Equal(t, tt.available, s["Available"])
				assert.Equal(t, tt.wantYear, s["year"])
				assert.Equal(t, tt.withdrawn, s["reason"])
				for member, want := range map[string]any{
					"@id": v.Address(), "@type": s["type"], "name": s["title"], "datePublished": s["Issued"],
					"dcterms:available": s["Available"], "version": s["version"],
					"license": "https://spdx.org/licenses/" +
						s["license"], "inLanguage": s["language"], "isAccessibleForFree": tt.free, "conditionsOfAccess": tt.access,
				} {
					assert.Equal(t, want, f.jsonLD[member], member)
				}
				for _, shown := range []string{s["title"], v.Address(), s["license"], "published on " + today, tt.access,
					tt.withdrawn, "Anne Byron", "Snow Fund", "10.5072/article-1", "German", "(" + tt.wantYear + "): Glacier length"} {
					assert.Contains(t, f.page, shown)
				}
				assert.Contains(t, f.texts["bibtex.bib"], "year = {"+tt.wantYear+"}")
				assert.Contains(t, f.texts["citation.txt"], "("+tt.wantYear+")")
				assert.Equal(t, tt.withdrawn == "", strings.Contains(f.search, path+`"`))
				assert.Equal(t, tt.withdrawn == "", strings.Contains(f.sitemap, path+"<"))
				assert.Equal(t, tt.free, f.jsonLD["distribution"] != nil)
				for _, about := range []string{"Monthly lengths", "With a tape", "ice; and stones", "Gletscher"} {
					for name, text := range f.texts {
						switch name {
						case "page", "JSON-LD", "XML", "JSON":
							assert.Equal(t, tt.withdrawn == "", strings.Contains(text, about), "%s in %s", about, name)
						default:
							if tt.withdrawn != "" {
								assert.NotContains(t, text, about, name)
							}
						}
					}
					assert.Equal(t, tt.withdrawn == "", strings.Contains(fmt.Sprint(s), about), "%s at the service", about)
				}
				if tt.withdrawn == "" {
					return
				}
				assert.Empty(t, s["Abstract"])
				status, _ := reader.get(path + "/files.zip")
				assert.Equal(t, http.StatusNotFound, status)
				status, page := c.decide(path+"/publish", nil)
				require.Equal(t, http.StatusOK, status, page)
				s = reader.forms(srv, path).statements["service"]
				assert.Contains(t, s["Abstract"], "Monthly lengths", "nothing is lost")
				assert.Empty(t, s["reason"])
			})
		}
	})
}

// The types of schema.org are those that the service derives.
func TestTypes(t *testing.T) {
	srv := serve(t, nil)
	for _, general := range dataset.Types {
		d := &dataset.Dataset{DOI: "10.5072/c"}
		v := &dataset.Version{Number: 1, DOI: "10.5072/" + strings.ToLower(string(general)), State: dataset.Published,
			Published: "2026-10-14", About: dataset.About{
				Title: "Ice", Type: string(general), License: "MIT", Creators: []dataset.Creator{{Family: "Lovelace"}},
			}}
		d.Versions = []*dataset.Version{v}
		record := d.Record(v, dataset.Repository{Name: "Rock"})
		require.NoError(t, record.Validate())
		at, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: v.DOI, Record: *record})
		require.NoError(t, err)
		assert.Equal(t, at.Types.SchemaOrg, d.SchemaOrg(v, dataset.Repository{})["@type"], general)
	}
}

// What was shown is what is published: a page from before a change does not publish it.
func TestPublishingIsAskedAbout(t *testing.T) {
	srv, _, c := repository(t)
	form := filled()
	form["embargo"] = time.Now().AddDate(0, 0, 9).Format(time.DateOnly)
	path := c.draft(form)
	draft, v := c.now(path)

	status, _ := c.post(path+"/publish", nil)
	assert.Equal(t, http.StatusConflict, status, "nothing was shown")
	_, page := c.get(path + "/publish")
	page = html.UnescapeString(page)
	for _, public := range []string{"Glacier length", "Monthly lengths", "With a tape", "Gletscher", v.Address(),
		draft.Address(), "public from " + form["embargo"], "lengths.csv, 13 bytes", v.Files[0].SHA256, v.Citation(c.platform.outbox.By)} {
		assert.Contains(t, page, public)
	}
	seen := shown.FindStringSubmatch(page)[1]
	for name, change := range map[string]func(){
		"a file": func() { c.upload(path, "more.csv", "x") },
		"a word": func() {
			_, v := c.now(path)
			form["revision"], form["title"] = fmt.Sprint(v.Revision), form["title"]+"s"
			c.post(path+"/edit", form)
		},
	} {
		change()
		status, page = c.post(path+"/publish", map[string]string{"shown": seen})
		assert.Equal(t, http.StatusConflict, status, name)
		assert.Contains(t, page, "has changed since you were asked")
		seen = shown.FindStringSubmatch(page)[1]
		_, v = c.now(path)
		assert.Equal(t, dataset.Draft, v.State)
	}
	assert.Empty(t, srv.Names())
	status, page = c.post(path+"/publish", map[string]string{"shown": seen})
	require.Equal(t, http.StatusOK, status, page)
	status, _ = c.post(path+"/publish", map[string]string{"shown": seen})
	assert.Equal(t, http.StatusConflict, status, "a second click")
	c.settled(path)

	for _, question := range []string{"/withdraw", "/discard"} {
		_, page = c.get(path + question)
		if question == "/discard" {
			_, next := c.post(path+"/version", nil)
			_, page = c.get(next + question)
			c.upload(next, "unseen.csv", "x")
			path = next
		} else {
			_, v := c.now(path)
			form["revision"], form["title"] = fmt.Sprint(v.Revision), "Corrected in another window"
			c.post(path+"/edit", form)
		}
		status, page = c.post(path+question,
			map[string]string{"reason": "Wrong.", "shown": shown.FindStringSubmatch(page)[1]})
		assert.Equal(t, http.StatusConflict, status, question)
		assert.Contains(t, page, map[string]string{"/withdraw": ">\nWrong.</textarea>", "/discard": "unseen.csv"}[question])
	}
	d, _ := c.now(path)
	assert.Equal(t, dataset.Published, d.Version(1).State)
}

// A title that is written from right to left, and a name, do not turn the text around them.
func TestDirections(t *testing.T) {
	_, reader, c := repository(t)
	form := fields("אורך הקרחון (2026)")
	form["language"], form["family0"], form["given0"] = "he", "כהן", "דוד"
	path := c.draft(form)
	_, page := fetch(t, c.client, c.url+path+"/publish")
	assert.Contains(t, page, `<h2 dir="auto" lang="he">אורך`)
	c.decide(path+"/publish", nil)
	c.settled(path)
	for address, marks := range map[string][]string{
		path: {`<h1 dir="auto" lang="he">אורך`, `<p class="paragraph" dir="auto" lang="he">`, `<bdi>דוד כהן</bdi>`,
			`<bdi>כהן, דוד</bdi>`, `<bdi lang="he">אורך`, `<bdi>lengths.csv</bdi>`},
		"/": {`dir="auto" lang="he">אורך`, `<bdi>כהן, דוד</bdi>`},
	} {
		_, page := reader.ask(http.MethodGet, address)
		for _, mark := range marks {
			assert.Contains(t, page, mark, address)
		}
	}
	_, page = fetch(t, c.client, c.url+"/mine")
	assert.Contains(t, page, `dir="auto" lang="he">אורך`)
}
