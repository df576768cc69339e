package counter

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"github.com/datacite-go/datacite-go"
)

// HandlerOptions are the optional settings of [Handler].
type HandlerOptions struct {
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is used for the visitor's address (see [FromRequest])

	// Pseudonyms replaces addresses by pseudonyms before an event is stored; nil stores
	// addresses.
	Pseudonyms *Pseudonyms

	// Failed is called with an event that is not valid ([Event.Validate]), has no DOI or could not be stored, and is
	// therefore not counted; nil logs the error with slog.Default, without the event. The response has been sent by then.
	Failed func(Event, error)
}

// Handler returns a handler that calls next, and stores an event for each access to a dataset: a GET or POST
// for which next calls [Accessed] and responds with status 200, 206 or 304. Responses that end in a panic do
// not count.
//
// store is called after the response, on its goroutine, with a context that does not end with the request. The
// writer that next gets supports flushing, sending files without copies, and hijacking, like the server's (see
// [http.NewResponseController]); a hijacked connection does not count.
func Handler(next http.Handler, store func(context.Context, Event) error, opts *HandlerOptions) http.Handler {
	o := HandlerOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Failed == nil {
		o.Failed = func(_ Event, err error) { slog.Error("counter: an access is not counted", "error", err) }
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var accessed *func(*Event)
		ctx := context.WithValue(r.Context(), accessKey{}, &accessed)
		seen := &response{ResponseWriter: w}
		next.ServeHTTP(seen, r.WithContext(ctx))
		if accessed == nil {
			return
		}
		e, ok := FromRequest(r, seen.code(), o.Trusted)
		if !ok {
			return
		}
		if *accessed != nil {
			(*accessed)(&e)
		}
		if o.Pseudonyms != nil {
			e.Address = o.Pseudonyms.Address(e.Address, e.Time)
		}
		err := e.Validate()
		if err == nil && e.DOI == "" {
			err = datacite.Invalidf("doi", datacite.CodeMissing, "is missing")
		}
		if err == nil {
			err = store(context.WithoutCancel(r.Context()), e)
		}
		if err != nil {
			o.Failed(e, err)
		}
	})
}

// accessKey is the key of what the handler of a request says of the access.
type accessKey struct{}

// Accessed marks a request that [Handler] passed on as an access to a dataset. After the response,
// complete sets the event's DOI, whether it is a request, and the user or cookie if there is one.
// Without a Handler, Accessed returns false, and nothing is counted.
//
//	counter.Accessed(r, func(e *counter.Event) { e.DOI, e.Request = dataset.DOI, true })
func Accessed(r *http.Request, complete func(*Event)) bool {
	accessed, ok := r.Context().Value(accessKey{}).(**func(*Event))
	if ok {
		*accessed = &complete
	}
	return ok
}

// A response is a writer that remembers the status.
type response struct {
	http.ResponseWriter
	status int
}

// code is the status of the response; negative if it is not known.
func (w *response) code() int {
	if w.status == 0 {
		return http.StatusOK // as the server sends it then
	}
	return w.status
}

// WriteHeader remembers the status, unless another one follows it.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(data []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(data)
}

// ReadFrom lets the server send a file without copying it.
func (w *response) ReadFrom(r io.Reader) (int64, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return io.Copy(w.ResponseWriter, r)
}

// Flush is for handlers that do not use [http.ResponseController].
func (w *response) Flush() { _ = w.FlushError() } // as http.Flusher

// FlushError sends what was written.
func (w *response) FlushError() error {
	w.status = cmp.Or(w.status, http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack hands the connection over, and what it is used for is not known.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = -1
	}
	return conn, buffered, err
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
