package datacitetest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

// A web page must not read what a server on a port of its reader's machine holds, neither as a
// script of another origin nor under a name that leads to the machine for a moment.
func TestPagesOfOtherHostsAreRefused(t *testing.T) {
	onPort := datacitetest.NewServer(&datacitetest.Options{Hosts: []string{"sandbox.test", "[2001:db8::1]"},
		Origins: []string{"https://app.example:8443"}})
	defer onPort.Close()
	inMemory := datacitetest.NewServer(&datacitetest.Options{NoPort: true,
		Hosts: []string{"sandbox.test", "[2001:db8::1]"}, Origins: []string{"https://app.example:8443"}})
	defer inMemory.Close()
	own := httptest.NewServer(inMemory.Guard(inMemory))
	defer own.Close()
	for _, address := range []string{onPort.URL, own.URL} {
		for _, tt := range []struct {
			host, origin string
			status       int
			says         string
		}{
			{"", "", 200, ""},
			{"localhost", "", 200, ""},
			{"LOCALHOST.:8080", "http://localhost:3000", 200, ""},
			{"app.localhost", "https://app.localhost", 200, ""},
			{"127.0.0.2:80", "http://127.0.0.1", 200, ""},
			{"[::1]:8080", "http://[::1]:9", 200, ""},
			{"Sandbox.Test:8080", "https://sandbox.test", 200, ""},
			{"[2001:DB8::1]:80", "http://[2001:db8::1]", 200, ""},
			{"attacker.example", "", 421, `the name "attacker.example" is not served here`},
			{"attacker.example:8080", "http://attacker.example:8080", 421, "Options.Hosts"},
			{"localhost.attacker.example", "", 421, "not served"},
			{"127.0.0.1.attacker.example", "", 421, "not served"},
			{"notlocalhost", "", 421, "not served"},
			{"192.168.1.7", "", 421, "not served"},
			{"0.0.0.0", "", 421, "not served"},
			{"localhost", "https://attacker.example", 403, `pages of "https://attacker.example" are not served here`},
			{"localhost", "http://localhost.attacker.example", 403, "not served"},
			{"localhost", "http://localhost@attacker.example", 403, "not served"},
			{"localhost", "https://app.example:8443", 200, ""},
			{"localhost", "https://app.example", 403, "Options.Origins"},
			{"app.example:8443", "https://app.example:8443", 421, "not served"},
			{"localhost", "null", 403, `pages of "null"`},
			{"localhost", "", 200, ""},
		} {
			for _, method := range []string{"GET", "OPTIONS", "POST"} {
				r, err := http.NewRequestWithContext(t.Context(), method, address+"/dois", nil)
				require.NoError(t, err)
				r.Host = tt.host
				if tt.origin != "" {
					r.Header.Set("Origin", tt.origin)
				}
				res, err := http.DefaultClient.Do(r)
				require.NoError(t, err)
				text, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				res.Body.Close()
				if tt.status == 200 {
					assert.NotContains(t, []int{421, 403}, res.StatusCode, "%s %s %s", method, tt.host, tt.origin)
					continue
				}
				assert.Equal(t, tt.status, res.StatusCode, "%s %s %s", method, tt.host, tt.origin)
				assert.Contains(t, string(text), tt.says)
				assert.Empty(t, res.Header.Values("Access-Control-Allow-Origin"))
			}
		}
	}
	_, err := inMemory.DOIs().List(t.Context(), nil)
	require.NoError(t, err)
	_, err = onPort.As(datacitetest.Username).DOIs().List(t.Context(), nil)
	require.NoError(t, err)
	recorded := httptest.NewRecorder()
	inMemory.ServeHTTP(recorded, httptest.NewRequest("GET", "/dois", nil))
	assert.Equal(t, 200, recorded.Code, "a handler that no page reaches")
}
