package datacite

// State is the state of a DOI (specification §3.1), in all packages.
type State string

// The states of a DOI.
const (
	StateDraft      State = "draft"      // not public, and can be deleted
	StateRegistered State = "registered" // hidden: it resolves, and searches do not find it
	StateFindable   State = "findable"   // it resolves, and searches find it
)
