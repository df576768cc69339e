package reports

import (
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/repeat"
)

// Repeats says what [Client.Submit] does with a DOI that occurs more than once.
// The service's consumer keeps one entry for each DOI, so of entries in
// different subsets only the last one would count. Looking for repeats takes a
// fiftieth of the time, 1 MiB of memory, and 16 bytes of temporary file for each
// entry of a report with more than 60,000.
type Repeats int

const (
	// RefuseRepeats fails before anything is sent and names the entries.
	RefuseRepeats Repeats = iota
	// MergeRepeats adds up entries of one DOI that follow each other, as they do
	// in a source that is sorted by DOI, and refuses others. Each is checked before;
	// those of different periods, or of several, and sums that are too large fail
	// with a [*FieldError]. What is not counted is taken from the first entry.
	MergeRepeats
	// SendRepeats sends the entries as they are and does not look for repeats.
	SendRepeats
)

// repeated is the fault of an entry whose DOI another one has.
func repeated(r repeat.Repeat) *FieldError {
	return &FieldError{fmt.Sprintf("report-datasets[%d].dataset-id", r.Again), fmt.Sprintf("is that of report-datasets[%d]; the service would keep one of them", r.First)}
}

// repeatedIn finds repeated DOIs in a report that is held in memory.
func repeatedIn(datasets []Dataset) []Finding {
	first := map[string]int{}
	var findings []Finding
	var name []byte
	for i := range datasets {
		name = appendDOI(name[:0], &datasets[i])
		if at, ok := first[string(name)]; ok && len(name) > 0 {
			f := repeated(repeat.Repeat{First: at, Again: i})
			findings = append(findings, Finding{Path: f.Path, Reason: f.Reason, Warning: true})
		} else {
			first[string(name)] = i
		}
	}
	return findings
}

// appendDOI appends the dataset's DOI as all spellings share it: without the
// address or scheme before it, its ASCII letters in lower case. It appends nothing
// if there is none.
func appendDOI(dst []byte, d *Dataset) []byte {
	for i := range d.DatasetID {
		if id := &d.DatasetID[i]; strings.EqualFold(id.Type, TypeDOI) {
			name := strings.TrimSpace(id.Value)
			for _, before := range [...]string{"", "https://doi.org/", "doi:"} { // for speed: Parse knows them too
				if rest, ok := strings.CutPrefix(name, before); ok && strings.HasPrefix(rest, "10.") &&
					strings.IndexByte(rest, '%') < 0 && strings.IndexByte(rest, '?') < 0 && strings.IndexByte(rest, '#') < 0 {
					return jsonlex.AppendLower(dst, rest)
				}
			}
			if parsed, err := doi.Parse(name); err == nil {
				name = parsed
			}
			return jsonlex.AppendLower(dst, name)
		}
	}
	return dst
}
