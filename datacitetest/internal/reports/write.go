package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// write is a POST or PUT in progress. It reads the database once, works on its copy,
// and writes the document from that.
type write struct {
	*Service
	q      *wire.Request
	sub    *submission
	owner  string  // the sender's client id
	report *stored // its copy; nil if there is no report yet
	loaded bool    // the rows of the copy are final

	creating bool   // there was no report
	members  object // of the header, as sent
}

// done ends a step: it takes so many twentieths of the duration of a write, unless a
// fault happens here.
func (w *write) done(step faults.Step, twentieths time.Duration) {
	if f := w.q.Fault; f != nil && f.Step == step {
		if f.Kind == faults.Crash {
			panic(http.ErrAbortHandler)
		}
		time.Sleep(f.Delay)
	}
	time.Sleep(twentieths * w.WriteTime / 20)
}

// change changes the report in the database in one transaction, if it still exists.
func (w *write) change(do func(r *stored)) {
	w.Archive.mu.Lock()
	defer w.Archive.mu.Unlock()
	w.Archive.change(w.report.UID, do)
}

// takeSubmission is POST, without an id, and PUT. The checks follow the order of the
// service's filters (reports_controller.rb:13-17).
func (s *Service) takeSubmission(q *wire.Request, id string) (wire.Reply, error) {
	w := &write{Service: s, q: q}
	var err error
	if w.sub, err = readSubmission(q); err != nil {
		return wire.Reply{}, err
	}
	w.done(faults.Parsed, 12)
	caller := s.readCaller(q)
	if !caller.given {
		return wire.Reply{}, errNoToken
	}
	if err := w.sub.datePeriod(); err != nil {
		return wire.Reply{}, err
	}
	if !caller.mayReport() {
		return wire.Reply{}, wire.Fail(http.StatusUnauthorized, wire.NotAuthorized)
	}
	w.owner = caller.UID
	q.ResponseHeader.Set("X-Credential-Username", w.owner)
	if id == "" {
		return w.create()
	}
	return w.update(id)
}

// create is POST (ReportsController#create).
func (w *write) create() (wire.Reply, error) {
	createdBy := w.sub.header["created-by"]
	if _, ok := createdBy.(string); !ok && createdBy != nil {
		return wire.Reply{}, wire.ReportValue.Refusal("report-header", "created-by")
	}
	key := keyOf(createdBy, w.sub.year, w.sub.month)
	if err := w.lookUp(func() *stored { return w.Archive.findOf(w.owner, key) }); err != nil {
		return wire.Reply{}, err
	}
	w.done(faults.LookedUp, 3)
	switch {
	case w.report == nil:
		if err := w.begin(uuid.NewString()); err != nil {
			return wire.Reply{}, err
		}
	case w.sub.coded():
		if err := w.addRow(); err != nil {
			return wire.Reply{}, err
		}
		w.done(faults.RowInserted, 1)
	}
	return w.finish(http.StatusCreated)
}

// update is PUT (ReportsController#update). It does not check the owner.
func (w *write) update(id string) (wire.Reply, error) {
	if !uuidForm().MatchString(strings.ToLower(id)) {
		return wire.Reply{}, wire.Fail(http.StatusUnprocessableEntity, "Record invalid")
	}
	if err := w.lookUp(func() *stored { return w.Archive.find(id) }); err != nil {
		return wire.Reply{}, err
	}
	status := http.StatusOK
	var err error
	switch {
	case w.report == nil:
		status = http.StatusCreated
		w.done(faults.LookedUp, 3)
		err = w.begin(id)
	case w.sub.coded():
		w.done(faults.LookedUp, 1)
		if err = w.replaceRows(); err == nil {
			err = w.assign()
		}
	default:
		w.done(faults.LookedUp, 3)
		err = w.assign()
	}
	if err != nil {
		return wire.Reply{}, err
	}
	return w.finish(status)
}

// lookUp reads the report. If there is a document, the rows are compared with it and
// get their bytes from it.
func (w *write) lookUp(find func() *stored) error {
	w.Archive.mu.Lock()
	defer w.Archive.mu.Unlock()
	w.report = find()
	if w.report == nil || !w.report.Documented {
		return nil
	}
	if _, w.loaded = w.Archive.documents[names.Folded(w.report.UID)]; !w.loaded {
		return nil
	}
	_, err := w.Archive.load(w.report)
	return err
}

// begin makes a new report of the submission, in memory.
func (w *write) begin(uid string) error {
	w.creating = true
	w.report = &stored{UID: uid, Year: w.sub.year, Month: w.sub.month, Header: object{"report-name": "Dataset Report"}}
	if err := w.assign(); err != nil {
		return err
	}
	header := w.report.Header
	w.report.Key = keyOf(header["created-by"], w.sub.year, w.sub.month)
	for _, name := range slices.Concat(textColumns, jsonColumns) {
		if header[name] == nil && slices.Contains(jsonColumns[1:], name) {
			header[name] = []any{}
		} else if header[name] == nil {
			header[name] = nil // shown as null
		}
	}
	return nil
}

// assign gives the report the members that were sent.
func (w *write) assign() (err error) {
	if w.members, err = w.sub.permitted(); err == nil {
		err = w.report.assign(w.sub, w.members, w.owner)
	}
	return err
}

// addRow inserts the subset that was sent, and appends it to the rows of the request's
// copy if they are loaded.
func (w *write) addRow() error {
	if _, err := w.sub.permitted(); err != nil {
		return err
	}
	w.Archive.mu.Lock()
	defer w.Archive.mu.Unlock()
	added, err := w.Archive.insertRow(w.report.UID, w.sub.body)
	if err == nil && w.loaded {
		w.report.Rows = append(w.report.Rows, added)
	}
	return err
}

// replaceRows is the work of a compressed PUT before the submission is checked: the
// document is removed if the report is valid before the change; the rows that were
// read are destroyed; the new row is inserted.
func (w *write) replaceRows() error {
	w.report.Documented = false
	if faults, err := w.report.faults(false); err == nil && len(faults) == 0 {
		w.change(func(r *stored) {
			delete(w.Archive.documents, names.Folded(r.UID))
			r.Documented = false
			_ = w.commit(nil)
		})
	}
	w.done(faults.DocumentRemoved, 1)
	w.change(func(r *stored) {
		r.Rows = slices.DeleteFunc(slices.Clone(r.Rows), func(there row) bool {
			return !w.loaded || slices.ContainsFunc(w.report.Rows, func(read row) bool { return read.ID == there.ID })
		})
	})
	w.report.Rows, w.loaded = nil, true
	w.done(faults.RowsDestroyed, 1)
	if err := w.addRow(); err != nil {
		return err
	}
	w.done(faults.RowInserted, 1)
	return nil
}

// save validates the report and commits it (Report#save, #update). A new report
// gets its row in the same transaction.
func (w *write) save() (invalid object, err error) {
	w.Archive.mu.Lock()
	defer w.Archive.mu.Unlock()
	if invalid, err = w.report.faults(w.creating); err != nil {
		return nil, err
	}
	if w.creating && w.Archive.find(w.report.UID) != nil {
		invalid["uid"] = []any{"has already been taken"}
	}
	compressed, err := w.report.isCompressed()
	if compressed {
		w.report.Datasets = json.RawMessage("[]")
	}
	if len(invalid) > 0 {
		return invalid, nil
	}
	if err != nil {
		return nil, err
	}
	if err := w.report.fits(w.creating); err != nil {
		return nil, err
	}
	if w.creating {
		if _, taken := w.Archive.keys[w.report.Key]; taken {
			return nil, errTaken
		}
		w.Archive.insert(w.report)
	}
	if err = w.commit(w.members); err != nil && w.creating {
		w.Archive.remove(w.report.UID)
	}
	return nil, err
}

// committed ends the step of the header, and that of the row if they are one.
func (w *write) committed() {
	twentieths := time.Duration(1)
	if w.creating {
		w.done(faults.RowInserted, 1)
	} else if !w.sub.coded() {
		twentieths = 2
	}
	w.done(faults.HeaderCommitted, twentieths)
}

// readOnly are the columns that are written only on creation (report.rb:29).
var readOnly = []string{"created-by", "report-id"}

// commit writes the changes in memory to the database: the members sent, the datasets
// and the bytes. A report without rows gets one (Report#to_compress).
func (w *write) commit(members object) error {
	w.announce()
	w.Archive.change(w.report.UID, func(r *stored) {
		r.Header = maps.Clone(r.Header)
		for name := range members {
			if _, column := w.report.Header[name]; column && !slices.Contains(readOnly, name) {
				r.Header[name] = w.report.Header[name]
			}
		}
		r.Datasets, r.Compressed = w.report.Datasets, w.report.Compressed
		r.Rows = slices.Clone(r.Rows)
		for i := range r.Rows {
			if read := w.rowRead(r.Rows[i].ID); read != nil {
				r.Rows[i].Gzip = read.Gzip
			}
		}
	})
	there := w.Archive.find(w.report.UID)
	if w.loaded && len(w.report.Rows) > 0 || !w.loaded && there != nil && len(there.Rows) > 0 {
		return nil
	}
	data := w.report.Compressed
	if data == nil {
		data = w.report.compressOwn()
	}
	_, err := w.Archive.insertRow(w.report.UID, data)
	return err
}

// announce queues the report for counting (Report#push_report).
func (w *write) announce() { w.Stored(w.report.UID) }

// rowRead is a row of the request's copy that has its bytes, nil without.
func (w *write) rowRead(id int64) *row {
	if !w.loaded {
		return nil
	}
	i := slices.IndexFunc(w.report.Rows, func(r row) bool { return r.ID == id && r.Gzip != nil })
	if i < 0 {
		return nil
	}
	return &w.report.Rows[i]
}

// finish saves the report, renders the response, stores its text as the document and cleans up
// (Report#save_as_attachment, #clean_data). The response shows the rows of the
// request's copy, which are loaded now if they were not yet.
func (w *write) finish(status int) (wire.Reply, error) {
	invalid, err := w.save()
	switch {
	case err != nil:
		return wire.Reply{}, err
	case len(invalid) > 0 && w.q.Verb == http.MethodPut: // the code that would list them fails
		return wire.Reply{}, wire.Fail(http.StatusUnprocessableEntity,
			"undefined method `serialize' for #<ReportsController:0x000000000131b8>")
	case len(invalid) > 0:
		return wire.Reply{}, &wire.Failure{
			Status: http.StatusUnprocessableEntity, Body: invalid,
			Header: map[string]string{"X-Credential-Username": w.owner},
		}
	}
	w.committed()
	document, err := w.render()
	if err != nil {
		return wire.Reply{}, err
	}
	w.done(faults.Rendered, 2)
	w.change(func(r *stored) { delete(w.Archive.documents, names.Folded(r.UID)) })
	w.done(faults.DocumentDeleted, 1)
	w.change(func(r *stored) {
		w.Archive.documents[names.Folded(r.UID)] = document
		// The column is written only if it differs from the request's copy.
		r.Documented = r.Documented || !w.report.Documented
	})
	w.announce()
	w.done(faults.DocumentStored, 0)
	w.change(w.clean)
	w.done(faults.RowsCleaned, 0)
	return document.reply(status, w.report.UID), nil
}

func (w *write) render() (attachment, error) {
	w.Archive.mu.Lock()
	defer w.Archive.mu.Unlock()
	if !w.loaded {
		w.report.Rows, w.loaded = nil, true
		if now := w.Archive.find(w.report.UID); now != nil {
			w.report.Rows = now.Rows
		}
	}
	return w.report.document()
}

// clean removes from the database what the document contains: the datasets, and the
// bytes of the rows in the request's copy.
func (w *write) clean(r *stored) {
	r.Compressed = nil
	r.Datasets = json.RawMessage("[]")
	r.Rows = slices.Clone(r.Rows)
	for i := range r.Rows {
		if w.rowRead(r.Rows[i].ID) != nil {
			r.Rows[i].Gzip = nil
		}
	}
}

var errTaken = wire.Fail(http.StatusConflict, "The resource already exists.")

// seeded is a report as the database stores it with Deployed.
func seeded(r *stored, data []byte) (*stored, error) {
	p := r.Rows[0]
	sub := &submission{body: data, coding: p.coding()}
	if err := sub.parse(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	_ = sub.datePeriod() // a seeded report may lack the period
	r = &stored{
		UID: r.UID, Owner: r.Owner, Year: sub.year, Month: sub.month,
		Key:        keyOf(sub.header["created-by"], sub.year, sub.month),
		Documented: true, Header: sub.header, Datasets: json.RawMessage("[]"), Compressed: p.Gzip,
	}
	if p.Plain {
		r.Datasets = wire.Encode(sub.datasets)
		r.Compressed = r.compressOwn()
	}
	return r, nil
}

// document gives a report its document, with one subset.
func (a *archive) document(uid string, gzip []byte) error {
	if _, err := a.insertRow(uid, gzip); err != nil {
		return fmt.Errorf("%d bytes: %w", len(gzip), err)
	}
	a.change(uid, func(r *stored) {
		a.documents[names.Folded(uid)] = attachment{r.fullHeader(), r.Datasets, slices.Clone(r.Rows)}
		r.Datasets, r.Compressed, r.Rows[0].Gzip = json.RawMessage("[]"), nil, nil
	})
	return nil
}
