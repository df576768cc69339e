package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/stats"
	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

func init() {
	register.DoFn5x1[context.Context, fileio.ReadableFile, func(string, counter.Event), func(string, logs.Description), func([]byte), error](&readFn{})
	register.DoFn4x0[context.Context, string, func(*counter.Event) bool, func(cell, int64)](&countFn{})
	register.DoFn4x1[string, func(*row) bool, func(*logs.Description) bool, func(row), error](&describeFn{})
	register.DoFn4x1[context.Context, int, func(*row) bool, func(*[]byte) bool, error](&writeFn{})
	register.Function2x2(wholeCell)
	register.Function2x2(newRow)
	register.Emitter2[string, counter.Event]()
	register.Emitter2[string, logs.Description]()
	register.Emitter1[[]byte]()
	register.Emitter2[cell, int64]()
	register.Emitter1[row]()
	register.Iter1[counter.Event]()
	register.Iter1[logs.Description]()
	register.Iter1[[]byte]()
	register.Iter1[row]()
	beam.RegisterCoder(reflect.TypeFor[counter.Event](), encodeEvent, decodeEvent)
	beam.RegisterCoder(reflect.TypeFor[logs.Description](), encodeDescription, decodeDescription)
}

// Machines find coders by their names, so they are no generic functions.

func encodeEvent(e counter.Event) ([]byte, error) { return json.Marshal(e) }

func decodeEvent(data []byte) (e counter.Event, err error) { return e, json.Unmarshal(data, &e) }

func encodeDescription(d logs.Description) ([]byte, error) { return json.Marshal(d) }

func decodeDescription(data []byte) (d logs.Description, err error) {
	return d, json.Unmarshal(data, &d)
}

// build adds the steps of the count to a pipeline.
func (j *job) build(s beam.Scope) {
	in := j.read(s, j.logs)
	j.write(s, j.count(s, in.events), in)
}

// input is what is in logs.
type input struct {
	events       beam.PCollection // by counter.Key
	descriptions beam.PCollection // by DOI
	summaries    beam.PCollection // of each log
}

// read reads logs, each of them on one machine.
func (j *job) read(s beam.Scope, logs []string) (in input) {
	matches := fileio.MatchAll(s, beam.CreateList(s, logs), fileio.MatchEmptyDisallow())
	files := fileio.ReadMatches(s, matches, fileio.ReadUncompressed()) // package logs tells by their first bytes
	in.events, in.descriptions, in.summaries = beam.ParDo3(s, &readFn{Rules: j.rules}, beam.Reshuffle(s, files))
	return in
}

// count returns the counts of each user, by cell.
func (j *job) count(s beam.Scope, events beam.PCollection) beam.PCollection {
	return beam.ParDo(s, &countFn{Rules: j.rules}, beam.GroupByKey(s, events))
}

// write adds up the counts and writes the table. The first sum is that of some users,
// the second that of all, so that no machine has to add up all users of a popular
// dataset.
func (j *job) write(s beam.Scope, counts beam.PCollection, in input) {
	counts = stats.SumPerKey(s, counts)
	counts = stats.SumPerKey(s, beam.ParDo(s, wholeCell, counts))
	rows := beam.ParDo(s, &describeFn{}, beam.CoGroupByKey(s, beam.ParDo(s, newRow, counts), in.descriptions))
	beam.ParDo0(s, &writeFn{Rules: j.rules, Table: j.table}, beam.CoGroupByKey(s, beam.AddFixedKey(s, rows), beam.AddFixedKey(s, in.summaries)))
}

// rules are what the machines need to know, as text.
type rules struct {
	Month, Zone              string
	Format, Layout           string
	Investigations, Requests string // regular expressions
	Paths, DOIs, GeoIP       string // names of files
	Proxies                  []netip.Prefix
	Tolerance                logs.Tolerance
	Gap                      time.Duration
}

// options are those of counting.
func (r *rules) options() (*counter.Options, error) {
	month, err := time.Parse("2006-01", r.Month)
	if err != nil {
		return nil, errors.New("-month has to be a month such as 2026-10")
	}
	if r.Zone == "" { // else each month would begin and end at another hour
		return nil, errors.New("-timezone is needed, such as Europe/Berlin or UTC")
	}
	location, err := time.LoadLocation(r.Zone)
	if err != nil {
		return nil, fmt.Errorf("-timezone: %w", err)
	}
	return &counter.Options{Period: reports.Month(month.Year(), month.Month()), Location: location, Summary: &counter.Summary{}}, nil
}

// reading are the format and options of the logs.
func (r *rules) reading(ctx context.Context) (format logs.Format, opts *logs.Options, err error) {
	i := slices.IndexFunc(logs.Formats(), func(f logs.Format) bool { return f.Name == r.Format })
	if i < 0 {
		return format, nil, fmt.Errorf("-log-format is %q, not dataverse, combined or json", r.Format)
	}
	format = logs.Formats()[i]
	of, err := r.options()
	if err != nil {
		return format, nil, err
	}
	opts = &logs.Options{Location: of.Location, Period: of.Period, Layout: r.Layout, Proxies: r.Proxies, Tolerance: r.Tolerance}
	if opts.Paths, err = r.paths(ctx); err != nil {
		return format, nil, err
	}
	if r.GeoIP != "" {
		if opts.Country, err = countries(ctx, r.GeoIP); err != nil {
			return format, nil, fmt.Errorf("-geoip: %s: %w", r.GeoIP, err)
		}
	}
	_, err = format.Parser(opts)
	return format, opts, err
}

// paths are those of datasets; nil if nothing is said about them.
func (r *rules) paths(ctx context.Context) (p *logs.Paths, err error) {
	switch {
	case (r.Investigations == "") != (r.Requests == ""):
		return nil, errors.New("-investigations and -requests belong together")
	case r.Requests != "":
		p = &logs.Paths{Investigations: make([]*regexp.Regexp, 1), Requests: make([]*regexp.Regexp, 1)}
		if p.Investigations[0], err = regexp.Compile(r.Investigations); err != nil {
			return nil, fmt.Errorf("-investigations: %w", err)
		}
		if p.Requests[0], err = regexp.Compile(r.Requests); err != nil {
			return nil, fmt.Errorf("-requests: %w", err)
		}
	case r.Paths == "" && r.DOIs == "":
		return nil, nil
	case r.Format == logs.Dataverse.Name:
		p = logs.DataversePaths()
	default:
		p = &logs.Paths{}
	}
	if r.Paths != "" {
		p.Table = map[string]logs.Target{}
		err = readTable(ctx, r.Paths, []string{"path", "doi", "kind"}, func(cells []string) error {
			name, err := url.PathUnescape(cells[0])
			if err == nil && cells[2] != "investigation" && cells[2] != "request" {
				err = fmt.Errorf("kind is %q, neither investigation nor request", cells[2])
			}
			p.Table[strings.TrimSuffix(name, "/")] = logs.Target{DOI: cells[1], Request: cells[2] == "request"}
			return err
		})
	}
	if err == nil && r.DOIs != "" {
		p.DOIs = map[string]string{}
		err = readTable(ctx, r.DOIs, []string{"name", "doi"}, func(cells []string) error {
			p.DOIs[cells[0]] = cells[1]
			return nil
		})
	}
	return p, err
}

// readTable reads a table with some columns.
func readTable(ctx context.Context, name string, columns []string, add func(cells []string) error) error {
	file, err := open(ctx, name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := csv.NewReader(file)
	in.FieldsPerRecord = len(columns)
	names, err := in.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if names[0] = strings.TrimPrefix(names[0], byteOrderMark); !slices.Equal(names, columns) {
		return fmt.Errorf("%s has the columns %q, not %q", name, names, columns)
	}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := add(cells); err != nil {
			line, _ := in.FieldPos(0)
			return fmt.Errorf("%s, line %d: %w", name, line, err)
		}
	}
}

// countries returns the function that looks up addresses in a database. One of something else is
// refused: a table without countries looks like any other.
func countries(ctx context.Context, name string) (func(address string) (string, error), error) {
	file, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	db, err := maxminddb.OpenBytes(data)
	if err != nil {
		return nil, err
	}
	if kind := db.Metadata.DatabaseType; !strings.Contains(kind, "Country") && !strings.Contains(kind, "City") {
		return nil, fmt.Errorf("is a database of the type %q, not of countries, such as GeoLite2-Country", kind)
	}
	return func(address string) (code string, err error) {
		ip, err := netip.ParseAddr(address)
		if err != nil {
			return "", nil // a pseudonym
		}
		found := db.Lookup(ip)
		err = errors.Join(found.Err(), found.DecodePath(&code, "country", "iso_code"))
		return code, err
	}, nil
}

// open opens a file where the machines see it.
func open(ctx context.Context, name string) (io.ReadCloser, error) {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	file, err := files.OpenRead(ctx, name)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return opened{file, files}, nil
}

// opened is a file that takes its file system with it.
type opened struct {
	io.ReadCloser
	files io.Closer
}

func (o opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.files.Close()) }

// A readFn reads a log.
type readFn struct {
	Rules   rules
	opts    *counter.Options
	format  logs.Format
	reading *logs.Options
}

func (f *readFn) Setup(ctx context.Context) (err error) {
	if f.opts, err = f.Rules.options(); err != nil {
		return err
	}
	f.format, f.reading, err = f.Rules.reading(ctx)
	return err
}

func (f *readFn) ProcessElement(ctx context.Context, file fileio.ReadableFile, event func(string, counter.Event), describe func(string, logs.Description), summary func([]byte)) error {
	from := logs.Log{Name: file.Metadata.Path, Open: func() (io.ReadCloser, error) { return file.Open(ctx) }}
	about := &logs.Descriptions{}
	defer about.Close() // it has been read, or the reading has failed
	lines := logs.Summary{}
	opts := *f.reading
	opts.Summary, opts.Descriptions = &lines, about
	opts.Tolerance = logs.Tolerance{Share: 1} // writeFn decides, when it knows all logs
	for e, err := range logs.Read([]logs.Log{from}, f.format, &opts) {
		if err != nil {
			return err
		}
		counter.CountKey([]counter.Event{e}, f.opts)
		if f.opts.Summary.Robots+f.opts.Summary.NoDataset > 0 {
			tell(ctx, outcomes(*f.opts.Summary)) // it never counts, so it stays here
		} else {
			event(counter.Key(e), e)
		}
	}
	for d, err := range about.All() {
		if err != nil {
			return err
		}
		describe(doi.Key(d.DOI), d)
	}
	data, err := json.Marshal(lines) // a Finding is not among the types that beam sends
	if err == nil {
		summary(data)
	}
	return err
}

// A countFn counts the events of one user and one dataset.
type countFn struct {
	Rules rules
	opts  *counter.Options
}

func (f *countFn) Setup() (err error) {
	f.opts, err = f.Rules.options()
	return err
}

func (f *countFn) ProcessElement(ctx context.Context, key string, next func(*counter.Event) bool, emit func(cell, int64)) {
	var events []counter.Event
	for e := new(counter.Event); next(e); e = new(counter.Event) {
		events = append(events, *e)
	}
	for _, r := range counter.CountKey(events, f.opts) {
		emit(cell{DOI: r.DOI, Metric: string(r.Metric), Access: string(r.Access), Country: r.Country, Part: partOf(key)}, r.Count)
	}
	tell(ctx, outcomes(*f.opts.Summary))
}

// A cell is what a row of the table counts, or the part of it that some users make.
type cell struct {
	DOI, Metric, Access, Country string
	Part                         int64
}

// partOf puts each user into one of 64 parts.
func partOf(key string) int64 {
	hash := fnv.New64a()
	hash.Write([]byte(key))
	return int64(hash.Sum64() % 64)
}

func wholeCell(c cell, n int64) (cell, int64) {
	c.Part = 0
	return c, n
}

// A row is a line of the table.
type row struct {
	DOI, Metric, Access, Country string
	Count                        int64
	Title, Year, URI, Publisher  string
}

// newRow returns a row without a description, by DOI.
func newRow(c cell, n int64) (string, row) {
	return c.DOI, row{DOI: c.DOI, Metric: c.Metric, Access: c.Access, Country: c.Country, Count: n}
}

// A describeFn adds to the rows of a dataset what the last of its lines says about it.
type describeFn struct{}

func (f *describeFn) ProcessElement(doi string, next func(*row) bool, about func(*logs.Description) bool, emit func(row)) error {
	all := &logs.Descriptions{}
	defer all.Close() // it has been read
	for d := new(logs.Description); about(d); d = new(logs.Description) {
		if err := all.Add(*d); err != nil {
			return err
		}
	}
	bare := reports.Dataset{DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: doi}}}
	for d, err := range all.Describe(func(yield func(reports.Dataset, error) bool) { yield(bare, nil) }) {
		if err != nil {
			return err
		}
		for r := new(row); next(r); r = new(row) {
			r.Title, r.Year, r.URI, r.Publisher = d.Title, d.YOP, d.URI, d.Publisher
			emit(*r)
		}
	}
	return nil
}

// A writeFn writes the table, unless the logs are not fit for it.
type writeFn struct {
	Rules rules
	Table string
}

func (f *writeFn) ProcessElement(ctx context.Context, _ int, next func(*row) bool, sums func(*[]byte) bool) (err error) {
	if err := f.check(ctx, sums); err != nil {
		return err
	}
	files, err := filesystem.New(ctx, f.Table)
	if err != nil {
		return err
	}
	defer files.Close()
	file, err := files.OpenWrite(ctx, f.Table)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, byteOrderMark)
	w := csv.NewWriter(file) // it keeps its first error
	_ = w.Write([]string{"doi", "title", "year", "uri", "publisher", "platform", "metric", "access", "country", "count"})
	for r := new(row); next(r); r = new(row) {
		_ = w.Write([]string{r.DOI, inert(r.Title), r.Year, r.URI, inert(r.Publisher), "", r.Metric, r.Access, r.Country, strconv.FormatInt(r.Count, 10)})
	}
	w.Flush()
	return errors.Join(err, w.Error(), file.Close())
}

// byteOrderMark lets spreadsheet programs read the table as UTF-8.
const byteOrderMark = "\ufeff"

// inert returns a text with an apostrophe in front if spreadsheet programs would take it for a formula.
// Programs that read the table remove it.
func inert(text string) string {
	if start := strings.TrimLeft(text, "'"); start != "" && strings.ContainsRune("=+-@\t\r", rune(start[0])) {
		return "'" + text
	}
	return text
}

// check decides about the lines of all logs, and tells of those that are left out.
func (f *writeFn) check(ctx context.Context, next func(*[]byte) bool) error {
	var each []logs.Summary
	for data := new([]byte); next(data); {
		var s logs.Summary
		if err := json.Unmarshal(*data, &s); err != nil {
			return err
		}
		each = append(each, s)
	}
	slices.SortFunc(each, func(a, b logs.Summary) int { return cmp.Compare(a.Files[0].Name, b.Files[0].Name) })
	var all logs.Summary
	for _, s := range each {
		all.Add(s)
	}
	_, opts, err := f.Rules.reading(ctx)
	if err != nil {
		return err
	}
	if err := cmp.Or(all.Check(opts.Tolerance), f.Rules.checkGaps(opts, all.Files)); err != nil {
		return err
	}
	outcome := map[string]int64{"lines about other pages": all.Other}
	for _, c := range all.Faults {
		outcome["lines left out: "+string(c.Code)] = c.Lines
		for _, first := range c.First {
			log.Warnf(ctx, "left out: %v", first)
		}
	}
	for _, file := range all.Files {
		if file.Lines() == 0 {
			outcome["logs that are empty"]++
			log.Warnf(ctx, "%s is empty", file.Name)
		}
	}
	for _, o := range all.Offsets {
		log.Warnf(ctx, "%d lines have the offset %s from UTC, which %s has not at that time; the first in %s, line %d", o.Lines, o, opts.Location, o.First.File, o.First.Line)
	}
	tell(ctx, outcome)
	return nil
}

// checkGaps refuses logs of a folder, which are those of a server, that have nothing of a long time.
func (r *rules) checkGaps(opts *logs.Options, files []logs.FileSummary) error {
	if r.Gap == 0 {
		return nil
	}
	folders := map[string][]logs.FileSummary{}
	for _, f := range files {
		folder := path.Dir(f.Name)
		folders[folder] = append(folders[folder], f)
	}
	var missing []string
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		for _, g := range opts.Gaps(r.Gap, folders[folder]...) {
			missing = append(missing, fmt.Sprintf("%s: none from %s to %s", folder, g.From.Format(time.RFC3339), g.Until.Format(time.RFC3339)))
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("logs seem to be missing; give them, or a longer -gap: %s", strings.Join(missing, "; "))
}

// tell adds to the counts of what became of events and lines, on all machines.
func tell(ctx context.Context, outcome map[string]int64) {
	for name, n := range outcome {
		beam.NewCounter(namespace, name).Inc(ctx, n)
	}
}

const namespace = "usage"

func outcomes(sum counter.Summary) map[string]int64 {
	return map[string]int64{
		"events counted": sum.Counted, "double clicks": sum.DoubleClicks, "events of robots": sum.Robots,
		"events of other months": sum.OtherMonths, "events without a dataset": sum.NoDataset,
	}
}

// numbersOf returns the numbers of all machines together.
func numbersOf(result beam.PipelineResult) map[string]int64 {
	sum := outcomes(counter.Summary{})
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == namespace {
			sum[c.Key.Name] += c.Result()
		}
	}
	return sum
}
