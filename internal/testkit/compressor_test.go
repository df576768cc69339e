//go:build !stdflate

package testkit_test

const otherCompressor = false
