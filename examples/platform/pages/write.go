package pages

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

func (p *Pages) newForm(w http.ResponseWriter, r *http.Request) error {
	if curator(r) == "" {
		return errLogin
	}
	a := dataset.About{License: dataset.Licenses[0]}
	return p.renderForm(w, r, http.StatusOK, &dataset.Dataset{}, a, nil, "")
}

func (p *Pages) create(w http.ResponseWriter, r *http.Request) error {
	a, err := readForm(r)
	if err != nil {
		return err
	}
	d, v := &dataset.Dataset{}, &dataset.Version{Number: 1, State: dataset.Draft, About: a}
	if shown, err := p.unfinished(w, r, d, v); shown {
		return err
	}
	d.ID, err = p.Store.Create(r.Context(), curator(r), p.Prefix, a)
	if err != nil {
		return err
	}
	http.Redirect(w, r, d.Path(), http.StatusSeeOther)
	return nil
}

// unfinished shows the form again, with all that was typed, if it cannot be stored.
func (p *Pages) unfinished(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) (shown bool, err error) {
	if curator(r) == "" {
		return true, p.renderForm(w, r, http.StatusUnauthorized, d, v.About, nil, "You are not logged in any more, and nothing was stored. Log in in another window, and press Save here again.")
	}
	if r.PostFormValue("more") != "" {
		return true, p.renderForm(w, r, http.StatusOK, d, v.About, nil, "")
	}
	if faults := d.Faults(v, p.By); len(faults) > 0 {
		return true, p.renderForm(w, r, http.StatusUnprocessableEntity, d, v.About, faults, "")
	}
	return false, nil
}

func (p *Pages) editForm(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.own(r)
	if err != nil {
		return err
	}
	return p.renderForm(w, r, http.StatusOK, d, v.About, nil, "")
}

func (p *Pages) edit(w http.ResponseWriter, r *http.Request) error {
	a, err := readForm(r)
	if err != nil {
		return err
	}
	revision, _ := strconv.Atoi(r.PostFormValue("revision"))
	if curator(r) == "" { // whether the dataset exists is not said
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
		_, err := p.unfinished(w, r, &dataset.Dataset{ID: id, Revision: revision}, &dataset.Version{About: a})
		return err
	}
	d, v, err := p.own(r)
	if err != nil {
		return err
	}
	current := d.Revision
	d.Revision = revision // that of the form, so that no change is lost
	edited := *v
	edited.About = a
	if shown, err := p.unfinished(w, r, d, &edited); shown {
		return err
	}
	switch err := p.Store.Edit(r.Context(), d, v, a); {
	case errors.Is(err, store.ErrChanged):
		d.Revision = current
		return p.renderForm(w, r, http.StatusConflict, d, a, nil, "The dataset has changed since you opened this form, perhaps in another window. Nothing was stored yet. Here is what you typed: compare it with the dataset, and press Save to put it in its place.")
	case err != nil:
		return err
	}
	return p.changed(w, r, v.Path())
}

// changed wakes the outbox and leads to a page. The response does not wait for the
// registration service: what the page promises is in the database.
func (p *Pages) changed(w http.ResponseWriter, r *http.Request, path string) error {
	p.Changed()
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// A refusal is a fault of an upload, in words for the page.
type refusal string

func (f refusal) Error() string { return string(f) }

// upload stores files of a draft while they arrive.
func (p *Pages) upload(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.own(r)
	if err != nil {
		return err
	}
	if v.State != dataset.Draft {
		return errForbidden
	}
	r.Body = http.MaxBytesReader(w, &patientBody{r.Body, http.NewResponseController(w)}, p.Limits.Bytes*int64(p.Limits.Files)+1<<20)
	parts, err := r.MultipartReader()
	if err != nil {
		return refusal("No file arrived.")
	}
	arrived, err := p.receive(parts, v.Files)
	if err == nil {
		err = p.Store.SetFiles(r.Context(), d, v, slices.Concat(v.Files, arrived))
	}
	err = errors.Join(err, p.Store.Release(r.Context(), arrived))
	if fault, ok := errors.AsType[refusal](err); ok {
		_, _ = io.CopyN(io.Discard, r.Body, 64<<20) // a browser shows nothing until it has sent all
		return p.renderLanding(w, r, http.StatusUnprocessableEntity, d, v, string(fault))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, v.Path(), http.StatusSeeOther)
	return nil
}

// receive stores the files of an upload, for a version that has some already. It returns
// those that arrived also when it fails.
func (p *Pages) receive(parts *multipart.Reader, has []dataset.File) (arrived []dataset.File, err error) {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return arrived, nil
		}
		var tooLarge *http.MaxBytesError
		if err != nil && !errors.As(err, &tooLarge) {
			return arrived, refusal("The upload broke off, and nothing of it was kept. Try again.")
		}
		if err != nil {
			return arrived, err
		}
		name := part.FileName()
		named := func(f dataset.File) bool { return f.Name == name }
		switch {
		case name == "" && part.FormName() == "file":
			return arrived, refusal("Choose a file first.")
		case name == "":
			continue // another field
		case len(has)+len(arrived) >= p.Limits.Files:
			return arrived, refusal(fmt.Sprintf("A version has %d files at most. Nothing of this upload was kept.", p.Limits.Files))
		case !goodName(name):
			return arrived, refusal(fmt.Sprintf("The name %q is too long, or has characters that cannot be shown or that are not for names. Rename the file.", name))
		case slices.ContainsFunc(has, named) || slices.ContainsFunc(arrived, named):
			return arrived, refusal(fmt.Sprintf("There is a file %s already. Remove it first, or rename yours. Nothing of this upload was kept.", name))
		}
		f, err := p.Store.Receive(name, part, p.Limits.Bytes)
		switch {
		case errors.Is(err, store.ErrTooLarge):
			return arrived, refusal(fmt.Sprintf("%s is larger than %s. Nothing of this upload was kept.", name, size(p.Limits.Bytes)))
		case errors.Is(err, syscall.ENOSPC):
			p.Log.Error("upload", "error", err)
			return arrived, refusal("The disk of the repository is full. Nothing of this upload was kept. Tell who runs the repository.")
		case err != nil:
			return arrived, err
		}
		arrived = append(arrived, f)
	}
}

func goodName(name string) bool {
	return len(name) <= 255 && !strings.Contains(name, `\`) && utf8.ValidString(name) && !strings.HasPrefix(name, ".") && !strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
}

// A patientBody gives each part of a large request its own time.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *patientBody) Read(buf []byte) (int, error) {
	soon := time.Now().Add(patience)
	if err := errors.Join(b.control.SetReadDeadline(soon), b.control.SetWriteDeadline(soon.Add(patience))); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return b.ReadCloser.Read(buf)
}

func (p *Pages) removeFile(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.own(r)
	if err != nil {
		return err
	}
	if v.State != dataset.Draft {
		return errForbidden
	}
	name := r.PostFormValue("name")
	kept := slices.DeleteFunc(slices.Clone(v.Files), func(f dataset.File) bool { return f.Name == name })
	if err := p.Store.SetFiles(r.Context(), d, v, kept); err != nil {
		return err
	}
	http.Redirect(w, r, v.Path(), http.StatusSeeOther)
	return nil
}

// addVersion begins a draft of the next version with what the last one has.
func (p *Pages) addVersion(w http.ResponseWriter, r *http.Request) error {
	d, _, err := p.own(r)
	if err != nil {
		return err
	}
	if d.Last().State == dataset.Draft {
		http.Redirect(w, r, d.Last().Path(), http.StatusSeeOther) // it was begun already
		return nil
	}
	if err := p.Store.AddVersion(r.Context(), d, p.Prefix); err != nil {
		return err
	}
	http.Redirect(w, r, fmt.Sprintf("%s/%d", d.Path(), d.Last().Number+1), http.StatusSeeOther)
	return nil
}
