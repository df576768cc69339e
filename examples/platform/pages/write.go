package pages

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// newForm shows an empty form. Its key is in its address, so that the browser's Back leads to the same form.
func (p *Pages) newForm(w http.ResponseWriter, r *http.Request) error {
	if r.FormValue("form") == "" {
		return lead(w, r, "/new?form="+rand.Text(), nil)
	}
	return p.renderForm(w, r, http.StatusOK, &dataset.Dataset{},
		&dataset.Version{About: dataset.About{License: dataset.Licenses[0]}}, nil, "")
}

func (p *Pages) create(w http.ResponseWriter, r *http.Request) error {
	a, err := readForm(r)
	if err != nil {
		return err
	}
	d, v := &dataset.Dataset{}, &dataset.Version{Number: 1, State: dataset.Draft, About: a}
	return p.finished(w, r, d, v, func() error {
		id, err := p.Store.Create(r.Context(), curator(r), fmt.Sprintf("%.64s", r.PostFormValue("form")), p.Prefix, a)
		switch {
		case errors.Is(err, store.ErrSent):
			return p.sentAgain(w, r, id, a)
		case err == nil:
			err = p.begun(w, r, id)
		}
		return p.unstored(w, r, d, v, err)
	})
}

// sentAgain leads to the dataset that a form has made already. If something else was typed since, it asks whether
// to store it.
func (p *Pages) sentAgain(w http.ResponseWriter, r *http.Request, id int64, a dataset.About) error {
	d, err := p.Store.Dataset(r.Context(), id)
	if err != nil {
		return err
	}
	typed := *d.Last()
	if reflect.DeepEqual(typed.About, a) {
		return lead(w, r, typed.Path(), nil)
	}
	typed.About = a
	return p.renderForm(w, r, http.StatusConflict, d, &typed, nil,
		"This form was stored before, so there is a dataset of it already. Nothing was stored now. Here is what you typed: "+
			"save it to change that dataset.")
}

// begun leads to the draft that was made of a dataset.
func (p *Pages) begun(w http.ResponseWriter, r *http.Request, id int64) error {
	d, err := p.Store.Dataset(r.Context(), id)
	if err != nil {
		return err
	}
	return p.changed(w, r, d.Last().Path(), nil)
}

// finished shows the form again, with all that was typed, or stores it if that can be done.
func (p *Pages) finished(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version,
	store func() error) error {
	if wished(r).list != "" {
		return p.renderForm(w, r, http.StatusOK, d, v, nil, "")
	}
	if faults := d.Faults(v, p.By); len(faults) > 0 {
		return p.renderForm(w, r, http.StatusUnprocessableEntity, d, v, faults, "")
	}
	return store()
}

func (p *Pages) editForm(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	return p.renderForm(w, r, http.StatusOK, d, v, nil, "")
}

func (p *Pages) edit(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	a, err := readForm(r)
	if err != nil {
		return err
	}
	edited := *v
	edited.About = a
	edited.Revision, _ = strconv.Atoi(r.PostFormValue("revision")) // that of the form, so that no change is lost
	return p.finished(w, r, d, &edited, func() error {
		err := p.Store.Edit(r.Context(), &edited, a)
		if !errors.Is(err, store.ErrChanged) {
			return p.unstored(w, r, d, &edited, p.changed(w, r, v.Path(), err))
		}
		edited.Revision = v.Revision
		return p.renderForm(w, r, http.StatusConflict, d, &edited, nil,
			"The dataset has changed since you opened this form, perhaps in another window. Nothing was stored yet. Here is "+
				"what you typed: compare it with the dataset, and save it to put it in its place.")
	})
}

// unstored gives the form back when the disk is full.
func (p *Pages) unstored(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version,
	err error) error {
	if !sqlite.Full(err) {
		return err
	}
	p.Log.Error("form", "error", err)
	return p.renderForm(w, r, http.StatusInsufficientStorage, d, v, nil,
		"The disk of the repository is full, and nothing was stored. Here is what you typed. Tell the administrator, and "+
			"save it again when there is room.")
}

// changed wakes the outbox and redirects to a page, unless the change failed. The response does
// not wait for DataCite, since the change is in the database.
func (p *Pages) changed(w http.ResponseWriter, r *http.Request, path string, err error) error {
	if err == nil {
		p.Changed()
	}
	return lead(w, r, path, err)
}

// A refusal is the reason why an upload was refused, as the page shows it.
type refusal string

func (f refusal) Error() string { return string(f) }

const broken = refusal("The upload was interrupted, and nothing of it was kept. Try again.")

// upload stores files of a draft while they arrive.
func (p *Pages) upload(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	r.Body = http.MaxBytesReader(w, &patientBody{r.Body, http.NewResponseController(w)},
		p.Limits.Bytes*int64(p.Limits.Files)+1<<20)
	parts, err := r.MultipartReader()
	if err != nil {
		return refusal("No file arrived.")
	}
	arrived, err := p.receive(parts)
	if err == nil {
		err = p.Store.ChangeFiles(r.Context(), v, p.adding(arrived))
	}
	err = errors.Join(err, p.Store.Release(r.Context(), arrived))
	if fault, ok := errors.AsType[refusal](err); ok {
		_, _ = io.CopyN(io.Discard, r.Body, 64<<20) // a browser shows nothing until it has sent all
		status := http.StatusUnprocessableEntity
		if fault == broken {
			status = http.StatusBadRequest
		}
		return p.renderLanding(w, r, status, d, v, landing{base: v.Path(), mine: true, uploadFault: string(fault)})
	}
	return lead(w, r, v.Path(), err)
}

// adding adds files to those that a version has.
func (p *Pages) adding(arrived []dataset.File) func([]dataset.File) ([]dataset.File, error) {
	return func(files []dataset.File) ([]dataset.File, error) {
		for _, f := range arrived {
			if slices.ContainsFunc(files, func(other dataset.File) bool { return other.Name == f.Name }) {
				return nil, refusal(fmt.Sprintf(
					"There is a file %s already. Remove it first, or rename yours. Nothing of this upload was kept.", f.Name))
			}
			files = append(files, f)
		}
		if len(files) > p.Limits.Files {
			return nil, refusal(fmt.Sprintf("A version has %d files at most. Nothing of this upload was kept.", p.Limits.Files))
		}
		return files, nil
	}
}

// receive stores the files of an upload. It returns those that arrived also when it fails.
func (p *Pages) receive(parts *multipart.Reader) (arrived []dataset.File, err error) {
	for {
		part, err := parts.NextPart()
		if err == io.EOF { // the end itself; a missing end wraps it
			return arrived, nil
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return arrived, err
		}
		if err != nil {
			return arrived, broken
		}
		name := browsersEscape.Replace(part.FileName())
		switch {
		case name == "" && part.FormName() == "file":
			return arrived, refusal("Choose a file first.")
		case name == "":
			continue // another field
		case len(arrived) >= p.Limits.Files:
			return arrived, refusal(fmt.Sprintf("A version has %d files at most. Nothing of this upload was kept.",
				p.Limits.Files))
		case !goodName(name):
			return arrived, refusal(fmt.Sprintf(
				"The name %q is too long, begins with a dot, or has a backslash or invisible characters. Rename the file.", name))
		}
		f, err := p.Store.Receive(name, part, p.Limits.Bytes)
		switch {
		case errors.Is(err, store.ErrTooLarge):
			return arrived, refusal(fmt.Sprintf("%s is larger than %s. Nothing of this upload was kept.", name,
				size(p.Limits.Bytes)))
		case errors.Is(err, store.ErrFull) || sqlite.Full(err):
			p.Log.Error("upload", "error", err)
			return arrived, refusal("The disk of the repository is full. Nothing of this upload was kept. Tell the " +
				"administrator.")
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrDeadlineExceeded):
			return arrived, broken
		case err != nil:
			return arrived, err
		}
		arrived = append(arrived, f)
	}
}

// browsersEscape is what browsers write in place of characters of a file's name.
var browsersEscape = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

func goodName(name string) bool {
	return len(name) <= 255 && !strings.Contains(name, `\`) && utf8.ValidString(name) && !strings.HasPrefix(name, ".") &&
		!strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
}

// A patientBody extends the deadline of a large request with each part.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *patientBody) Read(buf []byte) (int, error) {
	soon := time.Now().Add(patience)
	if err := errors.Join(b.control.SetReadDeadline(soon), b.control.SetWriteDeadline(soon.Add(patience))); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return b.ReadCloser.Read(buf)
}

func (p *Pages) removeFile(w http.ResponseWriter, r *http.Request, _ *dataset.Dataset, v *dataset.Version) error {
	name := r.PostFormValue("name")
	return lead(w, r, v.Path(), p.Store.ChangeFiles(r.Context(), v, func(files []dataset.File) ([]dataset.File, error) {
		return slices.DeleteFunc(files, func(f dataset.File) bool { return f.Name == name }), nil
	}))
}

// addVersion begins a draft of the next version with what the last one has.
func (p *Pages) addVersion(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, _ *dataset.Version) error {
	if d.Last().State == dataset.Draft {
		return lead(w, r, d.Last().Path(), nil) // it was begun already
	}
	if err := p.Store.AddVersion(r.Context(), d, p.Prefix); err != nil {
		return err
	}
	return p.begun(w, r, d.ID)
}
