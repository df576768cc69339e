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
	w.Header().Add("Vary", "Accept")
	if v.State != dataset.Draft {
		public(w, r, 0)
		p.signpost(w, v)
	}
	if f, contentType := negotiate(r); f != nil {
		return p.export(w, r, f, contentType, status, d, v)
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
	return p.render(w, r, status, "landing", v.About.Title, map[string]any{
		"Dataset": d, "Version": v, "Mine": mayEdit(r, d), "Now": time.Now(), "Formats": formats,
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
	if err := admit(w, r, d, v); err != nil {
		return err
	}
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
	patient := &patientWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	http.ServeContent(patient, r, "", time.Time{}, data)
	p.downloaded(r, patient.status, v)
	return nil
}

// admit returns why somebody cannot have the files of a version.
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
