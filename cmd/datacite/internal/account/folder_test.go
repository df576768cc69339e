package account_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

// Logins lie where Windows does not copy them to other machines.
func TestFolderOfLogins(t *testing.T) {
	roaming, local := t.TempDir(), t.TempDir()
	t.Setenv("APPDATA", roaming)
	t.Setenv("LOCALAPPDATA", local)
	t.Setenv("XDG_CONFIG_HOME", roaming)
	s := &shell.Shell{Getenv: func(string) string { return "" }}
	folder, err := account.Folder(s)
	require.NoError(t, err)
	switch {
	case shelltest.IsWindows:
		assert.Equal(t, filepath.Join(local, "datacite"), folder)
	default:
		assert.NotContains(t, folder, local)
	}
	s.Getenv = func(string) string { return "mine" }
	folder, err = account.Folder(s)
	require.NoError(t, err)
	assert.Equal(t, "mine", folder)
}
