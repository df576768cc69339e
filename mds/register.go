package mds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// ErrHalfRegistered: the first step of Register succeeded and the second did not.
var ErrHalfRegistered = errors.New("mds: metadata stored, URL not registered")

// ErrUnconfirmed: the service accepted both steps of Register, and reading the
// DOI back shows something else.
var ErrUnconfirmed error = &transport.Condition{Text: "mds: registered, but not read back as written", Passes: true}

// A Registration says what [Client.Register] or [Client.Ensure] did.
type Registration struct {
	DOI            string
	URL            string
	Change         Change
	Before         State    // None, Draft or Public
	State          State    // Findable; Public if nothing was written that makes a hidden DOI findable
	MetadataStatus Status   // the service's answer to the metadata; "" if they were not sent
	URLStatus      Status   // the service's answer to the URL; "" if it was not sent, or if its answer was lost
	Altered        []string // where the metadata, read back, are not as they were given, in words; RIS is turned into XML, for instance
}

// A Change is the effect of a registration.
type Change string

// The effects of a registration.
const (
	Created   Change = "created"   // the DOI was not known before
	Updated   Change = "updated"   // the DOI was a draft, or its URL or metadata were different
	Unchanged Change = "unchanged" // the DOI was public with this URL and these metadata
)

// A HalfRegisteredError is a Register whose metadata were stored and whose URL
// was not: a DOI that was new is now a draft. Run Register again, or
// [Client.PutURL], or remove the draft with [Client.DeleteDraft]. It matches
// [ErrHalfRegistered].
type HalfRegisteredError struct {
	DOI            string
	MetadataStatus Status
	Err            error // of PutURL; if it matches datacite.ErrUnclear, the URL may be stored all the same
}

// Error says what is stored and what is not.
func (e *HalfRegisteredError) Error() string {
	verb := "is not"
	if errors.Is(e.Err, datacite.ErrUnclear) {
		verb = "may not be"
	}
	return fmt.Sprintf("mds.Register: the metadata of %s are stored, its URL %s: %v", e.DOI, verb, e.Err)
}

// Unwrap returns what stopped the second step.
func (e *HalfRegisteredError) Unwrap() error { return e.Err }

// Is matches [ErrHalfRegistered].
func (e *HalfRegisteredError) Is(target error) bool { return target == ErrHalfRegistered }

// An UnconfirmedError is a registration that the service accepted but does not
// show: it may be slow, or may have stored something else. It matches
// [ErrUnconfirmed]. Running Register again is safe.
type UnconfirmedError struct {
	Registration Registration // as it was asked for
	Err          error        // why reading failed, or what was read
}

// Error says what was read instead.
func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("mds.Register: %s was accepted, and reading it back failed: %v", e.Registration.DOI, e.Err)
}

// Unwrap returns what went wrong in reading.
func (e *UnconfirmedError) Unwrap() error { return e.Err }

// Is matches [ErrUnconfirmed].
func (e *UnconfirmedError) Is(target error) bool { return target == ErrUnconfirmed }

// Transient is what [datacite.Temporary] asks.
func (e *UnconfirmedError) Transient() bool {
	_, refused := errors.AsType[*datacite.Error](e.Err)
	return !refused || datacite.Temporary(e.Err)
}

// Register makes a DOI findable in the two steps of specification §1(3): its
// metadata, then its URL. It looks at the DOI first, and reads it back at the
// end. The DOI resolves after a delay of usually a few minutes ([WaitResolved]).
// Running it again, after success or failure, is safe: both steps replace what
// is there, and a hidden DOI becomes findable again. [Client.Ensure] writes only
// what differs.
//
// All input is checked before anything is sent. An error of the first step means
// that the second was not tried: the DOI is as it was, unless the error matches
// [datacite.ErrUnclear]. An error of the second step is a [*HalfRegisteredError], one of
// reading back an [*UnconfirmedError].
func (c *Client) Register(ctx context.Context, doiName, address string, doc Document) (*Registration, error) {
	r, err := c.registration(doiName, address, doc, nil)
	if err != nil {
		return nil, err
	}
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	r.sameMetadata, r.sameURL = false, false // both steps, whatever is there
	return r.write(ctx)
}

// EnsureOptions are the optional settings of Ensure.
type EnsureOptions struct {
	NoReadBack bool     // do not read the DOI back after writing; saves two requests
	Resolver   Resolver // wait until the DOI resolves there, as WaitResolved does; nil does not wait

	// Stored reads the XML that is stored for a DOI from elsewhere, as Client.XML of
	// package dois does. It is asked when the service shows metadata garbled
	// ([ErrGarbled]). Without it, such metadata are written again, as they may not be
	// the same.
	Stored func(ctx context.Context, doi string) ([]byte, error)
}

// Ensure makes a DOI have a URL and metadata, as Register does, and writes only
// what differs. A DOI that has both is not written at all. Metadata are compared
// as XML, without regard to the identifier, to blanks between elements, comments
// and the order of attributes. What the deployed service makes of them each time
// counts as the same: it turns the tags <i>, <b>, <sub> and a few more into text,
// in CDATA sections, too, and drops U+FEFF; Registration.Altered shows it. Metadata
// in other formats cannot be compared with what the service made of them, and are
// always written. So are those with characters beyond ASCII, which the deployed
// service does not show ([ErrGarbled]), unless EnsureOptions.Stored reads them.
//
// A hidden DOI stays hidden if its metadata are right, as the interface does not
// show the difference, and becomes findable if they are written. [Client.Show]
// makes it findable in any case. Errors are those of [Client.Register].
func (c *Client) Ensure(ctx context.Context, doiName, address string, doc Document, opts *EnsureOptions) (*Registration, error) {
	r, err := c.registration(doiName, address, doc, opts)
	if err != nil {
		return nil, err
	}
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	return r.write(ctx)
}

// opRegister names the reads of Register and Ensure; the writes have the names of
// their steps.
const opRegister = "mds.Register"

// A registration is one run of Register or Ensure.
type registration struct {
	client  *Client
	doc     Document
	options EnsureOptions
	done    Registration

	sameMetadata, sameURL bool // what there was is what there shall be
}

func (c *Client) registration(doiName, address string, doc Document, opts *EnsureOptions) (*registration, error) {
	name, err := c.writable(doiName)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	r := &registration{client: c, doc: doc, done: Registration{DOI: name, URL: address}}
	if opts != nil {
		r.options = *opts
	}
	return r, doc.check()
}

// compare finds out what there is.
func (r *registration) compare(ctx context.Context) error {
	state, address, err := r.client.look(ctx, opRegister, r.done.DOI)
	if err != nil {
		return err
	}
	r.done.Before = state
	r.sameURL = state == StatePublic && sameAddress(address, r.done.URL)
	if state != StateNone {
		var c comparison
		c, err = r.stored(ctx)
		r.sameMetadata, r.done.Altered = c.same, c.altered
	}
	switch {
	case err != nil:
		return err
	case state == StateNone:
		r.done.Change = Created
	case r.sameURL && r.sameMetadata:
		r.done.Change = Unchanged
	default:
		r.done.Change = Updated
	}
	return nil
}

// stored compares the metadata that the service has with those that are to be
// registered.
func (r *registration) stored(ctx context.Context) (comparison, error) {
	doc, err := r.client.metadata(ctx, opRegister, r.done.DOI)
	switch {
	case errors.Is(err, ErrNoMetadata), errors.Is(err, datacite.ErrNotFound), errors.Is(err, datacite.ErrInvalid):
		return comparison{altered: []string{"no metadata are stored"}}, nil
	case err != nil:
		return comparison{}, err
	}
	data, err := r.unharmed(ctx, doc.Data)
	if err != nil {
		return comparison{}, err
	}
	return compareMetadata(r.doc.Data, data), nil
}

// write takes the steps that are needed.
func (r *registration) write(ctx context.Context) (*Registration, error) {
	if !r.sameMetadata {
		status, err := r.client.putMetadata(ctx, "mds.PutMetadata", r.done.DOI, r.doc)
		if err != nil {
			return nil, err
		}
		r.done.MetadataStatus = status
	}
	if !r.sameURL {
		if err := r.writeURL(ctx); err != nil {
			if !r.sameMetadata || r.done.Before == StateDraft {
				err = &HalfRegisteredError{DOI: r.done.DOI, MetadataStatus: r.done.MetadataStatus, Err: err}
			}
			return nil, err
		}
	}
	r.done.State = StateFindable
	if r.done.Before == StatePublic && r.sameMetadata {
		r.done.State = StatePublic
	}
	if !(r.sameMetadata && r.sameURL) && !r.options.NoReadBack {
		if err := r.readBack(ctx); err != nil {
			return nil, &UnconfirmedError{Registration: r.done, Err: transport.Within(opRegister, err)}
		}
	}
	if r.options.Resolver != nil {
		if err := WaitResolved(ctx, r.options.Resolver, doi.Address(r.done.DOI), r.done.URL, nil); err != nil {
			return nil, &UnconfirmedError{Registration: r.done, Err: transport.Within(opRegister, err)}
		}
	}
	return &r.done, nil
}

// writeURL takes the second step. When the answer got lost, a look may show that
// the step was taken.
func (r *registration) writeURL(ctx context.Context) error {
	status, err := r.client.putURL(ctx, r.done.DOI, r.done.URL)
	if err != nil && errors.Is(err, datacite.ErrUnclear) {
		if _, address, lost := r.client.look(ctx, opPutURL, r.done.DOI); lost == nil && seemsSame(address, r.done.URL) {
			return nil
		}
	}
	r.done.URLStatus = status
	return err
}

// readBack compares what the service has with what it was given. The deployed
// service may answer from a copy that lags behind, so it is asked a few times.
func (r *registration) readBack(ctx context.Context) error {
	for pause := 500 * time.Millisecond; ; pause *= 2 {
		_, address, err := r.client.look(ctx, opRegister, r.done.DOI)
		if err != nil {
			return err
		}
		if seemsSame(address, r.done.URL) {
			break
		}
		if pause > 4*time.Second {
			return fmt.Errorf("its URL is %.500q, not %q", address, r.done.URL)
		}
		if err := transport.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	c, err := r.stored(ctx)
	r.done.Altered = c.altered
	return err
}
