package main

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

//go:embed pages
var pages embed.FS

var templates = template.Must(template.ParseFS(pages, "pages/*.html"))

const maxFile = 16 << 20 // bytes of an upload

// Handler returns the pages of the repository.
func (p *Platform) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, page := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                     p.home,
		"GET /new":                     p.form,
		"POST /datasets":               p.save,
		"GET /datasets/{id}":           p.landing,
		"GET /datasets/{id}/file":      p.download,
		"GET /datasets/{id}/edit":      p.form,
		"POST /datasets/{id}":          p.save,
		"POST /datasets/{id}/publish":  p.publish,
		"POST /datasets/{id}/withdraw": p.withdraw,
		"GET /status":                  p.status,
		"POST /status/check":           p.checkNow,
		"POST /status/report":          p.reportNow,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := page(w, r); err != nil {
				p.fail(w, r, err)
			}
		})
	}
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, pages, "pages/style.css") })
	return http.NewCrossOriginProtection().Handler(mux) // a form of another site changes nothing here
}

func (p *Platform) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, sql.ErrNoRows):
		status = http.StatusNotFound
	case errors.Is(err, errChanged):
		status = http.StatusConflict
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
	}
	if status == http.StatusInternalServerError && r.Context().Err() == nil {
		p.log.Error("page", "path", r.URL.Path, "error", err)
	}
	http.Error(w, http.StatusText(status), status)
}

// render writes a page. What every page needs comes beside its own data.
func (p *Platform) render(w http.ResponseWriter, status int, page string, data map[string]any) error {
	data["Repository"] = p.config.Name
	var text strings.Builder
	if err := templates.ExecuteTemplate(&text, page+".html", data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	_, err := io.WriteString(w, text.String())
	return err
}

func (p *Platform) home(w http.ResponseWriter, r *http.Request) error {
	datasets, err := p.store.datasets(r.Context(), "ORDER BY d.id DESC LIMIT 200")
	if err != nil {
		return err
	}
	return p.render(w, http.StatusOK, "home", map[string]any{"Datasets": datasets})
}

func (p *Platform) asked(r *http.Request) (*Dataset, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, sql.ErrNoRows
	}
	return p.store.dataset(r.Context(), id)
}

func (p *Platform) landing(w http.ResponseWriter, r *http.Request) error {
	d, err := p.asked(r)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if d.State == Withdrawn {
		status = http.StatusGone // the DOI leads here, and the page says what was there
	}
	if err := p.count(r, status, d, false); err != nil {
		return err
	}
	description, err := json.Marshal(p.schemaOrg(d))
	if err != nil {
		return err
	}
	return p.render(w, status, "landing", map[string]any{
		"Dataset": d, "Citation": d.Citation(p.config.Name), "SchemaOrg": template.JS(description), "Faults": d.Check(p.config.Name),
	})
}

// schemaOrg describes a dataset to search engines.
func (p *Platform) schemaOrg(d *Dataset) map[string]any {
	var creators []map[string]any
	for _, c := range d.Creators {
		person := map[string]any{"@type": "Person", "givenName": c.Given, "familyName": c.Family, "name": c.Given + " " + c.Family}
		if c.ORCID != "" {
			person["@id"] = "https://orcid.org/" + strings.TrimPrefix(c.ORCID, "https://orcid.org/")
		}
		creators = append(creators, person)
	}
	return map[string]any{
		"@context": "https://schema.org", "@type": "Dataset", "@id": d.Address(), "identifier": d.Address(), "url": p.config.Public + d.Path(),
		"name": d.Title, "description": d.Description, "datePublished": d.Year, "license": "https://spdx.org/licenses/" + d.License,
		"creator": creators, "publisher": map[string]any{"@type": "Organization", "name": p.config.Name},
		"distribution": map[string]any{"@type": "DataDownload", "contentUrl": p.config.Public + d.Path() + "/file"},
	}
}

func (p *Platform) download(w http.ResponseWriter, r *http.Request) error {
	d, err := p.asked(r)
	if err != nil {
		return err
	}
	if d.State == Withdrawn {
		return sql.ErrNoRows
	}
	data, err := p.store.file(r.Context(), d.ID)
	if err != nil {
		return err
	}
	if err := p.count(r, http.StatusOK, d, true); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", d.File))
	_, err = w.Write(data)
	return err
}

// form shows an empty form, or that of a dataset.
func (p *Platform) form(w http.ResponseWriter, r *http.Request) error {
	d := &Dataset{Year: time.Now().Format("2006"), License: licenses[0]}
	if r.PathValue("id") != "" {
		var err error
		if d, err = p.asked(r); err != nil {
			return err
		}
	}
	return p.renderForm(w, http.StatusOK, d, nil)
}

func (p *Platform) renderForm(w http.ResponseWriter, status int, d *Dataset, faults []string) error {
	const people = 3 // fields for as many, and one more than there are
	shown := *d
	for len(shown.Creators) < max(people, len(d.Creators)+1) {
		shown.Creators = append(shown.Creators, Creator{})
	}
	return p.render(w, status, "form", map[string]any{"Dataset": &shown, "Licenses": licenses, "Faults": faults})
}

// save stores what the form holds, if it can be published as it is.
func (p *Platform) save(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxFile+1<<20)
	if err := r.ParseMultipartForm(maxFile); err != nil {
		return err
	}
	d := &Dataset{}
	if r.PathValue("id") != "" {
		var err error
		if d, err = p.asked(r); err != nil {
			return err
		}
		d.Revision, _ = strconv.Atoi(r.FormValue("revision")) // that of the form, so that no change of others is lost
	}
	file, err := readForm(r, d)
	if err != nil {
		return err
	}
	if faults := d.Check(p.config.Name); len(faults) > 0 {
		return p.renderForm(w, http.StatusUnprocessableEntity, d, faults)
	}
	if d.ID == 0 {
		err = p.store.create(r.Context(), d, p.config.Prefix, file)
	} else {
		err = p.store.update(r.Context(), d)
	}
	if err != nil {
		return err
	}
	p.changed()
	http.Redirect(w, r, d.Path(), http.StatusSeeOther)
	return nil
}

func readForm(r *http.Request, d *Dataset) (file []byte, err error) {
	field := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	d.Title, d.Description, d.Year, d.License = field("title"), field("description"), field("year"), field("license")
	d.Creators = nil
	for i := range 100 {
		value := func(name string) string { return field(fmt.Sprintf("%s%d", name, i)) }
		c := Creator{Family: value("family"), Given: value("given"), ORCID: value("orcid"), Affiliation: value("affiliation"), ROR: value("ror")}
		if c != (Creator{}) {
			d.Creators = append(d.Creators, c)
		}
	}
	if d.ID != 0 {
		return nil, nil // the file of a dataset does not change; a new one is a new dataset
	}
	upload, header, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer upload.Close()
	d.File = header.Filename
	return io.ReadAll(upload)
}

func (p *Platform) publish(w http.ResponseWriter, r *http.Request) error {
	return p.decide(w, r, Draft, Published)
}

func (p *Platform) withdraw(w http.ResponseWriter, r *http.Request) error {
	return p.decide(w, r, Published, Withdrawn)
}

// decide changes what is wanted of a dataset. The response does not wait for the
// registration service: what the page promises is in the database.
func (p *Platform) decide(w http.ResponseWriter, r *http.Request, from, to State) error {
	d, err := p.asked(r)
	if err != nil {
		return err
	}
	if d.State == from {
		if err := p.store.decide(r.Context(), d.ID, to); err != nil {
			return err
		}
		p.changed()
	}
	http.Redirect(w, r, d.Path(), http.StatusSeeOther)
	return nil
}

func (p *Platform) status(w http.ResponseWriter, r *http.Request) error {
	waiting, err := p.store.datasets(r.Context(), "WHERE o.dataset IS NOT NULL ORDER BY o.due")
	if err != nil {
		return err
	}
	sent, err := p.store.reports(r.Context())
	if err != nil {
		return err
	}
	checked, findings, err := p.store.findings(r.Context())
	if err != nil {
		return err
	}
	return p.render(w, http.StatusOK, "status", map[string]any{"Waiting": waiting, "Reports": sent, "Checked": checked, "Findings": findings})
}

func (p *Platform) checkNow(w http.ResponseWriter, r *http.Request) error {
	return p.now(w, r, p.check)
}

// reportNow sends the report of the current month, as far as it has come.
func (p *Platform) reportNow(w http.ResponseWriter, r *http.Request) error {
	return p.now(w, r, func(ctx context.Context) error {
		now := time.Now().UTC()
		return p.report(ctx, time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC), now)
	})
}

func (p *Platform) now(w http.ResponseWriter, r *http.Request, job func(context.Context) error) error {
	if err := job(r.Context()); err != nil {
		return err
	}
	p.changed()
	http.Redirect(w, r, "/status", http.StatusSeeOther)
	return nil
}
