//go:build race

package bench_test

func init() { raced = true }
