// Package upgrade is the command datacite upgrade.
package upgrade

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/metadata"
)

type command struct {
	*shell.Shell
	remote
	values  string
	missing string

	given *values
	table *tableFile     // of --missing
	done  *tableFile     // of --output, for DOIs
	count map[string]int // of files, by result

	written map[string][]string // new files, by their names in small letters
}

// Command is datacite upgrade.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s, count: map[string]int{}, written: map[string][]string{}}
	cmd := &cobra.Command{
		Use: "upgrade FILE_OR_FOLDER… --output FOLDER", GroupID: shell.Writing,
		Short: "Turn metadata XML of kernel 2 and 3 into kernel 4",
		Long: `Turn metadata XML of kernel 2.0 to 3.1 into kernel 4, the only version that the service accepts. It
refuses every change of a DOI with older metadata, even of its URL, except metadata of kernel 4.

Each FILE is a document, and a FOLDER has documents whose names end in .xml, also in folders
inside. The new documents get the same names in the folder of --output; without --output, they are
only checked. Documents of kernel 4 are left out. All that both versions have stays as it is.

The command prints each value that it derived: a Funder becomes a funding reference, a Film is
Audiovisual, a StartDate or EndDate gets the type Other and the information which it is. What it
cannot derive is an error that names the file, which is not written then: mostly the general
type, which was optional.

--missing writes a table of what cannot be derived, CSV or .xlsx. Fill in the column value, and
give the table back with --values. The table also has the types of StartDate and EndDate, with the
value Other: if both become Collected, for example, they become one range. Rows without a value are
left out.

With --client or --prefix, the DOIs of the service that have older metadata are checked. --fix
writes their stored XML in kernel 4, and nothing else of them changes; each is compared afterwards.
A second run has nothing left to send. --output is then a table of what became of each DOI.`,
		Example: `  datacite upgrade old/ --missing missing.csv
  datacite upgrade old/ --values missing.csv --output new/
  datacite upgrade --client ice.archive --missing missing.csv
  datacite upgrade --client ice.archive --values missing.csv --fix --service test`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	s.OutputFlag(cmd, "write the new documents to this `folder`, or the results of DOIs to this table")
	flags.StringVar(&c.values, "values", "", "read what cannot be derived from this `table`")
	flags.StringVar(&c.missing, "missing", "", "write a `table` of what cannot be derived, to be filled in")
	s.Flags(cmd, shell.JSON)
	c.addFlags(s, cmd)
	return cmd
}

// A document is a file to be upgraded.
type document struct {
	path string
	name string // below the folder of the output, with slashes
}

// An outcome is what --json prints of a document.
type outcome struct {
	File    string    `json:"file,omitempty"`
	DOI     string    `json:"doi,omitempty"`
	Kernel  string    `json:"kernel,omitempty"` // the old version
	Result  string    `json:"result"`           // upgraded, checked, current, refused or failed
	Output  string    `json:"output,omitempty"` // the new file
	Derived []derived `json:"derived,omitempty"`
	Faults  []fault   `json:"faults,omitempty"`
	Service string    `json:"service,omitempty"`
}

type derived struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"` // empty if kernel 4 has no place for the value
}

type fault struct {
	Path   string `json:"path,omitempty"`
	Value  string `json:"value,omitempty"`
	Reason string `json:"reason"`
	Line   int    `json:"line,omitempty"`
}

// The results of documents.
const (
	upgraded = "upgraded"
	checked  = "checked"
	current  = "current"
	refused  = "refused"
	failed   = "failed"
)

func (c *command) run(cmd *cobra.Command, names []string) (err error) {
	if err := c.checkFlags(names); err != nil {
		return shell.Wrong(err)
	}
	documents, err := c.documents(names)
	if err != nil {
		return shell.Wrong(err)
	}
	if c.isChosen() {
		if err := c.open(cmd.Context()); err != nil {
			return err
		}
	}
	if c.given, err = readValues(c.values); err != nil {
		return shell.Wrong(err)
	}
	if c.table, err = newTable("--missing", c.missing, columns); err != nil {
		return shell.Wrong(err)
	}
	defer c.table.discard()
	if c.isChosen() {
		if c.done, err = newTable("--output", c.Output, resultColumns); err != nil {
			return shell.Wrong(err)
		}
		defer c.done.discard()
		return c.ofService(cmd.Context())
	}
	if err := c.all(cmd.Context(), documents); err != nil {
		return err
	}
	if err := c.table.save(c.Shell, nothingMissing); err != nil {
		return err
	}
	return c.report(len(documents))
}

func (c *command) checkFlags(names []string) error {
	switch {
	case c.isChosen() && len(names) > 0:
		return errors.New("give files, or --client or --prefix for DOIs of the service")
	case !c.isChosen() && len(names) == 0:
		return errors.New("give FILE or FOLDER, or --client or --prefix for DOIs of the service")
	case !c.isChosen() && c.fix:
		return errors.New("--fix is for DOIs of the service; say which, with --client or --prefix")
	}
	if c.missing != "" && c.values != "" && shell.IsSame(c.missing, c.values) {
		return fmt.Errorf("--missing and --values are both %s; give two files", c.missing)
	}
	for _, other := range []struct{ flag, name string }{{"--missing", c.missing}, {"--values", c.values}} {
		if c.isChosen() && c.Output != "" && other.name != "" && shell.IsSame(c.Output, other.name) {
			return fmt.Errorf("--output and %s are both %s; give two files", other.flag, c.Output)
		}
	}
	if c.Output == "" || c.isChosen() {
		return nil
	}
	folder := c.Output
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) { // it is made for the first document
		folder = filepath.Dir(filepath.Clean(folder))
		info, err = os.Stat(folder)
	}
	switch {
	case err != nil:
		return fmt.Errorf("--output %s: %w", c.Output, err)
	case !info.IsDir():
		return fmt.Errorf("--output %s: %s is not a folder", c.Output, folder)
	}
	return nil
}

// documents are the files that the command line names. The new ones have names of their own.
func (c *command) documents(names []string) (all []document, err error) {
	seen := map[string]string{}
	for _, name := range names {
		before := len(all)
		if all, err = c.of(name, all); err != nil {
			return nil, err
		}
		for _, d := range all[before:] {
			if other := seen[d.name]; other != "" {
				return nil, fmt.Errorf("%s and %s would both become %s; upgrade them one after the other", other, d.path, d.name)
			}
			seen[d.name] = d.path
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s has no files whose names end in .xml", name)
		}
	}
	return all, nil
}

func (c *command) of(name string, all []document) ([]document, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return append(all, document{name, filepath.Base(name)}), c.apart(name, filepath.Base(name))
	}
	output, _ := os.Stat(c.Output) // it may not exist yet
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if info, err := os.Stat(path); err == nil && path != name && os.SameFile(info, output) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.EqualFold(filepath.Ext(path), ".xml") {
			return nil
		}
		below, err := filepath.Rel(name, path)
		if err != nil {
			return err
		}
		all = append(all, document{path, filepath.ToSlash(below)})
		return c.apart(path, below)
	})
	return all, err
}

// apart refuses an output that would replace what is read.
func (c *command) apart(path, below string) error {
	if c.Output == "" {
		return nil
	}
	was, err := os.Stat(path)
	if err != nil {
		return err
	}
	if is, err := os.Stat(filepath.Join(c.Output, below)); err == nil && os.SameFile(was, is) {
		return fmt.Errorf("--output %s would replace %s; give another folder", c.Output, path)
	}
	return nil
}

func (c *command) all(ctx context.Context, documents []document) error {
	for i, d := range documents {
		if ctx.Err() != nil {
			return shell.Interrupted("%d of %s done; %srun the same command again", i, shell.Count(len(documents), "file"),
				c.unwritten())
		}
		if err := c.one(d); err != nil {
			return err
		}
		c.Progress(i+1, len(documents), "files", "")
	}
	return nil
}

// one upgrades a document. An error is one of files that ends the run.
func (c *command) one(d document) error {
	data, err := read(d.path)
	if err != nil {
		return shell.Wrong(err)
	}
	out := &outcome{File: d.name, Result: refused}
	if rec, err := metadata.ParseXML(bytes.NewReader(data)); err == nil {
		out.DOI = rec.DOI
	}
	values := c.given.of(out.File, out.DOI)
	document, err := lift(out, values, data)
	if err == nil && out.Result == checked && c.Output != "" {
		output := filepath.Join(c.Output, filepath.FromSlash(d.name))
		if other := c.sameFile(output); other != "" {
			out.Result, out.Faults = refused, []fault{
				{Reason: fmt.Sprintf("its new file would be that of %s, since this system does not tell their names apart; give "+
					"another --output", other)}}
		} else {
			out.Result, out.Output = upgraded, output
			err = c.write(output, document)
		}
	}
	if err != nil {
		return err
	}
	c.end(out, values)
	return nil
}

// sameFile returns the new file of an earlier document that one of this name would replace: with most systems, names
// are the same that differ only in case, or in the form of Unicode.
func (c *command) sameFile(output string) string {
	key := strings.ToLower(norm.NFC.String(output))
	for _, other := range c.written[key] {
		if shell.IsSame(other, output) {
			return other
		}
	}
	c.written[key] = append(c.written[key], output)
	return ""
}

// lift returns a document in kernel 4, and notes in the outcome what becomes of it.
func lift(out *outcome, values map[string]string, data []byte) ([]byte, error) {
	made, err := metadata.Upgrade(bytes.NewReader(data), &metadata.UpgradeOptions{Values: values})
	if invalid, ok := errors.AsType[*datacite.ValidationError](err); ok {
		out.refuse(invalid)
	} else if err != nil {
		return nil, shell.Wrong(fmt.Errorf("%s: %w", out.name(), err))
	}
	if made != nil && made.Kernel != metadata.Namespace {
		out.Kernel = version(made.Kernel)
		for _, v := range made.Derived {
			out.Derived = append(out.Derived, derived(v))
		}
	}
	switch {
	case len(out.Faults) > 0:
		return nil, nil
	case made.Kernel == metadata.Namespace:
		out.Result = current
	default:
		out.Result = checked
	}
	return made.XML, nil
}

// end counts and prints what became of a document, and adds it to the tables.
func (c *command) end(out *outcome, values map[string]string) {
	c.count[out.Result]++
	c.table.addMissing(out, values)
	c.done.addResult(out)
	c.print(out)
}

const nothingMissing = "nothing is missing"

// name is that of the file or the DOI.
func (o *outcome) name() string { return cmp.Or(o.File, o.DOI) }

// read reads a file, and of one that is too long so much that this is noticed.
func read(name string) ([]byte, error) {
	const most = 11 << 20
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

func (c *command) write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil { // as the user's umask has it
		return shell.Wrong(err)
	}
	const readable = 0o644
	return shell.WriteText(name, readable, string(data))
}

// version is that of a namespace; kernel 2.0 has none.
func version(space string) string {
	if space == "" {
		return "2.0"
	}
	return space[strings.LastIndexByte(space, '-')+1:]
}

func (o *outcome) refuse(invalid *datacite.ValidationError) {
	for _, f := range invalid.Findings {
		if !f.Warning {
			o.Faults = append(o.Faults, fault{f.Path, f.Value, f.Reason, f.Line})
		}
	}
}

// print prints an outcome: what was derived, or the faults.
func (c *command) print(o *outcome) {
	if o.Result != refused && o.Result != failed || c.JSON {
		var text strings.Builder
		text.WriteString(map[string]string{
			upgraded: "kernel " + o.Kernel + ", upgraded", checked: "kernel " + o.Kernel + ", can be upgraded",
			current: "is of kernel 4 already",
		}[o.Result])
		for _, d := range o.Derived {
			if !isOfAll[d.Path] {
				text.WriteString("\n  " + metadata.Derived(d).String())
			}
		}
		c.Result(o, "%s: %s", o.name(), text.String())
	}
	for _, f := range o.Faults {
		c.Warn("error: %s", datacite.Finding{File: o.name(), Line: f.Line, Path: f.Path, Reason: f.Reason})
	}
}

// isOfAll are what every document has derived.
var isOfAll = map[string]bool{"schemaVersion": true, "schemaLocation": true, "noNamespaceSchemaLocation": true}

func (c *command) report(n int) error {
	c.given.warn(c.Shell)
	files := shell.Count(n, "file")
	switch done := c.count[upgraded] + c.count[checked]; {
	case c.Output == "":
		c.Say("%d of %s can be upgraded, %d of kernel 4 already; --output FOLDER writes them", done, files, c.count[current])
	default:
		c.Say("%d of %s upgraded in %s, %d of kernel 4 already", done, files, c.Output, c.count[current])
	}
	return c.refused(files)
}

// refused is the error for what was refused; nil for nothing.
func (c *command) refused(of string) error {
	if c.count[refused] == 0 {
		return nil
	}
	hint := "; the lines above say why"
	if c.missing == "" {
		hint += "; --missing TABLE writes a table to fill in"
	}
	return shell.Wrong(fmt.Errorf("%d of %s cannot be upgraded%s", c.count[refused], of, hint))
}
