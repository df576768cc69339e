package jsonlex

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestAppendLower(t *testing.T) {
	for c := range 256 {
		want := byte(c)
		if c >= 'A' && c <= 'Z' {
			want += 'a' - 'A'
		}
		for length := range 20 {
			for at := range length {
				in, out := make([]byte, length), make([]byte, length)
				for i := range in {
					in[i], out[i] = 0xff, 0xff
				}
				in[at], out[at] = byte(c), want
				require.Equal(t, "x"+string(out), string(AppendLower([]byte("x"), string(in))), "%q", in)
			}
		}
	}
}

func TestAppendCount(t *testing.T) {
	for _, n := range []int64{0, 7, 9, 10, 11, 99, 100, 101, 12345, math.MaxInt64, -1, -10} {
		require.Equal(t, "x"+strconv.FormatInt(n, 10), string(AppendCount([]byte("x"), n)))
	}
}

// Every byte at every place of texts of every length up to three words.
func TestSpecialBytesAreFoundEverywhere(t *testing.T) {
	var quoted bytes.Buffer
	standard := json.NewEncoder(&quoted)
	standard.SetEscapeHTML(false)
	for _, others := range []string{"é", "ab"} {
		for n := range 25 {
			for at := range n {
				text := []byte(strings.Repeat(others, 13)[:n-n%2] + "e")[:n]
				for c := range 0x100 {
					text[at] = byte(c)
					special, all := inspect(string(text))
					require.Equal(t, c < 0x20 || c == '"' || c == '\\', special&Highs != 0, "%q", text)
					plain := n
					if special&Highs != 0 {
						plain = at
					}
					require.Equal(t, plain, Plain(string(text)), "%q", text)
					if others == "ab" && c < utf8.RuneSelf {
						quoted.Reset()
						require.NoError(t, standard.Encode(string(text)))
						escaped, _ := AppendText([]byte(`"`), string(text))
						require.Equal(t, quoted.String(), string(escaped)+"\"\n")
					}
					beyond := bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
					require.Equal(t, beyond, all&Highs != 0, "%q", text)
				}
			}
		}
	}
}

// A Lexer is used again and again: the memory of one long text with escapes is not kept.
func TestResetKeepsNoLongText(t *testing.T) {
	for length, kept := range map[int]bool{100: true, 1 << 20: false} {
		l := New(strings.NewReader(`"\\` + strings.Repeat("n", length) + `"`))
		require.Len(t, l.Text(), length+1)
		l.Reset(nil)
		require.Equal(t, kept, l.scratch != nil)
	}
}
