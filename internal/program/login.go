package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
)

// refusal is how long a login may take to be refused. The request takes longer only if the
// login is accepted, since then the service looks for the names of the account.
const refusal = 20 * time.Second

// A Sender sends requests with the login of a client of the DOI query.
type Sender interface {
	Do(context.Context, *datacite.Request) (*datacite.Response, error)
}

// CheckLogin is an error if the service refuses the login of a client. The deployed
// service ignores a wrong login when records are read, and shows what everybody may see.
//
// CheckLogin sends HEAD /dois/get-dois, which needs a login.
func CheckLogin(ctx context.Context, client Sender) error {
	short, cancel := context.WithTimeout(ctx, refusal)
	defer cancel()
	_, err := client.Do(short, &datacite.Request{Method: "HEAD", Path: "/dois/get-dois"})
	failure, ofService := errors.AsType[*datacite.Error](err)
	switch {
	case errors.Is(err, datacite.ErrUnauthorized):
		return fmt.Errorf("the service refuses the login; check DATACITE_USERNAME and DATACITE_PASSWORD: %w", err)
	case err == nil, ofService && failure.StatusCode != 0, ctx.Err() == nil && short.Err() != nil:
		return nil // whatever else it says, it says to an account
	}
	return err
}

// Service is a deployment by the base URL of its metadata store. If api is "", that of the
// DOI API is known for the deployments of DataCite only.
func Service(store, api string) datacite.Service {
	for _, known := range []datacite.Service{datacite.Production, datacite.Test} {
		if api == "" && strings.TrimRight(store, "/") == known.MDS {
			return known
		}
	}
	return datacite.Service{MDS: store, API: api}
}
