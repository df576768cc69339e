package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// part is one body of a report, stored unchanged: with Documented a report has one, or
// one for each subset.
type part struct {
	content
	Body     []byte
	Coding   string // gzip, or none
	checksum string // SHA-256 of body, in hex
}

// isNoted says whether an exceptions entry has the code 69, "report is
// compressed" (specification §4.1).
func (c content) isNoted() bool {
	noted, _ := compressionNotes(c.header["exceptions"])
	return slices.Contains(noted, true)
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Serve is interface A (specification §4.1) of a Documented service.
func (s *Service) Serve(q *wire.Request, path string) (wire.Reply, error) {
	id := strings.ToLower(strings.TrimSuffix(path, "/"))
	switch q.Verb {
	case http.MethodGet:
		c, _ := store.ReadClaims(store.Bearer(q.Request))
		nameCaller(q, caller{given: c.UID != "", Claims: c})
		if id == "" {
			params, err := wire.ReadParams(q)
			if err != nil {
				return wire.Reply{}, err
			}
			return s.listReports(params)
		}
		return s.getStored(id)
	case http.MethodPost, http.MethodPut:
		if (q.Verb == http.MethodPost) != (id == "") {
			return wire.Reply{}, errNoReport
		}
		return s.takeReport(q, id)
	case http.MethodDelete:
		// Only the operator's staff deletes reports.
		return wire.Reply{}, wire.Fail(http.StatusUnauthorized, wire.NotAuthorized)
	}
	return wire.Reply{}, errNoReport
}

// takeReport is POST, without an id, and PUT.
func (s *Service) takeReport(q *wire.Request, id string) (wire.Reply, error) {
	owner, err := s.TokenOwner(store.Bearer(q.Request))
	if err != nil {
		return wire.Reply{}, err
	}
	if id != "" && !uuidForm.MatchString(id) {
		return wire.Reply{}, wire.Fail(http.StatusUnprocessableEntity, "Record invalid")
	}
	p, err := s.readPart(q)
	if err != nil {
		return wire.Reply{}, err
	}
	r, status, err := s.storeReport(owner, id, p)
	if err != nil {
		return wire.Reply{}, err
	}
	q.ResponseHeader.Set("X-Credential-Username", owner)
	return r.inSubsets(status), nil
}

// readPart reads and checks the body of a report, with one of the two pairs of
// headers that specification §4.1 allows. Any other is 415.
func (s *Service) readPart(q *wire.Request) (p part, err error) {
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	p.Coding = q.Header.Get("Content-Encoding")
	if pair := kind + " " + p.Coding; pair != "application/json " && pair != "application/gzip gzip" {
		return p, wire.Fail(http.StatusUnsupportedMediaType, "Content-Type %q with Content-Encoding %q is not supported", q.Header.Get("Content-Type"), p.Coding)
	}
	if p.Body, err = wire.ReadWhole(q.Body); err != nil {
		return p, err
	}
	p.checksum = sum256(p.Body)
	r, err := withoutCoding(p.Coding, p.Body)
	if err == nil {
		p.content, err = readReport(r, true, s.MaxDatasets)
	}
	switch {
	case errors.Is(err, wire.ErrTooMuch):
		err = wire.ErrTooMuch
	case err != nil:
		err = wire.Fail(http.StatusUnprocessableEntity, "%v", err)
	case p.Coding != "" && !p.isNoted():
		err = wire.Fail(http.StatusUnprocessableEntity, "a compressed report needs an exceptions entry with code 69")
	case p.Coding == "" && p.isNoted():
		err = wire.Fail(http.StatusUnprocessableEntity, "exceptions code 69 says compressed, but the report is not")
	}
	return p, err
}

// storeReport stores a body under an id, or without one under that of the report
// with its creator and begin-date.
func (s *Service) storeReport(owner, id string, p part) (r *stored, status int, err error) {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	r, status = s.reportOf(owner, id, p), http.StatusCreated
	holder := s.Archive.find(s.Archive.keys[r.Key])
	switch {
	case id != "" && holder != nil && holder.UID != id:
		return nil, 0, errTaken
	case id != "":
		if old := s.Archive.find(id); old != nil {
			status, r.Owner = http.StatusOK, old.Owner
		}
	case holder == nil:
		r.UID = uuid.NewString()
	case p.Coding == "":
		return holder, status, nil
	case !strings.EqualFold(holder.Owner, owner):
		return nil, 0, errTaken
	default:
		holder.Parts = append(slices.Clone(holder.Parts), p)
		r = holder
	}
	s.Archive.remove(r.UID)
	s.Archive.insert(r)
	return r, status, nil
}

// reportOf is a report of one body. Creator and begin-date identify a report
// (specification §3.2).
func (s *Service) reportOf(owner, id string, p part) *stored {
	period, _ := p.header["reporting-period"].(object)
	begin := wire.String(period["begin-date"])
	return &stored{
		UID: id, Owner: owner, Year: begin[:min(4, len(begin))], Header: p.header, Parts: []part{p},
		Key: wire.String(p.header["created-by"]) + "\x00" + begin,
	}
}

// expanded is the response to GET: one report with the datasets of all its
// bodies, in the order received.
func (r *stored) expanded(status int) wire.Reply {
	of := []string{"expanded"}
	for _, p := range r.Parts {
		of = append(of, p.checksum)
	}
	return response(status, r.UID, r.Header, of, func(o *output) {
		o.print(`"report-datasets":[`)
		between := ""
		for _, p := range r.Parts {
			if p.datasets > 0 {
				o.print("%s", between)
				between = ","
				p.copyDatasets(o)
			}
		}
		o.print("]")
	})
}

// copyDatasets writes the elements of the part's report-datasets.
func (p part) copyDatasets(o *output) {
	r, err := withoutCoding(p.Coding, p.Body)
	if err == nil {
		_, err = io.CopyN(io.Discard, r, p.start)
	}
	if err == nil {
		_, err = io.CopyN(o, r, p.end-p.start)
	}
	o.err = cmp.Or(o.err, err)
}

// inSubsets is the response to POST and PUT. It shows a compressed report by its
// subsets, as the deployed server does.
func (r *stored) inSubsets(status int) wire.Reply {
	d := attachment{Header: r.Header, Datasets: json.RawMessage("[]")}
	for _, p := range r.Parts {
		if p.Coding == "" {
			return r.expanded(status)
		}
		d.Subsets = append(d.Subsets, row{Checksum: p.checksum, Gzip: p.Body})
	}
	return d.reply(status, r.UID)
}
