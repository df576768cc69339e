package logs

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// JSON is a log with one event per line, as encoding/json writes a [counter.Event]. Unknown
// members are faults.
var JSON = Format{
	Name:    "json",
	Summary: "events as JSON, one a line (package reports/counter, type Event)",
	Parser:  readJSON,
}

func readJSON(o *Options) (func() ParseLine, error) {
	if o.Paths != nil {
		return nil, datacite.Invalid(datacite.Finding{Path: "Options.Paths", Code: "conflict", Reason: "have no effect on events as JSON, which say what a request is"})
	}
	return func() ParseLine { return parseJSON }, nil
}

func parseJSON(line string) (e counter.Event, ok bool, err error) {
	if line[0] == '#' {
		return e, false, nil
	}
	in := json.NewDecoder(strings.NewReader(line))
	in.DisallowUnknownFields()
	if err = in.Decode(&e); err == nil && in.More() {
		err = errors.New("something follows it")
	}
	if err != nil {
		return e, false, fault("syntax", "line is not an event: %v; its members are doi, time, url, request, user, cookie, session, address, agent, access and country", err)
	}
	if e.DOI == "" {
		return e, false, fault("no-dataset", "doi is missing, so the access is to no dataset")
	}
	err = e.Validate()
	found := datacite.Findings(err)
	if len(found) == 0 {
		return e, err == nil, err
	}
	f := found[0]
	switch f.Path {
	case "doi":
		f.Code = notDOI(e.DOI)
	case "time":
		f.Code = "date"
	default:
		f.Code = "value"
	}
	return e, false, datacite.Invalid(f)
}
