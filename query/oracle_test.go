package query_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An oracle is Lucene's own query parser in another process, which answers a
// line for a line.
type oracle struct {
	t       testing.TB
	in      io.WriteCloser
	answers *bufio.Reader
}

// startOracle runs the program that LUCENE_ORACLE names.
func startOracle(t testing.TB, args ...string) *oracle {
	program := os.Getenv("LUCENE_ORACLE")
	if program == "" {
		t.Skip("LUCENE_ORACLE does not name the program with Lucene's parser; the golden files stand in for it")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() // the context of the test ends it
	})
	return &oracle{t, in, bufio.NewReaderSize(out, 1<<20)}
}

// ask sends requests and returns the answers, one for each.
func (o *oracle) ask(requests []any) []string {
	written := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(o.in)
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, r := range requests {
			if err := enc.Encode(r); err != nil {
				written <- err
				return
			}
		}
		written <- w.Flush()
	}()
	out := make([]string, len(requests))
	for i := range out {
		line, err := o.answers.ReadString('\n')
		require.NoError(o.t, err)
		out[i] = strings.TrimSuffix(line, "\n")
	}
	require.NoError(o.t, <-written)
	return out
}

// lone is half of a surrogate pair, for which Go and Lucene's index have U+FFFD.
var lone = regexp.MustCompile(`\\\\|\\ud[89a-f][0-9a-f]{2}`)

func withoutLone(tree string) string {
	return lone.ReplaceAllStringFunc(tree, func(s string) string {
		if s == `\\` { // an escaped backslash
			return s
		}
		return "\ufffd"
	})
}

// askTexts sends texts.
func (o *oracle) askTexts(texts []string) []string {
	requests := make([]any, len(texts))
	for i, s := range texts {
		requests[i] = map[string]string{"q": s}
	}
	return o.ask(requests)
}

// parsed asks for the trees of texts; "" is an error.
func (o *oracle) parsed(texts []string) []string {
	out := o.askTexts(texts)
	for i, a := range out {
		tree, ok := strings.CutPrefix(a, "OK\t")
		if !ok {
			require.True(o.t, strings.HasPrefix(a, "ERR\t"), "%q: %s", texts[i], a)
			tree = ""
		}
		out[i] = withoutLone(tree)
	}
	return out
}

// newRand returns a fresh source and logs its seed, so that a failure can be
// looked at again with QUERY_SEED.
func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	if s := os.Getenv("QUERY_SEED"); s != "" {
		require.NoError(t, json.Unmarshal([]byte(s), &seed))
	}
	t.Logf("QUERY_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

var trials = flag.Int("trials", 1, "random queries that are tried; 10 takes minutes where Lucene's parser answers, too")

// many is how many random cases a test asks about: n with ten times the trials.
func many(n int) int { return max(n**trials/10, n/10) }
