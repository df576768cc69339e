package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSandboxServesUntilItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-addr", "127.0.0.1:0", "-behaviour", "deployed"}, in)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	address := regexp.MustCompile(`http://\S+`).FindString(lines.Text())
	go io.Copy(io.Discard, out)

	for path, want := range map[string]int{"/reports": 200, "/dois": 200, "/metadata/10.5072/x": 401} {
		res, err := http.Get(address + path)
		require.NoError(t, err)
		res.Body.Close()
		assert.Equal(t, want, res.StatusCode, path)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	require.NoError(t, <-ended)
}

func TestSandboxRefusesABadAddress(t *testing.T) {
	assert.ErrorContains(t, run(t.Context(), []string{"-behaviour", "odd"}, io.Discard), "no behaviour")
	assert.Error(t, run(t.Context(), []string{"-addr", "nowhere:http:x"}, io.Discard))
	assert.Error(t, run(t.Context(), []string{"-port", "1"}, io.Discard))
}
