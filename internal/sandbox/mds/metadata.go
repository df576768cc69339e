package mds

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// serveMetadata is /metadata of the metadata store (specification §4.3).
func (s *Room) serveMetadata(q *wire.Request, path string) (wire.Reply, error) {
	account, err := s.login(q)
	if err != nil {
		return wire.Reply{}, err
	}
	if q.Verb == http.MethodPut || q.Verb == http.MethodPost {
		return s.putMetadata(q, account, path)
	}
	name, err := nameInPath(path)
	if err != nil {
		return wire.Reply{}, err
	}
	switch q.Verb {
	case http.MethodGet:
		return s.getMetadata(account, name)
	case http.MethodDelete:
		return s.hide(account, name)
	}
	return wire.Reply{}, errNoRoute
}

// getMetadata answers the XML of a DOI, 204 when none is registered.
func (s *Room) getMetadata(account *record.Account, name string) (wire.Reply, error) {
	rec := s.Find(name)
	if err := hidden(rec, account, errUnknown); err != nil {
		return wire.Reply{}, err
	}
	if rec.XML == nil {
		return wire.Reply{Status: http.StatusNoContent, Plain: true}, nil
	}
	if _, err := record.ReadXML(rec.XML); err != nil {
		return wire.Reply{}, err // a record that was seeded with invalid XML
	}
	return wire.Reply{Status: http.StatusOK, ContentType: "application/xml; charset=utf-8", Body: rec.XML, Plain: true}, nil
}

// hide takes a findable DOI out of the search index. In the other states it
// changes nothing.
func (s *Room) hide(account *record.Account, name string) (wire.Reply, error) {
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		if rec == nil {
			return nil, errNoDOI
		}
		if !rec.Owner(account) {
			return nil, errDenied
		}
		if rec.State == record.Findable {
			rec.State, rec.Updated = record.Registered, s.Now()
		}
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Text(http.StatusOK, "OK"), nil
}

// putMetadata stores metadata under the DOI of the path, under a new DOI when
// the path is a prefix, or under the DOI the metadata names when there is no path.
func (s *Room) putMetadata(q *wire.Request, account *record.Account, path string) (wire.Reply, error) {
	body, err := wire.ReadBody(q)
	if err != nil {
		return wire.Reply{}, err
	}
	if err := checkMetadataType(q.Header.Get("Content-Type"), body); err != nil {
		return wire.Reply{}, err
	}
	format, err := record.Recognise(body)
	if err != nil {
		return wire.Reply{}, err
	}
	if names.PrefixForm.MatchString(path) {
		return s.mint(q, account, path, format, body)
	}
	if path == "" {
		path = nameInMetadata(format, body)
	}
	name, err := nameInPath(path)
	if err != nil {
		return wire.Reply{}, err
	}
	return s.storeMetadata(q, account, name, format, body)
}

func (s *Room) mint(q *wire.Request, account *record.Account, prefix string, format record.Format, body []byte) (wire.Reply, error) {
	if !account.Holds(prefix) {
		return wire.Reply{}, errDenied
	}
	name := s.FreeName(prefix)
	res, err := s.storeMetadata(q, account, name, format, body)
	if err == nil {
		// The new name must be readable from the answer; the deployed server
		// puts it in brackets and in upper case.
		res.Body = []byte("OK (" + names.Upper(name) + ")")
	}
	return res, err
}

// claim is a new record of the account, if the account may have that name.
func (s *Room) claim(account *record.Account, name string) (*record.Record, error) {
	if prefix, _ := names.Split(name); !account.Holds(prefix) {
		return nil, errDenied
	}
	if !s.NewName.MatchString(name) {
		return nil, wire.Fail(http.StatusUnprocessableEntity, "DOI %s: Is invalid", name)
	}
	return s.NewRecord(name, account, "mds"), nil
}

func (s *Room) storeMetadata(q *wire.Request, account *record.Account, name string, format record.Format, body []byte) (wire.Reply, error) {
	existed := false
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		existed = rec != nil && rec.State != record.Draft
		if rec == nil {
			var err error
			if rec, err = s.claim(account, name); err != nil {
				return nil, err
			}
		}
		if !rec.Owner(account) {
			return nil, errDenied
		}
		if err := rec.SetMetadata(format, body); err != nil {
			return nil, err
		}
		if rec.State == record.Registered {
			rec.State = record.Findable
		}
		rec.Version, rec.Updated = rec.Version+1, s.Now()
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	res := wire.Text(http.StatusCreated, metadataStored(existed))
	res.Header = map[string]string{"Location": wire.Address(q) + (&url.URL{Path: "/metadata/" + name}).EscapedPath()}
	return res, nil
}

// metadataStored is the short status text of PUT /metadata (specification §4.3).
func metadataStored(existed bool) string {
	if existed {
		return "HANDLE_ALREADY_EXISTS"
	}
	return "CREATED"
}

// checkMetadataType refuses content types as specification §7 says: XML must
// come as application/xml. For the other formats the content type is open, as
// the service looks at the body; only what it would take for parameters fails.
func checkMetadataType(header string, body []byte) error {
	kind, _, err := mime.ParseMediaType(header)
	isXML := bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	if err != nil || kind == "application/x-www-form-urlencoded" || isXML && kind != "application/xml" {
		return wire.Fail(http.StatusUnsupportedMediaType, "Content type %s is not supported", header)
	}
	if kind == "application/json" {
		return wire.Fail(http.StatusUnprocessableEntity, "found unpermitted parameter: :metadata")
	}
	return nil
}

// nameInMetadata is the DOI that the metadata give for themselves, if any.
func nameInMetadata(format record.Format, body []byte) string {
	if format != record.Kernel {
		return ""
	}
	doc, err := record.ReadXML(body)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(doc.Root.ChildText("identifier"))
}
