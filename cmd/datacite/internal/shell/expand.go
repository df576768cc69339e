package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// expands: cmd.exe and PowerShell pass patterns on, which the shells of other systems expand.
var expands = runtime.GOOS == "windows"

// expand replaces names with * or ? that name no file by the files that they match, in any case.
func expand(names []string) (files []string, err error) {
	for _, name := range names {
		found := []string{name}
		if _, err := os.Lstat(name); err != nil && strings.ContainsAny(name, "*?") {
			if found, err = filepath.Glob(anyCase(name)); err != nil || len(found) == 0 {
				return nil, Wrong(fmt.Errorf("no file has a name like %s", name))
			}
		}
		files = append(files, found...)
	}
	return files, nil
}

// anyCase is the pattern of a name in which only * and ? have a meaning.
func anyCase(name string) string {
	var b strings.Builder
	for part := range strings.SplitAfterSeq(filepath.ToSlash(name), "/") {
		for _, r := range part {
			upper, lower := unicode.ToUpper(r), unicode.ToLower(r)
			switch {
			case r == '[':
				b.WriteString("[[]")
			case upper != lower && strings.ContainsAny(part, "*?"):
				b.WriteString("[" + string(upper) + string(lower) + "]")
			default:
				b.WriteRune(r)
			}
		}
	}
	return filepath.FromSlash(b.String())
}
