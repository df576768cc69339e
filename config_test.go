package datacite_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/mds"
)

// However a configuration or a client is printed, logged or encoded, its secrets do not show.
func TestConfigHidesItsSecrets(t *testing.T) {
	client, err := mds.NewClient(datacite.Config{Service: datacite.Test, Username: "REPO", Password: "sesame"})
	require.NoError(t, err)
	for _, cfg := range []datacite.Config{
		{Username: "repo", Password: "sesame", Token: "sesame-token"}, {Username: "DC.sesame-sesame-sesame-sesame-sesame"}, {Username: " DC.sesame-sesame-sesame-sesame-sesame"},
	} {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("made", "config", cfg, "pointer", &cfg)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "config", cfg, "pointer", &cfg, "all", []any{cfg})
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10v", "%T %v"} {
			for _, v := range []any{cfg, &cfg, []datacite.Config{cfg}, map[string]*datacite.Config{"a": &cfg}, struct{ C datacite.Config }{cfg}, client, *client} {
				fmt.Fprintf(&log, verb, v)
			}
		}
		data, err := json.Marshal(struct{ C datacite.Config }{cfg})
		require.NoError(t, err)
		log.Write(data)
		assert.NotContains(t, log.String(), "sesame")
		assert.NotContains(t, strings.ToLower(log.String()), hex.EncodeToString([]byte("sesame")))
		assert.Contains(t, log.String(), "REDACTED")
	}
	shown := datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO", Password: "sesame"}.String()
	assert.Equal(t, `datacite.Config{Service:{"https://api.test.datacite.org" "https://mds.test.datacite.org"}, Username:"EXAMPLE.REPO", Password:REDACTED, Token:"", …}`, shown)
}
