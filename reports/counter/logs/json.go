package logs

import (
	"encoding/json"
	"errors"
	"fmt"
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
		return e, false, &Fault{Class: BadLayout, Reason: fmt.Sprintf("line is not an event: %v", err)}
	}
	if e.DOI == "" {
		return e, false, &Fault{Class: NoDataset, Reason: "doi is missing, so the access is to no dataset"}
	}
	err = e.Validate()
	for _, f := range datacite.Findings(err) {
		class := map[string]Class{"doi": notDOI(e.DOI), "time": BadTime}[f.Path]
		if class == "" {
			class = BadValue
		}
		return e, false, &Fault{Class: class, Reason: f.Path + " " + f.Reason}
	}
	return e, err == nil, err
}
