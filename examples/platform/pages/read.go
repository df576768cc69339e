package pages

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// concept leads to the latest version: this is where the concept DOI leads.
func (p *Pages) concept(w http.ResponseWriter, r *http.Request) error {
	d, err := p.dataset(r)
	if err != nil {
		return err
	}
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

func (p *Pages) landing(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.version(r)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if v.State == dataset.Withdrawn {
		status = http.StatusGone // the DOI leads here, and the page says what was there
	}
	p.Counter.Access(r, status, v, false)
	return p.renderLanding(w, r, status, d, v, "")
}

func (p *Pages) renderLanding(w http.ResponseWriter, r *http.Request, status int, d *dataset.Dataset, v *dataset.Version, uploadFault string) error {
	own, displayed, err := p.Store.Usage(r.Context(), v.DOI)
	if err != nil {
		return err
	}
	schemaOrg, err := json.Marshal(d.SchemaOrg(v, p.By))
	if err != nil {
		return err
	}
	if v.State != dataset.Draft {
		public(w, r, 0)
		w.Header().Add("Link", fmt.Sprintf(`<%s>; rel="cite-as"`, v.Address()))
		w.Header().Add("Link", fmt.Sprintf(`<%s/export/datacite.xml>; rel="describedby"; type="application/xml"`, p.By.Public+v.Path()))
	}
	return p.render(w, r, status, "landing", v.About.Title, map[string]any{
		"Dataset": d, "Version": v, "Mine": mayEdit(r, d), "Embargoed": v.Embargoed(time.Now()),
		"Citation": v.Citation(p.By), "SchemaOrg": template.JS(schemaOrg), "Own": own, "Displayed": displayed,
		"Upload": Field{
			ID: "file", Label: "Add files", Type: "file", Required: true, Fault: uploadFault,
			Hint: fmt.Sprintf("Up to %s each, %d files in all.", size(p.Limits.Bytes), p.Limits.Files),
		},
	})
}

func (p *Pages) download(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.version(r)
	if err != nil {
		return err
	}
	f, found := v.File(r.PathValue("name"))
	switch embargoed := v.Embargoed(time.Now()); {
	case v.State == dataset.Withdrawn && !mayEdit(r, d):
		return store.ErrNotFound
	case embargoed && !mayEdit(r, d):
		return errEmbargo // whether or not there is a file of this name
	case !found:
		return store.ErrNotFound
	case v.State == dataset.Published && !embargoed:
		public(w, r, 0)
	}
	data, err := p.Store.OpenFile(f)
	if err != nil {
		return err
	}
	defer data.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	w.Header().Set("ETag", `"`+f.SHA256+`"`)
	patient := &patientWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	http.ServeContent(patient, r, "", time.Time{}, data)
	if v.Embargoed(time.Now()) {
		return nil // the owner's own look
	}
	p.Counter.Access(r, patient.status, v, true)
	return nil
}

// patience is how long a part of a large transfer may take. The server's own limits are
// for whole requests and responses.
const patience = 30 * time.Second

// A patientWriter gives each part of a response its own time, and keeps its status.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	status  int
}

func (w *patientWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *patientWriter) Write(data []byte) (int, error) {
	if err := w.control.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return w.ResponseWriter.Write(data)
}

// export writes the metadata of a version for other programs.
func (p *Pages) export(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.version(r)
	if err != nil {
		return err
	}
	var contentType string
	var text []byte
	switch r.PathValue("format") {
	case "datacite.xml":
		contentType = "application/xml"
		text, err = d.Record(v, p.By).XML()
	case "datacite.json":
		contentType = "application/json"
		text, err = json.MarshalIndent(d.Record(v, p.By), "", "  ")
	case "bibtex.bib":
		contentType, text = "application/x-bibtex; charset=utf-8", []byte(v.BibTeX(p.By))
	case "citation.txt":
		contentType, text = "text/plain; charset=utf-8", []byte(v.Citation(p.By)+"\n")
	default:
		return store.ErrNotFound
	}
	if err != nil {
		return err
	}
	if v.State != dataset.Draft {
		public(w, r, 0)
	}
	p.Counter.Access(r, http.StatusOK, v, false)
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(text) // its reader may be gone
	return nil
}
