// Package reports is interface A, usage reports.
package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// object is an object in JSON.
type object = map[string]any

// A Service is interface A.
type Service struct {
	*store.Store
	WriteTime time.Duration
	Stored    func(id string) // called with Deployed when the contents of a report may have changed
	Archive   archive
}

// New makes the reports service over a store; writeTime is the duration of a write.
func New(s *store.Store, writeTime time.Duration) *Service {
	return &Service{Store: s, WriteTime: writeTime, Archive: newArchive(), Stored: func(string) {}}
}

var errNoReport = wire.Fail(http.StatusNotFound, wire.NotFound)

// Put stores a report of a client unchanged.
func (s *Service) Put(owner string, data json.RawMessage) (id string, err error) {
	c, err := readReport(bytes.NewReader(data), false, wire.MaxDatasets)
	if err != nil {
		return "", err
	}
	if id = strings.ToLower(c.id); id == "" {
		id = uuid.NewString()
	}
	body := bytes.Clone(data)
	if c.isNoted() {
		body = compress(data)
	}
	r := s.reportOf(owner, id, c, row{Checksum: sum256(body), Gzip: body, Plain: !c.isNoted()})
	if s.Deployed {
		if r, err = seeded(r, data); err != nil {
			return "", err
		}
	}
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	s.Archive.remove(id)
	s.Archive.insert(r)
	if s.Deployed {
		err = s.Archive.document(id, r.Compressed)
		s.Stored(id)
	}
	return id, err
}

// Kept is a report as the service stores it.
type Kept struct {
	ID, Owner string
	Header    []byte       // as JSON, without the members that the service adds
	Subsets   []KeptSubset // in the order received; a plain report has one
}

// KeptSubset is a part of a report: its body, with Deployed in the form that the
// service stores; nil if it is lost.
type KeptSubset struct {
	Checksum string
	Body     []byte
}

// Kept are all reports, by id.
func (s *Service) Kept() []Kept { return s.Archive.kept() }

// Show writes a report like GET.
func (s *Service) Show(w io.Writer, id string) error {
	res, err := s.getStored(id)
	if err != nil {
		return err
	}
	return res.Stream(w)
}

func compress(data []byte) []byte {
	var b bytes.Buffer
	_ = wire.Compress(&b, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return b.Bytes()
}

// output writes the pieces of a response, none after an error.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (n int, err error) {
	if o.err == nil {
		n, o.err = o.Writer.Write(p)
	}
	return n, o.err
}

func (o *output) print(format string, args ...any) { _, _ = fmt.Fprintf(o, format, args...) }

// response is {"report":{id, report-header, and the output of rest}}, with a validator
// derived from the contents.
func response(status int, id string, header object, of []string, rest func(*output)) wire.Reply {
	shown := wire.Encode(header)
	sums := [][]byte{[]byte(id), shown}
	for _, part := range of {
		sums = append(sums, []byte(part))
	}
	return wire.Reply{Status: status, ContentType: wire.JSONType, Etag: wire.WeakETag(sums...),
		Stream: func(w io.Writer) error {
			o := &output{Writer: w}
			o.print(`{"report":{"id":%s,"report-header":%s,`, wire.Encode(id), shown)
			rest(o)
			o.print("}}")
			return o.err
		}}
}
