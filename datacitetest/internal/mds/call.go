package mds

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// call is a request to one of the store's routes.
type call struct {
	*wire.Request
	of       *Service
	name     string // of the path; with Deployed escaped until it is read
	doi      string // the DOI of the name, on routes that need one
	username string // as sent, valid or not
	account  *record.Account
	body     []byte

	changes // requested for the DOI
}

// object is an object in JSON.
type object = map[string]any

const formType = "application/x-www-form-urlencoded"

var untaken = regexp.MustCompile(`^(application/(json|jsonrequest|x-www-form-urlencoded)|text/x-json|multipart/.*)$`)

// read reads the name and the body.
func (c *call) read() (err error) {
	if !c.of.Deployed {
		c.body, err = wire.ReadBody(c.Request)
		return err
	}
	params, err := wire.URLParams(c.URL.RawQuery)
	if err != nil {
		return wire.StoreParameter.Refusal(c.URL.RawQuery)
	}
	for name := range params {
		if name != "testMode" {
			return wire.StoreParameter.Refusal(name)
		}
	}
	if c.name != "" {
		if c.name, err = names.InStore(c.name); err != nil {
			return err
		}
	}
	if c.body, err = wire.ReadBody(c.Request); err != nil {
		return err
	}
	if !utf8.Valid(c.body) {
		return wire.StoreBody.Refusal("it is not UTF-8")
	}
	return nil
}

// kind is the type of the body. It may not be one of which the framework makes parameters.
func (c *call) kind() (string, error) {
	kind, err := c.SentType()
	if err == nil && untaken.MatchString(kind) {
		err = wire.StoreBody.Refusal(kind)
	}
	return kind, err
}

// worded is an error raised by the store's own code. Others arise outside of its
// routes and do not name the user.
type worded struct{ *wire.Failure }

func (a *worded) Unwrap() error { return a.Failure }

var escapes = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// unescapeForm decodes %xx and "+", and keeps other "%".
func unescapeForm(text string) string {
	return escapes.ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(escape string) string {
		b, _ := strconv.ParseUint(escape[1:], 16, 8)
		return string([]byte{byte(b)})
	})
}
