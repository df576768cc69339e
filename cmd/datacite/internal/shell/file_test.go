package shell_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

func TestIsSame(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return folder + "/" + name }
	require.NoError(t, os.WriteFile(in("old"), nil, 0o600))
	require.NoError(t, os.WriteFile(in("other"), nil, 0o600))
	require.NoError(t, os.Mkdir(in("below"), 0o700))
	require.NoError(t, os.Link(in("old"), in("hard")))
	for link, to := range map[string]string{"link": "old", "dangling": "new", "folder": "below"} {
		_ = os.Symlink(to, in(link)) // Windows lets few accounts do so
	}
	_, err := os.Stat(in("link"))
	links := err == nil
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"old", "old", true}, {"old", "./old", true}, {"old", "below/../old", true}, {"old", "hard", true},
		{"old", "link", true},
		{"old", "other", false}, {"old", "new",
			false}, {"new", "newer", false}, {"new", "below/new", false}, {"new", "none/new", false},
		{"new", "./new", true}, {"new", "NEW", true}, {"caf\u00e9", "cafe\u0301", true}, {"new", "dangling", true},
		{"below/new", "folder/new", true}, {"below/new", "folder/dangling", false},
	} {
		if !links && (strings.Contains(tt.b, "link") || strings.Contains(tt.b, "dangling") ||
			strings.Contains(tt.b, "folder")) {
			continue
		}
		assert.Equal(t, tt.same, shell.IsSame(in(tt.a), in(tt.b)), "%s and %s", tt.a, tt.b)
		assert.Equal(t, tt.same, shell.IsSame(in(tt.b), filepath.Clean(in(tt.a))), "%s and %s", tt.b, tt.a)
	}
}

func TestNamesOfDevices(t *testing.T) {
	if runtime.GOOS != "windows" {
		t.Skip("only Windows has devices in every folder")
	}
	folder := t.TempDir()
	for _, name := range []string{"AUX", "aux.csv", "com1.jsonl.gz", "NUL.csv", "lpt3 .csv"} {
		if filepath.IsLocal(name) {
			continue // Windows 11 keeps fewer
		}
		name = filepath.Join(folder, name)
		_, err := shell.CreateFile(name, 0o600)
		require.ErrorContains(t, err, "for a device", name)
		_, err = shell.Lock(name)
		require.ErrorContains(t, err, "for a device", name)
	}
	for _, name := range []string{"console.csv", "auxiliary.csv", "com10.csv", "con-1.csv"} {
		assert.NoError(t, shell.WriteText(filepath.Join(folder, name), 0o600, "text"), name)
	}
}

// Windows has 260 characters for a path that is given in the usual way.
func TestLongPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := strings.Repeat("a rather long name of a folder/", 10)
	require.NoError(t, os.MkdirAll(folder, 0o700))
	above, err := filepath.Abs(".")
	require.NoError(t, err)
	for _, name := range []string{filepath.Join(folder, "relative.csv"), filepath.Join(above, folder, "absolute.csv")} {
		release, err := shell.Lock(name)
		require.NoError(t, err)
		_, err = shell.Lock(name)
		require.ErrorContains(t, err, "another run writes")
		require.NoError(t, shell.WriteText(name, 0o600, "text"))
		require.NoError(t, shell.WriteText(name, 0o600, "other text"))
		file, err := shell.OpenState(name, os.O_RDONLY, 0)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		assert.True(t, shell.IsSame(name,
			filepath.Join(filepath.Dir(name), "..", filepath.Base(filepath.Dir(name)), filepath.Base(name))))
		release()
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Len(t, left, 1)
		require.NoError(t, os.Remove(name))
	}
}
