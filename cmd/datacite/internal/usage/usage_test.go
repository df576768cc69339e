package usage

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

// A command that is not there is no help page, and help knows the commands below.
func TestCommandsBelow(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"usage"}, 0, "\n  repair       Make DOI records show"},
		{[]string{"usage", "snd"}, 2, `datacite: there is no command or topic "snd"; did you mean send?`},
		{[]string{"usage", "dance"}, 2, `datacite: there is no command or topic "dance"; datacite help usage shows them`},
		{[]string{"help", "usage", "snd"}, 2, `did you mean send?`},
		{[]string{"help", "usage", "check"}, 0, "  datacite usage check ACCOUNT"},
	} {
		code, out, notes := shelltest.Run{}.Do(t, Command, tt.args...)
		assert.Equal(t, tt.code, code, tt.args)
		assert.Contains(t, out+notes, tt.says, tt.args)
	}
}
