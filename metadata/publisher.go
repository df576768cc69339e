package metadata

import (
	"encoding/json"
	"sync"

	"github.com/datacite-go/datacite-go/internal/input"
)

// Publisher is the organization or person that holds, archives or releases the resource. In
// JSON it is a string if only Name is set, and an object otherwise; both are read.
type Publisher struct {
	Name                      string `json:"name"`
	PublisherIdentifier       string `json:"publisherIdentifier,omitempty"`
	PublisherIdentifierScheme string `json:"publisherIdentifierScheme,omitempty"`
	SchemeURI                 string `json:"schemeUri,omitempty"`
	Lang                      string `json:"lang,omitempty"`
}

var publisherElement = sync.OnceValue(func() *element[Publisher] {
	return newElement("publisher", textOnly,
		text("name", datatype{fault: required("the publisher"), word: true, spaces: oneBlank}, func(p *Publisher) *string {
			return &p.Name
		}).ofElement(),
		attribute("publisherIdentifier", anyWord, func(p *Publisher) *string { return &p.PublisherIdentifier }),
		attribute("publisherIdentifierScheme", anyWord, func(p *Publisher) *string { return &p.PublisherIdentifierScheme }),
		also(func(c *checker, p *path, v *Publisher) {
			c.agent(p, "publisherIdentifier", v.PublisherIdentifier, v.PublisherIdentifierScheme)
		}),
		schemeURI(func(p *Publisher) *string { return &p.SchemeURI }),
		lang(func(p *Publisher) *string { return &p.Lang }),
	)
})

// MarshalJSON writes a string if only Name is set, and an object otherwise.
func (p Publisher) MarshalJSON() ([]byte, error) {
	if p == (Publisher{Name: p.Name}) {
		return json.Marshal(p.Name)
	}
	type plain Publisher
	return json.Marshal(plain(p))
}

// UnmarshalJSON reads an object, or a string as the name.
func (p *Publisher) UnmarshalJSON(data []byte) error {
	return input.JSON(data, p, publisherElement().jsonObject().Read)
}
