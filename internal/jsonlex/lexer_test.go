package jsonlex_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// tree reads any value as encoding/json does into an any, numbers as written.
func tree(l *jsonlex.Lexer) any {
	switch l.Kind() {
	case '{':
		object := map[string]any{}
		for key := range l.Members() {
			name := string(key)
			object[name] = tree(l)
		}
		return object
	case '[':
		list := []any{}
		l.List()
		for i := 0; l.Element(i); i++ {
			list = append(list, tree(l))
		}
		return list
	case '"':
		return string(l.Text())
	case 't', 'f':
		return string(l.Bool()) == "true"
	case 'n':
		l.Null()
		return nil
	}
	return json.Number(l.Number())
}

// lexers read the same text in memory, in one piece, and byte by byte.
func lexers(text string) map[string]*jsonlex.Lexer {
	used := jsonlex.New(strings.NewReader(`[{"left":"over`))
	used.Skip()
	used.Reset(strings.NewReader(text))
	return map[string]*jsonlex.Lexer{
		"in memory":    jsonlex.OfBytes([]byte(text)),
		"used before":  used,
		"stream":       jsonlex.New(strings.NewReader(text)),
		"byte by byte": jsonlex.New(iotest.OneByteReader(strings.NewReader(text))),
		"in sevens":    jsonlex.New(sevens{strings.NewReader(text)}),
		"with error":   jsonlex.New(iotest.DataErrReader(strings.NewReader(text))),
	}
}

// sevens gives seven bytes at a time, which overwrite those before.
type sevens struct{ io.Reader }

func (r sevens) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(7, len(p))]) }

func check(t *testing.T, text string) {
	t.Helper()
	if strings.Count(text, "[")+strings.Count(text, "{") > 900 {
		return // of Skip's depth
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var want any
	valid := json.Valid([]byte(text))
	if valid {
		require.NoError(t, dec.Decode(&want))
	}
	odd := false // it has a text that is not UTF-8
	for name, l := range lexers(text) {
		got := tree(l.Tolerate(true))
		l.End()
		odd = len(l.Odd().Texts) > 0
		if !valid {
			require.Error(t, l.Err(), "%s: %q", name, text)
			continue
		}
		require.NoError(t, l.Err(), "%s: %q", name, text)
		require.Equal(t, want, got, "%s: %q", name, text)
	}
	for name, read := range map[string]func(*jsonlex.Lexer){"reading": func(l *jsonlex.Lexer) {
		tree(l)
	}, "skipping": (*jsonlex.Lexer).Skip} {
		for how, l := range lexers(text) {
			read(l)
			l.End()
			require.Equal(t, valid && !odd, l.Err() == nil, "%s: %s %q: %v", how, name, text, l.Err())
		}
	}
}

// A text that is not UTF-8 is refused with its place, and tolerated, its place is known: Latin-1, halves of
// surrogate pairs, surrogates in bytes (CESU-8), a code of more bytes than it needs, and one that is cut.
func TestTextsThatAreNotUTF8(t *testing.T) {
	long := strings.Repeat("ü", 100_000)
	for _, tt := range []struct {
		text string
		at   int64
		path string
	}{
		{"[{\"title\":\"Glaci\xe8rs\"}]", 16, "[0].title"},
		{`{"a":1,"b":["x","y\ud800z"]}`, 18, "b[1]"},
		{`{"b":["\ud83d\ude00\udc00"]}`, 19, "b[0]"},
		{"{\"a\":{\"b\":\"\xed\xa0\x80\xed\xb0\x80\"}}", 11, "a.b"},
		{"{\"a\":\"\xc0\xaf\"}", 6, "a"},
		{"[\"€\xe2\x82\"]", 5, "[0]"},
		{"{\"\xff\":1}", 2, "\ufffd"},
		{"{\"a\":\"\xff\",\"b\":[1,2]}", 6, "a"},
		{"[[0],{\"a\":[\"\xff\",2]},3]", 12, "[1].a[0]"},
		{`["` + long + "\xff\"]", 200_002, "[0]"},
	} {
		for name, read := range map[string]func(*jsonlex.Lexer){"reading": func(l *jsonlex.Lexer) {
			tree(l)
		}, "skipping": (*jsonlex.Lexer).Skip} {
			for how, l := range lexers(tt.text) {
				read(l)
				fault, ok := errors.AsType[*jsonlex.SyntaxError](l.Err())
				require.True(t, ok && fault.Encoding, "%s, %s: %.40q: %v", name, how, tt.text, l.Err())
				assert.Equal(t, tt.at, fault.Offset, "%s, %s: %.40q", name, how, tt.text)
			}
			for how, l := range lexers(tt.text) {
				read(l.Tolerate(true))
				require.True(t, l.End(), "%s: %.40q: %v", how, tt.text, l.Err())
				require.NotEmpty(t, l.Odd().Texts, "%.40q", tt.text)
				path, _ := jsonlex.At([]byte(tt.text), l.Odd().Texts[0])
				assert.Equal(t, tt.path, path, "%s: %.40q", name, tt.text)
			}
		}
		require.Error(t, jsonlex.Check([]byte(tt.text)))
	}
	for _, text := range []string{`"\ufffd"`, "\"\ufffd\"", `["` + long + `"]`, `"\ud83d\ude00"`, "\"\U0001f600\""} {
		require.NoError(t, jsonlex.Check([]byte(text)))
		for how, l := range lexers(text) {
			l.Skip()
			assert.True(t, l.End(), "%s: %v", how, l.Err())
		}
	}
}

// What is JSON, and what it says, is what encoding/json thinks it is.
func TestAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range samples {
		check(t, text)
		for i := range text {
			check(t, text[:i])
			check(t, text[:i]+"\x00"+text[i:])
		}
	}
}

var samples = []string{
	``, ` `, `null`, `true`, `false`, `nul`, `tru`, `nullx`, `truefalse`, "\ufeff{}", `'a'`, `{a:1}`, `{"a" 1}`,
	`{"a":1 "b":2}`,
	`0`, `-0`, `-`, `01`, `1.`, `.5`, `1.5`, `1e`, `1e5`, `1E+5`, `1e-5`, `1e+`, `-1.25e10`, `1-2`, `1.2.3`, `+1`, `12345678901234567890`, `0x10`, `1_000`,
	`""`, `"a"`, `"longer than eight bytes"`, `"ends in eigh"`, `"\"\\\/\b\f\n\r\t"`, `"é"`, `"日本語 and some"`, "\"tab\tinside\"", "\"\x7f\"",
	`"\u0041\u00e9\u20ac"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d\ude00"`, `"\ud83d\ud83d\ude00"`, `"\u12"`, `"\u12g4"`, `"\uABCDEF\u0000"`, `"\u123G"`, "\"\\u123@\"", "\"\\u`234\"", `"\u/234"`, `"\u1:34"`, `"\x41"`, `"\'"`, `"\`,
	"\"\xff\"", "\"a\xc3\"", "\"\xe2\x82\xac \xed\xa0\x80 \xf4\x90\x80\x80\"", "\"\xff\xfe\\n\"",
	`[]`, `[ ]`, `[1]`, `[1,2 , 3]`, `[1,]`, `[,1]`, `[1 2]`, `[`, `]`, `[[[]]]`, `[}`,
	`{}`, `{ }`, `{"a":1}`, `{"a":1,"b":[{"c":null}]}`, `{"a":1,"a":2}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1]`, `{1:2}`, `{"\u0061":1}`, "{\r\n\t\"a\" :\n1 }\n",
	`{}{}`, `1 2`, `[] x`,
}

func FuzzAgreesWithEncodingJSON(f *testing.F) {
	for _, text := range samples {
		f.Add(text)
	}
	f.Fuzz(check)
}

var names = []string{"id", "report-header", "data"}

// members reads the members of an object by name.
func members(l *jsonlex.Lexer, n *jsonlex.Names) (found []string) {
	for m := l.Object(n); m != jsonlex.End; m = l.Member(n, m) {
		name := "unknown"
		if m >= 0 {
			name = names[m]
		}
		found = append(found, name+"="+string(l.Number()))
	}
	return found
}

func TestMembersInAnyOrderAndSpelling(t *testing.T) {
	n := jsonlex.NewNames(names...)
	for _, tt := range []struct {
		text string
		want []string
	}{
		{`{"id":1,"report-header":2,"data":3}`, []string{"id=1", "report-header=2", "data=3"}},
		{`{"data":3,"report-header":2,"id":1}`, []string{"data=3", "report-header=2", "id=1"}},
		{`{"data":3,"report-header":2,"id":1}`, []string{"data=3", "report-header=2", "id=1"}}, // learned
		{`{"data":3,"id":1}`, []string{"data=3", "id=1"}},
		{`{"DATA":3,"Report_Header":2,"iD":1,"\u0069d":4}`, []string{"data=3", "report-header=2", "id=1", "id=4"}},
		{`{"x":0,"id":1,"ids":5,"id":2,"":6}`, []string{"unknown=0", "id=1", "unknown=5", "id=2", "unknown=6"}},
		{"{\n  \"id\": 1,\n  \"report-header\" : 2\n}", []string{"id=1", "report-header=2"}},
		{`{}`, nil},
	} {
		for name, l := range lexers(tt.text) {
			assert.Equal(t, tt.want, members(l, n), "%s: %s", name, tt.text)
			assert.True(t, l.End(), "%v: %s", l.Err(), tt.text)
		}
	}
	for _, text := range []string{`{"id":1,}`, `{"id":1 "data":2}`, `{"id" 1}`, `{"id":1`, `{,"id":1}`,
		`{"id":1,"data":2]`, `[]`, ``, `{"id":1,,"data":2}`} {
		for name, l := range lexers(text) {
			members(l, n)
			l.End()
			assert.Error(t, l.Err(), "%s: %s", name, text)
		}
	}
}

func TestKnownLooksAhead(t *testing.T) {
	n := jsonlex.NewNames(names...)
	long := `"` + strings.Repeat("x", 500) + `"`
	for text, want := range map[string]int{
		`{"data":1}`: 2, `{ "id" : 1 }`: 0, `{"other":1,"id":2}`: jsonlex.Unknown, `{}`: jsonlex.Unknown,
		`[1]`: jsonlex.Unknown,
		`{` + strings.Repeat(" ", 500) + `"data":1}`: 2, `{` + long + `:1}`: jsonlex.Unknown, ``: jsonlex.Unknown,
	} {
		for name, l := range lexers(text) {
			assert.Equal(t, want, l.Known(n), "%s: %s", name, text)
			assert.Zero(t, l.Offset(), "nothing is used up")
		}
	}
	l := jsonlex.New(io.MultiReader(strings.NewReader(`{"data":`+strings.Repeat(" ", 64)), iotest.ErrReader(io.ErrClosedPipe)))
	assert.Equal(t, 2, l.Known(n))
	assert.NoError(t, l.Err(), "it looks no further than the name")
}

// A text of any length can be read piece by piece.
func TestTextsAreReadPieceByPiece(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20_000)
	for _, want := range []string{"", "short", long, long + "/" + long, strings.Repeat("a/", 70_000),
		"é\u2028\U0001f600"} {
		quoted, err := json.Marshal(want)
		require.NoError(t, err)
		for _, text := range []string{string(quoted), strings.ReplaceAll(string(quoted), "/", `\/`)} {
			for name, l := range lexers(`[` + text + `,"next"]`) {
				if name == "byte by byte" && len(text) > 200_000 {
					continue
				}
				require.True(t, l.List() && l.Element(0) && l.OpenText())
				got, err := io.ReadAll(l.Reader())
				require.NoError(t, err, name)
				require.True(t, want == string(got), "%s: %.60s", name, text)
				require.True(t, l.Element(1))
				require.Equal(t, "next", string(l.Text()))
			}
		}
	}
	for _, text := range []string{`"`, `"abc`, `"abc\`, `"abc\x"`, `"\u12`} {
		for name, l := range lexers(text) {
			l.OpenText()
			_, err := io.ReadAll(l.Reader())
			assert.Error(t, err, "%s: %s", name, text)
		}
	}
}

// Memory does not follow the input: what would have to be held is refused.
func TestValuesAreBounded(t *testing.T) {
	endless := func(unit string) io.Reader { return &repeat{text: strings.Repeat(unit, 10_000)} }
	for name, read := range map[string]func(*jsonlex.Lexer){
		"text":   func(l *jsonlex.Lexer) { l.Text() },
		"number": func(l *jsonlex.Lexer) { l.Number() },
		"marked": func(l *jsonlex.Lexer) { l.Mark(); l.Skip() },
		"depth":  func(l *jsonlex.Lexer) { l.Skip() },
		"allowed": func(l *jsonlex.Lexer) {
			l.Allow(1 << 20)
			l.Text()
			assert.ErrorContains(t, l.Err(), "longer than 1 MiB")
		},
	} {
		start, unit := "", "0123456789"
		switch name {
		case "text", "allowed":
			start = `"`
		case "number":
			start, unit = "1", "0"
		case "marked":
			start, unit = "[0", ",1"
		case "depth":
			unit = "["
		}
		l := jsonlex.New(io.MultiReader(strings.NewReader(start), endless(unit)))
		read(l)
		require.Error(t, l.Err(), name)
		if name != "depth" {
			require.ErrorIs(t, l.Err(), jsonlex.ErrTooLarge, name)
		}
	}

	const size = jsonlex.MaxValue + 1<<20
	l := jsonlex.New(io.MultiReader(strings.NewReader(`["`), io.LimitReader(endless("x"), size), strings.NewReader(`",[`),
		io.LimitReader(endless("1,"), size), strings.NewReader("1]]")))
	l.Mark()
	l.Unmark()
	l.Skip()
	require.True(t, l.End(), "what is dropped may have any length: %v", l.Err())
	assert.EqualValues(t, 2*size+8, l.Offset())
}

// repeat is a text over and over.
type repeat struct{ text, rest string }

func (r *repeat) Read(p []byte) (int, error) {
	if r.rest == "" {
		r.rest = r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func TestErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":tru}`:          "at byte 5: found 't' instead of true",
		`{"a":1,"b" 2}`:      "at byte 11: found '2' instead of a colon",
		`[1,2}`:              "at byte 4: found '}' instead of an element or the end of a list",
		`["` + "\n" + `"]`:   "at byte 2: the control character 0xa in a text",
		`["\q"]`:             "a bad escape in a text",
		`[01]`:               `at byte 1: "01" is not a number`,
		`[1] 2`:              "at byte 4: found '2' instead of the end",
		`{"a":[1,{"b":"c"}]`: io.ErrUnexpectedEOF.Error(),
		`[tru`:               io.ErrUnexpectedEOF.Error(),
		`[fals`:              io.ErrUnexpectedEOF.Error(),
		`nul`:                io.ErrUnexpectedEOF.Error(),
		`["ab`:               io.ErrUnexpectedEOF.Error(),
		`{"ab`:               io.ErrUnexpectedEOF.Error(),
		`["ab\`:              io.ErrUnexpectedEOF.Error(),
		`["ab\u12`:           io.ErrUnexpectedEOF.Error(),
		`["ab\u12"`:          "a bad escape in a text",
		"[\"a\xe2\x82":       io.ErrUnexpectedEOF.Error(),
	} {
		for name, l := range lexers(text) {
			tree(l)
			l.End()
			assert.ErrorContains(t, l.Err(), want, "%s: %s", name, text)
		}
		for name, l := range lexers(text) {
			l.Skip()
			l.End()
			assert.ErrorContains(t, l.Err(), want, "%s, skipped: %s", name, text)
		}
	}
	l := jsonlex.OfBytes([]byte("7"))
	l.Text()
	assert.EqualError(t, l.Err(), "at byte 0: found '7' instead of a text")
	l = jsonlex.New(io.MultiReader(strings.NewReader(`[1,`), iotest.ErrReader(io.ErrClosedPipe)))
	tree(l)
	assert.ErrorIs(t, l.Err(), io.ErrClosedPipe, "an error of the stream comes through")
	l = jsonlex.New(stuck{})
	tree(l)
	assert.ErrorIs(t, l.Err(), io.ErrNoProgress)
}

// A text with control characters as they are is that with their escapes, if it may be.
func TestControls(t *testing.T) {
	for _, text := range []string{"a\tb", "\r\n", "\x00 and \x1f, longer than eight bytes", "\té\\\n\"\n",
		strings.Repeat("\n", 70_000)} {
		escaped, err := json.Marshal(map[string][]string{text: {text}})
		require.NoError(t, err)
		raw := `{"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
		raw += `":["` + raw[2:] + `"]}`
		want := tree(jsonlex.OfBytes(escaped))
		for name, l := range lexers(raw) {
			l.Controls()
			assert.Equal(t, want, tree(l), name)
			assert.True(t, l.End(), "%s: %v", name, l.Err())
		}
		for name, l := range lexers(raw) {
			l.Controls()
			l.Skip()
			assert.True(t, l.End(), "%s: %v", name, l.Err())
		}
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestCountsOnlyPlainDigits(t *testing.T) {
	for text, want := range map[string]int64{`0 `: 0, `7,`: 7, `7:`: 7, `123456789012345678]`: 123456789012345678} {
		for name, l := range lexers(text) {
			got, ok := l.Count()
			if !ok && (name == "byte by byte" || name == "in sevens") { // at the end of what has been read: the long way
				number := l.Number()
				require.NotEmpty(t, number, "%s: %s", name, text)
				continue
			}
			assert.True(t, ok, "%s: %s", name, text)
			assert.Equal(t, want, got, "%s: %s", name, text)
		}
	}
	for _, text := range []string{`-1,`, `1.0,`, `1e3,`, `01,`, `1234567890123456789,`, `"1"`, `x`, ``} {
		for name, l := range lexers(text) {
			_, ok := l.Count()
			assert.False(t, ok, "%s: %s", name, text)
			assert.Zero(t, l.Offset())
		}
	}
}

// keepAll keeps each element of a list, for good.
func keepAll(l *jsonlex.Lexer) (kept [][]byte) {
	l.List()
	for i := 0; l.Element(i); i++ {
		l.Hold()
		l.Skip()
		kept = append(kept, l.Keep())
	}
	l.End()
	return kept
}

// pieceReader gives pieces of all lengths up to a prime number of bytes.
type pieceReader struct {
	io.Reader
	n int
}

func (r *pieceReader) Read(p []byte) (int, error) {
	r.n = (r.n + 3331) % 7919
	return r.Reader.Read(p[:min(r.n+1, len(p))])
}

func TestWhatIsKeptStaysAsItIs(t *testing.T) {
	var values []string
	for i := range 400 {
		size := i * 37
		if i%50 == 49 {
			size = i * 500 // longer than a window
		}
		values = append(values, fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat(string(rune('a'+i%26)), size)))
	}
	text := "[" + strings.Join(values, " , ") + "]"
	lexers := lexers(text)
	lexers["in pieces"] = jsonlex.New(&pieceReader{Reader: strings.NewReader(text)})
	for name, l := range lexers {
		l.Use(jsonlex.NewBudget(int64(len(text)) * 5 / 4))
		kept := keepAll(l)
		require.NoError(t, l.Err(), name)
		l.Reset(strings.NewReader(strings.Replace(text, "text", "next", -1)))
		next := keepAll(l) // takes the memory that is left
		for i := range kept {
			_ = append(kept[i], "overwritten"...)
			_ = append(next[i], "overwritten"...)
		}
		for i, want := range values {
			require.Equal(t, want, string(kept[i]), name)
			require.Equal(t, strings.Replace(want, "text", "next", 1), string(next[i]), name)
		}
	}
}

func TestWhatIsKeptIsSpent(t *testing.T) {
	text := "[" + strings.Repeat(`{"text":"`+strings.Repeat("a", 3000)+`"} , `, 200) + "0]"
	for allowed := int64(0); allowed < int64(len(text)); allowed += 10_007 {
		for _, src := range []io.Reader{strings.NewReader(text), &pieceReader{Reader: strings.NewReader(text)}} {
			l := jsonlex.New(src)
			l.Use(jsonlex.NewBudget(allowed))
			keepAll(l)
			require.ErrorIs(t, l.Err(), jsonlex.ErrTooLarge, "%d of %d bytes", allowed, len(text))
		}
	}
}

func TestBase64AgreesWithTheStandardLibrary(t *testing.T) {
	data := make([]byte, 40)
	for i := range data {
		data[i] = byte(i * i * 7)
	}
	stream := jsonlex.New(nil)
	for n := range data {
		text := base64.StdEncoding.EncodeToString(data[:n])
		for at := range len(text) + 1 {
			for _, digit := range []string{"", "=", "-", "é", `\n`, `\r\n`, `\u0041`, `\u0041BCD`} {
				altered := text[:at] + digit + text[at:]
				if n%2 == 0 && at < len(text) {
					altered = text[:at] + digit + text[at+1:]
				}
				quoted := `"` + altered + `"`
				var plain string
				require.NoError(t, json.Unmarshal([]byte(quoted), &plain))
				want, err := base64.StdEncoding.DecodeString(plain)
				if err != nil || len(want) == 0 {
					want = nil
				}
				var got []byte
				require.NoError(t, jsonlex.Unmarshal([]byte(quoted), &got, func(d *jsonlex.Decoder, v *[]byte) { *v = d.Base64() }))
				require.Equal(t, want, got, quoted)
				in := "[" + quoted + `,"next"]`
				stream.Reset(sevens{strings.NewReader(in)})
				for how, l := range map[string]*jsonlex.Lexer{"in memory": jsonlex.OfBytes([]byte(in)), "in sevens": stream} {
					l.List()
					l.Element(0)
					encoded := l.Base64()
					pieces, streamed := io.ReadAll(encoded) // an escape ends a piece
					if err == nil {
						require.NoError(t, streamed, quoted)
						require.Equal(t, string(want), string(pieces), quoted)
						require.EqualValues(t, len(want), encoded.Size(), quoted)
						require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(want)), encoded.Checksum(), quoted)
					} else {
						require.Error(t, streamed, "%s: %s", how, quoted)
					}
					if err != nil && how == "in memory" && len(plain)%4 == 0 && plain == altered { // else it comes in pieces
						require.Equal(t, err, streamed, quoted)
					}
					require.Equal(t, err != nil, encoded.Drain() != nil, "%s: %s", how, quoted)
					require.True(t, l.Element(1), "%s: %s: %v", how, quoted, l.Err())
					require.Equal(t, "next", string(l.Text()), "%s: %s", how, quoted)
				}
			}
		}
	}
}

// The standard library's base64 permits line breaks, JSON does not.
func TestBase64WithALineBreakIsNoJSON(t *testing.T) {
	for _, text := range []string{"\"QUJD\nREVG\"", "\"QUJDREVG\r\n\"", "\"QUJDREVG\x00\"", "\"QUJDREVG"} {
		var got []byte
		err := jsonlex.Unmarshal([]byte(text), &got, func(d *jsonlex.Decoder, v *[]byte) { *v = d.Base64() })
		require.Error(t, err, text)
		require.False(t, json.Valid([]byte(text)), text)
	}
}
