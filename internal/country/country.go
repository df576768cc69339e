// Package country knows the country codes of ISO 3166-1 alpha-2, in lower case.
package country

// Pair is a number for a code of two lowercase letters, larger for later codes, or
// 0 for any other text.
func Pair(code string) int {
	if len(code) != 2 || code[0]-'a' >= 26 || code[1]-'a' >= 26 {
		return 0
	}
	return int(code[0])<<8 | int(code[1])
}

// Known tells whether ISO 3166-1 assigns the code of a [Pair].
func Known(pair int) bool { return known[pair>>8]>>(pair&0xff-'a')&1 != 0 }

// Code returns a code of two lowercase letters as a string, without allocating.
func Code(letters []byte) (string, bool) {
	if len(letters) != 2 {
		return "", false
	}
	a, b := letters[0]-'a', letters[1]-'a'
	if a >= 26 || b >= 26 {
		return "", false
	}
	at := 2 * (int(a)*26 + int(b))
	return codes[at : at+2], true
}

// codes holds all pairs of lowercase letters, one after the other.
var codes = func() string {
	var pairs []byte
	for a := byte('a'); a <= 'z'; a++ {
		for b := byte('a'); b <= 'z'; b++ {
			pairs = append(pairs, a, b)
		}
	}
	return string(pairs)
}()

// iso holds the 249 assigned codes, side by side.
const iso = "adaeafagaialamaoaqarasatauawaxaz" +
	"babbbdbebfbgbhbibjblbmbnbobqbrbsbtbvbwbybz" +
	"cacccdcfcgchcickclcmcncocrcucvcwcxcycz" +
	"dedjdkdmdodz" + "eceeegeheresetfifjfkfmfofr" +
	"gagbgdgegfggghgiglgmgngpgqgrgsgtgugwgy" + "hkhmhnhrhthu" +
	"idieiliminioiqirisit" + "jejmjojp" + "kekgkhkikmknkpkrkwkykz" +
	"lalblclilklrlsltlulvly" +
	"mamcmdmemfmgmhmkmlmmmnmompmqmrmsmtmumvmwmxmymz" +
	"nancnenfngninlnonpnrnunz" + "om" + "papepfpgphpkplpmpnprpsptpwpy" + "qa" +
	"rerorsrurw" + "sasbscsdsesgshsisjskslsmsnsosrssstsvsxsysz" +
	"tctdtftgthtjtktltmtntotrtttvtwtz" + "uaugumusuyuz" + "vavcvevgvivnvu" + "wfws" + "yeyt" + "zazmzw"

// known has a bit for each second letter, by first letter.
var known = func() (bits ['z' + 1]uint32) {
	for i := 0; i < len(iso); i += 2 {
		bits[iso[i]] |= 1 << (iso[i+1] - 'a')
	}
	return bits
}()
