package mds

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// readMetadata is GET /metadata. Where there is none the specification has 204, the
// store a blank.
func (s *Room) readMetadata(c *call) (wire.Reply, error) {
	return s.ask(c, errUnknown, func() (wire.Reply, error) {
		res, err := s.xmlOf(c.account, s.way(http.MethodGet, c.doi, ""))
		res.ContentType = "application/xml; charset=utf-8"
		if !s.AsBuilt && err == nil {
			if len(res.Body) == 0 {
				return noContent, nil
			}
			_, err = record.ReadXML(res.Body) // a record may have been seeded with invalid XML
		}
		return orBlank(res), err
	})
}

// xmlOf is the XML of a DOI, or of whatever else the name led to.
func (s *Room) xmlOf(account *record.Account, w names.Way) (wire.Reply, error) {
	rec := s.Find(w.Doi)
	switch {
	case rec == nil:
		return wire.Reply{}, store.ErrNoRecord
	case w.Part == "get-url":
		res, err := s.urlOf(account, w)
		if len(res.Body) > 0 {
			res.Body = wire.Encode(object{"url": string(res.Body)})
		}
		return res, err
	case w.Id != "":
		return wire.Reply{}, store.ErrNoRecord
	case w.Part != "":
		return wire.Reply{Status: http.StatusOK, Body: wire.Encode(object{"data": []any{}})}, nil
	}
	return wire.Reply{Status: http.StatusOK, Body: rec.XML}, s.mayRead(account, rec)
}

// hideDOI is DELETE /metadata, which takes a findable DOI out of the search index and
// else changes nothing. Of a DOI nobody knows a Deployed store makes a draft.
func (s *Room) hideDOI(c *call) (wire.Reply, error) {
	unknown := errBehind
	if !s.AsBuilt {
		unknown = errNoDOI
	}
	return s.ask(c, unknown, func() (wire.Reply, error) {
		done, err := s.change(c, s.way(http.MethodPatch, c.doi, ""), changes{event: "hide"})
		if done.before == "" {
			return wire.Text(http.StatusCreated, " "), err
		}
		return wire.Text(http.StatusOK, "OK"), err
	})
}

// createMetadata is PUT and POST /metadata: it stores metadata under the DOI of the
// path, under a new DOI when the path is a prefix, or under the DOI that the metadata
// name when there is no path.
func (s *Room) createMetadata(c *call) (wire.Reply, error) {
	ch := changes{event: "show"}
	var err error
	if ch.format, ch.metadata, err = s.metadata(c); err != nil {
		return wire.Reply{}, err
	}
	var minted bool
	if ch.name, minted = s.nameFor(c, ch); ch.name == "" {
		return wire.Reply{}, &answered{errNoDOI}
	}
	return s.ask(c, errBehind, func() (wire.Reply, error) {
		done, err := s.change(c, s.way(http.MethodPut, ch.name, ""), ch)
		location := "/metadata/" + ch.name
		res := wire.Text(http.StatusCreated, "OK ("+s.upper(done.doi)+")")
		if !s.AsBuilt {
			location = (&url.URL{Path: location}).EscapedPath()
			if !minted { // a new name must be readable from the answer
				res = wire.Text(http.StatusCreated, metadataStored(done))
			}
		}
		res.Header = map[string]string{"Location": wire.Address(c.Request) + location}
		return res, err
	})
}

// metadataStored is the short status text of PUT /metadata (specification §4.3).
func metadataStored(done changed) string {
	if done.before != "" && done.before != record.Draft {
		return "HANDLE_ALREADY_EXISTS"
	}
	return "CREATED"
}

// metadata are the metadata in a body, and their format. A Deployed store looks at
// the body alone. The specification (§7) wants XML as application/xml; of the other
// formats only what the service would take for parameters is refused.
func (s *Room) metadata(c *call) (format record.Format, body []byte, err error) {
	sent := c.Header.Get("Content-Type")
	unsupported := refusal(http.StatusUnsupportedMediaType, "Content type "+sent+" is not supported")
	if s.AsBuilt {
		if sent == formType {
			return "", nil, unsupported
		}
		if err := c.permit("metadata", "id", "doi_id", "number"); err != nil {
			return "", nil, err
		}
		if format, body = record.StoreFormat(c.body); format == "" {
			err = &answered{record.ErrFormat}
		}
		return format, body, err
	}
	kind, _, err := mime.ParseMediaType(sent)
	isXML := bytes.HasPrefix(bytes.TrimSpace(c.body), []byte("<"))
	switch {
	case err != nil, kind == formType, isXML && kind != "application/xml":
		return "", nil, unsupported
	case kind == "application/json":
		return "", nil, wire.Fail(http.StatusUnprocessableEntity, "found unpermitted parameter: :metadata")
	}
	format, err = record.Recognise(c.body)
	return format, c.body, err
}

var storePrefix = regexp.MustCompile(`\A(?:https?://?(?:dx\.)?(?:doi.org|handle.stage.datacite.org|handle.test.datacite.org)/)?(?:doi:)?(10\.[0-9]{4,5})`)

// nameFor is the DOI of the path; without a path the one in DataCite XML; or a new one
// under the prefix that the path is. A Deployed store takes what begins like a prefix
// for one, whatever comes after it: what comes after a slash stands before the new
// suffix.
func (s *Room) nameFor(c *call, ch changes) (name string, minted bool) {
	if name, ok := s.readName(c.name); ok {
		return name, false
	}
	if c.name == "" && ch.format == record.Kernel {
		name, _ := s.readName(record.IdentifierIn(ch.metadata))
		return name, false
	}
	if !s.AsBuilt {
		if !names.PrefixForm.MatchString(c.name) {
			return "", false
		}
		return s.FreeName(c.name), true
	}
	m := storePrefix.FindStringSubmatch(c.name)
	if m == nil {
		return "", false
	}
	prefix := m[1] + "/"
	if _, shoulder, _ := strings.Cut(c.name, "/"); shoulder != "" {
		prefix += shoulder + "-"
	}
	if number, err := strconv.ParseUint(notDigits.ReplaceAllString(c.sent["number"], ""), 10, 64); err == nil && number > 0 {
		return prefix + names.SuffixFor(number), true
	}
	return prefix + names.MintSuffix(), true
}

var notDigits = regexp.MustCompile(`[^0-9]+`)
