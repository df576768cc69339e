package shell

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// Pages of help fit a terminal, and their lists stay aligned.
func TestHelpFitsATerminal(t *testing.T) {
	text := "Words of a paragraph that is\nlonger than a line.\n\n  term   text of an item that\n         goes on\n  - " +
		"a point\n  verbatim\n  more\n"
	want := "Words of a paragraph\nthat is longer than a\nline.\n\n  term   text of an\n         item that\n         " +
		"goes on\n  - a point\n  verbatim\n  more\n"
	assert.Equal(t, want, fill(text, 22))
	assert.Equal(t, "  0   done\n  1   differences\n", fill("  0   done\n  1   differences\n", 80))
}

// The first line of a page keeps its place in a list.
func TestHelpThatBeginsWithAList(t *testing.T) {
	const list = "  0    done\n  130  interrupted\n"
	assert.Equal(t, list, sections(&cobra.Command{Use: "codes", Long: "\n" + list})[0].text)
}
