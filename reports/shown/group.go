package shown

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/display"
)

// A holding has what was reported for one DOI, and its listed record.
type holding struct {
	doi     string
	listed  *record          // nil if it is in no list
	entries []placed         // by month, report and name
	events  []*display.Event // of its record: what the rules make of the reports
}

// A placed entry is that of a report in a month of a DOI.
type placed struct {
	month  string
	report int
	entry
}

// read adds a line. Lines come sorted.
func (h *holding) read(l *line) error {
	if l.report < 0 {
		h.listed = &record{}
		return json.Unmarshal(l.data, h.listed)
	}
	e := placed{month: l.month, report: l.report}
	if err := json.Unmarshal(l.data, &e.entry); err != nil {
		return err
	}
	e.Name = l.name
	if e.Month = l.month; !e.Elsewhere {
		e.DOI = l.doi
	}
	h.entries = append(h.entries, e)
	return nil
}

// Holdings are compared when there are so many, so that unlisted ones are looked up together.
const holdings = 100

// holdings goes through the sorted lines, DOI by DOI.
func (c *comparison) holdings(ctx context.Context) iter.Seq2[*holding, error] {
	return func(yield func(*holding, error) bool) {
		var held []*holding
		release := func() bool {
			if err := c.findUnlisted(ctx, held); err != nil {
				yield(nil, err)
				return false
			}
			for _, h := range held {
				h.predict()
				if !yield(h, nil) {
					return false
				}
			}
			held = nil
			return true
		}
		for sorted, err := range c.sorter.Keys() {
			if err != nil {
				yield(nil, err)
				return
			}
			l := readLine(sorted)
			if l.report >= 0 && c.stored[l.report].dead {
				continue
			}
			last := len(held) - 1
			if last < 0 || held[last].doi != l.doi {
				if len(held) >= holdings && !release() {
					return
				}
				held = append(held, &holding{doi: l.doi})
				last = len(held) - 1
			}
			if err := held[last].read(&l); err != nil {
				yield(nil, err)
				return
			}
		}
		release()
	}
}

// predict asks the rules what the record displays of the reports.
func (h *holding) predict() {
	readings := map[int][]display.Reading{}
	for i := range h.entries {
		if e := &h.entries[i]; !e.Elsewhere {
			readings[e.report] = append(readings[e.report], e.Reading)
		}
	}
	var d display.Display
	for report, read := range readings {
		d.Store(report, read)
	}
	for _, e := range d.Events() {
		if e.DOI == h.doi {
			h.events = append(h.events, e)
		}
	}
}

// findUnlisted lists the records that are not among those of the account.
func (c *comparison) findUnlisted(ctx context.Context, held []*holding) error {
	const most = 8 << 10 // bytes of names in an address
	of, names, size := map[string]*holding{}, []string(nil), 0
	for _, h := range held {
		if _, err := doi.Parse(h.doi); err != nil || h.listed != nil || strings.Contains(h.doi, ",") || size+len(h.doi) > most {
			continue
		}
		of[h.doi], names, size = h, append(names, h.doi), size+len(h.doi)
	}
	if len(names) < 2 {
		return nil
	}
	found, err := c.dois.List(ctx, &dois.ListOptions{IDs: names, Detail: true, Fields: fields})
	if err != nil {
		return err
	}
	for i := range found.Records {
		if h := of[doi.Key(found.Records[i].DOI)]; h != nil {
			h.listed = c.recordOf(&found.Records[i])
		}
	}
	return nil
}
