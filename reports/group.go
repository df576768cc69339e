package reports

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// A Row is one count in the form of a table or database: how often a dataset was used, by
// metric, access method and country. [Group] makes datasets of rows.
type Row struct {
	DOI string // bare, or in any form that people paste

	// The next five describe the dataset. Some rows may lack them: the first text of each
	// is used.
	Title     string
	YOP       string // year of publication
	URI       string
	Platform  string
	Publisher string

	Date    Date       // the day of the count, or any day of the month for a count of the whole month
	Metric  MetricType // what is counted
	Access  AccessMethod
	Country string // two letters, in any case; "" if unknown
	Count   int64

	File string // for messages; "" if the row is in no file
	Line int    // of the file; 0 means the number of the row

	// Err is what the source of the row found wrong with it, such as a cell that is not a
	// number: a fault of the row, like those that Group finds.
	Err error
}

// GroupOptions are the optional settings of [Group].
type GroupOptions struct {
	// Sorted says that rows come in the order of their DOIs, bare, in lower case and
	// compared byte by byte. Then only one dataset is held in memory. A row out of
	// order is an error.
	Sorted bool

	// Period is the reporting period of a report of a part of a month (see [Header.EndOn]). Each performance of
	// that month gets this period, and a row of a later day of the month is a fault. The zero value means whole
	// months.
	Period Period

	// MergeRepeats adds up rows that count the same: the same DOI, date, metric, access
	// method and country. Without it, the second of two such rows is a fault.
	MergeRepeats bool

	// AllowInconsistent accepts inconsistent counts, as SubmitOptions.AllowInconsistent does.
	AllowInconsistent bool

	// LeaveOut is called for each dataset with faulty rows, with its DOI (if the row has one)
	// and the first 100 faults ([datacite.Findings]). If it returns true, the whole dataset is
	// left out, since its counts would be wrong without these rows. If it is nil or returns
	// false, the faults are an error.
	LeaveOut func(error) bool
	// Warn is called for a text that differs from that of an earlier row, and for counts that DOI records will not
	// show as they are, of which Submit warns as well.
	Warn func(datacite.Finding)

	Memory  int    // bytes of rows held in memory; more go to a temporary file; 0 means 64 MiB
	TempDir string // folder for the temporary file; "" means the system's
}

// Group makes datasets of rows: one for each DOI, with a [Performance] for each month, an
// [Instance] for each metric and access method, and the counts of its countries. There may be
// any number of rows, in any order: they are sorted by DOI, so the same rows always make the same
// datasets in the same order.
//
// Each row is checked. The first 100 faults are returned after the last row as a
// [*datacite.ValidationError]; no dataset is yielded after the first fault. With
// GroupOptions.LeaveOut only the datasets with faults are left out. An error of rows ends the
// sequence; a fault that the source finds in a single row belongs in Row.Err.
//
// To add values that rows do not have, such as PublisherID, wrap the sequence. It can be
// ranged over as often as rows can.
func Group(rows iter.Seq2[Row, error], opts *GroupOptions) iter.Seq2[Dataset, error] {
	var o GroupOptions
	if opts != nil {
		o = *opts
	}
	return func(yield func(Dataset, error) bool) {
		g := &grouping{GroupOptions: o}
		if rows == nil {
			yield(Dataset{}, datacite.Invalidf("rows", datacite.CodeMissing, "is nil"))
			return
		}
		if o.Memory < 0 {
			yield(Dataset{}, datacite.Invalidf("GroupOptions.Memory", datacite.CodeLimit, "is negative"))
			return
		}
		checked := g.checked(rows)
		if !o.Sorted {
			checked = g.sorted(checked)
		}
		g.datasets(checked, yield)
	}
}

// A grouping is one pass of Group.
type grouping struct {
	GroupOptions
	faults []datacite.Finding // that stop it
	last   rowDate            // many rows have the same
	doi    rowDOI             // likewise
}

// A rowDate is the date of a row, read.
type rowDate struct {
	text   Date
	day    Date // without a time
	number int  // of the day in its month
	month  int  // since the year 0
	period Period
	err    error
}

func (g *grouping) date(text Date) *rowDate {
	if text != g.last.text || text == "" {
		t, err := text.Time()
		month := t.Year()*12 + int(t.Month()) - 1
		g.last = rowDate{text, Day(t), t.Day(), month, g.period(month), err}
	}
	return &g.last
}

// period is that of the performances of a month.
func (g *grouping) period(month int) Period {
	if month == g.last.month && g.last.text != "" {
		return g.last.period
	}
	p := Month(month/12, time.Month(month%12+1))
	if part, err := g.Period.month(); err == nil && part == p {
		return g.Period
	}
	return p
}

// A checkedRow is a row and what is wrong with it. Its DOI is bare.
type checkedRow struct {
	Row
	key    string // DOI, as all spellings share it
	faults []datacite.Finding
}

// A rowDOI is the DOI of a row, read.
type rowDOI struct {
	text, name, key string
	err             error
}

func (g *grouping) name(text string) *rowDOI {
	if text != g.doi.text || text == "" {
		g.doi = rowDOI{text: text}
		if g.doi.name, g.doi.err = doi.Parse(text); g.doi.err == nil {
			g.doi.key = string(jsonlex.AppendLower(nil, g.doi.name))
		}
	}
	return &g.doi
}

// checked yields the rows that have a DOI, and if a fault is an error, only those without
// faults. A row is valid until the next one. It ends after maxFaults faults.
func (g *grouping) checked(rows iter.Seq2[Row, error]) iter.Seq2[*checkedRow, error] {
	return func(yield func(*checkedRow, error) bool) {
		number, r := 0, &checkedRow{}
		for row, err := range rows {
			number++
			row.Line = cmp.Or(row.Line, number)
			if err != nil {
				yield(nil, err)
				return
			}
			*r = checkedRow{Row: row, faults: datacite.Findings(row.Err)}
			if row.Err != nil && r.faults == nil {
				r.faults = []datacite.Finding{{File: row.File, Line: row.Line, Code: datacite.CodeValue, Reason: row.Err.Error()}}
			}
			r.check(g)
			if r.key == "" || len(r.faults) > 0 && g.LeaveOut == nil {
				g.leaveOut("", r.faults)
			} else if !yield(r, nil) {
				return
			}
			if len(g.faults) >= maxFaults {
				return
			}
		}
	}
}

// leaveOut leaves a dataset out or keeps its faults.
func (g *grouping) leaveOut(doi string, faults []datacite.Finding) {
	if g.LeaveOut != nil && g.LeaveOut(ofDataset(doi, faults)) {
		return
	}
	g.faults = append(g.faults, faults[:min(len(faults), maxFaults-len(g.faults))]...)
}

// check adds the faults of a row, unless its source has found some.
func (r *checkedRow) check(g *grouping) {
	name := g.name(r.DOI)
	if name.err == nil {
		r.DOI, r.key = name.name, name.key
	}
	if len(r.faults) > 0 {
		return
	}
	fault := func(field string, code datacite.Code, format string, args ...any) {
		r.faults = append(r.faults, datacite.Finding{File: r.File, Line: r.Line, Path: field, Code: code,
			Reason: fmt.Sprintf(format, args...)})
	}
	if name.err != nil {
		fault("doi", "doi", "is %.100q, not a DOI such as 10.5072/abc", r.DOI)
	}
	for _, t := range r.Row.texts() {
		if !utf8.ValidString(*t.value) {
			fault(t.field, datacite.CodeEncoding, "is not valid UTF-8")
		}
	}
	switch date := g.date(r.Date); {
	case date.err != nil:
		fault("date", "date", "is %q, not a date YYYY-MM-DD", r.Date)
	case date.day > date.period.EndDate:
		fault("date", "date", "is %s, after the last day of the report, %s", r.Date, date.period.EndDate)
	}
	if !r.Metric.known() {
		fault("metric", datacite.CodeVocabulary, "is %q; the service knows %s", r.Metric, knownMetrics)
	}
	if !r.Access.known() {
		fault("access", datacite.CodeVocabulary, "is %q; the service knows %s", r.Access, knownAccess)
	}
	if r.Country = strings.ToLower(r.Country); r.Country != "" && country.Pair(r.Country) == 0 {
		fault("country", datacite.CodeVocabulary, "is %q, not a country code of two letters", r.Country)
	}
	if r.Count < 0 {
		fault("count", datacite.CodeLimit, "is %d", r.Count)
	}
}

// sorted yields rows in the order of their keys.
func (g *grouping) sorted(rows iter.Seq2[*checkedRow, error]) iter.Seq2[*checkedRow, error] {
	return func(yield func(*checkedRow, error) bool) {
		s := &extsort.Sorter{Memory: cmp.Or(g.Memory, 64<<20), Dir: g.TempDir}
		defer s.Close() // the temporary file is of no further use
		var value []byte
		for r, err := range rows {
			if err == nil {
				value = r.append(value[:0])
				err = s.Add([]byte(r.key), value)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		for value, err := range s.Values() {
			if err != nil {
				yield(nil, fmt.Errorf("reports.Group: sorting: %w", err))
				return
			}
			if !yield(readRow(value), nil) {
				return
			}
		}
	}
}

// datasets yields a dataset for the rows of each key, which follow each other.
func (g *grouping) datasets(rows iter.Seq2[*checkedRow, error], yield func(Dataset, error) bool) {
	var current *group
	next := &group{index: map[countKey]int{}} // has the memory of current, once that is finished
	for r, err := range rows {
		if err != nil {
			yield(Dataset{}, err)
			return
		}
		if current == nil || current.key != r.key {
			if current != nil && r.key < current.key {
				yield(Dataset{}, datacite.Invalid(datacite.Finding{File: r.File, Line: r.Line, Path: "doi",
					Code: datacite.CodeOrder, Reason: fmt.Sprintf(
						"%s comes after %s; sort the rows, or leave GroupOptions.Sorted unset", r.key, current.key)}))
				return
			}
			if !g.finish(current, yield) {
				return
			}
			current = next
			current.begin(r)
		}
		current.add(g, r)
	}
	if g.finish(current, yield) && len(g.faults) > 0 {
		yield(Dataset{}, datacite.Invalid(g.faults...))
	}
}

// finish yields the dataset of a group, if nothing is wrong.
func (g *grouping) finish(current *group, yield func(Dataset, error) bool) bool {
	switch {
	case current == nil:
		return true
	case len(current.faults) > 0:
		g.leaveOut(current.doi, current.faults)
		return true
	case len(g.faults) > 0:
		return true
	}
	d := current.dataset(g)
	if g.Warn != nil {
		v := validator{warn: func(f datacite.Finding) { f.Path = current.doi; g.Warn(f) }}
		v.displayed(&d)
	}
	if !g.AllowInconsistent {
		for _, month := range d.Performance {
			inconsistent(month.Instance, func(reason string) {
				current.fault(datacite.Finding{Path: current.doi + ", " + string(month.Period.BeginDate),
					Code: datacite.CodeInconsistent, Reason: reason})
			})
		}
	}
	if len(current.faults) > 0 {
		g.leaveOut(current.doi, current.faults)
		return true
	}
	return yield(d, nil)
}

// A group is the rows of one DOI.
type group struct {
	key, doi string
	about    Row // has the texts
	places   [5]rowPlace
	counts   []rowCount
	index    map[countKey]int   // in counts
	sum      int64              // of all counts
	sums     map[countKey]int64 // of the counts of each instance; nil if even sum is not too large
	faults   []datacite.Finding // the first maxFaults
}

// begin empties a group for the rows of another DOI.
func (p *group) begin(r *checkedRow) {
	clear(p.index)
	*p = group{key: r.key, doi: r.DOI, counts: p.counts[:0], index: p.index}
}

// A countKey is what rows count: month (from bit 23), metric, access method (20), country (5) and day. It is in the
// order in which a report has them.
type countKey uint64

const (
	countryShift  = 5
	instanceShift = 20
	monthShift    = 23
)

var metricsInOrder = []MetricType{MetricTotalDatasetInvestigations, MetricTotalDatasetRequests,
	MetricUniqueDatasetInvestigations, MetricUniqueDatasetRequests}

// countKey is what a row counts, if it has no faults.
func (g *grouping) countKey(r *Row) countKey {
	date := g.date(r.Date)
	key := countKey(date.month)<<monthShift | countKey(slices.Index(metricsInOrder, r.Metric))<<(instanceShift+1)
	if r.Access == AccessRegular {
		key |= 1 << instanceShift
	}
	key |= countKey(country.Pair(r.Country)) << countryShift
	if !g.MergeRepeats {
		key |= countKey(date.number)
	}
	return key
}

func (k countKey) metric() MetricType { return metricsInOrder[k>>(instanceShift+1)&3] }

func (k countKey) access() AccessMethod {
	if k>>instanceShift&1 == 0 {
		return AccessMachine
	}
	return AccessRegular
}

// country is "" if it is unknown.
func (k countKey) country() string {
	code, _ := country.Code([]byte{byte(k >> (countryShift + 8) & 0x7f), byte(k >> countryShift)})
	return code
}

// A rowCount is how often something was counted, first in the row at place.
type rowCount struct {
	countKey
	n     int64
	place rowPlace
}

// A rowPlace is where a row is. It becomes text only in a message.
type rowPlace struct {
	file string
	line int
}

func (r *Row) place() rowPlace { return rowPlace{r.File, r.Line} }

func (p rowPlace) String() string {
	if p.file == "" {
		return fmt.Sprint("line ", p.line)
	}
	return fmt.Sprintf("%s, line %d", p.file, p.line)
}

func (p *group) add(g *grouping, r *checkedRow) {
	if len(r.faults) > 0 {
		p.fault(r.faults...)
		return
	}
	p.describe(g, &r.Row)
	key := g.countKey(&r.Row)
	i, again := p.index[key]
	if again && !g.MergeRepeats {
		p.fault(datacite.Finding{File: r.File, Line: r.Line, Code: "repeated",
			Reason: fmt.Sprintf("counts what %s of %s counts already", p.counts[i].place, p.doi), Err: ErrRepeated})
		return
	}
	if !p.fits(key, r.Count) {
		p.fault(datacite.Finding{File: r.File, Line: r.Line, Path: "count", Code: "limit",
			Reason: fmt.Sprintf("makes a sum of more than %d", int64(math.MaxInt64))})
		return
	}
	if !again {
		i, p.index[key] = len(p.counts), len(p.counts)
		p.counts = append(p.counts, rowCount{key, 0, r.place()})
	}
	p.counts[i].n += r.Count
}

// fits adds to the count of an instance, over countries and days, unless it would be too large.
func (p *group) fits(key countKey, n int64) bool {
	if p.sums == nil && n <= math.MaxInt64-p.sum {
		p.sum += n
		return true
	}
	if p.sums == nil {
		p.sums = map[countKey]int64{}
		for _, c := range p.counts {
			p.sums[c.countKey>>instanceShift] += c.n
		}
	}
	before := p.sums[key>>instanceShift]
	if n > math.MaxInt64-before {
		return false
	}
	p.sums[key>>instanceShift] = before + n
	return true
}

func (p *group) fault(faults ...datacite.Finding) {
	p.faults = append(p.faults, faults[:min(len(faults), maxFaults-len(p.faults))]...)
}

// describe adds the texts that the group does not have yet.
func (p *group) describe(g *grouping, r *Row) {
	have := p.about.texts()
	for i, t := range r.texts() {
		switch {
		case *t.value == "" || *t.value == *have[i].value:
		case *have[i].value == "":
			*have[i].value, p.places[i] = *t.value, r.place()
		case g.Warn != nil:
			g.Warn(datacite.Finding{File: r.File, Line: r.Line, Path: t.field, Code: datacite.CodeConflict,
				Reason: fmt.Sprintf("differs from %s of %s, whose text is taken", p.places[i], p.doi), Warning: true})
		}
	}
}

// dataset adds up the counts. Their order does not depend on that of the rows.
func (p *group) dataset(g *grouping) Dataset {
	d := Dataset{
		Title: p.about.Title, YOP: p.about.YOP, URI: p.about.URI, Platform: p.about.Platform, Publisher: p.about.Publisher,
		DataType: DataTypeDataset, DatasetID: []TypedValue{{TypeDOI, p.doi}},
	}
	slices.SortFunc(p.counts, func(a, b rowCount) int { return cmp.Compare(a.countKey, b.countKey) })
	var month *Performance
	var n *Instance
	before := ^countKey(0)
	for _, c := range p.counts {
		if c.countKey>>monthShift != before>>monthShift {
			d.Performance = append(d.Performance, Performance{Period: g.period(int(c.countKey >> monthShift))})
			month = &d.Performance[len(d.Performance)-1]
			month.Instance = make([]Instance, 0, min(2*len(metricsInOrder), len(p.counts)))
		}
		if c.countKey>>instanceShift != before>>instanceShift {
			month.Instance = append(month.Instance, Instance{MetricType: c.metric(), AccessMethod: c.access()})
			n = &month.Instance[len(month.Instance)-1]
		}
		n.Count += c.n
		if code := c.country(); code != "" {
			if c.countKey>>countryShift != before>>countryShift {
				n.CountryCounts = append(n.CountryCounts, CountryCount{Country: code})
			}
			n.CountryCounts[len(n.CountryCounts)-1].Count += c.n
		}
		before = c.countKey
	}
	return d
}

// A rowText is a text of a row that describes its dataset.
type rowText struct {
	field string
	value *string
}

func (r *Row) texts() [5]rowText {
	return [...]rowText{{"title", &r.Title}, {"yop", &r.YOP}, {"uri", &r.URI}, {"platform", &r.Platform},
		{"publisher", &r.Publisher}}
}

// strings are all texts of a row.
func (r *checkedRow) strings() []*string {
	return []*string{
		&r.key, &r.DOI, &r.Title, &r.YOP, &r.URI, &r.Platform, &r.Publisher,
		(*string)(&r.Date), (*string)(&r.Metric), (*string)(&r.Access), &r.Country, &r.File,
	}
}

// append appends the row as [readRow] reads it.
func (r *checkedRow) append(dst []byte) []byte {
	text := func(s string) { dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...) }
	for _, s := range r.strings() {
		text(*s)
	}
	dst = binary.AppendVarint(binary.AppendVarint(dst, r.Count), int64(r.Line))
	for _, f := range r.faults {
		text(f.File)
		text(f.Path)
		text(string(f.Code))
		text(f.Reason)
		dst = binary.AppendVarint(binary.AppendVarint(dst, int64(f.Line)), int64(f.Column))
	}
	return dst
}

func readRow(data []byte) *checkedRow {
	rest := string(data) // the texts are parts of it
	number := func(read func([]byte) (uint64, int)) uint64 {
		n, size := read(data[len(data)-len(rest):])
		rest = rest[size:]
		return n
	}
	text := func() (s string) {
		n := number(binary.Uvarint)
		s, rest = rest[:n], rest[n:]
		return s
	}
	r := &checkedRow{}
	for _, s := range r.strings() {
		*s = text()
	}
	signed := func() int64 {
		return int64(number(func(b []byte) (uint64, int) {
			n, size := binary.Varint(b)
			return uint64(n), size
		}))
	}
	r.Count, r.Line = signed(), int(signed())
	for rest != "" {
		r.faults = append(r.faults, datacite.Finding{
			File: text(), Path: text(), Code: datacite.Code(text()), Reason: text(), Line: int(signed()), Column: int(signed()),
		})
	}
	return r
}
