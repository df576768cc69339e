package counter

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// Pseudonyms replaces the addresses of visitors, so that accesses can be stored and counted without
// addresses. An address has one pseudonym for each day, which is itself an address, of the private range
// fd00::/8. No session is longer than a day, so pseudonyms give the same counts as addresses, if they
// are counted with the same Location.
//
// The key of a day is random and only in memory. It is deleted after the next day or when the process
// ends; after that, nobody can find the address of a pseudonym. A visitor counts twice if the process
// restarts in between, or if two servers are visited; Key avoids both.
//
// The zero value is ready to use, by several goroutines.
type Pseudonyms struct {
	Location *time.Location // time zone in which days begin; nil means UTC

	// Key, 32 random bytes, is the secret from which the keys of the days are made, the same in all
	// processes that have it. Anybody who has it can find addresses by trying them, so replace it
	// once a month is reported. nil means random keys.
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
