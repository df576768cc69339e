package record

import (
	"fmt"
	"net/http"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// The DOI service as the deployed metadata store uses it.

var (
	ErrBlank   = wire.Fail(http.StatusUnprocessableEntity, "Can't be blank")
	ErrInvalid = wire.Fail(http.StatusUnprocessableEntity, "Is invalid")
)

// schemaOf is the version that DataCite's own JSON names.
func schemaOf(o object) string {
	return wire.String(wire.First(o, "schema_version", "schema-version", "schemaVersion"))
}

// The versions of the schema that the service knows; it does not check documents
// of others.
var (
	checkedSchemas = []string{"4.0", "4.1", "4.2", "4.3", "4"}
	oldSchemas     = []string{"2.1", "2.2", "3.0", "3.1", "3"}
)

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

// keeps says whether metadata may be stored in this form: they must be DataCite XML and,
// unless the DOI is a draft, valid by the schema that they name.
func (rec *Record) keeps() bool {
	doc, err := parseXML(rec.XML)
	return err == nil && doc.namespace() != "" &&
		(rec.State == Draft || doc.namespace() == kernelNamespace && len(violations(doc.Root)) == 0)
}
