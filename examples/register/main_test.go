package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/mds"
)

func empty(string) string { return "" }

func TestRegister(t *testing.T) {
	for _, file := range []string{"record.json", "record.xml"} {
		t.Run(file, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, run(t.Context(), []string{"-doi", "10.5072/a", "-url", "https://repo.example.org/a", file}, empty, &out))
			assert.Equal(t, "10.5072/a created, now findable, leads to https://repo.example.org/a\n", out.String())
		})
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), []string{"-wait", "-url", "https://repo.example.org/a", "record.xml"}, empty, &out))
		assert.Regexp(t, `^10\.5072/\S+ created, now findable, leads to \S+\nhttps://doi\.org/10\.5072/\S+ resolves\n$`, out.String())
	})
}

func TestDryRunPrintsBothStepsAndSendsNothing(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-dry-run", "-live", "-doi", "10.5072/a", "-url", "https://repo.example.org/a+b", "record.json"}, empty, &out))
	first, second, ok := strings.Cut(out.String(), "PUT https://mds.test.datacite.org/doi/10.5072/a\n")
	require.True(t, ok, out.String())
	assert.True(t, strings.HasPrefix(first, "PUT https://mds.test.datacite.org/metadata/10.5072/a\nContent-Type: application/xml;charset=UTF-8\n\n<?xml"), first)
	assert.Contains(t, first, "<title>Glacier length</title>")
	assert.Equal(t, "Content-Type: text/plain;charset=UTF-8\n\ndoi=10.5072/a\nurl=https://repo.example.org/a%2Bb\n\n", second)
	assert.NotContains(t, out.String(), "Authorization")
}

func TestFaults(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd.json")
	require.NoError(t, os.WriteFile(odd, []byte(`{"titles":[]}`), 0o600))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"record.xml"}, "give -url and one file"},
		{[]string{"-url", "https://repo.example.org/a"}, "give -url and one file"},
		{[]string{"-url", "https://repo.example.org/a", "nowhere.xml"}, "nowhere.xml"},
		{[]string{"-url", "https://repo.example.org/a", "main.go"}, "in no format that the service takes"},
		{[]string{"-url", "https://repo.example.org/a", odd}, "odd.json: mds.Record: metadata: record is not valid"},
		{[]string{"-url", "repo.example.org", "record.xml"}, "does not start with one of http://"},
		{[]string{"-doi", "10.5072/a b", "-url", "https://repo.example.org/a", "record.xml"}, "new names cannot have"},
		{[]string{"-live", "-url", "https://repo.example.org/a", "record.xml"}, "credentials: username is empty"},
	} {
		var out bytes.Buffer
		assert.ErrorContains(t, run(t.Context(), tt.args, empty, &out), tt.want, strings.Join(tt.args, " "))
	}
	assert.ErrorIs(t, run(t.Context(), []string{"-doi", "x", "-url", "https://a.example/", "record.xml"}, empty, &bytes.Buffer{}), mds.ErrInvalidDOI)
}
