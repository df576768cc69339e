package doi

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
