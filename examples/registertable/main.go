// Command registertable registers the items of a table, CSV or .xlsx, thousands at a time.
//
//	go run ./examples/registertable -template > items.csv                    an empty table
//	go run ./examples/registertable -dry-run -prefix 10.12345 items.csv      all faults, nothing is sent
//	go run ./examples/registertable -live -prefix 10.12345 items.csv         writes items.registered.csv
//
// -h lists all flags.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	names "github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata/table"
)

func main() { program.Main("registertable", run) }

const usage = `Register the items of a table: one row, one DOI.

  registertable [flags] items.csv            on a service in memory, to try it
  registertable -live [flags] items.csv      on the service of -mds
  registertable -dry-run [flags] items.csv   list all faults, send nothing
  registertable -columns                     describe the columns
  registertable -template                    print an empty table

The table is CSV in UTF-8, separated by commas, semicolons or tabs, or the first sheet of
an .xlsx file that is not hidden. Rows without a DOI get one under -prefix; each needs an address of its own.
DOIs become findable; a row with another state is refused: audit -fix makes drafts and
registered DOIs. A row of a hidden DOI that differs fails: it is not shown.

Nothing is sent before the whole table was read. If rows have faults, nothing is sent at
all, unless -leave-out is given.

With -live, the results are in the file of -result, CSV or .xlsx as its name says: the same
table with the DOIs, and the columns result (created, updated, unchanged, failed), error and registered. Run the same
command again, or run it with the result table, which you may correct, to try what failed
and to register what was changed: what is registered is not sent again. A run that was
interrupted or killed goes on in the same way. A new name is in a file beside the result
table (.journal) before it is sent, so that none is lost.

Environment, with -live:
  DATACITE_USERNAME, DATACITE_PASSWORD   the account
  DATACITE_LOCK_DIR                      folder for locks; /tmp without it

Output: a summary on standard output, or the result table if the service is in memory.
Standard error gets faults and progress.
`

// settings are those of the command line and the environment.
type settings struct {
	file, result, prefix   string
	mds, api               string
	live, dryRun, leaveOut bool
	columns, template      bool
	workers                int
	pause                  time.Duration
	username, password     string
}

func readSettings(p *program.Program) (*settings, error) {
	s := &settings{username: p.Getenv("DATACITE_USERNAME"), password: p.Getenv("DATACITE_PASSWORD")}
	flags := p.Flags()
	flags.StringVar(&s.prefix, "prefix", "", "`prefix` for rows without a DOI")
	flags.StringVar(&s.result, "result", "", "with -live: `file` for the result table; without it, items.registered.csv beside items.csv, and .xlsx beside .xlsx")
	flags.StringVar(&s.mds, "mds", datacite.Test.MDS, "with -live: base `URL` of the metadata store")
	flags.StringVar(&s.api, "api", "", "with -live: base `URL` of the DOI API, which shows whether a DOI is hidden; that of DataCite's hosts is known")
	flags.BoolVar(&s.live, "live", false, "use the host of -mds instead of a service in memory")
	flags.BoolVar(&s.dryRun, "dry-run", false, "list all faults as with -live, and send nothing")
	flags.BoolVar(&s.leaveOut, "leave-out", false, "register the rows without faults, and leave out the others")
	flags.BoolVar(&s.columns, "columns", false, "describe the columns")
	flags.BoolVar(&s.template, "template", false, "print an empty table")
	flags.IntVar(&s.workers, "workers", 4, "`rows` processed at the same time")
	flags.DurationVar(&s.pause, "pause", 30*time.Second, "before rows are repeated for which the service failed")
	files, given, err := p.Parse(usage)
	switch {
	case err != nil:
		return nil, err
	case s.columns || s.template:
		return s, nil
	case len(files) != 1:
		return nil, fmt.Errorf("give one file with a table, not %d; -h shows how", len(files))
	case (given["mds"] || given["api"]) && !s.live && !s.dryRun:
		return nil, errors.New("-mds and -api have no effect without -live; add -live to register there, or leave them out")
	case given["result"] && !s.live && !s.dryRun:
		return nil, errors.New("-result has no effect without -live: the results go to standard output")
	case given["prefix"] && names.CheckPrefix(s.prefix) != nil:
		return nil, fmt.Errorf(`-prefix is %q, not "10." and four or five digits`, s.prefix)
	case s.workers < 1:
		return nil, fmt.Errorf("-workers is %d; it must be at least 1", s.workers)
	case s.live && !s.dryRun && (s.username == "" || s.password == ""):
		return nil, errors.New("-live needs DATACITE_USERNAME and DATACITE_PASSWORD in the environment")
	}
	s.file, s.api = files[0], cmp.Or(s.api, apiOf(s.mds))
	if s.result == "" {
		s.result = resultOf(s.file)
	}
	if !s.live && !s.dryRun && s.prefix == "" {
		s.prefix = datacitetest.Prefix
	}
	return s, nil
}

// apiOf is the DOI query of the service with a metadata store: of another one than DataCite's,
// at the same address.
func apiOf(store string) string {
	for _, service := range []datacite.Service{datacite.Test, datacite.Production} {
		if strings.TrimSuffix(store, "/") == service.MDS {
			return service.API
		}
	}
	return store
}

// resultOf is the file for the results of a table: a result table is replaced.
func resultOf(file string) string {
	end := ".registered.csv"
	if isSpreadsheet(file) {
		end = ".registered.xlsx"
	}
	if strings.HasSuffix(file, end) {
		return file
	}
	return strings.TrimSuffix(file, filepath.Ext(file)) + end
}

func isSpreadsheet(file string) bool { return strings.EqualFold(filepath.Ext(file), ".xlsx") }

func run(ctx context.Context, p *program.Program) error {
	s, err := readSettings(p)
	switch {
	case err != nil:
		return err
	case s.columns:
		return describe(p.Stdout)
	case s.template:
		return program.Unwritten(table.NewWriter(p.Stdout, nil).Flush())
	}
	if s.live && !s.dryRun {
		release, err := s.lock()
		if err != nil {
			return err
		}
		defer release()
	}
	j := &job{settings: s, p: p, source: &source{file: s.file}, names: map[string]*item{}}
	if !s.live && !s.dryRun {
		s.mds = "memory"
		folder, err := os.MkdirTemp("", "registertable-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder) // the results have been printed
		s.result = filepath.Join(folder, "result.csv")
	}
	if j.results, err = loadResults(s.result); err != nil {
		return err
	}
	if err := j.check(ctx); err != nil || s.dryRun {
		return err
	}
	if j.client, err = s.connect(); err != nil {
		return err
	}
	return j.report(ctx, j.run(ctx))
}

// lock keeps a second run from using the same result table.
func (s *settings) lock() (release func(), err error) {
	path, err := filepath.Abs(s.result)
	if err != nil {
		return nil, err
	}
	lock, err := runlock.Take(runlock.Folder(), "registertable "+path, false)
	if errors.Is(err, runlock.ErrHeld) {
		return nil, program.NotAllDone(fmt.Errorf("another run writes %s; wait until it has ended", s.result))
	}
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}

// maxWait is the longest pause between two attempts of a request; 0 means the client's default.
var maxWait time.Duration

func (s *settings) connect() (*mds.Client, error) {
	if !s.live {
		return datacitetest.NewServer(&datacitetest.Options{NoPort: true}).MDS(), nil
	}
	return mds.NewClient(datacite.Config{
		Service: program.Service(s.mds, s.api), Username: s.username, Password: s.password,
		UserAgent: "registertable", MaxWait: maxWait,
	})
}

// check reads the whole table and prints its faults.
func (j *job) check(ctx context.Context) error {
	j.source.note = func(text string) { j.p.Say("%s", text) }
	torn := false
	for row, err := range j.source.rows() {
		if ctx.Err() != nil {
			return program.NotAllDone(errors.New("interrupted; nothing was sent"))
		}
		if err != nil {
			return err
		}
		torn = j.checkRow(row) || torn
		j.p.Progress("%d rows read, %d with faults", j.rows, j.faulty)
	}
	j.source.note = nil
	if strays := j.results.strays(); len(strays) > 0 {
		return fmt.Errorf("%s has %s that the rows of %s lack, such as %s for %s; go on with the result table, or give another one with -result",
			j.settings.result, program.Count(len(strays), "DOI"), j.file, strays[0].DOI, strays[0].URL)
	}
	left := j.rows - j.faulty - j.earlier
	switch {
	case j.rows == 0:
		return fmt.Errorf("%s has no rows", j.file)
	case torn && !j.dryRun:
		return program.Wrong(fmt.Errorf("rows have too many or too few cells; nothing was sent"))
	case j.faulty > 0 && (j.dryRun || !j.leaveOut):
		hint := "; -leave-out registers the others"
		if j.dryRun {
			hint = ""
		}
		return program.Wrong(fmt.Errorf("faults in %d of %s; nothing was sent%s", j.faulty, program.Count(j.rows, "row"), hint))
	case j.unnamed > 0 && j.prefix == "":
		return program.Wrong(fmt.Errorf("%s without a DOI; give the -prefix for new ones", program.Count(j.unnamed, "row")))
	case j.dryRun:
		return j.p.Result("%s: %s without faults, %d of them registered already, %d to do; nothing was sent\n", j.file, program.Count(j.rows-j.faulty, "row"), j.earlier, left)
	}
	return nil
}

// checkRow prints the faults of a row, and counts it. It reports whether the number of its
// cells is not that of the columns, so that cells may be in wrong columns.
func (j *job) checkRow(row *table.Row) (torn bool) {
	j.rows++
	known, ambiguous := j.results.of(row)
	if ambiguous {
		row.Findings = append(row.Findings, datacite.Finding{File: row.File, Line: row.Line, Path: "url", Code: "conflict", Reason: "is not enough: the result table has several DOIs with this address; give the row its DOI"})
	}
	for _, f := range row.Findings {
		if f.Warning {
			j.p.Warn("%s", f)
			continue
		}
		j.p.Warn("error: %s", f)
		torn = torn || f.Code == "cells"
	}
	switch {
	case row.Err() != nil:
		j.faulty++
	case known.DOI == "":
		j.unnamed++
	case known.Registered == j.digestOf(row, known.DOI):
		j.earlier++
	}
	return torn
}

// report says how the run ended.
func (j *job) report(ctx context.Context, err error) error {
	registered := j.earlier + j.done
	left := j.rows - registered
	if !j.live && err == nil {
		if err := j.print(); err != nil {
			return err
		}
		j.p.Say("in memory: nothing real was registered, and -live uses a real host")
	}
	var unwritten error
	if j.live {
		unwritten = j.p.Result("%s: %d of %s registered, %d of them now\n", j.settings.result, registered, program.Count(j.rows, "row"), j.done)
	}
	switch {
	case ctx.Err() != nil:
		return program.NotAllDone(fmt.Errorf("interrupted with %s left; run the same command again, and it goes on", program.Count(left, "row")))
	case err != nil && j.done > 0:
		return program.NotAllDone(fmt.Errorf("%w\n%s left; run the same command again, and it goes on", err, program.Count(left, "row")))
	case err != nil:
		return err
	case left == 0:
		return unwritten
	case j.done == 0 && j.faulty == 0 && j.down == j.failed && j.first != nil:
		return program.Failed(fmt.Errorf("the service failed for all that was to do, %s; run the same command again\nthe first one: %w", program.Count(left, "row"), j.first))
	}
	return program.NotAllDone(fmt.Errorf("faults in %s, and %d failed, as the column error says; correct them in the result table, and run the same command with it", program.Count(j.faulty, "row"), j.failed))
}

// print prints the result table.
func (j *job) print() error {
	file, err := os.Open(j.settings.result)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(j.p.Stdout, file)
	return program.Unwritten(err)
}

// describe prints the columns.
func describe(out io.Writer) error {
	var b strings.Builder
	for _, c := range table.Columns() {
		if c.Name == "state" {
			c.Description = "findable or empty; a row with another state is refused: audit -fix makes drafts and registered DOIs"
		}
		fmt.Fprintf(&b, "%s\n    %s\n    %s\n", c.Name, c.Description, c.Example)
	}
	_, err := io.WriteString(out, b.String())
	return program.Unwritten(err)
}
