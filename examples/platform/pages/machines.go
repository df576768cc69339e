package pages

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/elnormous/contenttype"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// A format is one in which other programs get the metadata of a version: at an address of
// its own, or at that of the landing page if they ask for one of its types.
type format struct {
	Name, Label string
	Types       []string // the first one is that of its own address
	write       func(*dataset.Dataset, *dataset.Version, dataset.Repository) ([]byte, error)
}

var formats = []format{
	{"datacite.xml", "DataCite XML", []string{"application/xml", "application/vnd.datacite.datacite+xml", "text/xml"},
		func(d *dataset.Dataset, v *dataset.Version, by dataset.Repository) ([]byte, error) {
			return d.Record(v, by).XML()
		}},
	{"datacite.json", "DataCite JSON", []string{"application/json", "application/vnd.datacite.datacite+json"},
		func(d *dataset.Dataset, v *dataset.Version, by dataset.Repository) ([]byte, error) {
			return json.MarshalIndent(d.Record(v, by), "", "  ")
		}},
	{"schema.jsonld", "JSON-LD", []string{"application/ld+json", "application/vnd.schemaorg.ld+json"},
		func(d *dataset.Dataset, v *dataset.Version, by dataset.Repository) ([]byte, error) {
			return json.MarshalIndent(d.SchemaOrg(v, by), "", "  ")
		}},
	{"bibtex.bib", "BibTeX", []string{"application/x-bibtex; charset=utf-8"},
		func(_ *dataset.Dataset, v *dataset.Version, by dataset.Repository) ([]byte, error) {
			return []byte(v.BibTeX(by)), nil
		}},
	{"reference.ris", "RIS", []string{"application/x-research-info-systems"},
		func(_ *dataset.Dataset, v *dataset.Version, by dataset.Repository) ([]byte, error) {
			return []byte(v.RIS(by)), nil
		}},
	{"citation.txt", "citation", []string{"text/plain; charset=utf-8", "text/x-bibliography; charset=utf-8"},
		func(_ *dataset.Dataset, v *dataset.Version, by dataset.Repository) ([]byte, error) {
			return []byte(v.Citation(by) + "\n"), nil
		}},
}

// negotiate returns the format that a program prefers to the page, and the type that it
// knows it by; nil if it prefers the page, or asks for nothing that there is: RFC 9110
// lets us ignore that, and who follows a DOI should arrive.
func negotiate(r *http.Request) (*format, string) {
	offers := []contenttype.MediaType{contenttype.NewMediaType("text/html")}
	by := map[string]*format{}
	types := map[string]string{}
	for i := range formats {
		for _, t := range formats[i].Types {
			offer := contenttype.NewMediaType(t)
			offers = append(offers, contenttype.MediaType{Type: offer.Type, Subtype: offer.Subtype})
			by[offer.MIME()], types[offer.MIME()] = &formats[i], t
		}
	}
	accepted, _, err := contenttype.GetAcceptableMediaType(r, offers)
	if err != nil {
		return nil, ""
	}
	return by[accepted.MIME()], types[accepted.MIME()]
}

// send writes a response that a program may ask for again: if it has this already, it
// hears only that.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, text []byte) {
	w.Header().Set("Content-Type", contentType)
	if status != http.StatusOK {
		w.WriteHeader(status)
		_, _ = w.Write(text) // its reader may be gone
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(text)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// exported writes the metadata of a version in one of the formats.
func (p *Pages) exported(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	for _, f := range formats {
		if f.Name == r.PathValue("format") {
			return p.export(w, r, &f, f.Types[0], http.StatusOK, d, v)
		}
	}
	return errNotFound
}

func (p *Pages) export(w http.ResponseWriter, r *http.Request, f *format, contentType string, code int,
	d *dataset.Dataset, v *dataset.Version) error {
	text, err := f.write(d, v, p.By)
	if err != nil {
		return err
	}
	if v.State != dataset.Draft {
		public(w, r, 0)
	}
	w.Header().Set("Content-Location", v.Path()+"/export/"+f.Name)
	send(w, r, code, contentType, text)
	p.Counter.Access(r, status(w), v, false)
	return nil
}

// signpost leads programs from the landing page to the DOI, its creators, the metadata and
// the files, as https://signposting.org says.
func (p *Pages) signpost(w http.ResponseWriter, v *dataset.Version) {
	link := func(address, rel string) { w.Header().Add("Link", fmt.Sprintf(`<%s>; rel="%s"`, address, rel)) }
	link(v.Address(), "cite-as")
	link("https://schema.org/AboutPage", "type")
	link("https://schema.org/"+v.SchemaType(), "type")
	for _, c := range v.About.Creators {
		if id := c.Address(); id != "" {
			link(id, "author")
		}
	}
	const most = 10 // proxies bound the size of all headers
	if files := v.Open(time.Now()); len(files) > most {
		link(p.By.Public+v.Path()+"/files.zip", `item"; type="application/zip`)
	} else {
		for _, f := range files {
			link(p.By.Public+v.Path()+"/files/"+url.PathEscape(f.Name), `item"; type="application/octet-stream`)
		}
	}
	link("https://spdx.org/licenses/"+v.About.License, "license")
	for _, f := range formats {
		mime, _, _ := strings.Cut(f.Types[0], ";")
		link(p.By.Public+v.Path()+"/export/"+f.Name, `describedby"; type="`+mime)
	}
}

// maxSitemap is how many pages a sitemap may have: the newest ones.
const maxSitemap = 50_000

type location struct {
	Loc     string `xml:"loc"`
	Lastmod string `xml:"lastmod,omitempty"`
}

// A sitemap is cached until public pages change.
type sitemap struct {
	mu   sync.Mutex
	of   int64 // see Store.Public
	text []byte
}

// sitemap lists the landing pages that everybody sees, for search engines.
func (p *Pages) sitemap(w http.ResponseWriter, r *http.Request) error {
	text, err := p.mapped.get(r, p)
	if err != nil {
		return err
	}
	public(w, r, time.Hour)
	send(w, r, http.StatusOK, "application/xml", text)
	return nil
}

func (m *sitemap) get(r *http.Request, p *Pages) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := p.Store.Public()
	if m.text != nil && m.of == of {
		return m.text, nil
	}
	pages, err := p.Store.Published(r.Context(), maxSitemap)
	if err != nil {
		return nil, err
	}
	var file struct {
		XMLName xml.Name   `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		Pages   []location `xml:"url"`
	}
	for _, page := range pages {
		file.Pages = append(file.Pages, location{p.By.Public + (&dataset.Version{DOI: page.DOI}).Path(), page.Changed})
	}
	text, err := xml.Marshal(file)
	if err != nil {
		return nil, err
	}
	m.of, m.text = of, append([]byte(xml.Header), text...)
	return m.text, nil
}

// robots tells search engines what is worth their while, and where it is.
func (p *Pages) robots(w http.ResponseWriter, r *http.Request) error {
	public(w, r, time.Hour)
	send(w, r, http.StatusOK, "text/plain; charset=utf-8",
		fmt.Appendf(nil, "User-agent: *\nDisallow: /?\nDisallow: /login\nDisallow: /mine\nDisallow: /new\nDisallow: "+
			"/status\nDisallow: /password\nDisallow: /review/\n\nSitemap: %s/sitemap.xml\n", p.By.Public))
	return nil
}
