package testkit_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateAPI = flag.Bool("update-api", false, "write the exported API to api/v0.1.0.txt")

// TestAPI compares the exported API with api/v0.1.0.txt, one declaration a line, so that no change of it goes
// unseen.
func TestAPI(t *testing.T) {
	const file = "../../api/v0.1.0.txt"
	now := exportedAPI(t)
	if *updateAPI {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(slices.Sorted(maps.Keys(now)), "\n")+"\n"), 0o644))
		return
	}
	assert.Equal(t, declarationsIn(t, file), now,
		"the API has changed: go test ./internal/testkit -run TestAPI -update-api")
}

func declarationsIn(t *testing.T, file string) map[string]bool {
	t.Helper()
	text := must(os.ReadFile(file))(t)
	lines := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines[line] = true
		}
	}
	return lines
}

// exportedAPI has a line for each exported constant, variable, function, method, type
// and field of the public packages.
func exportedAPI(t *testing.T) map[string]bool {
	lines := map[string]bool{}
	for _, file := range publicFiles(t) {
		w := &apiWriter{fset: file.fset, pkg: path.Join("datacite", file.dir), lines: lines}
		for _, d := range file.parsed.Decls {
			w.declaration(d)
		}
	}
	return lines
}

// A sourceFile is one of a package in the folder dir of the module.
type sourceFile struct {
	dir    string
	fset   *token.FileSet
	parsed *ast.File
}

// publicFiles are the files of the public packages, without tests.
func publicFiles(t *testing.T) (all []sourceFile) {
	t.Helper()
	for name := range imports(t) {
		if strings.Contains(name, "internal/") || strings.HasPrefix(name, "examples/") {
			continue
		}
		dir := strings.TrimPrefix(name, root)
		files := must(filepath.Glob(filepath.Join("..", "..", dir, "*.go")))(t)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			parsed := must(parser.ParseFile(fset, file, nil, parser.SkipObjectResolution))(t)
			all = append(all, sourceFile{dir, fset, parsed})
		}
	}
	return all
}

type apiWriter struct {
	fset  *token.FileSet
	pkg   string
	lines map[string]bool
}

func (w *apiWriter) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			of := w.text(d.Recv.List[0].Type)
			if !ast.IsExported(strings.TrimLeft(of, "*")) {
				return
			}
			receiver = "(" + of + ") "
		}
		if d.Name.IsExported() {
			w.line("func %s%s%s", receiver, d.Name, strings.TrimPrefix(w.text(unnamed(d.Type)), "func"))
		}
	case *ast.GenDecl:
		typed := ""
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					w.typeOf(s)
				}
			case *ast.ValueSpec:
				if s.Type != nil || len(s.Values) > 0 {
					typed = ""
				}
				if s.Type != nil {
					typed = " " + w.text(s.Type)
				}
				w.values(d.Tok, s, typed)
			}
		}
	}
}

func (w *apiWriter) values(kind token.Token, s *ast.ValueSpec, typed string) {
	for i, name := range s.Names {
		if !name.IsExported() {
			continue
		}
		value := ""
		if kind == token.CONST && i < len(s.Values) {
			value = " = " + w.text(s.Values[i])
		}
		w.line("%s %s%s%s", kind, name, typed, value)
	}
}

func (w *apiWriter) typeOf(s *ast.TypeSpec) {
	switch of := s.Type.(type) {
	case *ast.StructType:
		w.line("type %s struct", s.Name)
		for _, f := range of.Fields.List {
			if len(f.Names) == 0 {
				w.line("type %s struct, %s", s.Name, w.text(f.Type))
			}
			for _, name := range f.Names {
				if name.IsExported() {
					w.line("type %s struct, %s %s", s.Name, name, w.text(f.Type))
				}
			}
		}
	case *ast.InterfaceType:
		w.line("type %s interface", s.Name)
		for _, m := range of.Methods.List {
			for _, name := range m.Names {
				w.line("type %s interface, %s%s", s.Name, name, strings.TrimPrefix(w.text(unnamed(m.Type.(*ast.FuncType))), "func"))
			}
		}
	default:
		w.line("type %s %s", s.Name, w.text(s.Type))
	}
}

// unnamed is a type without the names of parameters, which callers do not see.
func unnamed(f *ast.FuncType) *ast.FuncType {
	strip := func(l *ast.FieldList) *ast.FieldList {
		if l == nil {
			return nil
		}
		out := &ast.FieldList{}
		for _, field := range l.List {
			for range max(len(field.Names), 1) {
				out.List = append(out.List, &ast.Field{Type: field.Type})
			}
		}
		return out
	}
	return &ast.FuncType{TypeParams: f.TypeParams, Params: strip(f.Params), Results: strip(f.Results)}
}

func (w *apiWriter) line(format string, args ...any) {
	w.lines["pkg "+w.pkg+", "+fmt.Sprintf(format, args...)] = true
}

// text is a node on one line.
func (w *apiWriter) text(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, w.fset, n); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
