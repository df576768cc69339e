package shown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/reports"
)

// RepairOptions are the optional settings of Repair.
type RepairOptions struct {
	DryRun bool // read and compare, but send nothing

	// Replaces are other reports of the account for the month that count the same usage, such
	// as under an earlier name of the repository. Each is given by its creator or id. Their
	// numbers are replaced by 0. All other reports of the account are left unchanged, and
	// records add their numbers to the wanted ones.
	Replaces []string

	// Warn is called for each finding that does not stop the repair, with the DOI of the
	// dataset ("" for the report). Zeros that Repair adds are not findings.
	Warn func(doi string, f datacite.Finding)

	// Submit says how reports are sent; ID, DryRun, Warn, ZeroDropped, RefuseLower and CompareOthers are set by Repair.
	// RefuseOthers concerns the reports of Repaired.Others.
	Submit  reports.SubmitOptions
	Compare Options // how records are compared; Causes, CreatedBy, Month and LeaveOut are set by Repair
}

// Repaired is the outcome of [Repair].
type Repaired struct {
	Reports []*RepairedReport  // the wanted one first
	Others  []*reports.Summary // other reports of the account for the month with numbers; left unchanged
	Remain  []*Difference      // differences that this repair does not remove, or may not remove
	Found   int                // differences before the repair
}

// A RepairedReport is a report that Repair sends.
type RepairedReport struct {
	ID      string
	Header  reports.Header
	Changes []Change         // numbers that change, by DOI and metric
	Receipt *reports.Receipt // nil if the report was not submitted, as with DryRun

	// Datasets is the number of datasets to store anew; if 0, nothing has to be sent. Datasets that
	// SubmitOptions.MergeRepeats adds up count as they are given, so Submit may then find nothing to send.
	Datasets int
}

// A Change is a new number in a report.
type Change struct {
	DOI    string
	Metric Metric
	// Was is the number in the stored report; if no report has it, as the record shows it: of several such
	// numbers of a DOI, the greatest.
	Was   int64
	Now   int64
	Cause datacite.Code // of the difference that it removes; "" if the record would show the reported number unchanged
}

// Repair makes DOI records show the counts of a month: exactly those of the wanted datasets. h is the header of
// their report.
//
// It compares the stored reports of the account for that month with the wanted datasets and with the numbers of
// records. Then it submits the wanted datasets as [reports.Client.Submit] does, with a 0 for each number that is
// gone, and zeros in place of the reports of RepairOptions.Replaces. Each difference of the month is either
// removed by a change or listed in Repaired.Remain. A second Repair changes nothing.
//
// Faults are a [*datacite.ValidationError], like those of Submit. If a submission fails, its error is returned
// together with the reports sent until then; run Repair again to continue. If another account has stored a report
// of the same name, the error matches [datacite.ErrConflict]; if a name in Replaces has no report, it matches
// [datacite.ErrNotFound]. The package documentation has the details ("Repair").
func Repair(ctx context.Context, r *reports.Client, d *dois.Client, account string, h reports.Header,
	wanted iter.Seq2[reports.Dataset, error], opts *RepairOptions) (*Repaired, error) {
	m := &repair{reports: r, dois: d, account: account, month: headerMonth(&h), opts: *cmp.Or(opts, &RepairOptions{})}
	switch {
	case ctx == nil:
		return nil, transport.ErrNilContext
	case r == nil || d == nil:
		return nil, datacite.Invalidf("Repair", datacite.CodeMissing,
			"needs a client for reports and a client for DOIs; one of them is nil")
	case wanted == nil:
		return nil, datacite.Invalidf("wanted", datacite.CodeMissing, "is nil")
	case m.month == "" || m.month != shownMonth(&h):
		return nil, datacite.Invalidf("Header.ReportingPeriod", datacite.CodeDate,
			"begins on %q, which is not a day of a month", h.ReportingPeriod.BeginDate)
	case account == "":
		return nil, datacite.Invalidf("account", datacite.CodeMissing,
			`is empty; give the repository account, such as "example.repo"`)
	}
	for i, name := range m.opts.Replaces {
		if strings.TrimSpace(name) == "" {
			return nil, datacite.Invalidf(fmt.Sprintf("RepairOptions.Replaces[%d]", i), datacite.CodeMissing,
				"is blank")
		}
	}
	m.done = &Repaired{}
	m.own = newPlan(h)
	var err error
	if m.own.wanted, err = extsort.CreateTemp(m.opts.Submit.TempDir); err != nil {
		return nil, fmt.Errorf("shown.Repair: no temporary file can be created (SubmitOptions.TempDir): %w", err)
	}
	defer extsort.RemoveTemp(m.own.wanted)
	if err := m.own.keep(wanted); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{m.findReports, m.readStored, m.compare, m.rehearse} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if m.opts.DryRun {
		return m.done, nil
	}
	return m.done, m.submit(ctx)
}

// A repair is one call of Repair.
type repair struct {
	reports *reports.Client
	dois    *dois.Client
	account string
	month   string
	opts    RepairOptions

	own      *plan
	replaced []*plan
	others   []*plan // left as they are
	found    []*Difference
	done     *Repaired
}

func (m *repair) plans() []*plan { return append([]*plan{m.own}, m.replaced...) }

// findReports finds the reports of the month: the one that is to be stored, those that it
// replaces, and others.
func (m *repair) findReports(ctx context.Context) error {
	same := collate.New(language.Und, collate.Loose) // as the service's database compares names
	isOwn := func(s *reports.Summary) bool {
		return !m.own.stored && same.CompareString(strings.TrimSpace(s.Header.CreatedBy),
			strings.TrimSpace(m.own.header.CreatedBy)) == 0
	}
	list := func(o *reports.ListOptions, f func(*reports.Summary)) error {
		for s, err := range m.reports.All(ctx, o) {
			if err != nil {
				return err
			}
			if shownMonth(&s.Header) == m.month {
				f(s)
			}
		}
		return nil
	}
	used := map[string]bool{}
	err := list(&reports.ListOptions{ClientID: m.account}, func(s *reports.Summary) {
		at := slices.IndexFunc(m.opts.Replaces, func(name string) bool {
			return name == s.Header.CreatedBy || strings.EqualFold(name, s.ID)
		})
		if isOwn(s) {
			m.own.is(s)
			return
		}
		p := newPlan(s.Header)
		p.header.Created = m.own.header.Created
		p.is(s)
		if at < 0 {
			m.others = append(m.others, p)
			return
		}
		m.replaced = append(m.replaced, p)
		used[m.opts.Replaces[at]] = true
	})
	if err != nil {
		return err
	}
	for i, name := range m.opts.Replaces {
		if !used[name] {
			return fmt.Errorf("shown.Repair: %w: RepairOptions.Replaces[%d] is %q, which is neither the creator nor the id of "+
				"another report of %s for %s", datacite.ErrNotFound, i, name, m.account, m.month)
		}
	}
	foreign := false
	err = list(&reports.ListOptions{CreatedBy: m.own.header.CreatedBy}, func(s *reports.Summary) {
		foreign = foreign || isOwn(s)
	})
	if err == nil && foreign {
		// Without its ID: a service may send anything as one, such as a credential.
		err = fmt.Errorf("shown.Repair: %w: the report of %q for %s is not among those of %s", datacite.ErrConflict,
			m.own.header.CreatedBy, m.month, m.account)
	}
	return err
}

// readStored reads what is stored of the reports, and plans zeros for what they lose.
func (m *repair) readStored(ctx context.Context) error {
	for _, p := range m.plans() {
		if err := m.read(ctx, p); err != nil {
			return err
		}
	}
	var refused []datacite.Finding
	for i, p := range m.others {
		m.others[i] = nil // so that one is held at a time
		if err := m.read(ctx, p); err != nil {
			return err
		}
		if n, example := m.own.shared(p); n > 0 && m.opts.Submit.RefuseOthers {
			refused = append(refused, datacite.Finding{
				Path: "report-datasets", Code: datacite.CodeReportedTwice,
				Reason: fmt.Sprintf("report %s of %.100q has %d of the same numbers for that month, such as one of %s; records "+
					"show the sum", p.id, p.header.CreatedBy, n, example),
			})
		}
		if p.counts() {
			m.done.Others = append(m.done.Others, &reports.Summary{ID: p.id, Header: p.header})
		}
	}
	return datacite.Invalid(refused...)
}

func (m *repair) read(ctx context.Context, p *plan) error {
	if !p.stored {
		return nil
	}
	err := again(ctx, func() error {
		p.forget()
		return eachDataset(ctx, m.reports, p.id, p.had)
	})
	if err != nil {
		return err
	}
	return p.settle()
}

// compare finds the differences of the month, and plans zeros for numbers that no report has.
func (m *repair) compare(ctx context.Context) error {
	opts := m.opts.Compare
	opts.Month, opts.Causes, opts.CreatedBy, opts.LeaveOut = m.month, nil, "", nil
	var even []*Difference
	for d, err := range compare(ctx, m.reports, m.dois, m.account, &opts, func(d *Difference) { even = append(even, d) }) {
		if err != nil {
			return err
		}
		m.found = append(m.found, d)
	}
	for _, d := range slices.Concat(m.found, even) {
		if len(d.surplus) == 0 || d.surplus[0] == 0 && len(m.replaced) == 0 {
			continue // a 0 is harmless, unless one report takes the numbers of another
		}
		if err := m.replace(ctx, d); err != nil {
			return err
		}
	}
	return m.own.full()
}

// replace plans numbers in place of entries that no stored report makes, in all reports that may
// have made them.
func (m *repair) replace(ctx context.Context, d *Difference) error {
	for _, p := range m.plans() {
		if !p.owns(d) {
			continue
		}
		if p.targets[d.DOI] == nil {
			about, err := m.describe(ctx, p, d.DOI)
			if err != nil {
				return err
			}
			p.describe(d.DOI, about)
		}
		p.replace(d)
	}
	return nil
}

// describe makes a dataset of what the record says of it.
func (m *repair) describe(ctx context.Context, p *plan, name string) (*reports.Dataset, error) {
	r, err := m.dois.Get(ctx, name, nil)
	switch {
	case transport.NotFound(err), errors.Is(err, datacite.ErrInvalidDOI): // a name that no address can have
		r = &dois.Record{}
	case err != nil:
		return nil, fmt.Errorf("shown.Repair: the title of %s, which gets a 0: %w", name, err)
	}
	return &reports.Dataset{
		Title: cmp.Or(r.Title(), name), Platform: p.header.CreatedBy, Publisher: cmp.Or(r.Publisher.Name, p.header.CreatedBy),
		DataType:  reports.DataTypeDataset,
		DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: name}},
	}, nil
}

// rehearse finds out what is going to change, and what remains. With DryRun it checks the
// reports as they would be sent.
func (m *repair) rehearse(ctx context.Context) error {
	for _, p := range m.plans() {
		one := &RepairedReport{ID: p.id, Header: p.header, Changes: p.changes()}
		counted := p.counted(&one.Datasets)
		var err error
		if m.opts.DryRun {
			_, err = m.send(ctx, p, counted)
		} else {
			for _, err = range counted {
				if err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
		m.done.Reports = append(m.done.Reports, one)
	}
	m.done.Found = len(m.found)
	for _, d := range m.found {
		if m.remains(d) {
			m.done.Remain = append(m.done.Remain, d)
		}
	}
	return nil
}

// sent returns the report that is sent under an id; nil if none is, or it is as it was, or may be
// when Submit has merged its repeats.
func (m *repair) sent(id string) *RepairedReport {
	for _, one := range m.done.Reports {
		if one.ID == id && one.Datasets > 0 && !(id == m.own.id && m.own.repeats) {
			return one
		}
	}
	return nil
}

// remains reports whether a number may still differ when the service has read what is sent.
func (m *repair) remains(d *Difference) bool {
	i, own, onlyTotals := slices.Index(metrics[:], d.Metric), count{}, false
	if t := m.own.targets[d.DOI]; t != nil {
		own = t.counts[i]
		onlyTotals = own.total && !own.has && !slices.ContainsFunc(t.counts[:], func(c count) bool {
			return c.has && !c.apart
		})
	}
	if m.own.hidden[d.DOI] || own.has && !own.certain || onlyTotals {
		return true
	}
	counting := 0 // reports with a number
	if own.now != 0 {
		counting++
	}
	for _, s := range d.shares {
		at := slices.IndexFunc(m.plans(), func(p *plan) bool { return p.id == s.report && !p.empty() })
		switch {
		case at < 0 && s.counts && s.hidden:
			return true
		case at < 0 && s.counts:
			counting++
		case at == 0 && slices.ContainsFunc(s.misattributed, func(name string) bool {
			t := m.own.targets[name]
			return t != nil && t.counts[i].now != 0
		}):
			return true
		}
	}
	switch {
	case counting > 1 || m.keeps(d):
		return true
	case d.Cause == datacite.CodeNoRecord:
		return counting > 0
	case d.Cause == datacite.CodeLost, d.Cause == datacite.CodeNotProcessed:
		return slices.ContainsFunc(d.Reports, func(id string) bool { return m.sent(id) == nil })
	}
	return false
}

// keeps reports whether the record may keep entries that no stored report makes: those of a
// report that is not sent, more than the sent ones can have made, each of them one, and those of
// which only the next comparison can tell.
func (m *repair) keeps(d *Difference) bool {
	shown := len(d.surplus) // without zeros, which come last
	for shown > 0 && d.surplus[shown-1] == 0 {
		shown--
	}
	left := slices.ContainsFunc(d.owners, func(id string) bool { return m.sent(id) == nil })
	return d.old > 0 && len(d.owners) > 0 || shown > 0 && (left || shown > len(d.owners))
}

// submit sends the wanted report first: if the service refuses it, no other report is changed.
func (m *repair) submit(ctx context.Context) error {
	for i, p := range m.plans() {
		var err error
		if m.done.Reports[i].Receipt, err = m.send(ctx, p, p.datasets()); err != nil {
			return err
		}
	}
	return nil
}

// send submits a plan, or checks it. A report without datasets, which shows nothing, is not sent.
func (m *repair) send(ctx context.Context, p *plan,
	datasets iter.Seq2[reports.Dataset, error]) (*reports.Receipt, error) {
	if p.empty() {
		return nil, nil
	}
	opts := m.opts.Submit
	opts.DryRun, opts.ID, opts.ZeroDropped = m.opts.DryRun, p.id, true
	opts.RefuseLower, opts.CompareOthers, opts.RefuseOthers = false, false, false
	opts.Warn = func(f datacite.Finding) {
		if name, ours := p.about(f.Path); !ours && m.opts.Warn != nil {
			m.opts.Warn(name, f)
		}
	}
	return m.reports.Submit(ctx, p.header, datasets, &opts)
}
