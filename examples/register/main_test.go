package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/mds"
)

func noEnvironment(string) string { return "" }

func start(ctx context.Context, args []string, getenv func(string) string, out, notes *bytes.Buffer) error {
	return run(ctx, &program.Program{Name: "register", Args: args, Getenv: getenv, Stdout: out, Stderr: notes})
}

func TestRegister(t *testing.T) {
	for _, file := range []string{"record.json", "record.xml"} {
		t.Run(file, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, start(t.Context(), []string{"-doi", "10.5072/a", "-url", "https://repo.example.org/a", file}, noEnvironment, &out, &bytes.Buffer{}))
			assert.Equal(t, "in memory: 10.5072/a created, now findable, leads to https://repo.example.org/a\n", out.String())
		})
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, start(t.Context(), []string{"-wait", "-url", "https://repo.example.org/a", "record.xml"}, noEnvironment, &out, &bytes.Buffer{}))
		assert.Regexp(t, `^in memory: 10\.5072/\S+ created, now findable, leads to \S+\nin memory: 10\.5072/\S+ resolves\n$`, out.String())
	})
}

func TestDryRunPrintsBothStepsAndSendsNothing(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, start(t.Context(), []string{"-dry-run", "-live", "-doi", "10.5072/a", "-url", "https://repo.example.org/a+b", "record.json"}, noEnvironment, &out, &bytes.Buffer{}))
	first, second, ok := strings.Cut(out.String(), "PUT https://mds.test.datacite.org/doi/10.5072/a\n")
	require.True(t, ok, out.String())
	assert.True(t, strings.HasPrefix(first, "PUT https://mds.test.datacite.org/metadata/10.5072/a\nContent-Type: application/xml;charset=UTF-8\n\n<?xml"), first)
	assert.Contains(t, first, "<title>Glacier length</title>")
	assert.Equal(t, "Content-Type: text/plain;charset=UTF-8\n\ndoi=10.5072/a\nurl=https://repo.example.org/a%2Bb\n\n", second)
	assert.NotContains(t, out.String(), "Authorization")
}

// TestWhatIsLostIsNamed has members that nobody knows on all levels, and the odd
// forms that the service itself writes, of which nothing is lost.
func TestWhatIsLostIsNamed(t *testing.T) {
	for _, tt := range []struct {
		name, member string
		lost         []string
	}{
		{"none", `"language":"en"`, nil},
		{"at the top", `"titel":"x"`, []string{"titel"}},
		{"in another case", `"Sizes":["1"]`, []string{"Sizes"}},
		{"the service's own", `"identifiers":[{"identifier":"a","identifierType":"b"}],"state":"findable"`, []string{"state"}},
		{"in a list", `"subjects":[{"subject":"ice"},{"subject":"snow","scheme":"x"}]`, []string{"subjects[1].scheme"}},
		{"in a list of a list", `"contributors":[{"name":"A","contributorType":"Editor","affiliation":[{"name":"U","rorId":"x"}]}]`, []string{"contributors[0].affiliation[0].rorId"}},
		{"in a single item", `"subjects":{"subject":"ice","scheme":"x"}`, []string{"subjects.scheme"}},
		{"unreadable", `"geoLocations":[{"geoLocationPlace":"Svalbard","geoLocationBox":{"west":1}}]`, []string{"geoLocations[0].geoLocationBox"}},
		{"of nothing", `"titel":null,"subjects":[null],"formats":[],"container":{},"contentUrl":"","version":""`, nil},
		{"an item of nothing", `"subjects":[{},{"subject":"ice"}]`, nil},
		{"a publisher's", `"publisher":{"name":"P","identifier":"x"}`, []string{"publisher.identifier"}},
		{"single items, numbers and texts", `"sizes":"5 MB","version":1,"subjects":"ice","publisher":{"name":"P"}`, nil},
		{"an old polygon", `"geoLocations":[{"geoLocationPolygon":{"polygonPoint":[{"pointLongitude":1,"pointLatitude":2},{"pointLongitude":1,"pointLatitude":3},{"pointLongitude":2,"pointLatitude":2},{"pointLongitude":1,"pointLatitude":2}]}}]`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const rest = `"creators":[{"name":"Example Group","nameType":"Organizational"}],"titles":[{"title":"Glacier"}],"publisher":"P","publicationYear":"2026","types":{"resourceTypeGeneral":"Dataset"}`
			file := filepath.Join(t.TempDir(), "record.json")
			require.NoError(t, os.WriteFile(file, []byte("{"+rest+","+tt.member+"}"), 0o600))
			for _, more := range []string{"-dry-run", "-wait=false"} {
				var out, notes bytes.Buffer
				require.NoError(t, start(t.Context(), []string{"-url", "https://a.example/", file, more}, noEnvironment, &out, &notes))
				var lost []string
				for line := range strings.Lines(notes.String()) {
					if path, ok := strings.CutSuffix(line, ": a record has no such member, or cannot read it; it is left out\n"); ok {
						lost = append(lost, strings.TrimPrefix(path, "warning: "))
					}
				}
				assert.Equal(t, tt.lost, lost, notes.String())
			}
		})
	}
}

func TestFindingsAreShownAndErrorsStop(t *testing.T) {
	xml, err := os.ReadFile("record.xml")
	require.NoError(t, err)
	record, err := os.ReadFile("record.json")
	require.NoError(t, err)
	for _, tt := range []struct {
		name, content, says string
		stops               bool
	}{
		{"a.json", strings.Replace(string(record), `"publicationYear": 2026,`, `"publicationYear": 2026, "dates": [{"date": "soon", "dateType": "Issued"}],`, 1), "warning: dates[0].date: ", false},
		{"b.json", strings.Replace(string(record), `"Dataset"`, `"Dataset!"`, 1), "error: types.resourceTypeGeneral: ", true},
		{"c.xml", strings.Replace(string(xml), "<resourceType ", `<dates><date dateType="Issued">soon</date></dates><resourceType `, 1), "warning: line 16, ", false},
		{"d.xml", strings.Replace(string(xml), "<publicationYear>2026</publicationYear>", "", 1), "error: line ", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), tt.name)
			require.NoError(t, os.WriteFile(file, []byte(tt.content), 0o600))
			for _, more := range []string{"-dry-run", "-wait=false"} {
				var out, notes bytes.Buffer
				err := start(t.Context(), []string{"-doi", "10.5072/a", "-url", "https://a.example/", file, more}, noEnvironment, &out, &notes)
				assert.Contains(t, notes.String(), tt.says)
				if !tt.stops {
					assert.NoError(t, err)
					assert.Contains(t, out.String(), "10.5072/a")
					continue
				}
				assert.ErrorContains(t, err, "errors in the record: 1; nothing was sent")
				assert.Empty(t, out.String())
			}
		})
	}
}

// TestTheNameInTheRecord: a DOI is permanent, so it has to be the one that is meant.
func TestTheNameInTheRecord(t *testing.T) {
	for from, to := range map[string]string{`{`: `{"doi":"10.5072/mine",`, `identifierType="DOI">`: `identifierType="DOI">10.5072/mine`} {
		name := map[bool]string{true: "record.json", false: "record.xml"}[from == "{"]
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), from, to, 1)), 0o600))
		for _, doi := range []string{"10.5072/MINE", "10.5072/yours", ""} {
			args := []string{"-url", "https://a.example/", file}
			if doi != "" {
				args = append(args, "-doi", doi)
			}
			var out bytes.Buffer
			err := start(t.Context(), args, noEnvironment, &out, &bytes.Buffer{})
			if doi == "10.5072/MINE" {
				require.NoError(t, err)
				continue
			}
			assert.ErrorContains(t, err, "names 10.5072/mine, and "+cmp.Or(doi, "10.5072/"))
			assert.ErrorContains(t, err, "would be registered; give -doi 10.5072/mine")
			assert.Empty(t, out.String())
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	err := start(ctx, []string{"-doi", "10.5072/a", "-url", "https://a.example/", "record.xml"}, noEnvironment, &bytes.Buffer{}, &bytes.Buffer{})
	assert.EqualError(t, err, "interrupted; run this again with -doi 10.5072/a, which may be registered in part")
}

// TestAMadeUpNameIsNotLost: a second run without -doi would register another one.
func TestAMadeUpNameIsNotLost(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/metadata/") && r.Method == http.MethodPut:
			w.WriteHeader(http.StatusCreated)
		case r.Method == http.MethodGet:
			http.NotFound(w, r)
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	defer srv.Close()
	account := func(name string) string { return name }
	err := start(t.Context(), []string{"-live", "-mds", srv.URL, "-url", "https://a.example/", "record.xml"}, account, &bytes.Buffer{}, &bytes.Buffer{})
	require.Error(t, err)
	assert.Regexp(t, `\n(10\.5072/\S+) has its metadata, but not its URL; run this again with -doi 10\.5072/\S+$`, err.Error())
}

// TestWaitNamesTheResolver that was asked, which need not be the global one.
func TestWaitNamesTheResolver(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	resolver := httptest.NewServer(http.RedirectHandler("https://a.example/", http.StatusFound))
	defer resolver.Close()
	account := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}
	var out bytes.Buffer
	err := start(t.Context(), []string{"-live", "-wait", "-mds", srv.URL, "-resolver", resolver.URL, "-doi", "10.5072/a", "-url", "https://a.example/", "record.xml"},
		func(name string) string { return account[name] }, &out, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Equal(t, "10.5072/a created, now findable, leads to https://a.example/\n10.5072/a resolves at "+resolver.URL+"\n", out.String())
}

// TestWaitNeedsAResolver: where nothing can be waited for, nothing is sent.
func TestWaitNeedsAResolver(t *testing.T) {
	account := map[string]string{"DATACITE_USERNAME": "A", "DATACITE_PASSWORD": "b"}
	requests := 0
	store := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer store.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, tt := range []struct {
		resolver []string
		code     int
		says     string
	}{
		{nil, 2, "-wait needs -resolver: where the DOIs of " + store.URL + " resolve is not known"},
		{[]string{"-resolver", closed.URL}, 3, "-wait: the resolver cannot be asked, and nothing was sent: "},
		{[]string{"-resolver", store.URL}, 3, "is neither a redirect nor 404"},
	} {
		before := requests
		err := start(t.Context(), append([]string{"-live", "-wait", "-mds", store.URL, "-url", "https://a.example/", "record.xml"}, tt.resolver...),
			func(name string) string { return account[name] }, &bytes.Buffer{}, &bytes.Buffer{})
		require.ErrorContains(t, err, tt.says)
		assert.Equal(t, tt.code, program.Code(err))
		assert.LessOrEqual(t, requests-before, 1, "the look at the resolver")
	}
	for address, resolver := range map[string]string{datacite.Test.MDS: mds.TestResolver, datacite.Production.MDS + "/": "https://doi.org", "https://mds.example.org": ""} {
		assert.Equal(t, resolver, settings{mds: address}.resolverURL())
	}
}

func TestByteOrderMark(t *testing.T) {
	for _, name := range []string{"record.json", "record.xml"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, append([]byte("\ufeff"), data...), 0o600))
		require.NoError(t, start(t.Context(), []string{"-url", "https://a.example/", file}, noEnvironment, &bytes.Buffer{}, &bytes.Buffer{}), name)
	}
}

func TestYearsOfTwoDigits(t *testing.T) {
	for name, years := range map[string][]string{"record.json": {"26", `"26"`, `"0026"`}, "record.xml": {"26", "0026"}} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, year := range years {
			file := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(file, bytes.Replace(data, []byte("2026"), []byte(year), 1), 0o600))
			var out, notes bytes.Buffer
			err = start(t.Context(), []string{"-url", "https://a.example/", file}, noEnvironment, &out, &notes)
			require.Error(t, err, year)
			assert.Regexp(t, "year of two digits; write all four|year of publication is four digits", notes.String()+err.Error(), year)
			assert.Empty(t, out.String())
		}
	}
}

func TestQuiet(t *testing.T) {
	var out, notes bytes.Buffer
	args := []string{"-quiet", "-url", "https://a.example/", "record.xml"}
	require.ErrorContains(t, start(t.Context(), args, noEnvironment, &out, &notes), "-quiet needs -doi")
	require.NoError(t, start(t.Context(), append(args, "-doi", "10.5072/a"), noEnvironment, &out, &notes))
	assert.Empty(t, out.String()+notes.String())
}

func TestHelp(t *testing.T) {
	var out, notes bytes.Buffer
	require.ErrorIs(t, start(t.Context(), []string{"-h"}, noEnvironment, &out, &notes), flag.ErrHelp)
	for _, part := range []string{"register [flags] -url URL record ", "Environment, with -live:", "Output:", "Exit codes:\n  0  ", "-quiet", "-dry-run"} {
		assert.Contains(t, out.String(), part)
	}
	assert.Empty(t, notes.String())
}

func TestFaults(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd.json")
	require.NoError(t, os.WriteFile(odd, []byte(`{"titles":[]}`), 0o600))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"record.xml"}, "give -url and one file"},
		{[]string{"-url", "https://repo.example.org/a"}, "give -url and one file"},
		{[]string{"-url", "https://repo.example.org/a", "nowhere.xml"}, "nowhere.xml"},
		{[]string{"-url", "https://repo.example.org/a", "main.go"}, "in no format that the service accepts"},
		{[]string{"-url", "https://repo.example.org/a", odd}, "odd.json: errors in the record: 5; nothing was sent"},
		{[]string{"-url", "repo.example.org", "record.xml"}, "does not start with one of http://"},
		{[]string{"items.csv"}, "items.csv is a table, and this registers one record; registertable registers tables"},
		{[]string{"-url", "https://a.example/", "record.xml", "-mds", datacite.Test.MDS}, "add -live to register there"},
		{[]string{"-url", "https://a.example/", "record.xml", "-resolver", mds.TestResolver, "-live"}, "-resolver has no effect without -live and -wait"},
		{[]string{"-url", "https://a.example/", "record.xml", "-prefix", "10.5072", "-doi", "10.5072/a"}, "-prefix has no effect with -doi"},
		{[]string{"-url", "https://a.example/", "record.xml", "-mds", "", "-live"}, "-mds is given and empty; is a variable not set?"},
		{[]string{"-doi", "10.5072/a b", "-url", "https://repo.example.org/a", "record.xml"}, "new names cannot have"},
		{[]string{"-live", "-url", "https://repo.example.org/a", "record.xml"}, "-live needs DATACITE_USERNAME and DATACITE_PASSWORD"},
	} {
		var out bytes.Buffer
		assert.ErrorContains(t, start(t.Context(), tt.args, noEnvironment, &out, &bytes.Buffer{}), tt.want, strings.Join(tt.args, " "))
	}
	assert.ErrorIs(t, start(t.Context(), []string{"-doi", "x", "-url", "https://a.example/", "record.xml"}, noEnvironment, &bytes.Buffer{}, &bytes.Buffer{}), datacite.ErrInvalidDOI)
}

func TestAHiddenDOI(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	account := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}
	registers := func() error {
		return start(t.Context(), []string{"-live", "-mds", srv.URL, "-api", srv.URL, "-doi", "10.5072/a", "-url", "https://a.example/", "record.xml"},
			func(name string) string { return account[name] }, &bytes.Buffer{}, &bytes.Buffer{})
	}
	require.NoError(t, registers())
	require.NoError(t, srv.MDS().Hide(t.Context(), "10.5072/a"))
	err := registers()
	require.ErrorContains(t, err, "10.5072/a is hidden, or may be, and registering it would show it; audit -fix changes it")
	assert.NotContains(t, err.Error(), "EnsureOptions", "those are for programs")
	assert.Equal(t, datacitetest.StateRegistered, srv.State("10.5072/a"))
}
