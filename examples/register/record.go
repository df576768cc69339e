package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// readRecord reads a record in any format and prints what is wrong with it. Other
// formats than DataCite's own are checked by the service only.
func readRecord(data []byte, p *program.Program) (mds.Document, error) {
	doc, err := mds.Detect(data)
	switch {
	case err == nil && doc.ContentType == mds.XMLType:
		found, err := metadata.FindingsXML(bytes.NewReader(doc.Data))
		if err != nil {
			return doc, err
		}
		if err := report(found, p); err != nil {
			return doc, err
		}
		record, err := metadata.ParseXML(bytes.NewReader(doc.Data))
		if err != nil {
			return doc, err
		}
		return doc, checkYear(record.PublicationYear)
	case err != nil && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return readJSON(data, p)
	}
	return doc, err
}

// readJSON reads DataCite's own JSON. It is the one format that the service does
// not take, so it is turned into XML.
func readJSON(data []byte, p *program.Program) (doc mds.Document, err error) {
	var record metadata.Record
	var given, kept any
	if err := json.Unmarshal(data, &record); err != nil {
		return doc, err
	}
	if err := json.Unmarshal(data, &given); err != nil {
		return doc, err
	}
	written, err := json.Marshal(&record)
	if err != nil {
		return doc, err
	}
	if err := json.Unmarshal(written, &kept); err != nil {
		return doc, err
	}
	for _, path := range lost("", given, kept) {
		p.Warn("warning: %s: a record has no such member, or cannot read it; it is left out", path)
	}
	if err := report(record.Findings(), p); err != nil {
		return doc, err
	}
	if err := checkYear(record.PublicationYear); err != nil {
		return doc, err
	}
	return mds.NewDocument(&record)
}

// nameIn returns the DOI that a record names itself; the one of the request would
// silently take its place.
func nameIn(doc mds.Document) string {
	if doc.ContentType != mds.XMLType {
		return ""
	}
	record, err := metadata.ParseXML(bytes.NewReader(doc.Data))
	if err != nil {
		return "" // it has been checked
	}
	return record.DOI
}

// lost returns the paths of what was given and is not in the record that was read.
// Unknown names are lost like that, and nothing else would tell.
func lost(path string, given, kept any) (paths []string) {
	switch given := given.(type) {
	case map[string]any:
		members := members(kept)
		for _, name := range slices.Sorted(maps.Keys(given)) {
			at, value := name, given[name]
			if path != "" {
				at = path + "." + name
			}
			switch kept, ok := members[name]; {
			case name == "geoLocationPolygon" && ok: // it has several forms, and is written in one of them
			case ok:
				paths = append(paths, lost(at, value, kept)...)
			case !empty(value):
				paths = append(paths, at)
			}
		}
	case []any:
		items, _ := kept.([]any)
		if len(items) != len(given) {
			given = slices.DeleteFunc(given, empty) // the record may have none of these
		}
		if len(items) != len(given) {
			return []string{path}
		}
		for i := range given {
			paths = append(paths, lost(fmt.Sprintf("%s[%d]", path, i), given[i], items[i])...)
		}
	}
	return paths
}

// members returns the members of an object. A list that was given as its only item
// is kept as a list, and a publisher with nothing but a name as that.
func members(kept any) map[string]any {
	switch kept := kept.(type) {
	case map[string]any:
		return kept
	case []any:
		if len(kept) == 1 {
			return members(kept[0])
		}
	case string:
		return map[string]any{"name": kept}
	}
	return nil
}

// empty tells whether a value says nothing, so that nothing is lost with it.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// report prints what is wrong with a record. An error among it stops the
// registration before anything is sent.
func report(found []datacite.Finding, p *program.Program) error {
	faults := 0
	for _, f := range found {
		switch {
		case f.Code == "identifier", f.Code == "json":
			// the request names the DOI; what is sent is XML
		case f.Warning:
			p.Warn("%s", f)
		default:
			faults++
			p.Warn("error: %s", f)
		}
	}
	if faults > 0 {
		return fmt.Errorf("errors in the record: %d; nothing was sent", faults)
	}
	return nil
}

// checkYear refuses a year of two digits, which the service takes as the year 26.
func checkYear(year metadata.Year) error {
	if len(year) == 4 && strings.HasPrefix(string(year), "00") && year != "0000" {
		return fmt.Errorf("publicationYear: %s is a year of two digits; write all four", year[2:])
	}
	return nil
}
