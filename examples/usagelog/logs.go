package main

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// logs are the log files and what became of their lines.
type logs struct {
	*settings
	ctx   context.Context
	stdin io.Reader
	notes io.Writer
	meter *meter

	lines        counter.LogSummary
	events       counter.Summary
	countries    *countries
	descriptions *counter.Descriptions

	size, done int64 // bytes of the files
	accesses   int64 // read so far
	leftOut    int   // faults that were told
}

// openLogs looks at the files: a name that is wrong is told before hours of counting.
func openLogs(ctx context.Context, s *settings, p *program) (*logs, error) {
	in := &logs{settings: s, ctx: ctx, stdin: p.stdin, notes: p.stderr, meter: &meter{out: p.stderr, on: !s.quiet && isTerminal(p.stderr)}}
	if s.quiet {
		in.notes = io.Discard
	}
	for _, name := range s.files {
		if name == "-" {
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, fmt.Errorf("%s is a folder; name the logs in it", name)
		}
		in.size += info.Size()
	}
	var err error
	if in.countries, err = openCountries(s.geoip); err != nil {
		return nil, err
	}
	in.descriptions = &counter.Descriptions{Memory: s.memory / 2}
	return in, nil
}

func (in *logs) close() {
	in.countries.close()
	_ = in.descriptions.Close() // what it held has been read
}

// rows are the counts.
func (in *logs) rows() iter.Seq2[reports.Row, error] {
	opts := &counter.Options{
		Period: reports.Month(in.month.Year(), in.month.Month()), Location: in.zone,
		Robots: in.robots, Machines: in.machines, Summary: &in.events, Memory: in.memory,
	}
	return func(yield func(reports.Row, error) bool) {
		for row, err := range counter.Count(in.all(), opts) {
			row.Platform = in.platform
			if !yield(row, err) {
				return
			}
		}
	}
}

// all are the events of all files.
func (in *logs) all() iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		for _, name := range in.files {
			for e, err := range in.file(name) {
				if err == nil {
					err = in.ctx.Err()
				}
				if err != nil {
					yield(e, err)
					return
				}
				e.Country = in.countries.of(e.Address)
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// file are the events of one file.
func (in *logs) file(name string) iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		r, size, err := in.open(name)
		if err != nil {
			yield(counter.Event{}, err)
			return
		}
		defer r.Close()
		for e, err := range in.read(r, name) {
			in.accesses++
			in.meter.reading(in.done+r.at.Load(), in.size, in.accesses)
			if !yield(e, err) || err != nil {
				return
			}
		}
		in.done += r.at.Load()
		if size == 0 {
			in.meter.clear()
			fmt.Fprintln(in.notes, "usagelog:", name, "is empty")
		}
	}
}

func (in *logs) read(r io.Reader, name string) iter.Seq2[counter.Event, error] {
	opts := &counter.LogOptions{Name: name, Summary: &in.lines, Paths: in.paths, Descriptions: in.descriptions}
	if in.leaveOut {
		opts.LeaveOut = in.leave
	}
	switch in.format {
	case "combined":
		return counter.ReadAccessLog(r, in.paths, opts)
	case "json":
		return counter.ReadJSON(r, opts)
	}
	return counter.ReadLog(r, opts)
}

// leave tells the first lines that are left out; the summary has their number.
func (in *logs) leave(f *datacite.FieldError) {
	if in.leftOut++; in.leftOut <= 100 {
		in.meter.clear()
		fmt.Fprintln(in.notes, "left out:", f.Path, f.Reason)
	}
}

// A logFile is a file, inflated if it is compressed.
type logFile struct {
	io.Reader
	file io.ReadCloser
	at   atomic.Int64 // bytes of the file that were read
}

func (f *logFile) Close() error { return f.file.Close() }

// A countedReader adds up what is read.
type countedReader struct {
	io.Reader
	at *atomic.Int64
}

func (c countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.at.Add(int64(n))
	return n, err
}

// open opens a file, and tells its size; -1 if that is not known.
func (in *logs) open(name string) (f *logFile, size int64, err error) {
	f, size = &logFile{file: io.NopCloser(in.stdin)}, -1
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, 0, err
		}
		f.file = file
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	if f.Reader, err = inflated(bufio.NewReaderSize(countedReader{f.file, &f.at}, 256<<10)); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, errors.Join(err, f.Close()))
	}
	return f, size, nil
}

// inflated tells by the first bytes how a file is compressed.
func inflated(r *bufio.Reader) (io.Reader, error) {
	start, _ := r.Peek(4) // an error comes again when it is read
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return gzip.NewReader(r)
	case bytes.HasPrefix(start, []byte("BZh")):
		return bzip2.NewReader(r), nil
	case bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")):
		unzip, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) // no goroutine
		return unzip, err
	}
	return r, nil
}

// countries tells the countries of addresses.
type countries struct {
	db    *maxminddb.Reader // nil without -geoip
	known map[string]string // of addresses that were looked up
}

func openCountries(name string) (*countries, error) {
	if name == "" {
		return &countries{}, nil
	}
	db, err := maxminddb.Open(name)
	if err != nil {
		return nil, fmt.Errorf("-geoip %s: %w", name, err)
	}
	return &countries{db, map[string]string{}}, nil
}

func (c *countries) close() {
	if c.db != nil {
		_ = c.db.Close() // it was only read
	}
}

// of is the country of an address; "" if it is not known, or has no ISO code.
func (c *countries) of(address string) string {
	if c.db == nil {
		return ""
	}
	code, ok := c.known[address]
	if ok {
		return code
	}
	if ip, err := netip.ParseAddr(address); err == nil {
		_ = c.db.Lookup(ip).DecodePath(&code, "country", "iso_code") // an address that is not there
	}
	if code = strings.ToLower(code); country.Pair(code) == 0 {
		code = ""
	}
	const most = 1 << 16 // of addresses held
	if len(c.known) >= most {
		clear(c.known)
	}
	c.known[strings.Clone(address)] = code
	return code
}
