package store

import "regexp"

// Rules says, rule by rule, where Deployed differs from Documented; datacitetest/deployed-*.md
// has the evidence. What is off is as the specification says.
type Rules struct {
	// As the servers are built: usage reports with a database and documents beside
	// it, a metadata store in front of the DOI service, routes that read the path as
	// it was sent, answers compressed for who takes gzip. Else all three interfaces
	// are what the specification says of them.
	AsBuilt bool

	// The metadata store.
	AnyLogin    bool // a wrong login is none, who may read what anybody may; else it is 401, and an account reads its own DOIs alone
	Lenient     bool // parameters stand in for bodies, of which types and lines hardly count
	HideCreates bool // metadata that are hidden of a DOI nobody knows make it a draft

	// DOIs.
	NewName  *regexp.Regexp // what a new one looks like
	Collated bool           // the database's collation tells them apart: no case, no accents, no blanks at the end

	// Tokens.
	ExpiredIs401 bool // as one that means nothing; else it is 403
	RoleCounts   bool // only some roles may write

	// Reading in the DOI query.
	SeesAll           bool     // lists show everything to whoever has an account, and to whoever asks for DOIs by name
	AllWords          bool     // words without an operator must all match
	IndexNames        bool     // the search index has names of its own, and no others; queries are rewritten for it
	ProvidersAlone    bool     // the filter for a provider does not take a consortium
	LexicalErrors     bool     // what a query cannot hold at all is told from what it does not mean
	AnyOf             []string // filters of which one must hold rather than all
	NoSamples         bool     // samples of groups are 500
	PublishedUnsorted bool     // sort=published has no effect
	Switches          bool     // detail counts if it is there, and so does composite
	Lags              bool     // the search index may lag behind
}

// Documented follows the specification to the letter.
var Documented = &Rules{
	// It keeps to the characters of specification §2.3; names from before July 2018
	// may hold others and stay reachable.
	NewName: regexp.MustCompile(`^10\.[0-9]+/[-._;()/a-z0-9]+$`),
}

// Deployed does what the servers in operation do, flaws included.
var Deployed = &Rules{
	AsBuilt:           true,
	AnyLogin:          true,
	Lenient:           true,
	HideCreates:       true,
	NewName:           regexp.MustCompile(`^10\.[0-9]{4,5}/[-._;()/:a-z0-9*~$=]+$`),
	Collated:          true,
	ExpiredIs401:      true,
	RoleCounts:        true,
	SeesAll:           true,
	AllWords:          true,
	IndexNames:        true,
	LexicalErrors:     true,
	ProvidersAlone:    true,
	AnyOf:             []string{"provider_id", "client_id", "affiliation_id", "funder_id", "has_organization", "has_affiliation", "has_funder"},
	NoSamples:         true,
	PublishedUnsorted: true,
	Switches:          true,
	Lags:              true,
}
