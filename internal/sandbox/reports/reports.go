// Package reports is interface A, usage reports.
package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// object is an object in JSON.
type object = map[string]any

// Room is interface A: usage reports.
type Room struct {
	*store.Store
	WriteTime time.Duration
	Archive   archive // of a Deployed service

	mu      sync.RWMutex
	reports map[string]*report // of a Documented service, by lower-case UUID; replaced, not changed
	periods map[reportKey]string
}

func New(s *store.Store, writeTime time.Duration) *Room {
	return &Room{
		Store: s, WriteTime: writeTime, Archive: newArchive(), reports: map[string]*report{}, periods: map[reportKey]string{},
	}
}

var errNoReport = wire.Fail(http.StatusNotFound, wire.NotFound)

// Put stores a report of a client as it is.
func (s *Room) Put(owner string, data json.RawMessage) (id string, err error) {
	c, err := readReport(bytes.NewReader(data), anyValue, anyValue, wire.MaxDatasets)
	if err != nil {
		return "", err
	}
	var named struct{ ID string }
	if err := json.Unmarshal(data, &named); err != nil {
		return "", err
	}
	id = strings.ToLower(named.ID)
	if id == "" {
		id = wire.NewUUID()
	}
	p := newPart(bytes.Clone(data), false)
	if notedCompressed(c.header) {
		p = newPart(compress(data), true)
	}
	p.content = c
	if s.AsBuilt {
		if err := s.seedReport(id, owner, p); err != nil {
			return "", err
		}
		return id, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepReport(&report{id: id, owner: owner, key: keyOf(c.header), header: c.header, parts: []part{p}})
	return id, nil
}

// Kept is a report as it lies in the service.
type Kept struct {
	ID, Owner string
	Subsets   []KeptSubset // as they came, of a plain report the one
}

// KeptSubset is a part of a report: the body it came in, or what a Deployed service
// made of that; nil if it is lost.
type KeptSubset struct {
	Checksum string
	Body     []byte
}

// Kept are all reports, by id.
func (s *Room) Kept() (all []Kept) {
	if s.AsBuilt {
		return s.Archive.kept()
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(s.reports)) {
		r := s.reports[id]
		k := Kept{ID: r.id, Owner: r.owner}
		for _, p := range r.parts {
			k.Subsets = append(k.Subsets, KeptSubset{p.checksum, p.body})
		}
		all = append(all, k)
	}
	return all
}

// Show writes a report as it is shown to who asks for it.
func (s *Room) Show(w io.Writer, id string) error {
	get := s.getReport
	if s.AsBuilt {
		get = s.getStored
	}
	res, err := get(id)
	if err != nil {
		return err
	}
	return res.Stream(w)
}

func compress(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// output takes the pieces of an answer. After an error it takes no more.
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

func (o *output) subsets(yield func(subset func(gzip []byte, checksum string))) {
	o.print(`"report-subsets":[`)
	between := ""
	yield(func(gzip []byte, checksum string) {
		o.print(`%s{"gzip":"`, between)
		enc := base64.NewEncoder(base64.StdEncoding, o)
		_, _ = enc.Write(gzip)
		_ = enc.Close()
		o.print(`","checksum":"%s"}`, checksum)
		between = ","
	})
	o.print("]")
}

// answer is {"report":{id, report-header, and what rest writes}}.
func answer(status int, etag, id string, header []byte, rest func(*output)) wire.Reply {
	return wire.Reply{Status: status, ContentType: wire.JSONType, Etag: etag, Stream: func(w io.Writer) error {
		o := &output{Writer: w}
		o.print(`{"report":{"id":%s,"report-header":%s,`, wire.Encode(id), header)
		rest(o)
		o.print("}}")
		return o.err
	}}
}
