package logs

import (
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// Dataverse is the log that Dataverse and Dryad write for counter-processor: one event per
// line, in 19 fields separated by tabs. Options.Paths says which URLs are investigations
// and requests; the default is DataversePaths(). The user ":guest" of Dataverse stands for
// visitors without a login.
var Dataverse = Format{
	Name:    "dataverse",
	Summary: "what Dataverse and Dryad write for counter-processor",
	Parser:  readDataverse,
}

func readDataverse(o *Options) (func() ParseLine, error) {
	paths := o.Paths
	if paths == nil {
		paths = DataversePaths()
	}
	return func() ParseLine {
		d := &dataverse{Options: o, paths: newPathFinder(paths)}
		d.paths.beside = true
		return d.parse
	}, nil
}

// A dataverse reads lines of Dataverse.
type dataverse struct {
	*Options
	paths *pathFinder
	clock isoClock
}

func (d *dataverse) parse(line string) (e counter.Event, ok bool, err error) {
	if line[0] == '#' {
		return e, false, checkHeader(line)
	}
	var fields [titleField]string
	describes, err := splitFields(line, &fields)
	if err != nil {
		return e, false, err
	}
	if e.Time, err = d.clock.read(fields[0]); err != nil {
		return e, false, err
	}
	to, ok, err := d.paths.target(fields[5])
	if err != nil || !ok {
		return e, false, err
	}
	e.Session, e.Cookie, e.User = fields[2], fields[3], fields[4]
	e.URL, e.Agent, e.Request = fields[5], fields[9], to.Request
	if e.User == ":guest" {
		e.User = ""
	}
	if fields[1] != "" {
		if e.Address, err = d.address("client_ip", fields[1]); err != nil {
			return e, false, err
		}
	}
	if e.DOI, err = readDOI(fields[6]); err != nil {
		return e, false, err
	}
	if d.Descriptions != nil {
		if err := d.Descriptions.add(e.DOI, e.Time, describes); err != nil {
			return e, false, err
		}
	}
	return e, true, nil
}

// fieldNames are the fields of a line that Dataverse or Dryad wrote.
var fieldNames = [...]string{
	"event_time", "client_ip", "session_cookie_id", "user_cookie_id", "user_id", "request_url", "identifier",
	"filename", "size", "user_agent", "title", "publisher", "publisher_id", "authors", "publication_date", "version",
	"other_id", "target_url", "publication_year",
}

// titleField is the first field that describes the dataset.
const titleField = 10

// splitFields splits a line. The fields from the title on, which describe the
// dataset, are returned as they stand.
func splitFields(line string, fields *[titleField]string) (describes string, err error) {
	describes = line
	for i := range fields {
		field, rest, _ := strings.Cut(describes, "\t")
		fields[i], describes = present(field), rest
	}
	if strings.Count(describes, "\t") != len(fieldNames)-titleField-1 {
		return "", datacite.Invalidf("", datacite.CodeSyntax,
			"fields are %d, not %d separated by tabs", strings.Count(line, "\t")+1, len(fieldNames))
	}
	return describes, nil
}

// present returns a field, or "" if it stands for nothing.
func present(field string) string {
	switch field = strings.TrimSpace(field); field {
	case "-", "????":
		return ""
	}
	return field
}

// checkHeader refuses a header that names other fields.
func checkHeader(line string) error {
	names, ok := strings.CutPrefix(line, "#Fields:")
	if !ok {
		return nil
	}
	if !slices.Equal(strings.Fields(strings.ReplaceAll(names, "-", "_")), fieldNames[:]) {
		return datacite.Invalidf("", datacite.CodeSyntax, "#Fields names other fields, or another order, than %s",
			strings.Join(fieldNames[:], ", "))
	}
	return nil
}

// readDOI returns the DOI of an identifier, bare.
func readDOI(identifier string) (string, error) {
	if identifier == "" {
		return "", datacite.Invalidf("", datacite.CodeNoDataset,
			"identifier is missing, so the access is to no dataset")
	}
	name, err := doi.Parse(identifier)
	switch {
	case err == nil:
		return name, nil
	case notDOI(identifier) == datacite.CodeHandle:
		return "", datacite.Invalidf("", datacite.CodeHandle,
			"identifier is %.100q, a handle, and usage is reported of DOIs only", identifier)
	}
	return "", datacite.Invalidf("", datacite.CodeDOI,
		"identifier is %.100q, not a DOI such as doi:10.5072/abc", identifier)
}

// notDOI is the code of an identifier that is not a DOI.
func notDOI(identifier string) datacite.Code {
	if len(identifier) >= len("hdl:") && strings.EqualFold(identifier[:len("hdl:")], "hdl:") {
		return datacite.CodeHandle
	}
	return datacite.CodeDOI
}
