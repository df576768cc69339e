package testkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

var seams = flag.Int("seams", 0, "random records that pass each seam, of each behaviour; by default one, of one of "+
	"them")

// An outlet is what hands out the record of a DOI.
type outlet struct {
	name string
	of   []string // functions of the API
	read func(*testing.T, *datacitetest.Server, string) (*dois.Record, error)

	// plain: without the XML, so that markup that the service does not show is lost, and texts
	// may be ambiguous.
	plain bool
}

// ofXML is the record in XML.
func ofXML(r io.Reader, err error) (*dois.Record, error) {
	if err != nil {
		return nil, err
	}
	rec, err := metadata.ParseXML(r)
	if err != nil {
		return nil, err
	}
	return &dois.Record{Record: *rec}, nil
}

func get(t *testing.T, srv *datacitetest.Server, name string) *dois.Record {
	t.Helper()
	r := must(srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true}))(t)
	return r
}

func listedRecord(t *testing.T, srv *datacitetest.Server, name string, detail bool) *dois.Record {
	t.Helper()
	for r, err := range srv.DOIs().All(t.Context(),
		&dois.ListOptions{IDs: []string{name}, Affiliation: true, Publisher: true, Detail: detail}) {
		require.NoError(t, err)
		return r
	}
	t.Fatalf("%s is not listed", name)
	return nil
}

// archived reads a record from an archive with the attributes.
func archived(attributes []byte) (*dois.Record, error) {
	for r, err := range archive.NewReader(bytes.NewReader(append(attributes, '\n')), nil).All() {
		return r, err
	}
	return nil, io.ErrUnexpectedEOF
}

var outlets = []outlet{
	{name: "Get", of: []string{"dois.Client.Get"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			return get(t, srv, name), nil
		}},
	{name: "Get without options", plain: true,
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			return srv.DOIs().Get(t.Context(), name, nil)
		}},
	{name: "All", plain: true, of: []string{"dois.Client.All", "dois.Walk.All"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			return listedRecord(t, srv, name, false), nil
		}},
	{name: "All in detail", read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
		return listedRecord(t, srv, name, true), nil
	}},
	{name: "Record as JSON", of: []string{"dois.Record.UnmarshalJSON"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			data := must(json.Marshal(get(t, srv, name)))(t)
			var r dois.Record
			return &r, json.Unmarshal(data, &r)
		}},
	{name: "Record of a list as JSON", plain: true,
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			first := listedRecord(t, srv, name, false)
			data := must(json.Marshal(first))(t)
			var r dois.Record
			err := json.Unmarshal(data, &r)
			r.Warnings = append(r.Warnings, first.Warnings...) // the JSON has what was guessed
			return &r, err
		}},
	{name: "Raw", read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
		var r dois.Record
		return &r, json.Unmarshal(get(t, srv, name).Raw, &r)
	}},
	{name: "ParseJSON", of: []string{"metadata.ParseJSON", "metadata.Unescape"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			rec := must(metadata.ParseJSON(bytes.NewReader(get(t, srv, name).Raw)))(t)
			return &dois.Record{Record: *rec}, nil
		}},
	{name: "archive", of: []string{"dois/archive.Reader.All"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			return archived(get(t, srv, name).Raw)
		}},
	{name: "archive of a list", plain: true,
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			return archived(listedRecord(t, srv, name, false).Raw)
		}},
	{name: "MetadataXML", of: []string{"metadata.ParseXML"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			return ofXML(bytes.NewReader(get(t, srv, name).MetadataXML), nil)
		}},
	{name: "Record as XML", of: []string{"metadata.Record.XML"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			data, err := get(t, srv, name).XML()
			return ofXML(bytes.NewReader(data), err)
		}},
	{name: "Open", of: []string{"dois.Client.Open"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			r := must(srv.DOIs().Open(t.Context(), name, dois.FormatDataCiteXML))(t)
			defer r.Close()
			return ofXML(r, nil)
		}},
	{name: "Metadata of mds", of: []string{"mds.Client.Metadata"},
		read: func(t *testing.T, srv *datacitetest.Server, name string) (*dois.Record, error) {
			doc, err := srv.MDS().Metadata(t.Context(), name)
			if err != nil {
				return nil, err
			}
			return ofXML(bytes.NewReader(doc.Data), nil)
		}},
}

// A sink is what a record is written with.
type sink struct {
	name  string
	of    []string
	copy  bool // writes another DOI
	write func(*testing.T, *datacitetest.Server, string, *dois.Record) ([]datacite.Finding, error)
}

const seamAddress = "https://example.org/"

var sinks = []sink{
	{name: "Update with a Draft of the record", of: []string{"dois.Record.Draft", "dois.Client.Update"},
		write: func(t *testing.T, srv *datacitetest.Server, name string, r *dois.Record) ([]datacite.Finding, error) {
			d := &dois.Draft{Record: r.Record}
			if r.Raw != nil {
				var err error
				if d, err = r.Draft(); err != nil {
					return nil, err
				}
			}
			return warningsOf(srv.DOIs().Update(t.Context(), name, d))
		}},
	{name: "Create of a copy", copy: true, of: []string{"dois.Client.Create"},
		write: func(t *testing.T, srv *datacitetest.Server, name string, r *dois.Record) ([]datacite.Finding, error) {
			d := &dois.Draft{Record: r.Record}
			if r.Raw != nil {
				var err error
				if d, err = r.Draft(); err != nil {
					return nil, err
				}
			}
			d.DOI, d.URL, d.Event = name, seamAddress, dois.EventPublish
			return warningsOf(srv.DOIs().Create(t.Context(), d))
		}},
	{name: "Register", of: []string{"mds.Client.Register", "mds.Client.PutMetadata", "mds.Client.Mint", "mds.NewDocument"},
		write: func(t *testing.T, srv *datacitetest.Server, name string, r *dois.Record) ([]datacite.Finding, error) {
			doc, err := mds.NewDocument(&r.Record)
			if err != nil {
				return nil, err
			}
			done, err := srv.MDS().Register(t.Context(), name, seamAddress, doc, nil)
			if err != nil {
				return nil, err
			}
			return done.Warnings, nil
		}},
	{name: "reconcile.Ensure", of: []string{"reconcile.Client.Ensure", "reconcile.Client.EnsureAll"},
		write: func(t *testing.T, srv *datacitetest.Server, name string, r *dois.Record) ([]datacite.Finding, error) {
			done, err := srv.Reconcile().Ensure(t.Context(),
				reconcile.Desired{DOI: name, URL: seamAddress, State: datacite.StateFindable, Metadata: &r.Record,
					Whole: true}, nil)
			if err != nil {
				return nil, err
			}
			return done.Record.Warnings, nil
		}},
	{name: "reconcile.Ensure with XML",
		write: func(t *testing.T, srv *datacitetest.Server, name string, r *dois.Record) ([]datacite.Finding, error) {
			data, err := r.XML()
			if err != nil {
				return nil, err
			}
			done, err := srv.Reconcile().Ensure(t.Context(),
				reconcile.Desired{DOI: name, URL: seamAddress, State: datacite.StateFindable, XML: data}, nil)
			if err != nil {
				return nil, err
			}
			return done.Record.Warnings, nil
		}},
	{name: "Audit and EnsureAll", of: []string{"reconcile.Client.Audit", "reconcile.Corrections"},
		write: func(t *testing.T, srv *datacitetest.Server, name string,
			r *dois.Record) (warnings []datacite.Finding, err error) {
			desired := func(yield func(reconcile.Desired, error) bool) {
				yield(reconcile.Desired{DOI: name, URL: seamAddress, State: datacite.StateFindable, Metadata: &r.Record,
					Whole: true},
					nil)
			}
			diffs := srv.Reconcile().Audit(t.Context(), desired,
				&reconcile.AuditOptions{Prefix: []string{"10.5072"},
					Kinds: []reconcile.DifferenceKind{reconcile.KindMissing, reconcile.KindChanged}})
			for done, err := range srv.Reconcile().EnsureAll(t.Context(), reconcile.Corrections(diffs), nil) {
				require.NoError(t, err)
				require.NotErrorIs(t, done.Err, reconcile.ErrNotAsDesired)
				if done.Found == nil {
					continue
				}
				for _, c := range done.Changes {
					named := slices.ContainsFunc(r.Warnings, func(f datacite.Finding) bool { return about(f.Path, c.Path) })
					assert.True(t, named, "a record differs from itself: %s; findings: %v", c, r.Warnings)
				}
			}
			return nil, nil
		}},
}

func warningsOf(r *dois.Record, err error) ([]datacite.Finding, error) {
	if err != nil {
		return nil, err
	}
	return r.Warnings, nil
}

// A record that is read in any way and written in any other is stored unchanged, or refused,
// or a finding names what became different. A second pass changes nothing.
func TestSeams(t *testing.T) {
	for k, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for i, from := range outlets {
			for j, to := range sinks {
				if *seams == 0 && (i+j+k)%2 > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", b, from.name, to.name), func(t *testing.T) {
					t.Parallel()
					srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true})
					defer srv.Close()
					passed := 0
					for seed := range uint64(max(*seams, 1)) {
						seed += 4 // the first is a record with nearly all properties, and markup in its texts
						for k, first := range []string{"XML", "JSON"} {
							if *seams == 0 && (j/2+k)%2 > 0 {
								continue
							}
							if pass(t, srv, fmt.Sprintf("10.5072/%s-%d", first, seed), first, seed, from, to) {
								passed++
							}
						}
					}
					// it refuses letters beyond ASCII
					if *seams > 0 && (b == datacitetest.Documented || !slices.Contains(from.of, "mds.Client.Metadata")) {
						assert.Positive(t, passed, "all were refused")
					}
				})
			}
		}
	}
}

// pass registers a random record, hands it from an outlet to a sink three times, and reports whether
// it was taken.
func pass(t *testing.T, srv *datacitetest.Server, name, first string, seed uint64, from outlet, to sink) bool {
	t.Helper()
	rec := datacitetest.RandomRecord(seed)
	if first == "XML" {
		doc := must(mds.NewDocument(rec))(t)
		must(srv.MDS().Register(t.Context(), name, seamAddress, doc, nil))(t)
	} else {
		must(srv.DOIs().Create(t.Context(),
			&dois.Draft{DOI: name, URL: seamAddress, Event: dois.EventPublish, Record: *rec}))(t)
	}
	var documents [4][]byte
	documents[0] = documentOf(get(t, srv, name))
	for n := 1; n < len(documents); n++ {
		r, err := from.read(t, srv, name)
		if err == nil {
			if to.copy {
				name += "-copy"
				r.DOI = ""
			}
			var said []datacite.Finding
			said, err = to.write(t, srv, name, r)
			said = append(said, r.Warnings...)
			if err == nil {
				documents[n] = documentOf(get(t, srv, name))
				unchanged(t, documents[n-1], documents[n], &r.Record, said, from.plain,
					fmt.Sprintf("seed %d, %s, pass %d", seed, first, n))
			}
		}
		if err != nil {
			sent, isSent := errors.AsType[*datacite.Error](err)
			require.False(t, isSent, "seed %d: refused by the service: %v", seed, sent)
			require.True(t, errors.Is(err, datacite.ErrInvalid) || errors.Is(err, mds.ErrReplacedCharacters), "seed %d: %v",
				seed, err)
			return false
		}
	}
	assert.Equal(t, string(documents[2]), string(documents[3]),
		"seed %d, %s: what the service normalises is settled after the second pass", seed, first)
	return true
}

// documentOf is the XML of a record, without its DOI.
func documentOf(r *dois.Record) []byte {
	return identifier.ReplaceAll(r.MetadataXML, []byte("<identifier${1}></identifier>"))
}

var identifier = regexp.MustCompile(`<identifier([^>]*)>[^<]*</identifier>`)

// unchanged compares two documents. Where a record came without XML, markup that the service
// does not show may be lost. What the JSON has beside the XML that the service wrote of it may come into the XML.
func unchanged(t *testing.T, before, after []byte, read *metadata.Record, said []datacite.Finding, plain bool,
	what string) {
	t.Helper()
	was := must(metadata.ParseXML(bytes.NewReader(before)))(t)
	is := must(metadata.ParseXML(bytes.NewReader(after)))(t)
	changes := metadata.Diff(was, is)
	if !plain {
		old, now := textsOf(was), textsOf(is)
		for text, path := range old {
			if now[text] == "" {
				changes = append(changes, metadata.Change{Path: path, Desired: text})
			}
		}
		for text, path := range now {
			if old[text] == "" {
				changes = append(changes, metadata.Change{Path: path, Found: text})
			}
		}
	}
	differs := map[string]bool{}
	for _, c := range metadata.Diff(read, is) {
		differs[c.Path] = true
	}
	for _, c := range changes {
		if c.Desired == "" && !differs[c.Path] {
			continue
		}
		assert.True(t, slices.ContainsFunc(said, func(f datacite.Finding) bool {
			return about(f.Path, c.Path)
		}), "%s: %s; findings: %v", what, c, said)
	}
}

// textsOf are the texts of a record that the service shows as HTML, or with references resolved,
// with the name of their property before them; each has one of its paths.
func textsOf(r *metadata.Record) map[string]string {
	all := map[string]string{}
	add := func(text, format string, args ...any) {
		path := fmt.Sprintf(format, args...)
		all[strings.SplitN(path, "[", 2)[0]+": "+strings.Join(strings.Fields(text), " ")] = path
	}
	titles := func(path string, list []metadata.Title) {
		for i, v := range list {
			add(v.Title, "%stitles[%d].title", path, i)
		}
	}
	titles("", r.Titles)
	for i, v := range r.Subjects {
		if !strings.HasPrefix(v.Subject, "FOS: ") { // the service adds some
			add(v.Subject, "subjects[%d].subject", i)
		}
	}
	for i, v := range r.Descriptions {
		add(v.Description, "descriptions[%d].description", i)
	}
	for i, v := range r.Sizes {
		add(v, "sizes[%d]", i)
	}
	for i, v := range r.Formats {
		add(v, "formats[%d]", i)
	}
	for i, v := range r.GeoLocations {
		add(v.Place, "geoLocations[%d].geoLocationPlace", i)
	}
	for i, v := range r.FundingReferences {
		add(v.AwardNumber, "fundingReferences[%d].awardNumber", i)
	}
	for i, v := range r.RelatedItems {
		titles(fmt.Sprintf("relatedItems[%d].", i), v.Titles)
		add(v.Volume, "relatedItems[%d].volume", i)
		add(v.Publisher, "relatedItems[%d].publisher", i)
		add(v.Edition, "relatedItems[%d].edition", i)
	}
	return all
}

// noSeam are functions of the API with records that neither hand one out nor write it, or
// that do it through another one.
var noSeam = map[string]string{
	"dois.Client.ChangeState": "returns the response of Update", "dois.Client.Transfer": "sends no record",
	"reconcile.Difference.String": "a text for people",
	"dois.Record.Clone":           "a copy", "dois.Record.Decode": "parts of Raw", "dois.Record.Has": "no record",
	"dois.Client.List": "the records of All", "mds.Client.DeleteDraft": "no metadata",
	"mds.Document.Findings": "no record", "mds.XML": "bytes as they are",
	"metadata.Record.Clone": "a copy", "metadata.Record.Findings": "no record",
	"metadata.Record.OwnNames": "no record", "metadata.Record.Title": "a text for people", "metadata.Record.Validate": "no record",
	"metadata.Diff": "compares", "metadata.DiffXML": "compares", "metadata.Upgrade": "changes records of older schemas " +
		"on purpose",
	"dois.Client.Citation": "a text for people",
}

var apiFunc = regexp.MustCompile(`^pkg datacite/(dois|dois/archive|mds|metadata|reconcile), func (?:\(\*?(\w+)\) ` +
	`)?(\w+)(\(.*)$`)

// A function of the API that hands out a record or writes one has its row.
func TestEachSeamHasItsRow(t *testing.T) {
	rows := map[string]bool{}
	for _, s := range outlets {
		for _, name := range s.of {
			rows[name] = true
		}
	}
	for _, s := range sinks {
		for _, name := range s.of {
			rows[name] = true
		}
	}
	files := must(filepath.Glob("../../api/*.txt"))(t)
	found := map[string]bool{}
	for _, file := range files {
		text := must(os.ReadFile(file))(t)
		for line := range strings.Lines(string(text)) {
			m := apiFunc.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil || !regexp.MustCompile(
				`\b(Record|Draft|Document|Desired|Outcome|Item|Difference|Page|Format)\b`).MatchString(m[2]+m[4]) {
				continue
			}
			name := strings.Replace(m[1]+"."+m[2]+"."+m[3], "..", ".", 1)
			found[name] = true
			assert.True(t, rows[name] != (noSeam[name] != ""), "%s needs a row in outlets or in sinks, or a reason in noSeam",
				name)
		}
	}
	for name := range rows {
		assert.True(t, found[name], "%s is not in the API", name)
	}
}

var writes = flag.Int("writes", 50, "random records that are written on each road")

// junk is what forms, exports and typing leave in the texts of records.
var junk = []string{
	"", " ", "Alps", " Alps ", "R&D Lab", "<i>Alps</i>", "a < b", "fr", "fr ", "FR", "xx-invalid-", "2020", "2020-13-45",
	"0054", "Größe", "a\tb\nc", "\ufeffAlps", "]]>",
	"10.5072/x", " 10.5072/x ", "doi:10.5072/x", "https://example.org/", "not a uri", "0000-0001-5727-2427", "https://orcid.org/0000-0001-5727-2427", "ORCID", "ROR", "181", "x\x01", "x\xff", "null",
}

// spoilt is a random record with junk in some of its texts.
func spoilt(seed uint64) *metadata.Record {
	r, random := datacitetest.RandomRecord(seed), rand.New(rand.NewPCG(seed, 30))
	all := textsWithin(reflect.ValueOf(r).Elem(), nil)
	for range 1 + random.IntN(3) {
		all[random.IntN(len(all))].SetString(junk[random.IntN(len(junk))])
	}
	return r
}

// textsWithin are the texts of a record, also those that are empty.
func textsWithin(v reflect.Value, found []reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return append(found, v)
	case reflect.Pointer:
		if !v.IsNil() {
			return textsWithin(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = textsWithin(v.Index(i), found)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() && !slices.Contains([]string{"DOI", "SchemaVersion"}, field.Name) {
				found = textsWithin(value, found)
			}
		}
	}
	return found
}

// What is written is stored as it was given, or refused, or the result has a warning that
// names what became different.
func TestNothingIsLostWithoutAWarning(t *testing.T) {
	const address = "https://example.org/"
	roads := map[string]func(*testing.T, *datacitetest.Server, string, *metadata.Record) ([]datacite.Finding, error){
		"mds": func(t *testing.T, srv *datacitetest.Server, name string, r *metadata.Record) ([]datacite.Finding, error) {
			doc, err := mds.NewDocument(r)
			if err != nil {
				return nil, err
			}
			done, err := srv.MDS().Register(t.Context(), name, address, doc, nil)
			if err != nil {
				return nil, err
			}
			return done.Warnings, nil
		},
		"dois, published": func(t *testing.T, srv *datacitetest.Server, name string,
			r *metadata.Record) ([]datacite.Finding, error) {
			return create(t, srv, &dois.Draft{DOI: name, URL: address, Event: dois.EventPublish, Record: *r})
		},
		"dois, a draft": func(t *testing.T, srv *datacitetest.Server, name string,
			r *metadata.Record) ([]datacite.Finding, error) {
			return create(t, srv, &dois.Draft{DOI: name, Record: *r})
		},
	}
	for road, write := range roads {
		t.Run(road, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
			defer srv.Close()
			stored, refused, warned := 0, 0, 0
			for seed := range *writes {
				name := fmt.Sprintf("10.5072/w%d", seed)
				given := spoilt(uint64(seed))
				warnings, err := write(t, srv, name, given)
				if err != nil {
					refused++
					require.ErrorIs(t, err, datacite.ErrInvalid, "seed %d", seed)
					sent, isSent := errors.AsType[*datacite.Error](err)
					assert.False(t, isSent, "seed %d: it was sent, and refused by the service: %v", seed, sent)
					continue
				}
				found := must(srv.DOIs().Get(t.Context(), name, nil))(t)
				changes := metadata.Diff(given, &found.Record)
				for _, c := range changes {
					assert.True(t, slices.ContainsFunc(warnings, func(f datacite.Finding) bool {
						return about(f.Path, c.Path)
					}), "seed %d: %s; warnings: %v", seed, c, warnings)
				}
				if stored++; len(changes) > 0 {
					warned++
				}
			}
			t.Logf("%d stored, %d of them with a warning of a difference; %d refused", stored, warned, refused)
			assert.Positive(t, stored)
			assert.Positive(t, refused)
		})
	}
}

func create(t *testing.T, srv *datacitetest.Server, d *dois.Draft) ([]datacite.Finding, error) {
	t.Helper()
	made, err := srv.DOIs().Create(t.Context(), d)
	if err != nil {
		return nil, err
	}
	return made.Warnings, nil
}

// about reports whether one of two paths leads to the other.
func about(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, inside := strings.CutPrefix(b, a)
	return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
