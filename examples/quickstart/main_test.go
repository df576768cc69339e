package main

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func noEnvironment(string) string { return "" }

func start(t *testing.T, args []string, getenv func(string) string, out *bytes.Buffer) error {
	t.Helper()
	return run(t.Context(), args, getenv, out)
}

func TestQuickstart(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, start(t, []string{"-datasets", "300"}, noEnvironment, &out))
	for _, line := range []string{
		"is findable", "is new, a draft", "is hidden", "is gone", "2 records found",
		"sent 1 of 1 subsets: 300 datasets", "read back: 300 datasets", "The service runs in " +
			"memory", "\nAll steps done in memory: nothing real",
	} {
		assert.Contains(t, out.String(), line)
	}
	assert.Regexp(t, `(?m)^( {4}\w+ .*\n){5}  \S+-a is findable, by 5 requests\n  \S+-b is findable, by 5 requests\n  `+
		`\S+-c `, out.String(), "one DOI in detail, the others in a line each")
}

func TestQuickstartFailsWhereAStepFails(t *testing.T) {
	var out bytes.Buffer
	err := start(t, []string{"-prefix", "10.9999"}, noEnvironment, &out)
	require.ErrorContains(t, err, "403 Forbidden")
	assert.NotContains(t, out.String(), "All steps done")
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-live"}, "-live needs DATACITE_USERNAME"},
		{[]string{"-unknown"}, "-unknown"},
		{[]string{"-api", "https://api.example.org"}, "add -live to use those hosts"},
		{[]string{"-mds", "https://mds.example.org"}, "add -live to use those hosts"},
		{[]string{"-datasets", "0"}, "-datasets is 0"},
		{[]string{"-datasets", "1", "live"}, `"live" is not a flag`},
	} {
		var out bytes.Buffer
		assert.ErrorContains(t, start(t, tt.args, noEnvironment, &out), tt.want)
		assert.NotContains(t, out.String(), "The service runs in memory")
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	require.ErrorIs(t, start(t, []string{"-h"}, noEnvironment, &out), flag.ErrHelp)
	for _, part := range []string{"Usage of quickstart:", "DATACITE_TOKEN", "-datasets int"} {
		assert.Contains(t, out.String(), part)
	}
}

func TestQuickstartShowsNoSecrets(t *testing.T) {
	var out bytes.Buffer
	secrets := map[string]string{"DATACITE_USERNAME": "jane", "DATACITE_PASSWORD": "open-sesame",
		"DATACITE_TOKEN": "secret-token"}
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no login with "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	defer echo.Close()
	err := start(t, []string{"-live", "-api", echo.URL, "-mds", echo.URL}, func(name string) string {
		return secrets[name]
	}, &out)
	require.ErrorContains(t, err, "401 Unauthorized: no login with Basic REDACTED")
	for _, secret := range []string{"open-sesame", "secret-token"} {
		assert.NotContains(t, strings.ToLower(out.String()+err.Error()), secret)
	}
}
