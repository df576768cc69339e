package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

var kills = flag.Int("kills", 10, "how often each platform of TestKilledAtAnyMoment is killed")

const childVariable = "PLATFORM_CHILD" // its value is the Config in JSON

func TestMain(m *testing.M) {
	if config := os.Getenv(childVariable); config != "" {
		child(config)
		return
	}
	os.Exit(m.Run())
}

// child is a platform in a process of its own, which lives until it is killed.
func child(config string) {
	c := Config{Log: slog.New(slog.DiscardHandler)}
	listener, err := net.Listen("tcp", "localhost:0")
	if err == nil {
		err = json.Unmarshal([]byte(config), &c)
	}
	if err == nil {
		var p *Platform
		if p, err = Open(c); err == nil {
			fmt.Println("http://" + listener.Addr().String())
			err = p.serve(context.Background(), listener)
		}
	}
	fmt.Println("child:", err)
	os.Exit(1)
}

// A process is a child that can be killed.
type process struct {
	*exec.Cmd
	url string
}

func start(t *testing.T, config Config) *process {
	t.Helper()
	data, err := json.Marshal(config)
	require.NoError(t, err)
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), childVariable+"="+string(data))
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	p.url = strings.TrimSpace(line)
	require.True(t, strings.HasPrefix(p.url, "http://"), p.url)
	return p
}

// kill is kill -9: the process has no chance to tidy up.
func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// curate makes, publishes, edits and withdraws datasets at random until the process
// dies under it.
func (p *process) curate(client *http.Client, random *rand.Rand) {
	send := func(path string, fields map[string]string, file string) string {
		contentType, body := form(fields, file)
		res, err := client.Post(p.url+path, contentType, bytes.NewReader(body))
		if err != nil {
			return ""
		}
		defer res.Body.Close()
		return res.Request.URL.Path
	}
	for i := 0; ; i++ {
		path := send("/datasets", fields(fmt.Sprint("Dataset ", random.IntN(1000))), "x")
		if path == "" || send(path+"/publish", nil, "") == "" {
			return
		}
		for random.IntN(3) > 0 {
			edit := fields(fmt.Sprint("Edited ", random.IntN(1000)))
			edit["revision"] = "2"
			if send(path, edit, "") == "" {
				return
			}
		}
		if random.IntN(4) == 0 && send(path+"/withdraw", nil, "") == "" {
			return
		}
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
	}
}

// agree compares the database with the service: a dataset that says published has its
// DOI, findable and with its metadata, and there is no DOI without a dataset.
func agree(t *testing.T, srv *datacitetest.Server, config Config) (published, pending int) {
	t.Helper()
	s, err := openStore(config.Database)
	require.NoError(t, err)
	defer s.close()
	datasets, err := s.datasets(t.Context(), "")
	require.NoError(t, err)
	p := &Platform{config: config}
	var names []string
	for _, d := range datasets {
		names = append(names, d.DOI)
		if d.Pending {
			pending++
			continue
		}
		want := map[State]string{Draft: "", Published: datacitetest.StateFindable, Withdrawn: datacitetest.StateRegistered}[d.State]
		assert.Equal(t, want, srv.State(d.DOI), "%s says that it is %s", d.DOI, d.Status())
		if d.State == Draft {
			continue
		}
		published++
		r, err := srv.DOIs().Get(t.Context(), d.DOI, nil)
		require.NoError(t, err)
		assert.Empty(t, p.differs(d, r), d.DOI)
	}
	for _, name := range srv.Names() {
		assert.True(t, slices.Contains(names, name), "%s is registered without a dataset", name)
	}
	return published, pending
}

// Whenever the platform dies, its database and the service agree, and the next one
// goes on where it stopped.
func TestKilledAtAnyMoment(t *testing.T) {
	both(t, func(t *testing.T, opts datacitetest.Options) {
		const seed = 3
		var calm atomic.Bool // while the test itself looks, nothing fails
		faults := datacitetest.Schedule(seed, 0.2)
		opts.Faults = func(n int, r *http.Request) *datacitetest.Fault {
			fault := faults(n, r)
			if calm.Load() || fault != nil && fault.Kind == datacitetest.Delay && fault.Delay > 50*time.Millisecond {
				return nil
			}
			return fault
		}
		srv := datacitetest.NewServer(&opts)
		defer srv.Close()
		config := settings(srv, filepath.Join(t.TempDir(), "platform.db"))
		random := rand.New(rand.NewPCG(seed, seed))
		for range *kills {
			p := start(t, config)
			var death sync.WaitGroup
			life := time.Duration(random.IntN(150)) * time.Millisecond
			death.Go(func() {
				time.Sleep(life)
				p.kill()
			})
			p.curate(srv.HTTPClient(), random)
			death.Wait()
			calm.Store(true)
			agree(t, srv, config)
			calm.Store(false)
			require.False(t, t.Failed())
		}
		p := start(t, config)
		defer p.kill()
		var published, pending int
		require.Eventually(t, func() bool {
			calm.Store(true)
			defer calm.Store(false)
			published, pending = agree(t, srv, config)
			return pending == 0
		}, time.Minute, 50*time.Millisecond)
		t.Logf("%d datasets with a DOI after %d kills", published, *kills)
		assert.NotZero(t, published)
	})
}
