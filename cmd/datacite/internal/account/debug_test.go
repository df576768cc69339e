package account_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

// --debug shows what a host between the command and the service answers, and no login, though that host
// repeats it.
func TestDebug(t *testing.T) {
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Via", "1.1 proxy.example.org")
		w.Header().Set("Set-Cookie", "session=abc")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<html>\x1b[31mblocked: "+r.Header.Get("Authorization")+" "+datacitetest.Password+"\n"+
			string(make([]byte, 5000)))
	}))
	defer between.Close()
	ask := func(s *shell.Shell) *cobra.Command {
		cmd := &cobra.Command{Use: "ask"}
		flags := account.NewFlags(s, cmd, account.Reads)
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			service, err := flags.Open()
			require.NoError(t, err)
			client, err := dois.NewClient(service.Config)
			require.NoError(t, err)
			_, err = client.Get(cmd.Context(), "10.5072/a", nil)
			return err
		}
		return cmd
	}
	run := shelltest.Run{Env: map[string]string{"DATACITE_SERVICE": between.URL,
		"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}}
	code, _, notes := run.Do(t, ask, "ask", "--debug", "--quiet")
	assert.Equal(t, 3, code) // it may pass
	for _, says := range []string{
		"1 > GET " + between.URL + "/dois/10.5072/a?", "1 > Authorization: (not shown)\n",
		"1 < HTTP/1.1 403 Forbidden after ", "1 < Via: 1.1 proxy.example.org\n",
		"1 < Set-Cookie: (not shown)\n", "1 < <html>?[31mblocked: Basic (not shown) (not shown)\n", "1 < …\n",
	} {
		assert.Contains(t, notes, says)
	}
	for _, secret := range []string{datacitetest.Password,
		base64.StdEncoding.EncodeToString([]byte(datacitetest.Username + ":" + datacitetest.Password)), "\x1b", "session"} {
		assert.NotContains(t, notes, secret)
	}
	_, _, notes = run.Do(t, ask, "ask")
	assert.NotContains(t, notes, " > ")
}
