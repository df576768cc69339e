package count

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// settings are the options for reading logs as texts. Their JSON names the folder of --days.
type settings struct {
	Format                   string   // name of a [logs.Format]
	Layout                   string   // as Options.Layout, or the name of a file that contains it
	Zone                     string   // a text for parseLocation; "" means UTC
	Investigations, Requests []string // regular expressions, as in [logs.Paths]
	Paths                    string   // file for readPaths
	DOIs                     string   // file for readDOIs
	Proxies                  string   // prefixes or addresses, separated by commas
	BadLines                 string   // stop, leave-out, or a share such as 2.5%
	Tolerated                string   // codes of faults, separated by commas, whose lines are always left out
	AllowCut, Pseudonyms     bool
}

// addFlags adds a flag for each setting.
func (s *settings) addFlags(cmd *cobra.Command) {
	to := cmd.Flags()
	var formats []string
	for _, f := range logs.Formats() {
		formats = append(formats, f.Name)
	}
	var codes []string
	for _, c := range logs.Codes() {
		codes = append(codes, string(c))
	}
	shell.Choice(cmd, &s.Format, "log-format", "`format` of the logs: "+strings.Join(formats, ", "), formats...)
	to.StringVar(&s.Layout, "layout", "",
		"for the format combined: the `text` that LogFormat (Apache) or log_format (nginx) has in the configuration of the "+
			"web server, or a file with it; common layouts need no flag")
	to.StringVar(&s.Zone, "zone", "",
		"time `zone` of the repository, in which months, days and hours begin, such as Europe/Berlin, or an offset such as "+
			"-04:00")
	to.StringArrayVar(&s.Investigations, "investigations", nil,
		"`pattern` that is found in paths of investigations; may be repeated (default: those of Dataverse)")
	to.StringArrayVar(&s.Requests, "requests", nil, "`pattern` that is found in paths of requests, likewise")
	to.StringVar(&s.Paths, "paths", "",
		"`file` of a table, CSV or .xlsx, with the columns path, doi and kind (investigation or request), for paths "+
			"without a DOI; it counts before the patterns")
	to.StringVar(&s.DOIs, "dois", "",
		"`file` of a table, CSV or .xlsx, with the columns name and doi: the DOI of what the first group of a pattern "+
			"finds, such as a handle")
	to.StringVar(&s.Proxies, "proxies", "",
		"`addresses` of proxies, such as 198.51.100.0/24, separated by commas, which are passed over in lists of forwarded "+
			"addresses; private addresses always are")
	to.StringVar(&s.BadLines, "bad-lines", "stop",
		"`how` to treat lines that cannot be read: stop, leave-out up to 1% of them, or up to a share such as 5%")
	to.StringVar(&s.Tolerated, "leave-out", "",
		"`codes` of faults, separated by commas: lines with these are left out, whatever their number: "+strings.Join(codes,
			", "))
	to.BoolVar(&s.AllowCut, "cut", false, "read a truncated compressed log up to where it ends")
	to.BoolVar(&s.Pseudonyms, "pseudonyms", false, "accept pseudonyms or host names in place of addresses")
}

// options reads the files that the settings name, and returns the format and options for
// [logs.Read]. An error names the flag of the setting. If it is one of rows in tables, the options have the other rows.
func (s *settings) options() (logs.Format, *logs.Options, error) {
	format := logs.Formats()[slices.IndexFunc(logs.Formats(), func(f logs.Format) bool { return f.Name == s.Format })]
	zone, err1 := parseLocation(cmp.Or(s.Zone, "UTC"))
	tolerance, err2 := s.tolerance()
	proxies, err3 := s.proxies()
	paths, err4 := s.paths()
	layout, err5 := s.layout()
	_, ofRows := errors.AsType[*datacite.ValidationError](err4)
	if err := errors.Join(err1, err2, err3, err5); err != nil || err4 != nil && !ofRows {
		return format, nil, errors.Join(err, err4)
	}
	o := &logs.Options{Location: zone, Tolerance: tolerance, Proxies: proxies, Paths: paths, Layout: layout,
		AllowTruncated: s.AllowCut, Pseudonyms: s.Pseudonyms}
	_, err := format.Parser(o) // before hours of counting
	if ofRows && err == nil {
		return format, o, err4
	} else if ofRows {
		return format, nil, err4
	}
	for _, f := range datacite.Findings(err) { // one at most
		flag := map[string]string{"Options.Paths": "--paths, or --investigations and --requests,",
			"Options.Layout": "--layout"}[f.Path]
		err = fmt.Errorf("%s %s", cmp.Or(flag, f.Path), f.Reason)
	}
	return format, o, err
}

// layout is the text of a layout.
func (s *settings) layout() (string, error) {
	if s.Layout != "" && s.Format != logs.Combined.Name {
		return "", fmt.Errorf("--layout has no effect without --log-format %s", logs.Combined.Name)
	}
	if s.Layout == "" || strings.ContainsAny(s.Layout, "%$") {
		return s.Layout, nil
	}
	text, err := os.ReadFile(s.Layout)
	if err != nil {
		err = fmt.Errorf("--layout: %w", err)
	}
	return string(text), err
}

// checkZone returns an error if no time zone is set and the lines of the logs have another
// one than UTC: the first or last hours of each month would otherwise count for another
// month.
func (s *settings) checkZone(lines *logs.Stats) error {
	if s.Zone != "" || len(lines.Offsets) == 0 {
		return nil
	}
	o := lines.Offsets[0]
	return datacite.Invalid(datacite.Finding{File: o.First.File, Line: o.First.Line, Path: "zone",
		Code: datacite.CodeMissing, Reason: fmt.Sprintf(
			"in which time zone does the month begin? Lines have the offset %s from UTC, %d of them, this one first: "+
				"name the zone of the repository, such as America/New_York; or %s; or UTC, in which the month begins and ends at "+
				"another hour; --zone names it", o, o.Lines, o)})
}

func (s *settings) tolerance() (l logs.Tolerance, err error) {
	for text := range strings.SplitSeq(s.Tolerated, ",") {
		code := datacite.Code(strings.TrimSpace(text))
		if code != "" && !slices.Contains(logs.Codes(), code) {
			return l, fmt.Errorf("--leave-out is %q, not one of %q", code, logs.Codes())
		}
		if code != "" {
			l.Always = append(l.Always, code)
		}
	}
	l.DOIs = 0.01
	switch s.BadLines {
	case "", "stop":
	case "leave-out":
		l.Share = 0.01
	default:
		number, ok := strings.CutSuffix(s.BadLines, "%")
		share, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(share > 0 && share <= 100) {
			return l, fmt.Errorf("--bad-lines is %q, not stop, leave-out or a share such as 2.5%%", s.BadLines)
		}
		l.Share = share / 100
	}
	return l, nil
}

func (s *settings) proxies() (list []netip.Prefix, err error) {
	if s.Proxies == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(s.Proxies, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(text))
		if ip, notIP := netip.ParseAddr(strings.TrimSpace(text)); notIP == nil {
			prefix, err = ip.Unmap().Prefix(ip.Unmap().BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("--proxies has %q, neither an address nor a prefix such as 198.51.100.0/24", text)
		}
		list = append(list, prefix)
	}
	return list, nil
}

func (s *settings) paths() (p *logs.Paths, err error) {
	p = &logs.Paths{}
	if p.Investigations, err = patterns("--investigations", s.Investigations); err != nil {
		return nil, err
	}
	if p.Requests, err = patterns("--requests", s.Requests); err != nil {
		return nil, err
	}
	switch {
	case (s.Investigations == nil) != (s.Requests == nil):
		return nil, errors.New("--investigations and --requests belong together")
	case s.Requests == nil && s.Paths == "" && s.DOIs == "":
		return nil, nil
	case s.Requests == nil && s.Format == logs.Dataverse.Name:
		p = logs.DataversePaths()
	}
	var err2 error
	p.Table, err = readTable("--paths", s.Paths, readPaths)
	p.DOIs, err2 = readTable("--dois", s.DOIs, readDOIs)
	return p, errors.Join(err, err2)
}

// patterns are the regular expressions of a flag.
func patterns(flag string, texts []string) (list []*regexp.Regexp, err error) {
	for _, text := range texts {
		r, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// readTable reads the table in a file; nil without a name.
func readTable[V any](flag, name string, read func(io.Reader, string) (map[string]V, error)) (map[string]V, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer file.Close()
	rows, err := read(file, name)
	if _, told := errors.AsType[*datacite.ValidationError](err); err != nil && !told {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return rows, err
}

// parseLocation returns the time zone of a name such as Europe/Berlin, or of an offset from
// UTC as in the lines of logs, such as -04:00.
func parseLocation(name string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(name, offset), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("--zone is %q, not a time zone such as Europe/Berlin or -04:00", name)
	}
	return zone, nil
}
