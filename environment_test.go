package datacite_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
)

func TestParseService(t *testing.T) {
	local := datacite.Service{API: "http://localhost:8080/api", MDS: "http://localhost:8080/api"}
	for text, want := range map[string]datacite.Service{
		"test": datacite.Test, "TEST": datacite.Test, "production": datacite.Production,
		"https://api.datacite.org/": datacite.Production, "https://mds.test.datacite.org": datacite.Test,
		"http://localhost:8080/api/": local,
	} {
		got, err := datacite.ParseService(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "tets", "api.datacite.org", "ftp://example.org", "https://", "https://%zz"} {
		got, err := datacite.ParseService(text)
		require.ErrorIs(t, err, datacite.ErrInvalid, text)
		require.ErrorContains(t, err, "test, production or a URL", text)
		assert.Zero(t, got)
	}
}

func TestFromEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"DATACITE_SERVICE": "test", "DATACITE_USERNAME": "ORG.REPO", "DATACITE_PASSWORD": "p", "DATACITE_TOKEN": "t", "DATACITE_CONTACT": "a@example.org",
	} {
		t.Setenv(name, value)
	}
	cfg, err := datacite.FromEnvironment()
	require.NoError(t, err)
	assert.Equal(t, datacite.Config{Service: datacite.Test, Username: "ORG.REPO", Password: "p", Token: "t", Contact: "a@example.org"}, cfg)

	for value, text := range map[string]string{"": "DATACITE_SERVICE: is not set", "prod": "DATACITE_SERVICE: is not test, production"} {
		t.Setenv("DATACITE_SERVICE", value)
		cfg, err = datacite.FromEnvironment()
		require.ErrorIs(t, err, datacite.ErrInvalid)
		require.ErrorContains(t, err, text)
		assert.Equal(t, datacite.Config{}, cfg)
	}
}

func TestEach(t *testing.T) {
	var got []int
	for n, err := range datacite.Each([]int{1, 2, 3}) {
		require.NoError(t, err)
		if got = append(got, n); n == 2 {
			break
		}
	}
	assert.Equal(t, []int{1, 2}, got)
}
