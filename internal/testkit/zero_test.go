package testkit_test

import (
	"context"
	"fmt"
	"go/ast"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// given are arguments that functions accept, by their types; those of other types are zero. Of
// the names, all are tried.
var given = func() map[reflect.Type]reflect.Value {
	record, r := plain(0), report(0)
	data, err := record.XML()
	if err != nil {
		panic(err)
	}
	values := map[reflect.Type]reflect.Value{}
	for _, v := range []any{
		mds.XML(data),
		&datacite.Request{Method: "GET", Path: "/"},
		&dois.Draft{DOI: names[0], URL: "https://example.org/"}, dois.EventPublish, dois.FormatDataCiteXML, reconcile.Desired{
			DOI: names[0], URL: "https://example.org/"}, source(func() {},
			wanted), source(func() {}, difference), &reconcile.AuditOptions{Prefix: []string{"10.5072"}},
		r, r.Header, source(func() {}, dataset),
		&reports.Receipt{ReportID: names[3]},
	} {
		values[reflect.TypeOf(v)] = reflect.ValueOf(v)
	}
	return values
}()

var names = []string{"10.5072/a", "10.5072", "https://example.org/", "00000000-0000-4000-8000-000000000000"}

// combinations are the arguments of calls of a function with each combination of names.
func combinations(ctx context.Context, f reflect.Value) [][]reflect.Value {
	calls := [][]reflect.Value{nil}
	for in := range f.Type().Ins() {
		var next [][]reflect.Value
		for _, args := range calls {
			for _, v := range values(ctx, in) {
				next = append(next, append(slices.Clone(args), v))
			}
		}
		calls = next
	}
	return calls
}

// outcomes calls a function with each combination of names, and returns what came back as
// an error, or what it panicked with.
func outcomes(ctx context.Context, f reflect.Value) (errs []error) {
	for _, args := range combinations(ctx, f) {
		errs = append(errs, outcome(f, args))
	}
	return errs
}

func values(ctx context.Context, t reflect.Type) (all []reflect.Value) {
	switch {
	case t == reflect.TypeFor[context.Context]():
		v := reflect.New(t).Elem()
		if ctx != nil {
			v.Set(reflect.ValueOf(ctx))
		}
		return []reflect.Value{v}
	case t == reflect.TypeFor[string]():
		for _, text := range names {
			all = append(all, reflect.ValueOf(text))
		}
		return all
	}
	for _, v := range given {
		if v.Type().AssignableTo(t) {
			return []reflect.Value{v}
		}
	}
	return []reflect.Value{reflect.Zero(t)}
}

// outcome is the error that a call returns or, of a sequence, the first.
func outcome(f reflect.Value, args []reflect.Value) error {
	return append(everyOutcome(f, args), nil)[0]
}

// everyOutcome is the error that a call returns or, of a sequence, one for each value, which
// is nil if there is none.
func everyOutcome(f reflect.Value, args []reflect.Value) (errs []error) {
	defer func() {
		if p := recover(); p != nil {
			errs = append(errs, fmt.Errorf("panic: %v", p))
		}
	}()
	results := f.Call(args)
	last := results[len(results)-1]
	if last.Kind() != reflect.Func {
		err, _ := last.Interface().(error)
		return []error{err}
	}
	for value, end := range last.Seq2() {
		err, _ := end.Interface().(error)
		if value = reflect.Indirect(value); err == nil && value.FieldByName("Err").IsValid() { // an outcome has its own
			err, _ = value.FieldByName("Err").Interface().(error)
		}
		errs = append(errs, err)
	}
	return errs
}

// takesContext finds the exported functions and methods with a context.
func takesContext(t *testing.T) (found []string) {
	t.Helper()
	for _, file := range publicFiles(t) {
		for _, d := range file.parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			pkg := file.parsed.Name.Name // package datacite sends nothing
			if !ok || !f.Name.IsExported() || pkg == "datacitetest" || pkg == "datacite" || len(f.Type.Params.List) == 0 {
				continue
			}
			first, ok := f.Type.Params.List[0].Type.(*ast.SelectorExpr)
			if ok && first.Sel.Name == "Context" {
				found = append(found, file.parsed.Name.Name+"."+qualified(f))
			}
		}
	}
	return found
}

// functions are the functions and methods with a context, by name; those of clients are of
// the clients of a scene, or of zero ones.
func functions(s *scene) map[string]reflect.Value {
	all := map[string]reflect.Value{
		"shown.Compare": reflect.ValueOf(func(ctx context.Context, account string) iter.Seq2[*shown.Difference, error] {
			return shown.Compare(ctx, s.reports, s.dois, account, nil)
		}),
		"shown.Repair": reflect.ValueOf(func(ctx context.Context, account string, h reports.Header,
			wanted iter.Seq2[reports.Dataset, error]) error {
			_, err := shown.Repair(ctx, s.reports, s.dois, account, h, wanted, nil)
			return err
		}),
	}
	for pkg, receiver := range map[string]any{"mds": s.mds, "dois": s.dois, "reports": s.reports,
		"reconcile": s.reconcile} {
		add(all, pkg+".Client.", receiver)
	}
	add(all, "dois.Walk.", s.dois.Walk(nil))
	return all
}

func add(all map[string]reflect.Value, prefix string, receiver any) {
	for i := range reflect.TypeOf(receiver).NumMethod() {
		m := reflect.ValueOf(receiver).Method(i)
		if m.Type().NumIn() > 0 && m.Type().In(0) == reflect.TypeFor[context.Context]() {
			all[prefix+reflect.TypeOf(receiver).Method(i).Name] = m
		}
	}
}

// A nil context and a client that no NewClient made are errors that say so, and nothing is sent.
func TestNilContextsAndZeroClients(t *testing.T) {
	sound := newScene(t, datacitetest.Password, func() { t.Error("a request was sent") })
	zero := &scene{reconcile: &reconcile.Client{}, dois: &dois.Client{}, mds: &mds.Client{}, reports: &reports.Client{}}
	require.ElementsMatch(t, takesContext(t), slices.Collect(maps.Keys(functions(sound))),
		"functions with a context, and those that are tested")
	for what, s := range map[string]*scene{"ctx: is nil": sound, "NewClient": zero} {
		var ctx context.Context
		if s == zero {
			ctx = t.Context()
		}
		for name, f := range functions(s) {
			t.Run(what+"/"+name, func(t *testing.T) {
				said := false
				for _, err := range outcomes(ctx, f) {
					refusal(t, err)
					said = said || strings.Contains(err.Error(), what)
				}
				assert.True(t, said, "no error names the fault")
			})
		}
	}
}

// A nil record has no values, and checking or writing it is an error.
func TestNilRecords(t *testing.T) {
	var none *metadata.Record
	for i := range reflect.TypeFor[*metadata.Record]().NumMethod() {
		m := reflect.ValueOf(none).Method(i)
		var args []reflect.Value
		for in := range m.Type().Ins() {
			args = append(args, reflect.Zero(in))
		}
		call := m.Call
		if m.Type().IsVariadic() {
			call = m.CallSlice
		}
		results := call(args)
		if err, ok := results[len(results)-1].Interface().(error); ok ||
			m.Type().Out(len(results)-1) == reflect.TypeFor[error]() {
			require.ErrorIs(t, err, datacite.ErrInvalid, reflect.TypeFor[*metadata.Record]().Method(i).Name)
			require.ErrorContains(t, err, "nil")
		}
	}
	require.Len(t, none.Findings(), 1)
	require.ErrorIs(t, only(mds.NewDocument(none)), datacite.ErrInvalid)
	var unread *dois.Record
	require.ErrorIs(t, only(unread.Draft()), datacite.ErrInvalid)
	require.False(t, unread.Has("titles"))
	var unwritten *reports.Report
	require.EqualError(t, unwritten.Validate(), "datacite: report: is nil")
	require.Len(t, unwritten.Findings(), 1)
}
