package pages

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"net/url"
	"strconv"
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
		return store.ErrNotFound
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
		return store.ErrNotFound
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
		return store.ErrNotFound
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
		return store.ErrNotFound
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

func (p *Pages) renderLanding(w http.ResponseWriter, r *http.Request, status int, d *dataset.Dataset, v *dataset.Version, l landing) error {
	own, displayed, err := p.Store.Usage(r.Context(), v.DOI)
	if err != nil {
		return err
	}
	schemaOrg, err := json.Marshal(d.SchemaOrg(v, p.By))
	if err != nil {
		return err
	}
	return p.render(w, r, status, "landing", v.About.Title, map[string]any{
		"Dataset": d, "Version": v, "Base": l.base, "Mine": l.mine, "Review": l.base != v.Path(), "Secret": p.By.Public + reviewPath(v), "Now": time.Now(), "Formats": formats,
		"By": p.By, "SchemaOrg": template.JS(schemaOrg), "Own": own, "Displayed": displayed,
		"Upload": Field{
			ID: "file", Label: "Add files", Type: "file", Required: true, Fault: l.uploadFault,
			Hint: fmt.Sprintf("Up to %s each, %d files in all.", size(p.Limits.Bytes), p.Limits.Files),
		},
	})
}

func (p *Pages) download(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.version(r)
	if err != nil {
		return err
	}
	if err := admit(w, r, d, v); err != nil {
		return err
	}
	if err := p.sendFile(w, r, v); err != nil {
		return err
	}
	p.downloaded(r, status(w), v)
	return nil
}

func (p *Pages) sendFile(w http.ResponseWriter, r *http.Request, v *dataset.Version) error {
	f, found := v.File(r.PathValue("name"))
	if !found {
		return store.ErrNotFound
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

// admit returns an error if the reader may not download the files of a version.
func admit(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	switch embargoed := v.Embargoed(time.Now()); {
	case v.State == dataset.Published && !embargoed:
		public(w, r, 0)
	case mayEdit(r, d):
	case v.State == dataset.Withdrawn:
		return store.ErrNotFound
	case embargoed:
		return errEmbargo // whether or not there is a file of this name
	}
	return nil
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
	if err := http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return w.ResponseWriter.Write(data)
}
