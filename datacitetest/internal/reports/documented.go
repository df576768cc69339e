package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// isNoted says whether an exceptions entry has the code 69, "report is
// compressed" (specification §4.1).
func (c content) isNoted() bool {
	noted, _ := compressionNotes(c.header["exceptions"])
	return slices.Contains(noted, true)
}

var uuidForm = lazy.Regexp(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

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
	if id != "" && !uuidForm().MatchString(id) {
		return wire.Reply{}, wire.Fail(http.StatusUnprocessableEntity, "Record invalid")
	}
	c, body, err := s.readPart(q)
	if err != nil {
		return wire.Reply{}, err
	}
	r, status, err := s.storeReport(owner, id, c, body)
	if err != nil {
		return wire.Reply{}, err
	}
	q.ResponseHeader.Set("X-Credential-Username", owner)
	return r.inSubsets(status), nil
}

// readPart reads and checks the body of a report, with one of the two pairs of
// headers that specification §4.1 allows. Any other is 415.
func (s *Service) readPart(q *wire.Request) (c content, p row, err error) {
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	coding := q.Header.Get("Content-Encoding")
	p.Plain = coding == ""
	if pair := kind + " " + coding; pair != "application/json " && pair != "application/gzip gzip" {
		return c, p, wire.Fail(http.StatusUnsupportedMediaType, "Content-Type %q with Content-Encoding %q is not supported",
			q.Header.Get("Content-Type"), coding)
	}
	if p.Gzip, err = wire.ReadWhole(q.Body); err != nil {
		return c, p, err
	}
	p.Checksum = sum256(p.Gzip)
	r, err := withoutCoding(coding, p.Gzip)
	if err == nil {
		c, err = readReport(r, true, s.MaxDatasets)
	}
	switch {
	case errors.Is(err, wire.ErrTooMuch):
		err = wire.ErrTooMuch
	case err != nil:
		err = wire.Fail(http.StatusUnprocessableEntity, "%v", err)
	case !p.Plain && !c.isNoted():
		err = wire.Fail(http.StatusUnprocessableEntity, "a compressed report needs an exceptions entry with code 69")
	case p.Plain && c.isNoted():
		err = wire.Fail(http.StatusUnprocessableEntity, "exceptions code 69 says compressed, but the report is not")
	}
	return c, p, err
}

// storeReport stores a body under an id, or without one under that of the report
// with its creator and begin-date.
func (s *Service) storeReport(owner, id string, c content, p row) (r *stored, status int, err error) {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	r, status = s.reportOf(owner, id, c, p), http.StatusCreated
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
	case p.Plain:
		return holder, status, nil
	case !strings.EqualFold(holder.Owner, owner):
		return nil, 0, errTaken
	default:
		p.ID, p.Nth = int64(len(holder.Rows)), int64(len(holder.Rows))
		r, holder.Rows = holder, append(holder.Rows, p)
	}
	s.Archive.remove(r.UID)
	s.Archive.insert(r)
	return r, status, nil
}

// reportOf is a report of one body. Creator and begin-date identify a report
// (specification §3.2).
func (s *Service) reportOf(owner, id string, c content, p row) *stored {
	period, _ := c.header["reporting-period"].(object)
	begin := wire.String(period["begin-date"])
	return &stored{
		UID: id, Owner: owner, Year: begin[:min(4, len(begin))], Header: c.header, Rows: []row{p},
		Key: wire.String(c.header["created-by"]) + "\x00" + begin,
	}
}

// expanded is the response to GET: one report with the datasets of all its
// bodies, in the order received.
func (r *stored) expanded(status int) wire.Reply {
	var of []string
	for _, p := range r.Rows {
		of = append(of, p.Checksum)
	}
	return response(status, r.UID, r.Header, of, func(o *output) {
		o.print(`"report-datasets":[`)
		between := ""
		for _, p := range r.Rows {
			err := p.datasets(func(dataset []byte) {
				o.print("%s%s", between, dataset)
				between = ","
			})
			o.err = cmp.Or(o.err, err)
		}
		o.print("]")
	})
}

// datasets reads the datasets of a subset. It was checked when it came, but may come from a state
// that was saved and damaged.
func (p row) datasets(each func(dataset []byte)) error {
	text, err := withoutCoding(p.coding(), p.Gzip)
	if err != nil {
		return err
	}
	return check(text, func(c *checker) {
		c.object(func(name []byte) {
			if string(name) != "report-datasets" {
				c.skip()
				return
			}
			c.List()
			for i := 0; c.Element(i); i++ {
				c.Hold()
				c.skip()
				each(c.Held())
			}
		})
	})
}

func (p row) coding() string { return map[bool]string{false: "gzip"}[p.Plain] }

// inSubsets is the response to POST and PUT. It shows a compressed report by its
// subsets, as the deployed server does.
func (r *stored) inSubsets(status int) wire.Reply {
	if slices.ContainsFunc(r.Rows, func(p row) bool { return p.Plain }) {
		return r.expanded(status)
	}
	return attachment{Header: r.Header, Datasets: json.RawMessage("[]"), Subsets: r.Rows}.reply(status, r.UID)
}
