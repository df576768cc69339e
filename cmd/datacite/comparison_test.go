package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// Programs to be measured for docs/comparison.md, beside that of this folder.
var (
	commonmeta = flag.String("commonmeta", "", "`program` commonmeta, to be measured, too")
	cirneco    = flag.String("cirneco", "", "`program` cirneco, to be measured, too")
)

const hundred = 100

// dataset is metadata in DataCite's JSON. commonmeta knows that its prefix is one of DataCite's.
func dataset(n int, title string) map[string]any {
	doi := fmt.Sprintf("10.83132/glacier-%d", n)
	return map[string]any{
		"doi": doi, "url": fmt.Sprintf("https://repository.example.org/%d", n),
		"titles": []any{map[string]any{"title": title}},
		"creators": []any{map[string]any{"name": "Lovelace, Ada", "nameType": "Personal", "givenName": "Ada",
			"familyName": "Lovelace"}},
		"publisher": map[string]any{"name": "Example Repository"}, "publicationYear": 2026, "language": "en",
		"types":         map[string]any{"resourceTypeGeneral": "Dataset"},
		"schemaVersion": "http://datacite.org/schema/kernel-4",
	}
}

// document is the same as XML.
const document = `<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="http://datacite.org/schema/kernel-4">
  <identifier identifierType="DOI">%s</identifier>
  <creators><creator><creatorName nameType="Personal">Lovelace, Ada</creatorName></creator></creators>
  <titles><title>%s</title></titles>
  <publisher>Example Repository</publisher>
  <publicationYear>2026</publicationYear>
  <resourceType resourceTypeGeneral="Dataset"/>
</resource>
`

// schemaOrg is the same as cirneco reads many of them.
func schemaOrg(n int, title string) map[string]any {
	return map[string]any{
		"@context": "http://schema.org", "@type": "Dataset", "@id": fmt.Sprintf("https://doi.org/10.83132/glacier-%d", n),
		"name": title,
		"url": fmt.Sprintf("https://repository.example.org/%d",
			n), "datePublished": "2026", "publisher": map[string]any{"@type": "Organization", "name": "Example Repository"},
		"author": map[string]any{"@type": "Person", "name": "Ada Lovelace", "givenName": "Ada", "familyName": "Lovelace"},
	}
}

// own is the same in commonmeta's own format.
func own(n int, title string) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("https://doi.org/10.83132/glacier-%d", n), "type": "Dataset",
		"url":    fmt.Sprintf("https://repository.example.org/%d", n),
		"titles": []any{map[string]any{"title": title}}, "language": "en", "provider": "DataCite",
		"contributors": []any{map[string]any{"type": "Person", "givenName": "Ada", "familyName": "Lovelace",
			"contributorRoles": []any{"Author"}}},
		"publisher": map[string]any{"name": "Example Repository"}, "date": map[string]any{"published": "2026"},
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
	for name, text := range map[string]string{
		"one.xml":     fmt.Sprintf(document, "10.83132/glacier-1", length),
		"changed.xml": fmt.Sprintf(document, "10.83132/glacier-1", "Length of a glacier"),
		"foreign.xml": fmt.Sprintf(document, "10.57689/glacier-1", length),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	var all, allOwn, allSchemaOrg []any
	for i := range hundred {
		all = append(all, dataset(i+1, fmt.Sprintf("Glacier %d", i+1)))
		allOwn = append(allOwn, own(i+1, fmt.Sprintf("Glacier %d", i+1)))
		allSchemaOrg = append(allSchemaOrg, schemaOrg(i+1, fmt.Sprintf("Glacier %d", i+1)))
	}
	write("own/many.json", allOwn)
	write("many.json", allSchemaOrg)
	var lines bytes.Buffer
	for _, record := range all {
		require.NoError(t, json.NewEncoder(&lines).Encode(record))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "many.jsonl"), lines.Bytes(), 0o600))

	first := func(fault datacitetest.Fault) func() datacitetest.Faults {
		return func() datacitetest.Faults {
			var done atomic.Bool
			return func(_ int, r *http.Request) *datacitetest.Fault {
				if r.Method == http.MethodGet || r.Method == http.MethodHead || done.Swap(true) {
					return nil
				}
				return &fault
			}
		}
	}
	compared := shelltest.Read(t, "../../docs/comparison.md")
	programs := map[string]string{"datacite": os.Args[0], "commonmeta": *commonmeta, "cirneco": *cirneco}
	if *commonmeta+*cirneco != "" { // it is measured, and is not the program of tests, which waits less
		bin, _, _ := strings.Cut(programPath(t), ":")
		programs["datacite"] = filepath.Join(bin, "datacite")
	}
	const (
		put  = " -f commonmeta -t datacite --client EXAMPLE.REPO --password sandbox-password --development"
		user = " --sandbox --username EXAMPLE.REPO --password sandbox-password"
		doi  = "10.83132/glacier-1"
		url  = " && doi put 10.83132/glacier-1 --url https://repository.example.org/1" + user
	)
	for _, job := range []struct {
		name                string
		before              string                     // with datacite
		faults              func() datacitetest.Faults // nil means none
		datacite            string
		requests            int
		commonmeta, cirneco string
	}{
		{"register one", "", nil, "register one.json", 2, "put own/one.json" + put, "metadata post one.xml" + user + url},
		{"register one, unchanged", "register one.json", nil, "register one.json", 1, "put own/one.json" + put,
			"metadata post one.xml" + user + url},
		{"register one, changed", "register one.json", nil, "register changed.json", 2, "put own/changed.json" + put,
			"metadata post changed.xml" + user + url},
		{"register one, response lost", "", first(datacitetest.Fault{Kind: datacitetest.FaultDropAfter}), "register one.json",
			3, "put own/one.json" + put,
			"metadata post one.xml" + user},
		{"register one, gateway fails once", "", first(datacitetest.Fault{Kind: datacitetest.FaultStatus}),
			"register one.json", 4, "put own/one.json" + put,
			"metadata post one.xml" + user},
		{"register one, prefix of another account", "", nil, "register foreign.json", 2, "put own/foreign.json" + put,
			"metadata post foreign.xml" + user},
		{"register 100", "", nil, "register many.jsonl", 200, "push own/many.json" + put,
			"metadata put many.json" + user + " && doi post many.json" + user},
		{"register 100, unchanged", "register many.jsonl --quiet", nil, "register many.jsonl", 100,
			"push own/many.json" + put,
			"metadata put many.json" + user + " && doi post many.json" + user},
		{"get", "register one.json", nil, "get " + doi, 1, "convert " + doi + " -f datacite", "metadata get " + doi + user},
		{"cite", "register one.json", nil, "get " + doi + " --format citation", 1, "convert " + doi + " -f datacite -t csl",
			""},
		{"list 25", "register many.jsonl --quiet", nil, "search --client example.repo", 2,
			"list -f datacite --client example.repo -n 25",
			"doi get all --limit 25" + user},
	} {
		for program, line := range map[string]string{"datacite": job.datacite, "commonmeta": job.commonmeta,
			"cirneco": job.cirneco} {
			if programs[program] == "" || line == "" {
				continue
			}
			t.Run(job.name+"/"+program, func(t *testing.T) {
				var faults atomic.Pointer[datacitetest.Faults]
				service := datacitetest.NewServer(&datacitetest.Options{
					NoPort: true, Hosts: []string{"api.test.datacite.org", "mds.test.datacite.org", "api.datacite.org"},
					Accounts: []datacitetest.Account{{Prefixes: []string{"10.83132"}}},
					Faults: func(n int, r *http.Request) *datacitetest.Fault {
						if now := faults.Load(); now != nil {
							return (*now)(n, r)
						}
						return nil
					},
				})
				defer service.Close()
				slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if *commonmeta+*cirneco != "" {
						time.Sleep(100 * time.Millisecond) // the way to the service and back
					}
					service.ServeHTTP(w, r)
				})
				env := append(play(t, map[string]http.Handler{"api.test.datacite.org": slow, "mds.test.datacite.org": slow,
					"api.datacite.org": slow}),
					"PATH="+os.Getenv("PATH"), "HOME="+
						t.TempDir(), "DATACITE_SERVICE=test", "DATACITE_USERNAME=EXAMPLE.REPO", "DATACITE_PASSWORD=sandbox-password")
				run := func(program, line string) (out string, err error) {
					for line := range strings.SplitSeq(line, " && ") {
						cmd, _, _ := shelltest.Run{}.Process(t, strings.Fields(line)...)
						cmd.Path, cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = program, folder, append(cmd.Env, env...), nil, nil
						text, failed := cmd.CombinedOutput()
						out += string(text)
						if err = failed; err != nil {
							break
						}
					}
					return out, err
				}
				if job.before != "" {
					out, err := run(programs["datacite"], job.before)
					require.NoError(t, err, out)
				}
				before := len(service.Requests())
				if job.faults != nil {
					now := job.faults()
					faults.Store(&now)
				}
				began := time.Now()
				out, err := run(programs[program], line)
				took := time.Since(began)
				var requests []string
				for _, r := range service.Requests()[before:] {
					requests = append(requests, fmt.Sprintf("%s %s %d", r.Method, r.URL.EscapedPath(), r.Status))
				}
				if n := len(requests); n > 5 {
					requests = append(requests[:5:5], fmt.Sprintf("… (%d)", n))
				}
				t.Logf("%s %s: %.1f s, exit code %d, %s, %s\n%.500s", program, line, took.Seconds(), shelltest.ExitCode(t, err),
					strings.Join(requests, "; "), service.State("10.83132/glacier-1"), out)
				if program == "datacite" {
					assert.Len(t, service.Requests()[before:], job.requests)
					assert.Contains(t, string(compared), fmt.Sprintf("\n| %s | %s", job.name, shell.Count(job.requests, "request")))
				}
			})
		}
	}
}
