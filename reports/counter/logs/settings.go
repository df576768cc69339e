package logs

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
)

// Settings are the options for reading logs as texts, such as the flags of a command. All
// programs that read logs share them, and they can be sent to other machines as JSON.
type Settings struct {
	Format                   string   // name of a [Format]; "" means Dataverse
	Layout                   string   // as Options.Layout, or the name of a file that contains it
	Zone                     string   // a text for [ParseLocation]; "" means UTC
	Investigations, Requests []string // regular expressions, as in [Paths]
	Paths                    string   // file for [ReadPaths]
	DOIs                     string   // file for [ReadDOIs]
	Proxies                  string   // prefixes or addresses, separated by commas
	BadLines                 string   // stop, leave-out, or a share such as 2.5%; "" means stop
	Tolerated                string   // codes of faults, separated by commas, whose lines are always left out
	AllowCut, Pseudonyms     bool
}

// AddFlags adds a flag for each setting.
func (s *Settings) AddFlags(to *flag.FlagSet) {
	var formats []string
	for _, f := range Formats() {
		formats = append(formats, f.Name)
	}
	var codes []string
	for _, c := range Codes() {
		codes = append(codes, string(c))
	}
	to.StringVar(&s.Format, "log-format", Dataverse.Name, "`format` of the logs: "+strings.Join(formats, ", "))
	to.StringVar(&s.Layout, "layout", "", "for the format combined: the `text` that LogFormat (Apache) or log_format (nginx) has in the configuration of the web server, or a file with it; common layouts need no flag")
	to.StringVar(&s.Zone, "zone", "", "time `zone` of the repository, in which months, days and hours begin, such as Europe/Berlin, or an offset such as -04:00")
	to.Var((*patterns)(&s.Investigations), "investigations", "`pattern` that is found in paths of investigations; may be repeated (default: those of Dataverse)")
	to.Var((*patterns)(&s.Requests), "requests", "`pattern` that is found in paths of requests, likewise")
	to.StringVar(&s.Paths, "paths", "", "`file` of a table, CSV or .xlsx, with the columns path, doi and kind (investigation or request), for paths without a DOI; it counts before the patterns")
	to.StringVar(&s.DOIs, "dois", "", "`file` of a table, CSV or .xlsx, with the columns name and doi: the DOI of what the first group of a pattern finds, such as a handle")
	to.StringVar(&s.Proxies, "proxies", "", "`addresses` of proxies, such as 198.51.100.0/24, separated by commas, which are passed over in lists of forwarded addresses; private addresses always are")
	to.StringVar(&s.BadLines, "bad-lines", "stop", "`how` to treat lines that cannot be read: stop, leave-out up to 1% of them, or up to a share such as 5%")
	to.StringVar(&s.Tolerated, "leave-out", "", "`codes` of faults, separated by commas: lines with these are left out, whatever their number: "+strings.Join(codes, ", "))
	to.BoolVar(&s.AllowCut, "cut", false, "read a truncated compressed log up to where it ends")
	to.BoolVar(&s.Pseudonyms, "pseudonyms", false, "accept pseudonyms or host names in place of addresses")
}

// patterns are a flag that may be repeated.
type patterns []string

func (p *patterns) String() string { return strings.Join(*p, " ") }

func (p *patterns) Set(text string) error {
	_, err := regexp.Compile(text)
	*p = append(*p, text)
	return err
}

// Options reads the files that the settings name, and returns the format and options for
// [Read]. An error names the flag of the setting.
func (s *Settings) Options() (Format, *Options, error) {
	return s.OptionsFrom(func(name string) (io.ReadCloser, error) { return os.Open(name) })
}

// OptionsFrom does the same as Options with another function to open files, such as from a
// store that many machines share.
func (s *Settings) OptionsFrom(open func(name string) (io.ReadCloser, error)) (Format, *Options, error) {
	o := &Options{AllowCut: s.AllowCut, Pseudonyms: s.Pseudonyms}
	format, err := FormatNamed(cmp.Or(s.Format, Dataverse.Name))
	if err != nil {
		return format, nil, err
	}
	if o.Location, err = ParseLocation(cmp.Or(s.Zone, "UTC")); err != nil {
		return format, nil, err
	}
	if o.Tolerance, err = s.tolerance(); err != nil {
		return format, nil, err
	}
	if o.Proxies, err = s.proxies(); err != nil {
		return format, nil, err
	}
	if o.Paths, err = s.readPaths(open); err != nil {
		return format, nil, err
	}
	if o.Layout = s.Layout; s.Layout != "" && !strings.ContainsAny(s.Layout, "%$") {
		file, err := open(s.Layout)
		if err != nil {
			return format, nil, fmt.Errorf("layout: %w", err)
		}
		defer file.Close()
		text, err := io.ReadAll(file)
		if err != nil {
			return format, nil, fmt.Errorf("layout: %w", err)
		}
		o.Layout = string(text)
	}
	if o.Layout != "" && format.Name != Combined.Name {
		return format, nil, datacite.Invalid(datacite.Finding{Path: "layout", Code: "conflict", Reason: "has no effect without the format " + Combined.Name})
	}
	_, err = format.Parser(o)                  // before hours of counting
	for _, f := range datacite.Findings(err) { // one at most
		path := map[string]string{"Options.Paths": "paths, or investigations and requests,", "Options.Layout": "layout"}[f.Path]
		err = datacite.Invalid(datacite.Finding{Path: cmp.Or(path, f.Path), Code: "value", Reason: f.Reason})
	}
	return format, o, err
}

// CheckZone returns an error if no time zone is set and the lines of the logs have another
// one than UTC: the first or last hours of each month would otherwise count for another
// month.
func (s *Settings) CheckZone(lines *Summary) error {
	if s.Zone != "" || len(lines.Offsets) == 0 {
		return nil
	}
	o := lines.Offsets[0]
	return datacite.Invalid(datacite.Finding{File: o.First.File, Line: o.First.Line, Path: "zone", Code: "missing", Reason: fmt.Sprintf(
		"in which time zone does the month begin? Lines have the offset %s from UTC, %d of them, this one first: "+
			"name the zone of the repository, such as America/New_York; or %s; or UTC, in which the month begins and ends at another hour", o, o.Lines, o)})
}

func (s *Settings) tolerance() (l Tolerance, err error) {
	for text := range strings.SplitSeq(s.Tolerated, ",") {
		code := datacite.Code(strings.TrimSpace(text))
		if code != "" && !slices.Contains(Codes(), code) {
			return l, datacite.Invalid(datacite.Finding{Path: "leave-out", Code: "vocabulary", Reason: fmt.Sprintf("is %q, not one of %q", code, Codes())})
		}
		if code != "" {
			l.Always = append(l.Always, code)
		}
	}
	switch s.BadLines {
	case "", "stop":
	case "leave-out":
		l.Share = 0.01
	default:
		number, ok := strings.CutSuffix(s.BadLines, "%")
		share, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(share > 0 && share <= 100) {
			return l, datacite.Invalid(datacite.Finding{Path: "bad-lines", Code: "value", Reason: fmt.Sprintf("is %q, not stop, leave-out or a share such as 2.5%%", s.BadLines)})
		}
		l.Share = share / 100
	}
	return l, nil
}

func (s *Settings) proxies() (list []netip.Prefix, err error) {
	if s.Proxies == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(s.Proxies, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(text))
		if ip, ok := access.Address(strings.TrimSpace(text)); err != nil && ok {
			prefix, err = ip.Prefix(ip.BitLen())
		}
		if err != nil {
			return nil, datacite.Invalid(datacite.Finding{Path: "proxies", Code: "value", Reason: fmt.Sprintf("has %q, neither an address nor a prefix such as 198.51.100.0/24", text)})
		}
		list = append(list, prefix)
	}
	return list, nil
}

func (s *Settings) readPaths(open func(name string) (io.ReadCloser, error)) (p *Paths, err error) {
	if (s.Investigations == nil) != (s.Requests == nil) {
		return nil, datacite.Invalid(datacite.Finding{Path: "investigations and requests", Code: "conflict", Reason: "belong together"})
	}
	if s.Requests == nil && s.Paths == "" && s.DOIs == "" {
		return nil, nil
	}
	p = &Paths{}
	if s.Requests == nil && cmp.Or(s.Format, Dataverse.Name) == Dataverse.Name {
		p = DataversePaths()
	}
	for _, of := range []struct {
		from []string
		to   *[]*regexp.Regexp
	}{{s.Investigations, &p.Investigations}, {s.Requests, &p.Requests}} {
		for _, text := range of.from {
			r, err := regexp.Compile(text)
			if err != nil {
				return nil, datacite.Invalid(datacite.Finding{Path: "investigations and requests", Code: "syntax", Reason: err.Error()})
			}
			*of.to = append(*of.to, r)
		}
	}
	if p.Table, err = readTable(open, "paths", s.Paths, ReadPaths); err == nil {
		p.DOIs, err = readTable(open, "dois", s.DOIs, ReadDOIs)
	}
	return p, err
}

// readTable reads the table in a file; nil without a name.
func readTable[V any](open func(name string) (io.ReadCloser, error), setting, name string, read func(io.Reader, string) (map[string]V, error)) (map[string]V, error) {
	if name == "" {
		return nil, nil
	}
	file, err := open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	defer file.Close()
	rows, err := read(file, name)
	if _, told := errors.AsType[*datacite.ValidationError](err); err != nil && !told {
		err = fmt.Errorf("%s: %w", setting, err)
	}
	return rows, err
}
