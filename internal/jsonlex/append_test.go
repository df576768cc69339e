package jsonlex

import (
	"bytes"
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

// Every byte at every place of texts of every length up to three words.
func TestSpecialBytesAreFoundEverywhere(t *testing.T) {
	for _, others := range []string{"é", "ab"} {
		for n := range 25 {
			for at := range n {
				text := []byte(strings.Repeat(others, 13)[:n-n%2] + "e")[:n]
				for c := range 0x100 {
					text[at] = byte(c)
					special, all := inspect(string(text))
					require.Equal(t, c < 0x20 || c == '"' || c == '\\', special&Highs != 0, "%q", text)
					beyond := bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
					require.Equal(t, beyond, all&Highs != 0, "%q", text)
				}
			}
		}
	}
}
