package mds

// A State is what a DOI can be (specification §3.1). The package documentation
// shows which call leads from one to another.
type State string

// The states of a DOI.
const (
	Draft      State = "draft"      // metadata are stored, nothing is public, the DOI can be deleted
	Registered State = "registered" // the DOI resolves and is not found by searching
	Findable   State = "findable"   // the DOI resolves and is found by searching
)
