package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/reconcile"
)

var kills = flag.Int("kills", 6, "how often each platform of TestKilledAtAnyMoment is killed")

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
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := Config{Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	listener, err := net.Listen("tcp", "localhost:0")
	if err == nil {
		err = json.Unmarshal([]byte(config), &c)
	}
	if err == nil {
		var p *Platform
		if p, err = Open(c); err == nil {
			fmt.Println("http://" + listener.Addr().String())
			err = p.serve(ctx, listener)
		}
	}
	if err != nil {
		fmt.Println("child:", err)
		os.Exit(1)
	}
}

// A process is a child that can be killed.
type process struct {
	*exec.Cmd
	url  string
	errs bytes.Buffer // what it logged as errors, to be read when it has ended
}

func start(t *testing.T, config Config) *process {
	t.Helper()
	data, err := json.Marshal(config)
	require.NoError(t, err)
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), childVariable+"="+string(data))
	p.Stderr = &p.errs
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

// login returns a browser in which a new curator is logged in, whatever process serves
// the pages.
func login(t *testing.T, config Config) *http.Client {
	t.Helper()
	require.NoError(t, os.MkdirAll(config.Folder, 0o700))
	a, err := accounts.Open(accountsFile(config.Folder), config.Cost)
	require.NoError(t, err)
	defer a.Close()
	require.NoError(t, a.Add(t.Context(), "ada", password))
	require.NoError(t, a.SetAdministrator(t.Context(), "ada", true))
	token, _, err := a.Login(t.Context(), "ada", password, accounts.From{})
	require.NoError(t, err)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &http.Client{Jar: jar, Transport: &cookies{token}}
}

// cookies send a token to any port.
type cookies struct{ token string }

func (c *cookies) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Cookie", "session="+c.token)
	return http.DefaultTransport.RoundTrip(r)
}

// A curation is what a curator does at random, from one process to the next.
type curation struct {
	client *http.Client
	random *rand.Rand
	paths  []string // of versions
	url    string   // of the process
}

// curate makes, publishes, edits, withdraws and restores versions until the process dies
// under it.
func (c *curation) curate(url string) {
	c.url = url
	for alive := true; alive; time.Sleep(time.Duration(c.random.IntN(10)) * time.Millisecond) {
		if len(c.paths) == 0 || c.random.IntN(3) == 0 {
			alive = c.fill(c.post("/new", c.form()))
			continue
		}
		path := c.paths[c.random.IntN(len(c.paths))]
		switch c.random.IntN(8) {
		case 0, 1:
			alive = c.edit(path)
		case 2:
			alive = c.fill(c.post(path+"/version", nil))
		case 3:
			alive = c.decide(path+"/withdraw", map[string]string{"reason": "Wrong."}) != ""
		case 4:
			alive = c.decide(path+"/publish", nil) != ""
		case 5:
			alive = c.decide(path+"/discard", nil) != "" // drafts only
		case 6:
			alive = c.decide(path+"/erase", nil) != "" // what is withdrawn
		case 7:
			alive = c.replace(path)
		}
	}
}

// fill gives a draft a file, and publishes it, unless it stays one.
func (c *curation) fill(path string) (alive bool) {
	if path == "" {
		return false
	}
	c.paths = append(c.paths, path)
	contentType, body := multipartForm(fmt.Sprint(c.random.IntN(1000), ".csv"),
		strings.Repeat("x", c.random.IntN(100_000)))
	return c.send(path+"/files", contentType, body) != "" && (c.random.IntN(8) == 0 ||
		c.decide(path+"/publish", nil) != "")
}

// replace removes a file of a draft while another one of the same bytes arrives.
func (c *curation) replace(path string) (alive bool) {
	contents := fmt.Sprint("the same ", c.random.IntN(3))
	contentType, body := multipartForm("old.csv", contents)
	if c.send(path+"/files", contentType, body) == "" {
		return false
	}
	var removed sync.WaitGroup
	removed.Go(func() { _ = c.post(path+"/remove", map[string]string{"name": "old.csv"}) })
	contentType, body = multipartForm(fmt.Sprint(c.random.IntN(1000), ".txt"), contents)
	alive = c.send(path+"/files", contentType, body) != ""
	removed.Wait()
	return alive
}

var revision = regexp.MustCompile(`name="revision" value="(\d+)"`)

func (c *curation) edit(path string) (alive bool) {
	return c.answer(path+"/edit", "revision", revision, c.form()) != ""
}

func (c *curation) decide(path string, fields map[string]string) (address string) {
	return c.answer(path, "shown", shown, fields)
}

// answer posts a form with a value that its page has.
func (c *curation) answer(path, name string, value *regexp.Regexp, fields map[string]string) (address string) {
	res, err := c.client.Get(c.url + path)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		return ""
	}
	form := map[string]string{}
	maps.Copy(form, fields)
	if m := value.FindSubmatch(page); m != nil {
		form[name] = string(m[1])
	}
	return c.post(path, form)
}

func (c *curation) form() map[string]string {
	f := fields(fmt.Sprint("Dataset ", c.random.IntN(1000)))
	if c.random.IntN(3) == 0 {
		f["embargo"] = time.Now().AddDate(0, 0, c.random.IntN(9)-4).Format(time.DateOnly)
	}
	return f
}

func (c *curation) post(path string, fields map[string]string) (address string) {
	return c.send(path, "application/x-www-form-urlencoded", encode(fields))
}

// send returns the path to which a form leads, "" if the process is dead.
func (c *curation) send(path, contentType string, body io.Reader) (address string) {
	res, err := c.client.Post(c.url+path, contentType, body)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Request.URL.Path
}

// agree compares the database with the service: a dataset that is not waiting has its
// DOIs, in their states and with their metadata, related to each other both ways, and
// there is no DOI without a dataset. Every file is there, whole, and no other.
func agree(t *testing.T, srv *datacitetest.Server, config Config) (versions, pending int) {
	t.Helper()
	s, err := store.Open(config.Folder)
	require.NoError(t, err)
	defer s.Close()
	list, err := s.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	needed := map[string]bool{}
	known := map[string]*dataset.Dataset{}
	var wanted []reconcile.Desired
	for _, d := range list.Datasets {
		known[doi.Key(d.DOI)] = d
		for _, v := range d.Versions {
			known[doi.Key(v.DOI)] = d
			for _, f := range v.Files {
				needed[f.SHA256] = true
				data, err := os.ReadFile(filepath.Join(config.Folder, "files", f.SHA256))
				require.NoError(t, err)
				sum := sha256.Sum256(data)
				assert.Equal(t, f.SHA256, hex.EncodeToString(sum[:]))
			}
			if v.State == dataset.Draft {
				assert.Empty(t, srv.State(v.DOI), "the draft %s is registered", v.DOI)
			}
		}
		if d.Pending {
			pending++
			continue
		}
		for _, v := range d.Public() {
			assert.Equal(t, v.State, v.Shown, v.DOI)
			versions++
		}
		wanted = append(wanted, d.Wanted(config.By)...)
	}
	files, err := os.ReadDir(filepath.Join(config.Folder, "files"))
	require.NoError(t, err)
	assert.Len(t, files, len(needed), "a file that no version has")
	if len(wanted) == 0 && !slices.ContainsFunc(srv.Names(), func(name string) bool {
		return srv.State(name) != "draft"
	}) {
		// the first process died before it registered anything, and an audit needs something to compare
		return versions, pending
	}
	each := func(yield func(reconcile.Desired, error) bool) {
		for _, w := range wanted {
			if !yield(w, nil) {
				return
			}
		}
	}
	for difference, err := range audit(t, srv, config, each) {
		require.NoError(t, err)
		d := known[doi.Key(difference.DOI)]
		if d == nil || !d.Pending {
			assert.Fail(t, "service and database differ", "%s (%+v)", difference, d)
		}
	}
	return versions, pending
}

func audit(t *testing.T, srv *datacitetest.Server, config Config,
	wanted iter.Seq2[reconcile.Desired, error]) iter.Seq2[*reconcile.Difference, error] {
	kinds := []reconcile.DifferenceKind{reconcile.KindMissing, reconcile.KindExtra, reconcile.KindChanged}
	// the first process may die at once
	return srv.Reconcile().Audit(t.Context(), wanted,
		&reconcile.AuditOptions{Prefix: []string{config.Prefix}, Kinds: kinds, AllowEmpty: true})
}

// bothWays makes sure that whatever DOI leads to another one, that one leads back.
func bothWays(t *testing.T, srv *datacitetest.Server) (relations int) {
	t.Helper()
	all := map[string][]string{}
	for r, err := range srv.DOIs().All(t.Context(),
		&dois.ListOptions{Prefix: []string{datacitetest.Prefix},
			States: []datacite.State{datacite.StateFindable, datacite.StateRegistered}, Detail: true}) {
		require.NoError(t, err)
		for _, i := range r.RelatedIdentifiers {
			all[doi.Key(i.RelatedIdentifier)] = append(all[doi.Key(i.RelatedIdentifier)],
				fmt.Sprint(i.RelationType.Inverse(), " ", doi.Key(r.DOI)))
		}
	}
	for name, wanted := range all {
		for _, relation := range wanted {
			relations++
			assert.True(t, slices.Contains(related(t, srv, name), relation), "%s does not say that it %s", name, relation)
		}
	}
	return relations
}

// Whenever the platform dies, its database and the service agree, and the next one
// goes on where it stopped.
func TestKilledAtAnyMoment(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		const seed = 3
		var calm atomic.Bool // while the test itself looks, nothing fails
		faults := datacitetest.Schedule(seed, 0.2)
		srv.SetFaults(func(n int, r *http.Request) *datacitetest.Fault {
			fault := faults(n, r)
			if calm.Load() || fault != nil && fault.Kind == datacitetest.FaultDelay && fault.Delay > 50*time.Millisecond {
				return nil
			}
			return fault
		})
		config := settings(srv, filepath.Join(t.TempDir(), "data"))
		client := login(t, config)
		random := rand.New(rand.NewPCG(seed, seed))
		ada := &curation{client: client, random: random}
		for range *kills {
			p := start(t, config)
			var death sync.WaitGroup
			life := time.Duration(random.IntN(400)) * time.Millisecond
			death.Go(func() {
				time.Sleep(life)
				p.kill()
			})
			ada.curate(p.url)
			death.Wait()
			calm.Store(true)
			agree(t, srv, config)
			calm.Store(false)
			require.False(t, t.Failed())
		}
		p := start(t, config)
		defer p.kill()
		require.Eventually(t, func() bool {
			_, page := fetch(t, client, p.url+"/status")
			return strings.Contains(page, "All DOIs agree with their datasets.")
		}, patience, 50*time.Millisecond)
		p.kill()
		calm.Store(true)
		versions, pending := agree(t, srv, config)
		assert.Zero(t, pending)
		relations := bothWays(t, srv)
		t.Logf("%d versions, %d DOIs, %d relations after %d kills", versions, len(srv.Names()), relations, *kills)
		assert.NotZero(t, versions)
	})
}

func fetch(t *testing.T, client *http.Client, address string) (status int, page string) {
	t.Helper()
	res, err := client.Get(address)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(data)
}

// SIGTERM ends the platform when the requests that it has are done.
func TestSIGTERMDrains(t *testing.T) {
	srv := serve(t, nil)
	config := settings(srv, filepath.Join(t.TempDir(), "data"))
	client := login(t, config)
	p := start(t, config)
	defer p.kill()
	res, err := client.Post(p.url+"/new", "application/x-www-form-urlencoded", encode(fields("Glacier")))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	draft := res.Request.URL.Path

	contentType, form := multipartForm("lengths.csv", strings.Repeat("x", 1<<20))
	body, rest := io.Pipe()
	responses := make(chan *http.Response, 1)
	go func() {
		noRedirect := &http.Client{Transport: client.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
		res, _ := noRedirect.Post(p.url+draft+"/files", contentType, body)
		responses <- res
	}()
	_, err = io.CopyN(rest, form, 1<<19)
	require.NoError(t, err)
	require.Eventually(t, func() bool { // it has the request, and not only the network
		files, err := os.ReadDir(filepath.Join(config.Folder, "files"))
		return err == nil && len(files) > 0
	}, patience, time.Millisecond)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { // it takes nothing new
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, patience, time.Millisecond)
	_, err = io.Copy(rest, form)
	require.NoError(t, err)
	require.NoError(t, rest.Close())
	res = <-responses
	require.NotNil(t, res)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.NoError(t, p.Wait(), "it ends well")

	s, err := store.Open(config.Folder)
	require.NoError(t, err)
	defer s.Close()
	d, err := s.Dataset(t.Context(), 1)
	require.NoError(t, err)
	assert.EqualValues(t, 1<<20, d.Versions[0].Size())
}
