package record

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// The DOI service as the deployed metadata store uses it.

var (
	ErrBlank   = wire.Fail(http.StatusUnprocessableEntity, "Can't be blank")
	ErrInvalid = wire.Fail(http.StatusUnprocessableEntity, "Is invalid")
)

// SetDeployed takes over metadata: the format is looked for once more.
func (rec *Record) SetDeployed(body []byte, name string, existed bool) error {
	if !utf8.Valid(body) {
		return wire.Fail(http.StatusInternalServerError, `{"status"=>400, "title"=>"invalid byte sequence in UTF-8"}`)
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(body), string(wire.ByteOrderMark), ""))
	f := behindFormat(text)
	switch f {
	case Kernel:
		return rec.setKernel(text, name)
	case emptyRecord, crossref:
		return rec.setUnread(existed)
	}
	b, err := readForeign(f, []byte(text))
	if err == nil && f == ris && yearIn.FindString(b.year) == "" {
		err = ErrInvalid // it stumbles over the year, and takes the text for XML
	}
	if err != nil {
		return err
	}
	rec.Attributes = b.attributes()
	if f == crosscite || f == dataciteJSON {
		rec.Attributes["schemaVersion"] = schemaOf(objectIn([]byte(text)))
	}
	rec.XML = b.xml(strings.ToUpper(name))
	return nil
}

// schemaOf is the version that DataCite's own JSON names.
func schemaOf(o object) string {
	return wire.String(wire.First(o, "schema_version", "schema-version", "schemaVersion"))
}

func (rec *Record) setKernel(text, name string) error {
	doc := recovered(text)
	if id := doc.identifier(); id != nil {
		id.children = []*element{{text: strings.ToUpper(name), isText: true}}
	}
	rec.XML = doc.bytes()
	rec.Attributes = object{}
	if parsed, err := parseXML(rec.XML); err == nil {
		rec.Attributes = AttributesOf(parsed.Root)
	}
	rec.Attributes["schemaVersion"] = doc.namespace()
	return nil
}

// setUnread is for metadata that the service cannot read, and does not say so:
// a new record has none, one that existed keeps what it had.
func (rec *Record) setUnread(existed bool) error {
	if existed && rec.Attributes["titles"] != nil {
		return nil
	}
	rec.Attributes = object{}
	rec.XML = brief{}.xml(strings.ToUpper(rec.DOI))
	return nil
}

// The versions of the schema that the service knows; documents of others it
// does not check.
var (
	checkedSchemas = []string{"4.0", "4.1", "4.2", "4.3", "4"}
	oldSchemas     = []string{"2.1", "2.2", "3.0", "3.1", "3"}
)

// CheckDeployed checks metadata against the version of the schema that they
// name. Without one a new record is not checked.
func (rec *Record) CheckDeployed(existed bool) error {
	version := wire.String(rec.Attributes["schemaVersion"])
	number := strings.TrimPrefix(version, kernelSpaces+"-")
	switch {
	case rec.XML == nil && len(Missing(rec.Attributes)) > 0:
		return ErrBlank
	case rec.XML == nil:
		return nil
	case slices.Contains(oldSchemas, number):
		return wire.Fail(http.StatusUnprocessableEntity, "DOI %s: Schema %s is no longer supported", rec.DOI, version)
	case slices.Contains(checkedSchemas, number), version == "" && existed:
		return rec.checkSchema()
	}
	return nil
}

const noDeclaration = "No matching global declaration available for the validation root."

// checkSchema checks the XML of a record against kernel 4.
func (rec *Record) checkSchema() error {
	doc, err := parseXML(rec.XML)
	if err != nil {
		return wire.Fail(http.StatusUnprocessableEntity, "DOI %s: %s at line 1, column 0", rec.DOI, noDeclaration)
	}
	err = checkRecord(doc.Root)
	if v, ok := errors.AsType[*violation](err); ok {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return wire.Fail(http.StatusUnprocessableEntity, "DOI %s: %s at line %d, column 0", rec.DOI, why, v.line)
	}
	if err != nil {
		return wire.Fail(http.StatusUnprocessableEntity, "DOI %s: %s at line %d, column 0", rec.DOI, noDeclaration, doc.Root.line)
	}
	return nil
}

// CheckKept checks metadata once more as they are stored: they must be
// DataCite's, and unless the DOI is a draft sound by the schema they name.
func (rec *Record) CheckKept() error {
	space := recovered(string(rec.XML)).namespace()
	switch {
	case space == "":
		return ErrInvalid
	case rec.State != Draft && space != kernelNamespace:
		return ErrInvalid
	case rec.State != Draft && rec.checkSchema() != nil:
		return ErrInvalid
	}
	return nil
}
