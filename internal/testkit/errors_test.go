package testkit_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// TestTemporary asks about all statuses, and about errors of each package.
func TestTemporary(t *testing.T) {
	for status := range 600 {
		want := status == 0 || status/100 == 2 || status == 408 || status == 429 || status >= 500 && status != 501
		for page, want := range map[string]bool{"": want, "<html>": want || status == 403} {
			err := fmt.Errorf("more: %w", &datacite.Error{StatusCode: status, Body: []byte(page), Err: syscall.ECONNRESET})
			assert.Equal(t, want, datacite.Temporary(err), status)
		}
	}
	for _, err := range []error{
		nil, context.Canceled, &datacite.ValidationError{}, syscall.ECONNRESET, // not of a request
		&datacite.Error{Err: context.Canceled},
		&datacite.Error{Err: datacite.ErrUnauthorized}, // no login to send
		&datacite.Error{Err: &tls.CertificateVerificationError{Err: errors.New("expired")}},
		&datacite.Error{StatusCode: 412, Err: mds.ErrMetadataMissing},
		&reports.SubmitError{State: reports.SubmitIncomplete, Err: &datacite.Error{Err: context.Canceled}},
		&reports.SubmitError{State: reports.SubmitBroken, Err: &datacite.Error{StatusCode: 502}},
	} {
		assert.False(t, datacite.Temporary(err), "%v", err)
	}
	for _, err := range []error{
		reports.ErrBusy,
		&reports.SubmitError{State: reports.SubmitIncomplete, Err: &datacite.Error{StatusCode: 502}},
		mds.ErrUnconfirmed, &datacite.Error{StatusCode: 408, Err: mds.ErrTimeout},
	} {
		assert.True(t, datacite.Temporary(err), "%v", err)
	}
}

// A request of the caller's own has the client's login, retries and errors, and is sent
// twice only if the caller allows it.
func TestRequestsOfTheCaller(t *testing.T) {
	lost := &datacitetest.Fault{Kind: datacitetest.FaultStatus}
	faults := datacitetest.First(lost, nil, lost)
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true, Faults: faults})
	defer srv.Close()
	res, err := srv.DOIs().Do(t.Context(),
		&datacite.Request{Method: http.MethodGet, Path: "/dois", Query: url.Values{"page[size]": {"0"}}})
	require.NoError(t, err, "a read is sent again")
	assert.JSONEq(t, `[]`, string(dataOf(t, res.Body)))
	assert.Len(t, srv.Requests(), 2)
	assert.Equal(t, "page%5Bsize%5D=0", srv.Requests()[0].URL.RawQuery)

	draft := &datacite.Request{Method: http.MethodPost, Path: "/dois", ContentType: "application/vnd.api+json",
		Body: []byte(`{"data":{"type":"dois","attributes":{"doi":"10.5072/own"}}}`)}
	_, err = srv.DOIs().Do(t.Context(), draft)
	require.ErrorIs(t, err, datacite.ErrUnclear)
	assert.ErrorContains(t, err, "dois.Do: POST ")
	assert.Len(t, srv.Requests(), 3, "sent once")
	res = must(srv.DOIs().Do(t.Context(), draft))(t)
	assert.Equal(t, http.StatusCreated, res.StatusCode)
	assert.NotEmpty(t, res.RequestID)

	_, err = srv.MDS().Do(t.Context(), &datacite.Request{Method: http.MethodGet, Path: "/doi/10.5072/unknown"})
	require.ErrorIs(t, err, datacite.ErrNotFound)
	assert.ErrorContains(t, err, "mds.Do: GET ")
	require.Error(t, only(srv.Reports().Do(t.Context(),
		&datacite.Request{Method: http.MethodDelete, Path: "/reports/none", Repeatable: true})))
	for _, bad := range []*datacite.Request{nil, {}, {Method: "GET"}, {Method: "GET", Path: "dois"},
		{Method: "GET", Path: "/dois?a=b"}} {
		require.ErrorIs(t, only(srv.DOIs().Do(t.Context(), bad)), datacite.ErrInvalid)
	}
}

// One condition for each status, unless the response means something else.
func TestConditions(t *testing.T) {
	of := map[int]error{
		400: datacite.ErrBadRequest, 401: datacite.ErrUnauthorized, 403: datacite.ErrForbidden, 404: datacite.ErrNotFound,
		405: datacite.ErrNotAllowed, 409: datacite.ErrConflict,
		413: datacite.ErrTooLarge, 415: datacite.ErrMediaType, 422: datacite.ErrInvalid, 429: datacite.ErrRateLimited, 500: datacite.ErrServer, 503: datacite.ErrServer,
	}
	for status := range of {
		for _, condition := range of {
			assert.Equal(t, condition == of[status], errors.Is(&datacite.Error{StatusCode: status}, condition), "%d, %v", status,
				condition)
		}
	}
	assert.ErrorIs(t, &datacite.Error{StatusCode: 404}, datacite.ErrNotFound)
	assert.NotErrorIs(t, &datacite.Error{StatusCode: 404, Err: datacite.ErrUnauthorized}, datacite.ErrNotFound)
	assert.ErrorIs(t, &datacite.Error{StatusCode: 404, Err: datacite.ErrUnauthorized}, datacite.ErrUnauthorized)
	assert.NotErrorIs(t, &datacite.Error{StatusCode: 422, Err: mds.ErrMetadataMissing}, datacite.ErrInvalid)
	assert.ErrorIs(t, &datacite.Error{StatusCode: 403, Err: context.DeadlineExceeded}, datacite.ErrForbidden,
		"what ended the retries changes nothing")
	assert.NotErrorIs(t, &datacite.Error{StatusCode: 403, Body: []byte(" <html>")}, datacite.ErrForbidden)
	assert.ErrorIs(t, datacite.Invalid(datacite.Finding{Err: datacite.ErrInvalidDOI}), datacite.ErrInvalidDOI)

	refused := datacite.Invalidf("r", datacite.CodeSyntax, "%q: %w", "x", io.ErrUnexpectedEOF)
	assert.Equal(t, []datacite.Finding{{Path: "r", Code: datacite.CodeSyntax, Reason: `"x": unexpected EOF`,
		Err: io.ErrUnexpectedEOF}}, datacite.Findings(refused))
	assert.ErrorIs(t, refused, io.ErrUnexpectedEOF)
	assert.ErrorIs(t, datacite.Invalidf("r", datacite.CodeLimit, "%w, %w", io.EOF, io.ErrShortBuffer), io.ErrShortBuffer)
	assert.NotErrorIs(t, datacite.Invalidf("r", datacite.CodeSyntax, "%v", io.EOF), io.EOF)
	assert.ErrorContains(t, only(dois.NewClient(datacite.Config{})),
		"datacite: Config.Service.API: is empty; set Config.Service to datacite.Test or datacite.Production")
}

func dataOf(t *testing.T, body []byte) json.RawMessage {
	t.Helper()
	var list struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(body, &list))
	return list.Data
}

// broken are values that their types read from JSON.
var broken = []json.Unmarshaler{
	new(metadata.Affiliation), new(metadata.Coordinate), new(metadata.List[int]), new(metadata.Polygon),
	new(metadata.Polygons), new(metadata.Publisher), new(metadata.Types), new(metadata.Year),
	new(dois.Record),
	new(reports.CountryCounts), new(reports.Dataset), new(reports.Exception), new(reports.Header), new(reports.Instance), new(reports.NameValue), new(reports.Performance), new(reports.Period), new(reports.Report), new(reports.TypedValue),
}

// only is the error of a function with one more result.
func only[T any](_ T, err error) error { return err }

func text(s string) io.Reader { return strings.NewReader(s) }

// bad calls each exported function and method that takes input, has no context and returns an
// error, with bad input.
func bad(t *testing.T) map[string]func() error {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	t.Cleanup(srv.Close)
	days, err := counter.OpenDays(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = days.Close() })
	wrong := &reports.Report{}
	t.Setenv("DATACITE_SERVICE", "x")
	about := &logs.Descriptions{}
	t.Cleanup(func() { _ = about.Close() })
	calls := map[string]func() error{
		"datacite.FromEnvironment": func() error { return only(datacite.FromEnvironment()) },
		"datacite.ParseService":    func() error { return only(datacite.ParseService("x")) },
		"doi.Parse":                func() error { return only(doi.Parse("x")) },
		"doi.CheckNew":             func() error { return doi.CheckNew("x") },
		"doi.CheckPrefix":          func() error { return doi.CheckPrefix("x") },
		"query.Check":              func() error { return query.Check(query.Or()) },
		"query.CheckList": func() error {
			return query.CheckList(nil, "x", query.Page{Number: -1}, query.Sample{})
		},
		"query.Parse":                 func() error { return only(query.Parse("(")) },
		"metadata.FindingsXML":        func() error { return only(metadata.FindingsXML(nil)) },
		"metadata.ValidateXML":        func() error { return metadata.ValidateXML(text("<resource>")) },
		"metadata.ParseXML":           func() error { return only(metadata.ParseXML(text("<resource>"))) },
		"metadata.ParseJSON":          func() error { return only(metadata.ParseJSON(text("[]"))) },
		"metadata.Upgrade":            func() error { return only(metadata.Upgrade(text("<resource/>"), nil)) },
		"metadata.Record.Validate":    func() error { return new(metadata.Record).Validate() },
		"metadata.Record.XML":         func() error { return only((&metadata.Record{Version: "\x01"}).XML()) },
		"metadata.Coordinate.Degrees": func() error { return only(metadata.Coordinate("x").Degrees()) },
		"dois.NewClient":              func() error { return only(dois.NewClient(datacite.Config{})) },
		"reconcile.NewClient":         func() error { return only(reconcile.NewClient(datacite.Config{})) },
		"reconcile.Corrections":       func() error { return last(over(reconcile.Corrections(nil))) },
		"dois.Record.Draft":           func() error { return only((*dois.Record)(nil).Draft()) },
		"dois.Timestamp.Time":         func() error { return only(dois.Timestamp("x").Time()) },
		"archive.Reader.All":          func() error { return only(end(archive.NewReader(text("{"), nil).All())) },
		"mds.NewClient":               func() error { return only(mds.NewClient(datacite.Config{})) },
		"mds.NewDocument":             func() error { return only(mds.NewDocument(&metadata.Record{})) },
		"reports.Group": func() error {
			return only(end(reports.Group(func(yield func(reports.Row, error) bool) { yield(reports.Row{}, nil) }, nil)))
		},
		"reports.TokenExpiry": func() error { return only(reports.TokenExpiry("x")) },
		"reports.NewClient":   func() error { return only(reports.NewClient(datacite.Config{})) },
		"reports.Date.Time":   func() error { return only(reports.Date("x").Time()) },
		"reports.ReadFile":    func() error { _, _, err := reports.ReadFile(text("x")); return err },
		"reports.WriteFile": func() error {
			return reports.WriteFile(io.Discard, reports.Header{}, reports.Source([]reports.Dataset{{Title: "\xff"}}))
		},
		"reports.Header.EndOn":        func() error { return new(reports.Header).EndOn("x") },
		"reports.NewReader":           func() error { return only(reports.NewReader(text("x"))) },
		"reports.Reader.All":          func() error { return only(end(cutReport(t).All())) },
		"reports.Reader.Scan":         func() error { return only(end(cutReport(t).Scan())) },
		"reports.Report.Validate":     wrong.Validate,
		"reports.Dataset.MarshalJSON": func() error { return only(reports.Dataset{Title: "\xff"}.MarshalJSON()) },
		"counter.Count": func() error {
			return only(end(counter.Count(func(yield func(counter.Event, error) bool) { yield(counter.Event{}, nil) }, nil)))
		},
		"counter.NewAgents":      func() error { return only(counter.NewAgents("(")) },
		"counter.ReadAgents":     func() error { return only(counter.ReadAgents(text("("))) },
		"counter.OpenDays":       func() error { return only(counter.OpenDays(t.TempDir(), &counter.Options{Memory: -1})) },
		"counter.Days.Add":       func() error { return only(days.Add([]counter.EventLog{{}}, nil)) },
		"counter.Days.Rows":      func() error { return only(end(days.Rows(reports.Period{BeginDate: "x"}))) },
		"counter.Event.Validate": func() error { return counter.Event{DOI: "x"}.Validate() },
		"logs.Read": func() error {
			return only(end(logs.Read([]logs.Log{{Name: "a", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(text("x\n")), nil
			}}}, logs.JSON, nil)))
		},
		"logs.Descriptions.Add": func() error { return about.Add(logs.Description{}) },
		"logs.Descriptions.Describe": func() error {
			unsorted := []reports.Dataset{{DatasetID: []reports.TypedValue{{Type: "doi", Value: "10.5072/b"}}},
				{DatasetID: []reports.TypedValue{{Type: "doi", Value: "10.5072/a"}}}}
			return only(end(about.Describe(reports.Source(unsorted))))
		},
		"logs.Stats.Check": func() error {
			return (&logs.Stats{Faults: []logs.CodeFaults{
				{Code: "date", Lines: 1, First: []datacite.Finding{{Code: "date", Reason: "x"}}}}}).Check(logs.Tolerance{})
		},
		"datacitetest.Server.PutRecord":     func() error { return srv.PutRecord(nil) },
		"datacitetest.Server.PutRecordJSON": func() error { return srv.PutRecordJSON([]byte("{")) },
		"datacitetest.Server.PutReport":     func() error { return only(srv.PutReport(nil)) },
		"datacitetest.Server.PutReportJSON": func() error { return only(srv.PutReportJSON([]byte("{"))) },
		"datacitetest.Server.AwaitRequest":  func() error { return only(srv.AwaitRequest(context.Background(), nil)) },
		"datacitetest.Server.Restore":       func() error { return srv.Restore(text("x")) },
	}
	for _, v := range broken {
		name, _, _ := strings.Cut(reflect.TypeOf(v).Elem().String(), "[")
		calls[name+".UnmarshalJSON"] = func() error { return v.UnmarshalJSON([]byte(`{"a":`)) }
	}
	return calls
}

func cutReport(t *testing.T) *reports.Reader {
	r := must(reports.NewReader(text(`{"report-header":{},"report-datasets":[{]}`)))(t)
	return r
}

// unrefusing are the functions that return an error and refuse no input, and the reason.
var unrefusing = map[string]string{
	"datacite.Invalid": "makes the error", "datacite.Invalidf": "makes the error", "datacite.ValidationError.Except": "is the error",
	"datacite.Config.MarshalText": "fails always",
	"datacitetest.Server.Record":  "datacite.ErrNotFound", "datacitetest.Server.Save": "the writer's error", "datacitetest.Server.Resolve": "datacite.ErrNotFound", "datacitetest.StoredReport.Report": "what a GET returns",
	"dois.Record.Decode": "what the service sent", "reports.Source": "a list", "datacite.Each": "a list", "logs.Descriptions.All": "what was added",
}

// failing are the exported functions and methods without a context that return an error, or a
// sequence with errors.
func failing(t *testing.T) (names []string) {
	t.Helper()
	aside := []string{"Error", "Is", "As", "Unwrap", "Close", "Flush", "MarshalJSON"}
	withContext := takesContext(t)
	for _, file := range publicFiles(t) {
		for _, d := range file.parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !ast.IsExported(qualified(f)) || f.Type.Results == nil ||
				slices.Contains(aside, f.Name.Name) {
				continue
			}
			name := file.parsed.Name.Name + "." + qualified(f)
			last := f.Type.Results.List[len(f.Type.Results.List)-1].Type
			if list, ok := last.(*ast.IndexListExpr); ok {
				last = list.Indices[1]
			}
			kind, _ := last.(*ast.Ident)
			if kind != nil && kind.Name == "error" && !slices.Contains(withContext, name) && unrefusing[name] == "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// refusal requires that an error is one of the vocabulary: it matches ErrInvalid, and names a
// fault with a documented code and a reason.
func refusal(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, datacite.ErrInvalid)
	found := datacite.Findings(err)
	require.NotEmpty(t, found, "%v", err)
	for _, f := range found {
		assert.Contains(t, documentedCodes, f.Code, "%v", f)
		assert.NotEmpty(t, f.Reason)
		assert.False(t, f.Warning)
	}
}

// Whatever refuses input does so in one vocabulary, in every package.
func TestRefusals(t *testing.T) {
	calls := bad(t)
	for _, name := range failing(t) {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, calls, name, "has no call with bad input")
			refusal(t, calls[name]())
		})
	}
}

// Methods with a context refuse arguments that are zero, except where these are the defaults.
func TestZeroArguments(t *testing.T) {
	defaults := []string{
		"dois.Client.List", "dois.Client.All", "dois.Client.Pages", "dois.Walk.All", "dois.Walk.Pages", "reports.Client.List",
		"reports.Client.All",
	}
	for name, f := range functions(newScene(t, datacitetest.Password, func() { t.Error("a request was sent") })) {
		if slices.Contains(defaults, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for i := 1; i < f.Type().NumIn(); i++ {
				args = append(args, reflect.Zero(f.Type().In(i)))
			}
			refusal(t, outcome(f, args))
		})
	}
}

// must is the result of a call that may not fail.
func must[T any](result T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}

// documentedCodes are the constants of [datacite.Code].
var documentedCodes = func() []datacite.Code {
	text, err := os.ReadFile(filepath.Join("..", "..", "finding.go"))
	if err != nil {
		panic(err)
	}
	var codes []datacite.Code
	for _, m := range regexp.MustCompile(`(?m)^\tCode\w+ +Code = "([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
		codes = append(codes, datacite.Code(m[1]))
	}
	return codes
}()

// A compiled package, as go list shows it.
type compiled struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Standard                bool
}

// Every code that the source mentions is in the list, and every code of the list is used. The
// type tells them from other texts.
func TestCodesAreDocumented(t *testing.T) {
	out := must(exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard",
		"../../...").Output())(t)
	exports, own := map[string]string{}, []compiled{}
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var p compiled
		err := in.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		exports[p.ImportPath] = p.Export
		if p.ImportPath == root || strings.HasPrefix(p.ImportPath,
			module) && !strings.HasPrefix(p.ImportPath, module+"datacitetest/internal/") {
			own = append(own, p)
		}
	}
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	used := map[datacite.Code]string{}
	for _, p := range own {
		var sources []*ast.File
		for _, name := range p.GoFiles {
			file := must(parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution))(t)
			sources = append(sources, file)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		must((&types.Config{Importer: from}).Check(p.ImportPath, files, sources, info))(t)
		for expr, v := range info.Types {
			if v.Value != nil && types.Unalias(v.Type).String() == root+".Code" && constant.StringVal(v.Value) != "" {
				used[datacite.Code(constant.StringVal(v.Value))] = files.Position(expr.Pos()).String()
			}
		}
	}
	require.NotEmpty(t, used)
	for code, place := range used {
		assert.Contains(t, documentedCodes, code, place)
	}
	for _, code := range documentedCodes {
		assert.Contains(t, slices.Collect(maps.Keys(used)), code)
	}
	sorted := slices.Clone(documentedCodes)
	slices.Sort(sorted)
	assert.Equal(t, slices.Compact(sorted), sorted, "each once")
}
