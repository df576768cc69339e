package pages

import (
	"crypto/rand"
	"net/http"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// Reviewers can read a draft at a secret address. The address ends when the curator revokes it,
// and when the draft is published.

// setReview makes a secret address for the draft, another one, or none.
func (p *Pages) setReview(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.own(r, dataset.Draft)
	if err != nil {
		return err
	}
	secret := ""
	if r.PostFormValue("make") != "" {
		secret = rand.Text()
	}
	if err := p.Store.SetReview(r.Context(), d, v, secret); err != nil {
		return err
	}
	return lead(w, r, v.Path())
}

// underReview returns the draft of a reviewer's address, and keeps search engines and linked
// pages from learning the address.
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
	return p.sendFile(w, r, v)
}

func reviewPath(v *dataset.Version) string { return "/review/" + v.Review }
