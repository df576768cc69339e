package account_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

func TestConfig(t *testing.T) {
	run := shelltest.Run{Env: map[string]string{"DATACITE_CONFIG_DIR": t.TempDir() + "/new"}}
	for _, tt := range []struct {
		args       []string
		code       int
		out, notes string
	}{
		{nil, 0, "", "service is not set\ncontact is not set\n"},
		{[]string{"service"}, 1, "", "service is not set\ndatacite: service is not set\n"},
		{[]string{"service", "tets"}, 2, "",
			`datacite: "tets" is not test, production or a URL that begins with https://; did you mean test?` + "\n"},
		{[]string{"contact", "me"}, 2, "", `datacite: "me" is not a mail address` + "\n"},
		{[]string{"servce", "test"}, 2, "", `datacite: setting "servce" is unknown; did you mean service?` + "\n"},
		{[]string{"--unset"}, 2, "", "datacite: --unset needs the name of a setting\n"},
		{[]string{"--unset", "service", "test"}, 2, "",
			"datacite: --unset removes the setting, and a value sets it; leave one of them out\n"},
		{[]string{"service", "test"}, 0, "", ""},
		{[]string{"service"}, 0, "service = test (settings)\n", ""},
		{[]string{"--json"}, 0, `{"name":"service","value":"test","origin":"settings"}` + "\n" +
			`{"name":"contact","value":""}` + "\n", "contact is not set\n"},
		{[]string{"--unset", "service"}, 0, "", ""},
		{[]string{"service", "--quiet"}, 1, "", "datacite: service is not set\n"},
	} {
		code, out, notes := run.Do(t, account.ConfigCommand, append([]string{"config"}, tt.args...)...)
		assert.Equal(t, tt.code, code, tt.args)
		assert.Equal(t, tt.out, out, tt.args)
		assert.Equal(t, tt.notes, notes, tt.args)
	}
	logins := filepath.Join(run.Env["DATACITE_CONFIG_DIR"], "logins")
	require.NoError(t, os.MkdirAll(logins, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(logins, "api.test.datacite.org"),
		[]byte("DATACITE_USERNAME=ICE.ARCHIVE\nDATACITE_PASSWORD=secret-one\n"), 0o600))
	run.Env["DATACITE_USERNAME"], run.Env["DATACITE_PASSWORD"] = "SNOW.ARCHIVE", "secret-two"
	_, said, _ := run.Do(t, account.ConfigCommand, "config")
	assert.Contains(t, said, "login of SNOW.ARCHIVE, at all services (DATACITE_USERNAME)\nlogin at "+
		"api.test.datacite.org: ICE.ARCHIVE ("+logins)
	assert.NotContains(t, said, "secret")

	run.Env["DATACITE_SERVICE"] = "production"
	_, _, notes := run.Do(t, account.ConfigCommand, "config", "service", "test")
	assert.Equal(t, "DATACITE_SERVICE is set in the environment, and counts before this setting\n", notes)
	_, out, _ := run.Do(t, account.ConfigCommand, "config", "service")
	assert.Equal(t, "service = production (DATACITE_SERVICE)\n", out)
}
