package counter

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"net/netip"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/reports"
)

// An Event is a successful access to a dataset or to information about it.
type Event struct {
	DOI  string    `json:"doi"` // of the dataset, bare, or in any form that people paste; "" if there is none
	Time time.Time `json:"time"`
	URL  string    `json:"url"` // URL that was accessed, without a fragment
	// Request: content was retrieved, in whole or in part; else the event is an investigation only
	Request bool `json:"request,omitempty"`

	// The user is identified by User if it is known, else by Cookie, else by Session, else
	// by Address with Agent. Events without any of these count as one user's.
	User    string `json:"user,omitempty"`    // name of a login
	Cookie  string `json:"cookie,omitempty"`  // of the user, kept when the browser is closed
	Session string `json:"session,omitempty"` // cookie of the session
	Address string `json:"address,omitempty"` // IP address in any spelling, or a pseudonym
	Agent   string `json:"agent,omitempty"`   // User-Agent header

	Access  reports.AccessMethod `json:"access,omitempty"`  // "" means by Agent
	Country string               `json:"country,omitempty"` // two letters, in any case; "" if it is not known
}

// Validate returns a [*datacite.ValidationError] for an event that cannot be counted: its
// DOI is invalid, it has no time, or its access method or country is unknown. An event
// without a DOI is valid, but not counted.
func (e Event) Validate() error {
	_, err := parse(&e)
	return err
}

// parse checks an event and returns its DOI, bare.
func parse(e *Event) (name string, err error) {
	if e.DOI != "" {
		if name, err = doi.Parse(e.DOI); err != nil {
			return "", datacite.Invalidf("doi", datacite.CodeDOI, "is %.100q, not a DOI such as 10.5072/abc", e.DOI)
		}
	}
	switch year := e.Time.Year(); {
	case e.Time.IsZero():
		return "", datacite.Invalidf("time", datacite.CodeMissing, "is missing")
	case year < 1 || year > 9999:
		return "", datacite.Invalidf("time", datacite.CodeDate, "is in the year %d", year)
	case e.Access != "" && e.Access != reports.AccessRegular && e.Access != reports.AccessMachine:
		return "", datacite.Invalidf("access", datacite.CodeVocabulary,
			"is %.100q, neither %s nor %s", e.Access, reports.AccessRegular, reports.AccessMachine)
	case e.Country != "" && country.Pair(strings.ToLower(e.Country)) == 0:
		return "", datacite.Invalidf("country", datacite.CodeVocabulary,
			"is %.100q, not a country code of two letters", e.Country)
	}
	return name, nil
}

// isNoDOI tells whether the fault of an event is its DOI, which came from a visitor, and not from the program.
func isNoDOI(err error) bool {
	faults := datacite.Findings(err)
	return len(faults) == 1 && faults[0].Code == datacite.CodeDOI
}

// Key returns a text that is the same for all events of one dataset and one user, and
// different for others. Events with the same key must be counted by one call of [CountKey].
// The text contains the DOI, and only a hash of the user.
func Key(e Event) string {
	name, err := doi.Parse(e.DOI)
	if err != nil {
		name = e.DOI
	}
	kind, who := appendUser(nil, &e)
	hash := sha256.Sum256(who)
	return fmt.Sprintf("%s\x00%02x%x", jsonlex.AppendLower(nil, name), kind, hash[:hashSize])
}

// Kinds of users, by what is known of them.
const (
	byLogin byte = iota
	byCookie
	bySession
	byAddress
)

// appendUser appends what tells a user from others of the same kind.
func appendUser(dst []byte, e *Event) (kind byte, who []byte) {
	switch {
	case e.User != "":
		return byLogin, append(dst, e.User...)
	case e.Cookie != "":
		return byCookie, append(dst, e.Cookie...)
	case e.Session != "":
		return bySession, append(dst, e.Session...)
	}
	address := e.address()
	dst = append(binary.AppendUvarint(dst, uint64(len(address))), address...)
	return byAddress, append(dst, e.Agent...)
}

// address is Address in its one spelling: those of IPv6 have many, and an IPv4 address
// may be written as one of them.
func (e *Event) address() string {
	if !strings.Contains(e.Address, ":") {
		return e.Address
	}
	if ip, err := netip.ParseAddr(e.Address); err == nil {
		return ip.Unmap().String()
	}
	return e.Address
}

// hashSize is the size of what stands for a text. Two texts never share it, not even
// those that somebody makes up for it.
const hashSize = 16

// seeds make hashes that nobody can foresee. They are for one process.
var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func appendHash(dst, text []byte) []byte {
	for _, seed := range seeds {
		dst = binary.BigEndian.AppendUint64(dst, maphash.Bytes(seed, text))
	}
	return dst
}

// A record is an event as it is sorted: by key, then by time, then by all else, so
// that the order in which events come does not matter. Its key is one for each [Key].
//
//	DOI  0  kind of user (1)  hash of user (16)   the key
//	seconds (8, sign flipped)  nanoseconds (4)  flags (1)  country (2)  hash of URL (16)
type record []byte

// Of clicks at the same moment a request is kept before an investigation.
const (
	machineFlag = 1 << iota
	requestFlag
)

// appendRecord appends the record of an event whose DOI is name.
func appendRecord(dst record, name string, e *Event, byMachine bool) record {
	var space [256]byte
	kind, who := appendUser(space[:0], e)
	dst = appendHash(append(jsonlex.AppendLower(dst, name), 0, kind), who)
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Time.Unix())^1<<63)
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.Time.Nanosecond()))
	var flags byte
	if e.Request {
		flags |= requestFlag
	}
	if byMachine {
		flags |= machineFlag
	}
	dst = append(dst, flags)
	if e.Country == "" {
		dst = append(dst, 0, 0)
	}
	dst = jsonlex.AppendLower(dst, e.Country)
	url, _, _ := strings.Cut(e.URL, "#")
	return appendHash(dst, append(space[:0], url...))
}

// userSize is the size of a user in a key.
const userSize = 1 + hashSize

// A click is a record, read.
type click struct {
	doi, key  []byte // of the record
	user      byte   // kind
	sec, nsec int64
	flags     byte
	country   [2]byte
	url       [hashSize]byte // hash
}

func (r record) click() (c click) {
	n := bytes.IndexByte(r, 0)
	c.doi, c.user, c.key = r[:n], r[n+1], r[:n+1+userSize]
	c.read(r[len(c.key):])
	return c
}

// read reads what follows the key of a record.
func (c *click) read(rest []byte) {
	c.sec = int64(binary.BigEndian.Uint64(rest) ^ 1<<63)
	c.nsec = int64(binary.BigEndian.Uint32(rest[8:]))
	c.flags = rest[12]
	c.country = [2]byte(rest[13:15])
	c.url = [hashSize]byte(rest[15:])
}

// append appends what read reads, in the order of time.
func (c *click) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.sec)^1<<63)
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.nsec))
	dst = append(append(append(dst, c.flags), c.country[:]...), c.url[:]...)
	return dst
}

// near tells whether a later click is at most 30 seconds after this one.
func (c *click) near(later *click) bool {
	return cmp.Or(cmp.Compare(later.sec, c.sec+doubleClick), cmp.Compare(later.nsec, c.nsec)) <= 0
}

// doubleClick is the longest time between two clicks that are one, in seconds.
const doubleClick = 30
