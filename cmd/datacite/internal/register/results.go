package register

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
)

// An entry is the stored state of a row.
type entry struct {
	DOI        string `json:"doi,omitempty"`  // it may have been sent
	Made       bool   `json:"made,omitempty"` // the name was made here, since the result table was written
	URL        string `json:"url,omitempty"`
	State      string `json:"state,omitempty"`
	Result     string `json:"result,omitempty"` // created, updated, unchanged, failed
	Error      string `json:"error,omitempty"`
	Registered string `json:"registered,omitempty"` // digest of what was registered and where, empty without success

	contested bool // by a row that was left out since it has the same URL, which therefore does not tell whose DOI it is
}

// results are the entries of all rows. They are kept in two files: the table of results, which
// is replaced as a whole, and beside it a journal of what happened since. Without a path they are
// kept in memory only.
type results struct {
	path            string
	earlier         string // another result table of the same source, which would be continued without --output
	columns, others []string
	at              int // of table.ResultColumns in others
	journal         *os.File

	mu    sync.Mutex
	dois  map[string]*entry // by key
	urls  map[string]*entry // nil for an address of several DOIs
	taken map[*entry]bool   // by rows of the source
}

// loadResults reads the results of earlier runs.
func loadResults(path string, s source) (*results, error) {
	r := &results{path: path, dois: map[string]*entry{}, urls: map[string]*entry{}, taken: map[*entry]bool{}}
	r.columns, r.others = s.results()
	r.at = slices.Index(r.others, table.ResultColumns[0])
	if path == "" {
		return r, nil
	}
	if err := shell.CheckState(path); err != nil {
		return nil, err
	}
	if err := r.loadTable(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := r.loadJournal(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return r, nil
}

// lookFor notes the result table that is usual for the source, if there is one and it is not this.
func (r *results) lookFor(usual string) error {
	if r.path == usual {
		return nil
	}
	for _, ending := range []string{"", ".journal"} {
		switch _, err := os.Stat(usual + ending); {
		case err == nil && !shell.IsSame(usual+ending, r.path+ending):
			r.earlier = usual
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

func (r *results) loadTable() error {
	t, file, err := table.Open(r.path, &table.Options{Others: r.others})
	if err != nil {
		return err
	}
	defer file.Close()
	if own := t.Own(); len(own) > 0 {
		return fmt.Errorf("%s has the column %q, which would be lost; continue with that table, or move it away", r.path,
			own[0])
	}
	var unnamed []entry
	for row, err := range t.All() {
		if err != nil {
			return err
		}
		cells := row.Others[r.at:]
		e := entry{DOI: row.DOI, URL: row.URL, State: row.State, Result: cells[0], Error: cells[1], Registered: cells[2]}
		if e.DOI == "" {
			unnamed = append(unnamed, e)
			continue
		}
		r.put(e)
	}
	for _, e := range unnamed {
		if known := r.urls[e.URL]; known != nil { // it was left out, since its URL is that of another row
			known.contested = true
		} else {
			r.put(e)
		}
	}
	return nil
}

func (r *results) journalPath() string { return r.path + ".journal" }

func (r *results) loadJournal() error {
	file, err := shell.OpenState(r.journalPath(), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return r.readJournal(file)
}

// readJournal reads to the end. An entry that cannot be read may have a DOI, and without it the row would get
// another one: that is an error, unless a crash cut the entry before anything was sent.
func (r *results) readJournal(file io.Reader) error {
	lines := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, failed := lines.ReadBytes('\n')
		if failed != nil && failed != io.EOF {
			return failed
		}
		var e entry
		if err := json.Unmarshal(line, &e); err == nil {
			r.put(e)
		} else if !isCut(line) {
			return fmt.Errorf("%s: line %d is damaged, and may have had the DOI of a row; repair or remove the line: %w",
				r.journalPath(), n, err)
		}
		if failed != nil {
			return nil
		}
	}
}

// isCut reports whether a line is the beginning of an entry, perhaps with zeros that a crash of the machine leaves.
func isCut(line []byte) bool {
	line, _, _ = bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte{0})
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&entry{})
	return err == io.EOF || err == io.ErrUnexpectedEOF
}

// put keeps an entry, in place of an earlier one for the same row.
func (r *results) put(e entry) {
	for _, cell := range []*string{&e.DOI, &e.URL, &e.State, &e.Result, &e.Error, &e.Registered} {
		*cell = strings.Clone(*cell) // a cell would hold its whole row
	}
	old := r.find(e.DOI, e.URL)
	if old == nil {
		old = &entry{}
		if other, ok := r.urls[e.URL]; ok && other != nil {
			r.urls[e.URL] = nil
		} else if !ok {
			r.urls[e.URL] = old
		}
	}
	e.contested = old.contested
	*old = e
	if e.DOI != "" {
		r.dois[doi.Key(e.DOI)] = old
	}
}

// find returns the entry of a row: that of its DOI or, if it has none, of its address. A
// row that was given a name is found by its address.
func (r *results) find(name, url string) *entry {
	if name == "" {
		return r.urls[url]
	}
	if e := r.dois[doi.Key(name)]; e != nil {
		return e
	}
	if e := r.urls[url]; e != nil && e.DOI == "" {
		return e
	}
	return nil
}

// of returns the entry of a row of the source. A row without a DOI whose URL is that of another row
// has none of its own.
func (r *results) of(row *row) entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.find(row.DOI, row.URL)
	if found == nil || row.DOI == "" && row.sharesURL {
		return entry{DOI: row.DOI, URL: row.URL}
	}
	r.taken[found] = true
	e := *found
	e.URL = row.URL
	return e
}

// ambiguous reports whether a row has no DOI, and its URL is that of several DOIs.
func (r *results) ambiguous(row *row) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.urls[row.URL]
	return row.DOI == "" && row.URL != "" && known && e == nil
}

// ofName returns the entry of a DOI.
func (r *results) ofName(name string) (e entry, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.dois[doi.Key(name)]; found != nil {
		return *found, true
	}
	return entry{}, false
}

// has reports whether a name is one of the results.
func (r *results) has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dois[doi.Key(name)] != nil
}

// strays are names of the results that no row of the source has.
func (r *results) strays() (all []entry) {
	for _, e := range r.dois {
		if !r.taken[e] {
			all = append(all, *e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare([]byte(a.URL), []byte(b.URL)) })
	return all
}

// begin opens the journal.
func (r *results) begin() (err error) {
	if r.path == "" {
		return nil
	}
	r.journal, err = shell.OpenState(r.journalPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err := r.journal.WriteString("\n"); err != nil { // ends a line cut by a crash
		return err
	}
	return shell.SyncFolder(r.path)
}

// note stores an entry. With sync it is on disk when note returns.
func (r *results) note(e entry, sync bool) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(e)
	if r.journal == nil {
		return nil
	}
	if _, err := r.journal.Write(append(line, '\n')); err != nil || !sync {
		return err
	}
	return r.journal.Sync()
}

// save writes the table of results and removes the journal.
func (r *results) save(s source, rows iter.Seq2[*row, error]) error {
	if r.path == "" {
		return nil
	}
	err := r.replace(s, rows)
	if r.journal != nil {
		err = errors.Join(err, r.journal.Close())
	}
	if err != nil {
		return fmt.Errorf("%w; %s holds the results so far, and the next run writes %s", err, r.journalPath(), r.path)
	}
	if err := os.Remove(r.journalPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r *results) replace(s source, rows iter.Seq2[*row, error]) error {
	if err := shell.CheckState(r.path); err != nil {
		return err
	}
	file, err := shell.CreateFile(r.path, s.mode())
	if err != nil {
		return err
	}
	defer file.Discard()
	w := table.NewWriter(file, &table.WriterOptions{Columns: r.columns, Others: r.others, Layout: s.layout(),
		Spreadsheet: table.IsSpreadsheet(r.path)})
	for row, err := range rows {
		if err != nil {
			return err
		}
		e := r.of(row)
		if row.Err() != nil {
			e.Result, e.Error = "failed", faults(row)
		}
		if e.Result == "failed" {
			e.State = "" // it is what the row wants
		}
		row.DOI, row.State = e.DOI, cmp.Or(e.State, row.State)
		others := make([]string, len(r.others))
		copy(others, row.Others)
		if !row.isRow {
			others[0] = row.place()
		}
		copy(others[r.at:], []string{e.Result, e.Error, e.Registered})
		row.Others = others
		if _, err := w.Write(row.Row); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := file.Save(); err != nil {
		return err
	}
	return shell.SyncFolder(r.path)
}

// faults are the faults of a row in one cell, which has room for so many.
func faults(row *row) string {
	const most = 20
	var all []string
	for _, f := range row.Findings {
		if !f.Warning {
			all = append(all, fmt.Sprintf("%.500s", f))
		}
	}
	if n := len(all) - most; n > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, "; ")
}
