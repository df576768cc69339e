package dois

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// payload is the body of a request to write a DOI.
type payload struct {
	attributes object
	client     string // from relationships; empty if not given
}

// writeDOI creates or updates a record: POST, without a name, and PUT and
// PATCH, with one. The specification does not show these operations; they are
// those of the deployed service.
func (s *Service) writeDOI(q *wire.Request, name string) (wire.Reply, error) {
	account, err := s.writer(q)
	if err != nil {
		return wire.Reply{}, err
	}
	p, err := readPayload(q)
	if err != nil {
		return wire.Reply{}, err
	}
	if p.client != "" && !strings.EqualFold(p.client, account.ClientID) {
		return wire.Reply{}, errForbidden
	}
	create := name == ""
	if create {
		if name, err = s.nameToCreate(p.attributes); err != nil {
			return wire.Reply{}, err
		}
	}
	inURL, err := wire.URLParams(q.URL.RawQuery)
	if err != nil {
		return wire.Reply{}, err
	}
	return s.storeDOI(q, account, name, create, p.attributes, singleView(inURL))
}

func readPayload(q *wire.Request) (payload, error) {
	body, err := readCoded(q)
	if err != nil {
		return payload{}, err
	}
	var o struct {
		Data *struct {
			Attributes    object `json:"attributes"`
			Relationships struct {
				Client struct {
					Data struct {
						ID string `json:"id"`
					} `json:"data"`
				} `json:"client"`
			} `json:"relationships"`
		} `json:"data"`
	}
	if wire.Decode(body, &o) != nil {
		return payload{}, wire.ErrParams
	}
	if o.Data == nil {
		return payload{}, errNoPayload
	}
	return payload{o.Data.Attributes, o.Data.Relationships.Client.Data.ID}, nil
}

// readCoded reads a body that may be compressed.
func readCoded(q *wire.Request) ([]byte, error) {
	if q.Header.Get("Content-Encoding") != "gzip" {
		return wire.ReadBody(q)
	}
	r, err := gzip.NewReader(io.LimitReader(q.Body, wire.MaxOtherBody))
	if err != nil {
		return nil, wire.ErrParams
	}
	body, err := wire.ReadAll(r)
	if err != nil && wire.AsFailure(err).Status != http.StatusRequestEntityTooLarge {
		return nil, wire.ErrParams
	}
	return body, err
}

// nameToCreate is the name requested for a new record, or a new one under the requested
// prefix.
func (s *Service) nameToCreate(o object) (string, error) {
	given, prefix := wire.String(o["doi"]), wire.String(o["prefix"])
	if given == "" && names.PrefixForm.MatchString(prefix) {
		return s.FreeName(prefix), nil
	}
	name, ok := names.Read(given)
	if !ok {
		return "", record.Invalid("", record.Wrong{"doi", "Is invalid"})
	}
	return name, nil
}

func (s *Service) storeDOI(q *wire.Request, account *record.Account, name string, create bool, o object, v record.View) (wire.Reply, error) {
	var stored record.Record
	var existed bool
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		existed = rec != nil
		rec, err := s.toWrite(rec, account, name, create)
		if err != nil {
			return nil, err
		}
		if err := rec.Write(o); err != nil {
			return nil, err
		}
		rec.State = record.AfterEvent(rec.State, wire.String(o["event"]))
		if all := rec.Wrongs(account); len(all) > 0 {
			return nil, record.Invalid(name, all...)
		}
		rec.Settle(s.Now(), s.ResolveDelay)
		stored = *rec
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	res := wire.JSON(http.StatusOK, object{"data": stored.Resource(v)})
	if !existed {
		res.Status = http.StatusCreated
		// The deployed service names its own number for the record here.
		res.Header = map[string]string{"Location": fmt.Sprintf("%s/dois/%d", wire.Address(q), s.created.Add(1))}
	}
	return res, nil
}

// toWrite is the record to write: the existing one, or a new one.
func (s *Service) toWrite(rec *record.Record, account *record.Account, name string, create bool) (*record.Record, error) {
	switch {
	case rec != nil && create:
		return nil, record.Invalid(name, record.Wrong{"doi", "This DOI has already been taken"})
	case rec != nil && !rec.Owner(account):
		return nil, errForbidden
	case rec != nil:
		return rec, nil
	}
	if prefix, _ := names.Split(name); !account.Holds(prefix) {
		return nil, errForbidden
	}
	if !names.IsNew(name) {
		return nil, record.Invalid(name, record.Wrong{"doi", "Is invalid"})
	}
	return s.NewRecord(name, account, "api"), nil
}
