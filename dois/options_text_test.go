package dois_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/dois"
)

func TestOptionsHideTheirSecrets(t *testing.T) {
	for _, opts := range []dois.ClientOptions{
		{Username: "repo", Password: "sesame", Token: "sesame-token"}, {Username: "DC.sesame-sesame-sesame-sesame-sesame"}, {Username: " DC.sesame-sesame-sesame-sesame-sesame"},
	} {
		testHidden(t, opts)
	}
}

func testHidden(t *testing.T, opts dois.ClientOptions) {
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "opts", opts, "pointer", &opts)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "opts", opts, "pointer", &opts, "all", []any{opts})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v"} {
		for _, v := range []any{opts, &opts, []dois.ClientOptions{opts}, map[string]*dois.ClientOptions{"a": &opts}, struct{ O dois.ClientOptions }{opts}} {
			fmt.Fprintf(&log, verb, v)
		}
	}
	assert.NotContains(t, log.String(), "sesame")
	assert.NotContains(t, strings.ToLower(log.String()), hex.EncodeToString([]byte("sesame")))
	assert.Contains(t, log.String(), "REDACTED")
}
