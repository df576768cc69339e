//go:build race

package bench_test

// raced: the race detector takes time and memory of its own.
const raced = true
