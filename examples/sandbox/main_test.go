package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSandboxServesUntilItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-addr", "127.0.0.1:0", "-behaviour", "deployed"}, in, io.Discard)
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

func TestSandboxRefusesWhatItCannotUse(t *testing.T) {
	for wrong, args := range map[string][]string{
		"no behaviour":             {"-behaviour", "odd"},
		"address":                  {"-addr", "nowhere:http:x"},
		"not defined: -port":       {"-port", "1"},
		"-addr is empty":           {"-addr", ""},
		"-behaviour is empty":      {"-behaviour="},
		`"here -addr :0" is given`: {"here", "-addr", ":0"},
		`"a b" is given (-h shows`: {"-addr", "localhost:0", "a", "b"},
	} {
		var out, notes strings.Builder
		assert.ErrorContains(t, run(t.Context(), args, &out, &notes), wrong)
		assert.Empty(t, out.String()+notes.String())
	}
}

func TestSandboxShowsItsUsage(t *testing.T) {
	var out, notes strings.Builder
	require.NoError(t, run(t.Context(), []string{"-h"}, &out, &notes))
	assert.Equal(t, usage, out.String())
	assert.Empty(t, notes.String())
	for _, flag := range []string{"-addr", "-behaviour", "environment", "formats", "no arguments"} {
		assert.Contains(t, usage, flag)
	}
}

// It warns where other machines reach it, and only there.
func TestSandboxWarnsOfOtherMachines(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for address, warns := range map[string]bool{
		"localhost:0": false, "127.0.0.1:0": false, "127.9.9.9:0": false, "[::1]:0": false,
		":0": true, "0.0.0.0:0": true, "[::]:0": true,
	} {
		var notes strings.Builder
		err := run(stopped, []string{"-addr", address}, io.Discard, &notes)
		if address == "[::1]:0" && err != nil {
			continue // a machine without IPv6
		}
		require.NoError(t, err, address)
		assert.Equal(t, warns, strings.Contains(notes.String(), "WARNING"), address)
		if warns {
			assert.Contains(t, notes.String(), "unsigned tokens")
		}
	}
}

// What is under way when it is stopped is answered.
func TestSandboxEndsWhatItHasBegun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	begun := make(chan bool)
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			<-ctx.Done()
			time.Sleep(20 * time.Millisecond)
			io.WriteString(w, "whole")
		}))
	}()
	go func() {
		<-begun
		stop()
	}()
	res, err := http.Get("http://" + listener.Addr().String())
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, "whole", string(body))
	require.NoError(t, res.Body.Close())
	assert.NoError(t, <-ended)
}
