package sandbox

import (
	"net/http"

	"github.com/datacite-go/datacite-go/internal/sandbox/faults"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/store"
)

// What callers name of the rooms.
type (
	Account   = record.Account
	Fault     = faults.Fault
	FaultKind = faults.FaultKind
	Step      = faults.Step
	Request   = faults.Request
)

// DefaultAccount is the account of a service whose options name none.
var DefaultAccount = store.DefaultAccount

// Schedule returns faults for Options.Faults; see [faults.Schedule].
func Schedule(seed uint64, rate float64) func(n int, r *http.Request) *Fault {
	return faults.Schedule(seed, rate)
}
