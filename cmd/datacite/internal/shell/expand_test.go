package shell

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPatternsOfNames(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Logs [1]")
	require.NoError(t, os.Mkdir(folder, 0o700))
	for _, name := range []string{"access.log", "Access.log.1", "access.log.2.gz", "é.log"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	for _, tt := range []struct {
		names, files []string
	}{
		{[]string{"ACCESS.log*", "-"}, []string{"Access.log.1", "access.log", "access.log.2.gz", "-"}},
		{[]string{"access.log.?"}, []string{"Access.log.1"}},
		{[]string{"É.*"}, []string{"é.log"}},
		{[]string{"access.log", "new.log"}, []string{"access.log", "new.log"}},
		{[]string{"access.log", "*.json"}, nil},
	} {
		in := func(names []string) (paths []string) {
			for _, name := range names {
				if name != "-" {
					name = filepath.Join(folder, name)
				}
				paths = append(paths, name)
			}
			return paths
		}
		files, err := expand(in(tt.names))
		assert.Equal(t, in(tt.files), files)
		if tt.files == nil {
			assert.ErrorContains(t, err, "no file has a name like "+filepath.Join(folder, "*.json"))
		}

		// On Windows, commands that take files get them, and others what was typed.
		for use, want := range map[string][]string{"count FILE…": files, "upgrade FILE_OR_FOLDER… --output FOLDER": files,
			"get DOI…": in(tt.names)} {
			was := expands
			expands = true
			var got []string
			cmd := &cobra.Command{Use: use, SilenceErrors: true, SilenceUsage: true,
				RunE: func(_ *cobra.Command, args []string) error {
					got = args
					return nil
				}}
			finish(cmd)
			expands = was
			cmd.SetArgs(in(tt.names))
			assert.Equal(t, err != nil && want == nil, cmd.Execute() != nil, use)
			assert.Equal(t, want, got, use)
		}
	}
}
