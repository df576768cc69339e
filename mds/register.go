package mds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Registration is the result of [Client.Register].
type Registration struct {
	DOI         string
	URL         string
	Change      Change
	StateBefore datacite.State // StateRegisteredOrFindable if the DOI API was not asked or did not show the DOI
	State       datacite.State // datacite.StateFindable; with ErrHidden equal to StateBefore
	Altered     []string       // differences between the stored and the given metadata, as text for people

	// Warnings are about the given metadata, such as values that the service keeps in XML but
	// drops from its JSON record: the first 100 of Document.Findings.
	Warnings []datacite.Finding
}

// A Change is the effect of a registration.
type Change string

// The effects of a registration.
const (
	ChangeCreated Change = "created"   // the DOI did not exist
	ChangeUpdated Change = "updated"   // the DOI was a draft, or its URL or metadata were different
	ChangeNone    Change = "unchanged" // the DOI had this URL and these metadata
)

// RegisterOptions are the optional settings of Register.
type RegisterOptions struct {
	NoReadBack bool // do not read the DOI back after writing; saves two requests

	// Show makes a hidden DOI findable again, and removes the reason for hiding it from the
	// record; without Service.API a warning says that the reason stays. Without Show, a DOI that
	// is or may be hidden stays as it is ([ErrHidden]).
	Show bool

	// BeforeWrite is called before the first write for a DOI, with its state. If it returns an
	// error, nothing is written, and the registration fails with that error, which is never
	// Temporary. Use it to save a name before it is sent, or to refuse a name that is
	// taken. nil allows every write.
	BeforeWrite func(ctx context.Context, doi string, found datacite.State) error
}

// Register makes a DOI findable with a URL and metadata, in the two steps of specification
// §1(3): its metadata, then its URL. It reads the DOI, writes what differs, and reads the DOI back.
// A DOI that already has both is only read. The DOI resolves after usually a few minutes. Running it
// again, after success or failure, is safe.
//
// All input is checked before anything is sent. If the first step fails, the DOI is as it was,
// unless the error matches [datacite.ErrUnclear]. If the second step fails, the error matches
// [ErrHalfRegistered]: a DOI that was new is now a draft. Run Register again, or
// [Client.PutURL], or remove the draft with [Client.DeleteDraft]. If reading back
// fails, the error matches [ErrUnconfirmed]. A DOI that is or may be hidden is [ErrHidden] unless
// RegisterOptions.Show is set, because every write of this interface makes the DOI findable; only this error comes
// with a Registration, whose Change is ChangeNone if only the state differs.
//
// Metadata are compared as XML, without the identifier, blanks between elements, comments and the
// order of attributes. Changes that the deployed service always makes are in Registration.Altered
// and no reason to write: it turns the tags <i>, <b>, <sub> and a few more into text, and drops
// U+FEFF. Where it replaces characters beyond ASCII ([ErrReplacedCharacters]), the metadata are
// compared with those of the DOI API; without Service.API, they are written, as metadata in other
// formats than XML always are.
//
// Register sends GET /doi/{doi}, GET /dois/{doi} to the DOI API for a DOI that has a URL, GET
// /metadata/{doi}, the PUTs that are needed, with Show and a reason for hiding PUT /dois/{doi}, and
// then the GETs of /doi/{doi} and /metadata/{doi} again.
func (c *Client) Register(ctx context.Context, doiName, address string, doc Document,
	opts *RegisterOptions) (*Registration, error) {
	r, err := c.registration(doiName, address, doc, opts)
	if err == nil {
		err = r.compare(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case r.mayBeHidden() && !r.options.Show:
		r.done.State = r.done.StateBefore
		return &r.done, r.refuseHidden()
	}
	return r.write(ctx)
}

// opRegister is the operation that errors of Register name, but for those of the writes, which
// name their step.
const opRegister = "mds.Register"

// A registration is one run of Register.
type registration struct {
	client  *Client
	doc     Document
	options RegisterOptions
	done    Registration
	whole   []byte // the metadata before any write, as the DOI API shows them
	reason  string // why the DOI is or was hidden

	sameMetadata, sameURL bool // what is stored is what is wanted
}

func (c *Client) registration(doiName, address string, doc Document, opts *RegisterOptions) (*registration, error) {
	name, err := doi.Store.Writable(doiName)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	r := &registration{client: c, doc: doc,
		done: Registration{DOI: name, URL: address, Warnings: doc.warnings(name, address)}}
	if opts != nil {
		r.options = *opts
	}
	return r, doc.checkFor(name)
}

// compare reads what is stored and compares it with what is wanted.
func (r *registration) compare(ctx context.Context) error {
	state, address, err := r.client.look(ctx, opRegister, r.done.DOI)
	if err != nil {
		return err
	}
	if state == StateRegisteredOrFindable {
		shown, err := r.client.view(ctx, opRegister, r.done.DOI)
		if err != nil {
			return err
		}
		state, r.whole, r.reason = shown.state, shown.xml, shown.reason
	}
	if state == StateNone {
		if err := doi.CheckNew(r.done.DOI); err != nil {
			return doi.At("doi", err)
		}
	}
	r.done.StateBefore = state
	r.sameURL = state != datacite.StateDraft && sameURL(address, r.done.URL) // the URL takes a draft out of that state
	if state != StateNone {
		var c comparison
		c, err = r.stored(ctx)
		r.sameMetadata, r.done.Altered = c.same && !(r.mayBeHidden() && r.options.Show), c.altered
	}
	switch {
	case err != nil:
		return err
	case state == StateNone:
		r.done.Change = ChangeCreated
	case r.sameURL && r.sameMetadata && !r.clearsReason():
		r.done.Change = ChangeNone
	default:
		r.done.Change = ChangeUpdated
	}
	return nil
}

// clearsReason reports whether a DOI that shall be findable has a reason for being hidden.
func (r *registration) clearsReason() bool { return r.options.Show && r.reason != "" }

func (r *registration) mayBeHidden() bool {
	return r.done.StateBefore == datacite.StateRegistered || r.done.StateBefore == StateRegisteredOrFindable
}

// stored compares the metadata that the service has with those that are to be
// registered.
func (r *registration) stored(ctx context.Context) (comparison, error) {
	doc, err := r.client.metadata(ctx, opRegister, r.done.DOI)
	switch {
	case errors.Is(err, ErrNoMetadata), transport.NotFound(err), errors.Is(err, datacite.ErrInvalid):
		return comparison{altered: []string{"no metadata are stored"}}, nil
	case err != nil:
		return comparison{}, err
	}
	data := doc.Data
	if isCopy(r.whole, data) {
		data = r.whole
	}
	c := compareMetadata(r.doc.Data, data)
	for i, text := range c.altered {
		c.altered[i] = r.client.core.Text(text)
	}
	return c, nil
}

// errBefore: RegisterOptions.BeforeWrite did not allow the write. That is final, whatever kind of
// error it returned.
var errBefore error = &transport.Condition{Text: "mds: refused by RegisterOptions.BeforeWrite"}

// write takes the steps that are needed.
func (r *registration) write(ctx context.Context) (*Registration, error) {
	writes := !r.sameMetadata || !r.sameURL || r.clearsReason()
	if before := r.options.BeforeWrite; before != nil && writes {
		if err := before(ctx, r.done.DOI, r.done.StateBefore); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errBefore, r.done.DOI, err)
		}
	}
	if !r.sameMetadata {
		if _, err := r.client.putMetadata(ctx, "mds.PutMetadata", r.done.DOI, r.doc); err != nil {
			return nil, err
		}
	}
	if !r.sameURL {
		if err := r.writeURL(ctx); err != nil {
			if !r.sameMetadata || r.done.StateBefore == datacite.StateDraft {
				err = fmt.Errorf("%w: %s: %w", ErrHalfRegistered, r.done.DOI, err)
			}
			return nil, err
		}
	}
	if err := r.clearReason(ctx); err != nil {
		return nil, err
	}
	r.done.State = datacite.StateFindable
	r.whole = nil // it was what is stored no longer
	if writes && !r.options.NoReadBack {
		if err := r.readBack(ctx); err != nil {
			return nil, r.unconfirmed(err)
		}
	}
	return &r.done, nil
}

// clearReason removes the reason for hiding from a DOI that is findable again. The store has no
// request for it.
func (r *registration) clearReason(ctx context.Context) error {
	switch {
	case r.options.Show && r.done.StateBefore == StateRegisteredOrFindable:
		r.done.Warnings = append(r.done.Warnings, datacite.Finding{Path: "reason", Code: datacite.CodeConflict, Warning: true,
			Reason: "if the DOI was hidden with a reason, the findable DOI still has it; nothing shows it without " +
				"Config.Service.API; ChangeState of package dois removes it"})
	case r.clearsReason():
		_, err := r.client.records.Do(ctx, transport.Request{
			Op: opRegister, Method: "PUT", Path: "/dois/" + doi.API.Path(r.done.DOI), ContentType: "application/vnd.api+json",
			Body: bytes.NewReader([]byte(`{"data":{"type":"dois","attributes":{"reason":null}}` +
				`}`)), Accept: transport.JSONType, Access: transport.Required,
		})
		return err
	}
	return nil
}

// refuseHidden is the error for a change that would show a DOI.
func (r *registration) refuseHidden() error {
	remedy := "it is hidden; set RegisterOptions.Show if it shall be findable; Update of package dois keeps it hidden"
	if r.done.StateBefore != datacite.StateRegistered {
		remedy = "nothing shows whether it is hidden; set Config.Service.API, which does, or RegisterOptions.Show"
	}
	return fmt.Errorf("%w: %s: %s", ErrHidden, r.done.DOI, remedy)
}

// unconfirmed is the error after a failure to read back, which is wrapped first: it
// knows best whether it is temporary.
func (r *registration) unconfirmed(err error) error {
	return fmt.Errorf("%[3]w: %[2]s: %[1]w", err, r.done.DOI, ErrUnconfirmed)
}

// writeURL takes the second step. After a lost response, a look may show that it
// succeeded.
func (r *registration) writeURL(ctx context.Context) error {
	_, err := r.client.putURL(ctx, r.done.DOI, r.done.URL)
	if err != nil && errors.Is(err, datacite.ErrUnclear) {
		if _, address, lost := r.client.look(ctx, opPutURL, r.done.DOI); lost == nil && seemsSame(address, r.done.URL) {
			return nil
		}
	}
	return err
}

// readBack compares what is stored with what was given. The deployed service may read
// a copy that lags behind, so it is asked a few times.
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
			return r.client.core.Shown(fmt.Errorf("its URL is %.500q, not %q", address, r.done.URL))
		}
		if err := r.client.core.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	c, err := r.stored(ctx)
	r.done.Altered = c.altered
	return err
}
