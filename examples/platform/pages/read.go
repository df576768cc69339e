package pages

import (
	"archive/zip"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// landing serves a landing page. The address of the concept DOI redirects to the latest version.
func (p *Pages) landing(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.Store.Find(r.Context(), r.PathValue("suffix"))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return p.numbered(w, r)
	case err != nil:
		return err
	case v == nil:
		return p.latest(w, r, d)
	case v.State == dataset.Draft && !mayEdit(r, d):
		return errNotFound
	}
	status := http.StatusOK
	if v.State == dataset.Withdrawn {
		status = http.StatusGone // the DOI leads here, and the page says what was there
	}
	w.Header().Add("Vary", "Accept")
	if v.State != dataset.Draft {
		public(w, r, 0)
		p.signpost(w, v)
	}
	if f, contentType := negotiate(r); f != nil {
		return p.export(w, r, f, contentType, status, d, v)
	}
	p.Counter.Access(r, status, v, false)
	return p.renderLanding(w, r, status, d, v, landing{base: v.Path(), mine: mayEdit(r, d)})
}

func (p *Pages) latest(w http.ResponseWriter, r *http.Request, d *dataset.Dataset) error {
	v := d.Latest()
	if v == nil && mayEdit(r, d) {
		v = d.Last()
	}
	if v == nil {
		return errNotFound
	}
	public(w, r, time.Minute)
	http.Redirect(w, r, v.Path(), http.StatusFound)
	return nil
}

// numbered redirects from the addresses of earlier versions of the platform: /datasets/1 of a
// dataset, /datasets/1/2 of its second version, and those below.
func (p *Pages) numbered(w http.ResponseWriter, r *http.Request) error {
	id, err1 := strconv.ParseInt(r.PathValue("suffix"), 10, 64)
	number, err2 := strconv.Atoi(cmp.Or(r.PathValue("number"), "0"))
	if err1 != nil || err2 != nil || number < 0 {
		return errNotFound
	}
	d, v, err := p.Store.Numbered(r.Context(), id, number)
	if err != nil {
		return err
	}
	path := d.Path()
	if v != nil {
		path = v.Path()
	}
	if !mayEdit(r, d) && (d.Latest() == nil || v != nil && v.State == dataset.Draft) {
		return errNotFound
	}
	if rest := r.PathValue("rest"); rest != "" {
		path += "/" + rest
	}
	public(w, r, time.Hour)
	http.Redirect(w, r, (&url.URL{Path: path, RawQuery: r.URL.RawQuery}).String(), http.StatusMovedPermanently)
	return nil
}

// A landing is a landing page as somebody sees it.
type landing struct {
	base        string // path before the names of files
	mine        bool   // with what its curator can do
	uploadFault string
}

func (p *Pages) renderLanding(w http.ResponseWriter, r *http.Request, status int, d *dataset.Dataset,
	v *dataset.Version, l landing) error {
	own, displayed, err := p.Store.Usage(r.Context(), v.DOI)
	if err != nil {
		return err
	}
	schemaOrg, err := json.Marshal(d.SchemaOrg(v, p.By))
	if err != nil {
		return err
	}
	var tags []dataset.Tag
	if v.State != dataset.Draft {
		tags = v.Tags(p.By)
	}
	return p.render(w, r, status, "landing", v.About.Title, map[string]any{
		"Tags":    tags,
		"Dataset": d, "Version": v, "Base": l.base, "Mine": l.mine, "Review": l.base != v.Path(), "Secret": p.By.Public +
			reviewPath(v), "Now": time.Now(), "Formats": formats,
		"By": p.By, "SchemaOrg": template.JS(schemaOrg), "Own": own, "Displayed": displayed,
		"Upload": Field{
			ID: "file", Label: "Add files", Type: "file", Required: true, Fault: l.uploadFault,
			Hint: fmt.Sprintf("Up to %s each, %d files in all.", size(p.Limits.Bytes), p.Limits.Files),
		},
	})
}

func (p *Pages) download(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	err := p.sendFile(w, r, d, v)
	if err == nil {
		p.downloaded(r, status(w), v)
	}
	return err
}

func (p *Pages) sendFile(w http.ResponseWriter, r *http.Request, _ *dataset.Dataset, v *dataset.Version) error {
	f, found := v.File(r.PathValue("name"))
	if !found {
		return errNotFound
	}
	data, err := p.Store.OpenFile(f)
	if err != nil {
		return err
	}
	defer data.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	w.Header().Set("ETag", `"`+f.SHA256+`"`)
	http.ServeContent(patientWriter{w}, r, "", time.Time{}, data)
	return nil
}

// admitted is a page for those who may download the files of a version.
func admitted(page versionPage) versionPage {
	return func(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
		switch embargoed := v.Embargoed(time.Now()); {
		case v.State == dataset.Published && !embargoed:
			public(w, r, 0)
		case mayEdit(r, d):
		case v.State == dataset.Withdrawn:
			return errNotFound
		case embargoed:
			return errEmbargo // whether or not there is a file of this name
		}
		return page(w, r, d, v)
	}
}

// downloaded notes that files of a version were sent.
func (p *Pages) downloaded(r *http.Request, status int, v *dataset.Version) {
	if !v.Embargoed(time.Now()) { // or it is the owner's own look
		p.Counter.Access(r, status, v, true)
	}
}

// patience is how long a part of a large transfer may take. The server's own limits are
// for whole requests and responses.
const patience = 30 * time.Second

// A patientWriter extends the deadline of a large response with each part.
type patientWriter struct{ http.ResponseWriter }

func (w patientWriter) Write(data []byte) (int, error) {
	if err := http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(patience)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return w.ResponseWriter.Write(data)
}

// archive sends all files of a version as one ZIP, while it is made.
func (p *Pages) archive(w http.ResponseWriter, r *http.Request, _ *dataset.Dataset, v *dataset.Version) error {
	folder := fmt.Sprintf("%s-version-%d", strings.TrimPrefix(v.Path(), "/datasets/"), v.Number)
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition",
		mime.FormatMediaType("attachment", map[string]string{"filename": folder + ".zip"}))
	if r.Method == http.MethodHead {
		return nil
	}
	w.WriteHeader(http.StatusOK)
	err := p.zip(patientWriter{w}, folder, v)
	if err != nil && r.Context().Err() == nil {
		p.Log.Error("archive", "path", r.URL.Path, "error", err)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // a ZIP without its end must not look complete
	}
	p.downloaded(r, http.StatusOK, v)
	return nil
}

// zip writes a ZIP in constant memory. Nothing is compressed: that would cost the processor as
// much as a hundred pages for each megabyte, and anybody can ask for it.
func (p *Pages) zip(w io.Writer, folder string, v *dataset.Version) error {
	archive := zip.NewWriter(w)
	modified, _ := time.Parse(time.DateOnly, v.Published) // the same bytes each time
	for _, f := range v.Files {
		data, err := p.Store.OpenFile(f)
		if err != nil {
			return err
		}
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: folder + "/" + inFolder.Replace(f.Name), Method: zip.Store,
			Modified: modified})
		if err == nil {
			_, err = io.Copy(entry, data)
		}
		_ = data.Close() // it was read only
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// inFolder keeps the files of earlier versions of the platform, which took any name, in
// their folder.
var inFolder = strings.NewReplacer("/", "_", `\`, "_")

// Reviewers can read a draft at a secret address. The address ends when the curator revokes it,
// and when the draft is published.

// setReview makes a secret address for the draft, another one, or none.
func (p *Pages) setReview(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	secret := ""
	if r.PostFormValue("make") != "" {
		secret = rand.Text()
	}
	return lead(w, r, v.Path(), p.Store.SetReview(r.Context(), d, v, secret))
}

// reviewed is a page of the draft of a reviewer's address. Search engines and linked pages do not
// learn the address.
func (p *Pages) reviewed(page versionPage) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
		w.Header().Set("Referrer-Policy", "no-referrer")
		d, v, err := p.Store.UnderReview(r.Context(), r.PathValue("secret"))
		if err != nil {
			return err
		}
		return page(w, r, d, v)
	}
}

func (p *Pages) review(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	return p.renderLanding(w, r, http.StatusOK, d, v, landing{base: reviewPath(v)})
}

func reviewPath(v *dataset.Version) string { return "/review/" + v.Review }

const (
	perPage  = 20
	maxQuery = 1000 // bytes of a search: the links of its page repeat it
)

// home shows the published datasets, or those that somebody searches for.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	words, cut := r.FormValue("q"), false
	if len(words) > maxQuery {
		words, cut = strings.ToValidUTF8(words[:maxQuery], ""), true
	}
	list, err := p.Store.Search(r.Context(), store.Query{Words: words, Page: page(r)})
	if err != nil {
		return err
	}
	list.Cut = list.Cut || cut
	public(w, r, time.Minute)
	return p.render(w, r, http.StatusOK, "home", "Datasets",
		map[string]any{"Words": words, "List": list, "Turn": turn(list, words)})
}

// mine shows the datasets of the curator who is logged in.
func (p *Pages) mine(w http.ResponseWriter, r *http.Request) error {
	list, err := p.Store.Of(r.Context(), curator(r), page(r))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "mine", "Your datasets", map[string]any{"List": list, "Turn": turn(list, "")})
}

func page(r *http.Request) store.Page {
	number, _ := strconv.Atoi(r.FormValue("page"))
	return store.Page{Number: number, Size: perPage}
}

// turn returns the links to the pages before and after, as far as there are any.
func turn(list store.List, words string) map[string]string {
	links, n := map[string]string{}, list.Page.Number
	for name, number := range map[string]int{"Previous": n - 1, "Next": n + 1} {
		values := url.Values{"page": {strconv.Itoa(number)}}
		if words != "" {
			values.Set("q", words)
		}
		if number >= 1 && number <= list.Pages() {
			links[name] = "?" + values.Encode()
		}
	}
	return links
}
