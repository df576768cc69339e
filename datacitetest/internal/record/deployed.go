package record

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
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
	s, err := Take(object{"xml": base64.StdEncoding.EncodeToString(body), "doi": name})
	if err != nil {
		return err
	}
	rec.Assign(s, existed)
	return nil
}

// schemaOf is the version that DataCite's own JSON names.
func schemaOf(o object) string {
	return wire.String(wire.First(o, "schema_version", "schema-version", "schemaVersion"))
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

// checkSchema checks the XML of a record against kernel 4.
func (rec *Record) checkSchema() error {
	for _, v := range rec.violations() {
		return wire.Fail(http.StatusUnprocessableEntity, "%s", v.title(rec.DOI))
	}
	return nil
}

func (rec *Record) violations() []violation {
	doc, err := parseXML(rec.XML)
	if err != nil {
		return []violation{{"", noDeclaration, 1}}
	}
	return violations(doc.Root)
}

func (v violation) title(doi string) string {
	return fmt.Sprintf("DOI %s: %s at line %d, column 0", doi, v.text, v.line)
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
