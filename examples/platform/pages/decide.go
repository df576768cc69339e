package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// A question asks for confirmation. Its form contains a fingerprint of what the page shows; if
// that has changed, the question is asked again.
type question struct {
	Title, Text, Button string
	Preview             bool // of what becomes public
	Fields              []Field
	Notice              string
	Shown               string // the fingerprint
	Back                string // path of the page to go back to
}

// ask shows a question, or does the work if the request confirms it for the present state.
func (p *Pages) ask(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version, q question,
	work func() error) error {
	shown, err := d.Fingerprint(v, p.By)
	if err != nil {
		return err
	}
	status, fault := http.StatusOK, len(q.Fields) > 0 && q.Fields[0].Fault != ""
	switch {
	case r.Method != http.MethodPost:
	case r.PostFormValue("shown") != shown:
		status, q.Notice = http.StatusConflict, "The dataset has changed since you were asked, perhaps in another window. "+
			"Nothing was done yet. This is what it is now: look at it, and decide again."
	case fault:
		status = http.StatusUnprocessableEntity
	default:
		return work()
	}
	q.Shown, q.Back = shown, v.Path()
	data := map[string]any{"Question": q}
	if q.Preview {
		data["Dataset"], data["Version"], data["By"], data["Now"] = d, v, p.By, time.Now()
	}
	return p.render(w, r, status, "confirm", q.Title, data)
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// publish publishes a draft or a withdrawn version, exactly as the question showed it.
func (p *Pages) publish(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	switch {
	case v.State == dataset.Published || v.State == dataset.Withdrawn && len(v.Files) == 0:
		return p.done(w, r, v)
	case len(v.Files) == 0:
		return p.renderLanding(w, r, http.StatusUnprocessableEntity, d, v,
			landing{base: v.Path(), mine: true, uploadFault: "A dataset needs a file before it can be published."})
	}
	published := v.As(dataset.Published, today(), "")
	public := d.With(published)
	if faults := public.Faults(published, p.By); len(faults) > 0 { // the rules are newer than the draft
		return p.renderForm(w, r, http.StatusUnprocessableEntity, d, v, faults, "")
	}
	return p.ask(w, r, public, published, question{
		Title: fmt.Sprintf("Publish version %d?", v.Number), Button: "Publish", Preview: true,
		Text: "Its DOI is registered for good, and everybody sees what is below. You can correct the description later, " +
			"but not change the files: that takes a new version. If you withdraw it, a page with its title and names stays.",
	}, func() error { return p.changed(w, r, v.Path(), p.Store.Decide(r.Context(), d, published)) })
}

const maxReason = 2000

func (p *Pages) withdraw(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	reason := Field{ID: "reason", Label: "Reason", Type: "textarea", Value: line(r, "reason"), Required: true,
		Hint: "Everybody can read it."}
	withdrawn := v.As(dataset.Withdrawn, today(), reason.Value)
	switch faults := d.Faults(withdrawn, p.By); {
	case r.Method != http.MethodPost:
	case reason.Value == "":
		reason.Fault = "Give a reason: it is all that readers will find."
	case utf8.RuneCountInString(reason.Value) > maxReason:
		reason.Fault = fmt.Sprintf("Use %d characters at most.", maxReason)
	case len(faults) > 0:
		reason.Fault = faults[0].Message
	}
	return p.ask(w, r, d, v, question{
		Title: "Withdraw version " + strconv.Itoa(v.Number) + "?", Button: "Withdraw", Fields: []Field{reason},
		Text: "“" + v.About.Title + "” can no longer be downloaded or found by searching. Its DOI " + v.Address() +
			" leads to a page that says who made it, what it was called, and why it was withdrawn. " +
			"Description, methods and keywords are removed from the page and from the record of the DOI. You can publish it " +
			"again later.",
	}, func() error { return p.changed(w, r, v.Path(), p.Store.Decide(r.Context(), d, withdrawn)) })
}

// erase deletes the files and the description of a withdrawn version, such as after a person
// withdrew their consent.
func (p *Pages) erase(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	if len(v.Files) == 0 {
		return p.done(w, r, v)
	}
	return p.ask(w, r, d, v, question{
		Title: "Delete the files and the description?", Button: "Delete",
		Text: "The files of “" + v.About.Title +
			"” are deleted for good, unless another version or dataset has the same, too. So are description, methods and " +
			"keywords. This version cannot be published again. " +
			"Earlier backups still contain all of it: tell the administrator if they must be deleted, too.",
	}, func() error { return p.changed(w, r, v.Path(), p.Store.Erase(r.Context(), v)) })
}

func (p *Pages) discard(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
	var names []string
	for _, f := range v.Files {
		names = append(names, f.Name)
	}
	text := "The draft “" + v.About.Title + "” is deleted for good, with the files that no other version has."
	if len(names) > 0 {
		text += " Its files: " + strings.Join(names, ", ") + "."
	}
	return p.ask(w, r, d, v, question{Title: "Discard this draft?", Button: "Discard", Text: text}, func() error {
		return lead(w, r, "/mine", p.Store.Discard(r.Context(), d))
	})
}
