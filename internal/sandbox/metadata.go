package sandbox

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// serveMetadata is /metadata of the metadata store (specification §4.3).
func (s *mdsRoom) serveMetadata(q *request, path string) (reply, error) {
	account, err := s.login(q)
	if err != nil {
		return reply{}, err
	}
	if q.method == http.MethodPut || q.method == http.MethodPost {
		return s.putMetadata(q, account, path)
	}
	name, err := nameInPath(path)
	if err != nil {
		return reply{}, err
	}
	switch q.method {
	case http.MethodGet:
		return s.getMetadata(account, name)
	case http.MethodDelete:
		return s.hide(account, name)
	}
	return reply{}, errNoRoute
}

// getMetadata answers the XML of a DOI, 204 when none is registered.
func (s *mdsRoom) getMetadata(account *Account, name string) (reply, error) {
	rec := s.find(name)
	if err := hidden(rec, account, errUnknown); err != nil {
		return reply{}, err
	}
	if rec.xml == nil {
		return reply{status: http.StatusNoContent, plain: true}, nil
	}
	if _, err := readXML(rec.xml); err != nil {
		return reply{}, err // a record that was seeded with invalid XML
	}
	return reply{status: http.StatusOK, contentType: "application/xml; charset=utf-8", body: rec.xml, plain: true}, nil
}

// hide takes a findable DOI out of the search index. In the other states it
// changes nothing.
func (s *mdsRoom) hide(account *Account, name string) (reply, error) {
	err := s.change(name, func(rec *record) (*record, error) {
		if rec == nil {
			return nil, errNoDOI
		}
		if !rec.owner(account) {
			return nil, errDenied
		}
		if rec.state == findable {
			rec.state, rec.updated = registered, s.Now()
		}
		return rec, nil
	})
	if err != nil {
		return reply{}, err
	}
	return textReply(http.StatusOK, "OK"), nil
}

// putMetadata stores metadata under the DOI of the path, under a new DOI when
// the path is a prefix, or under the DOI the metadata names when there is no path.
func (s *mdsRoom) putMetadata(q *request, account *Account, path string) (reply, error) {
	body, err := readBody(q)
	if err != nil {
		return reply{}, err
	}
	if err := checkMetadataType(q.Header.Get("Content-Type"), body); err != nil {
		return reply{}, err
	}
	format, err := recognise(body)
	if err != nil {
		return reply{}, err
	}
	if prefixForm.MatchString(path) {
		return s.mint(q, account, path, format, body)
	}
	if path == "" {
		path = nameInMetadata(format, body)
	}
	name, err := nameInPath(path)
	if err != nil {
		return reply{}, err
	}
	return s.storeMetadata(q, account, name, format, body)
}

func (s *mdsRoom) mint(q *request, account *Account, prefix string, format format, body []byte) (reply, error) {
	if !account.holds(prefix) {
		return reply{}, errDenied
	}
	name := s.freeName(prefix)
	res, err := s.storeMetadata(q, account, name, format, body)
	if err == nil {
		// The new name must be readable from the answer; the deployed server
		// puts it in brackets and in upper case.
		res.body = []byte("OK (" + upper(name) + ")")
	}
	return res, err
}

// freeName is a minted name under the prefix that no record has.
func (s *Store) freeName(prefix string) string {
	for {
		if name := prefix + "/" + mintSuffix(); s.find(name) == nil {
			return name
		}
	}
}

// claim is a new record of the account, if the account may have that name.
func (s *mdsRoom) claim(account *Account, name string) (*record, error) {
	if prefix, _ := splitName(name); !account.holds(prefix) {
		return nil, errDenied
	}
	if !s.NewName.MatchString(name) {
		return nil, fail(http.StatusUnprocessableEntity, "DOI %s: Is invalid", name)
	}
	return s.newRecord(name, account, "mds"), nil
}

func (s *mdsRoom) storeMetadata(q *request, account *Account, name string, format format, body []byte) (reply, error) {
	existed := false
	err := s.change(name, func(rec *record) (*record, error) {
		existed = rec != nil && rec.state != draft
		if rec == nil {
			var err error
			if rec, err = s.claim(account, name); err != nil {
				return nil, err
			}
		}
		if !rec.owner(account) {
			return nil, errDenied
		}
		if err := rec.setMetadata(format, body); err != nil {
			return nil, err
		}
		if rec.state == registered {
			rec.state = findable
		}
		rec.version, rec.updated = rec.version+1, s.Now()
		return rec, nil
	})
	if err != nil {
		return reply{}, err
	}
	res := textReply(http.StatusCreated, metadataStored(existed))
	res.header = map[string]string{"Location": address(q) + (&url.URL{Path: "/metadata/" + name}).EscapedPath()}
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
		return fail(http.StatusUnsupportedMediaType, "Content type %s is not supported", header)
	}
	if kind == "application/json" {
		return fail(http.StatusUnprocessableEntity, "found unpermitted parameter: :metadata")
	}
	return nil
}

// nameInMetadata is the DOI that the metadata give for themselves, if any.
func nameInMetadata(format format, body []byte) string {
	if format != kernel {
		return ""
	}
	doc, err := readXML(body)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(doc.root.childText("identifier"))
}

func readBody(q *request) ([]byte, error) {
	body, err := readSome(q.Body)
	return bytes.TrimPrefix(body, byteOrderMark), err
}
