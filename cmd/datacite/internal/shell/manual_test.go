package shell

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHelpAsAPageOfTheManual(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"paragraphs are filled", "One\ntwo.\n\nThree.\n", "One\ntwo.\n.PP\nThree.\n"},
		{"what a formatter would read as a request", ".gitignore\n'a' \\d -n ^ ~ `b`\n",
			"\\&.gitignore\n\\(aqa\\(aq \\ed \\-n \\(ha \\(ti \\(gab\\(ga\n"},
		{"terms", "Faults:\n  --fault \"PUT /a=5s\"   five\n                        seconds\n  b   c\nEnd.\n",
			"Faults:\n.TP\n.B \"\\-\\-fault \"\"PUT /a=5s\"\"\"\nfive\nseconds\n.TP\n.B \"b\"\nc\n.PP\nEnd.\n"},
		{"items", "A file is\n\n  - a table, or\n    a list\n  - a record\n\nEnd.\n",
			"A file is\n.IP \\(bu 2\na table, or\na list\n.IP \\(bu 2\na record\n.PP\nEnd.\n"},
		{"other indented lines stay as they are", "Try\n\n  sh -c x\n    .y\n\n  z\n",
			"Try\n.PP\n.EX\n  sh \\-c x\n    .y\n\n  z\n.EE\n"},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, roffText(test.text)) })
	}
}
