package dois_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// A record is read from the resource that the service sends as well as from its
// attributes.
func TestRecordFromResource(t *testing.T) {
	const attributes = `{"doi":"10.5072/a","titles":[{"title":"A"}]}`
	var alone, inside dois.Record
	require.NoError(t, json.Unmarshal([]byte(attributes), &alone))
	require.NoError(t, json.Unmarshal([]byte(`{"id":"10.5072/a","type":"dois","attributes":`+attributes+
		`,"relationships":{"client":{"data":{"id":"ice.archive","type":"clients"}}}}`), &inside))
	assert.Equal(t, alone.Record, inside.Record)
	assert.Equal(t, attributes, string(inside.Raw))
	assert.Equal(t, "ice.archive", inside.Client)

	for text, want := range map[string]string{
		`{"id":"ice.archive","type":"clients","attributes":{"name":"Ice Archive"}}`: `not a record, but a resource of the type "clients"`,
		`{"id":"10.5072/a","type":"dois","attributes":null}`:                        "no attributes",
		`[]`: "no attributes",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), &inside), want, text)
	}
}

// FuzzRecord compares the reader of records with encoding/json: both must agree
// on what is JSON, and an object of whatever members is a record, unless it is a resource.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		fullRecord, `{}`, ` { } `, `{"a":1,}`, `{"a" 1}`, `{"a":01}`, `{"a":-}`, `{"a":1e}`, `{"a":tru}`, `{"a":nul`, `{"a":"\x"}`, `{"a":"\u12"}`,
		`{"a":"\ud800"}`, `{"doi":"` + "\xff" + `"}`, "{\"a\":\"\n\"}", `{"a":[1,2,{"b":[]}]}`, `{"a":[1 2]}`, `{"a":}`, `{`, `[]`, `null`, `1`, `{}{}`, "{}\x00", "{\x00}", ``, `{"doi":1,"doi":null}`,
		`{"creators":[[[]]],"viewCount":1e400,"contentUrl":[[]],"landingPage":[{}],"container":[]}`, `{"a":"eight by\"te"}`, `{"a":"12345678\\90"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r dois.Record
		err := r.UnmarshalJSON(data)
		object := len(bytes.TrimLeft(data, " \t\r\n")) > 0 && bytes.TrimLeft(data, " \t\r\n")[0] == '{'
		var members map[string]json.RawMessage
		valid := json.Unmarshal(data, &members) == nil && object
		if _, resource := members["attributes"]; resource && valid {
			return
		}
		if valid != (err == nil) {
			t.Fatalf("%q: JSON object %v, error %v", data, valid, err)
		}
		if err != nil {
			return
		}
		if got := bytes.Trim(data, " \t\r\n"); !bytes.Equal(got, r.Raw) {
			t.Fatalf("Raw is %q, want %q", r.Raw, got)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("%q cannot be written: %v", data, err)
		}
	})
}

// TestPagesThatArriveInPieces reads a page that arrives in pieces of every kind.
func TestPagesThatArriveInPieces(t *testing.T) {
	data := realisticPage(100)
	want, err := canned(t, data).List(t.Context(), &dois.ListOptions{Page: query.Page{Size: 100}})
	require.NoError(t, err)
	dice := rand.New(rand.NewPCG(1, 2))
	for name, pieces := range map[string]func(io.Reader) io.Reader{
		"byte by byte": iotest.OneByteReader,
		"halves":       iotest.HalfReader,
		"end and data": iotest.DataErrReader,
		"random":       func(r io.Reader) io.Reader { return uneven{r, dice} },
	} {
		t.Run(name, func(t *testing.T) {
			client, err := dois.NewClient(datacite.Config{
				Service:    datacite.Service{API: "http://localhost"},
				HTTPClient: &http.Client{Transport: inPieces{data, pieces}},
			})
			require.NoError(t, err)
			n := 0
			for r, err := range client.All(t.Context(), nil) {
				require.NoError(t, err)
				if !bytes.Equal(want.Records[n].Raw, r.Raw) {
					t.Fatalf("record %d is %s, want %s", n, r.Raw, want.Records[n].Raw)
				}
				n++
			}
			assert.Equal(t, 100, n)
		})
	}
}

type inPieces struct {
	data   []byte
	pieces func(io.Reader) io.Reader
}

func (p inPieces) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := same(p.data).RoundTrip(r)
	res.Body = io.NopCloser(p.pieces(res.Body))
	return res, err
}

// uneven reads a random number of bytes at a time, sometimes none.
type uneven struct {
	io.Reader
	dice *rand.Rand
}

func (u uneven) Read(p []byte) (int, error) { return u.Reader.Read(p[:u.dice.IntN(min(len(p), 5000))]) }
