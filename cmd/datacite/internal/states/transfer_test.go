package states_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/states"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// repositories serves two repositories of a member, of which the first has n DOIs, and one of another
// member. The run has the login of the member.
func repositories(t *testing.T, behaviour datacitetest.Behaviour, n int) (*datacitetest.Server, shelltest.Run) {
	t.Helper()
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour, Accounts: []datacitetest.Account{
		{}, {Username: "EXAMPLE.NEW", Prefixes: []string{"10.70000"}},
		{Username: "OTHER.REPO", Prefixes: []string{"10.80000"}},
		{Username: "EXAMPLE", Role: "provider_admin"},
	}})
	for i := range n {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/%d","url":"https://a.example/%d","titles":[{"title":"A"}]}`, i, i)))
	}
	run := shelltest.At(srv)
	run.Env["DATACITE_USERNAME"] = "EXAMPLE"
	return srv, run
}

func owners(t *testing.T, srv *datacitetest.Server) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, name := range srv.Names() {
		r, err := srv.Record(name)
		require.NoError(t, err)
		all[r.Client]++
	}
	return all
}

func TestTransfer(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv, run := repositories(t, b, 10)
		require.NoError(t, srv.As("OTHER.REPO").PutRecordJSON([]byte(`{"doi":"10.80000/a"}`)))
		list := shelltest.File(t, "list.csv", "doi,title\n10.5072/2,A\nhttps://doi.org/10.5072/3,A\n")
		for _, tt := range []struct {
			args   string
			stdin  string
			code   int
			says   []string
			moved  int
			writes int
		}{
			{"10.5072/1", "", 2, []string{"--to is missing"}, 0, 0},
			{"--to EXAMPLE.NEW", "", 2, []string{"give the DOIs to move, or --from"}, 0, 0},
			{"10.5072/1 --from EXAMPLE.REPO --to EXAMPLE.NEW", "", 2,
				[]string{"--from moves all DOIs of an account; leave it or the DOIs out"}, 0, 0},
			{"--from EXAMPLE.NEW --to example.new", "", 2, []string{"--from and --to are both EXAMPLE.NEW"}, 0, 0},
			{"10.5072/1 10.5072/none --to EXAMPLE.NEW --yes", "", 1,
				[]string{"does not know 10.5072/none", "1 of 2 DOIs cannot be moved; nothing was changed"}, 0, 0},
			{"10.5072/1 --to EXAMPLE.NONE --yes", "", 1,
				[]string{"the service knows no repository account of this name", "0 of 1 DOI moved"}, 0, 1},
			{"10.80000/a --to EXAMPLE.NEW --yes", "", 1,
				[]string{"10.80000/a: ", "a repository's own login may not", "0 of 1 DOI moved"}, 0, 1},
			{"10.5072/1 --to EXAMPLE.NEW", "", 2, []string{"Move 10.5072/1 to EXAMPLE.NEW at ", "--yes answers yes"}, 0, 0},
			{"10.5072/1 --to EXAMPLE.NEW --dry-run", "", 0,
				[]string{"10.5072/1 can be moved from example.repo to EXAMPLE.NEW",
					"note: the prefix 10.5072 does not move: EXAMPLE.NEW changes these DOIs, and creates DOIs only under its own " +
						"prefixes"}, 0, 0},
			{"10.5072/1 --to EXAMPLE.NEW --yes --json", "", 0,
				[]string{`{"doi":"10.5072/1","state":"findable","account":"example.new","result":"moved",`}, 1, 1},
			{"10.5072/1 --to EXAMPLE.NEW --yes", "", 0, []string{"10.5072/1 belongs to EXAMPLE.NEW at "}, 1, 0},
			{list + " - --to EXAMPLE.NEW --yes", "10.5072/4\ndoi:10.5072/5\n", 0,
				[]string{"10.5072/2 moved to EXAMPLE.NEW", "10.5072/5 moved to EXAMPLE.NEW"}, 5, 4},
			{"--from EXAMPLE.REPO --to EXAMPLE.NEW --dry-run", "", 0, []string{"10.5072/9 can be moved"}, 5, 0},
			{"--from EXAMPLE.REPO --to EXAMPLE.NEW --yes", "", 0, []string{"10.5072/0 moved to EXAMPLE.NEW"}, 10, 5},
			{"--from EXAMPLE.REPO --to EXAMPLE.NEW --yes", "", 0, []string{" lists no DOI of EXAMPLE.REPO"}, 10, 0},
		} {
			before := shelltest.Writes(srv)
			run.Stdin = tt.stdin
			code, out, notes := run.Do(t, states.Transfer, append([]string{"transfer"}, strings.Fields(tt.args)...)...)
			assert.Equal(t, tt.code, code, "%s: %s", tt.args, notes)
			for _, text := range tt.says {
				assert.Contains(t, out+notes, text, tt.args)
			}
			assert.Equal(t, tt.moved, owners(t, srv)["example.new"], tt.args)
			assert.Equal(t, tt.writes, shelltest.Writes(srv)-before, tt.args)
		}
		run.Env["DATACITE_USERNAME"] = datacitetest.Username
		code, _, notes := run.Do(t, states.Transfer, "transfer", "10.5072/1", "--to", "EXAMPLE.REPO", "--yes")
		assert.Equal(t, 2, code)
		assert.Contains(t, notes, "EXAMPLE.REPO is the login of a repository; DOIs are moved with that of its member")
	}
}

// The service fails in the middle, and the next run does the rest and nothing twice.
func TestATransferContinues(t *testing.T) {
	srv, run := repositories(t, datacitetest.Deployed, 20)
	srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
		if r.Method == http.MethodPut && r.URL.Path == "/dois/10.5072/7" {
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusForbidden}
		}
		return nil
	})
	code, _, notes := run.Do(t, states.Transfer, "transfer", "--from", "EXAMPLE.REPO", "--to", "EXAMPLE.NEW", "--yes")
	assert.NotZero(t, code)
	moved := owners(t, srv)["example.new"]
	assert.Contains(t, notes, fmt.Sprintf("%d of 20 DOIs moved; run the same command again to continue", moved))
	srv.SetFaults(nil)
	before := shelltest.Writes(srv)
	code, _, notes = run.Do(t, states.Transfer, "transfer", "--from", "EXAMPLE.REPO", "--to", "EXAMPLE.NEW", "--yes")
	assert.Zero(t, code, notes)
	assert.Equal(t, map[string]int{"example.new": 20}, owners(t, srv))
	assert.Equal(t, 20-moved, shelltest.Writes(srv)-before)
}
