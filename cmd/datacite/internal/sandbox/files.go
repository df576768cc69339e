package sandbox

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

// loadFile stores the records of a file.
func loadFile(service *datacitetest.Server, name string) (n int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var from io.Reader = bufio.NewReader(file)
	if strings.HasSuffix(name, ".gz") {
		if from, err = gzip.NewReader(from); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	if n, err = load(service, from); err != nil {
		return n, fmt.Errorf("%s: after %s: %w; datacite harvest writes records", name, shell.Count(n, "record"), err)
	}
	return n, nil
}

// load stores records, one JSON value after the other, up to the first that cannot be stored.
func load(service *datacitetest.Server, from io.Reader) (n int, err error) {
	values := json.NewDecoder(from)
	for {
		var value json.RawMessage
		err := values.Decode(&value)
		if err == io.EOF && n == 0 {
			return 0, errors.New("there are no records")
		}
		if err == io.EOF {
			return n, nil
		}
		if err == nil {
			err = put(service, value, &n)
		}
		if err != nil {
			return n, err
		}
	}
}

// put stores what a value holds: the attributes of a record, the record as the service
// writes it, or a page of records.
func put(service *datacitetest.Server, value json.RawMessage, n *int) error {
	var page []json.RawMessage
	if json.Unmarshal(value, &page) == nil {
		for _, one := range page {
			if err := put(service, one, n); err != nil {
				return err
			}
		}
		return nil
	}
	var shape struct {
		Data, Attributes, Service, Titles json.RawMessage
		Relationships                     struct {
			Client struct{ Data struct{ ID string } }
		}
	}
	if err := json.Unmarshal(value, &shape); err != nil {
		return err
	}
	switch {
	case shape.Data != nil:
		return put(service, shape.Data, n)
	case shape.Attributes != nil:
		value = owned(shape.Attributes, shape.Relationships.Client.Data.ID)
	case shape.Service != nil && shape.Titles == nil: // a record of no metadata would be made of it
		return errors.New("this is what a command printed with --json, not a record")
	}
	var record dois.Record
	err := record.UnmarshalJSON(value)
	if !slices.ContainsFunc(datacite.Findings(err), func(f datacite.Finding) bool {
		return f.Code == datacite.CodeEncoding
	}) {
		err = service.PutRecordJSON(value) // which takes all other JSON
	}
	if err == nil {
		*n++
	}
	return bare(err)
}

// owned are attributes with the account of the record, which the service writes beside them.
func owned(attributes json.RawMessage, account string) json.RawMessage {
	var all map[string]json.RawMessage
	if account == "" || json.Unmarshal(attributes, &all) != nil || all["client"] != nil {
		return attributes
	}
	if all["client"], _ = json.Marshal(account); all["provider"] == nil { // of a text
		member, _, _ := strings.Cut(account, ".")
		all["provider"], _ = json.Marshal(member)
	}
	with, err := json.Marshal(all)
	if err != nil {
		return attributes // which are refused
	}
	return with
}

// bare is a refusal without the name of the Go function's parameter.
func bare(err error) error {
	if refused, ok := errors.AsType[*datacite.ValidationError](err); ok {
		return errors.New(refused.Findings[0].Reason)
	}
	return err
}

// restore brings back what an earlier run has saved; a file that is not there is an
// empty service.
func restore(service *datacitetest.Server, name string) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if err := service.Restore(bufio.NewReader(file)); err != nil {
		return fmt.Errorf("%s is not a state that the sandbox has saved: %w", name, bare(err))
	}
	return nil
}

// save replaces the file by one that holds what there is now.
func save(service *datacitetest.Server, name string) error {
	const private = 0o600
	return shell.WriteFile(name, private, service.Save)
}

// printRules prints the tables of the servers in operation.
func printRules(out io.Writer, pattern string) error {
	names, err := fs.Glob(datacitetest.Rules(), pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(datacitetest.Rules(), name)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}
