package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// blob is a report's JSON in the deployed service's object storage. The
// database has a row with the checksum of each subset besides, and nothing
// keeps the two together but luck.
type blob struct {
	datasets []byte // a JSON array
	subsets  []part
}

// consistent is the check that each reading and writing of a report begins
// with: every row of the database is in the document.
func (r *report) consistent() error {
	for _, row := range r.parts {
		if !slices.ContainsFunc(r.document.subsets, func(p part) bool { return p.checksum == row.checksum }) {
			return crashed("[UsageReports] cannot find gzip for a report-subset")
		}
	}
	return nil
}

// maxColumn is how many compressed bytes the database takes for one subset.
const maxColumn = 1<<24 - 1

func (p part) fits() error {
	if len(p.body) > maxColumn {
		return tooLong("compressed")
	}
	return nil
}

// fits says whether the texts of a header do.
func (sub *submission) fits() error {
	header := sub.known()
	for name := range sorted(header) {
		if utf8.RuneCountInString(text(header[name])) > 255 {
			return tooLong(underscored(name))
		}
	}
	return nil
}

func tooLong(column string) error {
	return crashed("Mysql2::Error: Data too long for column '" + column + "' at row 1")
}

// workHalf lets half the time of a write pass. The caller has the lock, which is
// free meanwhile: what it knew before may no longer be so.
func (s *Service) workHalf() {
	if s.writeTime <= 0 {
		return
	}
	s.mu.Unlock()
	time.Sleep(s.writeTime / 2)
	s.mu.Lock()
}

// updateReport changes the stored report of an id, if it is still there.
func (s *Service) updateReport(id string, change func(r *report)) {
	id = strings.ToLower(id)
	if old := s.reports[id]; old != nil {
		c := *old
		change(&c)
		s.reports[id] = &c
	}
}

// createReport stores a report that is not there yet. A reader finds it whole
// from the moment the database has it.
func (s *Service) createReport(account *Account, id string, sub *submission) (reply, error) {
	r := &report{id: id, owner: account.ClientID, key: sub.key(), header: sub.newHeader()}
	r.parts, r.document = sub.firstContent()
	s.workHalf()
	if s.periods[r.key] != "" || s.reports[strings.ToLower(id)] != nil {
		return reply{}, errTaken
	}
	if err := cmp.Or(r.parts[0].fits(), sub.fits()); err != nil {
		return reply{}, err
	}
	s.keepReport(r)
	s.workHalf()
	s.updateReport(id, func(now *report) { now.document = r.document })
	shown := r.document
	if sub.resolutions() {
		shown.datasets = []byte("null")
	}
	return r.view(http.StatusCreated, r.fullHeader(), shown), nil
}

// appendSubset adds a subset to what the document held when the work began.
// Two that began alike lose one of theirs.
func (s *Service) appendSubset(r *report, p part) (reply, error) {
	d := r.document
	d.subsets = append(slices.Clone(d.subsets), p)
	s.workHalf()
	if err := p.fits(); err != nil {
		return reply{}, err
	}
	s.updateReport(r.id, func(now *report) { now.parts = append(slices.Clone(now.parts), p) })
	s.workHalf()
	s.updateReport(r.id, func(now *report) { now.document = d })
	return r.view(http.StatusCreated, r.fullHeader(), d), nil
}

// replaceSubsets is a compressed PUT: the subsets that were there go first, and
// what there is to refuse is refused after that.
func (s *Service) replaceSubsets(account *Account, r *report, sub *submission, refused error) (reply, error) {
	d := blob{datasets: []byte("[]"), subsets: []part{sub.part}}
	long := sub.part.fits()
	if long != nil || sub.badRelease() != nil {
		d.subsets = nil
	}
	refused = cmp.Or(refused, long, sub.fits())
	s.workHalf()
	s.updateReport(r.id, func(now *report) {
		now.parts = slices.Clone(d.subsets)
		if refused == nil {
			now.header = now.merged(sub)
		}
	})
	s.workHalf()
	s.updateReport(r.id, func(now *report) { now.document = d })
	if refused != nil {
		return reply{}, refused
	}
	return r.view(http.StatusOK, r.sentHeader(account, sub), d), nil
}

// replaceDatasets is a plain PUT. The subsets stay as they were, stale or not.
func (s *Service) replaceDatasets(account *Account, r *report, sub *submission) (reply, error) {
	d := blob{datasets: sub.storedDatasets(), subsets: r.document.subsets}
	if err := sub.fits(); err != nil {
		return reply{}, err
	}
	s.workHalf()
	s.updateReport(r.id, func(now *report) { now.header = now.merged(sub) })
	s.workHalf()
	s.updateReport(r.id, func(now *report) { now.document = d })
	return r.view(http.StatusOK, r.sentHeader(account, sub), d), nil
}
