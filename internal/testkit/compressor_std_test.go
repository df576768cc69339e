//go:build stdflate

package testkit_test

// otherCompressor: the bytes of a subset are not those of the recording.
const otherCompressor = true
