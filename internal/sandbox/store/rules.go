package store

import (
	"regexp"
)

// Rules says, rule by rule, where the two behaviours differ. testdata/deployed-*.md
// has the evidence for what the deployed servers do.
type Rules struct {
	// As the servers are built: usage reports with a database and documents beside
	// it, a metadata store in front of the DOI service, routes that read the path as
	// it was sent, answers compressed for who takes gzip. Else all three interfaces
	// are what the specification says of them.
	AsBuilt bool

	// Names of DOIs.
	Collated bool           // the database's collation tells names apart: no case, no accents, no blanks at the end
	NewName  *regexp.Regexp // what a new name looks like in the DOI query

	// Tokens.
	ExpiredRefused bool // an expired token is 403; else 401, as one that means nothing
	AnyRole        bool // a token of any role will do

	// Reading in the DOI query.
	SeesAll        bool     // lists show everything to whoever has an account, and to whoever asks for DOIs by name
	AllWords       bool     // words without an operator must all match
	IndexNames     bool     // the search index has names of its own, and queries are rewritten for it
	AnyOf          []string // filters of which one must hold rather than all
	NoSamples      bool     // samples of groups are 500
	SortsPublished bool     // sort=published has an effect
	Switches       bool     // detail counts if it is there, and so does composite
	Lags           bool     // the search index may lag behind
	Vary           string

	// Writing in the DOI query.
	NobodyIs404     bool // POST without credentials is 404: it looks for the repository of nobody
	WholeAlternates bool // alternate identifiers with a member missing are refused
}

// Documented follows the specification to the letter.
var Documented = &Rules{
	// It keeps to the characters of specification §2.3; names from before July 2018
	// may hold others and stay reachable.
	NewName:        regexp.MustCompile(`^10\.[0-9]+/[-._;()/a-z0-9]+$`),
	ExpiredRefused: true, AnyRole: true, SortsPublished: true,
}

// Deployed does what the servers in operation do, flaws included.
var Deployed = &Rules{
	AsBuilt: true, Collated: true,
	NewName:  regexp.MustCompile(`^10\.[0-9]{4,5}/[-._;()/:a-z0-9*~$=]+$`),
	SeesAll:  true,
	AllWords: true, IndexNames: true,
	AnyOf:     []string{"provider_id", "client_id", "affiliation_id", "has_affiliation", "has_funder"},
	NoSamples: true, Switches: true, Lags: true,
	Vary:        "Accept,Accept-Encoding",
	NobodyIs404: true, WholeAlternates: true,
}
