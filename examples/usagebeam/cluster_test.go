package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

func init() { register.Function2x1(workerOf) }

// workerOf is the worker that counts a part.
func workerOf(part int, _ []byte) int { return part % 2 }

// Variables of the processes that TestTwoWorkers starts.
const (
	jobServer    = "USAGEBEAM_JOB_SERVER" // the port at which it serves jobs
	secondWorker = "USAGEBEAM_SECOND_WORKER"
)

// serveJobs serves jobs until the process that started this one ends.
func serveJobs(port string) {
	n, err := strconv.Atoi(port)
	if err == nil {
		_, err = prism.CreateJobServer(context.Background(), prism.Options{Port: n})
	}
	if err != nil {
		log.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// renamed stands between a worker and Prism, which takes the short names that each worker has for its metrics for those
// of all workers: it adds something to them.
type renamed struct {
	fnpb.UnimplementedBeamFnControlServer
	prism fnpb.BeamFnControlClient
}

// renameMetrics makes this process, a worker, talk to Prism with names of its own for metrics.
func renameMetrics() error {
	to, err := grpc.NewClient(flag.Lookup("control_endpoint").Value.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnControlServer(server, &renamed{prism: fnpb.NewBeamFnControlClient(to)})
	go func() { log.Fatal(server.Serve(listener)) }() // as long as the process
	return flag.Set("control_endpoint", listener.Addr().String())
}

func outgoing(ctx context.Context) context.Context {
	all, _ := metadata.FromIncomingContext(ctx)
	return metadata.NewOutgoingContext(ctx, metadata.MD{"worker_id": all["worker_id"]})
}

func (r *renamed) GetProcessBundleDescriptor(
	ctx context.Context, request *fnpb.GetProcessBundleDescriptorRequest,
) (*fnpb.ProcessBundleDescriptor, error) {
	return r.prism.GetProcessBundleDescriptor(outgoing(ctx), request)
}

func (r *renamed) Control(worker fnpb.BeamFnControl_ControlServer) error {
	prism, err := r.prism.Control(outgoing(worker.Context()))
	if err != nil {
		return err
	}
	const suffix = " of the second worker"
	go func() {
		for {
			request, err := prism.Recv()
			if err != nil {
				return // and so does Send below
			}
			for i, name := range request.GetMonitoringInfos().GetMonitoringInfoId() {
				request.GetMonitoringInfos().MonitoringInfoId[i] = strings.TrimSuffix(name, suffix)
			}
			if worker.Send(request) != nil {
				return
			}
		}
	}()
	for {
		response, err := worker.Recv()
		if err != nil {
			return err
		}
		rename(response.GetProcessBundle().GetMonitoringData(), suffix)
		rename(response.GetProcessBundleProgress().GetMonitoringData(), suffix)
		rename(response.GetMonitoringInfos().GetMonitoringInfo(), suffix)
		if err := prism.Send(response); err != nil {
			return err
		}
	}
}

func rename[V any](all map[string]V, suffix string) {
	for name, value := range maps.Clone(all) {
		delete(all, name)
		all[name+suffix] = value
	}
}

// TestTwoWorkers: a job server and two workers are processes of their own. Each worker reads half of the logs, and counts
// the accesses to half of the parts, which both have read. Prism starts a worker for each environment of a pipeline.
func TestTwoWorkers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("workers are started by a script of sh")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	j := job{parts: 16, shards: 3, block: 100}
	j.rules = rules{Month: "2026-10", Format: "json", Zone: "Europe/Berlin", Tolerance: logs.Tolerance{Always: []datacite.Code{"no-dataset"}}}
	opts, err := j.rules.options()
	require.NoError(t, err)
	j.logs = store(t, randomEvents(rand.New(rand.NewPCG(9, 24)), opts.Location))
	want, sum, err := run(t, j) // in this process
	require.NoError(t, err)

	folder := t.TempDir()
	j.table = filepath.Join(folder, "counts.csv")
	p, s := beam.NewPipelineWithRoot()
	var in [2]input
	var rows [2]beam.PCollection
	scope := [2]beam.Scope{s.Scope("first"), s.Scope("second")}
	for w := range scope {
		in[w] = j.read(scope[w], j.logs[4*w:4*w+4])
	}
	for w, part := range beam.Partition(s, 2, workerOf, beam.Flatten(s, in[0].accesses, in[1].accesses)) {
		rows[w] = j.count(scope[w], part)
	}
	j.write(s, beam.Flatten(s, rows[:]...), input{
		descriptions: beam.Flatten(s, in[0].descriptions, in[1].descriptions),
		summaries:    beam.Flatten(s, in[0].summaries, in[1].summaries),
	})

	script, err := os.ReadFile("worker")
	require.NoError(t, err)
	worker, started := filepath.Join(folder, "worker"), filepath.Join(folder, "started")
	text := strings.Replace(string(script), "\n", "\necho $$ >> "+started+"\n", 1)
	require.NoError(t, os.WriteFile(worker, []byte(text), 0o700))
	config := func(more string) string {
		return fmt.Sprintf(`{"command": %q, "env": {"USAGEBEAM": %q%s}}`, worker, self, more)
	}
	pipeline := twoEnvironments(t, p, worker, config(""), config(`, "`+secondWorker+`": "yes"`))
	options := &runnerlib.JobOptions{Name: "two-workers", Worker: worker}
	result, err := runnerlib.Execute(t.Context(), pipeline, startJobServer(t, self), options, false)
	require.NoError(t, err)

	pids, err := os.ReadFile(started)
	require.NoError(t, err)
	assert.Len(t, strings.Fields(string(pids)), 2)
	assert.Equal(t, sum, numbersOf(result))
	assert.Equal(t, want, rowsOf(t, j))
}

// twoEnvironments is a pipeline of which the steps in the scope "second" have an environment of their own.
func twoEnvironments(t *testing.T, p *beam.Pipeline, worker string, configs ...string) *pipepb.Pipeline {
	edges, _, err := p.Build()
	require.NoError(t, err)
	var environments []*pipepb.Environment
	for _, config := range configs {
		e, err := graphx.CreateEnvironment(t.Context(), graphx.URNEnvProcess, func(context.Context) string { return config })
		require.NoError(t, err)
		environments = append(environments, e)
	}
	pipeline, err := graphx.Marshal(edges, &graphx.Options{Environment: environments[0]})
	require.NoError(t, err)
	require.NoError(t, runnerlib.UpdateGoEnvironmentWorker(worker, pipeline))
	all := pipeline.GetComponents()
	require.Len(t, all.Environments, 1)
	for _, first := range all.Environments {
		environments[1].Dependencies = first.Dependencies
	}
	all.Environments["second"] = environments[1]
	for _, step := range all.Transforms {
		if step.EnvironmentId != "" && strings.HasPrefix(step.UniqueName, "second/") {
			step.EnvironmentId = "second"
		}
	}
	return pipeline
}

// startJobServer starts Prism as a process, and returns its address.
func startJobServer(t *testing.T, self string) string {
	free, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	server := exec.CommandContext(t.Context(), self)
	server.Env = append(os.Environ(), jobServer+"="+port)
	server.Stderr = os.Stderr
	_, err = server.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() { _ = server.Wait() }) // the context has ended it
	return "localhost:" + port
}
