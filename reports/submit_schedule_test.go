package reports_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/reports"
)

var (
	schedules = flag.Int("schedules", 20,
		"random fault schedules and histories that Submit and its predictions are tried with")
	firstSeed = flag.Uint64("first", 0, "number of the first of them")
	only      = flag.String("only", "", "behaviour that they are tried on: documented or deployed; empty means both")
)

// Whatever fails on the way, each run of Submit ends with each dataset stored
// exactly once, or with an error that tells the truth about what is stored; and
// when nothing fails any more, running it again brings it to its end.
func TestSubmitUnderRandomFaults(t *testing.T) {
	outcomes := map[string]int{}
	for i := range uint64(*schedules) {
		seed := *firstSeed + i
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { newTrial(t, seed, dir, behaviours).run(outcomes) })
		}) {
			return // one is enough to read
		}
	}
	t.Logf("%d schedules: %v", *schedules, outcomes)
	for _, outcome := range []string{"done", "unclear", "killed", "refused"} {
		if outcomes[outcome] == 0 && *schedules >= 500 {
			t.Errorf("no run ended as %s: the faults do not reach everything", outcome)
		}
	}
}

// A trial is one schedule: a service in some state, a report, and runs of Submit
// over a network with faults until one succeeds.
type trial struct {
	*testing.T
	rand   *rand.Rand
	srv    *datacitetest.Server
	late   bool // the service reads reports a day later
	net    *faultyNetwork
	clean  *reports.Client // over a network without faults
	client *reports.Client
	header reports.Header
	want   []reports.Dataset
	opts   reports.SubmitOptions
}

func newTrial(t *testing.T, seed uint64, dir string, of []datacitetest.Behaviour) *trial {
	r := rand.New(rand.NewPCG(seed, 7))
	late := time.Duration(r.IntN(2)) * 24 * time.Hour
	srv := datacitetest.NewServer(&datacitetest.Options{
		NoPort: true, UsageLag: late, Behaviour: cmp.Or(datacitetest.Behaviour(*only), of[r.IntN(len(of))]),
		WriteTime: time.Duration(r.Int64N(int64(time.Minute))),
		Faults:    stalls(rand.New(rand.NewPCG(seed, 8))),
	})
	faulty := &faultyNetwork{inner: srv.HTTPClient().Transport, rand: r, rate: r.Float64() * 0.6}
	token := srv.Token(srv.Now().Add(year))
	make := func(net http.RoundTripper) *reports.Client {
		c, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: token,
			HTTPClient: &http.Client{Transport: net}, MaxAttempts: 1 + r.IntN(4)})
		require.NoError(t, err)
		return c
	}
	return &trial{
		T: t, rand: r, srv: srv, late: late > 0, net: faulty, clean: make(srv.HTTPClient().Transport), client: make(faulty),
		header: header("Example", time.October), want: all(1 + r.IntN(17)),
		opts: reports.SubmitOptions{MaxDatasets: 1 + r.IntN(6), LockDir: dir, MaxProcessing: 3 * time.Minute,
			MaxOutage: 20 * time.Minute},
	}
}

// steps are the moments at which a service may stop for a while.
var steps = []string{
	"parsed", "looked-up", "document-removed", "rows-destroyed", "row-inserted",
	"header-committed", "rendered", "document-deleted", "document-stored", "rows-cleaned",
}

// stalls makes some writes stop in the middle, so that their documents are late.
func stalls(r *rand.Rand) func(int, *http.Request) *datacitetest.Fault {
	return func(_ int, req *http.Request) *datacitetest.Fault {
		if req.Method == http.MethodGet || r.IntN(3) > 0 {
			return nil
		}
		return &datacitetest.Fault{Kind: datacitetest.FaultStall, Step: steps[r.IntN(len(steps))],
			Delay: time.Duration(r.Int64N(int64(19 * time.Second)))}
	}
}

// before puts the service into the state that the first run finds.
func (tr *trial) before() {
	var err error
	switch tr.rand.IntN(6) {
	case 0: // a shorter report of this month
		_, err = tr.clean.Submit(tr.Context(), tr.header, datasets(2), &tr.opts)
	case 1: // the report itself
		_, err = tr.clean.Submit(tr.Context(), tr.header, reports.Source(tr.want), &tr.opts)
	case 2: // a part of it
		_, err = tr.clean.Submit(tr.Context(), tr.header, reports.Source(tr.want[:len(tr.want)-len(tr.want)/3]), &tr.opts)
	case 3: // an uncompressed one
		_, err = tr.clean.Create(tr.Context(), &reports.Report{Header: tr.header, Datasets: all(1)})
	}
	require.NoError(tr, err)
}

func (tr *trial) run(outcomes map[string]int) {
	tr.before()
	for attempt := 1; ; attempt++ {
		if attempt > 6 {
			tr.net.rate = 0
		}
		if attempt > 1 {
			tr.change()
		}
		require.LessOrEqual(tr, attempt, 12, "it does not come to an end")
		unseen := tr.net.unseen() // work of an earlier run may still change what is stored
		before := tr.stored()
		ctx, kill := context.WithCancel(tr.Context())
		tr.net.killAfter(tr.rand.IntN(12), kill)
		receipt, err := tr.client.Submit(ctx, tr.header, reports.Source(tr.want), &tr.opts)
		tr.net.killAfter(-1, nil)
		kill()
		outcome := tr.judge(receipt, err, before, unseen)
		outcomes[outcome]++
		if outcome == "done" {
			break
		}
	}
	tr.net.wait()
	time.Sleep(time.Hour)
	require.Equal(tr, names(tr.want), tr.stored(), "and it stays like that")
}

// change makes the next run one of another release: what it compresses is other
// bytes than before, and is sometimes cut elsewhere.
func (tr *trial) change() {
	if tr.rand.IntN(4) == 0 {
		tr.opts.Level = 1 + tr.rand.IntN(9)
	}
	if tr.rand.IntN(8) == 0 {
		tr.opts.MaxDatasets = 1 + tr.rand.IntN(6)
	}
}

// stored names the datasets that the service holds now, in order.
func (tr *trial) stored() []string { return names(tr.read()) }

func names(datasets []reports.Dataset) []string {
	list := make([]string, len(datasets))
	for i, d := range datasets {
		list[i] = d.DatasetID[0].Value
	}
	return list
}

func (tr *trial) read() []reports.Dataset {
	id := ""
	for s, err := range tr.clean.All(tr.Context(), nil) {
		require.NoError(tr, err)
		require.Empty(tr, id, "there are two reports")
		id = s.ID
	}
	if id == "" {
		return nil
	}
	r, err := tr.clean.Get(tr.Context(), id)
	for range 10 { // a report that is being written cannot be read
		if !errors.Is(err, datacite.ErrServer) {
			break
		}
		time.Sleep(time.Minute)
		r, err = tr.clean.Get(tr.Context(), id)
	}
	require.NoError(tr, err, "the report is broken")
	return inOrder(r.Datasets)
}

// judge holds what a run says against what is stored.
func (tr *trial) judge(receipt *reports.Receipt, err error, before []string, unseen bool) string {
	now, want := tr.stored(), names(tr.want)
	if err == nil {
		require.Equal(tr, tr.want, tr.read())
		require.EqualValues(tr, len(tr.want), receipt.Datasets)
		if len(before) == 0 && !unseen {
			require.Equal(tr, len(receipt.Subsets), receipt.Sent, "nothing was there")
		} else if slices.Equal(before, now) && !unseen {
			require.Contains(tr, []int{0, len(receipt.Subsets)}, receipt.Sent)
		}
		return "done"
	}
	testkit.NamedOnce(tr, err.Error())
	e, ok := errors.AsType[*reports.SubmitError](err)
	if !ok {
		require.True(tr, unseen || slices.Equal(before, now), "an error that does not say what is stored: %v", err)
		if errors.Is(err, context.Canceled) {
			return "killed"
		}
		return "refused"
	}
	doubts := strings.Contains(err.Error(), "it is not known whether the service carried it out")
	require.False(tr, doubts && e.State != reports.SubmitUnclear, "it says what is stored, and that nobody knows: %v", err)
	known := int(e.Datasets)
	next := min(known+tr.opts.MaxDatasets, len(want))
	switch e.State {
	case reports.SubmitUntouched:
		require.True(tr, unseen || slices.Equal(before, now), err)
	case reports.SubmitIncomplete:
		require.Equal(tr, want[:known], now, "%v", err)
	case reports.SubmitUnclear:
		fits := slices.Equal(now, want[:known]) || slices.Equal(now, want[:next]) ||
			known == 0 && (unseen || slices.Equal(now, before))
		require.True(tr, fits, "%v: stored are %v", err, now)
	case reports.SubmitDisturbed, reports.SubmitBroken:
		tr.Fatalf("nobody else wrote: %v", err)
	}
	return string(e.State)
}

// A faultyNetwork loses connections before, while and after the service did its
// work, puts error pages in the place of responses, and lets work go on after the
// connection is gone.
type faultyNetwork struct {
	inner http.RoundTripper
	rate  float64

	mu    sync.Mutex
	rand  *rand.Rand
	left  int
	kill  func()
	going sync.WaitGroup
	works atomic.Int32 // requests that the service works on unseen
}

// unseen tells whether the service still works on a request that was given up.
func (n *faultyNetwork) unseen() bool { return n.works.Load() > 0 }

// killAfter ends the run when it sends its nth request from now; -1 is never.
func (n *faultyNetwork) killAfter(requests int, kill func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left, n.kill = requests, kill
	if n.rate == 0 || n.rand.IntN(3) > 0 {
		n.kill = nil
	}
}

// wait returns when no work goes on unseen.
func (n *faultyNetwork) wait() { n.going.Wait() }

var reset = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}

func (n *faultyNetwork) RoundTrip(req *http.Request) (*http.Response, error) {
	n.mu.Lock()
	if n.left--; n.left < 0 && n.kill != nil {
		n.kill()
		n.kill = nil
	}
	fault, hit := n.rand.IntN(7), n.rand.Float64() < n.rate
	status := []int{500, 502, 503, 504, 429}[n.rand.IntN(5)]
	delay := time.Duration(n.rand.Int64N(int64(100 * time.Second)))
	n.mu.Unlock()
	if !hit {
		return n.inner.RoundTrip(req)
	}
	switch fault {
	case 0: // lost before anything arrived
		return nil, reset
	case 1: // never connected
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	case 2: // a page of the load balancer
		return page(req, status), nil
	case 3: // done, and the response is lost
		n.finish(req, 0)
		return nil, reset
	case 4: // done, and a page comes instead
		n.finish(req, 0)
		return page(req, []int{500, 502, 504}[status%3]), nil
	case 5: // still at work when the connection is lost
		n.later(req, delay)
		return nil, reset
	}
	res, err := n.inner.RoundTrip(req) // done, and the response is cut off
	if err == nil {
		body := io.MultiReader(io.LimitReader(res.Body, 40), iotest.ErrReader(io.ErrUnexpectedEOF))
		res.Body = struct {
			io.Reader
			io.Closer
		}{body, res.Body}
	}
	return res, err
}

// finish lets the service do its work and drops the response.
func (n *faultyNetwork) finish(req *http.Request, delay time.Duration) {
	time.Sleep(delay)
	res, err := n.inner.RoundTrip(req)
	if err == nil {
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

// later is finish, with nobody waiting for it: the service does not notice that
// the connection is gone.
func (n *faultyNetwork) later(req *http.Request, delay time.Duration) {
	alone := req.Clone(context.WithoutCancel(req.Context()))
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body)
		alone.Body = io.NopCloser(bytes.NewReader(body))
	}
	n.works.Add(1)
	n.going.Go(func() {
		n.finish(alone, delay)
		n.works.Add(-1)
	})
}

func page(req *http.Request, status int) *http.Response {
	return &http.Response{
		StatusCode: status, Request: req, Header: http.Header{"Content-Type": {"text/html"}},
		Body: io.NopCloser(strings.NewReader("<html><head><title>" + http.StatusText(status) + "</title></head></html>")),
	}
}
