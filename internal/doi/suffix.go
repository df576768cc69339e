package doi

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
)

// alphabet has no i, l, o and u, which people misread (Crockford's base 32).
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// suffixDigits is how many digits of a suffix carry the number; two check
// digits follow.
const suffixDigits = 6

// New makes a name under a prefix, with a random suffix as the service makes them: six digits
// of base 32 and two check digits, such as "003r-j076".
func New(prefix string) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, says crypto/rand
	return prefix + "/" + suffix(binary.BigEndian.Uint32(b[:])>>(32-5*suffixDigits))
}

// suffix writes a number of at most 30 bits.
func suffix(number uint32) string {
	var digits [suffixDigits]byte
	for i, rest := suffixDigits-1, number; i >= 0; i, rest = i-1, rest>>5 {
		digits[i] = alphabet[rest&31]
	}
	return fmt.Sprintf("%s-%s%02d", digits[:4], digits[4:], Mod97(uint64(number)))
}

// Mod11 returns the check character of decimal digits by MOD 11-2, as ORCID and ISNI
// have it: a digit or X.
func Mod11(digits string) byte {
	total := 0
	for i := range len(digits) {
		total = (total + int(digits[i]-'0')) * 2 % 11
	}
	return "0123456789X"[(12-total)%11]
}

// Mod97 returns the two check digits of a number by MOD 97-10, as ROR and the
// suffixes of DataCite have them: from 2 to 98.
func Mod97(number uint64) uint64 { return 98 - number%97*100%97 }
