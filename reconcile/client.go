package reconcile

import (
	"errors"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Client compares and writes DOI records. [NewClient] makes one. Many goroutines may use it at once.
type Client struct {
	dois *dois.Client
	core *transport.Client // of its own pauses, and of texts without credentials
}

// NewClient makes a client, which needs what [dois.NewClient] needs. Nothing is sent yet.
//
// If cfg has faults, the error is a [*datacite.ValidationError] with all of them.
func NewClient(cfg datacite.Config) (*Client, error) {
	records, err := dois.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	login, noLogin := transport.Basic(cfg)
	core, err := transport.New(cfg, transport.Interface{Name: "API", Login: login})
	return &Client{dois: records, core: core}, errors.Join(noLogin, err)
}
