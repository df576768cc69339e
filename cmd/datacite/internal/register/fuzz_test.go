package register

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// noResults is a source without columns of its own.
type noResults struct{ source }

func (noResults) results() (columns, others []string) { return nil, nil }

// FuzzJournal: whatever a journal has, it is read or refused, and what is noted after it is found in the next run.
func FuzzJournal(f *testing.F) {
	for _, seed := range []string{
		`{"doi":"10.5072/a","made":true,"url":"https://repository.example.org/1"}` + "\n",
		`{"doi":"10.5072/a","url":"u"}` + "\n" + `{"url":"u"}` + "\n" + `{"doi":"10.5072/B","url":"u","result":"crea`,
		"\x00\x00\x00", "null\n[]\n{}\n", `{"doi":1}`,
	} {
		f.Add(seed, "10.5072/b", "https://repository.example.org/1")
	}
	f.Fuzz(func(t *testing.T, journal, name, url string) {
		path := filepath.Join(t.TempDir(), "items.registered.csv")
		require.NoError(t, os.WriteFile(path+".journal", []byte(journal), 0o600))
		first, err := loadResults(path, noResults{})
		if err != nil {
			require.ErrorContains(t, err, path+".journal: line ")
			return
		}
		require.NoError(t, first.begin())
		name = "10.5072/" + name
		noted := entry{DOI: name, Made: true, URL: url, State: "draft", Result: "created"}
		require.NoError(t, first.note(noted, false))
		require.NoError(t, first.journal.Close())
		second, err := loadResults(path, noResults{})
		require.NoError(t, err)
		kept, ok := first.ofName(name)
		require.True(t, ok)
		if !utf8.ValidString(name + url) {
			return // JSON has no such text, and no source has one
		}
		found, ok := second.ofName(name)
		require.True(t, ok)
		require.Equal(t, kept, found)
	})
}
