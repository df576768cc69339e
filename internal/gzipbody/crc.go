package gzipbody

import (
	"hash/crc32"
	"math/bits"
)

// A CRC-32 is a polynomial over GF(2) modulo crc32.IEEE, with the coefficient of
// x⁰ in the highest bit. To append n bytes is to multiply by x⁸ⁿ.

// xPowers[i] is x to the power of 2ⁱ. The powers repeat after 32 of them, since
// x to the power of 2³² is x.
var xPowers = func() (powers [32]uint32) {
	powers[0] = 1 << 30 // x
	for i := 1; i < len(powers); i++ {
		powers[i] = multiply(powers[i-1], powers[i-1])
	}
	return powers
}()

// multiply returns a·b modulo the polynomial.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return product
}

// combineCRC returns the CRC-32 of two pieces of data, one after the other, from
// the CRC-32 of each and the size of the second.
func combineCRC(first, second uint32, size int) uint32 {
	for n := uint64(size); n != 0; n &= n - 1 {
		first = multiply(xPowers[(bits.TrailingZeros64(n)+3)%len(xPowers)], first)
	}
	return first ^ second
}
