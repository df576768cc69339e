package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// rules are what the machines need to know, as text.
type rules struct {
	Month, Zone              string
	Format, Layout           string
	Investigations, Requests string // regular expressions
	Paths, DOIs, GeoIP       string // names of files
	Platform, Publisher      string
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
	return &counter.Options{Period: reports.Month(month.Year(), month.Month()), Location: location, Tally: &counter.Tally{}}, nil
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
