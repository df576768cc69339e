package metadata_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/mds/metadata"
)

// schemaDir returns the folder of the schema's official files.
func schemaDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("DATACITE_SCHEMA")
	if dir == "" {
		t.Skip("DATACITE_SCHEMA does not name a folder with the official schema, examples and verdicts")
	}
	return dir
}

// stricter names the documents the schema's XSD lets pass although the schema's
// prose or the service does not.
var stricter = map[string]string{
	"creatorName-empty":                  "a creator's name is mandatory",
	"title-empty":                        "the title is mandatory",
	"publisher-blank":                    "a blank is no publisher",
	"identifier-blank":                   "a blank is no identifier",
	"publicationYear-'٢٠٢٠'":             "the digits of a year are ASCII",
	"alternateIdentifier-empty-type":     "the type of an alternate identifier is mandatory",
	"relatedItem-contributor-name-empty": "a contributor's name is mandatory",
	"rights-long":                        "the service takes 2000 characters of rights",
}

func TestValidateXML_agreesWithTheSchema(t *testing.T) {
	file, err := os.Open(filepath.Join(schemaDir(t), "xsd-verdicts.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		var verdict struct {
			Name, XML string
			Valid     bool
			Errors    []string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &verdict))
		count++
		t.Run(verdict.Name, func(t *testing.T) {
			err := metadata.ValidateXML(strings.NewReader(verdict.XML))
			if _, ok := stricter[verdict.Name]; ok {
				assert.True(t, verdict.Valid, "the XSD refuses it, too")
				assert.ErrorIs(t, err, metadata.ErrInvalid)
				return
			}
			if verdict.Valid {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, metadata.ErrInvalid, "the XSD says %s", verdict.Errors)
			}
		})
	}
	require.NoError(t, lines.Err())
	assert.Equal(t, 274, count)
}

func TestOfficialExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(schemaDir(t), "examples", "*.xml"))
	require.NoError(t, err)
	require.Len(t, files, 31)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			rec, err := metadata.ParseXML(bytes.NewReader(source))
			require.NoError(t, err)
			assert.NoError(t, metadata.ValidateXML(bytes.NewReader(source)))
			assert.NoError(t, rec.Validate())

			written, err := rec.XML()
			require.NoError(t, err)
			again, err := metadata.ParseXML(bytes.NewReader(written))
			require.NoError(t, err)
			assert.Equal(t, rec, again)
			assert.Equal(t, contents(t, source), contents(t, written), "elements, attributes and texts")
			second, err := again.XML()
			require.NoError(t, err)
			assert.Equal(t, string(written), string(second))

			data, err := json.Marshal(rec)
			require.NoError(t, err)
			var fromJSON metadata.Record
			require.NoError(t, json.Unmarshal(data, &fromJSON))
			assert.Equal(t, withoutExtra(*rec), fromJSON)
		})
	}
}

// withoutExtra returns the record without what JSON has no place for.
func withoutExtra(r metadata.Record) metadata.Record {
	for i := range r.Creators {
		for j := range r.Creators[i].Affiliation {
			r.Creators[i].Affiliation[j].Extra = nil
		}
	}
	return r
}

// contents counts the elements, attributes and texts of a document, as
// encoding/xml reads them. White space around texts does not count.
func contents(t testing.TB, document []byte) map[string]int {
	t.Helper()
	found := map[string]int{}
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(document, []byte("\ufeff"))))
	var path []string
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			here := strings.Join(path, "/")
			found[here]++
			for _, a := range token.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" && a.Name.Local != "schemaLocation" {
					found[here+"@"+a.Name.Space+" "+a.Name.Local+"="+strings.TrimSpace(a.Value)]++
				}
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				found[strings.Join(path, "/")+"="+text]++
			}
		}
	}
}

// xmllint returns a function that checks documents against the newest XSD.
func xmllint(t testing.TB) func(document []byte) error {
	t.Helper()
	dir := schemaDir(t)
	if _, err := exec.LookPath("xmllint"); err != nil {
		t.Skip("xmllint is not installed; Debian has it in libxml2-utils")
	}
	return func(document []byte) error {
		cmd := exec.Command("xmllint", "--nonet", "--noout", "--schema", filepath.Join(dir, "kernel-4", "metadata.xsd"), "-")
		cmd.Stdin = bytes.NewReader(document)
		if out, err := cmd.CombinedOutput(); err != nil {
			return &lintError{string(out)}
		}
		return nil
	}
}

type lintError struct{ text string }

func (e *lintError) Error() string { return e.text }

func TestOfficialExamples_areValidWhenWritten(t *testing.T) {
	lint := xmllint(t)
	files, err := filepath.Glob(filepath.Join(schemaDir(t), "examples", "*.xml"))
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.Open(file)
		require.NoError(t, err)
		rec, err := metadata.ParseXML(source)
		require.NoError(t, err)
		require.NoError(t, source.Close())
		written, err := rec.XML()
		require.NoError(t, err)
		assert.NoError(t, lint(written), file)
	}
}
