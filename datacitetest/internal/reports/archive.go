package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// archive stores the usage reports. With Deployed it is a database with a table of
// reports and one of their subsets, and a separate store of documents. The two are
// not kept consistent.
//
// Reading and changing it needs the lock; one lock is one transaction.
type archive struct {
	mu        sync.Mutex
	reports   map[string]*stored    // by uid, folded
	keys      map[string]string     // the uid of each creator, year and month: the unique index
	documents map[string]attachment // by uid, folded
	inserted  int64                 // how many rows there have been
	NewID     func() int64          // makes the ids of rows
}

func newArchive() archive {
	return archive{
		reports: map[string]*stored{}, keys: map[string]string{}, documents: map[string]attachment{},
		NewID: func() int64 { return rand.Int64N(math.MaxInt64) },
	}
}

// stored is a report in the database, or a request's copy of it.
type stored struct {
	UID, Owner, Year, Month string
	Key                     string          // unique: creator and period
	Header                  object          // its other columns, by their names in responses
	Datasets                json.RawMessage `json:",omitempty"` // nil is NULL
	Compressed              []byte          // sent last; nil is NULL
	Documented              bool            // the column with the document's name is set
	Rows                    []row
}

// row is a subset. Rows are ordered by their ids, which are random with Deployed.
type row struct {
	ID       int64
	Nth      int64 // counts the rows as they were inserted
	Checksum string
	Gzip     []byte // nil is NULL: only the document has the bytes
	Plain    bool   `json:",omitempty"` // with Documented: the bytes are not compressed
}

// attachment is the document of a report: the text of the response to a write.
type attachment struct {
	Header   object
	Datasets json.RawMessage `json:",omitempty"`
	Subsets  []row
}

func (d attachment) find(checksum string) *row {
	if i := slices.IndexFunc(d.Subsets, func(r row) bool { return r.Checksum == checksum }); i >= 0 {
		return &d.Subsets[i]
	}
	return nil
}

// keyOf is the unique index of a Deployed service.
func keyOf(createdBy any, year, month string) string {
	return strings.Join([]string{names.Folded(wire.String(createdBy)), year, month}, "\x00")
}

// find reads a report by its uid, rows by id; nil if there is none.
func (a *archive) find(uid string) *stored {
	r := a.reports[names.Folded(uid)]
	if r == nil {
		return nil
	}
	c := *r
	c.Header = maps.Clone(r.Header)
	c.Rows = slices.SortedFunc(slices.Values(r.Rows), func(x, y row) int { return cmp.Compare(x.ID, y.ID) })
	return &c
}

// findOf is the report of a creator and a period, if it is the account's.
func (a *archive) findOf(owner, key string) *stored {
	r := a.find(a.keys[key])
	if r == nil || names.Folded(r.Owner) != names.Folded(owner) {
		return nil
	}
	return r
}

// insert stores a new report.
func (a *archive) insert(r *stored) {
	c := *r
	c.Header = maps.Clone(r.Header)
	a.reports[names.Folded(r.UID)], a.keys[r.Key] = &c, r.UID
}

// RowIDs are the ids of a report's rows, in the order of insertion. No response
// shows them.
func (a *archive) RowIDs(uid string) (ids []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.find(uid).inserted() {
		ids = append(ids, r.ID)
	}
	return ids
}

// inserted are the rows in the order of insertion.
func (r *stored) inserted() []row {
	return slices.SortedFunc(slices.Values(r.Rows), func(x, y row) int { return cmp.Compare(x.Nth, y.Nth) })
}

// kept are the reports with their rows. The bytes of a row are in the row or in the
// document.
func (a *archive) kept() (all []Kept) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.list() {
		k := Kept{ID: r.UID, Owner: r.Owner, Header: wire.Encode(r.Header)}
		for _, row := range r.inserted() {
			if there := a.documents[names.Folded(r.UID)].find(row.Checksum); row.Gzip == nil && there != nil {
				row.Gzip = there.Gzip
			}
			k.Subsets = append(k.Subsets, KeptSubset{row.Checksum, row.Gzip})
		}
		all = append(all, k)
	}
	return all
}

func (a *archive) remove(uid string) {
	if r := a.reports[names.Folded(uid)]; r != nil && names.Folded(a.keys[r.Key]) == names.Folded(uid) {
		delete(a.keys, r.Key)
	}
	delete(a.reports, names.Folded(uid))
	delete(a.documents, names.Folded(uid))
}

// change does something to a report in the database, if it is still there.
func (a *archive) change(uid string, do func(r *stored)) {
	if r := a.reports[names.Folded(uid)]; r != nil {
		do(r)
	}
}

// maxColumn is the database's limit of compressed bytes.
const maxColumn = 1<<24 - 1

// insertRow stores a subset and returns its row.
func (a *archive) insertRow(uid string, data []byte) (row, error) {
	if len(data) > maxColumn {
		return row{}, tooLong("compressed")
	}
	a.inserted++
	added := row{ID: a.NewID(), Nth: a.inserted, Checksum: sum256(data), Gzip: data}
	a.change(uid, func(r *stored) { r.Rows = append(r.Rows, added) })
	return added, nil
}

func sum256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func tooLong(column string) error {
	return wire.Crashed("Mysql2::Error: Data too long for column '" + column + "' at row 1")
}

// errNilText is Ruby's error for nil in place of a string: bytes to encode in
// base64, to compute a checksum of, or to parse.
var errNilText = wire.Crashed("no implicit conversion of nil into String")

func errNoDocument(uid string) error {
	return wire.Crashed("The attachment for this report cannot be found: " +
		"https://metrics-api.datacite.org.s3.amazonaws.com/report_files/" + uid + ".json")
}

// noMethod is Ruby's error for a call of a method of nil.
func noMethod(name string) *wire.Failure {
	return wire.Fail(http.StatusUnprocessableEntity, "undefined method `%s' for nil:NilClass", name)
}

// load reads the document into a report: the datasets, and the bytes of every
// row (Report#load_attachment!). A row that is not in the document is an error.
func (a *archive) load(r *stored) (attachment, error) {
	d, ok := a.documents[names.Folded(r.UID)]
	if !ok {
		return d, errNoDocument(r.UID)
	}
	compressed, err := r.isCompressed()
	if err != nil {
		return d, err
	}
	if compressed {
		if len(r.Rows) == 0 {
			return d, noMethod("checksum")
		}
		newest := slices.MaxFunc(r.Rows, func(x, y row) int { return cmp.Compare(x.Nth, y.Nth) })
		if d.find(newest.Checksum) == nil {
			return d, wire.Crashed("[UsageReports] cannot find gzip for a report-subset")
		}
		// The service stores the checksum as the bytes.
		r.Compressed, _ = base64.StdEncoding.DecodeString(newest.Checksum)
	}
	r.Datasets = d.Datasets
	if r.Datasets == nil {
		r.Datasets = json.RawMessage("[]")
	}
	for i := range r.Rows {
		found := d.find(r.Rows[i].Checksum)
		if found == nil {
			return d, wire.Crashed("[UsageReports] Cannot find report-subset gzip field.")
		}
		r.Rows[i].Gzip = found.Gzip
	}
	return d, nil
}

// document is the report in the form of ReportSerializer.
func (r *stored) document() (attachment, error) {
	for _, row := range r.Rows {
		if row.Gzip == nil {
			return attachment{}, errNilText
		}
	}
	return attachment{r.fullHeader(), r.Datasets, r.Rows}, nil
}

// fullHeader is the header with the members that lists omit.
func (r *stored) fullHeader() object {
	h := maps.Clone(r.Header)
	h["client-id"], h["year"], h["month"] = r.Owner, r.Year, r.Month
	return h
}

// reply is the response that shows a document.
func (d attachment) reply(status int, uid string) wire.Reply {
	datasets := d.Datasets
	if datasets == nil {
		datasets = json.RawMessage("null")
	}
	of := []string{string(datasets)}
	for _, subset := range d.Subsets {
		of = append(of, subset.Checksum)
	}
	return response(status, uid, d.Header, of, func(o *output) {
		o.print(`"report-datasets":%s,"report-subsets":[`, datasets)
		for i, subset := range d.Subsets {
			if i > 0 {
				o.print(",")
			}
			o.print(`{"gzip":"`)
			enc := base64.NewEncoder(base64.StdEncoding, o)
			_, _ = enc.Write(subset.Gzip)
			_ = enc.Close()
			o.print(`","checksum":"%s"}`, subset.Checksum)
		}
		o.print("]")
	})
}

// compressOwn compresses a plain report as the service does (Report#compress).
// Names below the header's members keep the spelling of the database.
func (r *stored) compressOwn() []byte {
	header := object{}
	for _, name := range slices.Concat(textColumns, jsonColumns) {
		header[name] = respell(r.Header[name], underscored)
	}
	datasets := r.Datasets
	if datasets == nil {
		datasets = json.RawMessage("null")
	}
	return compress(wire.Encode(object{"report-header": header, "report-datasets": datasets}))
}
