package shown

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/tempfile"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/reports"
)

// RepairOptions are the optional settings of Repair.
type RepairOptions struct {
	DryRun bool // read and compare, but send nothing

	// Replaces are other reports of the account for the month that count the same usage, such
	// as under an earlier name of the repository: their creators or ids. Their numbers are
	// replaced by 0. All other reports of the account are left as they are, and records add
	// their numbers to the wanted ones.
	Replaces []string

	// Warn is called for each finding that stops nothing, with the DOI of the dataset ("" for
	// the report). Zeros that Repair adds are no findings.
	Warn func(doi string, f datacite.Finding)

	Submit  reports.SubmitOptions // how reports are sent; ID, Warn, ZeroDropped, RefuseLower and CompareOthers are set by Repair
	Compare Options               // how records are compared; Causes, CreatedBy, Month and LeaveOut are set by Repair
}

// Repaired is the outcome of [Repair].
type Repaired struct {
	Reports []*RepairedReport  // the wanted one first
	Others  []*reports.Summary // other reports of the account for the month with numbers: left as they are
	Remain  []*Difference      // which nothing of this mends, or may not
	Found   int                // differences before the repair
}

// A RepairedReport is a report that Repair sends.
type RepairedReport struct {
	ID       string
	Header   reports.Header
	Changes  []Change         // of numbers, by DOI and metric
	Datasets int              // that are not stored as they should be; if 0, nothing has to be sent
	Receipt  *reports.Receipt // nil if the report was not submitted, as with DryRun
}

// A Change is a number that a report gets.
type Change struct {
	DOI    string
	Metric Metric
	Was    int64 // in the stored report; for Left and Unreported, what the record shows beyond all reports
	Now    int64
	Cause  Cause // of the difference that it mends; "" for a number that the record would show as it was reported
}

// Repair makes DOI records show what was counted in a month: exactly the wanted datasets. The
// header is that of their report.
//
// It compares the stored reports of the account for that month with the wanted datasets and
// with what records show. Then it submits
//
//   - the wanted datasets, as [reports.Client.Submit] does, with a 0 for each number that
//     they lack and that the stored report has, or that a record shows though no report
//     has it any more (Left);
//   - for each report of RepairOptions.Replaces zeros in place of all its numbers, under
//     its own header, so that records do not show the sum (ReportedTwice).
//
// What cannot be mended in this way is in Repaired.Remain: each difference of the month is
// mended by a change, or is there. A report that is stored as it should be is not sent again,
// so a second Repair changes nothing. Records follow when the service has read the reports.
// Until then their differences are NotProcessed, or Lost if the reports are old, and remain.
//
// A 0 of views beside downloads cannot be: without Submit.AllowImpossible it is a fault.
//
// With DryRun nothing is sent, and the outcome is the same but for the receipts. Faults are a [*datacite.ValidationError], as those of Submit. Only the
// numbers that Submit knows from its LockDir alone, of records of other accounts, are not
// known in a rehearsal; Receipt.Zeros includes them.
//
// Repair reads wanted to its end, into a temporary file, before the first request. It holds
// the numbers of the month in memory, about 200 bytes for each DOI, and the datasets that get
// zeros.
//
// If a submission fails, what was sent until then is returned with the error, which is that
// of Submit. Run Repair again to continue. A report of the same name that another account
// has stored is [datacite.ErrConflict]; a name of Replaces without a
// report, [datacite.ErrNotFound].
func Repair(ctx context.Context, r *reports.Client, d *dois.Client, account string, h reports.Header, wanted iter.Seq2[reports.Dataset, error], opts *RepairOptions) (*Repaired, error) {
	m := &repair{reports: r, dois: d, account: account, month: headerMonth(h), opts: *cmp.Or(opts, &RepairOptions{})}
	switch {
	case ctx == nil:
		return nil, transport.ErrNilContext
	case r == nil || d == nil:
		return nil, datacite.Invalid(datacite.Finding{Path: "Repair", Code: "missing", Reason: "needs a client for reports and a client for DOIs; one of them is nil"})
	case wanted == nil:
		return nil, datacite.Invalid(datacite.Finding{Path: "wanted", Code: "missing", Reason: "is nil"})
	case m.month == "" || m.month != shownMonth(h):
		return nil, datacite.Invalid(datacite.Finding{Path: "Header.ReportingPeriod", Code: "date", Reason: fmt.Sprintf("begins on %q, which is not a day of a month", h.ReportingPeriod.BeginDate)})
	case account == "":
		return nil, datacite.Invalid(datacite.Finding{Path: "account", Code: "missing", Reason: `is empty; give the repository account, such as "example.repo"`})
	}
	for i, name := range m.opts.Replaces {
		if strings.TrimSpace(name) == "" {
			return nil, datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("RepairOptions.Replaces[%d]", i), Code: "missing", Reason: "is blank"})
		}
	}
	m.done = &Repaired{}
	m.own = newPlan(h)
	var err error
	if m.own.wanted, err = tempfile.Create(m.opts.Submit.TempDir); err != nil {
		return nil, fmt.Errorf("shown.Repair: no temporary file can be created (SubmitOptions.TempDir): %w", err)
	}
	defer tempfile.Remove(m.own.wanted)
	for _, step := range []func(context.Context) error{
		func(context.Context) error { return m.own.keep(wanted) }, m.findReports, m.readStored, m.compare, m.settle,
	} {
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

	about    string // the DOI of the dataset that is being checked
	adds     int    // the first of its instances that is a zero of the repair
	own      *plan
	replaced []*plan
	others   []*plan // left as they are
	found    []*Difference
	done     *Repaired
}

// A plan is a report as it is to be stored.
type plan struct {
	id     string
	header reports.Header
	stored bool
	packed bool // the stored one is compressed, as Submit sends reports

	added   int                // zeros in the dataset that datasets yielded last
	lines   int                // of the file
	wanted  *os.File           // its datasets as lines of JSON; nil for zeros only
	target  map[string]*counts // of the wanted datasets, and zeros
	before  map[string]*counts // of the stored report
	about   map[string][]byte  // datasets for zeros, as JSON without counts
	causes  map[string]*[len(metrics)]surplus
	content map[[sha256.Size]byte]int // of the stored datasets, as JSON: how often
}

// surplus is what a record shows beyond all reports.
type surplus struct {
	cause Cause
	n     int64
}

// counts are those of a DOI, by number of the metric.
type counts [len(metrics)]struct {
	has     bool
	zero    bool // no dataset has it, so it gets a 0
	certain bool // the record will show it
	n       int64
}

func newPlan(h reports.Header) *plan {
	return &plan{
		id: reports.DeriveID(h), header: h, target: map[string]*counts{}, before: map[string]*counts{},
		about: map[string][]byte{}, causes: map[string]*[len(metrics)]surplus{}, content: map[[sha256.Size]byte]int{},
	}
}

// is says which report is stored.
func (p *plan) is(s *reports.Summary) {
	p.id, p.stored = s.ID, true
	p.packed = slices.ContainsFunc(s.Header.Exceptions, func(e reports.Exception) bool { return e.Code == reports.CodeCompressed })
}

// of returns the counts of a DOI, which it adds if they are missing.
func of[V any](all map[string]*V, name string) *V {
	if all[name] == nil {
		all[name] = new(V)
	}
	return all[name]
}

// addUp adds the numbers of a dataset, under the name that the service reads.
func addUp(to map[string]*counts, h reports.Header, d *reports.Dataset) (name string) {
	made := reports.ShownBy(h, []reports.Dataset{*d})[0]
	for i, n := range [...]reports.Number{made.Views, made.Downloads} {
		if made.DOI == "" || len(n.Values) == 0 && n.Reported == 0 {
			continue
		}
		c := &of(to, made.Name)[i]
		c.certain = !c.has && len(n.Values) == 1 && n.Values[0] == n.Reported
		c.has, c.n = true, c.n+n.Reported
	}
	return made.Name
}

// keep reads the wanted datasets into the file.
func (p *plan) keep(wanted iter.Seq2[reports.Dataset, error]) error {
	w := bufio.NewWriterSize(p.wanted, 64<<10)
	lines := json.NewEncoder(w)
	for d, err := range wanted {
		if err != nil {
			return err
		}
		d.DatasetID = readable(p.header, &d)
		addUp(p.target, p.header, &d)
		p.lines++
		if err := lines.Encode(&d); err != nil {
			return fmt.Errorf("shown.Repair: a temporary file: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("shown.Repair: a temporary file: %w", err)
	}
	return nil
}

// readable has the identifiers of a dataset so that the service finds the DOI, as Submit
// sends them.
func readable(h reports.Header, d *reports.Dataset) []reports.TypedValue {
	made := reports.ShownBy(h, []reports.Dataset{*d})[0]
	name := meant(d, &made)
	if made.DOI != "" || name == "" {
		return d.DatasetID
	}
	bare := *d
	bare.DatasetID = []reports.TypedValue{{Type: reports.TypeDOI, Value: name}}
	if reports.ShownBy(h, []reports.Dataset{bare})[0].DOI == "" {
		return d.DatasetID
	}
	rest := slices.DeleteFunc(slices.Clone(d.DatasetID), func(v reports.TypedValue) bool {
		one := reports.Dataset{DatasetID: []reports.TypedValue{v}}
		return v.Type == reports.TypeDOI && meant(&one, &reports.Shown{}) == name
	})
	return append(bare.DatasetID, rest...)
}

// check returns a function that finds what Submit would find in the datasets of a plan. A
// rehearsal does not call Submit.
func (m *repair) check(p *plan) func(*reports.Dataset) error {
	h, o, at := p.header, &m.opts.Submit, -1
	h.Exceptions = append(slices.Clone(h.Exceptions), reports.Exception{Code: reports.CodeCompressed, Severity: "warning", Message: "Report is compressed using gzip", HelpURL: "https://github.com/datacite/sashimi", Data: "usage data needs to be uncompressed"})
	seen := map[string]bool{}
	return func(d *reports.Dataset) error {
		at++
		var faults []datacite.Finding
		one := reports.Report{Header: h, Datasets: []reports.Dataset{*d}}
		for _, f := range one.Findings() {
			f.Path = strings.Replace(f.Path, "report-datasets[0]", fmt.Sprintf("report-datasets[%d]", at), 1)
			switch {
			case !f.Warning || f.Code == "inconsistent" && !o.AllowImpossible:
				f.Warning = false
				faults = append(faults, f)
			case at == 0 || strings.HasPrefix(f.Path, "report-datasets["):
				m.warn(f)
			}
		}
		name := reports.ShownBy(h, one.Datasets)[0].Name
		if name != "" && seen[name] && !o.MergeRepeats {
			faults = append(faults, datacite.Finding{Path: fmt.Sprintf("report-datasets[%d].dataset-id", at), Code: "repeated", Reason: fmt.Sprintf("is %.100q again", name)})
		}
		seen[name] = true
		return datacite.Invalid(faults...)
	}
}

// warn passes a finding on. Submit finds something of a dataset while it reads it.
func (m *repair) warn(f datacite.Finding) {
	_, field, ofDataset := strings.Cut(f.Path, "].")
	if ofDataset = ofDataset && strings.HasPrefix(f.Path, "report-datasets["); ofDataset {
		var at int
		if n, _ := fmt.Sscanf(field, "performance[0].instance[%d]", &at); n == 1 && at >= m.adds {
			return
		}
	}
	switch {
	case m.opts.Warn == nil:
	case ofDataset:
		m.opts.Warn(m.about, f)
	default:
		m.opts.Warn("", f)
	}
}

// told yields the datasets of a plan, each as the one that is being checked.
func (m *repair) told(p *plan) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for d, err := range p.datasets() {
			m.about, m.adds = "", 0
			if len(d.DatasetID) > 0 {
				m.about = d.DatasetID[0].Value
			}
			if err == nil && len(d.Performance) > 0 {
				m.adds = len(d.Performance[0].Instance) - p.added
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// findReports finds the reports of the month: the one that is to be stored, those that it
// replaces, and others.
func (m *repair) findReports(ctx context.Context) error {
	same := collate.New(language.Und, collate.Loose) // as the service's database compares names
	isOwn := func(s *reports.Summary) bool {
		return same.CompareString(strings.TrimSpace(s.Header.CreatedBy), strings.TrimSpace(m.own.header.CreatedBy)) == 0
	}
	list := func(o *reports.ListOptions, f func(*reports.Summary)) error {
		for s, err := range m.reports.All(ctx, o) {
			if err != nil {
				return err
			}
			if shownMonth(s.Header) == m.month {
				f(s)
			}
		}
		return nil
	}
	used := map[string]bool{}
	err := list(&reports.ListOptions{ClientID: m.account}, func(s *reports.Summary) {
		at := slices.IndexFunc(m.opts.Replaces, func(name string) bool { return name == s.Header.CreatedBy || strings.EqualFold(name, s.ID) })
		switch {
		case isOwn(s) && !m.own.stored:
			m.own.is(s)
		case at >= 0:
			p := newPlan(s.Header)
			p.is(s)
			m.replaced = append(m.replaced, p)
			used[m.opts.Replaces[at]] = true
		default:
			p := newPlan(s.Header)
			p.is(s)
			m.others = append(m.others, p)
		}
	})
	if err != nil {
		return err
	}
	for i, name := range m.opts.Replaces {
		if !used[name] {
			return fmt.Errorf("shown.Repair: %w: RepairOptions.Replaces[%d] is %q, which is neither the creator nor the id of another report of %s for %s", datacite.ErrNotFound, i, name, m.account, m.month)
		}
	}
	var foreign *reports.Summary
	err = list(&reports.ListOptions{CreatedBy: m.own.header.CreatedBy}, func(s *reports.Summary) {
		if isOwn(s) && !m.own.stored {
			foreign = s
		}
	})
	if err == nil && foreign != nil {
		err = fmt.Errorf("shown.Repair: %w: report %s of %q for %s is not among those of %s", datacite.ErrConflict, foreign.ID, foreign.Header.CreatedBy, m.month, m.account)
	}
	return err
}

// readStored reads what is stored of the reports, and plans zeros for what they lose.
func (m *repair) readStored(ctx context.Context) error {
	for _, p := range m.plans() {
		if !p.stored {
			continue
		}
		if err := m.read(ctx, p); err != nil {
			return err
		}
	}
	for i, p := range m.others {
		m.others[i] = nil // so that one is held at a time
		if err := m.read(ctx, p); err != nil {
			return err
		}
		for _, c := range p.before {
			if c[0].n != 0 || c[1].n != 0 {
				m.done.Others = append(m.done.Others, &reports.Summary{ID: p.id, Header: p.header})
				break
			}
		}
	}
	return nil
}

func (m *repair) read(ctx context.Context, p *plan) error {
	return again(ctx, func() error {
		clear(p.before)
		clear(p.content)
		return m.scan(ctx, p)
	})
}

func (m *repair) scan(ctx context.Context, p *plan) error {
	stored, err := m.reports.Open(ctx, p.id)
	if err != nil {
		return err
	}
	defer stored.Close()
	for d, err := range stored.Scan() {
		if err != nil {
			return err
		}
		p.had(d)
	}
	return nil
}

func (m *repair) plans() []*plan { return append([]*plan{m.own}, m.replaced...) }

// had adds a stored dataset.
func (p *plan) had(d *reports.Dataset) {
	text, err := json.Marshal(d)
	if err == nil && p.packed { // else it differs from all that can be sent
		p.content[sha256.Sum256(text)]++
	}
	now := map[string]*counts{}
	name := addUp(now, p.header, d)
	for i := range metrics {
		if now[name] == nil || !now[name][i].has {
			continue
		}
		c := &of(p.before, name)[i]
		c.has, c.n = true, c.n+now[name][i].n
		if p.target[name] == nil {
			about := *d
			about.DatasetID, about.Performance = d.DatasetID[:1], nil
			p.about[name], _ = json.Marshal(&about) // what was read from JSON can be written
		}
		p.zero(name, i)
	}
}

// zero plans a 0, unless there is a number.
func (p *plan) zero(name string, metric int) {
	if c := &of(p.target, name)[metric]; !c.has {
		c.has, c.zero, c.certain = true, true, true
	}
}

// compare finds the differences of the month, and plans zeros for numbers that no report has.
func (m *repair) compare(ctx context.Context) error {
	opts := m.opts.Compare
	opts.Month, opts.Causes, opts.CreatedBy, opts.LeaveOut = m.month, nil, "", nil
	for d, err := range Compare(ctx, m.reports, m.dois, m.account, &opts) {
		if err != nil {
			return err
		}
		m.found = append(m.found, d)
		if d.Cause != Left && d.Cause != Unreported {
			continue
		}
		for _, p := range m.plans() {
			if !p.lost(d) {
				continue
			}
			i := slices.Index(metrics[:], d.Metric)
			if p.target[d.DOI] == nil {
				if p.about[d.DOI], err = m.describe(ctx, p, d.DOI); err != nil {
					return err
				}
			}
			p.zero(d.DOI, i)
			of(p.causes, d.DOI)[i] = surplus{d.Cause, d.Shown - d.Expected[len(d.Expected)-1]}
		}
	}
	return nil
}

// lost reports whether a number that no report has may be of an earlier version of this one.
// Before a report is stored, it may be that of a deleted one with the same id.
func (p *plan) lost(d *Difference) bool {
	return d.Cause == Left && slices.Contains(d.Reports, p.id) || !p.stored && (d.Cause == Left || d.Cause == Unreported)
}

// describe makes a dataset of what the record says of it.
func (m *repair) describe(ctx context.Context, p *plan, name string) ([]byte, error) {
	r, err := m.dois.Get(ctx, name, nil)
	switch {
	case errors.Is(err, datacite.ErrNotFound), errors.Is(err, datacite.ErrInvalidDOI): // a name that no address can have
		r = &dois.Record{}
	case err != nil:
		return nil, fmt.Errorf("shown.Repair: the title of %s, which gets a 0: %w", name, err)
	}
	d := &reports.Dataset{
		Title: cmp.Or(r.Title(), name), Platform: p.header.CreatedBy, Publisher: cmp.Or(r.Publisher.Name, p.header.CreatedBy), DataType: reports.DataTypeDataset,
		DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: name}},
	}
	return json.Marshal(d)
}

// datasets yields the datasets to be stored: the wanted ones, then zeros.
func (p *plan) datasets() iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		given := map[string]bool{}
		for d, err := range p.read() {
			if p.added = 0; err == nil {
				p.complete(&d, given)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.about)) {
			var d reports.Dataset
			if err := d.UnmarshalJSON(p.about[name]); err != nil {
				yield(d, fmt.Errorf("shown.Repair: %s: %w", name, err))
				return
			}
			d.Performance = []reports.Performance{{Period: p.header.ReportingPeriod, Instance: p.target[name].zeros()}}
			p.added = len(d.Performance[0].Instance)
			if !yield(d, nil) {
				return
			}
		}
	}
}

// read reads the wanted datasets back.
func (p *plan) read() iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		if p.wanted == nil {
			return
		}
		lines := json.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(p.wanted, 0, 1<<62), 64<<10))
		for {
			var d reports.Dataset
			err := lines.Decode(&d)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = fmt.Errorf("shown.Repair: a temporary file: %w", err)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// complete adds the zeros for numbers that a wanted dataset lacks.
func (p *plan) complete(d *reports.Dataset, given map[string]bool) {
	if len(d.Performance) == 0 {
		return
	}
	name := reports.ShownBy(p.header, []reports.Dataset{*d})[0].Name
	if c := p.target[name]; c != nil && !given[name] {
		if zeros := c.zeros(); zeros != nil {
			given[name], p.added = true, len(zeros)
			d.Performance[0].Instance = append(d.Performance[0].Instance, zeros...)
		}
	}
}

// zeros are the counts that no dataset has.
func (c *counts) zeros() (all []reports.Instance) {
	for i, metric := range [...]reports.MetricType{reports.UniqueDatasetInvestigations, reports.UniqueDatasetRequests} {
		if c[i].zero {
			all = append(all, reports.Instance{MetricType: metric, AccessMethod: reports.Regular})
		}
	}
	return all
}

// settle says what is going to change, and what remains.
func (m *repair) settle(context.Context) error {
	for _, p := range m.plans() {
		one := &RepairedReport{ID: p.id, Header: p.header, Changes: p.changes()}
		check := m.check(p)
		for d, err := range m.told(p) {
			if err == nil && m.opts.DryRun {
				err = check(&d)
			}
			if err != nil {
				return err
			}
			text, err := json.Marshal(&d)
			if err != nil {
				return fmt.Errorf("shown.Repair: %w", err)
			}
			key := sha256.Sum256(text)
			if p.content[key]--; p.content[key] < 0 {
				one.Datasets++
			}
		}
		gone := 0
		for _, n := range p.content { // stored, and not planned
			gone += max(n, 0)
		}
		one.Datasets, p.content = max(one.Datasets, gone), nil
		m.done.Reports = append(m.done.Reports, one)
	}
	m.done.Found = len(m.found)
	for _, d := range m.found {
		if !m.mends(d) {
			m.done.Remain = append(m.done.Remain, d)
		}
	}
	return nil
}

func (p *plan) changes() (all []Change) {
	for _, name := range slices.Sorted(maps.Keys(p.target)) {
		for i, metric := range metrics {
			now := p.target[name][i]
			change := Change{DOI: name, Metric: metric, Now: now.n}
			if was := p.before[name]; was != nil {
				change.Was = was[i].n
			}
			if left := p.causes[name]; left != nil && left[i].cause != "" {
				change.Was, change.Cause = change.Was+left[i].n, left[i].cause
			}
			if now.has && change.Was != change.Now {
				all = append(all, change)
			}
		}
	}
	return all
}

// mends reports whether a difference is gone when the service has read what is sent.
func (m *repair) mends(d *Difference) bool {
	own := m.own.target[d.DOI]
	i := slices.Index(metrics[:], d.Metric)
	wanted := own != nil && own[i].has
	ids := map[string]*RepairedReport{}
	for _, one := range m.done.Reports {
		ids[one.ID] = one
	}
	others := 0
	for _, id := range d.Reports {
		if one := ids[id]; one == nil {
			others++
		}
	}
	switch {
	case wanted && !own[i].certain:
		return false
	case d.Cause == Unreported:
		return false
	case d.Cause == Left:
		return others == 0
	case d.Cause == ReportedTwice:
		return others == 0 || others == 1 && (!wanted || own[i].n == 0)
	case d.Cause == NoRecord, d.Cause == LongDOI:
		return others == 0 && (!wanted || own[i].n == 0 && d.Cause == LongDOI)
	case d.Cause == OtherDOI:
		return others == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(m.own.target)), func(name string) bool {
			rest, found := strings.CutPrefix(name, d.DOI)
			return found && rest != "" && strings.ContainsAny(rest[:1], "#?") && m.own.target[name][i].n != 0
		})
	}
	return others == 0 && slices.ContainsFunc(d.Reports, func(id string) bool { return ids[id].Datasets > 0 })
}

// submit sends the wanted report first: if the service refuses it, no other report is changed.
func (m *repair) submit(ctx context.Context) error {
	for i, p := range m.plans() {
		one := m.done.Reports[i]
		if p.lines+len(p.about) == 0 {
			continue // a report without datasets, which shows nothing
		}
		opts := m.opts.Submit
		opts.ID, opts.ZeroDropped, opts.RefuseLower, opts.CompareOthers, opts.Warn = p.id, true, false, false, m.warn
		var err error
		if one.Receipt, err = m.reports.Submit(ctx, p.header, m.told(p), &opts); err != nil {
			return err
		}
	}
	return nil
}
