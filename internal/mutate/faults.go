package main

import (
	"bytes"
	"cmp"
	_ "embed" // for the functions that the sources call
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A fault is one change of the source.
type fault struct {
	id          int // from 1
	place, what string
}

func (f fault) in(folder string) string { return filepath.Join(folder, f.place) + ": " + f.what }

// A pkg is a package with the faults that can be put into it.
type pkg struct {
	path   string
	name   string
	folder string
	files  []*source
	set    *token.FileSet
	info   types.Info
	faults []fault
}

// A source is a file with its edits.
type source struct {
	path   string
	data   []byte
	syntax *ast.File
	edits  []edit
}

// An edit writes text at an offset, in place of some bytes.
type edit struct {
	offset, deleted int
	text            string
	order           int // among edits at the same offset
}

// load reads a package and finds its faults.
func load(folder string) (*pkg, error) {
	list := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Name,Dir,Export,GoFiles,DepOnly", ".")
	list.Dir, list.Stderr = folder, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: go list: %w", folder, err)
	}
	p := &pkg{set: token.NewFileSet(), info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct {
			ImportPath, Name, Dir, Export string
			GoFiles                       []string
			DepOnly                       bool
		}
		if err := d.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[listed.ImportPath] = listed.Export
		if listed.DepOnly {
			continue
		}
		p.path, p.name, p.folder = listed.ImportPath, listed.Name, listed.Dir
		for _, name := range listed.GoFiles {
			s := &source{path: filepath.Join(listed.Dir, name)}
			if s.data, err = os.ReadFile(s.path); err != nil {
				return nil, err
			}
			if s.syntax, err = parser.ParseFile(p.set, s.path, s.data, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
			p.files = append(p.files, s)
		}
	}
	check := types.Config{Importer: importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	var syntax []*ast.File
	for _, s := range p.files {
		syntax = append(syntax, s.syntax)
	}
	if _, err := check.Check(p.path, p.set, syntax, &p.info); err != nil {
		return nil, err
	}
	for _, s := range p.files {
		w := walker{pkg: p, source: s}
		ast.PreorderStack(s.syntax, nil, w.visit)
	}
	return p, nil
}

//go:embed switch.go.txt
var switchText string

// overlay writes the sources with all faults, and returns the file that names them for go build.
func (p *pkg) overlay(temp string) (string, error) {
	replace := map[string]string{}
	write := func(path string, data []byte) error {
		replace[path] = filepath.Join(temp, filepath.Base(path))
		return os.WriteFile(replace[path], data, 0o600)
	}
	for _, s := range p.files {
		if err := write(s.path, s.rewritten()); err != nil {
			return "", err
		}
	}
	if err := write(filepath.Join(p.folder, "zz_mutate.go"), []byte("package "+p.name+"\n"+switchText)); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(temp, "overlay.json")
	return name, os.WriteFile(name, data, 0o600)
}

func (s *source) rewritten() []byte {
	slices.SortFunc(s.edits, func(a, b edit) int { return cmp.Or(a.offset-b.offset, a.order-b.order) })
	var out []byte
	at := 0
	for _, e := range s.edits {
		out = append(append(out, s.data[at:e.offset]...), e.text...)
		at = e.offset + e.deleted
	}
	return append(out, s.data[at:]...)
}

// A walker finds the faults of a file.
type walker struct {
	*pkg
	source *source
}

// add notes a fault of a node, which gets text around it; %d stands for the number of the fault.
func (w *walker) add(n ast.Node, what, before, after string) {
	id := len(w.faults) + 1
	start, end := w.set.Position(n.Pos()), w.set.Position(n.End())
	text, _, more := strings.Cut(string(w.source.data[start.Offset:end.Offset]), "\n")
	if more {
		text += " …"
	}
	place := fmt.Sprintf("%s:%d:%d", filepath.Base(start.Filename), start.Line, start.Column)
	w.faults = append(w.faults, fault{id, place, what + ": " + text})
	// What is outside was added first. At one offset, the ends of nodes come before the starts of others.
	w.source.edits = append(w.source.edits,
		edit{start.Offset, 0, strings.Replace(before, "%d", strconv.Itoa(id), 1), id},
		edit{end.Offset, 0, after, -id})
}

func (w *walker) visit(n ast.Node, stack []ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType: // its length is a constant
		return false
	case *ast.Field:
		return false
	case *ast.BlockStmt:
		w.statements(n.List)
	case *ast.CaseClause:
		w.statements(n.Body)
	case *ast.CommClause:
		w.statements(n.Body)
	case *ast.ReturnStmt:
		w.errors(n, stack)
	case *ast.BasicLit:
		w.constant(n, stack)
	case ast.Expr:
		w.condition(n, stack)
	}
	return true
}

// statements drops statements one at a time.
func (w *walker) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "panic" {
				continue
			}
		case *ast.AssignStmt:
			blank := !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return types.ExprString(e) != "_" })
			if s.Tok == token.DEFINE || blank {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt:
		case *ast.BranchStmt:
			if s.Tok != token.BREAK && s.Tok != token.CONTINUE {
				continue
			}
		default:
			continue
		}
		w.add(s, "left out", "if !mutateOn(%d) { ", " }")
	}
}

// errors returns nil in place of an error.
func (w *walker) errors(n *ast.ReturnStmt, stack []ast.Node) {
	var results *ast.FieldList
	for _, outer := range slices.Backward(stack) {
		if f, ok := outer.(*ast.FuncDecl); ok {
			results = f.Type.Results
			break
		}
		if f, ok := outer.(*ast.FuncLit); ok {
			results = f.Type.Results
			break
		}
	}
	if results == nil || len(n.Results) == 0 || len(n.Results) != results.NumFields() {
		return
	}
	last, declared := n.Results[len(n.Results)-1], results.List[len(results.List)-1].Type
	if types.ExprString(declared) == "error" && types.ExprString(last) != "nil" {
		w.add(last, "nil in place of", "mutateError(%d, ", ")")
	}
}

// condition negates conditions, takes equal values for the opposite, and swaps && and ||.
func (w *walker) condition(n ast.Expr, stack []ast.Node) {
	of := w.info.Types[n]
	if of.Type == nil || of.Value != nil || !of.IsValue() {
		return
	}
	plain := types.Identical(of.Type, types.Typ[types.Bool]) || types.Identical(of.Type, types.Typ[types.UntypedBool])
	b, _ := n.(*ast.BinaryExpr)
	if !plain {
		return
	}
	if b == nil {
		if isCondition(n, stack[len(stack)-1]) {
			w.add(n, "negated", "(mutateOn(%d) != (", "))")
		}
		return
	}
	operator := edit{offset: w.set.Position(b.OpPos).Offset, deleted: len(b.Op.String()), text: ", "}
	switch b.Op {
	case token.LAND:
		operator.text = ", func() bool { return ("
		w.add(n, "|| for &&", "mutateAnd(%d, ", ") })")
	case token.LOR:
		operator.text = ", func() bool { return ("
		w.add(n, "&& for ||", "mutateOr(%d, ", ") })")
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		w.add(n, "negated", "(mutateOn(%d) != (", "))")
		basic, ok := w.info.Types[b.X].Type.Underlying().(*types.Basic)
		if _, parameter := w.info.Types[b.X].Type.(*types.TypeParam); !ok || parameter || basic.Info()&types.IsOrdered == 0 {
			return
		}
		w.add(n, "equal values", fmt.Sprintf("mutateOrder(%%d, %q, ", b.Op), ")")
	case token.EQL, token.NEQ:
		w.add(n, "negated", "(mutateOn(%d) != (", "))")
		return
	default:
		return
	}
	w.source.edits = append(w.source.edits, operator)
}

// isCondition reports whether a node decides what its parent does.
func isCondition(n ast.Expr, parent ast.Node) bool {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return false // what is in it is negated
	case *ast.UnaryExpr:
		return n.Op != token.NOT
	}
	switch parent := parent.(type) {
	case *ast.IfStmt:
		return parent.Cond == n
	case *ast.ForStmt:
		return parent.Cond == n
	case *ast.BinaryExpr:
		return parent.Op == token.LAND || parent.Op == token.LOR
	case *ast.UnaryExpr:
		return parent.Op == token.NOT
	case *ast.CaseClause:
		return true // of a switch without a value: others compare with no bool
	}
	return false
}

// constant adds one to numbers, and empties texts of one word. Texts with blanks are messages
// for people.
func (w *walker) constant(n *ast.BasicLit, stack []ast.Node) {
	function := ""
	switch {
	case n.Kind == token.INT:
		function = "mutateNumber"
	case n.Kind == token.STRING && len(n.Value) > 2 && !strings.Contains(n.Value, " "):
		function = "mutateText"
	default:
		return
	}
	switch parent := stack[len(stack)-1].(type) {
	case *ast.KeyValueExpr:
		if n == parent.Key && function == "mutateNumber" {
			return // an index
		}
	case *ast.CallExpr:
		if types.ExprString(parent.Fun) == "make" && (len(parent.Args) == 3 && parent.Args[2] == n) {
			return // a capacity
		}
	}
	t := w.info.Types[n].Type
	if basic, ok := t.(*types.Basic); ok && basic.Info()&types.IsUntyped == 0 {
		w.add(n, "changed", function+"["+basic.Name()+"](%d, ", ")")
	} else if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil {
		name := named.Obj().Name()
		if named.Obj().Pkg().Path() != w.path {
			if !w.imports(named.Obj().Pkg()) {
				return
			}
			name = named.Obj().Pkg().Name() + "." + name
		}
		w.add(n, "changed", function+"["+name+"](%d, ", ")")
	}
}

// imports reports whether the file imports a package under its own name.
func (w *walker) imports(p *types.Package) bool {
	return slices.ContainsFunc(w.source.syntax.Imports, func(i *ast.ImportSpec) bool {
		return i.Name == nil && i.Path.Value == strconv.Quote(p.Path())
	})
}
