package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// An output is the file for the report. It appears under its name when it is whole, unless
// it is a device or a pipe.
type output struct {
	header reports.Header
	name   string        // of the file, where links lead to
	file   *os.File      // nil for standard output, and when it is closed
	temp   string        // name of the file until it is whole; "" for a device
	mode   fs.FileMode   // of the file
	w      *bufio.Writer // nil without an output
}

func newOutput(name string, header reports.Header, stdout io.Writer) (*output, error) {
	o := &output{header: header}
	switch name {
	case "":
	case "-":
		o.w = bufio.NewWriter(stdout)
	default:
		if err := o.open(name); err != nil {
			return nil, fmt.Errorf("-o: %w", err)
		}
		o.w = bufio.NewWriterSize(o.file, 256<<10)
	}
	return o, nil
}

func (o *output) open(name string) (err error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder", name)
	case err == nil && !info.Mode().IsRegular():
		o.file, err = os.OpenFile(name, os.O_WRONLY, 0)
		return err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	o.mode = 0o644 // readable by Dataverse, which runs as another user
	if err == nil {
		o.mode = info.Mode().Perm()
	}
	if o.name, err = linked(name); err != nil {
		return err
	}
	if o.file, err = os.CreateTemp(filepath.Dir(o.name), "."+filepath.Base(o.name)+".*"); err == nil {
		o.temp = o.file.Name()
	}
	return err
}

// linked is where a link leads to, also if nothing is there yet; name if it is not a link.
func linked(name string) (string, error) {
	for range 40 {
		to, err := os.Readlink(name)
		if err != nil {
			return name, nil
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return "", err
		}
		if name = to; !filepath.IsAbs(to) {
			name = filepath.Join(folder, to)
		}
	}
	return "", fmt.Errorf("%s: too many links", name)
}

// write writes the report while its datasets go by.
func (o *output) write(datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	if o.w == nil {
		return datasets
	}
	return func(yield func(reports.Dataset, error) bool) {
		before := `{"report-header":`
		err := o.json(&before, o.header)
		before = `,"report-datasets":[` + "\n"
		for d, failed := range datasets {
			if err = cmp.Or(failed, err); err == nil {
				err = o.json(&before, d)
				before = ",\n"
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
		if err == nil {
			err = o.end()
		}
		if err != nil {
			yield(reports.Dataset{}, err)
		}
	}
}

// json writes a value. json.Marshal would read what MarshalJSON returns once more.
func (o *output) json(before *string, value json.Marshaler) error {
	data, err := value.MarshalJSON()
	if err != nil {
		return err
	}
	o.w.WriteString(*before) // a bufio.Writer returns its error later, too
	_, err = o.w.Write(data)
	return err
}

// end gives the file its name.
func (o *output) end() error {
	o.w.WriteString("\n]}\n")
	if err := o.w.Flush(); err != nil || o.file == nil {
		return err
	}
	if o.temp != "" {
		if err := cmp.Or(o.file.Chmod(o.mode), o.file.Sync()); err != nil {
			return err
		}
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	o.file = nil
	if o.temp == "" {
		return nil
	}
	if err := os.Rename(o.temp, o.name); err != nil {
		return err
	}
	o.temp = ""
	return nil
}

// discard removes what is not whole.
func (o *output) discard() {
	if o.file != nil {
		_ = o.file.Close()
	}
	if o.temp != "" {
		_ = os.Remove(o.temp)
	}
}

func drain(datasets iter.Seq2[reports.Dataset, error]) error {
	for _, err := range datasets {
		if err != nil {
			return err
		}
	}
	return nil
}

// totals are of the whole report.
type totals struct {
	datasets, untitled int64
	counts             counts
	most               []used // the ten most used datasets
}

// counts are total and unique investigations and requests.
type counts [4]int64

var metrics = [...]reports.MetricType{
	reports.TotalDatasetInvestigations, reports.UniqueDatasetInvestigations, reports.TotalDatasetRequests, reports.UniqueDatasetRequests,
}

type used struct {
	doi, title string
	counts     counts
}

// add adds up the datasets while they go by.
func (t *totals) add(datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for d, err := range datasets {
			if err == nil {
				t.addOne(&d)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func (t *totals) addOne(d *reports.Dataset) {
	t.datasets++
	if lacks(d) {
		t.untitled++
	}
	u := used{doi: d.DatasetID[0].Value, title: d.Title, counts: countsOf(d)}
	for i, n := range u.counts {
		t.counts[i] += n
	}
	const shown = 10
	at, _ := slices.BinarySearchFunc(t.most, u, func(a, b used) int { return cmp.Compare(b.counts[0], a.counts[0]) })
	for at < len(t.most) && t.most[at].counts[0] == u.counts[0] {
		at++ // of equal ones the first
	}
	if at < shown {
		t.most = slices.Insert(t.most, at, u)
		t.most = t.most[:min(len(t.most), shown)]
	}
}

func countsOf(d *reports.Dataset) (all counts) {
	for _, p := range d.Performance {
		for _, i := range p.Instance {
			all[slices.Index(metrics[:], i.MetricType)] += i.Count
		}
	}
	return all
}

// print prints what became of the lines, and the most used datasets.
func (in *input) print(out io.Writer, header reports.Header, t *totals) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(n int64, format string, args ...any) {
		fmt.Fprintf(w, "%s\t %s\n", thousands(n), fmt.Sprintf(format, args...))
	}
	l, e := in.lines, in.events
	line(l.Lines(), "lines in %d files", len(in.files)-in.unread)
	if in.unread > 0 {
		fmt.Fprintf(w, "%d\t files were counted before; what follows is of the others, up to the datasets\n", in.unread)
	}
	line(l.Comments, "comments and empty lines")
	line(l.Other, "neither investigations nor requests")
	line(l.Faulty, "could not be read")
	line(l.Events, "accesses")
	line(e.OtherMonths, "not from %s to %s", in.period.BeginDate, in.period.EndDate)
	line(e.NoDataset, "without a dataset")
	line(e.Robots, "by robots")
	line(e.DoubleClicks, "double clicks")
	line(e.Counted, "counted")
	line(t.datasets, "datasets")
	if t.untitled > 0 {
		advice := "-describe and -publisher give them"
		if in.describe != "" {
			advice = "nor has -describe; -publisher names a publisher"
		}
		line(t.untitled, "of them without a title or publisher; %s", advice)
	}
	for i, name := range metrics {
		line(t.counts[i], "%s", strings.ReplaceAll(string(name), "-dataset-", " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nFirst access\tLast access\tDays without\tHours without\tLog")
	for _, s := range logs.Servers(in.lines.Files) {
		first, last := s.Span()
		c := in.reading.Coverage(0, &s)
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%d of %d\t%s\n", in.at(first), in.at(last), c.EmptyDays, c.Days, c.EmptyHours, c.Hours, serverText(&s))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nMost used\tInvestigations\tunique\tRequests\tunique\tTitle")
	for _, u := range t.most {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", u.doi, thousands(u.counts[0]), thousands(u.counts[1]), thousands(u.counts[2]), thousands(u.counts[3]), short(u.title))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	partial := ""
	for _, e := range header.Exceptions {
		partial = fmt.Sprintf(", a part of the month (exception %d)", e.Code)
	}
	_, err := fmt.Fprintf(out, "\nReport of %s, %s to %s%s\n", header.CreatedBy, header.ReportingPeriod.BeginDate, header.ReportingPeriod.EndDate, partial)
	return err
}

// at is a time in the zone of the repository.
func (in *input) at(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(in.reading.Location).Format(time.DateTime)
}

// printEnd prints where the report is.
func printEnd(out io.Writer, s *settings, r *reports.Receipt) (err error) {
	switch {
	case s.output != "" && s.output != "-":
		_, err = fmt.Fprintln(out, "  written to", s.output)
	case s.output == "" && !s.send && s.mending.account == "":
		_, err = fmt.Fprintln(out, "  neither written nor sent; -o writes it, -send submits it")
	}
	if r == nil || err != nil {
		return err
	}
	if r.Sent == 0 {
		_, err = fmt.Fprintf(out, "  stored before as report %s at %s; nothing was sent\n", r.ReportID, s.api)
	} else {
		_, err = fmt.Fprintf(out, "  stored as report %s at %s\n", r.ReportID, s.api)
	}
	if kept := keptText(r); kept != "" && err == nil {
		_, err = fmt.Fprintln(out, " ", kept)
	}
	if r.Zeros > 0 && err == nil {
		_, err = fmt.Fprintf(out, "  zeros: %s with the count 0, which earlier versions had\n", several(r.Zeros, "dataset"))
	}
	return err
}

// keptText says what is to be done about numbers that stay; "" if there are none.
func keptText(r *reports.Receipt) string {
	switch {
	case r.Kept > 0 && r.EarlierUnknown:
		return fmt.Sprintf("kept: %s of earlier versions, and perhaps some that are not known on this machine; -dropped zero removes the former, and datacite usage check finds the latter", several(r.Kept, "number"))
	case r.Kept > 0:
		return fmt.Sprintf("kept: %s of earlier versions, which DOI records continue to show; run it again with -dropped zero to remove them", several(r.Kept, "number"))
	case r.EarlierUnknown:
		return "kept: perhaps numbers of earlier versions that are not known on this machine; datacite usage check finds them"
	}
	return ""
}

// short cuts a long title.
func short(title string) string {
	const most = 60
	if utf8.RuneCountInString(title) <= most {
		return title
	}
	return string([]rune(title)[:most-1]) + "…"
}

// several is a number of things.
func several(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// A meter shows progress in one line of a terminal.
type meter struct {
	out   io.Writer
	on    bool // out is a terminal
	shown time.Time
}

func (m *meter) reading(done, size, events int64) {
	if !m.on || time.Since(m.shown) < 100*time.Millisecond {
		return
	}
	m.shown = time.Now()
	percent := ""
	if size > 0 {
		percent = fmt.Sprintf("%3d%% ", min(100, 100*done/size))
	}
	m.say("reading %s%s accesses", percent, thousands(events))
}

func (m *meter) say(format string, args ...any) {
	if m.on {
		fmt.Fprintf(m.out, "\r"+format+"\x1b[K", args...)
	}
}

func (m *meter) clear() { m.say("") }
