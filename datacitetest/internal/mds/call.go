package mds

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
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

var untaken = lazy.Regexp(`^(application/(json|jsonrequest|x-www-form-urlencoded)|text/x-json|gzip|multipart/.*)$`)

// read reads the name and the body.
func (c *call) read() (err error) {
	if !c.of.Deployed {
		c.body, err = wire.ReadBody(c.Request)
		return err
	}
	if c.name != "" {
		if c.name, err = names.InStore(c.name); err != nil {
			return err
		}
	}
	if c.body, err = wire.ReadAll(c.Body); err != nil {
		return err
	}
	if kind, _ := c.SentType(); kind == "text/plain" || kind == "application/xml" {
		c.body = bytes.TrimPrefix(c.body, wire.ByteOrderMark)
	}
	if !utf8.Valid(c.body) {
		return wire.StoreBody.Refusal("it is not UTF-8")
	}
	return nil
}

// isTaken refuses a body of which the framework makes parameters.
func (c *call) isTaken() error {
	if kind, _ := c.SentType(); untaken().MatchString(kind) {
		return wire.StoreBody.Refusal(kind)
	}
	return nil
}

// worded is an error raised by the store's own code. Others arise outside of its
// routes and do not name the user.
type worded struct{ *wire.Failure }

func (a *worded) Unwrap() error { return a.Failure }

var escapes = lazy.Regexp(`%[0-9a-fA-F]{2}`)

// unescapeForm decodes %xx and "+", and keeps other "%".
func unescapeForm(text string) string {
	return escapes().ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(escape string) string {
		b, _ := strconv.ParseUint(escape[1:], 16, 8)
		return string([]byte{byte(b)})
	})
}
