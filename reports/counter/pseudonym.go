package counter

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// Pseudonyms stand for the addresses of visitors, so that accesses can be stored and
// counted without them. An address has one pseudonym for a day, which is itself an address, of the
// private range fd00::/8. No session is longer than a day, so counts are those of the addresses,
// if they are counted with the same Location.
//
// The key of a day is random, in memory only, and gone after the next day or when the process ends: then
// nobody can find out whose address it was. A visitor before and after a restart counts as two; so
// does one of two servers. Key avoids both.
//
// The zero value is ready to use, by several goroutines.
type Pseudonyms struct {
	Location *time.Location // in which days begin; nil means UTC

	// Key makes the keys of the days, the same for all processes that have it: 32 random bytes, which
	// are secret. Who has it can try addresses, so replace it once a month is reported. nil means
	// random keys.
	Key []byte

	mu   sync.Mutex
	keys [2]dayKey // of the last days, since requests of midnight overlap
}

// A dayKey is the key of the pseudonyms of a day.
type dayKey struct {
	day string
	key []byte
}

// Address returns the pseudonym of an address at a time; "" for "".
func (p *Pseudonyms) Address(address string, at time.Time) string {
	if address == "" {
		return ""
	}
	zone := p.Location
	if zone == nil {
		zone = time.UTC
	}
	hash := hmac.New(sha256.New, p.keyOf(at.In(zone).Format(time.DateOnly)))
	hash.Write([]byte(address))
	made := [16]byte(hash.Sum(nil))
	made[0] = 0xfd
	return netip.AddrFrom16(made).String()
}

func (p *Pseudonyms) keyOf(day string) []byte {
	if p.Key != nil {
		hash := hmac.New(sha256.New, p.Key)
		hash.Write([]byte(day))
		return hash.Sum(nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.keys {
		if k.day == day && k.key != nil {
			return k.key
		}
	}
	made := dayKey{day, make([]byte, sha256.Size)}
	_, _ = rand.Read(made.key) // never fails
	p.keys[1], p.keys[0] = p.keys[0], made
	return made.key
}
