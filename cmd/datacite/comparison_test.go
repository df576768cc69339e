package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/walk"
	"github.com/datacite-go/datacite-go/datacitetest"
)

var commonmeta = flag.String("commonmeta", "", "`program` commonmeta, to be measured for docs/comparison.md")

const hundred = 100

// dataset is metadata in DataCite's JSON. commonmeta knows that its prefix is one of DataCite's.
func dataset(n int, title string) map[string]any {
	doi := fmt.Sprintf("10.83132/glacier-%d", n)
	return map[string]any{
		"doi": doi, "url": fmt.Sprintf("https://repository.example.org/%d", n), "titles": []any{map[string]any{"title": title}},
		"creators":  []any{map[string]any{"name": "Lovelace, Ada", "nameType": "Personal", "givenName": "Ada", "familyName": "Lovelace"}},
		"publisher": map[string]any{"name": "Example Repository"}, "publicationYear": 2026, "language": "en",
		"types":         map[string]any{"resourceTypeGeneral": "Dataset"},
		"schemaVersion": "http://datacite.org/schema/kernel-4",
	}
}

// own is the same in commonmeta's own format.
func own(n int, title string) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("https://doi.org/10.83132/glacier-%d", n), "type": "Dataset", "url": fmt.Sprintf("https://repository.example.org/%d", n),
		"titles": []any{map[string]any{"title": title}}, "language": "en", "provider": "DataCite",
		"contributors": []any{map[string]any{"type": "Person", "givenName": "Ada", "familyName": "Lovelace", "contributorRoles": []any{"Author"}}},
		"publisher":    map[string]any{"name": "Example Repository"}, "date": map[string]any{"published": "2026"},
	}
}

// The jobs of docs/comparison.md, measured: the requests of datacite are those of the table.
func TestComparison(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "own"), 0o700))
	write := func(name string, value any) {
		t.Helper()
		text, err := json.Marshal(value)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	const length = "Glacier length"
	write("one.json", dataset(1, length))
	write("own/one.json", own(1, length))
	write("changed.json", dataset(1, "Length of a glacier"))
	write("own/changed.json", own(1, "Length of a glacier"))
	foreign, foreignOwn := dataset(1, length), own(1, length)
	foreign["doi"], foreignOwn["id"] = "10.57689/glacier-1", "https://doi.org/10.57689/glacier-1" // of another account
	write("foreign.json", foreign)
	write("own/foreign.json", foreignOwn)
	var all, allOwn []any
	for i := range hundred {
		all = append(all, dataset(i+1, fmt.Sprintf("Glacier %d", i+1)))
		allOwn = append(allOwn, own(i+1, fmt.Sprintf("Glacier %d", i+1)))
	}
	write("own/many.json", allOwn)
	var lines bytes.Buffer
	for _, record := range all {
		require.NoError(t, json.NewEncoder(&lines).Encode(record))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "many.jsonl"), lines.Bytes(), 0o600))

	none := func(int, *http.Request) *datacitetest.Fault { return nil }
	first := func(fault datacitetest.Fault) func() datacitetest.Faults {
		return func() datacitetest.Faults {
			done := false
			return func(_ int, r *http.Request) *datacitetest.Fault {
				if done || r.Method == http.MethodGet || r.Method == http.MethodHead {
					return nil
				}
				done = true
				return &fault
			}
		}
	}
	compared, err := os.ReadFile("../../docs/comparison.md")
	require.NoError(t, err)
	bin, _, _ := strings.Cut(path(t), ":")
	datacite := filepath.Join(bin, "datacite")
	programs := map[string]string{"datacite": datacite, "commonmeta": *commonmeta}
	login := []string{"--client", "EXAMPLE.REPO", "--password", "sandbox-password", "--development"}
	put := func(args ...string) []string {
		return append(append(args, "-f", "commonmeta", "-t", "datacite"), login...)
	}
	for _, job := range []struct {
		name     string
		before   []string                   // with datacite
		faults   func() datacitetest.Faults // nil means none
		datacite []string
		requests int
		other    []string
	}{
		{"register one", nil, nil, []string{"register", "one.json"}, 2, put("put", "own/one.json")},
		{"register one, unchanged", []string{"register", "one.json"}, nil, []string{"register", "one.json"}, 1, put("put", "own/one.json")},
		{"register one, changed", []string{"register", "one.json"}, nil, []string{"register", "changed.json"}, 2, put("put", "own/changed.json")},
		{"register one, response lost", nil, first(datacitetest.Fault{Kind: datacitetest.DropAfter}), []string{"register", "one.json"}, 3, put("put", "own/one.json")},
		{"register one, gateway fails once", nil, first(datacitetest.Fault{Kind: datacitetest.Status}), []string{"register", "one.json"}, 4, put("put", "own/one.json")},
		{"register one, prefix of another account", nil, nil, []string{"register", "foreign.json"}, 2, put("put", "own/foreign.json")},
		{"register 100", nil, nil, []string{"register", "many.jsonl"}, 200, put("push", "own/many.json")},
		{"register 100, unchanged", []string{"register", "many.jsonl", "--quiet"}, nil, []string{"register", "many.jsonl"}, 100, put("push", "own/many.json")},
		{"get", []string{"register", "one.json"}, nil, []string{"get", "10.83132/glacier-1"}, 1, []string{"convert", "10.83132/glacier-1", "-f", "datacite"}},
		{"cite", []string{"register", "one.json"}, nil, []string{"get", "10.83132/glacier-1", "--format", "citation"}, 1, []string{"convert", "10.83132/glacier-1", "-f", "datacite", "-t", "csl"}},
		{"list 25", []string{"register", "many.jsonl", "--quiet"}, nil, []string{"search", "--client", "example.repo"}, 1, []string{"list", "-f", "datacite", "--client", "example.repo", "-n", "25"}},
	} {
		for program, args := range map[string][]string{"datacite": job.datacite, "commonmeta": job.other} {
			if programs[program] == "" {
				continue
			}
			t.Run(job.name+"/"+program, func(t *testing.T) {
				faults := none
				service := datacitetest.NewServer(&datacitetest.Options{
					NoPort: true, Hosts: []string{"api.test.datacite.org", "api.datacite.org"},
					Accounts: []datacitetest.Account{{Prefixes: []string{"10.83132"}}},
					Faults:   func(n int, r *http.Request) *datacitetest.Fault { return faults(n, r) },
				})
				defer service.Close()
				slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if *commonmeta != "" {
						time.Sleep(100 * time.Millisecond) // the way to the service and back
					}
					service.ServeHTTP(w, r)
				})
				env := append(walk.Play(t, map[string]http.Handler{"api.test.datacite.org": slow, "api.datacite.org": slow}),
					"PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "DATACITE_SERVICE=test", "DATACITE_USERNAME=EXAMPLE.REPO", "DATACITE_PASSWORD=sandbox-password")
				run := func(program string, args []string) (string, error) {
					cmd := exec.CommandContext(t.Context(), program, args...)
					cmd.Dir, cmd.Env = folder, env
					out, err := cmd.CombinedOutput()
					return string(out), err
				}
				if job.before != nil {
					out, err := run(datacite, job.before)
					require.NoError(t, err, out)
				}
				before := len(service.Requests())
				if job.faults != nil {
					faults = job.faults()
				}
				began := time.Now()
				out, err := run(programs[program], args)
				took := time.Since(began)
				var requests []string
				for _, r := range service.Requests()[before:] {
					requests = append(requests, fmt.Sprintf("%s %s %d", r.Method, r.Path, r.Status))
				}
				if n := len(requests); n > 5 {
					requests = append(requests[:5:5], fmt.Sprintf("… (%d)", n))
				}
				t.Logf("%s %s: %.1f s, exit code %d, %s, %s\n%.500s", program, strings.Join(args, " "), took.Seconds(), shelltest.ExitCode(t, err),
					strings.Join(requests, "; "), service.State("10.83132/glacier-1"), out)
				if program == "datacite" {
					assert.Len(t, service.Requests()[before:], job.requests)
					assert.Contains(t, string(compared), fmt.Sprintf("\n| %s | %s", job.name, shell.Count(job.requests, "request")))
				}
			})
		}
	}
}
