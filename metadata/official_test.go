package metadata_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
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

type verdict struct {
	Name, XML string
	Valid     bool
	Errors    []string
}

// verdicts are documents with what the schema's engine says of them.
func verdicts(t *testing.T) []verdict {
	t.Helper()
	file := must(os.Open(filepath.Join(schemaDir(t), "xsd-verdicts.jsonl")))(t)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var all []verdict
	for lines.Scan() {
		var v verdict
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		all = append(all, v)
	}
	require.NoError(t, lines.Err())
	require.Len(t, all, 274)
	return all
}

func TestValidateXML_agreesWithTheSchema(t *testing.T) {
	for _, verdict := range verdicts(t) {
		t.Run(verdict.Name, func(t *testing.T) {
			err := metadata.ValidateXML(strings.NewReader(verdict.XML))
			if _, ok := stricter[verdict.Name]; ok {
				assert.True(t, verdict.Valid, "the XSD refuses it, too")
				assert.ErrorIs(t, err, datacite.ErrInvalid)
				return
			}
			if verdict.Valid {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, datacite.ErrInvalid, "the XSD says %s", verdict.Errors)
			}
		})
	}
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

// xmllint runs the schema's engine on files, and returns what it says of them.
func xmllint(t testing.TB, version string, files ...string) string {
	t.Helper()
	schema := filepath.Join(schemaDir(t), version, "metadata.xsd")
	if _, err := exec.LookPath("xmllint"); err != nil {
		t.Skip("xmllint is not installed; Debian has it in libxml2-utils")
	}
	// fails when one is refused
	out, _ := exec.Command("xmllint",
		append([]string{"--nonet", "--noout", "--schema", schema}, files...)...).CombinedOutput()
	return string(out)
}

// What the schema's engine lets pass it lets pass again when it has been read
// and written, whatever is empty or blank in it.
func TestValidDocuments_areValidWhenWritten(t *testing.T) {
	var documents []string
	for _, verdict := range verdicts(t) {
		if verdict.Valid && verdict.Name != "identifier-blank" { // a blank is no DOI, and the service wants none
			documents = append(documents, verdict.XML)
		}
	}
	files := must(filepath.Glob(filepath.Join(schemaDir(t), "examples", "*.xml")))(t)
	seen := map[string]bool{"<identifier>": true}
	for _, file := range files {
		source := must(os.ReadFile(file))(t)
		documents = append(append(documents, string(source)), emptied(string(source), seen)...)
	}
	refused := refusals(t, documents)
	var valid, written []string
	for i, document := range documents {
		if !refused[i] {
			again := must(parse(t, document).XML())(t)
			valid, written = append(valid, document), append(written, string(again))
		}
	}
	require.Greater(t, len(valid), 200)
	for i := range refusals(t, written) {
		t.Errorf("%s\nwas valid, and was written as\n%s", valid[i], written[i])
	}
}

var attributeValue = regexp.MustCompile(`([\w:]+)="[^"]*"`)

// emptied returns the document with an attribute emptied, or with an element
// emptied or blank, once for each name that has not been seen.
func emptied(document string, seen map[string]bool) []string {
	var out []string
	tokens := markup.FindAllString(document, -1)
	with := func(i int, token string) {
		changed := slices.Clone(tokens)
		changed[i] = token
		out = append(out, strings.Join(changed, ""))
	}
	for i := 3; i < len(tokens); i++ {
		element, _, _ := strings.Cut(strings.Trim(tokens[i], "<>/"), " ")
		if !strings.HasPrefix(tokens[i], "<") {
			tag := strings.Trim(tokens[i-1], "<>/")
			name, _, _ := strings.Cut(tag, " ")
			if key := "<" + name + ">"; !seen[key] {
				seen[key] = true
				with(i, "")
				with(i, " ")
			}
			continue
		}
		for _, at := range attributeValue.FindAllStringSubmatchIndex(tokens[i], -1) {
			name := tokens[i][at[2]:at[3]]
			if key := element + "@" + name; !seen[key] {
				seen[key] = true
				with(i, tokens[i][:at[0]]+name+`=""`+tokens[i][at[1]:])
			}
		}
	}
	return out
}

// refusals are the documents that the schema's engine refuses.
func refusals(t *testing.T, documents []string) map[int]bool {
	t.Helper()
	return refusalsOf(t, "kernel-4", documents)
}

func refusalsOf(t *testing.T, version string, documents []string) map[int]bool {
	t.Helper()
	dir := t.TempDir()
	files := make([]string, len(documents))
	for i, document := range documents {
		files[i] = filepath.Join(dir, strconv.Itoa(i))
		require.NoError(t, os.WriteFile(files[i], []byte(document), 0o600))
	}
	out := xmllint(t, version, files...)
	refused := map[int]bool{}
	validated := 0
	for line := range strings.Lines(out) {
		name, verdict, _ := strings.Cut(strings.TrimSpace(line), " ")
		i, err := strconv.Atoi(filepath.Base(name))
		switch {
		case err == nil && verdict == "validates":
			validated++
		case err == nil && verdict == "fails to validate":
			refused[i] = true
		}
	}
	require.Equal(t, len(documents), validated+len(refused), "%s", out)
	return refused
}

// One document with thousands of odd values, each on a line of its own: the
// schema's engine and ValidateXML must complain about the same lines.
func TestValidateXML_agreesWithTheEngineOnValues(t *testing.T) {
	g := newGenerator(7)
	mash := func(pieces ...string) string {
		var b strings.Builder
		for range 1 + g.IntN(6) {
			b.WriteString(g.pick(pieces...))
		}
		return b.String()
	}
	var subjects, places strings.Builder
	for range 4000 {
		uri := mash("http", "urn", "a", "1", ":", "/", "//", "?", "#", "[", "]", "@", "%", "%2F", "::1", ":80", "é", " ",
			"x.org", "{", "+")
		language := mash("e", "en", "-", "_", "US", "1", "abcdefgh", " ", "é")
		subjects.WriteString(`<subject xml:lang="` + language + `" schemeURI="` + uri + `">s</subject>` + "\n")
		degrees := mash("1", "9", "0", ".", "-", "+", "e1", "E-2", "INF", "NaN", " ", "180", "90", ",", "x")
		places.WriteString("<geoLocation><geoLocationPoint><pointLongitude>" + degrees +
			"</pointLongitude><pointLatitude>0</pointLatitude></geoLocationPoint></geoLocation>\n")
	}
	document := strings.Replace(minimal, "</resource>",
		"<subjects>\n"+subjects.String()+"</subjects>\n<geoLocations>\n"+places.String()+"</geoLocations></resource>", 1)

	file := filepath.Join(t.TempDir(), "values.xml")
	require.NoError(t, os.WriteFile(file, []byte(document), 0o600))
	engine := map[int]bool{} // lines that it refuses
	for line := range strings.Lines(xmllint(t, "kernel-4", file)) {
		if parts := strings.SplitN(line, ":", 3); len(parts) == 3 {
			number, _ := strconv.Atoi(parts[1])
			engine[number] = true
		}
	}
	require.Greater(t, len(engine), 1000)
	invalid, ok := errors.AsType[*datacite.ValidationError](metadata.ValidateXML(strings.NewReader(document)))
	require.True(t, ok)
	ours := map[int]bool{}
	for _, f := range invalid.Findings {
		ours[f.Line] = true
	}
	for number, line := range strings.Split(document, "\n") {
		assert.Equal(t, engine[number+1], ours[number+1], "line %d: %s", number+1, line)
	}
}

// The examples with an element taken out, doubled, moved or renamed, an
// attribute changed or text put in: what the schema's engine refuses,
// ValidateXML must refuse, and nearly the other way round.
func TestValidateXML_agreesWithTheEngineOnDamage(t *testing.T) {
	files := must(filepath.Glob(filepath.Join(schemaDir(t), "examples", "*.xml")))(t)
	g := newGenerator(11)
	documents := make([]string, *randomRecords/3)
	for i := range documents {
		source := must(os.ReadFile(g.pick(files...)))(t)
		documents[i] = g.damage(string(source))
	}
	refused := refusals(t, documents)
	for i, document := range documents {
		ours := metadata.ValidateXML(strings.NewReader(document))
		if refused[i] {
			assert.ErrorIs(t, ours, datacite.ErrInvalid, document)
			continue
		}
		if invalid, ok := errors.AsType[*datacite.ValidationError](ours); ok {
			assert.NoError(t, invalid.Except("missing", "identifier"), "in %s", document)
		}
	}
	assert.Greater(t, len(refused), *randomRecords/12)
}

var markup = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>|[^<]+`)

// damage changes a document at one to three places.
func (g *generator) damage(document string) string {
	tokens := markup.FindAllString(document, -1)
	for range 1 + g.IntN(3) {
		i := 3 + g.IntN(len(tokens)-6) // neither declaration nor root
		for !strings.HasPrefix(tokens[i], "<") || strings.HasPrefix(tokens[i], "</") || strings.HasPrefix(tokens[i], "<!") ||
			strings.HasPrefix(tokens[i], "<?") || strings.HasPrefix(tokens[i], "<resource") {
			i = 3 + g.IntN(len(tokens)-6)
		}
		end := elementEnd(tokens, i)
		element := slices.Clone(tokens[i : end+1])
		switch g.IntN(7) {
		case 0:
			tokens = slices.Delete(tokens, i, end+1)
		case 1:
			tokens = slices.Insert(tokens, end+1, element...)
		case 2: // before what comes before
			tokens = slices.Insert(slices.Delete(tokens, i, end+1), max(i-4, 3), element...)
		case 3:
			name := g.pick("foo", "title", "givenName", "br")
			tokens[i] = regexp.MustCompile(`^<[^\s/>]+`).ReplaceAllString(tokens[i], "<"+name)
			if end > i {
				tokens[end] = "</" + name + ">"
			}
		case 4:
			tokens[i] = regexp.MustCompile(`\s[\w:]+="[^"]*"`).ReplaceAllString(tokens[i], "")
		case 5:
			tokens[i] = regexp.MustCompile(`="[^"]*"`).ReplaceAllString(tokens[i], `="`+g.pick("", "x", "1:2", " en ")+`"`)
		case 6:
			tokens = slices.Insert(tokens, i+1, g.pick("text", " ", "<br/>", "<foo/>"))
		}
	}
	return strings.Join(tokens, "")
}

// elementEnd returns where the element that starts at i ends.
func elementEnd(tokens []string, i int) int {
	depth := 0
	for j := i; j < len(tokens); j++ {
		switch token := tokens[j]; {
		case strings.HasPrefix(token, "</"):
			depth--
		case strings.HasPrefix(token, "<") && !strings.HasPrefix(token, "<!") && !strings.HasSuffix(token, "/>"):
			depth++
		}
		if depth == 0 {
			return j
		}
	}
	return len(tokens) - 1
}
