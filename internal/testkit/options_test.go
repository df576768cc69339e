package testkit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
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
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// TestAllFaultsOfOptionsAtOnce makes every option wrong that can be, and wants each
// named in one error.
func TestAllFaultsOfOptionsAtOnce(t *testing.T) {
	negative := func(options any) (names []string) {
		v := reflect.ValueOf(options).Elem()
		for field, value := range v.Fields() {
			if value.CanInt() && value.Kind() != reflect.Bool && field.Name != "Level" {
				value.SetInt(-1)
				names = append(names, field.Name)
			}
		}
		return names
	}
	cfg := &datacite.Config{UserAgent: "\n", Username: "a", Token: "no token"}
	wrong := append(negative(cfg), "UserAgent", "Config.Service")
	_, ofDois := dois.NewClient(*cfg)
	_, ofReconcile := reconcile.NewClient(*cfg)
	_, ofMDS := mds.NewClient(*cfg)
	_, ofReports := reports.NewClient(*cfg)
	for name, err := range map[string]error{"dois": ofDois, "mds": ofMDS, "reports": ofReports, "reconcile": ofReconcile} {
		require.ErrorIs(t, err, datacite.ErrInvalid, name)
		for _, option := range wrong {
			assert.ErrorContains(t, err, option, name)
		}
	}
	assert.ErrorContains(t, ofDois, "Config.Password")
	assert.ErrorContains(t, ofMDS, "Config.Password")
	assert.ErrorContains(t, ofDois, "Config.Token")
	assert.ErrorContains(t, ofReports, "Config.Token")

	list := &dois.ListOptions{
		States: []datacite.State{"nonsense", "other"}, Prefix: []string{"5072", "10."}, Created: "now", Published: "then",
		Fields: []string{"titel", "doi",
			"two,names"}, Facets: []string{"publishd", "resourceTypes", "resource_types"}, Include: []string{"clients"},
		IDs: []string{"a", "b"}, Page: query.Page{Number: -1},
	}
	wrong = append(negative(list), `"nonsense"`, `"other"`, `"5072"`, `"10."`, `"now"`, `"then"`, `"titel"`, `"two,names"`,
		`"publishd"`, `"clients"`, "IDs[0]", "IDs[1]", "IDs: cannot be combined", "page")
	c := must(dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost:1"}}))(t)
	_, err := c.List(t.Context(), list)
	require.ErrorIs(t, err, datacite.ErrInvalid)
	for _, option := range wrong {
		assert.ErrorContains(t, err, option)
	}
	_, again := c.List(t.Context(), list)
	assert.EqualError(t, again, err.Error(), "in the same words each time")
	assert.NotContains(t, err.Error(), `"doi"`)
	assert.NotContains(t, err.Error(), `"resource_types"`)

	submission := &reports.SubmitOptions{ID: "no id"}
	wrong = append(negative(submission), "ID")
	rc := must(reports.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost:1"}, Token: "a.b.c"}))(t)
	_, err = rc.Submit(t.Context(), reports.Header{}, reports.Source(nil), submission)
	for _, option := range wrong {
		assert.ErrorContains(t, err, option)
	}
	_, err = rc.List(t.Context(), &reports.ListOptions{CreatedBy: "a", Year: 1,
		Page: query.Page{Cursor: "1", Number: -1, Size: -1}})
	for _, option := range []string{"ListOptions: has", "Cursor", "Number", "Size"} {
		assert.ErrorContains(t, err, option)
	}
}

// A use calls a method with options and returns what it did, as text.
type use struct {
	options any // a pointer to a struct with good values
	call    func(ctx context.Context, srv *datacitetest.Server, options any) (string, error)
}

// end reads a sequence.
func end[T any](seq iter.Seq2[T, error]) (string, error) {
	var all []string
	for v, err := range seq {
		if err != nil {
			return "", err
		}
		all = append(all, fmt.Sprintf("%+v", v))
	}
	return strings.Join(all, "\n"), nil
}

func usesOfOptions(t *testing.T) map[string]use {
	wanted, locks := usageReport(1), t.TempDir()
	return map[string]use{
		"dois.GetOptions": {&dois.GetOptions{Include: []string{"client"}}, func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
			r, err := srv.DOIs().Get(ctx, "10.5072/one", o.(*dois.GetOptions))
			if err != nil {
				return "", err
			}
			return string(r.Raw), nil
		}},
		"dois.CitationOptions": {&dois.CitationOptions{Style: "apa", Locale: "en-US"}, func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
			return srv.DOIs().Citation(ctx, "10.5072/one", o.(*dois.CitationOptions))
		}},
		"reconcile.AuditOptions": {&reconcile.AuditOptions{Prefix: []string{"10.5072"}, ClientID: []string{"example.repo"}, Kinds: []reconcile.DifferenceKind{reconcile.KindExtra}}, func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
			return end(srv.Reconcile().Audit(ctx, func(func(reconcile.Desired, error) bool) {}, o.(*reconcile.AuditOptions)))
		}},

		"reconcile.Options": {&reconcile.Options{},
			func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
				return end(srv.Reconcile().EnsureAll(ctx, func(func(reconcile.Desired, error) bool) {}, o.(*reconcile.Options)))
			}},
		"reports.ListOptions": {&reports.ListOptions{Page: query.Page{Number: 1, Size: 10}},
			func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
				found, err := srv.Reports().List(ctx, o.(*reports.ListOptions))
				return fmt.Sprintf("%+v", found), err
			}},
		"reports.SubmitOptions": {&reports.SubmitOptions{LockDir: t.TempDir()},
			func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
				_, err := srv.Reports().Submit(ctx, wanted.Header, reports.Source(wanted.Datasets), o.(*reports.SubmitOptions))
				return "", err
			}},
		"reports.GroupOptions": {&reports.GroupOptions{},
			func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
				return end(reports.Group(func(func(reports.Row, error) bool) {}, o.(*reports.GroupOptions)))
			}},
		"shown.Options": {&shown.Options{}, func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
			return end(shown.Compare(ctx, srv.Reports(), srv.DOIs(), "example.repo", o.(*shown.Options)))
		}},
		"shown.RepairOptions": {&shown.RepairOptions{DryRun: true},
			func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
				opts := *o.(*shown.RepairOptions)
				opts.Submit.LockDir = locks
				did, err := shown.Repair(ctx, srv.Reports(), srv.DOIs(), "example.repo", wanted.Header,
					reports.Source(wanted.Datasets), &opts)
				if err != nil {
					return "", err
				}
				return fmt.Sprint(did.Found), nil
			}},
		"counter.Options": {&counter.Options{}, func(ctx context.Context, srv *datacitetest.Server, o any) (string, error) {
			return end(counter.Count(func(func(counter.Event, error) bool) {}, o.(*counter.Options)))
		}},
	}
}

// No options struct is left out of the test below.
func TestAllOptionsAreTried(t *testing.T) {
	tried := usesOfOptions(t)
	for folder, elsewhere := range map[string][]string{
		// TestAValueFindsNoLessThanItsParts; a reason and an account are any text
		"dois":          {"ListOptions", "EventOptions", "TransferOptions"},
		"mds":           {"RegisterOptions"}, // flags and functions
		"query":         nil,
		"reports":       nil,
		"reports/shown": nil,
	} {
		files := must(filepath.Glob("../../" + folder + "/*.go"))(t)
		require.NotEmpty(t, files)
		for _, file := range files {
			text := must(os.ReadFile(file))(t)
			for _, m := range regexp.MustCompile(`(?m)^type (\w*Options) struct`).FindAllStringSubmatch(string(text), -1) {
				_, found := tried[path.Base(folder)+"."+m[1]]
				assert.True(t, found || slices.Contains(elsewhere, m[1]), "%s.%s", folder, m[1])
			}
		}
	}
}

// harmless are the values that no check refuses, and why they mislead nobody.
var harmless = map[string]string{
	"TempDir":   "an error when a file is made there",
	"LockDir":   "an error when a file is made there",
	"HelpURL":   "checked with the header it goes into",
	"Replaces":  "a name may have a comma, and one without a report is an error",
	"CreatedBy": "a name may have a comma, and is compared as a whole",
}

// Every field of every options struct refuses a value that cannot be meant, such as a blank,
// a comma too many, an empty list or a negative number, or it does as without the value.
// ListOptions of package dois has a test of its own, TestAValueFindsNoLessThanItsParts.
func TestEveryOptionRefusesWhatCannotBeMeant(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for name, u := range usesOfOptions(t) {
			t.Run(string(behaviour)+"/"+name, func(t *testing.T) {
				srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour})
				defer srv.Close()
				must(srv.MDS().Register(t.Context(), "10.5072/one", address, mds.XML([]byte(record)), nil))(t)
				must(srv.Reports().Create(t.Context(), usageReport(1)))(t)
				base := reflect.ValueOf(u.options).Elem()
				usual, err := u.call(t.Context(), srv, u.options)
				if behaviour == datacitetest.Documented && errors.Is(err, dois.ErrNoFormat) {
					return // the specification has no citations
				}
				require.NoError(t, err)
				for field := range base.Type().Fields() {
					try := func(what string, set func(v reflect.Value)) {
						o := reflect.New(base.Type())
						o.Elem().Set(base)
						set(o.Elem().FieldByIndex(field.Index))
						sent := len(srv.Requests())
						did, err := u.call(t.Context(), srv, o.Interface())
						switch {
						case errors.Is(err, datacite.ErrInvalid):
							assert.Len(t, srv.Requests(), sent, "%s %s was sent", field.Name, what)
						case harmless[field.Name] != "":
						case assert.NoError(t, err, "%s %s", field.Name, what):
							assert.Equal(t, usual, did, "%s %s", field.Name, what)
						}
					}
					blank := func(what string) { try(fmt.Sprintf("%q", what), func(v reflect.Value) { v.SetString(what) }) }
					switch field.Type.Kind() {
					case reflect.String:
						good := base.FieldByIndex(field.Index).String()
						for _, value := range []string{" ", "\t\n", ",", good + " ", " " + good, good + ",", "," + good,
							strings.ToUpper(good)} {
							blank(value)
						}
					case reflect.Int, reflect.Int64:
						try("-1", func(v reflect.Value) { v.SetInt(-1) })
						try("0", func(v reflect.Value) { v.SetZero() })
					case reflect.Slice:
						try("an empty list", func(v reflect.Value) { v.Set(reflect.MakeSlice(v.Type(), 0, 0)) })
						for _, value := range []string{"", " ", "x,"} {
							try(fmt.Sprintf("a list of %q", value), func(v reflect.Value) {
								v.Set(reflect.MakeSlice(v.Type(), 1, 1))
								v.Index(0).SetString(value)
							})
						}
					}
				}
			})
		}
	}
}
