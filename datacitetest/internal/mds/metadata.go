package mds

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// readMetadata is GET /metadata. Without metadata it is 204 by the specification, and a
// space with Deployed.
func (s *Service) readMetadata(c *call) (wire.Reply, error) {
	res, err := s.xmlOf(c)
	res.ContentType = "application/xml; charset=utf-8"
	if !s.Deployed && err == nil {
		if len(res.Body) == 0 {
			return noContent, nil
		}
		_, err = record.ReadXML(res.Body) // a record may have been seeded with invalid XML
	}
	return orBlank(res), err
}

func (s *Service) xmlOf(c *call) (wire.Reply, error) {
	rec := s.Find(c.doi)
	if err := s.mayRead(c.account, rec); err != nil {
		return wire.Reply{}, err
	}
	return wire.Reply{Status: http.StatusOK, Body: rec.XML}, nil
}

// hideDOI is DELETE /metadata, which takes a findable DOI out of the search index. With
// Deployed an unknown DOI becomes a draft.
func (s *Service) hideDOI(c *call) (wire.Reply, error) {
	c.event = "hide"
	done, err := s.change(c, c.doi)
	if err == store.ErrNoRecord && !s.Deployed {
		return wire.Reply{}, &worded{errNoDOI}
	}
	if done.before == "" {
		return wire.Text(http.StatusCreated, " "), err
	}
	return wire.Text(http.StatusOK, "OK"), err
}

// createMetadata is PUT and POST /metadata: it stores metadata under the DOI of the
// path, under a new DOI when the path is a prefix, or under the DOI that the metadata
// name when there is no path.
func (s *Service) createMetadata(c *call) (wire.Reply, error) {
	done, err := s.change(c, c.target)
	location, text := "/metadata/"+c.target, "OK ("+s.Upper(done.doi)+")"
	if !s.Deployed {
		location, text = (&url.URL{Path: location}).EscapedPath(), done.documentedText(c, text)
	}
	res := wire.Text(http.StatusCreated, text)
	res.Header = map[string]string{"Location": wire.Address(c.Request) + location}
	return res, err
}

// readSentMetadata reads the metadata in a body, their format, and their
// DOI. It uses only the body.
func (s *Service) readSentMetadata(c *call) error {
	if sent := c.Header.Get("Content-Type"); sent == formType {
		return errContentType(sent)
	}
	if err := c.isTaken(); err != nil {
		return err
	}
	c.event = "show"
	var err error
	if c.format, c.metadata, err = record.StoreFormat(c.body); err != nil {
		return err
	}
	if c.format == "" {
		return &worded{record.ErrFormat}
	}
	name, ok := s.nameIn(c)
	if !ok {
		name, ok = s.FreeName(c.name)
	}
	if prefix, _ := names.Split(name); !ok {
		return &worded{errNoDOI}
	} else if strings.HasPrefix(c.name, prefix) && !strings.HasPrefix(c.name+"/", prefix+"/") {
		return wire.Name.Refusal(c.name)
	}
	c.target = name
	return nil
}

func errContentType(sent string) error {
	return &worded{wire.Fail(http.StatusUnsupportedMediaType, "Content type %s is not supported", sent)}
}

// nameIn is the DOI of the path, or without a path the one in DataCite XML.
func (s *Service) nameIn(c *call) (name string, ok bool) {
	name, ok = s.readName(c.name)
	if !ok && c.name == "" && c.format == record.Kernel {
		name, ok = s.readName(record.IdentifierIn(c.metadata))
	}
	return name, ok
}
