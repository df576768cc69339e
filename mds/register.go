package mds

import (
	"context"
	"errors"
	"fmt"
)

// ErrHalfRegistered: the first step of Register succeeded and the second did not.
var ErrHalfRegistered = errors.New("mds: metadata stored, URL not registered")

// A Registration says what [Client.Register] did.
type Registration struct {
	DOI            string
	URL            string
	MetadataStatus Status // the service's answer to the metadata
	URLStatus      Status // the service's answer to the URL
	State          State  // Findable
}

// A HalfRegisteredError is a Register whose metadata were stored and whose URL
// was not: a DOI that was new is now a draft. Run Register again, or
// [Client.PutURL], or remove the draft with [Client.DeleteDraft]. It matches
// [ErrHalfRegistered].
type HalfRegisteredError struct {
	DOI            string
	MetadataStatus Status
	Err            error // of PutURL
}

// Error says what is stored and what is not.
func (e *HalfRegisteredError) Error() string {
	return fmt.Sprintf("mds.Register: the metadata of %s are stored, its URL is not: %v", e.DOI, e.Err)
}

// Unwrap returns what stopped the second step.
func (e *HalfRegisteredError) Unwrap() error { return e.Err }

// Is matches [ErrHalfRegistered].
func (e *HalfRegisteredError) Is(target error) bool { return target == ErrHalfRegistered }

// Register makes a DOI findable in the two steps of specification §1(3): its
// metadata, then its URL. The DOI resolves after a delay of usually a few
// minutes. Running it again, after success or failure, is safe: both steps
// replace what is there.
//
// All input is checked before the first step. An error of the first step means
// that nothing else was tried; an error of the second is a
// [*HalfRegisteredError].
func (c *Client) Register(ctx context.Context, doiName, address string, doc Document) (*Registration, error) {
	name, err := c.writable(doiName)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	stored, err := c.PutMetadata(ctx, name, doc)
	if err != nil {
		return nil, err
	}
	registered, err := c.PutURL(ctx, name, address)
	if err != nil {
		return nil, &HalfRegisteredError{DOI: name, MetadataStatus: stored, Err: err}
	}
	return &Registration{DOI: name, URL: address, MetadataStatus: stored, URLStatus: registered, State: Findable}, nil
}
