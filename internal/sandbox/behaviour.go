package sandbox

// A Behaviour says which truth a service follows where the specification and
// the servers in operation differ.
type Behaviour string

const (
	// Documented follows the specification to the letter.
	Documented Behaviour = "documented"
	// Deployed does what the servers in operation do, flaws included.
	Deployed Behaviour = "deployed"
)
