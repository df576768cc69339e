package pages

import (
	"crypto/rand"
	"net/http"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// A curator may show a draft to reviewers at a secret address, to read and not to change.
// The address ends when the curator takes it back, and when the draft is published.

// setReview makes a secret address for the draft, another one, or none.
func (p *Pages) setReview(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.own(r)
	if err != nil {
		return err
	}
	if v.State != dataset.Draft {
		return errForbidden
	}
	secret := ""
	if r.PostFormValue("make") != "" {
		secret = rand.Text()
	}
	if err := p.Store.SetReview(r.Context(), d, v, secret); err != nil {
		return err
	}
	http.Redirect(w, r, v.Path(), http.StatusSeeOther)
	return nil
}

// underReview returns the draft that a reviewer may see, and keeps its address from search
// engines and from the pages that it has links to.
func (p *Pages) underReview(w http.ResponseWriter, r *http.Request) (*dataset.Dataset, *dataset.Version, error) {
	w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	w.Header().Set("Referrer-Policy", "no-referrer")
	return p.Store.UnderReview(r.Context(), r.PathValue("secret"))
}

func (p *Pages) review(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.underReview(w, r)
	if err != nil {
		return err
	}
	return p.renderLanding(w, r, http.StatusOK, d, v, landing{base: reviewPath(v)})
}

func (p *Pages) reviewFile(w http.ResponseWriter, r *http.Request) error {
	_, v, err := p.underReview(w, r)
	if err != nil {
		return err
	}
	_, err = p.sendFile(w, r, v)
	return err
}

func reviewPath(v *dataset.Version) string { return "/review/" + v.Review }
