package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	sample = `package sample

import "errors"

var limit = 3

var errLarge = errors.New("a//b")

// Add adds what is not too large.
func Add(sum *int, n int) error {
	if n > limit &&
		n != 9 { // which passes
		return errLarge
	}
	*sum += n
	return nil
}

func unused(words []string) (n int) {
	for range words {
		if n < 2 { continue }
		break
	}
	return n
}
`
	sampleTests = `package sample

import "testing"

func TestAdd(t *testing.T) {
	sum := 0
	if err := Add(&sum, 2); err != nil || sum != 2 { t.Fatal(err, sum) }
	if err := Add(&sum, 5); err == nil || sum != 2 { t.Fatal(err, sum) }
}

func TestBroken(t *testing.T) { t.Fatal() }
`
)

// The tests of the sample try neither 3, 4 nor 9, and do not read the text of the error.
func TestFaultsOfASample(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "sample.go": sample,
		"sample_test.go": sampleTests} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	r := run{temp: t.TempDir(), random: rand.New(rand.NewPCG(1, 0)), folders: []string{folder}}
	result, err := r.do(folder)
	require.NoError(t, err)
	result.folder = "."
	var out strings.Builder
	result.print(&out, true)
	assert.Equal(t, `not noticed: sample.go:5:13: changed: 3
not noticed: sample.go:7:27: changed: "a//b"
not noticed: sample.go:11:5: equal values: n > limit
not noticed: sample.go:12:8: changed: 9
not reached: sample.go:22:3: left out: break
not reached: sample.go:21:6: negated: n < 2
not reached: sample.go:21:6: equal values: n < 2
not reached: sample.go:21:10: changed: 2
not reached: sample.go:21:14: left out: continue
left out, since it fails without a fault: TestBroken
.: 5 of 9 faults noticed (55.6 %); 5 of all 14 are reached by no test
`, out.String())
}
