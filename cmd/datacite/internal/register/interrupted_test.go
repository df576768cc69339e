package register

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

var (
	kills = flag.Int("kills", 4, "how often TestKilled kills the command")
	size  = flag.Int("rows", 120, "rows of the table of TestKilled")
)

func TestInterrupted(t *testing.T) {
	shelltest.NeedsSignals(t)
	path := folder(t, header+line(1)+line(2)+line(3)+line(4)+line(5)+line(6)+line(7)+line(8))
	running := make(chan *os.Process, 1)
	srv := shelltest.Serve(t, &datacitetest.Options{Faults: func(n int, r *http.Request) *datacitetest.Fault {
		if n == 8 {
			_, _ = io.Copy(io.Discard, r.Body) // after which net/http sees that the client is gone
			_ = (<-running).Signal(syscall.SIGTERM)
			<-r.Context().Done()
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus}
		}
		if n > 8 && n < 20 {
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus}
		}
		return nil
	}})
	args := []string{"register", "--prefix", "10.5072", "--workers", "1", filepath.Join(path, "items.csv")}
	command, stdout, stderr := shelltest.At(srv).Process(t, args...)
	require.NoError(t, command.Start())
	running <- command.Process
	assert.Equal(t, 130, shelltest.ExitCode(t, command.Wait()))
	assert.Regexp(t, `8 records at 127.0.0.1:\d+: [567] created`, stdout.String())
	assert.Regexp(t, `^datacite: interrupted; [123] records? left; run the same command again to continue\n$`,
		stderr.String())
	rows := read(t, filepath.Join(path, "items.registered.csv"))
	require.Len(t, rows, 8)
	assert.Empty(t, rows[7]["result"])
	again, stdout, stderr := shelltest.At(srv).Process(t, args...)
	assert.Equal(t, 0, shelltest.ExitCode(t, again.Run()), stderr)
	assert.Contains(t, stdout.String(), "8 records at ")
	assert.Len(t, srv.Names(), 8)
}

// TestKilled kills the program at random requests and at random times, on a service with
// faults. In the end every row has one DOI, and no other DOI exists. Every other row has a name
// already.
func TestKilled(t *testing.T) {
	kinds := []datacitetest.Fault{
		{Kind: datacitetest.FaultStatus}, {Kind: datacitetest.FaultStatusAfter, Status: http.StatusGatewayTimeout},
		{Kind: datacitetest.FaultDropBefore},
		{Kind: datacitetest.FaultDropAfter}, {
			Kind: datacitetest.FaultCutResponse}, {Kind: datacitetest.FaultDelay, Delay: 20 * time.Millisecond},
	}
	signals := []os.Signal{os.Kill, syscall.SIGTERM, os.Interrupt}
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			path, given := folder(t, ""), 0
			items, err := os.Create(filepath.Join(path, "items.csv"))
			require.NoError(t, err)
			_, err = items.WriteString(header)
			for i := range *size {
				if err == nil && i%2 == 0 {
					given++
					_, err = fmt.Fprintf(items, "10.5072/given-%d", i)
				}
				if err == nil {
					_, err = items.WriteString(line(i))
				}
			}
			require.NoError(t, errors.Join(err, items.Close()))
			var victim atomic.Pointer[os.Process]
			var requests, last atomic.Int64 // last: the request that the victim does not survive
			var signal atomic.Value
			srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour,
				Faults: func(n int, _ *http.Request) *datacitetest.Fault {
					requests.Store(int64(n))
					if int64(n) == last.Load() {
						_ = victim.Load().Signal(signal.Load().(os.Signal)) // it may have ended
					}
					if rand.IntN(20) > 0 {
						return nil
					}
					return &kinds[rand.IntN(len(kinds))]
				}})
			result, begun, runs := filepath.Join(path, "items.registered.csv"), time.Now(), 0
			for code := -1; code != 0; runs++ {
				require.Less(t, runs, *kills+50, "it does not end")
				command, _, stderr := shelltest.At(srv).Process(t, "register", "--prefix", "10.5072", items.Name())
				require.NoError(t, command.Start())
				victim.Store(command.Process)
				signal.Store(signals[runs%len(signals)])
				switch {
				case runs >= *kills:
				case runs < len(signals):
					last.Store(requests.Load() + 1 + rand.Int64N(int64(*size / *kills)))
				default:
					time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
					_ = command.Process.Signal(signals[runs%len(signals)]) // it may have ended
				}
				if code = shelltest.ExitCode(t, command.Wait()); code > 0 {
					require.Contains(t, []int{shell.ExitRefused, shell.ExitFailed, shell.ExitInterrupted}, code, stderr.String())
				}
			}
			ideal := int64(*size + given) // a name that is given is looked for before it is made
			t.Logf("%d rows (%d with names), %d runs, %d requests (%d without faults and kills), %v",
				*size, given, runs, requests.Load(), ideal, time.Since(begun).Round(time.Millisecond))
			// 5 % are sent again, each perhaps after a look; and each run looks for what the last one had begun.
			assert.LessOrEqual(t, requests.Load(), ideal+ideal/5+int64(50*runs), "requests")
			rows, seen := read(t, result), map[string]bool{}
			require.Len(t, rows, *size)
			for i, row := range rows {
				assert.Equal(t, fmt.Sprintf("https://repository.example.org/%d", i), row["url"])
				if i%2 == 0 {
					assert.Equal(t, fmt.Sprintf("10.5072/given-%d", i), row["doi"])
				}
				assert.Equal(t, "findable", srv.State(row["doi"]))
				assert.Equal(t, []string{"findable", ""}, []string{row["state"], row["error"]}, row)
				assert.NotEmpty(t, row["registered"])
				seen[row["doi"]] = true
			}
			assert.Equal(t, *size, len(seen))
			assert.Equal(t, *size, len(srv.Names()), "each row has one DOI, and there are no others: no name was lost")
			assert.NoFileExists(t, result+".journal")
		})
	}
}
