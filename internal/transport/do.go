package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Do sends r as often as its Replay allows and returns the first success. Every
// error is a [*datacite.Error], but for those of [Client.Ready].
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	if err := c.Ready(ctx); err != nil {
		return nil, err
	}
	x := &exchange{client: c, request: r, requestID: newRequestID(), settings: call.SettingsOf(ctx), began: time.Now()}
	res, err := x.do(ctx)
	x.done(res, err)
	return res, err
}

// done tells the caller of the outcome.
func (x *exchange) done(res *Response, err error) {
	if x.settings.Done == nil {
		return
	}
	r := call.Result{Op: x.request.Op, Attempts: x.attempts, Duration: time.Since(x.began), Err: err}
	if res != nil {
		r.StatusCode, r.RequestID, r.Header = res.StatusCode, res.RequestID, x.client.shownHeader(res.Header)
	} else if e, ok := errors.AsType[*datacite.Error](err); ok {
		r.StatusCode, r.RequestID, r.Header = e.StatusCode, e.RequestID, e.Header
	}
	x.settings.Done(r)
}

func (x *exchange) do(ctx context.Context) (*Response, error) {
	c := x.client
	if err := call.Ended(ctx); err != nil {
		return nil, x.fail(ctx, err)
	}
	req, err := x.prepare(ctx)
	if err != nil {
		return nil, x.fail(ctx, err)
	}
	if err := x.wait(req.Request); err != nil {
		return nil, x.fail(ctx, err)
	}
	sender := &retryablehttp.Client{
		HTTPClient:   c.http,
		RetryMax:     c.MaxAttempts(ctx) - 1,
		CheckRetry:   x.check,
		Backoff:      x.backoff,
		PrepareRetry: x.wait,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
		RequestLogHook: func(retryablehttp.Logger, *http.Request, int) {
			x.attempts++
			x.started = time.Now()
			x.settings.Outage.Begins(x.started)
			x.line.connected.Store(false)
		},
	}
	if _, err = sender.Do(req); x.success != nil {
		return x.success, nil
	}
	return nil, x.fail(ctx, err)
}

// ErrNilContext is the fault of a caller who gives no context.
var ErrNilContext error = datacite.Invalidf("ctx", datacite.CodeMissing, "is nil")

// Ready refuses a client that no NewClient made, and a nil context.
func (c *Client) Ready(ctx context.Context) error {
	if c == nil {
		return datacite.Invalidf("client", datacite.CodeMissing, "is the zero value; NewClient makes one")
	}
	if ctx == nil {
		return ErrNilContext
	}
	return checkCall(ctx)
}

// Unreadable is the error for a success whose body does not make sense.
func (c *Client) Unreadable(r Request, res *Response, cause error) error {
	e := c.unreadable(r, res, cause)
	e.Unclear = r.changes()
	return c.show(e)
}

func (c *Client) unreadable(r Request, res *Response, cause error) *datacite.Error {
	if call.IsEnded(cause) {
		return c.unsuccessful(r, res, cause.Error(), cause)
	}
	return c.unsuccessful(r, res, fmt.Sprintf("%v: %v", datacite.ErrUnreadable, cause),
		errors.Join(datacite.ErrUnreadable, cause))
}

// Unsuccessful is the error for a success status with which the service says, in
// the words of message, that something is not as it should be.
func (c *Client) Unsuccessful(r Request, res *Response, message string, cause error) error {
	return c.show(c.unsuccessful(r, res, message, cause))
}

func (c *Client) unsuccessful(r Request, res *Response, message string, cause error) *datacite.Error {
	e := c.newError(r, res, message)
	e.Body, e.Err = c.hidden.excerpt(res.Data), c.hidden.cause(cause)
	c.keepHeader(e, res.Header)
	return e
}

// newError makes every error. Whatever the service or the network said is in one line, of bounded
// length, and without secrets.
func (c *Client) newError(r Request, res *Response, message string) *datacite.Error {
	return &datacite.Error{
		Op: r.Op, Method: r.Method, URL: c.shownURL(r), StatusCode: res.StatusCode, Message: c.hidden.line(message),
		RequestID: res.RequestID, Attempts: res.Attempts,
	}
}

func (c *Client) show(e *datacite.Error) error {
	if !call.IsEnded(e.Err) { // otherwise it is a response that did not come whole, or none
		c.explain(e)
	}
	return e
}

func (c *Client) url(r Request) string {
	if r.Query == "" {
		return c.base + r.Path
	}
	return c.base + r.Path + "?" + r.Query
}

// shownURL is the address in errors and logs. The service chooses a part of some, such as
// the cursor of the next page.
func (c *Client) shownURL(r Request) string {
	return c.base + c.hidden.in(strings.TrimPrefix(c.url(r), c.base))
}

// An exchange is one Do: its attempts and their outcome.
type exchange struct {
	client    *Client
	request   Request
	requestID string
	settings  call.Settings

	began    time.Time
	attempts int
	started  time.Time // of the last attempt
	unclear  bool      // some attempt may have been carried out without our knowing
	success  *Response
	failure  *datacite.Error // of the last attempt
	again    bool            // the last attempt may be repeated
	pause    time.Duration
	line     line
}

func newRequestID() string {
	return fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
}

func (x *exchange) prepare(ctx context.Context) (*retryablehttp.Request, error) {
	r, c := x.request, x.client
	var body any
	if r.Body != nil {
		body = retryablehttp.ReaderFunc(func() (io.Reader, error) { return newBodyReader(r.Body), nil })
	}
	req, err := retryablehttp.NewRequestWithContext(x.line.watch(call.WithOperation(ctx, r.Op)), r.Method, c.url(r), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.Header)
	for name, value := range map[string]string{
		"Accept":           r.Accept,
		"Content-Type":     r.ContentType,
		"Content-Encoding": r.ContentEncoding,
		"User-Agent":       c.userAgent,
		"X-Request-Id":     x.requestID,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if err := x.authorize(ctx, req.Header); err != nil {
		return nil, err
	}
	c.hidden.send(req.Header)
	return req, nil
}

// errNoLogin: the operation needs a login, and the client has none.
var errNoLogin = fmt.Errorf("%w: no credentials given", datacite.ErrUnauthorized)

func (x *exchange) authorize(ctx context.Context, h http.Header) error {
	authorize := x.client.authorize
	switch {
	case x.request.Access == Anonymous:
		return nil
	case authorize == nil && x.request.Access == Required:
		return errNoLogin
	case authorize == nil:
		return nil
	}
	if err := authorize(ctx, h); err != nil {
		if end := call.Ended(ctx); end != nil {
			return end
		}
		if _, ofSource := err.(*sourceError); ofSource {
			return err
		}
		return fmt.Errorf("%w: %w", errNoLogin, err)
	}
	return nil
}

// wait asks the limiter and the caller before each attempt.
func (x *exchange) wait(req *http.Request) error {
	if limiter := x.client.limiter; limiter != nil {
		if err := limiter.Wait(req.Context()); err != nil && req.Context().Err() == nil {
			return fmt.Errorf("limiter: %w", err)
		}
	}
	if err := call.Ended(req.Context()); err != nil {
		return err
	}
	if x.request.Before != nil {
		return x.request.Before()
	}
	return nil
}

// check judges an attempt: it reads the response, keeps the outcome, and says
// whether to send again.
func (x *exchange) check(ctx context.Context, res *http.Response, err error) (bool, error) {
	x.success, x.failure, x.again = nil, nil, false
	var o outcome
	if err != nil {
		o.err = handshake(err)
		if x.line.unsent() {
			o.err = x.client.byProxy(ctx, o.err)
		}
		if end := call.Ended(ctx); end != nil {
			o.err = end // err may be the cause alone, which says nothing about this request
		}
		o.unsent = neverSent(o.err) || x.line.unsent()
		x.lost(o)
	} else {
		o = x.answered(ctx, res)
	}
	var v verdict
	x.settings.Outage.Ends(x.failure != nil && x.failure.Transient())
	if x.failure != nil {
		v = judge(x.request.Replay, o, x.client.maxWait)
		v.again = v.again && !x.settings.Outage.Over() && (x.request.Final == nil || !x.request.Final(x.failure))
		x.failure.Unclear, x.again, x.pause = v.unclear, v.again, v.pause
		x.unclear = x.unclear || v.unclear && x.request.changes()
	}
	x.log(ctx)
	return v.again && ctx.Err() == nil, nil
}

// lost handles an attempt that brought no response.
func (x *exchange) lost(o outcome) {
	x.failure = x.newError(o.err)
	if o.unsent {
		x.failure.RequestID = "" // the service never saw it
	}
}

// answered handles an attempt that brought a response, and closes its body
// unless the caller gets it.
func (x *exchange) answered(ctx context.Context, res *http.Response) outcome {
	o := outcome{status: res.StatusCode, retryAfter: res.Header.Get("Retry-After")}
	id := res.Header.Get("X-Request-Id")
	ok := res.StatusCode >= 200 && res.StatusCode < 300
	body := &responseBody{ReadCloser: res.Body, ctx: ctx, limit: x.client.maxBody}
	if ok && x.request.Stream {
		if x.request.Unbounded {
			body.limit = math.MaxInt64
		}
		x.success = x.newResponse(res, id)
		x.success.Body = body
		return o
	}
	if x.request.Read == nil {
		body.limit = min(body.limit, cmp.Or(x.request.Most, maxShort))
	}
	defer res.Body.Close()
	if !ok {
		var cut error
		o.page, cut = io.ReadAll(io.LimitReader(body, enough))
		x.refused(res, id, o.page)
		if call.IsEnded(cut) {
			x.failure.Err = x.client.hidden.cause(cut)
			x.failure.Message = fmt.Sprintf("%s; then %s", x.failure.Message, Line(x.failure.Err.Error()))
			return o
		}
		if cut != nil && !errors.Is(cut, datacite.ErrTooLarge) { // the rest may say what the status means
			o.err = errors.Join(errCut, cut)
			x.failure.Err = x.client.hidden.cause(o.err)
			x.failure.Message = fmt.Sprintf("%s; then %s", x.failure.Message, x.client.hidden.line(cut.Error()))
			return o
		}
		if x.client.relays && errors.Is(x.failure, datacite.ErrForbidden) {
			o.err = x.relayed(ctx)
		}
		return o
	}
	var data []byte
	if x.request.Read != nil {
		data, o.err = x.decode(res, body)
	} else if data, o.err = ReadAll(body); o.err == nil {
		o.err = x.wrongKind(res, data)
	}
	if o.err != nil {
		came := x.newResponse(res, id)
		came.Data = data
		x.failure = x.client.unreadable(x.request, came, o.err)
		return o
	}
	x.success = x.newResponse(res, id)
	if x.request.Read == nil {
		x.success.Data = data
	}
	return o
}

// relayed explains a 403 of a service that relays. It returns nil if that surely is a refusal.
func (x *exchange) relayed(ctx context.Context) (unsure error) {
	var why error
	if x.request.Refused != nil {
		why = x.request.Refused(ctx)
	}
	if why == nil {
		why, unsure = errMaybeLost, errMaybeLost
	}
	x.failure.Err = why
	x.failure.Message += " (" + why.Error() + ")"
	return unsure
}

// decode reads a response as it arrives. It returns what an error shows of it.
func (x *exchange) decode(res *http.Response, body io.Reader) ([]byte, error) {
	start := make([]byte, 512)
	n, err := io.ReadFull(body, start)
	start = start[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return start, err
	}
	if err := x.wrongKind(res, start); err != nil {
		rest, _ := io.ReadAll(io.LimitReader(body, int64(enough-n)))
		return append(start, rest...), x.wrongKind(res, append(start, rest...))
	}
	seen := &seen{Reader: io.MultiReader(bytes.NewReader(start), body), most: enough}
	if err = x.client.Decode(seen, x.request.Read); err != nil {
		_, _ = io.CopyN(io.Discard, seen, int64(enough-len(seen.bytes))) // a secret may stand where decoding ended
	}
	return seen.bytes, err
}

// MaxBody is how many bytes a response may have.
func (c *Client) MaxBody() int64 { return c.maxBody }

// Decode reads the JSON of a response. What read makes of it may take as much memory
// as a response may have bytes.
func (c *Client) Decode(body io.Reader, read Reader) error {
	err := jsonlex.Decode(body, c.maxBody, read)
	if errors.Is(err, jsonlex.ErrTooLarge) {
		return fmt.Errorf("%w: %w", datacite.ErrTooLarge, err)
	}
	return err
}

func (x *exchange) newResponse(res *http.Response, id string) *Response {
	return &Response{StatusCode: res.StatusCode, Header: res.Header, RequestID: x.id(id), Attempts: x.attempts}
}

// wrongKind recognises the pages that gateways send instead of a response.
func (x *exchange) wrongKind(res *http.Response, data []byte) error {
	start := bytes.TrimLeft(data, " \t\r\n")
	json := len(start) == 0 || start[0] == '{' || start[0] == '[' // blanks keep a line alive while the service works
	if !isHTML(res.Header.Get("Content-Type"), data) && (json || x.request.Accept != JSONType) {
		return nil
	}
	text, _ := explain(res.Header.Get("Content-Type"), x.client.hidden.excerpt(data))
	return errors.New(text)
}

// refused handles a status other than success.
func (x *exchange) refused(res *http.Response, id string, data []byte) {
	// Before it is read: what is left of a page without its tags would hide a secret with some.
	shown := x.client.hidden.excerpt(data)
	message, details := explain(res.Header.Get("Content-Type"), shown)
	if location := res.Header.Get("Location"); location != "" && res.StatusCode/100 == 3 {
		message = "redirect to " + x.client.hidden.line(location) + " not followed"
	}
	x.failure = x.client.newError(x.request, x.newResponse(res, id), message)
	x.client.keepHeader(x.failure, res.Header)
	for _, d := range details {
		d.Path, d.Reason = x.client.hidden.line(d.Path), x.client.hidden.line(d.Reason)
		d.Line, d.Column = Position(d.Reason)
		x.failure.Details = append(x.failure.Details, d)
	}
	x.failure.Body = shown
	switch {
	case res.StatusCode/100 == 3:
		x.failure.Err = datacite.ErrRedirect
	case res.StatusCode == http.StatusNotFound && !x.client.saysAbsent(x.request.Method, res.Header.Get("Content-Type"),
		data):
		x.failure.Err = errElsewhere
		x.failure.Message += " (" + errElsewhere.Error() + ")"
	}
}

// newError is an error of an attempt that brought no response.
func (x *exchange) newError(err error) *datacite.Error {
	e := x.client.newError(x.request, &Response{RequestID: x.requestID, Attempts: x.attempts}, causeText(err))
	e.Err = x.client.hidden.cause(err)
	if source, ok := err.(*sourceError); ok {
		e.Method, e.URL, e.Err = "", "", &sourceError{x.client.hidden.cause(source.cause), source.passes}
	}
	return e
}

// id is the name of the request: the service's, or ours if it has none.
func (x *exchange) id(given string) string {
	const longest = 100
	return cmp.Or(clipped(x.client.hidden.line(given), longest), x.requestID)
}

// fail makes the error that Do returns. err is what ended the exchange apart
// from the attempts: a context that ended while waiting, a limiter, bad input.
func (x *exchange) fail(ctx context.Context, err error) error {
	e := x.failure
	switch end := call.Ended(ctx); {
	case end == nil, call.IsEnded(err):
	case e != nil && call.IsEnded(e.Err):
		err = nil // e has it
	case err == nil && x.again, err == ctx.Err():
		err = end
	}
	switch {
	case e == nil:
		e = x.newError(err)
		if x.attempts == 0 {
			e.RequestID = "" // the service never saw it
		}
	case err != nil && !errors.Is(e.Err, err):
		e.Message = fmt.Sprintf("%s; then gave up: %s", e.Message, x.client.hidden.line(err.Error()))
		e.Err = errors.Join(e.Err, x.client.hidden.cause(err))
	}
	e.Attempts = x.attempts
	e.Unclear = x.unclear
	return x.client.show(e)
}

// causeText is the text of a network error without the method and address that
// net/http puts in front of it, since a [datacite.Error] names them already.
func causeText(err error) string {
	if e, ok := err.(*url.Error); ok {
		return e.Err.Error()
	}
	return err.Error()
}
