package counter

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/reports"
)

// A dayFile is the file of a day while it is written, before it is compressed.
type dayFile struct {
	file *os.File
	out  *bufio.Writer
	rows *csv.Writer
}

func (d *Days) create() (*dayFile, error) {
	file, err := os.CreateTemp(d.folder, "day-*.tmp")
	if err != nil {
		return nil, err
	}
	w := &dayFile{file: file, out: bufio.NewWriter(file)}
	w.rows = csv.NewWriter(w.out)
	return w, nil
}

// finish compresses the file under a name that ends with the checksum of its text.
func (w *dayFile) finish(folder string, date reports.Date) (name string, err error) {
	w.rows.Flush()
	if err := errors.Join(w.rows.Error(), w.out.Flush()); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := w.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := io.Copy(sum, w.file); err != nil {
		return "", err
	}
	name = fmt.Sprintf("day-%s-%x.csv.gz", date, sum.Sum(nil)[:8])
	return name, store(folder, name, func(out io.Writer) error {
		_, err := w.file.Seek(0, io.SeekStart)
		zip := gzip.NewWriter(out)
		if err == nil {
			_, err = io.Copy(zip, w.file)
		}
		return errors.Join(err, zip.Close())
	})
}

func (w *dayFile) remove() error { return errors.Join(w.file.Close(), os.Remove(w.file.Name())) }

// store writes a file in the place of an earlier one, or leaves that one as it is.
func store(folder, name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(folder, "day-*.tmp")
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), filepath.Join(folder, name))
}

// Rows yields the counts of the days from the first to the last of a period, added up by month, in the
// order that [reports.Group] needs for GroupOptions.Sorted. They equal the rows that [Count] makes of
// all events at once. A damaged file is an error.
func (d *Days) Rows(period reports.Period) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		_, err := newRules(&Options{Period: period})
		if d.lock == nil {
			err = errZeroDays
		}
		if err != nil {
			yield(reports.Row{}, err)
			return
		}
		var open []*dayRows
		defer func() {
			for _, r := range open {
				_ = r.file.Close() // it was only read
			}
		}()
		for date, day := range d.index.Days {
			if date < period.BeginDate || date > period.EndDate && period.EndDate != "" || day.File == "" {
				continue
			}
			r, err := d.open(date, day.File)
			if err != nil {
				yield(reports.Row{}, err)
				return
			}
			open = append(open, r)
		}
		if err := mergeDays(open, func(row reports.Row) bool { return yield(row, nil) }); err != nil {
			yield(reports.Row{}, err)
		}
	}
}

// mergeDays adds up rows of days, all of which are sorted.
func mergeDays(open []*dayRows, yield func(reports.Row) bool) error {
	var reading []*dayRows
	for _, r := range open {
		ended, err := r.next()
		if err != nil {
			return err
		}
		if !ended {
			reading = append(reading, r)
		}
	}
	for len(reading) > 0 {
		sum := slices.MinFunc(reading, func(a, b *dayRows) int { return compareRows(&a.row, &b.row) }).row
		sum.Count = 0
		still := reading[:0]
		for _, r := range reading {
			ended := false
			if compareRows(&r.row, &sum) == 0 {
				sum.Count += r.row.Count
				var err error
				if ended, err = r.next(); err != nil {
					return err
				}
			}
			if !ended {
				still = append(still, r)
			}
		}
		if reading = still; !yield(sum) {
			return nil
		}
	}
	return nil
}

// compareRows sorts rows as Count does.
func compareRows(a, b *reports.Row) int {
	return cmp.Or(cmp.Compare(a.DOI, b.DOI), cmp.Compare(a.Date, b.Date), cmp.Compare(a.Metric, b.Metric),
		cmp.Compare(a.Access, b.Access), cmp.Compare(a.Country, b.Country))
}

// dayRows are the rows of a day while they are read.
type dayRows struct {
	path  string
	want  string // checksum
	file  *os.File
	watch input.Watch
	rows  *csv.Reader
	sum   hash.Hash
	month reports.Date
	row   reports.Row
}

func (d *Days) open(date reports.Date, name string) (*dayRows, error) {
	r := &dayRows{path: filepath.Join(d.folder, name), month: date[:len("2026-10")] + "-01", sum: sha256.New()}
	_, r.want, _ = strings.Cut(strings.TrimSuffix(name, ".csv.gz"), string(date)+"-")
	var err error
	if r.file, err = os.Open(r.path); err != nil {
		return nil, err
	}
	zip, err := gzip.NewReader(r.watch.Reader(r.file))
	if err != nil {
		return nil, errors.Join(r.damaged(err), r.file.Close())
	}
	r.rows = csv.NewReader(io.TeeReader(zip, r.sum))
	r.rows.FieldsPerRecord, r.rows.ReuseRecord = 5, true
	return r, nil
}

// damaged is the fault of a file, and what to do.
func damaged(path string, err error, remedy string) error {
	return datacite.Invalid(datacite.Finding{File: path, Code: datacite.CodeSyntax,
		Reason: fmt.Sprintf("the file is damaged: %v; %s", err, remedy), Err: err})
}

func (r *dayRows) damaged(err error) error {
	if r.watch.Failed() {
		return fmt.Errorf("counter: %s: %w", r.path, err)
	}
	return damaged(r.path, err, "remove it, and add the logs of the day again")
}

// next reads a row.
func (r *dayRows) next() (ended bool, err error) {
	cells, err := r.rows.Read()
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(r.sum.Sum(nil)[:8]); got != r.want {
			return true, r.damaged(fmt.Errorf("its checksum is %s", got))
		}
		return true, nil
	}
	if err != nil {
		return true, r.damaged(err)
	}
	count, err := strconv.ParseInt(cells[4], 10, 64)
	if err != nil {
		return true, r.damaged(err)
	}
	r.row = reports.Row{DOI: cells[0], Date: r.month, Metric: reports.MetricType(cells[1]),
		Access: reports.AccessMethod(cells[2]), Country: cells[3], Count: count}
	return false, nil
}

// dateOf is the date of a day since 1970.
func dateOf(day int64) reports.Date { return reports.Day(time.Unix(day*secondsOfDay, 0).UTC()) }
