package doi

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
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

// CheckSuffix returns nil if [New] or the service could have made a suffix. The
// check digits reveal every mistyped character. Case and hyphens do not count, and i, l
// and o are read as the digits they look like.
func CheckSuffix(text string) error {
	plain := strings.NewReplacer("-", "", "i", "1", "l", "1", "o", "0").Replace(Normal(text))
	if len(plain) != suffixDigits+2 {
		return &NameError{text, "is not a suffix of six base-32 digits and two check digits"}
	}
	var number uint32
	for _, r := range plain[:suffixDigits] {
		digit := strings.IndexRune(alphabet, r)
		if digit < 0 {
			return &NameError{text, fmt.Sprintf("has the character %s, which is not a base-32 digit", describe(r))}
		}
		number = number<<5 | uint32(digit)
	}
	if plain[suffixDigits:] != fmt.Sprintf("%02d", Mod97(uint64(number))) {
		return &NameError{text, "has check digits that do not match; it is mistyped"}
	}
	return nil
}
