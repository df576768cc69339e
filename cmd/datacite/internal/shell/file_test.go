package shell_test

import (
	"os"
	"path/filepath"
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
		if err := os.Symlink(to, in(link)); err != nil {
			t.Skip("this account may make no symbolic links: ", err)
		}
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"old", "old", true}, {"old", "./old", true}, {"old", "below/../old", true}, {"old", "hard", true}, {"old", "link", true},
		{"old", "other", false}, {"old", "new", false}, {"new", "newer", false}, {"new", "below/new", false}, {"new", "none/new", false},
		{"new", "./new", true}, {"new", "NEW", true}, {"caf\u00e9", "cafe\u0301", true}, {"new", "dangling", true},
		{"below/new", "folder/new", true}, {"below/new", "folder/dangling", false},
	} {
		assert.Equal(t, tt.same, shell.IsSame(in(tt.a), in(tt.b)), "%s and %s", tt.a, tt.b)
		assert.Equal(t, tt.same, shell.IsSame(in(tt.b), filepath.Clean(in(tt.a))), "%s and %s", tt.b, tt.a)
	}
}
