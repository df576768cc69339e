package testkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
)

// documentedCodes are those of the list in the comment of [datacite.Code].
var documentedCodes = func() []datacite.Code {
	text, err := os.ReadFile(filepath.Join("..", "..", "finding.go"))
	if err != nil {
		panic(err)
	}
	comment, _, _ := strings.Cut(string(text), "\ntype Code string")
	var codes []datacite.Code
	for _, m := range regexp.MustCompile(`(?m)^//   - ([a-z-]+): `).FindAllStringSubmatch(comment, -1) {
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
	out := must(exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard", "../../...").Output())(t)
	exports, own := map[string]string{}, []compiled{}
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var p compiled
		err := in.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		exports[p.ImportPath] = p.Export
		if p.ImportPath == root || strings.HasPrefix(p.ImportPath, module) && !strings.HasPrefix(p.ImportPath, module+"datacitetest/internal/") {
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
